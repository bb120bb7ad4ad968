"""Rows drawn at random for the tests of measures: labels, scores, decisions, weights, prices."""

import numpy as np
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

CLOSE = {"rtol": 1e-10, "atol": 1e-12}
QUICK = settings(max_examples=60, deadline=None)


@st.composite
def rows(draw, both=False, weights=True):
    """Labels, probabilities (with ties and the ends 0 and 1), decisions and weights."""
    n = draw(st.integers(2 if both else 1, 12))
    y = draw(hnp.arrays(int, n, elements=st.integers(0, 1)))
    p = draw(
        hnp.arrays(
            float,
            n,
            elements=st.one_of(
                st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.floats(0, 1, allow_subnormal=False)
            ),
        )
    )
    decided = draw(hnp.arrays(int, n, elements=st.integers(0, 1)))
    w = np.ones(n)
    if weights:
        w = draw(hnp.arrays(float, n, elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
        assume(w.any())
    if both:
        assume(w[y == 0].any() and w[y == 1].any())
    return y, p, decided, w


prices = st.floats(0, 100).map(lambda v: round(v, 3))


@st.composite
def priced_rows(draw):
    """The same with four prices, each constant or per row."""
    y, p, decided, w = draw(rows())
    per_row = hnp.arrays(float, len(y), elements=prices)
    given_costs = {name: draw(st.one_of(prices, per_row)) for name in ("fp", "fn", "tp", "tn")}
    assume(any(np.any(v) for v in given_costs.values()))
    return y, p, decided, w, given_costs

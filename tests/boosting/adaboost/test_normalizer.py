"""Sums over rows and cells: an outline of Z, exact passes, and long steps."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.normalizer import ZMoments, halvings
from rows_of_votes import Rows, sums_of

few = settings(max_examples=25, deadline=None)


def test_exponents_are_halved_until_they_are_small():
    assert halvings(0.0) == halvings(1 / 64) == 0
    for size in (0.03, 0.1, 1.0, 31.9, 256.0, 499.0):
        assert size / 2 ** halvings(size) <= 1 / 32 <= 2 * size / 2 ** halvings(size)
    assert halvings(1e9) == halvings(500.0) == 14


@few
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@example(368, False, False)  # a step beyond the first bracket
def test_search_finds_the_minimiser_of_z(seed, symmetric, factored):
    rows = Rows(seed, 300, symmetric=symmetric, factored=factored)
    shards, sums = sums_of(rows)
    with shards:
        found = steps.search(sums)
    q, u = rows.weights * rows.factors / rows.weights.sum(), rows.margins
    best = minimize_scalar(
        lambda a: np.sum(q * np.exp(-a * u)), bounds=(-80, 80), options={"xatol": 1e-12}
    )
    assert abs(found - best.x) < 1e-5
    assert abs(np.sum(q * u * np.exp(-found * u))) < 1e-11


@few
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0))
def test_outline_and_exact_pass_agree(seed, alpha):
    rows = Rows(seed, 300, symmetric=False, factored=True)
    shards, sums = sums_of(rows)
    q, u = rows.weights * rows.factors / rows.weights.sum(), rows.margins
    z = q * np.exp(-alpha * u)
    expected = [z.sum(), -(u * z).sum(), (u * u * z).sum()]
    with shards:
        assert_allclose(sums.z(alpha), expected, rtol=1e-11, atol=1e-11)
        # With no error allowed, the rows are passed over.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ZMoments, "error", lambda *_: np.inf)
            assert_allclose(sums.z(alpha), expected, rtol=1e-12, atol=1e-13)
        both = [np.sum(q * (1 + u)), np.sum(q * (1 - u))]
        assert_allclose(sums.balance(), both, rtol=1e-10)


def test_sums_of_rows_do_not_depend_on_shards():
    rows = Rows(6, 20_000, factored=True)
    found = []
    for n_shards in (1, 2, 3, 7):
        shards, sums = sums_of(rows, n_shards)
        with shards:
            found.append((sums.balance(), sums.z(0.3), sums.z(30.0), steps.search(sums)))
    assert found[1:] == found[:1] * 3

"""Exact sums: in any order the same, and to the last bit of what is kept."""

import numpy as np
import pytest

from costboost.boosting import _vote_kernels
from costboost.boosting.exact import add, rest
from costboost.shards.grid import to_floats


@pytest.mark.parametrize("term", [0.0, 2.75, -2.75, 2.0**-40, -(2.0**-41), 2.0**52 + 0.5])
def test_a_term_is_cut_towards_zero(term):
    out = np.zeros((2, 4), dtype=np.int64)
    add(out, 1, 2, term)
    units = int(np.trunc(term))
    assert out[1, 2:].tolist() == [units, rest(term, units)]
    assert rest(term, units) == np.trunc((term - units) * 2.0**40)
    assert not out[0].any()
    assert not out[1, :2].any()


def test_a_term_taken_away_leaves_nothing():
    out = np.zeros((1, 2), dtype=np.int64)
    for term in np.random.default_rng(0).normal(0, 100, 50).tolist():
        add(out, 0, 0, term)
        add(out, 0, 0, -term)
    assert not out.any()


def test_compiled_sums_are_those_of_python():
    terms = np.random.default_rng(1).normal(size=300) * 10.0 ** np.arange(-15, 15).repeat(10)
    found, own = np.zeros((1, 2), dtype=np.int64), np.zeros((1, 2), dtype=np.int64)
    decisions = np.zeros(300, dtype=np.uint8)
    _vote_kernels.price_decisions(decisions, terms[:, None], np.zeros(0), 8.0, found)
    for term in np.random.default_rng(2).permutation(terms).tolist():
        add(own, 0, 0, term * 8.0)
    np.testing.assert_array_equal(found, own)
    np.testing.assert_allclose(to_floats(own, 8.0)[0], terms.sum(), rtol=1e-12)

"""Steps of a few cells: against the twin, and at their ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.steps import CellSums
from naive import rules as naive


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
@settings(max_examples=100, deadline=None)
def test_search_is_the_naive_minimiser(seed, n):
    rng = np.random.default_rng(seed)
    q, u = rng.dirichlet(np.ones(n)), rng.uniform(-1, 1, n) * 10.0 ** rng.integers(-3, 2)
    expected = naive.minimise_z(q, u)
    found = steps.search(CellSums(q, u))
    assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    at = [CellSums(q, u).z(alpha)[0] for alpha in (found, expected)]
    assert at[0] <= at[1] * (1 + 1e-12)


def test_steps_at_their_ends():
    def sums(q, u):
        return CellSums(np.array(q), np.array(u))

    assert steps.half_log(sums([1.0], [1.0])) == steps.MAX_ALPHA
    assert steps.half_log(sums([1.0], [-1.0])) == -steps.MAX_ALPHA
    assert steps.half_log(sums([0.0], [1.0])) == 0.0
    assert_allclose(steps.search(sums([1.0], [0.3])), steps.MAX_ALPHA / 0.3)
    assert_allclose(steps.search(sums([1.0], [-0.3])), -steps.MAX_ALPHA / 0.3)
    assert steps.minimiser(sums([1.0, 0.0], [1.0, -1.0])) == (steps.MAX_ALPHA, True)
    assert steps.search(sums([0.5, 0.5], [1.0, -1.0])) == 0.0
    assert steps.search(sums([1.0, 2.0], [0.0, 0.0])) == 0.0
    assert pytest.approx(naive.MAX_ALPHA) == steps.MAX_ALPHA

"""How sums see rows: with the rule's exponents and factors, or without."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import RowTerms
from costboost.boosting.adaboost.sums import BLOCK, View, sum_cells, weighed

LABELS = np.array([0, 1, 2])
U = np.array([[2.0, -1.0, -3.0], [-1.0, 4.0, -2.0], [-5.0, -1.0, 1.0]])
F = np.arange(1.0, 10.0).reshape(3, 3)
VOTES = Hypothesis(np.array([1, 2]), np.ones(2))


def state(**more):
    return SimpleNamespace(labels=LABELS, n_classes=3, sizes=None, **more)


@pytest.mark.parametrize(
    ("view", "u", "f"),
    [
        (View(VOTES), U, F),
        (View(VOTES, factor=False), U, np.ones((3, 3))),
        (View(VOTES, exponent=False), 2.0 * np.eye(3) - 1.0, F),
        (View(VOTES, code=True), 1.5 * np.eye(3) - 0.5, F),
    ],
)
def test_views_leave_out_exponents_or_factors(view, u, f):
    seen = view.terms(state(), slice(0, 3), RowTerms(U, F))
    np.testing.assert_array_equal(seen.u, u)
    np.testing.assert_array_equal(seen.f, f)


def test_votes_that_differ_by_row_stretch_margins():
    rows = state()
    rows.sizes = np.array([1.0, 0.5, 2.0])
    view = View(Hypothesis(VOTES.votes, VOTES.sizes, by_row=True))
    seen = view.terms(rows, slice(1, 3), RowTerms(U[1:], F[1:]))
    np.testing.assert_array_equal(seen.u, [0.5 * U[1], 2.0 * U[2]])


def shard():
    rows = SimpleNamespace(weights=np.array([1.0, 2.0, 4.0, 8.0]), n_classes=2)
    leaves = np.array([0, 1, 1, 0], dtype=np.uint16)
    return SimpleNamespace(state=rows, starts=np.array([0, 1, 4]), leaves=leaves)


def test_weights_are_added_up_by_leaf_and_class():
    assert sum_cells(n_leaves=2, scale=1.0).answer(shard()).tolist() == [[1, 8], [0, 6]]


def test_some_rows_know_where_classes_begin_among_them():
    weights, starts, leaves = weighed(shard(), slice(2, 4))
    assert (weights.tolist(), starts.tolist(), leaves.tolist()) == ([4.0, 8.0], [0, 0, 2], [1, 0])


def test_blocks_fit_the_numbers_of_their_rows():
    assert BLOCK < 2**16

"""Growing and pruning: what the book computes, and what holds of every tree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.papers.c45_splits import Table
from costboost.papers.c45_splits import Test as Question
from costboost.papers.c45_trees import Node, divide, extra_errors, grow, prune, spread
from golf import KINDS, golf


def test_pessimistic_errors_are_those_of_the_book():
    assert extra_errors(6, 0, 0.25) == pytest.approx(6 * 0.206, abs=4e-3)
    assert extra_errors(9, 0, 0.25) == pytest.approx(9 * 0.143, abs=5e-3)
    assert extra_errors(1, 0, 0.25) == pytest.approx(0.750)
    assert 1 + extra_errors(16, 1, 0.25) == pytest.approx(16 * 0.157, abs=9e-3)
    assert extra_errors(0, 0, 0.25) == 0
    # More errors, or more confidence in the worst, are never cheaper.
    grid = [extra_errors(20, e, 0.25) + e for e in np.arange(0, 19, 0.25)]
    assert all(np.diff(grid) > 0)


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.5, size=n) > 0).astype(int)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    return Table.read(X, y, np.zeros(3, dtype=bool))


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


def test_missing_values_are_divided_and_no_weight_is_lost():
    X = np.array([[1.0], [5.0], [np.nan], [2.0]])
    rows, w = np.array([0, 1, 2, 3]), np.array([1.0, 2.0, 4.0, 0.5])
    left, right = divide(Question(0, 2.0, 2), np.array([0.25, 0.75]), X, rows, w)
    assert left[0].tolist() == [0, 2, 3]
    assert left[1].tolist() == [1.0, 1.0, 0.5]
    assert right[0].tolist() == [1, 2]
    assert right[1].tolist() == [2.0, 3.0]


def test_every_node_holds_what_its_branches_hold():
    table = noisy()
    tree = grow(table, np.arange(400), np.ones(400), 2.0)
    inner = [node for node in nodes(tree) if node.test is not None]
    assert len(inner) > 5
    for node in inner:
        assert_allclose(sum(child.counts for child in node.children), node.counts, atol=1e-9)
        assert node.shares.sum() == pytest.approx(1)
        below = sum(leaf.errors for leaf in node.leaves())
        assert below < node.errors  # a subtree that is not better is not kept


def test_a_pruned_tree_counts_the_rows_that_it_was_given():
    table = noisy()
    tree = grow(table, np.arange(400), np.ones(400), 2.0)
    size = len(list(tree.leaves()))
    expected = prune(tree, table, np.arange(400), np.ones(400), 0.25)
    kept = list(tree.leaves())
    assert 1 < len(kept) < size
    assert sum(leaf.counts.sum() for leaf in kept) == pytest.approx(400)
    each = [leaf.errors + extra_errors(leaf.counts.sum(), leaf.errors, 0.25) for leaf in kept]
    assert expected == pytest.approx(sum(each))


def test_a_branch_takes_the_place_of_a_test_that_is_not_worth_it():
    def leaf(counts):
        return Node(np.array(counts, dtype=float), int(np.argmax(counts)))

    X = np.column_stack([np.r_[np.zeros(2), np.ones(38)], np.repeat([0.0, 1.0], 20)])
    table = Table.read(X, (X[:, 1] > 0).astype(int), np.zeros(2, dtype=bool))
    good = Node(np.array([18.0, 20.0]), 1, Question(1, 0.0, 2), [leaf([18, 0]), leaf([0, 20])])
    good.shares = np.array([18, 20]) / 38
    tree = Node(np.array([20.0, 20.0]), 0, Question(0, 0.0, 2), [leaf([2, 0]), good])
    tree.shares = np.array([2, 38]) / 40
    prune(tree, table, np.arange(40), np.ones(40), 0.25)
    assert tree.test == Question(1, 0.0, 2)
    assert [found.counts.tolist() for found in tree.leaves()] == [[20, 0], [0, 20]]


@pytest.mark.parametrize("confidence", [1e-300, 0.001, 0.25, 1.0])
@pytest.mark.parametrize("n", [1.0, 7.5, 1e6])
def test_no_limit_is_below_the_errors_or_above_all_rows(n, confidence):
    for e in np.linspace(0, n, 9):
        limit = e + extra_errors(n, e, confidence)
        assert e - 1e-9 <= limit <= n * (1 + 1e-9)


def test_rows_are_answered_by_all_leaves_that_they_reach():
    table = Table.read(*golf(), KINDS)
    tree = grow(table, np.arange(14), np.ones(14), 2.0)
    out = np.zeros((2, 2))
    unknown = np.array([[np.nan, 70.0, 70.0, 0.0], [1.0, 70.0, 70.0, 0.0]])
    spread(tree, unknown, np.arange(2), np.ones(2), out)
    # By outlook: sunny (5 of 14) and dry, overcast (4), rain (5) without wind: all say play.
    assert_allclose(out, [[0, 1], [0, 1]])
    wet = np.zeros((1, 2))
    spread(tree, np.array([[np.nan, 70.0, 95.0, 1.0]]), np.arange(1), np.ones(1), wet)
    assert_allclose(wet, [[10 / 14, 4 / 14]])

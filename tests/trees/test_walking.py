"""From codes to leaves: three ways, and the same margins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.binning.binner import fit_binner
from costboost.trees import masks, walking
from costboost.trees.forest import ForestBuilder
from costboost.trees.tree import Tree
from forest_cases import Case, seeds
from interpreted import tree_kernels
from naive import trees as naive


@given(seeds, st.integers(1, 3), st.integers(1, 40))
@settings(max_examples=30, deadline=None)
def test_stump_tables(seed, n_outputs, n_trees):
    case = Case(seed, n_trees=n_trees, max_depth=1, n_outputs=n_outputs)
    forest = case.forest
    np.testing.assert_allclose(forest.margins(case.X), case.stages[-1], rtol=0, atol=1e-12)
    columns, tables, constant = forest.tables
    expected, expected_constant = naive.stump_tables(case.trees, case.values, 4)
    np.testing.assert_array_equal(tables, expected[columns])
    np.testing.assert_array_equal(constant, expected_constant)
    assert not np.delete(expected, columns, axis=0).any()


def test_deeper_trees_have_no_tables():
    case = Case(3, max_depth=3)
    assert case.forest.depths.max() > 1
    assert case.forest.tables is None


@pytest.mark.parametrize("hide_cython", [False, True])
@pytest.mark.parametrize("max_depth", [1, 3])
@pytest.mark.parametrize("numeric", [False, True])
def test_interpreted_kernels_predict_the_same(monkeypatch, hide_cython, max_depth, numeric):
    if not hide_cython:
        pytest.importorskip("cython")
    case = Case(8, max_depth=max_depth, numeric=numeric)
    expected, leaves = case.forest.margins(case.X), case.forest.apply(case.X)
    plain = tree_kernels(hide_cython=hide_cython)
    monkeypatch.setattr(walking, "kernels", plain.forest)
    monkeypatch.setattr(masks, "kernels", plain.mask)
    monkeypatch.setattr(walking, "_WORTH", 0)
    forest = case.forest
    np.testing.assert_array_equal(forest.margins(case.X), expected)
    np.testing.assert_array_equal(forest.apply(case.X), leaves)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 511, 512, 513, 1025])
def test_blocks_of_rows(n):
    case = Case(10, n=n, numeric=True)
    codes = case.codes
    got = case.forest.margins_of_codes(codes)
    assert got.shape == (n, 2)
    if n:
        expected = naive.staged_margins(case.trees, case.values, codes[-3:], case.base)[-1]
        np.testing.assert_array_equal(got[-3:], expected)


def assert_ways_agree(call):
    """Check what `call` returns: all rows walk as few do, go down together, walk as many do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "_FEW", 10**9)
        expected = call()
        patch.setattr(walking, "_FEW", 0)
        patch.setattr(walking, "_WORTH", 0)
        np.testing.assert_array_equal(call(), expected)
        patch.setattr(walking, "MOST_NODES", 0)
        np.testing.assert_array_equal(call(), expected)


@given(seeds, st.integers(1, 3), st.booleans(), st.integers(0, 6), st.integers(1, 40))
@settings(max_examples=40, deadline=None)
def test_walking_and_going_by_column_agree(seed, n_outputs, numeric, max_depth, n):
    case = Case(seed, n_outputs=n_outputs, numeric=numeric, max_depth=max_depth, n=n)
    forest = case.forest
    assert_ways_agree(lambda: forest.margins(case.X))
    assert_ways_agree(lambda: forest.apply(case.X))
    assert_ways_agree(lambda: list(forest.staged_margins(case.X)))


def chain(n_leaves):
    """A tree that is a chain: row i of 0, 1, ... ends in leaf i; leaves are 1, 3, 5, ..., last.

    A column tells the first 200 rows apart, another one those behind.
    """
    n_nodes = 2 * n_leaves - 1
    splits = np.array([0, *range(2, n_nodes - 1, 2)])[: n_leaves - 1]
    column = np.full((3, n_nodes), -1)
    row = np.arange(n_leaves - 1)
    column[:, splits] = row // 200, np.where(row < 200, row, row - 199), splits + 1
    feature, threshold, left = column
    return Tree(
        feature=feature,
        threshold=threshold,
        missing_left=np.zeros(n_nodes, dtype=bool),
        left=left,
        gain=np.zeros(n_nodes),
        sums=np.zeros((n_nodes, 2), dtype=np.int64),
        subsets={},
        leaves=np.flatnonzero(left < 0),
        depth=n_leaves - 1,
        cover=np.ones(2 * n_leaves - 1),
    )


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("sizes", [[256, 2, 255, 1], [2, 257, 128], [257]])
def test_trees_with_more_leaves_than_a_byte_can_number(monkeypatch, sizes, n_threads):
    row = np.arange(300.0).repeat(180)
    X = np.column_stack([np.minimum(row, 200), np.maximum(row, 199)])
    builder = ForestBuilder(1)
    for n_leaves in sizes:
        builder.add(chain(n_leaves), np.arange(n_leaves)[:, None])
    forest = builder.build(fit_binner(X))
    expected = sum(np.minimum(row, n_leaves - 1) for n_leaves in sizes)
    np.testing.assert_array_equal(forest.margins(X, n_threads)[:, 0], expected)
    other = walking.kernels if max(sizes) > 256 else masks.kernels
    monkeypatch.delattr(other, "add_margins")
    with pytest.raises(AttributeError, match="add_margins"):
        forest.margins(X)


def test_threads_have_rooms_of_their_own():
    case = Case(11, n_trees=30, max_depth=5, n=20_000)
    forest = case.forest
    expected = forest.margins_of_codes(case.codes)
    for n_threads in (2, 4):
        for _ in range(5):
            got = forest.margins_of_codes(case.codes, n_threads)
            np.testing.assert_array_equal(got, expected)


@given(seeds, st.data())
@settings(max_examples=30, deadline=None)
def test_trees_name_the_columns_that_they_split(seed, data):
    case = Case(seed, n_trees=6)
    nodes = case.forest.nodes
    first = data.draw(st.integers(0, 5))
    last = data.draw(st.integers(first + 1, 6))
    plan = nodes.plan_of(first, last)
    trees = case.trees[first:last]
    used = sorted({int(j) for tree in trees for j in tree.feature[tree.left >= 0]})
    assert plan.splits.features.tolist() == used
    assert plan.n_nodes == max(len(tree.left) for tree in trees)
    used = sorted({int(j) for tree in case.trees for j in tree.feature[tree.left >= 0]})
    assert nodes.columns.features.tolist() == used
    assert nodes.columns.places[used].tolist() == list(range(len(used)))
    assert nodes.columns.n_nodes == max(len(tree.left) for tree in case.trees)


@pytest.mark.parametrize(("n_rows", "n_threads", "n_parts"), [(0, 4, 1), (19, 4, 1), (47, 9, 4)])
def test_parts_of_rows_are_large_enough_and_miss_none(n_rows, n_threads, n_parts):
    parts = []
    walking.in_parts(lambda start, stop: parts.append((start, stop)), n_rows, n_threads, least=10)
    parts.sort()
    assert len(parts) == n_parts
    assert [start for start, _ in parts] == [0, *(stop for _, stop in parts[:-1])]
    assert parts[-1][1] == n_rows
    assert n_parts == 1 or min(stop - start for start, stop in parts) >= 10


def test_what_fails_in_a_thread_fails():
    def refuse(start, stop):
        raise OSError(f"{start} to {stop}")

    with pytest.raises(OSError, match="0 to"):
        walking.in_parts(refuse, 100, 3, least=10)

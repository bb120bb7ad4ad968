"""Fitted forests: margins, stages, leaves and readable trees against naive walking."""

from __future__ import annotations

import os
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.binning.binner import fit_binner
from costboost.shards.grid import GradientPairs
from costboost.shards.layout import plan_layout
from costboost.trees import masks, walking
from costboost.trees.forest import ForestBuilder, used_columns
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder, Tree
from forest_cases import Case, mixed_frame, seeds
from naive import trees as naive


def rows_of(X):
    return [list(row) for row in (X.itertuples(index=False) if hasattr(X, "itertuples") else X)]


@given(seeds, st.integers(1, 3), st.booleans())
@settings(max_examples=40, deadline=None)
def test_margins_and_stages_equal_walking(seed, n_outputs, numeric):
    case = Case(seed, n_outputs=n_outputs, numeric=numeric)
    forest, stages = case.forest, case.stages
    if forest.depths.max() > 1:
        np.testing.assert_array_equal(forest.margins(case.X), stages[-1])
    np.testing.assert_allclose(forest.margins(case.X), stages[-1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(forest.margins_of_codes(case.codes), forest.margins(case.X))
    staged = list(forest.staged_margins(case.X))
    assert len(staged) == len(forest) == 5
    np.testing.assert_array_equal(staged, stages)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_apply_equals_walking(seed):
    case = Case(seed)
    expected = [[naive.walk(tree, row) for tree in case.trees] for row in case.codes]
    np.testing.assert_array_equal(case.forest.apply(case.X), expected)


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_readable_trees_agree_on_raw_values(seed):
    """x <= threshold goes left; a category not kept goes where missing values go."""
    case = Case(seed)
    forest = case.forest
    leaves = forest.apply(case.X)
    margins = np.tile(case.base, (len(case.X), 1))
    for t in range(len(forest)):
        nodes = forest.tree(t)
        reached = [naive.walk_raw(nodes, case.binner.categories, row) for row in rows_of(case.X)]
        np.testing.assert_array_equal(reached, leaves[:, t])
        margins += nodes.value[reached]
    np.testing.assert_allclose(forest.margins(case.X), margins, rtol=0, atol=1e-12)


def test_readable_tree_by_hand():
    X = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0], "kind": pd.Categorical(["b", "a", "c", "a"])})
    binner = fit_binner(X)
    subset = np.zeros(256, dtype=np.uint8)
    subset[[1, 2]] = 1  # b, c
    tree = Tree(
        feature=np.array([0, -1, 1, -1, -1], dtype=np.int32),
        threshold=np.array([1, -1, -1, -1, -1], dtype=np.int16),
        missing_left=np.array([True, False, False, False, False]),
        left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
        gain=np.zeros(5),
        sums=np.zeros((5, 2), dtype=np.int64),
        subsets={2: subset},
        leaves=np.array([1, 3, 4], dtype=np.int32),
        depth=2,
        cover=np.ones(5),
    )
    builder = ForestBuilder(1)
    builder.add(tree, np.array([[1.0], [10.0], [100.0]]))
    forest = builder.build(binner)
    nodes = forest.tree(0)
    assert nodes.feature.tolist() == [0, -1, 1, -1, -1]
    assert nodes.threshold[0] == 3.0
    assert np.isnan(nodes.threshold[1:]).all()
    assert nodes.missing_left.tolist() == [True, False, False, False, False]
    assert nodes.left.tolist() == [1, -1, 3, -1, -1]
    assert nodes.right.tolist() == [2, -1, 4, -1, -1]
    assert nodes.subset == [None, None, ("b", "c"), None, None]
    assert nodes.value.ravel().tolist() == [0.0, 1.0, 0.0, 10.0, 100.0]
    new = pd.DataFrame(
        {
            "x": [3.0, 3.1, np.nan, 9.0, np.inf],
            "kind": pd.Categorical(["a", "c", "b", "a", "new"]),
        }
    )
    assert forest.margins(new).ravel().tolist() == [1.0, 10.0, 1.0, 100.0, 100.0]
    assert forest.used_features.tolist() == [0, 1]
    assert "n_trees=1" in repr(forest)


def test_a_threshold_beyond_the_last_edge_parts_missing_values():
    X = np.array([[1.0], [2.0], [np.nan]])
    binner = fit_binner(X)
    tree = Tree(
        feature=np.array([0, -1, -1], dtype=np.int32),
        threshold=np.array([1, -1, -1], dtype=np.int16),
        missing_left=np.zeros(3, dtype=bool),
        left=np.array([1, -1, -1], dtype=np.int32),
        gain=np.zeros(3),
        sums=np.zeros((3, 2), dtype=np.int64),
        subsets={},
        leaves=np.array([1, 2], dtype=np.int32),
        depth=1,
        cover=np.ones(3),
    )
    builder = ForestBuilder(1)
    builder.add(tree, np.array([[-1.0], [1.0]]))
    forest = builder.build(binner)
    assert forest.tree(0).threshold[0] == np.inf
    raw = np.array([[-np.inf], [1e300], [np.inf], [np.nan]])
    assert forest.margins(raw).ravel().tolist() == [-1.0, -1.0, -1.0, 1.0]


@given(seeds, st.integers(0, 6))
@settings(max_examples=30, deadline=None)
def test_first_trees(seed, n_trees):
    case = Case(seed)
    forest = case.forest.first(n_trees)
    assert len(forest) == min(n_trees, 5)
    stages = [np.tile(case.base, (len(case.X), 1)), *case.stages]
    np.testing.assert_allclose(forest.margins(case.X), stages[min(n_trees, 5)], rtol=0, atol=1e-12)


def test_empty_forest_answers_its_base():
    case = Case(0, n_trees=0)
    forest = case.forest
    assert len(forest) == 0
    np.testing.assert_array_equal(forest.margins(case.X), np.tile(case.base, (40, 1)))
    assert list(forest.staged_margins(case.X)) == []
    assert forest.apply(case.X).shape == (40, 0)
    np.testing.assert_array_equal(ForestBuilder(3).build(case.binner).base, np.zeros(3))


def test_add_trees_adds_in_place():
    case = Case(1)
    margins = np.zeros((40, 2))
    case.forest.add_trees(case.codes, margins, 1, 3)
    expected = naive.staged_margins(case.trees[1:3], case.values[1:3], case.codes, np.zeros(2))
    np.testing.assert_array_equal(margins, expected[-1])


# --- stumps --------------------------------------------------------------------------------------


def test_stumps_are_predicted_by_look_up(monkeypatch):
    case = Case(2, n_trees=30, max_depth=1)
    forest, expected = case.forest, case.stages[-1]
    forest.tables  # noqa: B018

    def refuse(*_):
        raise AssertionError("stumps must not be walked")

    for name in ("add_margins", "add_margins_of_few"):
        monkeypatch.setattr(walking.kernels, name, refuse)
    monkeypatch.setattr(masks.kernels, "add_margins", refuse)
    np.testing.assert_allclose(forest.margins(case.X), expected, rtol=0, atol=1e-12)


# --- data that stays what it is ------------------------------------------------------------------

ARRAYS = ("words", "subsets", "roots", "depths", "values", "base")


def test_arrays_are_read_only():
    forest = Case(0).forest
    for array in [*(getattr(forest, name) for name in ARRAYS), forest.tree(0).value]:
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        forest.base = np.zeros(2)


@pytest.mark.parametrize("max_depth", [1, 3])
def test_pickle(max_depth):
    case = Case(4, max_depth=max_depth)
    forest = case.forest
    margins = forest.margins(case.X)
    copy = pickle.loads(pickle.dumps(forest))
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(copy, name), getattr(forest, name), strict=True)
        assert not getattr(copy, name).flags.writeable
    np.testing.assert_array_equal(copy.margins(case.X), margins)
    assert copy.binner == forest.binner


def test_build_does_not_freeze_the_callers_base():
    base = np.zeros(2)
    Case(0).builder().build(Case(0).binner, base)
    base[0] = 1.0


# --- threads and processes -----------------------------------------------------------------------


def large_case(max_depth):
    # Above the size at which threads are started.
    return Case(5, n_trees=20, max_depth=max_depth, n=9000)


@pytest.mark.parametrize("max_depth", [1, 4])
def test_any_number_of_threads(max_depth):
    case = large_case(max_depth)
    forest = case.forest
    expected, leaves = forest.margins(case.X), forest.apply(case.X)
    few = slice(0, 30)
    reference = naive.staged_margins(case.trees, case.values, case.codes[few], case.base)[-1]
    np.testing.assert_allclose(expected[few], reference, rtol=0, atol=1e-12)
    for n_threads in (2, 3, 50):
        np.testing.assert_array_equal(forest.margins(case.X, n_threads), expected)
        np.testing.assert_array_equal(forest.apply(case.X, n_threads), leaves)
        last = list(forest.staged_margins(case.X, n_threads))[-1]
        np.testing.assert_allclose(last, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("max_depth", [1, 4])
def test_many_python_threads_at_once(max_depth):
    case = Case(6, n_trees=20, max_depth=max_depth)
    expected = case.forest.margins(case.X)
    forest, barrier = case.forest, threading.Barrier(8)

    def predict(_):
        barrier.wait()  # all of them find the forest without its tables
        return forest.margins(case.X)

    with ThreadPoolExecutor(8) as pool:
        for margins in pool.map(predict, range(8)):
            np.testing.assert_array_equal(margins, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
@pytest.mark.parametrize("max_depth", [1, 4])
def test_after_fork(max_depth):
    case = large_case(max_depth)
    forest = case.forest
    expected = forest.margins(case.X, n_threads=2)  # threads have run in the parent
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of forks in processes that have threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            same = np.array_equal(forest.margins(case.X, n_threads=2), expected)
            os.write(writer, b"same" if same else b"other")
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == b"same"
    assert os.waitpid(child, 0)[1] == 0


# --- from the grower to the forest ---------------------------------------------------------------


def grown_case(mode_seed=0):
    """Trees grown on a mixed table, as boosting would, and where its rows ended up."""
    rng = np.random.default_rng(mode_seed)
    X = mixed_frame(rng, 300)
    binner = fit_binner(X)
    layout = plan_layout(None, 300, 1, 1)
    finder = SplitFinder(binner.n_bins, binner.is_categorical, 2, criterion="newton")
    builder, trees, values, rows = ForestBuilder(1), [], [], []
    with layout.cut(binner.encode(X)) as cut:
        for _ in range(6):
            pairs = np.stack([rng.integers(-9, 10, size=300), rng.integers(1, 5, size=300)], axis=1)
            cut.shards[0].state = SimpleNamespace(pairs=pairs)
            tree = Grower(cut, GradientPairs(), finder, Limits(max_leaf_nodes=7)).grow()
            trees.append(tree)
            values.append(-tree.leaf_sums[:, :1] / tree.leaf_sums[:, 1:])
            builder.add(tree, values[-1])
            rows.append(tree.leaves[cut.shards[0].leaves])
    return X, builder.build(binner), trees, values, rows


def test_rows_of_training_reach_the_leaves_they_made():
    X, forest, trees, values, rows = grown_case()
    np.testing.assert_array_equal(forest.apply(X), np.transpose(rows))
    assert len(forest.subsets) == len(forest.words)
    codes = forest.binner.encode(X)
    stages = naive.staged_margins(trees, values, codes, np.zeros(1))
    np.testing.assert_array_equal(forest.margins(X), stages[-1])


def test_only_used_columns_are_looked_at():
    case = Case(9, numeric=True, n_trees=1, max_depth=1)
    forest = case.forest
    used = forest.used_features.tolist()
    assert len(used) == 1
    other = case.X.copy()
    other[:, 1 - used[0]] = -1e9
    np.testing.assert_array_equal(forest.margins(other), forest.margins(case.X))
    assert not forest.encode(case.X)[:, 1 - used[0]].any()


def test_forests_of_one_binner_share_their_codes():
    case = Case(9, numeric=True, n_trees=8, max_depth=1)
    parts = [case.forest.first(n) for n in (1, 3, 8)]
    binner, columns = used_columns([None, *parts])
    codes = binner.encode(case.X, columns=columns)
    np.testing.assert_array_equal(codes, parts[-1].encode(case.X))
    for part in parts:
        used = part.used_features
        np.testing.assert_array_equal(codes[:, used], case.codes[:, used])
        np.testing.assert_array_equal(part.margins_of_codes(codes), part.margins(case.X))
        stages = list(part.staged_margins(None, codes=codes))
        np.testing.assert_array_equal(stages, list(part.staged_margins(case.X)))
    assert used_columns([None, None]) is None


def test_forests_of_equal_binners_share_their_codes():
    case = Case(9)
    copy = pickle.loads(pickle.dumps(case.forest))
    assert copy.binner is not case.forest.binner
    binner, columns = used_columns([case.forest, copy])
    assert binner is case.forest.binner
    assert columns.tolist() == case.forest.used_features.tolist()


def test_forests_of_different_binners_are_refused():
    one, other = Case(1, numeric=True), Case(1)
    with pytest.raises(ValueError, match="different binners"):
        used_columns([one.forest, other.forest])

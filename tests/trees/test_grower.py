"""Whole trees: against the naive twin, and the same from any cut of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.shards.grid import PackedPairs, grid_scale
from costboost.shards.layout import plan_layout
from costboost.trees import tree as tree_module
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder
from grown_trees import (
    MODES,
    Drawn,
    Kept,
    Problem,
    assert_equals_twin,
    assert_leaves_are_walked,
    assert_same_tree,
    each_mode,
    rule_sets,
    seeds,
)
from interpreted import tree_kernels, use_tree_kernels
from naive import trees as naive

# --- against the twin ----------------------------------------------------------------------------


@each_mode
@given(seeds, st.integers(1, 30), st.data())
@settings(max_examples=25, deadline=None)
def test_grower_equals_its_twin(mode, seed, n, data):
    problem = Problem(np.random.default_rng(seed), mode, n)
    rules = data.draw(rule_sets(problem.criterion, problem.scale))
    tree, leaves = problem.grow(rules)
    twin = naive.grow(problem.table, rules)
    assert_equals_twin(tree, twin)
    assert_leaves_are_walked(problem, tree, leaves)
    for number, leaf in enumerate(twin.leaves):
        assert np.flatnonzero(leaves == number).tolist() == twin.nodes[leaf].rows


@each_mode
@given(seeds, st.integers(1, 40), st.data())
@settings(max_examples=10, deadline=None)
def test_rows_left_out_reach_a_leaf_but_teach_nothing(mode, seed, n, data):
    rng = np.random.default_rng(seed)
    problem = Problem(rng, mode, n)
    rules = data.draw(rule_sets(problem.criterion, problem.scale))
    kept = rng.random(n) < 0.6
    tree, leaves = problem.grow(rules, keep=Kept(kept))
    # Nothing left to learn from: all rows are used.
    rows = np.flatnonzero(kept) if kept.any() else np.arange(n)
    assert_equals_twin(tree, naive.grow(problem.table, rules, rows.tolist()))
    assert_leaves_are_walked(problem, tree, leaves)


@given(seeds, st.integers(0, 2))
@settings(max_examples=20, deadline=None)
def test_only_drawn_columns_are_split(seed, column):
    problem = Problem(np.random.default_rng(seed), "gini", 25)
    rules = naive.Rules("gini", max_leaf_nodes=6)
    features = sorted({column, (column + 1) % 3})
    tree, _ = problem.grow(rules, draw=Drawn(lambda node: features))
    assert_equals_twin(tree, naive.grow(problem.table, rules, features=lambda: features))


@each_mode
@given(seeds, st.integers(1, 40), st.integers(0, 6), st.data())
@settings(max_examples=15, deadline=None)
def test_a_few_drawn_columns_are_added_up_alone(mode, seed, n, column, data):
    # Less than half of the columns: no histogram of all of them is made, and nothing changes.
    problem = Problem(np.random.default_rng(seed), mode, n, d=7)
    rules = data.draw(rule_sets(problem.criterion, problem.scale))
    features = sorted({column, (column + 1) % 7, (column + 3) % 7})
    tree, leaves = problem.grow(rules, draw=Drawn(lambda node: features))
    assert_equals_twin(tree, naive.grow(problem.table, rules, features=lambda: features))
    assert_leaves_are_walked(problem, tree, leaves)


@each_mode
def test_drawn_columns_give_the_same_tree_by_shards_and_by_subtraction(mode):
    problem = Problem(np.random.default_rng(7), mode, 200, d=9)
    rules = naive.Rules(problem.criterion, min_samples_leaf=2, max_depth=4)
    few = Drawn(lambda node: sorted((node + k) % 9 for k in (0, 3, 5)), 3)
    is_single_shard, leaves = problem.grow(rules, draw=few)
    subtracted, same = problem.grow(rules, draw=Drawn(few.choose, 9))
    cut, parts = problem.grow(rules, draw=few, parts=[np.arange(70), np.arange(70, 200)])
    for other in (subtracted, cut):
        assert_same_tree(is_single_shard, other)
    assert leaves.tolist() == same.tolist() == parts.tolist()


def test_columns_are_drawn_anew_for_each_node():
    rng = np.random.default_rng(3)
    problem = Problem(rng, "gini", 60, d=3, categorical=0.0, weights=(1, 2))
    draw = Drawn(lambda node: [node % 3])
    tree, _ = problem.grow(naive.Rules("gini", max_depth=2), draw=draw)
    assert tree.feature.tolist()[:3] == [0, 1, 2]


def test_a_grower_grows_many_trees():
    # Nothing of one tree, sampled or not, is left in the next.
    problem = Problem(np.random.default_rng(5), "gini", 50)
    rules = naive.Rules("gini", min_samples_leaf=2)
    finder = SplitFinder(problem.n_bins, problem.is_categorical, 2, criterion="gini", min_count=2)
    with problem.shards([np.arange(20), np.arange(20, 50)]) as cut:
        grower = Grower(cut, problem.mode, finder, Limits(min_samples_leaf=2))
        thirds, halves = (Kept(np.arange(50) % k > 0) for k in (3, 2))
        for keep in (None, thirds, None, halves):
            tree = grower.grow(keep)
            fresh, _ = problem.grow(rules, keep=keep)
            assert_same_tree(tree, fresh)
            assert tree.depth > 1


@pytest.mark.parametrize(
    ("mode", "rows"),
    [("newton", [[2, 1], [-2, 1], [9, 1], [9, 1]]), ("vector", [[5, -4], [0, 4], [-9, 0], [0, 0]])],
)
def test_a_child_whose_sums_cancel_is_split_all_the_same(mode, rows):
    # Column 0 parts the first two rows from the others; in their sums one channel is 0.
    problem = Problem(np.random.default_rng(0), mode, 4, d=2)
    problem.codes = np.array([[0, 0], [0, 1], [1, 0], [1, 0]], dtype=np.uint8)
    problem.n_bins, problem.is_categorical = np.array([2, 2]), np.zeros(2, dtype=bool)
    problem.data, problem.n_channels = np.array(rows, dtype=problem.data.dtype), 2
    tree, leaves = problem.grow(naive.Rules(mode))
    assert tree.feature.tolist()[:2] == [0, 1]
    assert np.count_nonzero(tree.sums[1]) == 1
    assert len({leaves[0], leaves[1], leaves[2]}) == 3


# --- any cut of the rows -------------------------------------------------------------------------


def cuts(rng, n):
    """The rows as 1, 3 and 7 shards, in any order, some of them empty; and as thread blocks."""
    order = rng.permutation(n)
    yield [order]
    yield np.array_split(order, 3)
    yield [order[:0], *np.array_split(order, 5), order[:0]]
    yield [order[: n // 2], order[n // 2 :]]
    yield [order[i : i + 1] for i in range(3)] + [order[3:][::-1]] + [order[:0]] * 3


@each_mode
@pytest.mark.parametrize("sampled", [False, True], ids=["all", "sampled"])
@pytest.mark.parametrize("min_samples_leaf", [1, 3])
def test_same_tree_from_any_cut_of_the_rows(mode, sampled, min_samples_leaf):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        problem = Problem(rng, mode, 200, weights=(0.0, 0.1, 1 / 3, np.pi, 1e-5))
        rules = naive.Rules(problem.criterion, max_leaf_nodes=12, min_samples_leaf=min_samples_leaf)
        kept = rng.random(200) < 0.5
        keep = Kept(kept) if sampled else None
        tree, leaves = problem.grow(rules, keep=keep)
        assert tree.depth > 2
        for parts in cuts(rng, 200):
            other, other_leaves = problem.grow(rules, parts=parts, keep=keep)
            assert_same_tree(tree, other)
            np.testing.assert_array_equal(leaves, other_leaves)


def test_packed_pairs_grow_the_tree_of_pairs():
    rng = np.random.default_rng(11)
    problem = Problem(rng, "newton", 200)
    rules = naive.Rules("newton", max_leaf_nodes=10, l2=1.5)
    tree, leaves = problem.grow(rules)
    packed = problem.take(np.arange(200))
    packed.name = "packed"
    packed.data = problem.data[:, 0] * 2**PackedPairs.SHIFT + problem.data[:, 1]
    for parts in cuts(rng, 200):
        other, other_leaves = packed.grow(rules, parts=parts)
        assert_same_tree(tree, other)
        np.testing.assert_array_equal(leaves, other_leaves)


@pytest.mark.parametrize("n_shards", [1, 2, 3])
def test_same_tree_from_any_number_of_threads(n_shards):
    rng = np.random.default_rng(0)
    n = 20_000
    problem = Problem(rng, "gini-3", n, d=4, weights=rng.random(50))
    reference = problem.grow(naive.Rules("gini", max_leaf_nodes=20))
    layout = plan_layout(problem.labels, n, 3, n_shards)
    parts = [layout.rows[start:stop] for start, stop in layout.bounds]
    assert min(map(len, parts)) > 1000
    for _ in range(3):
        tree, leaves = problem.grow(naive.Rules("gini", max_leaf_nodes=20), parts=parts)
        assert_same_tree(tree, reference[0])
        np.testing.assert_array_equal(leaves, reference[1])


def test_layout_and_cut_give_the_same_shards():
    problem = Problem(np.random.default_rng(1), "gini-3", 100)
    layout = plan_layout(problem.labels, 100, 3, 1)
    cut = layout.cut(problem.codes[layout.rows])
    by_hand = problem.shard(np.arange(100))
    np.testing.assert_array_equal(cut.shards[0].codes, by_hand.codes)
    np.testing.assert_array_equal(cut.shards[0].starts, by_hand.starts)


@pytest.mark.parametrize("mode", ["gini-3", "entropy", "newton", "vector"])
@pytest.mark.parametrize("hide_cython", [False, True])
def test_interpreted_kernels_grow_the_same_tree(monkeypatch, mode, hide_cython):
    if not hide_cython:
        pytest.importorskip("cython")
    # More than 256 rows in a segment, where a byte would wrap.
    problem = Problem(np.random.default_rng(7), mode, 700, d=2, weights=(0.1, 1 / 3, 7))
    rules = naive.Rules(problem.criterion, max_leaf_nodes=6, min_samples_leaf=2)
    keep = Kept(np.arange(700) % 5 > 0)
    expected = [problem.grow(rules), problem.grow(rules, keep=keep)]
    use_tree_kernels(monkeypatch, tree_kernels(hide_cython=hide_cython))
    for (tree, leaves), given_keep in zip(expected, (None, keep), strict=True):
        other, other_leaves = problem.grow(rules, keep=given_keep)
        assert_same_tree(tree, other)
        np.testing.assert_array_equal(leaves, other_leaves)


# --- weights -------------------------------------------------------------------------------------


def assert_same_splits(a, b):
    for name in ("feature", "threshold", "missing_left", "left", "leaves"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for node, goes_left in a.subsets.items():
        np.testing.assert_array_equal(goes_left, b.subsets[node])


def shares(sums):
    return sums / np.maximum(np.abs(sums).sum(axis=1, keepdims=True), 1)


@pytest.mark.parametrize("mode", [name for name in MODES if MODES[name][0] in naive.CRITERIA[:3]])
@given(seeds, st.integers(2, 60))
@settings(max_examples=20, deadline=None)
def test_weight_k_equals_k_copies(mode, seed, n):
    weighted = Problem(np.random.default_rng(seed), mode, n, weights=(0, 1, 2, 3, 7))
    repeats = weighted.data.astype(int)
    if repeats.sum() == 0:
        repeats[0] = weighted.data[0] = 1
    weighted.scale = grid_scale(weighted.data.max(), n)
    copies = weighted.take(np.repeat(np.arange(n), repeats))
    copies.data = np.ones(len(copies.codes))
    copies.scale = grid_scale(1.0, len(copies.codes))
    for max_leaf_nodes in (2, 5, None):
        rules = naive.Rules(weighted.criterion, max_leaf_nodes=max_leaf_nodes)
        tree, leaves = weighted.grow(rules)
        other, other_leaves = copies.grow(rules)
        assert_same_splits(tree, other)
        np.testing.assert_array_equal(np.repeat(leaves, repeats), other_leaves)
        ratio = copies.scale / weighted.scale
        np.testing.assert_array_equal(tree.leaf_sums * ratio, other.leaf_sums.astype(float))


@pytest.mark.parametrize("mode", ["newton", "vector", "one-hot"])
@given(seeds, st.integers(2, 60))
@settings(max_examples=15, deadline=None)
def test_weight_k_equals_k_copies_on_the_grid(mode, seed, n):
    rng = np.random.default_rng(seed)
    weighted = Problem(rng, mode, n)
    repeats = rng.integers(1, 5, size=n)
    copies = weighted.take(np.repeat(np.arange(n), repeats))
    weighted.data = weighted.data * repeats[:, None].astype(weighted.data.dtype)
    rules = naive.Rules(weighted.criterion, max_leaf_nodes=6)
    tree, leaves = weighted.grow(rules)
    other, other_leaves = copies.grow(rules)
    assert_same_tree(tree, other)
    np.testing.assert_array_equal(np.repeat(leaves, repeats), other_leaves)


@each_mode
@given(seeds, st.integers(1, 40))
@settings(max_examples=10, deadline=None)
def test_trees_do_not_depend_on_a_power_of_two(mode, seed, exponent):
    problem = Problem(np.random.default_rng(seed), mode, 40)
    rules = naive.Rules(problem.criterion, max_leaf_nodes=6)
    tree, _ = problem.grow(rules)
    scaled = problem.take(np.arange(40))
    if problem.name == "weights":
        scaled.data = problem.data * 2.0**exponent
        scaled.scale = grid_scale(scaled.data.max(), 40)
        assert_same_tree(tree, scaled.grow(rules)[0])
    else:
        factor = 2 ** (exponent % 20)
        scaled.data = problem.data * problem.data.dtype.type(factor)
        other, _ = scaled.grow(rules)
        assert_same_splits(tree, other)
        np.testing.assert_array_equal(tree.gain * factor, other.gain)


def test_the_order_of_rows_does_not_matter():
    problem = Problem(np.random.default_rng(2), "gini", 80, categorical=0.0)
    rules = naive.Rules("gini", max_leaf_nodes=8)
    tree, leaves = problem.grow(rules)
    order = np.random.default_rng(3).permutation(80)
    other, other_leaves = problem.take(order).grow(rules)
    assert_same_tree(tree, other)
    np.testing.assert_array_equal(leaves[order], other_leaves)


# --- limits --------------------------------------------------------------------------------------


@each_mode
def test_limits_hold(mode):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = Problem(rng, mode, 150)
        kept = rng.random(150) < 0.7
        rules = naive.Rules(
            problem.criterion,
            min_samples_leaf=7,
            min_weight=20 * problem.scale,
            max_depth=4,
            max_leaf_nodes=9,
        )
        tree, leaves = problem.grow(rules, keep=Kept(kept))
        assert len(tree.leaves) <= 9
        assert tree.depth <= 4
        if len(tree.leaves) == 1:
            continue
        assert np.bincount(leaves[kept], minlength=len(tree.leaves)).min() >= 7
        weights = [naive.weight(sums, problem.criterion) for sums in tree.leaf_sums.tolist()]
        assert min(weights) >= 20 * problem.scale


def test_growth_is_best_first():
    problem = Problem(np.random.default_rng(4), "gini", 200, d=4)
    full, _ = problem.grow(naive.Rules("gini"))
    tree, _ = problem.grow(naive.Rules("gini", max_leaf_nodes=8))
    # Children are numbered as they are made: each split made gains most of those at hand.
    made = np.flatnonzero(tree.left >= 0)
    at_hand = {0}
    for node in made[np.argsort(tree.left[made])].tolist():
        gains = {other: problem_gain(full, tree, other) for other in at_hand}
        assert gains[node] == max(gains.values())
        at_hand = at_hand - {node} | {int(tree.left[node]), int(tree.left[node]) + 1}
    assert len(at_hand) == 8


@pytest.mark.parametrize(("extra", "first"), [(2.0**-48, 1), (2.0**-20, 2)])
def test_of_gains_that_differ_by_rounding_the_oldest_node_is_split(extra, first):
    # The root parts column 0; then each child would part column 1, the right one a little better.
    codes = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in (0, 1)], dtype=np.uint8)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    weights = np.array([2.0, 2, 1, 1, 2, 2, 1, 1 + extra])
    problem = zoo_problem(codes, labels, weights)
    tree, _ = problem.grow(naive.Rules("gini", max_leaf_nodes=3))
    assert tree.feature[0] == 0
    assert np.flatnonzero(tree.left >= 0).tolist() == [0, first]


def problem_gain(full, tree, node):
    """The gain of a node's best split: a leaf of the small tree may be split in the full one."""
    path = []
    while node > 0:
        parent = int(np.flatnonzero((tree.left == node) | (tree.left == node - 1) & (node > 1))[0])
        path.append(node - int(tree.left[parent]))
        node = parent
    for side in reversed(path):
        node = int(full.left[node]) + side
    return float(full.gain[node])


def test_leaves_fit_in_two_bytes(monkeypatch):
    monkeypatch.setattr(tree_module, "MAX_LEAVES", 5)
    problem = Problem(np.random.default_rng(4), "gini", 200, d=4)
    tree, leaves = problem.grow(naive.Rules("gini"))
    assert len(tree.leaves) == 5
    assert leaves.max() == 4


def test_finder_and_limits_must_agree():
    problem = Problem(np.random.default_rng(4), "gini", 10)
    finder = SplitFinder(problem.n_bins, problem.is_categorical, 2, criterion="gini", min_count=5)
    with problem.shards() as cut, pytest.raises(ValueError, match=r"min_count=5.*leaf=1"):
        Grower(cut, problem.mode, finder, Limits())


# --- a zoo of degenerate tables ------------------------------------------------------------------


def zoo_problem(codes, labels, weights, *, mode="gini", categorical=False):
    problem = Problem(np.random.default_rng(0), mode, len(codes), d=codes.shape[1])
    problem.codes = codes.astype(np.uint8)
    problem.n_bins = np.array([max([1, *(c + 1 for c in col if c < 255)]) for col in codes.T])
    problem.is_categorical = np.full(codes.shape[1], categorical)
    problem.labels = np.asarray(labels)
    problem.data = np.asarray(weights, dtype=float)
    problem.scale = grid_scale(problem.data.max(initial=0.0), len(codes))
    return problem


HALVES = np.repeat([0, 1], 5)
TEN = np.arange(10)[:, None]
ZOO = {
    "constant columns": (np.zeros((10, 2), dtype=int), HALVES, np.ones(10)),
    "one row": (np.array([[3, 4]]), [1], [2.0]),
    "one class": (TEN, np.zeros(10, dtype=int), np.ones(10)),
    "all missing": (np.full((10, 1), 255), HALVES, np.ones(10)),
    "zero weights": (TEN, HALVES, np.zeros(10)),
    "one class weighs nothing": (TEN, HALVES, 1.0 - HALVES),
}


@pytest.mark.parametrize("case", ZOO)
@pytest.mark.parametrize("criterion", naive.CRITERIA[:3])
@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("min_samples_leaf", [1, 2])
def test_nothing_to_split(case, criterion, categorical, min_samples_leaf):
    problem = zoo_problem(*ZOO[case], mode=criterion, categorical=categorical)
    rules = naive.Rules(criterion, min_samples_leaf=min_samples_leaf)
    tree, leaves = problem.grow(rules)
    assert_equals_twin(tree, naive.grow(problem.table, rules))
    assert tree.leaves.tolist() == [0]
    assert tree.depth == 0
    assert not leaves.any()


def test_missing_or_not_is_a_split():
    codes = np.where(HALVES == 0, 0, 255)[:, None]
    for categorical in (False, True):
        tree, leaves = zoo_problem(codes, HALVES, np.ones(10), categorical=categorical).grow(
            naive.Rules("gini")
        )
        assert tree.leaves.tolist() == [1, 2]
        np.testing.assert_array_equal(leaves, HALVES if not categorical else 1 - HALVES)


def test_one_column():
    tree, leaves = zoo_problem(TEN, HALVES, np.ones(10)).grow(naive.Rules("gini"))
    assert tree.feature.tolist() == [0, -1, -1]
    assert tree.threshold.tolist() == [4, -1, -1]
    np.testing.assert_array_equal(leaves, HALVES)


def test_255_codes_and_missing():
    # The last code, 254, parted from missing values on either side.
    codes = np.append(np.arange(255), 255)[:, None]
    for threshold in (0, 100, 253):
        for missing_class in (0, 1):
            labels = np.append((np.arange(255) > threshold).astype(int), missing_class)
            tree, leaves = zoo_problem(codes, labels, np.ones(256)).grow(naive.Rules("gini"))
            assert tree.threshold[0] == threshold
            assert tree.missing_left[0] == (missing_class == 0)
            np.testing.assert_array_equal(leaves, labels)
    labels = np.append(np.zeros(255, dtype=int), 1)
    tree, leaves = zoo_problem(codes, labels, np.ones(256)).grow(naive.Rules("gini"))
    assert tree.threshold[0] == 254
    np.testing.assert_array_equal(leaves, labels)


@pytest.mark.parametrize("factor", [1e-300, 1e300, 2.0**-1000, 2.0**1000])
@pytest.mark.parametrize("mode", ["gini", "entropy-3", "error"])
def test_huge_and_tiny_weights(factor, mode):
    problem = Problem(np.random.default_rng(6), mode, 60, weights=(1, 2, 4))
    rules = naive.Rules(problem.criterion, max_leaf_nodes=6)
    tree, leaves = problem.grow(rules)
    assert tree.depth > 1
    scaled = problem.take(np.arange(60))
    scaled.data = problem.data * factor
    scaled.scale = grid_scale(scaled.data.max(), 60)
    other, other_leaves = scaled.grow(rules)
    assert_same_splits(tree, other)
    np.testing.assert_array_equal(leaves, other_leaves)


def test_weights_far_apart():
    # What weighs 1e-300 of the largest is nothing on the grid, not an error.
    weights = np.where(np.arange(10) % 2, 1.0, 1e-300)
    tree, _ = zoo_problem(TEN, HALVES, weights).grow(naive.Rules("gini"))
    assert tree.feature[0] == 0
    assert tree.threshold[0] in (3, 4)
    assert (tree.sums >= 0).all()


def test_all_gradients_zero():
    problem = Problem(np.random.default_rng(0), "newton", 20)
    problem.data = np.zeros((20, 2), dtype=np.int64)
    for l2 in (0.0, 1.0):
        tree, _ = problem.grow(naive.Rules("newton", l2=l2))
        assert tree.leaves.tolist() == [0]

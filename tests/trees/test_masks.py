"""Many rows go down all trees as the bits of words, and end where they would have walked to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.binning.binner import fit_binner
from costboost.trees import masks
from costboost.trees.forest import ForestBuilder, join_members
from forest_cases import Case, random_tree, seeds
from interpreted import WAYS, tree_kernels_by
from naive import trees as naive
from toy_forest import TOY_CODES, toy_forest, toy_leaves


def planned(members=(0, 0, 1)):
    words, subsets, roots, _, values = toy_forest()
    return masks.make_mask_plan(
        words, subsets, np.append(roots, 9), values, np.array(members)
    ), values


@pytest.mark.parametrize("way", WAYS)
def test_going_down_together_by_hand(monkeypatch, way):
    kernels = tree_kernels_by(way)
    monkeypatch.setattr(masks, "kernels", kernels.mask)
    monkeypatch.setattr(masks, "node_kernels", kernels.forest)
    plan, values = planned()
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    leaves = np.full(expected.shape, -1)
    plan.find_leaves(TOY_CODES, leaves)
    np.testing.assert_array_equal(leaves, expected)
    margins = np.ones((2, len(TOY_CODES), 2))
    plan.add_margins(TOY_CODES, margins)
    np.testing.assert_array_equal(margins[0], (1 + values[expected[:, 0]]) + values[5])
    np.testing.assert_array_equal(margins[1], 1 + values[6 + expected[:, 2]])


def test_splits_are_made_once_and_by_column():
    splits = planned()[0].splits
    assert splits.features.tolist() == [0, 1, 2]
    assert splits.starts.tolist() == [0, 1, 2, 3]
    # {0, 70, 255}; at most 3, or missing; at most 254
    assert splits.flips.tolist() == [0, 0, 0]
    assert splits.bound_starts.tolist() == [0, 4, 6, 7]
    assert splits.bounds.tolist() == [0, 69, 70, 254, 3, 254, 254]
    case = Case(4, n_trees=200, max_depth=4, numeric=True)
    ways = {
        (int(j), int(t), bool(m))
        for tree in case.trees
        for j, t, m in zip(tree.feature, tree.threshold, tree.missing_left, strict=True)
        if j >= 0
    }
    assert len(case.forest.nodes.plan.splits.flips) == len(ways)


@pytest.mark.parametrize("codes", [(), range(256), (0,), (255,), range(1, 256), range(0, 256, 2)])
def test_any_set_of_codes(codes):
    words, subsets, roots, _, values = toy_forest()
    goes_left, subsets = np.isin(np.arange(256), list(codes)), subsets.copy()
    subsets[1] = np.packbits(goes_left, bitorder="little").view("<u8")
    rows = np.zeros((256, 3), dtype=np.uint8)  # all left at the first node
    rows[:, 0] = np.arange(256)
    plan = masks.make_mask_plan(words[:5], subsets[:5], np.array([0, 5]), values[:5], roots[:1])
    leaves = np.full((256, 1), -1)
    plan.find_leaves(rows, leaves)
    np.testing.assert_array_equal(leaves[:, 0], np.where(goes_left, 3, 4))


@given(seeds, st.integers(1, 18), st.integers(0, 8), st.integers(1, 3), st.booleans())
@settings(max_examples=40)
def test_margins_are_the_sums_of_the_naive_walk(seed, n_trees, depth, n_outputs, numeric):
    n = int(np.random.default_rng(seed).choice([1, 63, 64, 65, 127, 129, 192, 193, 512, 700]))
    case = Case(seed, n_trees=n_trees, max_depth=depth, n_outputs=n_outputs, numeric=numeric, n=n)
    nodes = case.forest.nodes
    margins = np.repeat(case.base[None, None, :], n, axis=1)
    nodes.plan.add_margins(case.codes, margins)
    np.testing.assert_array_equal(margins[0], case.stages[-1])
    leaves = np.full((n, n_trees), -1)
    nodes.plan.find_leaves(case.codes, leaves)
    for t, tree in enumerate(case.trees):
        assert leaves[:, t].tolist() == [naive.walk(tree, row) for row in case.codes]


@given(seeds, st.integers(2, 5), st.integers(1, 2))
@settings(max_examples=20)
def test_members_go_down_together(seed, n_members, n_outputs):
    rng = np.random.default_rng(seed)
    first = Case(seed, n_outputs=n_outputs, n=int(rng.choice([1, 3, 4, 300, 1100])))
    forests = [first.forest]
    for _ in range(n_members - 1):
        builder = ForestBuilder(n_outputs)
        for _ in range(rng.integers(1, 8)):
            tree = random_tree(rng, first.binner, 4)
            builder.add(tree, rng.normal(size=(len(tree.leaves), n_outputs)))
        forests.append(builder.build(first.binner, rng.normal(size=n_outputs)))
    joint = join_members(forests)
    if any(forest.tables is not None for forest in forests):
        assert joint is None
        return
    for n_threads in (1, 3):
        got = joint.margins_of_codes(first.codes, n_threads)
        for part, forest in zip(got, forests, strict=True):
            np.testing.assert_array_equal(part, forest.margins_of_codes(first.codes))


def test_who_is_predicted_alone():
    deep, other = Case(3).forest, Case(3, numeric=True).forest
    stumps = Case(3, max_depth=1).forest
    assert join_members([deep]) is None  # nobody to be joined with
    assert join_members([deep, None]) is None
    assert join_members([deep, stumps]) is None
    assert join_members([deep, other]) is None
    with pytest.raises(ValueError, match="look at 4 columns"):
        join_members([deep, deep]).margins_of_codes(np.zeros((3, 5), dtype=np.uint8))


def test_leaves_are_numbered_without_gaps_and_planes_make_up_the_numbers():
    for seed in range(30):
        nodes = Case(seed, n_trees=3, max_depth=8).forest.nodes
        plan, ends = nodes.plan, nodes.ends
        for t in range(3):
            begin, end = plan.trees.value_starts[t : t + 2]
            left = (nodes.words[ends[t] : ends[t + 1]] >> np.uint64(40)).astype(int)
            own = np.flatnonzero(left == np.arange(len(left)))
            assert sorted(plan.leaf_nodes[begin:end]) == own.tolist()
            below = np.zeros((len(left), len(left)), dtype=bool)
            for node in range(len(left) - 1, -1, -1):
                below[node, node] = True
                if left[node] != node:
                    below[node] |= below[left[node]] | below[left[node] + 1]
            numbers = np.zeros(len(left), dtype=int)
            for b in range(8):
                rows = slice(*plan.trees.plane_starts[8 * t + b : 8 * t + b + 2])
                for node in plan.trees.slots[rows]:
                    assert not (numbers[below[node]] >> b & 1).any()
                    numbers[below[node]] += 1 << b
            assert numbers[plan.leaf_nodes[begin:end]].tolist() == list(range(end - begin))


def test_one_leaf_and_no_columns():
    builder = ForestBuilder(1)
    tree = random_tree(np.random.default_rng(0), fit_binner([[1.0], [2.0]]), 0)
    builder.add(tree, np.array([[0.5]]))
    forest = builder.build(fit_binner([[1.0], [2.0]]), np.array([1.0]))
    margins = np.ones((1, 100, 1))
    forest.nodes.plan.add_margins(np.zeros((100, 1), dtype=np.uint8), margins)
    assert (margins == 1.5).all()

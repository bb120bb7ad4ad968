"""Whole trees in one call, compiled and interpreted, against the naive twin.

`test_grower.py` and `test_grower_at_once.py` hold the installed ones against trees grown by
messages.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.shards.layout import Shards
from grown_trees import (
    Drawn,
    Kept,
    Problem,
    assert_equals_twin,
    assert_leaves_are_walked,
    each_mode,
    rule_sets,
    seeds,
)
from naive import trees as naive
from tree_searches import using

some = settings(max_examples=6, deadline=None)


def grow_at_once(kernels, problem, rules, keep=None, draw=None, **options):
    with using(kernels):
        return problem.grow_on(Shards, rules, None, keep, draw, **options)


@each_mode
@given(seeds, st.integers(1, 30), st.data())
@some
def test_a_tree_in_one_call_equals_its_twin(kernels, mode, seed, n, data):
    problem = Problem(np.random.default_rng(seed), mode, n)
    rules = data.draw(rule_sets(problem.criterion, problem.scale))
    tree, leaves = grow_at_once(kernels, problem, rules)
    twin = naive.grow(problem.table, rules)
    assert_equals_twin(tree, twin)
    assert_leaves_are_walked(problem, tree, leaves)
    assert tree.cover.tolist() == [len(node.rows) for node in twin.nodes]


@given(seeds, st.integers(2, 30), st.data())
@some
def test_columns_drawn_for_every_node_are_added_up_alone(kernels, seed, n, data):
    problem = Problem(np.random.default_rng(seed), "gini", n, d=7)
    rules = data.draw(rule_sets("gini", problem.scale))
    features = sorted(data.draw(st.sets(st.integers(0, 6), min_size=3, max_size=3)))
    tree, leaves = grow_at_once(kernels, problem, rules, draw=Drawn(lambda node: features))
    assert_equals_twin(tree, naive.grow(problem.table, rules, features=lambda: features))
    assert_leaves_are_walked(problem, tree, leaves)


@given(seeds, st.integers(1, 40))
@some
def test_every_row_is_counted_though_few_are_learnt_from(kernels, seed, n):
    rng = np.random.default_rng(seed)
    problem, kept = Problem(rng, "newton", n), rng.random(n) < 0.5
    kept[0] = True
    rules = naive.Rules("newton", max_leaf_nodes=5)
    tree, leaves = grow_at_once(kernels, problem, rules, keep=Kept(kept))
    assert_equals_twin(tree, naive.grow(problem.table, rules, np.flatnonzero(kept).tolist()))
    assert (
        tree.cover[tree.leaves].tolist() == np.bincount(leaves, minlength=len(tree.leaves)).tolist()
    )
    assert tree.cover[0] == n


@pytest.mark.parametrize("heaviest", [None, 5.0, 1e9])
def test_what_a_row_weighs_at_most_saves_counts_and_changes_nothing(kernels, heaviest):
    # Above 64 times the least leaf's rows a node is searched before its rows are counted.
    problem = Problem(np.random.default_rng(3), "newton", 300, d=2)
    rules = naive.Rules("newton", min_samples_leaf=3, max_depth=3)
    tree, leaves = grow_at_once(kernels, problem, rules, heaviest=heaviest)
    assert_equals_twin(tree, naive.grow(problem.table, rules))
    assert np.bincount(leaves).min() >= 3


@pytest.mark.parametrize("limit", [{"max_depth": 0}, {"max_leaf_nodes": 1}])
def test_a_tree_that_may_not_grow_is_its_root(kernels, limit):
    problem = Problem(np.random.default_rng(0), "gini", 20)
    tree, leaves = grow_at_once(kernels, problem, naive.Rules("gini", **limit))
    assert tree.left.tolist() == [-1]
    assert tree.sums.tolist() == [problem.table.sums(range(20))]
    assert not leaves.any()


def test_weights_that_are_all_zero_grow_nothing(kernels):
    problem = Problem(np.random.default_rng(0), "gini", 20, weights=(0,))
    tree, leaves = grow_at_once(kernels, problem, naive.Rules("gini"))
    assert tree.left.tolist() == [-1]
    assert tree.cover.tolist() == [20.0]
    assert not leaves.any()


@pytest.mark.parametrize("way", [-1, 1])
def test_values_of_leaves_rise_or_fall_with_a_constrained_column(kernels, way):
    rng = np.random.default_rng(4)
    problem = Problem(rng, "newton", 200, d=1, missing=0.0, categorical=0.0)
    problem.n_bins = np.array([12])
    problem.codes = rng.integers(0, 12, size=(200, 1)).astype(np.uint8)
    noise = rng.integers(-15, 16, size=200)
    problem.data[:, 0] = noise - way * problem.codes[:, 0].astype(int)
    rules = naive.Rules("newton", max_depth=4)
    free, others = grow_at_once(kernels, problem, rules)
    value_of = -free.leaf_sums[:, 0] / free.leaf_sums[:, 1]
    order = np.argsort(problem.codes[:, 0], kind="stable")
    assert (way * np.diff(value_of[others][order]) < 0).any()
    tree, leaves = grow_at_once(kernels, problem, rules, monotone=np.array([way]))
    low, high = tree.leaf_bounds.T
    values = np.clip(-tree.leaf_sums[:, 0] / tree.leaf_sums[:, 1], low, high)
    assert len(tree.leaves) > 2
    assert (way * np.diff(values[leaves][order]) >= 0).all()

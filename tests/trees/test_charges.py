"""Splits pay for their columns: against all cuts, tried one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost import FeatureCosts
from costboost.shards.grid import ClassWeights, grid_scale
from costboost.shards.layout import plan_layout
from costboost.trees.charges import Charges, note_paid
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder
from naive import charges as naive

PRICES = [
    {1: 0.1, 2: 0.05},
    {"g": {"columns": {1: 0.02, 3: 0.1}, "cost": 0.1}, 0: 0.02},
    {"both": {"columns": [0, 2], "cost": 0.04}, 3: 0.3},
]


def grown(X, y, w, tests, worth, n_trees, n_shards, depth=3):
    """Return the splits of trees grown one after the other, and the charges."""
    layout = plan_layout(y, n_rows=len(y), n_segments=2, n_shards=n_shards)
    finder = SplitFinder(
        np.full(X.shape[1], X.max() + 1), np.zeros(X.shape[1], bool), 2, criterion="gini"
    )
    mode = ClassWeights((grid_scale(float(w.max()), n_rows=len(y)),) * 2)
    load = lambda rows: SimpleNamespace(weights=w[rows], sample_weights=w[rows])  # noqa: E731
    charges, trees = Charges(tests, worth), []
    with layout.cut(X[layout.rows], load) as shards:
        for _ in range(n_trees):
            tree = Grower(shards, mode, finder, Limits(max_depth=depth), charges=charges).grow()
            nodes = []

            def visit(node, tree=tree, nodes=nodes):
                if tree.left[node] >= 0:
                    nodes.append((int(tree.feature[node]), int(tree.threshold[node])))
                    visit(tree.left[node])
                    visit(tree.left[node] + 1)

            visit(0)
            trees.append(nodes)
    return trees, charges


@pytest.mark.parametrize("n_shards", [1, 3])
@pytest.mark.parametrize("prices", PRICES)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_pay_what_they_have_not_paid(prices, weighted, n_shards):
    tests, splits = FeatureCosts(prices).bind(range(4)), set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, (60, 4)).astype(np.uint8)
        y = (X[:, 0] + X[:, 1] > 4) ^ (X[:, 2] > 2) ^ (rng.random(60) < 0.1)
        w = rng.integers(1, 4, 60).astype(float) if weighted else np.ones(60)
        got, _ = grown(X, y.astype(int), w, tests, 0.4, 3, n_shards)
        paid = [set() for _ in y]
        for nodes in got:
            expected, paid = naive.grow(X, y.astype(int), w, tests, 0.4, paid, 3)
            assert nodes == expected
            splits |= {column for column, _ in nodes}
    assert len(splits) > 2  # something was bought, so that the test could fail


def test_the_model_pays_once():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 3)).astype(np.uint8)
    y, w = (X[:, 0] > 2).astype(int), np.ones(80)
    for price, buys in ((8.0, True), (200.0, False)):
        costs = FeatureCosts({0: price}, pay="model").bind(range(3))
        trees, charges = grown(X, y, w, costs.for_rows(80.0), 0.5, 1, 1, depth=1)
        assert ((0, 2) in trees[0]) is buys
        assert charges._bought.tolist() == [buys]
        assert charges.penalties(None, 0, frozenset()).tolist() == [0.0] if buys else True


def test_without_money_to_save_nothing_is_bought():
    X = np.tile(np.arange(4, dtype=np.uint8), 5)[:, None]
    y = (X[:, 0] > 1).astype(int)
    tests = FeatureCosts([1.0]).bind(range(1))
    assert grown(X, y, np.ones(20), tests, 0.0, 1, 1)[0] == [[]]
    assert grown(X, y, np.ones(20), tests, 3.0, 1, 1)[0] == [[(0, 1)]]


def test_what_was_paid_stays_paid():
    shard = SimpleNamespace(leaves=np.array([0, 1, 1]), paid=None)
    note_paid(asked=np.array([[True, False], [False, False]])).answer(shard)
    assert shard.paid.tolist() == [[True, False], [False, False], [False, False]]
    shard.leaves = np.array([1, 0, 1])
    note_paid(asked=np.array([[False, True], [False, False]])).answer(shard)
    assert shard.paid.tolist() == [[True, False], [False, True], [False, False]]

"""Benches: arrays between rounds, and models that share them."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import zip_longest

import numpy as np
import pytest

from costboost.binning.binner import fit_binner
from costboost.boosting.gradient.learner import GradientTree, VectorTree
from costboost.boosting.gradient.loop import GradientBoosting, GradientSetting
from costboost.boosting.gradient.losses import CostExponentialLoss, LogLoss, SquaredLoss
from costboost.boosting.gradient.rows import GradientRows, LossRows
from costboost.runtime.machine import Scratch, ThreadScratch
from costboost.shards.layout import plan_layout
from costboost.shards.rows import Shard
from costboost.trees.tree import Limits

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5))
SCORE = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=400)
WEIGHTS = rng.uniform(0.5, 2.0, size=400)
BINNER = fit_binner(X)
CODES = BINNER.encode(X)
TABLE = np.array([[0.0, 1.0], [3.0, 0.0]])


def two(weights=None, **more):
    return LossRows((SCORE > 0).astype(np.int64), 1, weights, **more)


def three():
    return LossRows(np.digitize(SCORE, [-0.5, 0.5]), 3, WEIGHTS)


CASES = {
    "log": (LogLoss(), two(), GradientTree, {}),
    "sampled": (LogLoss(), two(WEIGHTS), GradientTree, {"subsample": 0.5}),
    "exact": (LogLoss(), two(), GradientTree, {"step": "exact"}),
    "line": (CostExponentialLoss("cgada"), two(table=TABLE), GradientTree, {"step": "line-search"}),
    "squared": (SquaredLoss(), LossRows(SCORE), GradientTree, {}),
    "K trees": (LogLoss(), three(), GradientTree, {"subsample": 0.7}),
    "K, line": (LogLoss(), three(), GradientTree, {"step": "line-search"}),
    "vectors": (LogLoss(), three(), VectorTree, {"subsample": 0.7}),
}


def test_arrays_are_as_large_as_the_largest_who_shares():
    scratch = Scratch()
    for n_rows in (3, 7, 5):
        scratch.reserve(n_rows)
    small, large = scratch.rows("a", np.int64, 3, 2), scratch.rows("a", np.int64, 7, 2)
    assert (len(small), len(large)) == (6, 14)
    assert np.shares_memory(small, large)
    assert not np.shares_memory(large, scratch.rows("b", np.int64, 7, 2))
    late = scratch.rows("a", np.int64, 9, 2)
    assert len(late) == 18
    assert np.shares_memory(late, scratch.rows("a", np.int64, 7, 2))


def test_nothing_is_made_before_it_is_needed():
    scratch = Scratch()
    shard = Shard(CODES, np.arange(400, dtype=np.uint32), np.array([0, 400]), scratch=scratch)
    shard.begin_tree(None)
    assert not scratch._arrays
    shard.divide(0, 1, 0, (np.arange(256) < 99).astype(np.uint8))
    assert sorted(scratch._arrays) == ["order"]


def test_shards_of_a_thread_share_its_desk():
    thread_scratch = ThreadScratch()
    one, other = Scratch(thread_scratch), Scratch(thread_scratch)
    room = one.thread_scratch.places(400)
    assert np.shares_memory(room, other.thread_scratch.places(300))
    assert len(other.thread_scratch.places(300)) == 300
    with ThreadPoolExecutor(1) as pool:
        elsewhere = pool.submit(thread_scratch.places, 400).result()
    assert not np.shares_memory(room, elsewhere)


def shards_of(rows, numbers, scratches):
    """Return shards of some rows that work on these benches."""
    part, codes = rows.take(numbers), CODES[numbers]
    layout = plan_layout(None, len(numbers), 1, len(scratches))
    shards = layout.cut(codes[layout.rows], lambda own: GradientRows(part.take(own)))
    for shard, scratch in zip(shards.shards, scratches, strict=True):
        scratch.reserve(len(shard.codes))
        shard.scratch = scratch
    return shards


def open_model(shards, loss, rows, learner, setting):
    limits, heaviest = Limits(max_leaf_nodes=5), 2.0 if rows.weights is not None else 1.0
    tree = {"limits": limits, "heaviest": heaviest, "seed": 3}
    if learner is VectorTree:
        tree["n_outputs"] = rows.n_outputs
    start = np.zeros(rows.n_outputs)
    chosen = GradientSetting(n_rounds=4, seed=3, **setting)
    return GradientBoosting(shards, loss, learner(BINNER, **tree), chosen, start)


@pytest.mark.parametrize("name", CASES)
def test_models_in_step_on_one_scratch_are_those_trained_alone(name, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 32)
    loss, rows, learner, setting = CASES[name]
    folds = [np.arange(400)[np.arange(400) % 4 != k][: 300 - 10 * k] for k in range(4)]
    alone = []
    for fold in folds:
        with shards_of(rows, fold, [Scratch(), Scratch()]) as shards:
            model = open_model(shards, loss, rows, learner, setting)
            alone.append([list(model.rounds()), margins(shards)])
    scratches = [Scratch(), Scratch()]
    with ExitStack() as stack:
        held = [stack.enter_context(shards_of(rows, fold, scratches)) for fold in folds[::-1]]
        models = [open_model(shards, loss, rows, learner, setting) for shards in held]
        steps = list(zip_longest(*(model.rounds() for model in models)))
        together = [[*zip(*steps, strict=True)], [margins(shards) for shards in held]]
    assert len(steps) == 4
    for k in range(4):
        for one, other in zip(alone[3 - k][0], together[0][k], strict=True):
            for mine, yours in zip(one.values, other.values, strict=True):
                np.testing.assert_array_equal(mine, yours)
        np.testing.assert_array_equal(alone[3 - k][1], together[1][k])


def margins(shards):
    return shards.fetch(lambda shard: shard.state.margins)

"""Votes of a round: counted, or paid for where prices are those of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost import updates
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.updates import vote, vote_classes
from costboost.shards.layout import RowData, plan_layout
from costboost.shards.rows import Shard
from interpreted import load_interpreted

N = 90
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
FN = 10.0 ** RNG.uniform(-3, 3, N)
WEIGHTS = RNG.integers(0, 5, N).astype(float)
LEAVES = RNG.integers(0, 3, N)
SIZES = RNG.uniform(size=N)
VALUES = np.array([-0.7, 0.4, 0.9])


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)


def shards_of(given, n_classes, n_shards, margins):
    layout = plan_layout(given.labels, N, n_classes, n_shards)
    shards = layout.cut(np.zeros((N, 1), np.uint8), given.load)
    for shard in shards.shards:
        shard.leaves[:] = LEAVES[shard.rows]
        shard.state.margins = np.ascontiguousarray(margins[shard.rows])
        shard.state.sizes = SIZES[shard.rows]
    return shards


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("n_shards", [1, 3])
def test_votes_of_two_classes(by_row, weighted, priced, n_shards):
    margins = np.random.default_rng(1).normal(size=(N, 1))
    costs = Costs(fp=1.0, fn=FN).bind([0, 1], N)
    weights = WEIGHTS if weighted else None
    given = TrainingRows(RowData(Y, weights, costs), 2, Y)
    hypothesis = Hypothesis(np.array([0, 1, 1]), np.ones(3), by_row=by_row)
    limit, before, total = 0.25, 1.0, 1.9
    moved = margins[:, 0] + VALUES[LEAVES] * (SIZES if by_row else 1.0)
    was, now = margins[:, 0] > limit * before, moved > limit * total
    counts = WEIGHTS if weighted else np.ones(N)
    with shards_of(given, 2, n_shards, margins) as shards:
        call = vote(
            hypothesis=hypothesis,
            values=VALUES,
            limits=np.array([limit]),
            before=before,
            total=total,
            scale=2.0**20,
            priced=priced,
        )
        (found,) = shards.call([call])
        held = shards.fetch(lambda shard: shard.state.margins)
    assert_allclose(held[:, 0], moved, rtol=1e-15)
    if not priced:
        unit = 2.0**20 if weighted else 1.0
        expected = [[np.sum(counts[(k == Y) & (now == a)]) for a in (0, 1)] for k in (0, 1)]
        assert_array_equal(found / unit, expected)
        return
    paid = [
        np.where(Y == 1, np.where(side, 0.0, FN), np.where(side, 1.0, 0.0)) for side in (was, now)
    ]
    change = np.sum(counts * (paid[1] - paid[0]))
    assert_allclose((found[0, 0] + found[0, 1] / 2**40) / 2.0**20, change, rtol=1e-9)


def test_rows_have_limits_of_their_own():
    margins, own = np.zeros((N, 1)), np.random.default_rng(2).normal(size=N)
    costs = Costs(fp=1.0, fn=FN).bind([0, 1], N)
    hypothesis = Hypothesis(np.array([0, 1, 1]), np.ones(3))
    with shards_of(TrainingRows(RowData(Y, None, costs), 2, Y), 2, 3, margins) as shards:
        for shard in shards.shards:
            shard.state.pricing.limits = own[shard.rows]
        call = vote(
            hypothesis=hypothesis,
            values=VALUES,
            limits=np.zeros(1),
            before=0.0,
            total=2.0,
            scale=1.0,
            priced=False,
        )
        (found,) = shards.call([call])
    now = VALUES[LEAVES] > 2.0 * own
    assert found.tolist() == [[np.sum((k == Y) & (now == a)) for a in (0, 1)] for k in (0, 1)]


def test_a_part_without_rows_has_no_limit_to_read(monkeypatch):
    """Interpreted kernels raise where compiled ones would read beyond the end."""
    (kernels,) = load_interpreted("boosting._vote_kernels")
    monkeypatch.setattr(updates, "_vote_kernels", kernels)
    none = np.zeros(0, dtype=np.uint32)
    given = TrainingRows(RowData(Y, None, Costs(fp=1.0, fn=FN).bind([0, 1], N)), 2, Y)
    shard = Shard(np.zeros((0, 1), np.uint8), none, np.zeros(3, np.int64), given.load(none))
    hypothesis = Hypothesis(np.array([0, 1, 1]), np.ones(3))
    for shard.state.pricing.limits in (None, np.zeros(0)):
        for priced in (False, True):
            call = vote(
                hypothesis=hypothesis,
                values=VALUES,
                limits=np.zeros(1),
                before=0.0,
                total=2.0,
                scale=1.0,
                priced=priced,
            )
            assert not call.answer(shard).any()


@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_votes_of_many_classes(priced, kept):
    y = np.arange(N) % 3
    margins = np.random.default_rng(3).uniform(size=(N, 3))
    costs = Costs.from_matrix(1.0 - np.eye(3), classes=np.arange(3)).bind(np.arange(3))
    votes, values = np.array([2, 0, 2]), np.array([0.5, 0.2, 1.0])
    prices = np.array([[0.0, 1, 5, 2], [3, 0, 1, 2], [1, 1, 0, 2]])
    moved = margins.copy()
    moved[np.arange(N), votes[LEAVES]] += values[LEAVES]
    decided = np.argmin(moved @ prices if priced else -moved, axis=1)
    with shards_of(TrainingRows(RowData(y, None, costs), 3, y), 3, 2, margins) as shards:
        given = prices if priced else np.zeros((0, 0))
        (found,) = shards.call(
            [vote_classes(votes=votes, values=values, prices=given, scale=1.0, kept=kept)]
        )
        assert_allclose(shards.fetch(lambda shard: shard.state.margins), moved)
        if kept:
            assert_array_equal(shards.fetch(lambda shard: shard.state.pricing.decisions), decided)
    expected = np.zeros((3, 4 if priced else 3))
    np.add.at(expected, (y, decided), 1)
    assert_array_equal(found, expected)

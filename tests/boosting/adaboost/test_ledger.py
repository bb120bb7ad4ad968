"""The ledger: margins move, and decisions are paid for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.loop import TrainCost
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.shards.layout import RowData, plan_layout


@pytest.mark.parametrize("decision", ["sign", "cheapest"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("per_row", [True, False])
def test_ledger_pays_for_the_decisions_of_every_round(decision, weighted, per_row):
    rng = np.random.default_rng(7)
    n, y = 3_000, rng.integers(0, 2, 3_000)
    fn = rng.uniform(0.0, 9.0, n) if per_row else 4.0
    costs = Costs(fp=1.0, fn=fn).bind([0, 1], n)
    weight = rng.uniform(0.0, 2.0, n) if weighted else None
    given = TrainingRows(RowData(y, weight, costs), 2, y)
    with plan_layout(y, n, 2, 2).cut(np.zeros((n, 1), np.uint8), given.load) as shards:
        train_cost = TrainCost(shards, costs, 2, cheapest=decision == "cheapest")
        margins, total = np.zeros(n), 0.0
        for _ in range(6):
            alpha, leaves = rng.uniform(0.1, 1.0), rng.integers(0, 4, n)
            hypothesis = Hypothesis(np.array([0, 1, 1, 0]), np.ones(4))
            values = np.where(hypothesis.votes == 1, alpha, -alpha)[:, None]
            for shard in shards.shards:
                shard.leaves[:] = leaves[shard.rows]
            total += alpha
            margins += values[leaves, 0]
            limit = 0.0 if decision == "sign" else total * (2 * costs.thresholds() - 1)
            paid = costs.total(y, (margins > limit).astype(int), weight)
            answers = shards.call(train_cost.votes(hypothesis, values, total))
            assert_allclose(train_cost.pay(answers), paid, rtol=1e-12)
        held = shards.fetch(lambda shard: shard.state.margins)
        assert_allclose(held[:, 0], margins, rtol=1e-14)


@pytest.mark.parametrize("cheapest", [False, True])
@pytest.mark.parametrize("kind", ["by class", "by row"])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_of_many_classes_are_paid_for(cheapest, kind, weighted, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 16)
    rng, n = np.random.default_rng(8), 200
    y = rng.integers(0, 3, n)
    C = rng.integers(1, 9, (n, 3, 3) if kind == "by row" else (3, 3)).astype(float)
    C[..., np.arange(3), np.arange(3)] = 0.0
    costs = Costs.from_matrix(C, classes=np.arange(3)).bind(np.arange(3), n)
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    given, own = TrainingRows(RowData(y, weight, costs), 3, y), np.broadcast_to(C, (n, 3, 3))
    found, expected = [], []
    for n_shards in (1, 3):
        rng = np.random.default_rng(9)
        layout = plan_layout(y, n, 3, n_shards)
        with layout.cut(np.zeros((n, 1), np.uint8), given.load) as shards:
            train_cost = TrainCost(shards, costs, 3, cheapest=cheapest)
            margins, total = np.zeros((n, 3)), 0.0
            for _ in range(4):
                alpha, leaves = rng.uniform(0.1, 1.0), rng.integers(0, 4, n)
                hypothesis = Hypothesis(np.array([0, 2, 1, 2]), np.ones(4))
                values = alpha * (hypothesis.votes[:, None] == np.arange(3))
                for shard in shards.shards:
                    shard.leaves[:] = leaves[shard.rows]
                total += alpha
                margins += values[leaves]
                priced = np.einsum("nk,nka->na", margins, own) if cheapest else -margins
                paid = own[np.arange(n), y, np.argmin(priced, axis=1)]
                expected.append(np.sum(paid if weight is None else weight * paid))
                answers = shards.call(train_cost.votes(hypothesis, values, total))
                found.append(train_cost.pay(answers))
    assert_allclose(found, expected, rtol=1e-12)
    assert found[:4] == found[4:]


def test_fitted_leaf_values_are_half_the_log_odds():
    y, fn = np.array([0, 1, 1, 0]), 3.0
    costs = Costs(fp=1.0, fn=fn).bind([0, 1])
    given = TrainingRows(RowData(y, None, costs), 2, y)
    with plan_layout(y, 4, 2, 1).cut(np.zeros((4, 1), np.uint8), given.load) as shards:
        train_cost = TrainCost(shards, costs, 2, cheapest=True, shares=False)
        shards.shards[0].leaves[:] = np.array([0, 1, 2, 3])[shards.shards[0].rows]
        values = np.array([-0.6, -0.6, -0.5, -0.5])[:, None]  # the limit is ln(1/3) / 2 = -0.549
        hypothesis = Hypothesis(np.zeros(4, dtype=np.int64), np.ones(4))
        answers = shards.call(train_cost.votes(hypothesis, values, 7.0))
        assert train_cost.pay(answers) == fn + 1.0

"""The ledger: margins move, and decisions are paid for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost import Costs
from costboost.boosting.adaboost.hypothesis import Hypothesis
from costboost.boosting.adaboost.ledger import Ledger
from costboost.boosting.adaboost.rows import Given
from costboost.shards.layout import plan_layout


@pytest.mark.parametrize("decision", ["sign", "cheapest"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("per_row", [True, False])
def test_ledger_pays_for_the_decisions_of_every_round(decision, weighted, per_row):
    rng = np.random.default_rng(7)
    n, y = 3_000, rng.integers(0, 2, 3_000)
    fn = rng.uniform(0.0, 9.0, n) if per_row else 4.0
    costs = Costs(fp=1.0, fn=fn).bind([0, 1], n)
    weight = rng.uniform(0.0, 2.0, n) if weighted else None
    given = Given(y, costs, weight, 2, y)
    with plan_layout(y, n, 2, 2).cut(np.zeros((n, 1), np.uint8), given.load) as shards:
        ledger = Ledger(shards, costs, 2, cheapest=decision == "cheapest")
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
            answers = shards.call(ledger.votes(hypothesis, values, total))
            assert_allclose(ledger.pay(answers), paid, rtol=1e-12)
        held = shards.fetch(lambda shard: shard.state.margins)
        assert_allclose(held[:, 0], margins, rtol=1e-14)

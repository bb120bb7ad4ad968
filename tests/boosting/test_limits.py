"""Limits of shares: to compare with one decides as expected costs do."""

import numpy as np
import pytest

from costboost import Costs
from costboost.boosting.train_cost import share_limits
from told_costs import costs_of

# Prices at random: some of them are dearer for right answers than for wrong ones.
pytestmark = pytest.mark.filterwarnings("ignore:In these costs the right answer")


@pytest.mark.parametrize("positive", [0, 1])
def test_limits_decide_as_costs_do(positive):
    p = np.concatenate([[0.0, 1.0, 0.5, 0.25, 0.75], np.random.default_rng(0).uniform(size=500)])
    proba = np.column_stack([1 - p, p])
    seen = 0
    for seed in range(200):
        C = np.random.default_rng(seed).integers(0, 4, (2, 2)).astype(float)
        costs = costs_of(C, positive).bind([0, 1])
        limits = share_limits(costs)
        wrong_is_right = C[0, 1] < C[0, 0] and C[1, 0] < C[1, 1]
        assert (limits is None) == wrong_is_right
        if limits is not None:
            seen += 1
            np.testing.assert_array_equal(p > limits[0], costs.decide(proba) == 1)
    assert seen > 100


def test_limits_of_rows_decide_as_their_costs_do():
    rng = np.random.default_rng(0)
    C = 10.0 ** rng.uniform(-150, 150, (300, 2, 2))
    C[:, 0, 0] = C[:, 1, 1] = 0.0
    C[::5] = rng.integers(0, 3, (60, 2, 2))
    C[::5, 0, 0] = 0.0  # or no limit might exist
    costs = Costs.from_matrix(C, classes=[0, 1]).bind([0, 1], 300)
    p = rng.choice([0.0, 0.25, 0.5, 1.0, 1e-9, 1 - 1e-9], 300)
    limits = share_limits(costs)
    assert limits.shape == (300,)
    np.testing.assert_array_equal(p > limits, costs.decide(np.column_stack([1 - p, p])) == 1)


def test_an_answer_that_is_always_cheaper_has_an_infinite_limit():
    always, never = {"fp": 1, "fn": 5, "tn": 3}, {"fp": 5, "fn": 1, "tp": 3}
    assert share_limits(Costs(**always).bind([0, 1])).tolist() == [-np.inf]
    assert share_limits(Costs(**never).bind([0, 1])).tolist() == [np.inf]
    assert share_limits(Costs(fp=1, fn=0).bind([0, 1])).tolist() == [np.inf]
    assert share_limits(Costs(fp=0, fn=1).bind([0, 1])).tolist() == [0.0]


def test_one_row_without_a_limit_leaves_none():
    tp = np.array([0.0, 4.0])
    costs = Costs(fp=1, fn=2, tp=tp, tn=np.array([0.0, 3.0])).bind([0, 1], 2)
    assert share_limits(costs[:1]).tolist() == [1 / 3]
    assert share_limits(costs) is None

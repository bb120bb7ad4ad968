"""Rows that are decided differently: counted in plain Python, by group, expected and realised."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud
from costboost.metrics import compare_decisions, paired_cost_test, total_cost


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(900, 3))
    y = (X[:, 0] + generator.normal(size=900) > 1.5).astype(int)
    amount = generator.lognormal(3, 1, 900)
    return X, y, amount


@pytest.mark.parametrize("names", [(0, 1), ("good", "bad"), ("a", "b")])
def test_exchanges_are_those_that_a_loop_finds(rows, names):
    X, y, amount = rows
    named = np.array(names)
    positive = None if names == (0, 1) else names[1]
    costs = Costs(fp=8, tp=3, fn=amount, positive=positive)
    one = MinimumCostClassifier(LogisticRegression(), random_state=0).fit(X, named[y])
    two = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, named[y])
    groups = np.where(np.arange(900) < 20, "small", "large")
    weight = np.linspace(0, 2, 900)
    swap = compare_decisions(
        one, two, X, named[y], costs=costs, groups=groups, sample_weight=weight
    )
    old, new = one.predict(X, costs=costs).tolist(), two.predict(X, costs=costs).tolist()
    assert swap.rows.tolist() == [i for i in range(900) if old[i] != new[i]]
    assert len(swap.rows) > 10
    proba = two.predict_proba(X)
    of_positive = proba[:, two.classes_.tolist().index(names[1])]

    def price(i, decision, truth):
        if decision == names[1]:
            return 3 if truth else 8
        return amount[i] if truth else 0

    expected, realised = np.zeros(900), np.zeros(900)
    for i in range(900):
        p = of_positive[i]
        for sign, decision in ((1, old[i]), (-1, new[i])):
            hoped = p * price(i, decision, True) + (1 - p) * price(i, decision, False)
            expected[i] += sign * weight[i] * hoped
            realised[i] += sign * weight[i] * price(i, decision, y[i])
    np.testing.assert_allclose(swap.expected, expected, atol=1e-9)
    np.testing.assert_allclose(swap.realised, realised, atol=1e-9)
    assert swap.total.realised.total == pytest.approx(realised.sum())
    assert swap.total.expected.total == pytest.approx(expected.sum())
    for line in swap.exchanges:
        mine = [i for i in range(900) if (old[i], new[i]) == (line.old, line.new)]
        assert line.n_rows == len(mine)
        assert line.realised.total == pytest.approx(realised[mine].sum())
    assert sum(line.n_rows for line in swap.exchanges) == swap.total.n_rows == len(swap.rows)
    small = next(line for line in swap.by_group if line.group == "small")
    assert (small.n_of, small.realised.total) == (20, pytest.approx(realised[:20].sum()))
    assert swap.few_rows == ["small"]
    largest = sorted(swap.rows, key=lambda i: -abs(expected[i]))[:10]
    np.testing.assert_allclose(np.abs(expected[swap.largest]), np.abs(expected[largest]))
    assert "fewer than 50 rows" in repr(swap)


def test_the_total_is_the_paired_difference(rows):
    X, y, amount = rows
    costs = Costs(fp=8, fn=amount)
    generator = np.random.default_rng(1)
    old, new = generator.integers(0, 2, (2, 900))
    swap = compare_decisions(old, new, X, y, costs=costs)
    saved = total_cost(y, old, costs=costs) - total_cost(y, new, costs=costs)
    assert swap.total.realised.total == pytest.approx(saved)
    test = paired_cost_test(y, old, new, costs=costs, n_resamples=10, random_state=0)
    found = (swap.total.realised.low, swap.total.realised.high)
    assert found == pytest.approx((900 * test.low, 900 * test.high), rel=1e-6)
    assert swap.expected is None
    assert swap.explanations == []


def test_two_price_lists_and_explanations():
    data = make_card_fraud(3000, fraud_rate=0.03, random_state=0)
    model = CostBoostClassifier("adamec", 10, random_state=0).fit(data.X, data.y)
    today, recession = Costs(fp=8, fn="amount"), Costs(fp=30, fn="amount")
    swap = compare_decisions(model, model, data.X, costs=recession, old_costs=today, n_largest=3)
    np.testing.assert_array_equal(swap.old, model.predict(data.X, costs=today))
    np.testing.assert_array_equal(swap.new, model.predict(data.X, costs=recession))
    assert {(line.old, line.new) for line in swap.exchanges} == {(1, 0)}
    assert swap.total.realised is None
    assert (swap.expected >= -1e-9).all()  # the new decisions are the cheapest at these prices
    assert len(swap.explanations) == 3
    assert all(e.decision == 0 for e in swap.explanations)
    table = swap.to_frame()
    assert isinstance(table, pd.DataFrame)
    assert table["rows"].tolist() == [len(swap.rows)] * 2
    assert table["expected"].iloc[-1] == pytest.approx(swap.expected.sum())


def test_actions_and_nothing_that_changes():
    costs = Costs.of_actions({"pay": {0: 0, 1: 50}, "call": 4, "stop": {0: 9, 1: 0}})
    X = np.zeros((4, 1))
    swap = compare_decisions(
        ["pay", "pay", "call", "stop"], ["call", "pay", "stop", "pay"], X, [1, 0, 1, 0], costs=costs
    )
    assert swap.realised.tolist() == [46, 0, 4, 9]
    same = compare_decisions(["pay"] * 4, ["pay"] * 4, X, [1, 0, 1, 0], costs=costs)
    assert same.exchanges == []
    assert same.total.realised.total == 0
    assert "0 rows of 4" in repr(same)


def test_what_makes_no_sense_is_refused(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="old_costs cannot change"):
        compare_decisions(y, y, X, costs={"fp": 1, "fn": 2}, old_costs={"fp": 1, "fn": 2})
    with pytest.raises(ValueError, match="3 labels or decisions"):
        compare_decisions(y[:3], y, X, costs={"fp": 1, "fn": 2})
    with pytest.raises(ValueError, match="groups has shape"):
        compare_decisions(y, y, X, costs={"fp": 1, "fn": 2}, groups=[1, 2])

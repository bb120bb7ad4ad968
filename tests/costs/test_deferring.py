import pickle

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.metrics import mean_cost


@pytest.mark.parametrize("classes", [[0, 1], ["no", "yes"], [False, True]])
def test_deferring_is_cheapest_where_every_decision_is_dear(classes):
    costs = Costs(fp=10, fn=40, positive=classes[1]).bind(classes)
    p = np.linspace(0, 1, 101)
    proba = np.column_stack([1 - p, p])
    expected = costs.expected(proba)
    decided = costs.with_defer(3).decide(proba)
    for row, answer in zip(expected, decided, strict=True):
        assert answer == ("defer" if row.min() > 3 else classes[int(row.argmin())])
        assert isinstance(answer, str | int | bool)


def test_price_per_row_rows_of_costs_and_pickles():
    costs = Costs.of_rows([5.0, 50.0, 8.0]).bind([0, 1]).with_defer([1.0, 2.0, 30.0], action="ask")
    assert costs.shape == (3, 2, 3)
    assert costs.of_labels([0, 1, 1]).tolist() == [[0, 5, 1], [50, 0, 2], [8, 0, 30]]
    half = np.full((3, 2), 0.5)
    assert costs.decide(half).tolist() == ["ask", "ask", 0]
    assert pickle.loads(pickle.dumps(costs)) == costs
    assert costs[[0, 2]].of_labels([0, 1]).tolist() == [[0, 5, 1], [8, 0, 30]]
    assert mean_cost([0, 1, 1], costs.decide(half), costs=costs) == pytest.approx((1 + 2 + 8) / 3)


def test_models_defer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0, "ill", "well")
    model = CostBoostClassifier(
        n_estimators=20, costs={"fp": 2, "fn": 20, "positive": "ill"}, random_state=0
    ).fit(X, y)
    plan = model.decide(X, defer=1.0)
    expected = model.expected_cost(X)
    assert np.array_equal(plan.decisions == "defer", expected.min(axis=1) > 1.0)
    assert np.array_equal(model.predict(X, costs=model.costs_.with_defer(1.0)), plan.decisions)
    few = model.decide(X, defer=1.0, capacity={"defer": 10})
    assert few.counts["defer"] == 10
    per_row = model.decide(X, defer=np.where(np.arange(400) < 200, 0.0, 1e6))
    assert np.mean(per_row.decisions[200:] == "defer") == 0
    assert np.mean(per_row.decisions[:200] == "defer") > 0.9


def test_what_cannot_defer_says_why():
    with pytest.raises(ValueError, match="bind"):
        Costs(fp=1, fn=2).with_defer(1)
    with pytest.raises(ValueError, match="bind"):
        Costs.of_rows([[0, 1], [2, 0]]).bind([0, 1]).with_defer(1)
    bound = Costs(fp=1, fn=2, positive="go").bind(["defer", "go"])
    with pytest.raises(ValueError, match="there already"):
        bound.with_defer(1)
    with pytest.raises(ValueError, match="negative"):
        bound.with_defer(-1, action="ask")
    rows = Costs(fp=1, fn=[1, 2]).bind([0, 1])
    with pytest.raises(ValueError, match="2 rows"):
        rows.with_defer([1, 2, 3])

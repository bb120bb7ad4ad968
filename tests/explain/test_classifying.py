"""Decisions of classifiers explained with their prices."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, PNormBoostClassifier
from explained_decisions import fitted, table


def test_three_actions_and_prices_per_row():
    X, y = table()
    C = np.array([[0.0, 2.0, 9.0], [30.0, 5.0, 1.0]])
    costs = Costs.from_matrix(C, classes=["fine", "fraud"], actions=["pay", "ask", "stop"])
    model = CostBoostClassifier("adamec", 8, cv=3, random_state=0).fit(X, y)
    seen = [model.explain(X.iloc[[i]], costs=costs) for i in range(0, 300, 20)]
    assert {one.decision for one in seen} <= {"pay", "ask", "stop"}
    assert all(set(one.expected_cost) == {"pay", "ask", "stop"} for one in seen)
    asked = [one for one in seen if one.decision == "ask"]
    assert all(
        one.stays_within.below == "pay" and one.stays_within.above == "stop" for one in asked
    )
    assert "pay" in str(seen[0])
    rows = Costs(fp=5, fn=np.linspace(1, 90, 300), positive="fraud")
    for i in (0, 150, 299):
        one = model.explain(X.iloc[[i]], costs=rows[[i]])
        assert one.decision == model.predict(X, costs=rows)[i]
        np.testing.assert_allclose(
            list(one.expected_cost.values()),
            np.asarray(model.expected_cost(X, rows))[i],
            rtol=1e-12,
        )


def test_many_classes_explain_the_class_decided_for():
    X, _ = table()
    y = np.digitize(X["amount"], [12, 30])
    for model in (
        CostBoostClassifier("adamec", 6, cv=3, random_state=0).fit(X, y),
        PNormBoostClassifier(n_estimators=5).fit(X, y),
    ):
        seen = model.explain(X.iloc[[3]])
        assert seen.decision == seen.output == model.predict(X.iloc[[3]])[0]
        values = model.decision_function(X.iloc[[3]])[0]
        assert seen.total == pytest.approx(values[list(model.classes_).index(seen.output)])
        assert seen.stays_within is None


def test_rules_without_prices_say_so_and_refuse_new_ones():
    X, y = table()
    model = CostBoostClassifier("adacost", 5).fit(X, y, costs=Costs(fp=1, fn=2, positive="fraud"))
    seen = model.explain(X.iloc[[0]])
    assert seen.expected_cost == {}
    assert seen.decision == model.predict(X.iloc[[0]])[0]
    assert "expected cost" not in str(seen)
    with pytest.raises(ValueError, match="calibration"):
        model.explain(X.iloc[[0]], costs=Costs(fp=1, fn=9, positive="fraud"))


def test_the_costs_of_a_row_are_constants_of_it():
    model, X, _ = fitted()
    rows = Costs(fp=np.linspace(1, 50, 300), fn=40, positive="fraud")
    one = model.explain(X.iloc[[7]], costs=rows[[7]])
    same = model.explain(X.iloc[[7]], costs=Costs(fp=1 + 7 * 49 / 299, fn=40, positive="fraud"))
    assert one.expected_cost == pytest.approx(same.expected_cost)
    assert one.stays_within.low == pytest.approx(same.stays_within.low)


def test_an_action_that_is_no_class_explains_the_most_probable_one():
    X, _ = table()
    y = np.digitize(X["amount"], [12, 30])
    model = CostBoostClassifier("adamec", 6, cv=3, random_state=0).fit(X, y)
    C = np.column_stack([10.0 * (1 - np.eye(3)), np.full(3, 0.1)])  # asking is nearly free
    costs = Costs.from_matrix(C, classes=[0, 1, 2], actions=[0, 1, 2, "ask"])
    seen = model.explain(X.iloc[[3]], costs=costs)
    assert seen.decision == "ask"
    assert seen.output == np.argmax(model.predict_proba(X.iloc[[3]])[0])
    assert seen.expected_cost["ask"] == pytest.approx(0.1)


def test_a_model_of_another_model_has_no_bins_to_change():
    X, y = table()
    numbers = X[["amount", "hour"]].to_numpy()
    model = GradientBoostClassifier(n_estimators=3, init=LogisticRegression()).fit(numbers, y)
    seen = model.explain(numbers[0])
    assert seen.changes is None
    assert "one change" not in str(seen)
    assert seen.total == pytest.approx(model.decision_function(numbers[:1])[0])

"""Costs that look turned round are doubted, those that may be meant are not."""

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud


@pytest.mark.parametrize(
    "make",
    [
        lambda: Costs(fp=0, fn=0, tp=10, tn=1),
        lambda: Costs.from_matrix([[5, 0], [0, 5]]),
        lambda: Costs.from_matrix(np.eye(3), classes=list("abc")),
    ],
)
def test_benefits_given_as_costs_are_doubted_at_once(make):
    with pytest.warns(UserWarning, match=r"In these costs the right answer.*benefits=True"):
        make()


def test_a_class_that_would_never_be_answered_is_doubted_at_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    model = CostBoostClassifier("adamec", n_estimators=2, random_state=0)
    for costs in (Costs(fp=8, tp=8, fn=5), Costs(fp=8, tp=8, fn=rng.uniform(1, 7, 40))):
        with pytest.warns(UserWarning, match="for the class 1 is dearer than any wrong one"):
            model.fit(X, y, costs=costs)


def test_dear_right_answers_that_are_meant_are_not_doubted():
    data = make_card_fraud(600, random_state=0)
    amount = data.X["amount"]
    assert (amount < 8).any()
    costs = Costs(fp=8, tp=8, fn=amount)  # an investigation may cost more than the fraud
    model = CostBoostClassifier("adamec", n_estimators=2, random_state=0)
    model.fit(data.X, data.y, costs=costs)
    model.predict(data.X[:1], costs=Costs(fp=8, tp=8, fn=2.0))  # one small payment
    by_column = Costs(fp=8, tp=8, fn="amount")
    MinimumCostClassifier(model, costs=by_column, calibration=None).fit(data.X, data.y)

"""Prices of each answer, (n, K), contain the truth: trained on and paid by, never decided by."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.metrics import cross_validate_cost, make_cost_scorer, mean_cost

rng = np.random.default_rng(0)
N = 90
X = rng.normal(size=(N, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] + rng.normal(size=N) > 0).astype(int) + (X[:, 1] > 0.8)]
PRICES = rng.uniform(1, 9, size=(N, 3))
PRICES[np.arange(N), np.searchsorted(["a", "b", "c"], Y)] = 0
WAYS = {
    "array": Costs.of_rows(PRICES, classes=["a", "b", "c"]),
    "named array": Costs.of_rows(PRICES[:, ::-1], classes=["c", "b", "a"]),
    "labelled frame": Costs.of_rows(pd.DataFrame(PRICES, columns=["a", "b", "c"])[["b", "c", "a"]]),
}
SMALL = {"n_estimators": 3, "random_state": 0}


@pytest.mark.parametrize("way", WAYS)
def test_three_ways_train_and_pay_alike(way):
    costs = WAYS[way]
    model = PNormBoostClassifier(**SMALL).fit(X, Y, costs=costs)
    first = PNormBoostClassifier(**SMALL).fit(X, Y, costs=WAYS["array"])
    assert_array_equal(model.decision_function(X), first.decision_function(X))
    paid = PRICES[np.arange(N), np.searchsorted(["a", "b", "c"], model.predict(X))].mean()
    assert model.score(X, Y, costs=costs) == pytest.approx(-paid)
    assert mean_cost(Y, model.predict(X), costs=costs) == pytest.approx(paid)
    assert make_cost_scorer()(model, X, Y, costs=costs) == pytest.approx(-paid)


@pytest.mark.parametrize("way", WAYS)
def test_cross_validation_pays_by_them(way):
    found = cross_validate_cost(PNormBoostClassifier(**SMALL), X, Y, costs=WAYS[way], cv=3)
    folds = cross_validate_cost(
        PNormBoostClassifier(**SMALL), X, Y, costs=WAYS["array"], cv=3, decide="predict"
    )
    assert_allclose(found["test_cost"], folds["test_cost"])


DECIDE = {
    "auto": CostBoostClassifier(**SMALL, cv=2),
    "adamec": CostBoostClassifier("adamec", **SMALL),
    "log": GradientBoostClassifier(**SMALL),
    "metacost": MetaCostClassifier(LogisticRegression(), 3, random_state=0),
}


@pytest.mark.parametrize("name", DECIDE)
@pytest.mark.parametrize("way", WAYS)
def test_models_that_decide_by_costs_name_what_works(name, way):
    model, costs = DECIDE[name], WAYS[way]
    with pytest.raises(ValueError, match=r"PNormBoostClassifier.*costs.mean\(y=y\)"):
        model.fit(X, Y, costs=costs)
    model.fit(X, Y, costs=costs.mean(y=Y))  # the advice, word for word
    assert set(model.predict(X)) <= set("abc")


def test_predict_names_what_works():
    model = MinimumCostClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    for call in (model.predict, model.expected_cost):
        with pytest.raises(ValueError, match=r"PNormBoostClassifier.*costs.mean\(y=y\)"):
            call(X, costs=WAYS["array"])
    model.predict(X, costs=WAYS["array"].mean(y=Y))

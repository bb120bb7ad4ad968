"""Plans of the AdaBoost family: what "auto" stands for, and what is refused."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.estimators.adaboost import plan
from family import problem
from naive.rules import METHODS, METHODS_K


@pytest.mark.parametrize("method", [m for m in METHODS if m not in METHODS_K])
def test_methods_of_two_classes_name_what_to_use(method):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"y has 3.*PNormBoostClassifier, or one of .*adamec"):
        CostBoostClassifier(method).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "adabost"}, "method='adabost' is not known; allowed: 'auto', 'adaboost'"),
        ({"votes": "loud"}, "votes='loud' is not known"),
        ({"alpha": "guess"}, "alpha='guess' is not known"),
        ({"criterion": "mse"}, "criterion='mse' is not known"),
        ({"calibration": "platt"}, "calibration='platt' is not known; allowed.*'sigmoid'"),
        ({"on_interrupt": "ask"}, "on_interrupt='ask' is not known"),
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number at least 1"),
        ({"n_estimators": 2.5}, "n_estimators=2.5 must be a whole number"),
        ({"n_estimators": True}, "n_estimators=True must be a whole number"),
        ({"learning_rate": 0}, "learning_rate=0 must be a number above 0"),
        ({"subsample": 1.5}, "subsample=1.5 .*at most 1"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_depth": "deep"}, "max_depth='deep'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1"),
        ({"max_features": 0}, "max_features=0"),
        ({"max_features": 1.5}, "max_features=1.5"),
        ({"max_bins": 1000}, "max_bins=1000"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"min_weight_leaf": 0.7}, "min_weight_leaf=0.7"),
        ({"cost_scale": 2.0}, "cost_scale=2.0"),
        ({"tol": -1}, "tol=-1"),
        ({"validation_fraction": 2}, "validation_fraction=2"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"cv": 1, "calibration": "sigmoid"}, "cv=1"),
        ({"costs": Costs(fp=1, fn=[1.0, 2.0])}, "pass costs per row to fit"),
        ({"method": "asymada", "n_iter_no_change": 3}, "fixed in advance"),
        ({"method": "adauboost", "warm_start": True}, "fixed in advance"),
        ({"warm_start": True, "calibration": "sigmoid"}, "calibration=None"),
        ({"n_iter_no_change": 2, "validation_fraction": 0.0}, "validation_fraction > 0"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(options, message):
    X, y = problem()
    model = CostBoostClassifier("adaboost").set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_the_default_calibrates_the_posters_three(method):
    X, y = problem()
    model = CostBoostClassifier(method, 3).fit(X, y)
    assert (model._scores is not None) == (method in ("adamec", "cgada", "asymada"))


@pytest.mark.parametrize(
    ("n_classes", "n_rows", "rounds", "rate", "patience", "tol"),
    [
        (2, 999, 400, 0.1, 40, 0.002),
        (2, 1000, 400, 0.1, 80, 0.002),
        (2, 10_000, 400, 0.05, 100, 0.0),
        (2, 50_000, 100, 0.2, 30, 0.0),
        (3, 999, 400, 0.1, 30, 0.002),
        (3, 10_000, 400, 0.1, 80, 0.002),
        (3, 50_000, 100, 0.2, 30, 0.002),
    ],
)
def test_what_auto_stands_for_depends_on_rows_and_classes(
    n_classes, n_rows, rounds, rate, patience, tol
):
    y = np.arange(n_rows) % n_classes
    costs = costboost.costs.as_costs(None, np.arange(n_classes)).bind(np.arange(n_classes), n_rows)
    settled = plan.settle(CostBoostClassifier(), np.zeros((n_rows, 4)), y, costs, n_classes)
    assert settled.setting.n_rounds == rounds
    assert settled.setting.learning_rate == rate
    assert settled.patience == patience
    assert settled.tolerance == tol

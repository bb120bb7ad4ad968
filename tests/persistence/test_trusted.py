"""Models written by skops, as MLflow does by default, are read back whole."""

import pickle
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import (
    TRUSTED_TYPES,
    CostBoostClassifier,
    CostingClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.calibration import CALIBRATORS
from costboost.costs import expression

skops = pytest.importorskip("skops.io")

COSTS = {
    "constant": Costs(fp=1, fn=5),
    "named": Costs(fp=1, fn=5, positive="bad"),
    "bound": Costs(fp=1, fn=5, positive="bad").bind(["bad", "good"]),
    "per row": Costs(fp=0.1, fn=[1.0, 2.5, 1e9], tp=8, tn=[3, 2, 1]),
    "benefits": Costs(fp=1, fn=2, tp=-3, benefits=True),
    "matrix": Costs.from_matrix(np.arange(9.0).reshape(3, 3)),
    "actions": Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["yes", "ask", "no"]
    ),
    "objects": Costs(fp=1, fn=5, positive="b").bind(np.array(["a", "b"], dtype=object)),
    "booleans": Costs(fp=1, fn=5).bind([False, True]),
    "prices": Costs.of_rows([1.0, 20.0, 3.0]),
    "expression": Costs(fp=1, fn=expression("2 * amount")),
    "answers": Costs.of_rows(np.arange(6.0).reshape(2, 3), classes=[4, 5, 6]),
}
GRADIENT = [
    GradientBoostClassifier(loss, n_estimators=3)
    for loss in ("log", "exponential", "cost-exponential", "expected-cost")
]
REGRESSION = [
    GradientBoostRegressor(loss, n_estimators=3)
    for loss in ("squared", "absolute", "huber", "pinball")
]
MODELS = [
    CostBoostClassifier(n_estimators=20, cv=2),
    CostBoostClassifier("csb2", 3, warm_start=True),
    CostBoostClassifier("adaboost", 3, GaussianNB()),
    GradientBoostClassifier(n_estimators=3, warm_start=True, init=LogisticRegression()),
    GradientBoostRegressor(n_estimators=3, init=LinearRegression()),
    PNormBoostClassifier(
        n_estimators=3, costs={"fp": 1, "fn": 2, "positive": "bad"}, warm_start=True
    ),
    MetaCostClassifier(GaussianNB(), 3),
    CostingClassifier(GaussianNB(), 3, costs=Costs(fp=1, fn=2, positive="bad")),
    make_pipeline(StandardScaler(), CostBoostClassifier("adamec", 3, cv=2)),
    *GRADIENT,
    *REGRESSION,
    *(MinimumCostClassifier(GaussianNB(), calibration=name, cv=2) for name in CALIBRATORS),
]


def rewritten(thing):
    return skops.loads(skops.dumps(thing), trusted=TRUSTED_TYPES)


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("again", [rewritten, lambda c: pickle.loads(pickle.dumps(c))])
def test_costs_are_read_back(name, again):
    costs = COSTS[name]
    back = again(costs)
    assert back == costs
    assert repr(back) == repr(costs)
    assert back.actions is None or back.actions.dtype == costs.actions.dtype
    arrays = [] if back.needs_table else [part for part in back._state.columns if part.ndim]
    for array in (*arrays, back.classes):
        assert array is None or not array.flags.writeable


@pytest.mark.parametrize("model", MODELS, ids=lambda model: str(model)[:60])
def test_models_are_read_back(model):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    y = X["a"].to_numpy() + rng.normal(size=80)
    y = np.where(y > 0, "good", "bad") if is_classifier(model) else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        back = rewritten(model.fit(X, y))
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    if is_classifier(model):
        np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", TRUSTED_TYPES)
def test_trusted_types_are_classes_of_ours(name):
    module, _, kind = name.rpartition(".")
    assert module.startswith("costboost.")
    found = getattr(import_module(module), kind)
    assert isinstance(found, type)
    assert found.__module__ == module  # as a file names it

"""Calibrations that an estimator may have: those that can undo what it was trained on."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.pnorm.methods import METHODS

ON_COSTS = [name for name in RULES if name not in ("adaboost", "adamec", "rareboost")]


def skewed():
    """Return rows of which .318 are positive, whose classes overlap."""
    rng = np.random.default_rng(0)
    y = (np.arange(5000) < 1590).astype(int)
    return rng.normal(size=(5000, 4)) + y[:, None] * 0.7, y


def refused(model, X, y):
    with pytest.raises(ValueError, match=r"natural frequencies.*'bias-corrected' or 'sigmoid'"):
        model.fit(X, y, costs=Costs(fp=1, fn=10) if len(np.unique(y)) == 2 else None)


@pytest.mark.parametrize("name", ON_COSTS)
def test_methods_that_train_on_costs_refuse_a_temperature(name):
    X, y = make_classification(60, random_state=0)
    refused(CostBoostClassifier(name, 2, calibration="temperature"), X, y)


@pytest.mark.parametrize("loss", ["cost-exponential", "expected-cost"])
def test_losses_that_train_on_costs_refuse_a_temperature(loss):
    model = GradientBoostClassifier(loss, 2, calibration="temperature")
    refused(model, *skewed())


@pytest.mark.parametrize("name", METHODS)
def test_the_p_norm_family_refuses_a_temperature(name):
    refused(
        PNormBoostClassifier(method=name, calibration="temperature"), *load_iris(return_X_y=True)
    )


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("adaboost", 5, random_state=0),
        CostBoostClassifier("adamec", 5, random_state=0),
        CostBoostClassifier(n_estimators=20, random_state=0),
        GradientBoostClassifier(n_estimators=5, random_state=0),
        GradientBoostClassifier("exponential", n_estimators=5, random_state=0),
    ],
)
def test_without_costs_in_training_a_temperature_stays_as_it_was(model):
    X, y = skewed()
    model.set_params(calibration="temperature").fit(X, y, costs=Costs(fp=1, fn=10))
    priced = model.predict_proba(X)
    np.testing.assert_array_equal(priced, model.fit(X, y).predict_proba(X))


@pytest.mark.parametrize("calibration", ["bias-corrected", "sigmoid"])
@pytest.mark.parametrize("name", ["cgada", "csb2", "csada", "asymada"])
def test_what_is_named_instead_gives_frequencies(name, calibration):
    X, y = skewed()
    model = CostBoostClassifier(name, 10, max_depth=2, calibration=calibration, random_state=0)
    model.fit(X, y, costs=Costs(fp=1, fn=10))
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(0.318, abs=0.02)

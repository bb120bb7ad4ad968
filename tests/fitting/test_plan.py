"""The plans of all families: what they share is read from the parameters in one way."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.costs import as_costs
from costboost.estimators.adaboost import plan as adaboost
from costboost.estimators.gradient import family as gradient
from costboost.estimators.pnorm import family as pnorm
from costboost.fitting.plan import TrainingPlan
from costboost.inputs.checks import fit_seed

X, y = np.zeros((6, 4)), np.array([0, 0, 1, 1, 2, 2])


def plan_of(family, n_classes=2, **params):
    given = {"calibration": None, "random_state": 3, **params}
    costs = as_costs(None, np.arange(n_classes))
    if family == "adaboost":
        model = CostBoostClassifier("adaboost", **given)
        return adaboost.settle(model, X, y, None, costs, n_classes)
    if family == "gradient":
        model = GradientBoostClassifier(**given)
        return gradient.settle_classification(model, X, y, None, costs, n_classes)
    return pnorm.settle(PNormBoostClassifier(**given), X, y, None, costs, n_classes)


FAMILIES = ("adaboost", "gradient", "pnorm")


@pytest.mark.parametrize("family", FAMILIES)
def test_all_families_read_the_same(family):
    plan = plan_of(
        family,
        n_estimators=7,
        max_leaf_nodes=5,
        max_features=0.5,
        min_samples_leaf=3,
        max_bins=9,
        categorical_features=[1],
        n_jobs=2,
        n_iter_no_change=4,
        validation_fraction=0.25,
        tol=1e-3,
        verbose=True,
        on_interrupt="keep",
    )
    assert isinstance(plan, TrainingPlan)
    assert {field.name for field in fields(TrainingPlan)} <= set(vars(plan))
    assert (plan.setting.n_rounds, plan.total_rounds, plan.n_threads) == (7, 7, 2)
    assert (plan.limits.max_leaf_nodes, plan.limits.max_features) == (5, 2)
    assert (plan.max_bins, plan.categorical_features, plan.estimator) == (9, [1], None)
    assert (plan.patience, plan.validation_fraction, plan.tolerance) == (4, 0.25, 1e-3)
    assert (plan.verbose, plan.on_interrupt, plan.metric) == (1, "keep", "cost")
    assert plan.seed == fit_seed(CostBoostClassifier(random_state=3))


@pytest.mark.parametrize(
    ("cv", "ensemble", "n_rounds"), [(5, True, 50), (5, False, 60), (0.5, True, 10)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_rounds_of_all_folds(family, cv, ensemble, n_rounds):
    plan = plan_of(family, n_estimators=10, calibration="sigmoid", cv=cv, ensemble=ensemble)
    assert plan.total_rounds == n_rounds


@pytest.mark.parametrize("family", FAMILIES)
def test_how_many_rounds_a_splitter_makes_is_not_known(family):
    assert plan_of(family, calibration="sigmoid", cv=[]).total_rounds is None


@pytest.mark.parametrize("family", FAMILIES)
def test_what_continues_one_model_is_not_calibrated(family):
    with pytest.raises(ValueError, match="warm_start=True continues one model"):
        plan_of(family, warm_start=True, calibration="sigmoid")


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (3, 3)])
def test_outputs_are_one_for_each_of_many_classes(n_classes, n_outputs):
    assert plan_of("gradient", n_classes).n_outputs == n_outputs


def test_regressors_stop_by_their_loss():
    plan = gradient.settle_regression(GradientBoostRegressor(), X, y.astype(float), None)
    assert (plan.n_classes, plan.n_outputs, plan.calibration, plan.metric) == (0, 1, None, "loss")

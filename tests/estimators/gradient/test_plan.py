"""Plans of gradient boosting: what is settled, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from costboost import Costs
from costboost.costs import as_costs
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.gradient.family import settle_classification, settle_regression

TRIAGE = Costs.from_matrix([[0, 1, 9], [9, 1, 0]], classes=[0, 1], actions=["a", "b", "c"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "nonsense"}, "is not known"),
        ({"step": "far"}, "is not known"),
        ({"loss": "expected-cost", "step": "exact"}, "certainty"),
        ({"learning_rate": 0.0}, "above 0"),
        ({"n_estimators": 0}, "at least 1"),
        ({"warm_start": True, "calibration": "sigmoid"}, "warm_start"),
        ({"objective": "mine", "loss": "cost-exponential"}, "is not known"),
        ({"init": "one"}, "is not known"),
    ],
)
def test_parameters_are_checked(options, message, cancer):
    with pytest.raises(ValueError, match=message):
        GradientBoostClassifier(**options).fit(*cancer)


def test_newton_steps_need_curvature():
    with pytest.raises(ValueError, match="no curvature"):
        GradientBoostRegressor("absolute", step="newton").fit(np.eye(30), np.arange(30.0))


def classified(n_classes=2, costs=None, **options):
    classes, y = np.arange(n_classes), np.arange(60) % n_classes
    bound = as_costs(costs, classes).bind(classes, 60)
    model = GradientBoostClassifier(**options)
    return settle_classification(model, np.zeros((60, 3)), y, None, bound, n_classes)


def regressed(**options):
    model = GradientBoostRegressor(**options)
    return settle_regression(model, np.zeros((60, 3)), np.arange(60.0), None)


def test_steps_follow_the_loss_and_the_learner():
    assert regressed().setting.step == "newton"
    assert regressed(loss="absolute").setting.step == "exact"  # it has no curvature
    assert regressed(estimator=DecisionTreeRegressor()).setting.step == "line-search"
    assert regressed(step="line-search").setting.step == "line-search"
    assert classified(loss="expected-cost").setting.step == "newton"


def test_the_longest_step_is_in_log_odds():
    assert classified(max_step=4.0).setting.max_step == 4.0
    assert classified(loss="exponential", max_step=4.0).setting.max_step == 2.0  # F is half of them
    assert classified(max_step=None).setting.max_step == np.inf
    assert regressed().setting.max_step == np.inf
    with pytest.raises(ValueError, match="max_step=0"):
        classified(max_step=0)


def test_margins_are_log_odds_where_costs_are_no_part_of_them():
    assert classified().odds == 1.0
    assert classified(loss="exponential").odds == 2.0
    assert classified(loss="expected-cost").odds is None
    assert regressed().odds is None


@pytest.mark.parametrize(("n_classes", "n_outputs"), [(2, 1), (3, 3)])
def test_classes_have_an_output_each_but_two_share_one(n_classes, n_outputs):
    assert classified(n_classes).n_outputs == n_outputs
    assert regressed().n_outputs == 1


def test_early_stopping_goes_by_cost_or_by_loss():
    assert (classified().metric, regressed().metric) == ("cost", "loss")
    assert classified(early_stopping_metric="brier").metric == "brier"
    assert regressed(early_stopping_metric=max).metric is max
    with pytest.raises(ValueError, match="early_stopping_metric='log_loss'"):
        regressed(early_stopping_metric="log_loss")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"learning_rate": -1.0}, "learning_rate=-1"),
        ({"l2_regularization": -1e-9}, "l2_regularization"),
        ({"min_weight_leaf": 0.6}, "min_weight_leaf=0.6"),
        ({"init": "ones"}, "init='ones'"),
        ({"step": "exact", "estimator": DecisionTreeRegressor()}, "leaves of the built-in tree"),
        ({"loss": "expected-cost", "calibration": "temperature"}, "cannot undo the costs"),
        ({"loss": "expected-cost", "costs": TRIAGE}, "the costs have other actions"),
        ({"n_classes": 60, "loss": "log", "max_bins": 1}, "max_bins=1"),
    ],
    ids=str,
)
def test_what_contradicts_itself_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        classified(**options)


def test_more_classes_than_a_byte_can_number_are_refused():
    y = np.arange(257)
    bound = as_costs(None, y).bind(y, 257)
    with pytest.raises(ValueError, match="y has 257 classes; at most 256"):
        settle_classification(GradientBoostClassifier(), np.zeros((257, 1)), y, None, bound, 257)

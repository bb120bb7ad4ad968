"""Plans of gradient boosting: what is settled, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor


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

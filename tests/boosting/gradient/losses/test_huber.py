"""Huber's loss: where it bends, and its delta."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost.boosting.gradient.losses import HuberLoss
from costboost.boosting.gradient.minimisers import huber_delta
from costboost.boosting.gradient.rows import LossRows
from gradient_shards import best_constant


def test_errors_are_squared_near_and_linear_far_away():
    loss, y, raw = HuberLoss(2.0), np.zeros(5), np.array([0.0, 1.0, -2.0, 3.0, -1e150])
    assert loss.value(y, raw).tolist() == [0.0, 0.5, 2.0, 4.0, 2e150]
    assert loss.gradient(y, raw).tolist() == [0.0, 1.0, -2.0, 2.0, -2.0]
    assert loss.hessian(y, raw).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0]


def test_a_delta_of_all_errors_is_the_mean_and_a_small_one_nearly_the_median():
    y, weights = np.array([0.0, 1.0, 2.0, 50.0, 3.0]), np.array([1.0, 1.0, 1.0, 1.0, 2.0])
    (mean,) = best_constant(HuberLoss(1e6), LossRows(y, 1, weights))
    assert mean == pytest.approx(np.average(y, weights=weights), rel=1e-12)
    (median,) = best_constant(HuberLoss(1e-6), LossRows(y))
    assert median == pytest.approx(2.0, abs=1e-5)


def test_delta_is_given_or_chosen_by_the_targets():
    y, weights = np.arange(101.0), np.linspace(0.5, 2, 101)
    read = HuberLoss.from_params
    assert read(SimpleNamespace(delta=None), y, weights) == HuberLoss(huber_delta(y, weights))
    assert read(SimpleNamespace(delta=3), y, None) == HuberLoss(3.0)
    for odd in (0.0, -1.0, np.nan, "auto"):
        with pytest.raises(ValueError, match="delta"):
            read(SimpleNamespace(delta=odd), y, None)

"""Squared errors: the mean, whatever the weights and the order."""

import math
from fractions import Fraction

import numpy as np
import pytest

from costboost.boosting.gradient.losses import SquaredLoss
from costboost.boosting.gradient.rows import LossRows
from gradient_shards import best_constant


def test_by_hand():
    y, raw = np.array([1.0, 5.0]), np.array([3.0, 5.0])
    assert SquaredLoss().value(y, raw).tolist() == [2.0, 0.0]
    assert SquaredLoss().gradient(y, raw).tolist() == [2.0, 0.0]
    assert SquaredLoss().hessian(y, raw).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("power", [-900, 0, 900])
def test_the_start_is_the_mean_of_heavy_and_light_rows(power):
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=50), np.ldexp(rng.integers(0, 9, 50).astype(float), power)
    exact = sum(Fraction(a) * Fraction(w) for a, w in zip(y, weights, strict=True))
    (found,) = best_constant(SquaredLoss(), LossRows(y, 1, weights))
    assert found == pytest.approx(float(exact / Fraction(math.fsum(weights))), rel=1e-15)


def test_targets_that_cancel_leave_the_rest():
    (found,) = best_constant(SquaredLoss(), LossRows(np.array([1e16, 1.0, -1e16, 2.0])))
    assert found == 0.75
    (one,) = best_constant(SquaredLoss(), LossRows(np.array([1e300])))
    assert one == 1e300

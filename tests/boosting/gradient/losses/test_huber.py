"""Huber's loss: where it bends, and its delta."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import GradientBoostRegressor
from costboost.boosting.gradient.losses import HuberLoss
from costboost.boosting.gradient.minimisers import huber_delta
from costboost.boosting.gradient.rows import LossRows
from gradient_shards import best_constant
from naive import huber as naive


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


def draw_rows(seed):
    """Return targets with ties, weights that are whole or not, and a delta of any size."""
    rng = np.random.default_rng(seed)
    n, unit = int(rng.integers(1, 13)), 10.0 ** rng.choice([-100, -9, -3, 0, 0, 3, 9, 100])
    y = np.round(10 * rng.normal(size=n), int(rng.integers(-1, 3))) * unit
    whole = rng.integers(1, 5, size=n).astype(float)
    kinds = whole, whole / 10, rng.uniform(0.1, 2.0, n), 10.0 ** rng.uniform(-8, 8, n)
    delta = 10.0 ** rng.uniform(-6, 3) * unit if rng.random() < 0.5 else 0.1 * unit
    return y, kinds[rng.integers(4)], float(delta)


def assert_least(found, y, weights, delta):
    """Compare with the least loss.

    A place may be wrong by 1e-12 of the largest target, and a slope by one ulp of its terms.
    """
    excess = naive.loss(found, y, weights, delta) - naive.least(y, weights, delta)
    total, far, bend = sum(map(Fraction, weights)), Fraction(np.abs(y).max()), Fraction(delta)
    place, ulp = far / 10**12, Fraction(2.0**-51)
    assert 0 <= excess <= total * (place * min(place, bend) + ulp * bend * far)


@given(st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_the_constant_is_the_least_whatever_weights_and_delta(seed):
    y, weights, delta = draw_rows(seed)
    (found,) = best_constant(HuberLoss(delta), LossRows(y, 1, weights))
    assert_least(found, y, weights, delta)


@pytest.mark.filterwarnings("ignore:GradientBoostRegressor took no step")
@given(st.integers(0, 2**32), st.sampled_from(["zero", None]))
@settings(max_examples=100, deadline=None)
def test_leaves_are_the_least_whatever_weights_and_delta(seed, init):
    y, weights, delta = draw_rows(seed)
    y, weights = np.append(y, -3 * y), np.append(weights, weights[::-1])
    X = np.repeat([[0.0], [1.0]], len(y) // 2, axis=0)
    how = {"n_estimators": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "init": init}
    model = GradientBoostRegressor("huber", delta=delta, **how).fit(X, y, sample_weight=weights)
    found = model.predict(X)
    for value in np.unique(found):
        rows = found == value
        if init is None or np.any(found != 0.0):
            assert_least(value, y[rows], weights[rows], delta)


def test_a_flat_minimum_is_one_for_weights_and_for_copies():
    y, weights = np.array([-10.0, 10.0, 10.0]), np.array([3, 1, 2])
    copies = np.repeat(y, weights)
    for delta in (0.1, 0.3, 0.7):  # 3 * 0.1 is not 0.1 + 0.1 + 0.1
        (found,) = best_constant(HuberLoss(delta), LossRows(y, 1, weights.astype(float)))
        assert found == best_constant(HuberLoss(delta), LossRows(copies))[0]
        assert abs(found) <= 10.0 - delta

"""AdaBoost's loss, by hand and far away."""

import math

import numpy as np
import pytest

from costboost.boosting.gradient.losses import ExponentialLoss, ExponentialTerms
from costboost.boosting.gradient.rows import LossRows
from gradient_losses import derive
from gradient_shards import best_constant

E = math.e


def test_two_classes_by_hand():
    y, raw = np.array([1, 0, 1]), np.array([1.0, 1.0, 0.0])
    loss = ExponentialLoss()
    np.testing.assert_allclose(loss.value(y, raw), [1 / E, E, 1.0])
    np.testing.assert_allclose(loss.gradient(y, raw), [-1 / E, E, -1.0])
    np.testing.assert_allclose(loss.hessian(y, raw), [1 / E, E, 1.0])


def test_many_classes_by_hand():
    y, raw = np.array([1]), np.array([[0.0, 1.0, 2.0]])
    loss = ExponentialLoss()
    np.testing.assert_allclose(loss.value(y, raw), [1 / E + E])
    np.testing.assert_allclose(loss.gradient(y, raw), [[1 / E, -(1 / E + E), E]])
    np.testing.assert_allclose(loss.hessian(y, raw), [[1 / E, 1 / E + E, E]])


def test_terms_see_the_sum_of_steps():
    labels, one = np.array([1, 0]), np.ones(2)
    terms = ExponentialTerms(labels, np.array([2.0, -0.5]), np.array([0.3, -0.1]), 3 * one, 2.0)
    raw = np.array([0.7, -0.4])
    z = 3 * np.exp([-(1.4 + 0.6), -(0.2 - 0.2)])
    np.testing.assert_allclose(terms.value(raw), z)
    np.testing.assert_allclose(terms.gradient(raw), [-2.0 * z[0], 0.5 * z[1]])
    np.testing.assert_allclose(terms.hessian(raw), [4.0 * z[0], 0.25 * z[1]])


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_exponents_are_cut_before_they_overflow(n_outputs):
    y = np.array([0, 1])
    raw = np.array([[1e300], [-1e300]]) if n_outputs == 1 else 1e300 * np.array([[0, 1, 0]] * 2)
    for part in derive(ExponentialLoss(), LossRows(y, n_outputs), raw):
        assert np.all(np.isfinite(part))
    value = ExponentialLoss().value(y, raw[:, 0] if n_outputs == 1 else raw)
    assert value[0] == pytest.approx(math.exp(500.0), rel=1e-12, abs=3.0)


def test_the_start_is_half_the_weighted_log_odds():
    y, weights = np.array([0, 1, 1, 0]), np.array([1.0, 0.0, 6.0, 2.0])
    (found,) = best_constant(ExponentialLoss(), LossRows(y, 1, weights))
    assert found == pytest.approx(0.5 * math.log(2.0), rel=1e-15)
    three = best_constant(ExponentialLoss(), LossRows(np.array([0, 1, 1, 2]), 3))
    np.testing.assert_allclose(three - three[0], [0.0, 0.5 * math.log(2), 0.0], atol=1e-15)

"""Log loss, by hand and far away."""

import math

import numpy as np
import pytest

from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.gradient.rows import LossRows
from gradient_losses import derive
from gradient_shards import best_constant


def test_two_classes_by_hand():
    y, raw = np.array([1, 0]), np.array([math.log(3), math.log(3)])  # shares of 3/4
    np.testing.assert_allclose(LogLoss().value(y, raw), [-math.log(0.75), -math.log(0.25)])
    np.testing.assert_allclose(LogLoss().gradient(y, raw), [-0.25, 0.75])
    np.testing.assert_allclose(LogLoss().hessian(y, raw), [3 / 16, 3 / 16])


def test_many_classes_by_hand():
    y, raw = np.array([2]), np.log([[1.0, 4.0, 5.0]])
    np.testing.assert_allclose(LogLoss().value(y, raw), [math.log(2)])
    np.testing.assert_allclose(LogLoss().gradient(y, raw), [[0.1, 0.4, -0.5]])
    np.testing.assert_allclose(LogLoss().hessian(y, raw), [[0.09, 0.24, 0.25]])


def test_two_classes_are_a_softmax_of_0_and_f():
    rng = np.random.default_rng(0)
    y, raw = rng.integers(0, 2, 30), rng.normal(size=30)
    wide = np.column_stack([np.zeros(30), raw])
    loss = LogLoss()
    np.testing.assert_allclose(loss.value(y, raw), loss.value(y, wide), rtol=1e-13)
    np.testing.assert_allclose(loss.gradient(y, raw), loss.gradient(y, wide)[:, 1], rtol=1e-12)
    np.testing.assert_allclose(loss.hessian(y, raw), loss.hessian(y, wide)[:, 1], rtol=1e-12)


def test_sure_rows_lose_what_they_are_far_and_no_more():
    y, raw = np.array([1, 1, 0, 0]), np.array([800.0, -800.0, 800.0, -800.0])
    assert LogLoss().value(y, raw).tolist() == [0.0, 800.0, 800.0, 0.0]
    assert LogLoss().gradient(y, raw).tolist() == [0.0, -1.0, 1.0, 0.0]
    wide = np.array([[800.0, 0.0, -1e300]])
    assert LogLoss().value(np.array([1]), wide).tolist() == [800.0]
    for part in derive(LogLoss(), LossRows(np.array([1]), 3), wide):
        assert np.all(np.isfinite(part))


def test_small_shares_keep_their_digits():
    _, g, h = derive(LogLoss(), LossRows(np.array([1, 0])), np.array([[40.0], [-40.0]]))
    share = math.exp(-40.0)
    assert g[:, 0].tolist() == pytest.approx([-share, share], rel=1e-12)
    assert h[:, 0].tolist() == pytest.approx([share, share], rel=1e-12)


def test_the_start_is_the_weighted_log_odds():
    y, weights = np.array([0, 1, 1, 0]), np.array([1e-300, 0.0, 6e-300, 2e-300])
    (found,) = best_constant(LogLoss(), LossRows(y, 1, weights))
    assert found == pytest.approx(math.log(2.0), rel=1e-14)
    three = best_constant(LogLoss(), LossRows(np.array([0, 1, 1, 2]), 3))
    assert three.sum() == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(three - three[0], [0.0, math.log(2), 0.0], atol=1e-15)

"""The lecture's example in one dimension: its draws, its losses, AdaBoost by brute force."""

import numpy as np
import pytest
from scipy.optimize import minimize

from papers.lecture_example import (
    LOSSES,
    Example,
    Flat,
    chance,
    draw_answers,
    draw_labels,
    stagewise_exponential,
    truth,
)


def test_brute_force_is_least_among_stumps_and_steps():
    X, y = draw_labels(25, seed=3)
    x, signs = X[:, 0], 2 * y - 1
    (stage,) = stagewise_exponential((draw := draw_labels(25, seed=3)), 1)
    assert np.array_equal(draw.y, y)

    def total(cut, step):
        return np.exp(-signs * step * np.where(x > cut, 1, -1)).sum()

    found = total(stage.threshold, stage.sign * stage.step)
    for cut in np.r_[-1.0, x]:
        best = minimize(lambda step, cut=cut: total(cut, step[0]), [0.1]).fun
        assert found <= best + 1e-9


def test_each_round_goes_on_from_the_weights_that_the_last_one_left():
    example = draw_labels(40, seed=5)
    x, signs = example.X[:, 0], 2.0 * example.y - 1
    f = np.zeros(40)
    for stage in stagewise_exponential(example, 4):
        w = np.exp(-signs * f)
        h = stage.sign * np.where(x > stage.threshold, 1, -1)
        error = w[h != signs].sum() / w.sum()
        assert stage.error == pytest.approx(error)
        assert stage.step == pytest.approx(0.5 * np.log((1 - error) / error))  # AdaBoost's alpha
        assert stage.step > 0
        f += stage.step * h


def test_a_stump_by_hand():
    example = Example(np.array([[0.1], [0.2], [0.3], [0.4]]), np.array([0, 0, 1, 0]))
    (stage,) = stagewise_exponential(example, 1)
    # No stump gets all of them right; to call all of them 0 gets one wrong.
    assert stage.error == pytest.approx(0.25)
    assert stage.step == pytest.approx(0.5 * np.log(3))


def test_draws_are_noisy_waves_and_repeat():
    x, y = draw_answers(4000, seed=1)
    assert np.all(np.diff(x[:, 0]) >= 0)
    np.testing.assert_array_equal(draw_answers(4000, seed=1).y, y)
    assert not np.array_equal(draw_answers(4000, seed=2).y, y)
    off = y - truth(x[:, 0])
    assert np.median(off) == pytest.approx(0, abs=0.05)
    assert np.mean(off > 1) == pytest.approx(0.1 * 0.84, abs=0.02)  # the answers that are far off
    x, y = draw_labels(4000, seed=1)
    p = chance(x[:, 0])
    for high in (False, True):
        half = (p > 0.5) == high
        assert y[half].mean() == pytest.approx(p[half].mean(), abs=0.04)


@pytest.mark.parametrize("described", LOSSES, ids=lambda described: described.name)
def test_a_flat_loss_differs_in_its_curvature_alone(described):
    y = np.array([0, 1, 1]) if described.labels else np.array([-0.5, 0.2, 3.0])
    raw = np.array([0.3, -0.7, 0.0])
    flat = Flat(described.loss)
    np.testing.assert_array_equal(flat.value(y, raw), described.loss.value(y, raw))
    np.testing.assert_array_equal(flat.gradient(y, raw), described.loss.gradient(y, raw))
    assert flat.hessian(y, raw).tolist() == [1, 1, 1]
    if described.labels:
        np.testing.assert_array_equal(flat.proba(raw), described.loss.proba(raw))

"""Logistic regressions of few parameters reach their optimum to rounding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize as scipy_minimize
from scipy.special import expit, logit, softmax

from costboost.calibration import _logistic
from costboost.calibration._logistic import (
    descend,
    log_odds_of,
    logistic,
    minimise,
    minimise_classes,
    share,
    standardise,
)


def problem(seed=0, n=120, d=2):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(n, d))
    targets = np.where(rng.random(n) < expit(columns @ np.arange(1.0, d + 1) - 0.5), 0.9, 0.05)
    return columns, targets, rng.uniform(0, 3, n)


def test_means_of_weights_whose_sum_overflows():
    values = np.array([[1.0], [3.0]])
    assert_allclose(share(values, np.array([1e308, 1e308])), [2.0])
    assert_allclose(share(values, np.array([1e-300, 3e-300])), [2.5])
    assert_allclose(share(values, np.array([1e300, 0.0])), [1.0])


@pytest.mark.parametrize("unit", [1e-250, 1.0, 1e250])
def test_columns_have_mean_0_and_deviation_1_in_any_unit(unit):
    columns, _, w = problem()
    z, centre, scale = standardise(columns * unit, w)
    assert_allclose(share(z, w), 0, atol=1e-14)
    assert_allclose(share(z**2, w), 1)
    assert_allclose(z, (columns * unit - centre) * scale, atol=1e-12)


def test_columns_that_do_not_vary_have_no_slope():
    columns, targets, w = problem()
    still = np.column_stack([columns, np.full(len(columns), 7.0), np.zeros(len(columns))])
    slopes, intercept = logistic(still, targets, w, 0.0)
    alone, constant = logistic(columns, targets, w, 0.0)
    assert_array_equal(slopes[2:], 0)
    assert_allclose(slopes[:2], alone)
    assert intercept == pytest.approx(constant)
    nothing, prior = logistic(still[:, 2:], targets, w, 0.0)
    assert_array_equal(nothing, 0)
    assert prior == pytest.approx(logit(np.average(targets, weights=w)))


@pytest.mark.parametrize("truth", [0.0, 1.0])
def test_one_class_alone_is_certain(truth):
    slopes, intercept = logistic(np.arange(3.0)[:, None], np.full(3, truth), np.ones(3), 0.0)
    assert_array_equal(slopes, 0)
    assert intercept == (np.inf if truth else -np.inf)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_score_equations_hold_to_rounding(ridge):
    columns, targets, w = problem(1)
    slopes, intercept = logistic(columns, targets, w, ridge)
    error = w / w.sum() * (expit(columns @ slopes + intercept) - targets)
    z, _, scale = standardise(columns, w)
    assert abs(error.sum()) < 1e-13
    assert_allclose(error @ z, -ridge * slopes / scale, atol=1e-13)


def test_shift_and_unit_of_a_column_change_nothing():
    columns, targets, w = problem(2)
    slopes, intercept = logistic(columns, targets, w, 0.1)
    p = expit(columns @ slopes + intercept)
    for moved in (1e6 * columns - 3e6, 1e-200 * columns, columns[:, ::-1]):
        again, other = logistic(moved, targets, 1e300 * w / w.max(), 0.1)
        assert_allclose(expit(moved @ again + other), p, atol=1e-8)


def test_blocks_of_rows_add_up(monkeypatch):
    columns, targets, w = problem(3)
    penalty, start = np.array([0.1, 0.2, 0.0]), np.zeros(3)
    whole = minimise(columns, targets, w, penalty, start)
    monkeypatch.setattr(_logistic, "BLOCK", 7)
    assert_allclose(minimise(columns, targets, w, penalty, start), whole, rtol=1e-12)

    def loss(at):
        f = np.column_stack([columns, np.ones(len(w))]) @ at
        return w @ (np.logaddexp(0, f) - targets * f) + penalty @ at**2 / 2

    assert_allclose(whole, scipy_minimize(loss, start, tol=1e-12).x, atol=1e-4)


def test_biases_of_classes_satisfy_their_equations():
    rng = np.random.default_rng(4)
    logits = rng.normal(size=(200, 3))
    y, w = rng.integers(0, 3, 200), rng.uniform(0, 2, 200)
    penalty = np.array([0.0, 0.5, 0.5, 0.5])
    beta, *biases = minimise_classes(logits, y, w, penalty)
    p = softmax(beta * logits + biases, axis=1)
    error = w[:, None] * (p - np.eye(3)[y])
    assert abs(np.sum(error * logits)) < 1e-9
    assert_allclose(error.sum(axis=0), -0.5 * np.array(biases), atol=1e-9)


def test_newton_finds_back_from_where_probabilities_are_saturated():
    """At 100 there is next to no curvature: an undamped step would go to 1e43."""

    def expand(at):
        p = expit(at[0])
        loss = float(np.logaddexp(0, at[0]) - 0.3 * at[0])
        return loss, np.array([p - 0.3]), np.array([[p * expit(-at[0])]])

    for start in (100.0, -100.0, 40.0, 0.0):
        assert descend(expand, np.array([start]))[0] == pytest.approx(logit(0.3), abs=1e-12)


def test_shares_that_rounding_takes_past_1_have_log_odds():
    rng = np.random.default_rng(0)
    beyond = 0
    for _ in range(300):
        w = 10.0 ** rng.uniform(-30, 30, 21)
        targets = (w > np.sort(w)[3]).astype(float)
        beyond += share(targets, w) > 1.0
        assert log_odds_of(targets, w) > 30.0
    assert beyond

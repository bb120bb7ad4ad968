"""All losses: their three methods and their best constants, against the naive twins."""

import math

import numpy as np
import pytest

from costboost.boosting.gradient.losses import CostExponentialLoss, ExponentialLoss, LogLoss, Loss
from costboost.boosting.gradient.rows import BoundLoss, LossRows
from gradient_losses import CASES, OBJECTIVES, SMOOTH, each_loss, example, flat, price_of
from gradient_shards import best_constant
from naive import gradient as naive


@each_loss
def test_values_are_the_twins(name):
    loss, twin, rows, raw = example(name)
    extra = (rows.prices,) if getattr(loss, "uses_costs", False) else ()
    expected = [twin(rows.y[i], list(raw[i]), price_of(rows, i)) for i in range(len(raw))]
    np.testing.assert_allclose(loss.value(rows.y, flat(raw), *extra), expected, rtol=1e-12)
    assert isinstance(loss, Loss)
    total = getattr(loss, "total", 0.0)
    assert loss.mean_value(rows, raw, total) == pytest.approx(np.mean(expected), rel=1e-12)


@each_loss
def test_gradients_are_differences_of_values(name):
    """Invariant 50, for all losses."""
    loss, twin, rows, raw = example(name)
    g, h = loss.derivatives(rows, raw)
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            expected = naive.gradient(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert g[i, k] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert np.all(h >= 0.0)


@pytest.mark.parametrize("name", [n for n in SMOOTH if not n.startswith("expected")])
def test_hessians_are_differences_of_gradients(name):
    loss, twin, rows, raw = example(name)
    h = loss.derivatives(rows, raw)[1]
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            expected = naive.hessian(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert h[i, k] == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_probabilities_are_those_of_the_best_constants():
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    for loss in (LogLoss(), ExponentialLoss()):
        f0 = best_constant(loss, LossRows(y, 3))
        np.testing.assert_allclose(loss.proba(f0[None, :]), [[0.3, 0.2, 0.5]], rtol=1e-12)
        f0 = best_constant(loss, LossRows(np.minimum(y, 1), 1))
        np.testing.assert_allclose(loss.proba(f0), [[0.3, 0.7]], rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("expected")])
def test_no_constant_is_better_than_the_start(name, weighted):
    loss, twin, rows, _ = example(name, n=60)
    if hasattr(loss, "total"):
        loss, twin = (
            CostExponentialLoss(loss.objective),
            naive.cost_exponential(OBJECTIVES[loss.objective]),
        )
    weights = np.random.default_rng(5).uniform(0.2, 2, 60) if weighted else None
    rows = LossRows(rows.y, rows.n_outputs, weights, rows.prices)
    f0 = best_constant(loss, rows)
    w = np.ones(60) if weights is None else weights

    def total(at):
        return math.fsum(w[i] * twin(rows.y[i], list(at), price_of(rows, i)) for i in range(60))

    here = total(f0)
    for k in range(len(f0)):
        for eps in (1e-2, -1e-2, 1e-4, -1e-4):
            there = f0.copy()
            there[k] += eps
            assert total(there) >= here * (1 - 1e-13)


@each_loss
def test_bound_losses_tell_what_rounds_ask(name):
    loss, _, rows, _ = example(name)
    bound = loss.bind(rows)
    assert isinstance(bound, BoundLoss)
    assert bound.largest_w0 > 0.0
    assert (bound.drift > 0.0) == name.startswith("adacost")

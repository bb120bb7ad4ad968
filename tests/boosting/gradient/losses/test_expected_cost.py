"""Expected cost: its bound of the curvature, and where it starts."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import ExpectedCostLoss, flat
from gradient_losses import example, price_of
from gradient_shards import best_constant
from naive import gradient as naive


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_hessian_of_expected_cost_bounds_its_curvature(n_classes):
    """Hoppner's |(1 - 2 s) g| lies below ours, which does not vanish at s = 1/2."""
    loss, twin, rows, raw = example(f"expected-cost-{n_classes}")
    g, h = loss.derivatives(rows, raw)
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            true = naive.hessian(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert h[i, k] >= abs(true) - 1e-6
    if n_classes == 2:
        s = 1 / (1 + np.exp(-raw[:, 0]))
        assert np.all(h[:, 0] >= np.abs((1 - 2 * s) * g[:, 0]))
        at_half = loss.derivatives(rows, np.zeros_like(raw))[1]
        assert np.all(at_half > 0.0)


def test_the_start_of_expected_cost_is_undecided():
    loss, _, rows, _ = example("expected-cost-3")
    assert best_constant(loss, rows).tolist() == [0.0, 0.0, 0.0]


def test_expected_costs_by_hand():
    prices = np.array([[0.0, 4.0], [8.0, 1.0]])
    raw = np.array([np.log(3), 0.0])  # shares 3/4 and 1/2 of class 1
    loss = ExpectedCostLoss()
    np.testing.assert_allclose(loss.value(None, raw, prices), [3.0, 4.5])
    np.testing.assert_allclose(loss.gradient(None, raw, prices), [0.75, -1.75])
    np.testing.assert_allclose(loss.hessian(None, raw, prices), [0.75, 1.75])
    three = np.log([[1.0, 2.0, 1.0]])
    paid = np.array([[0.0, 4.0, 8.0]])  # E = 4
    np.testing.assert_allclose(loss.value(None, three, paid), [4.0])
    np.testing.assert_allclose(loss.gradient(None, three, paid), [[-1.0, 0.0, 1.0]], atol=1e-15)


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 0.5), (3, 0.25), (4, 0.25)])
def test_newton_steps_of_a_small_rate_never_raise_the_loss(n_classes, rate):
    loss, _, rows, _ = example(f"expected-cost-{n_classes}", n=200)
    rng = np.random.default_rng(7)
    raw = 4.0 * rng.normal(size=(200, rows.n_outputs))
    g, h = loss.derivatives(rows, raw)
    moved = raw - rate * g / h
    for i in range(200):
        before, after = (
            loss.value(None, flat(at[i : i + 1]), rows.prices[i : i + 1]) for at in (raw, moved)
        )
        assert after <= before


@pytest.mark.parametrize("n_classes", [2, 3])
def test_prices_that_do_not_depend_on_the_answer_teach_nothing(n_classes):
    raw = np.random.default_rng(0).normal(size=(5, n_classes))
    raw = raw[:, 0] if n_classes == 2 else raw
    prices = np.full((5, n_classes), 7.0)
    loss = ExpectedCostLoss()
    np.testing.assert_allclose(loss.value(None, raw, prices), 7.0)
    np.testing.assert_allclose(loss.gradient(None, raw, prices), 0.0, atol=1e-14)
    np.testing.assert_allclose(loss.hessian(None, raw, prices), 0.0, atol=1e-14)


def test_sure_answers_have_finite_derivatives():
    prices = np.array([[0.0, 1e300], [1e-300, 0.0]])
    for raw in (np.array([800.0, -800.0]), np.array([-1e300, 1e300])):
        for name in ("value", "gradient", "hessian"):
            assert np.all(np.isfinite(getattr(ExpectedCostLoss(), name)(None, raw, prices)))

"""What gradient boosting holds of rows."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.gradient.rows import BoundLoss, GradientRows, Held, LossRows
from costboost.boosting.train_cost import make_pricing
from costboost.costs import as_costs


def test_class_numbers_take_a_byte_and_lie_once():
    y = np.array([0, 2, 1, 2])
    part = LossRows(y, 3).take(np.array([1, 2]))
    assert (part.y.dtype, part.targets.dtype) == (np.uint8, np.int64)
    costs = as_costs(None, np.arange(3))
    state = GradientRows(part, make_pricing(costs, y, np.array([1, 2])))
    assert state.data.y is state.pricing.truth
    assert np.shares_memory(LogLoss().bind(state.data).labels, state.pricing.truth)


def test_rows_are_taken_with_all_that_was_said_of_them():
    rng = np.random.default_rng(0)
    y, chosen = np.array([2, 0, 1, 2, 1]), np.array([4, 0, 0])
    prices, weights = rng.uniform(size=(5, 3)), rng.uniform(size=5)
    objective = tuple(rng.normal(size=(3, 5)))
    part = LossRows(y, 3, weights, prices, objective=objective).take(chosen)
    assert part.y.tolist() == [1, 2, 2]
    np.testing.assert_array_equal(part.weights, weights[chosen])
    np.testing.assert_array_equal(part.paid, prices[chosen])
    for own, whole in zip(part.objective, objective, strict=True):
        np.testing.assert_array_equal(own, whole[chosen])
    numbers = LossRows(np.array([0.5, 300.0])).take(slice(1, None))
    assert numbers.y.tolist() == numbers.targets.tolist() == [300.0]


def test_prices_by_class_are_those_of_each_row():
    table = np.array([[0.0, 3.0], [7.0, 0.0]])
    rows = LossRows(np.array([1, 0, 1]), table=table).take(np.array([0, 1]))
    np.testing.assert_array_equal(rows.paid, table[[1, 0]])
    assert rows.unit_or_weights.tolist() == [1.0, 1.0]
    # Class numbers have room for arithmetic where users' losses see them.
    assert (rows.targets - 2).tolist() == [-1, -2]


@pytest.mark.parametrize("depth", [1, 2])
def test_derivatives_are_read_from_what_was_derived(depth):
    rng = np.random.default_rng(1)
    weights, n_outputs = rng.uniform(0.1, 2, 6), 2 * depth - 1
    rows = LossRows(rng.integers(0, 2, 6), n_outputs, weights)
    state = GradientRows(rows)
    loss = LogLoss()
    state.margins = rng.normal(size=(6, n_outputs))
    state.terms = loss.bind(rows) if depth == 1 else Held(weights)
    state.derived = np.zeros((depth, n_outputs, 6))
    if depth == 1:
        state.terms.derive(state.margins, 0.0, state.derived)
        expected = [part[:, 0] for part in loss.derivatives(rows, state.margins)]
        np.testing.assert_allclose(state.derivatives(0), expected, rtol=1e-14)
        return
    state.derived[:] = rng.normal(size=state.derived.shape)
    for k in range(n_outputs):
        np.testing.assert_array_equal(state.derivatives(k), state.derived[:, k])
        assert state.terms.along(state.margins) is state.margins


def test_rows_without_weights_weigh_nothing_in_kernels():
    state = GradientRows(LossRows(np.zeros(3)))
    assert state.sample_weights is None
    assert len(state.weights) == 0


def test_a_bound_loss_without_a_weight_and_drift_of_its_own_has_neither():
    held, steps = Held(np.ones(2)), np.array([[0.5], [-1.0]])
    assert isinstance(held, BoundLoss)
    assert (held.largest_w0, held.drift) == (1.0, 0.0)
    assert held.along(steps) is steps
    with pytest.raises(TypeError, match="abstract"):
        BoundLoss()

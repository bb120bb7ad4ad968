"""Losses of an error at some rows: the kernels' numbers, against the methods."""

import numpy as np
import pytest

from costboost.boosting.gradient.losses import HuberLoss, PinballLoss, SquaredLoss
from costboost.boosting.gradient.rows import LossRows

LOSSES = [SquaredLoss(), HuberLoss(0.75), PinballLoss(2.0, 0.5)]
Y = np.array([0.0, 1.0, -2.0, 0.5, 3.0])
RAW = np.array([[0.75], [1.0], [1.0], [-0.5], [3.5]])  # on a bend, and on a target
WEIGHTS = np.array([1.0, 2.0, 0.0, 0.25, 4.0])


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.kind)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_written_and_the_largest_is_told(loss, weighted):
    rows = LossRows(Y, 1, WEIGHTS if weighted else None)
    values = np.zeros(5)
    largest = loss.bind(rows).write_values(RAW, values)
    expected = loss.value(Y, RAW[:, 0]) * rows.unit_or_weights
    np.testing.assert_allclose(values, expected, rtol=1e-15)
    assert largest == values.max()


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.kind)
def test_the_largest_derivatives_are_told(loss):
    rows = LossRows(Y, 1, WEIGHTS)
    terms = loss.bind(rows)
    found = terms.derive(RAW, 0.0, np.zeros((terms.depth, 1, 5)))
    g, h = loss.derivatives(rows, RAW)
    assert found.tolist() == [[np.abs(g).max(), h.max()]]
    none = loss.bind(LossRows(np.zeros(0)))
    assert none.derive(np.zeros((0, 1)), 0.0, np.zeros((1, 1, 0))).tolist() == [[0.0, 0.0]]


def test_prices_by_row_are_read_by_row():
    prices = np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 7.0], [4.0, 6.0], [5.0, 5.0]])
    values = np.zeros(5)
    PinballLoss().bind(LossRows(Y, prices=prices)).write_values(RAW, values)
    assert values.tolist() == [0.75, 0.0, 9.0, 6.0, 2.5]


def test_targets_may_be_whole_numbers():
    values = np.zeros(2)
    SquaredLoss().bind(LossRows(np.array([3, -1]))).write_values(np.zeros((2, 1)), values)
    assert values.tolist() == [4.5, 0.5]

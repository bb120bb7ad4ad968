"""What was said of rows: some of them are taken with all that was said."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.shards.layout import RowData

Y = np.array([0, 1, 1, 0, 1], dtype=np.uint8)
WEIGHTS = np.array([1.0, 0.0, 2.0, 1e300, 1e-300])
FN = np.array([5.0, 0.0, 1e-300, 1e300, 7.0])


def bound(costs, n_rows=None):
    return costs.bind([0, 1], n_rows)


@pytest.mark.parametrize(
    "rows", [np.array([4, 0, 0]), slice(1, 4), slice(None), np.zeros(0, np.uint32)]
)
def test_rows_are_taken_with_their_weights_and_prices(rows):
    part = RowData(Y, WEIGHTS, bound(Costs(fp=1.0, fn=FN), 5)).take(rows)
    assert_array_equal(part.y, Y[rows])
    assert_array_equal(part.weights, WEIGHTS[rows])
    expected = np.zeros((len(Y[rows]), 2))
    expected[Y[rows] == 0, 1] = 1.0
    expected[Y[rows] == 1, 0] = FN[rows][Y[rows] == 1]
    assert_array_equal(part.costs.of_labels(part.y), expected)


def test_constant_prices_are_those_of_every_row():
    costs = bound(Costs(fp=2.0, fn=3.0))
    part = RowData(Y, None, costs).take(np.array([1, 2]))
    assert part.weights is None
    assert_array_equal(part.costs.of_labels(part.y), [[3.0, 0.0], [3.0, 0.0]])
    assert RowData(Y).take(slice(2)).costs is None


def test_all_rows_are_taken_without_a_copy():
    whole = RowData(Y, WEIGHTS).take(slice(None))
    assert np.shares_memory(whole.y, Y)
    assert np.shares_memory(whole.weights, WEIGHTS)

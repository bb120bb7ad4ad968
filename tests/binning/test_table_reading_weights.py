"""Weights on an integer grid."""

from __future__ import annotations

import numpy as np
import pytest

from binning_cases import ONES, column
from costboost.binning.binner import fit_binner
from costboost.binning.table_reading import Grid, grid_of, weigh_rows


def test_tiny_positive_weights_still_count_as_rows():
    binner = fit_binner(column([1, 2, 3]), [1e-200, 1e200, 0])
    assert binner.edges[0].tolist() == [1.5]


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 1], r"shape \(2,\); it must hold one weight for each of the 3 rows"),
        (np.ones((3, 1)), "one weight for each"),
        ([1, np.nan, 1], "row 1: sample_weight is nan"),
        ([1, 1, -2], "row 2: sample_weight is -2;"),
        ([1, np.inf, 1], "row 1: sample_weight is inf"),
        ([0, 0, 0], "zero for every row"),
    ],
)
def test_weights_that_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES, weight)


def test_weights_on_the_grid():
    assert weigh_rows(None, 3) == (None, None, None, 3)
    assert weigh_rows([0.3, 0.3, 0.3], 3) == (None, None, None, 3)
    some = weigh_rows([0, 2, 2], 3)
    assert some.rows.tolist() == [1, 2]
    assert some.kept is None
    assert some.every.tolist() == [0, 1, 1]
    assert some.total == 2
    uneven = weigh_rows([1, 0, 3], 3)
    assert (uneven.kept / uneven.kept[0]).tolist() == [1, 3]
    assert uneven.total == uneven.every.sum()


def test_whole_weights_keep_their_ratios_exactly():
    weights = np.array([1.0, 3.0, 7.0, 2.0**29 - 1])
    units = weigh_rows(weights, 4).every
    np.testing.assert_array_equal(units, weights * units[0])
    assert (1 << 29) <= units.max() <= (1 << 30)


@pytest.mark.parametrize("scale", [2.0**-900, 1.0, 2.0**900])
def test_the_grid_does_not_know_the_unit(scale):
    weights = np.array([0.1, 0.0, 1 / 3, 1e-12]) * scale
    assert weigh_rows(weights, 4).every.tolist() == weigh_rows(weights / scale, 4).every.tolist()
    assert weigh_rows(weights, 4).every[3] == 1  # tiny, but there


def test_parts_weigh_alike_on_the_grid_of_all():
    weights = np.array([1.0, 1.0, 0.25, 0.0])
    grid = grid_of(weights)
    assert grid == Grid(1.0, 0.25)
    parts = [grid.weigh(weights[:2]), grid.weigh(weights[2:])]
    whole = grid.weigh(weights)
    assert sum(part.total for part in parts) == whole.total
    assert parts[0].kept is not None  # even within the part, but not with the others
    np.testing.assert_array_equal(np.concatenate([p.every for p in parts]), whole.every)


def test_weights_that_are_all_0_have_an_empty_grid():
    assert grid_of(np.zeros(3)) == grid_of(np.empty(0)) == Grid(0.0, np.inf)

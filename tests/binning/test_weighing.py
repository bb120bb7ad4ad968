"""Weights on an integer grid."""

from __future__ import annotations

import numpy as np
import pytest

from binning_cases import ONES, column
from costboost.binning.binner import fit_binner
from costboost.binning.weighing import weigh_rows


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

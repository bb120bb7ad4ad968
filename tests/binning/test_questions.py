"""What parts of a table are asked, and how their answers are put together."""

from __future__ import annotations

import numpy as np

from binning_parts import Wire
from costboost.binning.questions import Describe, merge_distinct


def test_distinct_values_are_merged():
    values, weights = merge_distinct(
        [(np.array([1.0, 2.0]), np.array([3, 4])), (np.array([2.0, 5.0]), np.array([1, 1]))]
    )
    assert values.tolist() == [1, 2, 5]
    assert weights.tolist() == [3, 5, 1]


def test_an_empty_part_is_described():
    described = Describe(True).answer(Wire([np.empty((0, 2))]).parts[0])
    assert (described.n_rows, described.weighted) == (0, frozenset())

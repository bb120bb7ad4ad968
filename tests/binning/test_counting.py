"""What the rows of each category weigh, in all parts of a table."""

from __future__ import annotations

import numpy as np
import pytest

from binning_cases import column
from binning_parts import Wire
from costboost.binning.binning_messages import count_keys
from costboost.binning.table_reading import grid_of

WORDS = column(["b", "a", None, "b", "\ud800", "a", "a"], object)
WEIGHTS = np.array([1.0, 2.0, 4.0, 0.5, 1.0, 0.0, 0.0])
GRID = grid_of(WEIGHTS)
UNIT = int(GRID.weigh(np.array([0.5])).total)  # of half a row


def counted(message, X, weights=None, at=3):
    parts = [X[:at], X[at:at], X[at:]]
    weighed = None if weights is None else [weights[:at], weights[at:at], weights[at:]]
    return Wire(parts, weighed).ask(message)


@pytest.mark.parametrize("at", [0, 1, 3, 7])
def test_parts_count_what_the_whole_does(at):
    found = counted(count_keys(column=0, grid=None), WORDS, at=at)
    assert found.totals == {"a": 3, "b": 2, "\ud800": 1}
    assert found.missing == 1
    found = counted(count_keys(column=0, grid=GRID), WORDS, WEIGHTS, at)
    assert found.totals == {"a": 4 * UNIT, "b": 3 * UNIT, "\ud800": 2 * UNIT}
    assert found.missing == 8 * UNIT


def test_numbers_are_counted_as_categories():
    numbers = column([2.0, -0.0, np.nan, 0.0, 2.0, 7.0, 7.0])
    found = counted(count_keys(column=0, grid=GRID), numbers, WEIGHTS)
    assert found.totals == {0.0: 5 * UNIT, 2.0: 4 * UNIT}  # rows of weight 0 are absent
    assert str(min(found.totals)) == "0.0"
    assert found.missing == WEIGHTS[2] / 0.5 * UNIT


def test_too_many_are_only_numbered():
    ids = column([f"row {k % 40}" for k in range(100)], object)
    few = counted(count_keys(column=0, grid=None, many=40), ids, at=50)
    assert len(few.totals) == 40
    assert few.n_keys == 80  # added up over parts
    assert counted(count_keys(column=0, grid=None, many=39), ids, at=50).totals is None
    # Neither part alone has too many, but both together.
    disjoint = column([f"row {k}" for k in range(60)], object)
    assert counted(count_keys(column=0, grid=None, many=40), disjoint, at=30).totals is None


def test_slices_are_disjoint_and_make_up_the_whole():
    mixed = column([*map(str, range(30)), *range(30), "\ud800"] * 2, object)
    whole = counted(count_keys(column=0, grid=None), mixed).totals
    slices = [
        counted(count_keys(column=0, grid=None, n_slices=5, at=at, many=3), mixed).totals
        for at in range(5)
    ]
    assert sum(map(len, slices)) == len(whole) == 61
    assert {key: weight for part in slices for key, weight in part.items()} == whole
    assert all(slices)

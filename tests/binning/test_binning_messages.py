"""What parts of a table are asked, and how their answers are put together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from binning_parts import Wire
from costboost.binning.binning_messages import (
    describe_part,
    forget_columns,
    glance_at_columns,
    kinds_held,
    merge_distinct,
    rank_probes,
    values_between,
)
from costboost.binning.table_reading import grid_of


def test_distinct_values_are_merged():
    values, weights = merge_distinct(
        [(np.array([1.0, 2.0]), np.array([3, 4])), (np.array([2.0, 5.0]), np.array([1, 1]))]
    )
    assert values.tolist() == [1, 2, 5]
    assert weights.tolist() == [3, 5, 1]


def test_an_empty_part_is_described():
    described = describe_part(by_type=True).answer(Wire([np.empty((0, 2))]).parts[0])
    assert (described.n_rows, described.weighted) == (0, frozenset())


X = np.array([3.0, 1.0, np.nan, 2.0, 2.0, -0.0, 5.0, 1.0])[:, np.newaxis]
WEIGHTS = np.array([1.0, 0.0, 2.0, 1.0, 3.0, 1.0, 2.0, 4.0])
UNIT = int(grid_of(WEIGHTS).weigh(np.ones(1)).total)


def wire(weighted, at=3):
    weights = [WEIGHTS[:at], WEIGHTS[at:at], WEIGHTS[at:]] if weighted else None
    return Wire([X[:at], X[at:at], X[at:]], weights), grid_of(WEIGHTS) if weighted else None


def weight_of(weighted, rows):
    return int((WEIGHTS[rows] * UNIT).sum() if weighted else rows.sum())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("at", [0, 3, 8])
def test_ranks_are_the_weight_below_and_up_to_a_probe(weighted, at):
    asked, grid = wire(weighted, at)
    probes = np.array([-1.0, 0.0, 1.0, 2.5, 5.0, 9.0])
    ((below, upto),) = asked.ask(rank_probes(columns=(0,), grid=grid, keep=False, probes=(probes,)))
    x = X[:, 0]
    assert below.tolist() == [weight_of(weighted, x < p) for p in probes]
    assert upto.tolist() == [weight_of(weighted, x <= p) for p in probes]


@pytest.mark.parametrize("weighted", [False, True])
def test_windows_hold_what_lies_strictly_between(weighted):
    asked, grid = wire(weighted)
    message = values_between(
        columns=(0,),
        grid=grid,
        keep=False,
        above=(np.array([0.0, 2.0]),),
        below=(np.array([2.0, 9.0]),),
    )
    ((values, weights),) = asked.ask(message)
    assert values.tolist() == [1.0, 3.0, 5.0]
    assert weights.tolist() == [weight_of(weighted, X[:, 0] == v) for v in values]
    empty = values_between(
        columns=(0,), grid=grid, keep=False, above=(np.empty(0),), below=(np.empty(0),)
    )
    assert asked.ask(empty)[0][0].tolist() == []


def test_a_glance_sees_all_of_a_few_values_and_both_ends_of_many():
    asked, grid = wire(True)
    (seen,) = asked.ask(glance_at_columns(columns=(0,), grid=grid, keep=False, few=5, n_probes=2))
    assert seen.complete
    assert seen.missing
    assert str(seen.values.tolist()) == "[0.0, 1.0, 2.0, 3.0, 5.0]"  # and no -0.0
    assert seen.weights.tolist() == [UNIT, 4 * UNIT, 4 * UNIT, UNIT, 2 * UNIT]
    (probed,) = asked.ask(glance_at_columns(columns=(0,), grid=grid, keep=False, few=4, n_probes=2))
    assert not probed.complete
    assert probed.missing
    assert {0.0, 5.0} <= set(probed.values.tolist()) <= {0.0, 1.0, 2.0, 3.0, 5.0}


def test_probes_are_spread_evenly_by_weight():
    values = np.arange(10_000.0)[:, np.newaxis]
    weights = np.where(values[:, 0] < 9000, 1.0, 9.0)  # half of it in the last tenth
    parts = Wire([values], [weights])
    (probed,) = parts.ask(
        glance_at_columns(columns=(0,), grid=grid_of(weights), keep=False, few=64, n_probes=100)
    )
    assert 48 <= np.count_nonzero(probed.values < 9000) <= 53
    assert len(probed.values) <= 102


def test_sorted_columns_are_held_until_forgotten_and_answer_alike():
    asked, grid = wire(True)
    probes = (np.array([2.0]),)
    fresh = asked.ask(rank_probes(columns=(0,), grid=grid, keep=False, probes=probes))
    assert all("sorted_columns" not in vars(p) or not p.sorted_columns for p in asked.parts)
    asked.ask(rank_probes(columns=(0,), grid=grid, keep=True, probes=probes))
    held = [part.sorted_columns[0] for part in asked.parts]
    again = asked.ask(rank_probes(columns=(0,), grid=grid, keep=True, probes=probes))
    assert [part.sorted_columns[0] for part in asked.parts] == held
    np.testing.assert_array_equal(again, fresh)
    for part in asked.parts:
        assert forget_columns().answer(part) is None
        assert "sorted_columns" not in vars(part)


def test_parts_describe_themselves_together():
    frame = pd.DataFrame({"x": [1, 2], "c": ["a", "b"]})
    described = Wire([frame, frame.iloc[:0], frame.iloc[:1]], [[0.5, 0], [], [8.0]]).ask(
        describe_part(by_type=True)
    )
    assert (described.n_parts, described.n_rows) == (3, 3)
    assert described.headings == {(2, ("x", "c"))}
    assert described.categorical.tolist() == [False, True]
    assert described.plain.tolist() == [True, False]
    assert described.grid == (8.0, 0.5)
    assert described.weighted == {True}


def test_what_is_missing_everywhere_is_neither_number_nor_category():
    frame = pd.DataFrame({"n": [None, None], "x": [np.nan, 1.0], "c": [None, "a"]}, dtype=object)
    categories, numbers = Wire([frame, frame.iloc[:1]]).ask(kinds_held(columns=(0, 1, 2)))
    assert categories.tolist() == [0, 0, 1]
    assert numbers.tolist() == [0, 1, 0]

"""Cutting what belongs to rows, and leaving alone what does not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from costboost import Costs
from costboost.metrics.prices import has_rows, take_rows

ROWS = np.array([2, 0, 2])
KINDS = {
    "array": np.array([10, 20, 30]),
    "table": np.arange(6).reshape(3, 2),
    "list": [10, 20, 30],
    "strings": ["a", "b", "c"],
    "series": pd.Series([10, 20, 30], index=[7, 8, 9]),
    "frame": pd.DataFrame({"a": [1, 2, 3], "b": [4, 5, 6]}, index=[7, 8, 9]),
    "polars": pl.DataFrame({"a": [1, 2, 3]}),
    "sparse": csr_array(np.eye(3)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_rows_are_cut_by_position(kind):
    value = KINDS[kind]
    cut = take_rows(value, ROWS, 3)
    assert type(cut) is type(value)
    whole, part = (v.toarray() if kind == "sparse" else np.asarray(v) for v in (value, cut))
    np.testing.assert_array_equal(part, whole[ROWS])


@pytest.mark.parametrize(
    "value", ["abc", b"abc", {"a": 1, "b": 2, "c": 3}, None, 3, [1, 2], np.array(3.0), np.ones(4)]
)
def test_what_has_no_value_for_each_row_stays_as_it_is(value):
    assert not has_rows(value, 3)
    assert take_rows(value, ROWS, 3) is value


def test_costs_are_cut_where_they_are_per_row():
    per_row = take_rows(Costs(fp=1, fn=[10, 20, 30]), ROWS, 3).bind([0, 1])
    assert per_row.of_labels([1, 1, 1])[:, 0].tolist() == [30, 10, 30]
    constant = Costs(fp=1, fn=5)
    assert take_rows(constant, ROWS, 3) == constant


def test_labels_of_an_index_are_not_positions():
    labelled = pd.Series([10, 20, 30], index=[2, 1, 0])
    assert take_rows(labelled, np.array([0]), 3).tolist() == [10]

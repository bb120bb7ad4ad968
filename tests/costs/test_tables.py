"""Costs meet their table: columns, functions, and rows that keep their identity."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.costs import as_costs

AMOUNT = np.array([10.0, 45.5, 0.25])
FRAME = pd.DataFrame({"amount": AMOUNT, "fee": [1.0, 2.0, 3.0], "city": ["a", "b", "c"]})
TABLES = {
    "pandas": FRAME,
    "polars": pl.from_pandas(FRAME),
    "pyarrow": pa.Table.from_pandas(FRAME),
    "float32": FRAME.astype({"amount": np.float32}),
    "nullable": FRAME.astype({"amount": "Float64"}),
    "arrow-backed": FRAME.astype({"amount": "double[pyarrow]"}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_columns_are_read_by_name(kind):
    by_column = Costs(fp="fee", fn="amount", tp=8)
    bound = by_column.bind_table(TABLES[kind])
    assert bound == Costs(fp=[1, 2, 3], fn=AMOUNT, tp=8)
    assert not bound.needs_table
    assert bound.bind_table(TABLES[kind]) is bound


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_functions_are_given_the_table_as_it_is(make):
    table = make({"amount": AMOUNT.tolist()})

    def three_quarters(X):
        assert type(X) is type(table)
        return 0.75 * np.asarray(X["amount"])

    assert Costs(8, three_quarters).bind_table(table) == Costs(8, 0.75 * AMOUNT)
    assert Costs(8, lambda X: X[:, 0]).bind_table(AMOUNT[:, None]) == Costs(8, AMOUNT)
    assert Costs(8, lambda X: 3).bind_table(table) == Costs(8, 3)


def test_unread_costs_pass_whole_like_constants():
    costs = Costs(fp=8, fn="amount")
    assert costs[[0, 2]] is costs
    assert costs.loc[["x"]] is costs
    assert len(costs) == 1
    assert costs.shape == (1, 2, 2)
    assert costs.per_row
    assert not costs.is_constant
    assert costs.column_names == ["amount"]
    assert repr(costs) == "Costs(fp=8, fn='amount')"
    assert hash(costs) == hash(Costs(fp=8, fn="amount"))
    assert costs == pickle.loads(pickle.dumps(costs))
    assert costs != Costs(fp=8, fn="fee")
    assert costs != Costs(fp=8, fn=AMOUNT)
    assert as_costs({"fp": 8, "fn": "amount"}) == costs


def test_columns_and_arrays_mix_and_are_cut_together():
    costs = Costs(fp=[1.0, 2.0, 3.0], fn="amount")
    assert costs.n_rows == 3
    part = costs[[2, 0]].bind_table(FRAME.iloc[[2, 0]])
    assert part == Costs(fp=[3, 1], fn=AMOUNT[[2, 0]])
    with pytest.raises(ValueError, match="3 rows, but X has 2"):
        costs.bind_table(FRAME.iloc[:2])


def test_classes_and_tables_may_be_bound_in_either_order():
    costs = Costs(fp=8, fn="amount", tp="fee", positive="bad")
    labels = ["bad", "good"]
    assert costs.bind(labels).bind_table(FRAME) == costs.bind_table(FRAME).bind(labels)
    rows = Costs.of_rows("amount")
    assert rows.bind([0, 1]).bind_table(FRAME) == rows.bind_table(FRAME).bind([0, 1])
    assert rows.bind_table(FRAME) == Costs.of_rows(AMOUNT)


def test_any_cell_of_a_matrix_may_be_a_column():
    costs = Costs.from_matrix([[0, "fee"], ["amount", lambda X: X["fee"] / 2]], classes=["a", "b"])
    bound = np.asarray(costs.bind_table(FRAME))
    assert_array_equal(bound[:, 0, 1], FRAME["fee"])
    assert_array_equal(bound[:, 1, 0], AMOUNT)
    assert_array_equal(bound[:, 1, 1], FRAME["fee"] / 2)
    frame = pd.DataFrame({"a": [0, "amount"], "b": [1, 0]}, index=["a", "b"])
    assert Costs.from_matrix(frame).column_names == ["amount"]
    mixed = Costs.from_matrix([[0, 1], [FRAME["amount"], 0]], classes=["a", "b"])
    assert_array_equal(np.asarray(mixed)[:, 1, 0], AMOUNT)


@pytest.mark.parametrize(
    ("costs", "X", "message"),
    [
        (
            Costs(8, "amonut"),
            FRAME,
            "'amonut', which X does not have: its columns are.*CostColumns",
        ),
        (Costs(8, "amount"), FRAME.to_numpy(), "have no names.*lambda X.*CostColumns"),
        (Costs(8, "amount"), FRAME[["amount", "amount"]], "'amount' 2 times"),
        (Costs(8, "city"), FRAME, "the column 'city' must be numbers"),
        (Costs(8, "amount"), -FRAME[["amount"]], "row 0: the column 'amount' is -10.*negative"),
        (Costs(8, "amount"), FRAME[["amount"]].replace(45.5, np.nan), "row 1: the column 'amount'"),
        (Costs(8, lambda X: X["no"]), FRAME, "failed on X .a DataFrame. with KeyError: 'no'"),
        (Costs(8, lambda X: [1, 2]), FRAME, r"has shape \(2,\), but X has 3 rows"),
        (Costs(8, lambda X: X["amount"].sort_values()), FRAME, "index is not that of X"),
    ],
)
def test_tables_that_do_not_fit(costs, X, message):
    with pytest.raises(ValueError, match=message):
        costs.bind_table(X)


def test_unread_prices_cannot_be_taken_for_others():
    costs = Costs(fp=8, fn="amount").bind([0, 1])
    for use in (
        lambda: np.asarray(costs),
        lambda: costs.expected([[0.5, 0.5]]),
        lambda: costs.decide([[0.5, 0.5]]),
        lambda: costs.of_labels([0, 1]),
        lambda: costs.thresholds(),
        lambda: costs.mean(),
        lambda: costs.total([0], [1]),
        lambda: costs.largest,
        lambda: costs.to_frame(),
    ):
        with pytest.raises(ValueError, match=r"the column 'amount' of a table.*bind_table\(X\)"):
            use()


# The identity of rows

NAMED = FRAME.set_axis(["r7", "r3", "r5"])


def test_series_remember_their_index():
    costs = Costs(fp=8, fn=NAMED["amount"])
    assert costs.index.tolist() == ["r7", "r3", "r5"]
    assert costs[[2, 0]].index.tolist() == ["r5", "r7"]
    assert Costs(fp=8, fn=AMOUNT).index is None
    assert pickle.loads(pickle.dumps(costs)).index.equals(costs.index)
    assert costs == Costs(fp=8, fn=AMOUNT)


def test_an_index_cuts_by_label():
    costs = Costs(fp=NAMED["fee"], fn=NAMED["amount"])
    part = NAMED.loc[["r5", "r7"]]
    expected = Costs(fp=part["fee"], fn=part["amount"])
    assert costs[part.index] == expected
    assert costs.loc[["r5", "r7"]] == expected
    assert costs.loc[part.index] == expected
    assert costs.loc["r3"] == costs[[1]]
    assert costs.loc["r3":] == costs[1:]
    assert costs.loc[NAMED["amount"] > 1] == costs[[0, 1]]
    assert costs[NAMED["amount"] > 1] == costs[[0, 1]]
    assert costs[NAMED["amount"] > 1].index.tolist() == ["r7", "r3"]


@given(st.permutations(list(range(8))), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_slicing_by_index_is_slicing_by_position(order, n):
    table = pd.DataFrame({"amount": np.arange(1.0, 9.0)}, index=order)
    costs = Costs(fp=1, fn=table["amount"])
    positions = np.array(order)[:n]
    labels = table.index[positions]
    assert costs[labels] == costs[positions] == costs.loc[labels]
    assert costs[labels].bind_table(table.loc[labels]) == costs[positions]


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (lambda c: c[pd.Index(["r7", "r9"])], "'r9' is not in the index"),
        (lambda c: c[pd.Series([0, 1])], "labels or positions"),
        (lambda c: c[pd.Series([True, False, True])], "another index"),
        (lambda c: Costs(1, AMOUNT).loc[[0]], "have no index"),
        (lambda c: Costs.concat([c, c])[pd.Index(["r7"])], "names some rows twice"),
    ],
)
def test_labels_that_do_not_tell_rows(cut, message):
    with pytest.raises(IndexError, match=message):
        cut(Costs(fp=8, fn=NAMED["amount"]))


def test_tables_of_other_rows_are_refused():
    costs = Costs(fp=8, fn=NAMED["amount"])
    assert costs.bind_table(NAMED) == costs
    assert costs.bind_table(NAMED).index is None
    assert costs.bind_table(NAMED.to_numpy()) == costs  # an array has no index to disagree
    with pytest.raises(ValueError, match=r"in another order.*costs\[X.index\]"):
        costs.bind_table(NAMED.iloc[::-1])
    with pytest.raises(ValueError, match=r"and others.*costs\[X.index\]"):
        costs.bind_table(NAMED.iloc[:2])
    with pytest.raises(ValueError, match=r"other rows than X.*to_numpy"):
        costs.bind_table(FRAME)
    assert costs[NAMED.index[::-1]].bind_table(NAMED.iloc[::-1]) == costs[::-1]
    with pytest.raises(ValueError, match="fp and fn have different indexes"):
        Costs(fp=FRAME["fee"], fn=NAMED["amount"])

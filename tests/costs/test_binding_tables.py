"""Costs meet their table: columns, functions, and rows that keep their identity."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from costboost import Costs
from costboost.costs import as_costs
from costs_cases import AMOUNT, FRAME, NAMED

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


# The identity of rows


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


def test_prices_are_read_from_integers_of_128_bits():
    if not hasattr(pl, "Int128"):
        pytest.skip("this polars has no Int128")
    table = pl.DataFrame({"price": pl.Series([3, 5], dtype=pl.Int128)})
    costs = Costs(fp=1, fn="price", positive=1).bind([0, 1]).bind_table(table)
    np.testing.assert_array_equal(costs.of_labels(np.array([1, 1])), [[3.0, 0.0], [5.0, 0.0]])

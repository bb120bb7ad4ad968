"""One price: a number, one per row, a column or a function."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.costs import expression
from costboost.costs.reading import is_source, read_cell, read_cells, some_cost
from costboost.costs.state import TablePrice
from costs_cases import AMOUNT, FRAME


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


def test_every_kind_of_price_is_told_apart():
    named = pd.Series([1.0, 2.0], name="fee")
    by_column = read_cell("amount", "fp", False)
    assert (by_column.value, by_column.name) == (TablePrice("amount"), "amount")
    written = expression("2 * amount")
    assert read_cell(written, "fp", False)[:2] == (TablePrice(written), "2 * amount")
    assert read_cell(len, "fp", False)[:2] == (TablePrice(len), None)
    assert read_cell(named, "fp", False).name == "fee"
    assert_array_equal(read_cell(named, "fp", False).values, [1, 2])
    assert [is_source(price) for price in ("x", len, written, 3, named)] == [True] * 3 + [False] * 2


def test_rows_of_all_prices_must_agree():
    cells, index = read_cells({"fp": 1, "fn": [1, 2, 3], "tp": "x", "tn": [4, 5, 6]}, False)
    assert [cell.n_rows for cell in cells] == [None, 3, None, 3]
    assert index is None
    with pytest.raises(ValueError, match="fn has 3 rows, but tn has 1"):
        read_cells({"fp": 1, "fn": [1, 2, 3], "tn": [4]}, False)
    with pytest.raises(ValueError, match=r"fn has shape \(2, 1\); give one number, or one per row"):
        read_cells({"fp": 1, "fn": [[1], [2]]}, False)


def test_the_index_of_the_rows_is_that_of_all_which_have_one():
    amounts = pd.Series([1.0, 2.0], index=["r", "s"])
    _, index = read_cells({"fp": [5, 6], "fn": amounts, "tp": amounts * 2}, False)
    assert index.tolist() == ["r", "s"]
    with pytest.raises(ValueError, match="fn and tp have different indexes"):
        read_cells({"fp": 1, "fn": amounts, "tp": amounts[::-1]}, False)


def test_prices_that_are_all_zero_are_refused_unless_some_are_unread():
    free = [read_cell(0, "fp", False), read_cell([0, 0], "fn", False)]
    with pytest.raises(ValueError, match="Every cost is zero"):
        some_cost(free)
    assert len(some_cost([*free, read_cell("amount", "tp", False)])) == 3
    assert len(some_cost([*free, read_cell([0, 1e-300], "tp", False)])) == 3

"""The canonical form of costs: its cells, and how it is written down."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost.costs import Costs, expression
from costboost.costs.reading import read_binary, read_matrix, read_rows, read_value
from costboost.costs.state import (
    TablePrice,
    dense,
    expanded,
    packed,
    same,
    same_labels,
    select,
    unpacked,
)


def test_a_price_per_row_keeps_scalars_scalar():
    fn = np.arange(1.0, 6.0)
    costs = Costs(fp=1, fn=fn)
    assert costs.shape == (5, 2, 2)
    assert len(costs) == costs.n_rows == 5
    assert costs.per_row
    assert sum(column.size for column in costs._state.columns) == 5 + 3
    assert_array_equal(np.asarray(costs)[:, 1, 0], fn)


def test_every_pickle_protocol_gives_back_read_only_arrays():
    costs = Costs(1, np.arange(1.0, 9.0), positive="a").bind(["a", "b"])[::2]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(costs, protocol))
        assert twin == costs
        assert not any(column.flags.writeable for column in twin._state.columns)


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


MATRIX = np.arange(1.0, 7.0).reshape(2, 3)


def test_cells_of_every_form_make_the_dense_array():
    matrix = read_matrix(MATRIX, classes=["a", "b"])
    assert_array_equal(dense(matrix), [MATRIX])
    assert [float(matrix.cell(1, a)) for a in range(3)] == [4, 5, 6]
    mixed = read_binary(fp=1, fn=[2, 3], tp=4)
    assert_array_equal(dense(mixed), [[[0, 1], [2, 4]], [[0, 1], [3, 4]]])
    rows = read_rows([5.0, 7.0])
    assert_array_equal(dense(rows), [5, 7])
    assert_array_equal(rows.cell(0, 1), [5, 7])
    assert float(rows.cell(1, 1)) == 0
    assert_array_equal(dense(read_rows(MATRIX)), MATRIX)


def test_cells_are_selected_by_class_and_action():
    state = read_matrix(MATRIX, classes=["a", "b"])
    picked = select(state, [1, 0], [2, 0])
    assert [float(cell.values) for cell in picked] == [6, 4, 3, 1]
    unread = read_matrix([[0, "fee"], [TablePrice, 2]])  # a class is a function, too
    assert [cell.value for cell in select(unread, [0], slice(None))][1] == TablePrice("fee")


def test_one_price_of_all_mistakes_becomes_a_matrix_once_classes_are_known():
    unit = read_value(None)
    assert expanded(unit) is unit
    three = expanded(unit._replace(n_classes=3, n_actions=3))
    assert_array_equal(dense(three)[0], 1 - np.eye(3))
    for own in (read_rows([1.0, 2.0]), read_rows("amount")):
        known = own._replace(n_classes=3, n_actions=3)
        assert expanded(known) is known  # rows have prices of their own
    with pytest.raises(ValueError, match="number of classes is not known"):
        _ = unit.k


@pytest.mark.parametrize(
    "state",
    [
        read_binary(1, [2.0, 3.0], positive="b"),
        read_binary(1, "amount", tp=expression("2 * fee")),
        Costs(8, "amount", benefits=True)._state._replace(
            cells=(2 * Costs(8, "amount") + 1)._state.cells
        ),
        read_rows(pd.Series([1.0, 2.0], index=["r", "s"])),
        read_matrix(MATRIX, classes=["a", "b"], actions=["x", "y", "z"]),
    ],
)
def test_what_is_packed_comes_back_also_with_lists_for_tuples(state):
    parts = packed(state)
    parts["cells"] = [
        {**c, **({"steps": [list(s) for s in c["steps"]]} if "steps" in c else {})}
        for c in parts["cells"]
    ]
    back = unpacked(parts)
    assert same(back, state)
    assert hash(Costs._of(back)) == hash(Costs._of(state))
    for cell in back.cells:
        assert isinstance(cell.value, TablePrice) or not cell.value.flags.writeable


def test_costs_are_the_same_if_they_mean_the_same():
    assert same(read_binary(1, [2, 2]), read_binary([1, 1], [2, 2]))
    assert not same(read_binary(1, 2), read_binary(1, [2]))
    assert not same(read_binary(1, "a"), read_binary(1, "b"))
    assert not same(read_binary(1, "a"), read_binary(1, 2))
    assert not same(read_binary(1, 2, positive="a"), read_binary(1, 2, positive="b"))
    labels = np.array(["a", "b"])
    assert same_labels(labels, labels.astype(object))
    assert not same_labels(labels, labels[::-1])
    assert not same_labels(labels, None)

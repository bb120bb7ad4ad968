"""Costs as an array of rows: cut by position and by label, compared, copied."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from costboost.costs import Costs, as_costs
from costs_cases import AMOUNT, LOAN, NAMED, SQUARE

FORMS = {
    "binary": lambda n: Costs(fp=5, fn=np.arange(1.0, n + 1)),
    "matrix": lambda n: Costs.from_matrix(np.arange(1.0, 4 * n + 1).reshape(n, 2, 2)),
    "actions": lambda n: Costs.from_matrix(np.arange(6.0 * n).reshape(n, 2, 3)),
    "rows": lambda n: Costs.of_rows(np.arange(1.0, n + 1)),
    "answers": lambda n: Costs.of_rows(np.arange(2.0 * n).reshape(n, 2)),
}


INDICES = [
    [3, 1, 1],
    np.array([0, -1]),
    np.array([True, False] * 3),
    [False] * 5 + [True],
    slice(1, 5, 2),
    slice(None),
    pd.Series([2, 4]),
    pd.Index([5, 0]),
    pl.Series([1, 2]),
    (np.array([4, 2]), Ellipsis),
    [],
    2,
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slicing_agrees_with_slicing_the_result(form, index):
    costs = FORMS[form](6).bind([0, 1])
    rows = index[0] if isinstance(index, tuple) else index
    rows = rows if isinstance(rows, slice) else np.atleast_1d(np.asarray(rows))
    rows = rows if isinstance(rows, slice) or rows.size else rows.astype(int)
    y = np.array([0, 1, 1, 0, 1, 0])
    part = costs[index]
    assert part.per_row
    assert len(part) == part.shape[0] == len(y[rows])
    assert_array_equal(part.of_labels(y[rows]), costs.of_labels(y)[rows])
    assert_array_equal(np.asarray(part), np.asarray(costs)[rows])


def test_constants_are_not_cut():
    costs = Costs(1, 10)
    for index in (*INDICES, np.arange(1000)):
        assert costs[index] is costs
    assert list(costs) == [costs]
    assert [c.n_rows for c in Costs(1, [2, 3])] == [1, 1]


@pytest.mark.parametrize("index", [(0, 1), ([0], Ellipsis, 1), 9, [0.5], "a", [True], [[0]]])
def test_bad_indices(index):
    with pytest.raises(IndexError):
        Costs(1, [2, 3, 4])[index]


def test_equality_and_hash():
    assert Costs(1, [1, 1]) == Costs([1, 1], [1, 1])
    assert hash(Costs(1, [1, 1])) == hash(Costs([1, 1], [1, 1]))
    assert Costs(0.0, 1) == Costs(-0.0, 1)
    assert Costs(1, 10).bind([0, 1]) == Costs.from_matrix([[0, 1], [10, 0]]).bind([0, 1])
    different = [
        Costs(1, 10),
        Costs(1, 11),
        Costs(1, [10]),
        Costs(1, [10, 10]),
        Costs(1, 10, positive="a"),
        Costs(1, 10).bind([0, 1]),
        Costs.from_matrix(SQUARE),
        Costs.from_matrix(LOAN, classes=[0, 1]),
        Costs.from_matrix(LOAN, classes=[0, 1], actions=["x", "y", "z"]),
        Costs.of_rows([10]),
        Costs.of_rows([[1, 10]]),
        as_costs(None),
    ]
    assert len(set(different)) == len(different)
    assert Costs(1, 10) != "Costs(fp=1, fn=10)"
    assert (np.ones(3) == Costs(1, 10)) is False
    with pytest.raises(TypeError):
        np.ones(3) * Costs(1, 10)


@pytest.mark.parametrize("form", FORMS)
def test_pickle_and_copy(form):
    for costs in (FORMS[form](4), FORMS[form](4).bind([0, 1]), FORMS[form](4)[:0]):
        for twin in (pickle.loads(pickle.dumps(costs)), copy.copy(costs), copy.deepcopy(costs)):
            assert twin == costs
            assert hash(twin) == hash(costs)


def test_array_protocol():
    costs = Costs(1, [2, 3])
    assert np.asarray(costs, dtype=np.float32).dtype == np.float32
    np.array(costs)[:] = 7
    assert costs == Costs(1, [2, 3])
    with pytest.raises(ValueError, match="always a copy"):
        costs.__array__(copy=False)
    assert_array_equal(np.asarray(Costs.of_rows([1, 2]).bind([0, 1])), [1, 2])
    assert_array_equal(np.asarray(as_costs(None)), [1])


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


def test_costs_of_no_rows_are_still_costs():
    none = Costs(1, [2.0, 3.0])[[]]
    assert none.shape == (0, 2, 2)
    assert none.largest == 1
    assert hash(none) == hash(Costs(1, [9.0])[:0])
    assert none == Costs(1, [9.0])[:0]
    assert none != Costs(1, 2)
    assert list(none) == []
    assert none.bind([0, 1]).of_labels([]).shape == (0, 2)


def test_the_largest_counts_benefits_by_their_size():
    assert Costs(1, [2, 7, 3]).largest == 7
    assert Costs(1, 2, tp=-30, benefits=True).largest == 30
    assert Costs.of_rows([[0, 1e300], [1e-300, 0]]).largest == 1e300


def test_a_mask_from_a_table_must_be_of_the_same_rows():
    costs = Costs(fp=NAMED["fee"], fn=NAMED["amount"])
    with pytest.raises(IndexError, match="another index"):
        costs[NAMED["fee"][::-1] > 1]
    assert costs[(NAMED["fee"] > 1).to_numpy()] == costs[[1, 2]]
    twice = Costs.concat([costs, costs])
    assert twice[twice.index] == twice  # the very index, though it names rows twice

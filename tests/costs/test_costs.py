"""Costs: every form, every refusal, binding to labels, and rows like an array."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from costboost.costs import Costs, as_costs
from costboost.inputs.arrays import check_codes

SQUARE = [[0.0, 1.0, 2.0], [4.0, 0.0, 3.0], [9.0, 5.0, 0.0]]
LOAN = [[0.0, 1.0, 6.0], [30.0, 2.0, 0.0]]


# Forms


def test_scalars_make_one_matrix_with_true_classes_as_rows():
    costs = Costs(fp=1, fn=10, tp=3, tn=2)
    assert costs.shape == (1, 2, 2)
    assert len(costs) == 1
    assert costs.is_constant
    assert not costs.per_row
    assert costs.n_rows is None
    assert costs.classes is None
    assert costs.actions is None
    assert costs.positive is None
    assert_array_equal(np.asarray(costs), [[[2, 1], [10, 3]]])


def test_a_price_per_row_keeps_scalars_scalar():
    fn = np.arange(1.0, 6.0)
    costs = Costs(fp=1, fn=fn)
    assert costs.shape == (5, 2, 2)
    assert len(costs) == costs.n_rows == 5
    assert costs.per_row
    assert sum(column.size for column in costs._state.columns) == 5 + 3
    assert_array_equal(np.asarray(costs)[:, 1, 0], fn)


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


def test_inputs_are_copied_and_stored_read_only():
    fn = np.array([1.0, 2.0])
    labels = np.array(["a", "b"])
    costs = Costs(fp=1, fn=fn, positive="b").bind(labels)
    fn[0] = 99
    labels[0] = "z"
    assert costs == Costs(fp=1, fn=[1.0, 2.0], positive="b").bind(["a", "b"])
    for part in (costs, costs[[0]], costs[:1], pickle.loads(pickle.dumps(costs))):
        assert not part.classes.flags.writeable
        assert not any(column.flags.writeable for column in part._state.columns)
    with pytest.raises(AttributeError):
        costs.classes = ["x"]
    with pytest.raises(AttributeError):
        costs.other = 1


def test_results_may_be_written_to():
    y = [0, 1]
    for costs in (Costs(1, 2), Costs(1, [2, 3]), Costs.of_rows([1, 2]), Costs.of_rows(np.eye(2))):
        bound = costs.bind([0, 1])
        before = bound.of_labels(y)
        bound.of_labels(y)[:] = -1
        bound.of_errors(y)[:] = -1
        assert_array_equal(bound.of_labels(y), before)


def test_actions_in_another_order_are_sorted_into_the_classes():
    swapped = Costs.from_matrix([[1, 0], [0, 10]], classes=["a", "b"], actions=["b", "a"])
    assert swapped.is_square
    assert swapped == Costs.from_matrix([[0, 1], [10, 0]], classes=["a", "b"])
    late = Costs.from_matrix([[1, 0], [0, 10]], actions=["b", "a"]).bind(["a", "b"])
    assert late == swapped


def test_actions_are_numbered_when_not_named():
    costs = Costs.from_matrix(LOAN, classes=["good", "bad"])
    assert costs.actions.tolist() == [0, 1, 2]
    assert costs.shape == (1, 2, 3)


def test_as_costs_forms():
    assert as_costs({"fp": 1, "fn": 10}) == Costs(1, 10)
    assert as_costs({"fp": 1, "fn": 10, "tp": 2, "tn": 3, "positive": "a"}) == Costs(
        1, 10, 2, 3, positive="a"
    )
    assert as_costs({"fp": -1, "fn": 10, "benefits": True}) == Costs(-1, 10, benefits=True)
    costs = Costs(1, 10)
    assert as_costs(costs) is costs
    assert as_costs(None, [0, 1]) == Costs(1, 1).bind([0, 1])
    assert as_costs(None, ["a", "b", "c"]).total(["a", "b"], ["a", "c"]) == 1.0
    assert Costs.check(None, [1, 2, 3]).shape == (1, 3, 3)
    assert as_costs(None).shape == (1,)
    with pytest.raises(ValueError, match="5 rows, but the data have 4"):
        as_costs(Costs(1, np.ones(5)), [0, 1], 4)


# Refusals


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


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Costs(1, 2).bind([0, 1, 2]), "for 2 classes, but the labels have 3"),
        (lambda: Costs(1, 2).bind([0]), "for 2 classes, but the labels have 1"),
        (lambda: Costs(1, 2, positive="x").bind(["a", "b"]), "positive='x' is not among"),
        (lambda: Costs(1, [2, 3]).bind([0, 1], 5), "have 2 rows, but the data have 5"),
        (lambda: Costs.from_matrix(SQUARE).bind([0, 1]), "for 3 classes.*classes="),
        (lambda: Costs.from_matrix(SQUARE, classes=[0, 1, 2]).bind([0, 7]), "the class 7"),
        (lambda: Costs(1, 2).bind([0, 0]), "names 0 twice"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels([0, 5]), "row 1: y has the label 5"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels(["0", 1]), "row 0: y has the label '0'"),
        (lambda: Costs.of_rows([2]).bind(["a", "b"]).of_labels([1]), "row 0: y has the label 1"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels([[0]]), "y has shape"),
        (lambda: Costs(1, [2, 3]).bind([0, 1]).of_labels([0]), "2 rows, but y has 1"),
        (lambda: Costs(1, 2).of_labels([0, 1, 2]), "for 2 classes, but the labels have 3"),
        (lambda: Costs(1, 2).total([0, 0], [0, 0]), "for 2 classes, but the labels have 1"),
        (lambda: Costs(1, 2).decide([[0.5, 0.5]]), r"bind\(classes\) these costs first"),
        (lambda: as_costs(None).expected([[0.5, 0.5]]), r"bind\(classes\)"),
        (lambda: Costs(1, 2).bind([0, 1]).total([0], [0, 1]), "predicted has 2 rows, but y has 1"),
        (lambda: Costs(1, 2).bind([0, 1]).total([0], [3]), "row 0: predicted has the label 3"),
        (lambda: Costs(1, 2).bind([0, 1]).of_errors([0], how="sum"), "how must be"),
        (lambda: Costs(1, 2).bind([0, 1]).of_errors([0], target=[0, 1]), "target has 2 rows"),
        (lambda: Costs(1, 2).expected([0.5, 0.5]), r"proba has shape \(2,\).*column_stack"),
        (lambda: Costs(1, 2).expected([[0.2, 0.3, 0.5]]), r"need \(n_samples, 2\)"),
        (lambda: Costs(1, 2).expected([[0.5, 0.5], [2.0, -1.0]]), "row 1: proba is"),
        (lambda: Costs(1, 2).expected([[np.nan, 0.5]]), "row 0: proba is"),
        (lambda: Costs(1, 2).expected([[0.5, 0.6]]), "must sum to 1"),
        (lambda: Costs(1, [2, 3]).expected([[0.5, 0.5]]), "2 rows, but proba has 1"),
        (lambda: Costs(1, [2, 3]).bind([0, 1]).decide([[0.5, 0.5]]), "2 rows, but proba has 1"),
        (lambda: Costs.from_matrix(SQUARE).thresholds(), "thresholds need two classes"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).thresholds(), "thresholds need two"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).of_errors([0]), "of_errors compares"),
        (lambda: Costs.from_matrix(LOAN, classes=[0, 1]).cheapest_labels([0]), "compares right"),
        (lambda: Costs.of_rows(np.eye(2)).expected([[0.5, 0.5]] * 2), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).thresholds(), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).bind([0, 1]).decide([[1, 0]] * 2), "given the truth"),
        (lambda: Costs.of_rows(np.eye(2)).bind([0, 1]).mean(), r"give mean\(y=\)"),
        (lambda: Costs.of_rows([1, 2]).bind([0, 1]).mean(y=[0, 0]), "Class 1 has no row"),
        (lambda: Costs(1, [2, 3]).mean([1]), "one weight for each of the 2 rows"),
        (lambda: Costs(1, [2, 3]).mean([1, -1]), "row 1: sample_weight is -1"),
        (lambda: Costs(1, [2, 3]).mean([0, 0]), "zero for every row"),
        (lambda: Costs(1, 2).of_labels([0, 2], encoded=True), "row 1: y has code 2"),
        (lambda: Costs(1, 2).of_labels([0.0], encoded=True), "integer codes"),
        (lambda: check_codes([[1]], 2, "y"), "integer codes"),
    ],
)
def test_misuse_says_what_to_do(build, message):
    with pytest.raises(ValueError, match=message):
        build()


# Binding


@pytest.mark.parametrize("positive", ["b", "a"])
def test_positive_names_what_a_positive_decision_means(positive):
    costs = Costs(fp=1, fn=10, tp=2, tn=3, positive=positive).bind(["a", "b"])
    y, answer = (["a", "b"], "a") if positive == "a" else (["b", "a"], "b")
    assert costs.positive == answer
    assert_array_equal(costs.of_decisions(y, [answer] * 2), [2, 1])
    assert_array_equal(costs.of_decisions(y, [y[1]] * 2), [10, 3])
    assert costs.bind(["a", "b"]) is costs


def test_named_classes_survive_a_fold_that_lacks_one():
    costs = Costs.from_matrix(SQUARE, classes=["c", "a", "b"])
    assert_array_equal(np.asarray(costs.bind(["a", "c"]))[0], [[0, 4], [1, 0]])
    loan = Costs.from_matrix(LOAN, classes=["good", "bad"], actions=["yes", "ask", "no"])
    assert_array_equal(np.asarray(loan.bind(["good"]))[0], [LOAN[0]])
    assert_array_equal(np.asarray(loan.bind(["bad", "good"]))[0], LOAN[::-1])
    answers = Costs.of_rows(SQUARE, classes=["c", "a", "b"]).bind(["a", "b"])
    assert_array_equal(np.asarray(answers), np.array(SQUARE)[:, 1:])
    rows = Costs.of_rows([1, 2], classes=["a", "b", "c"]).bind(["a", "c"])
    assert_array_equal(rows.of_labels(["a", "c"]), [[0, 1], [2, 0]])


def test_one_class_with_unit_costs_is_trivial():
    costs = as_costs(None, ["only"])
    assert costs.decide([[1.0], [1.0]]).tolist() == ["only", "only"]
    assert_array_equal(costs.of_errors(["only"]), [0])


# Rows, like an array


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


def test_every_pickle_protocol_gives_back_read_only_arrays():
    costs = Costs(1, np.arange(1.0, 9.0), positive="a").bind(["a", "b"])[::2]
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(costs, protocol))
        assert twin == costs
        assert not any(column.flags.writeable for column in twin._state.columns)


def test_array_protocol():
    costs = Costs(1, [2, 3])
    assert np.asarray(costs, dtype=np.float32).dtype == np.float32
    np.array(costs)[:] = 7
    assert costs == Costs(1, [2, 3])
    with pytest.raises(ValueError, match="always a copy"):
        costs.__array__(copy=False)
    assert_array_equal(np.asarray(Costs.of_rows([1, 2]).bind([0, 1])), [1, 2])
    assert_array_equal(np.asarray(as_costs(None)), [1])


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        (Costs(1, 10), "Costs(fp=1, fn=10)"),
        (Costs(1, 10, tp=2, tn=0.5), "Costs(fp=1, fn=10, tp=2, tn=0.5)"),
        (
            Costs(1, [2, 300], positive="a").bind(["a", "b"]),
            "Costs(fp=1, fn=<2 values from 2 to 300>, positive='a')",
        ),
        (Costs(1, [2])[:0], "Costs(fp=1, fn=<0 values of no rows>)"),
        (
            Costs.from_matrix(LOAN, classes=["g", "b"], actions=["y", "ask", "n"]),
            "Costs.from_matrix([[0, 1, 6], [30, 2, 0]], classes=['g', 'b'], "
            "actions=['y', 'ask', 'n'])",
        ),
        (
            Costs.from_matrix(np.arange(100.0).reshape(10, 10), classes=range(10)),
            "Costs.from_matrix(<10 x 10 values from 0 to 99>, classes=[0, 1, 2, 3, 4, ...])",
        ),
        (
            Costs.from_matrix(np.ones((4, 3, 3))),
            "Costs.from_matrix(<4 x 3 x 3 values from 1 to 1>)",
        ),
        (Costs.of_rows([1, 2]), "Costs.of_rows(<2 values from 1 to 2>)"),
        (Costs.of_rows([[1, 2]]), "Costs.of_rows(<1 x 2 values from 1 to 2>)"),
        (as_costs(None), "Costs(every mistake costs 1)"),
    ],
)
def test_repr(costs, expected):
    assert repr(costs) == expected

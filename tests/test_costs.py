"""Costs: every form, every refusal, the arithmetic against loops, and the way through sklearn."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, resample, shuffle
from sklearn.utils.fixes import parse_version

from costboost._validation import check_codes
from costboost.costs import Costs, as_costs
from naive import costs as naive

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
    costs = Costs(fp=1, fn=fn).bind(labels)
    fn[0] = 99
    labels[0] = "z"
    assert costs == Costs(fp=1, fn=[1.0, 2.0]).bind(["a", "b"])
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
        (lambda: Costs("1", 1), "fp must be numbers, but they are strings"),
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
        (lambda: Costs(1, 2).bind(["a", "b"]).of_labels([1]), "row 0: y has the label 1"),
        (lambda: Costs(1, 2).bind([0, 1]).of_labels([[0]]), "y has shape"),
        (lambda: Costs(1, [2, 3]).bind([0, 1]).of_labels([0]), "2 rows, but y has 1"),
        (lambda: Costs(1, 2).of_labels([0, 1]), r"bind\(classes\) these costs first"),
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


@pytest.mark.parametrize("positive", [None, "b", "a"])
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
    for costs in (FORMS[form](4), FORMS[form](4).bind(["a", "b"]), FORMS[form](4)[:0]):
        for twin in (pickle.loads(pickle.dumps(costs)), copy.copy(costs), copy.deepcopy(costs)):
            assert twin == costs
            assert hash(twin) == hash(costs)


def test_every_pickle_protocol_gives_back_read_only_arrays():
    costs = Costs(1, np.arange(1.0, 9.0)).bind(["a", "b"])[::2]
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


# Arithmetic against loops


@st.composite
def problems(draw, square=False, binary=False, exponent=0):
    """A dense C, the Costs of it, probabilities, true codes and weights."""
    K = 2 if binary else draw(st.integers(2, 4))
    A = K if square or binary else draw(st.integers(2, 4))
    n = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    per_row = draw(st.booleans())
    # Small integers make ties and rows whose right answer is the dearer common.
    C = rng.integers(0, 5, size=(n if per_row else 1, K, A)).astype(float)
    C[0, 0, 1] += 1
    C = C * 10.0**exponent
    actions = None if A == K else [f"act{a}" for a in range(A)]
    costs = Costs.from_matrix(C if per_row else C[0], classes=list("abcd")[:K], actions=actions)
    dense = np.broadcast_to(C, (n, K, A))
    proba = rng.dirichlet(np.ones(K), size=n)
    return dense, costs, proba, rng.integers(K, size=n), rng.integers(1, 4, size=n) / 2


@given(problems())
@settings(max_examples=80, deadline=None)
def test_expected_total_and_constant_agree_with_loops(problem):
    C, costs, proba, codes, weights = problem
    y = costs.classes[codes]
    assert_allclose(costs.expected(proba), naive.expected(C, proba), rtol=1e-13)
    assert_array_equal(costs.of_labels(y), naive.of_labels(C, codes))
    assert_array_equal(costs.of_labels(codes, encoded=True), naive.of_labels(C, codes))
    taken = costs.decide(proba, encoded=True)
    assert_array_equal(costs.decide(proba), costs.actions[taken])
    paid = naive.total(C, codes, taken, weights)
    assert costs.total(y, costs.actions[taken], weights) == pytest.approx(paid, rel=1e-13)
    assert costs.total(codes, taken, weights, encoded=True) == pytest.approx(paid, rel=1e-13)
    best, cost = naive.cheapest_constant(C, codes, weights)
    assert costs.cheapest_constant(y, weights) == (costs.actions[best], pytest.approx(cost))
    assert costs.cheapest_constant(codes, weights, encoded=True)[0] == best


@given(problems())
@settings(max_examples=80, deadline=None)
def test_decisions_are_the_cheapest(problem):
    C, costs, proba, _, _ = problem
    prices = naive.expected(C, proba)
    taken = costs.decide(proba, encoded=True)
    best = prices.min(axis=1)
    assert_allclose(prices[np.arange(len(taken)), taken], best, rtol=1e-12, atol=1e-14)


@given(problems(square=True), st.sampled_from(["mean", "max"]))
@settings(max_examples=80, deadline=None)
def test_errors_and_cheapest_labels_agree_with_loops(problem, how):
    C, costs, _, codes, _ = problem
    y = costs.classes[codes]
    assert_allclose(costs.of_errors(y, how=how), naive.of_errors(C, codes, how), rtol=1e-14)
    cheapest = naive.cheapest_labels(C, codes)
    assert_array_equal(costs.cheapest_labels(y), costs.classes[cheapest])
    aimed = costs.of_errors(y, target=costs.classes[cheapest])
    prices = naive.of_labels(C, codes)
    extra = prices - prices.min(axis=1, keepdims=True)
    assert_allclose(aimed, extra.sum(axis=1) / (C.shape[1] - 1), rtol=1e-14)


@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any),
    st.integers(0, 8),
    st.sampled_from([None, "no", "yes"]),
)
@settings(max_examples=300, deadline=None)
def test_thresholds_and_binary_decisions(prices, eighths, positive):
    # Integers over eighths are exact in floating point, so ties are ties.
    fp, fn, tp, tn = (float(price) for price in prices)
    costs = Costs(fp, fn, tp, tn, positive=positive, benefits=True).bind(["no", "yes"])
    threshold = naive.threshold(fp, fn, tp, tn)
    assert_array_equal(costs.thresholds(), threshold)
    p = eighths / 8
    proba = [[p, 1 - p]] if positive == "no" else [[1 - p, p]]
    decided = costs.decide(proba)[0] == costs.positive
    if threshold == -np.inf:  # documented: never dearer, ties included
        assert decided
    else:
        assert decided == naive.is_positive(fp, fn, tp, tn, p)
    if not np.isnan(threshold):
        assert decided == (p > threshold)


@given(problems(square=True), st.integers(-900, 900))
@settings(max_examples=60, deadline=None)
def test_decisions_do_not_depend_on_the_unit_of_cost(problem, exponent):
    C, costs, proba, codes, _ = problem
    other = Costs.from_matrix(np.ldexp(C, exponent), classes=costs.classes)
    assert_array_equal(other.decide(proba), costs.decide(proba))
    assert_array_equal(
        other.cheapest_labels(costs.classes[codes]), costs.cheapest_labels(costs.classes[codes])
    )


@given(problems(exponent=299), problems(exponent=-300))
@settings(max_examples=40, deadline=None)
def test_extreme_costs_neither_overflow_nor_vanish(large, small):
    for C, costs, proba, codes, _ in (large, small):
        scale = np.abs(C).max()
        assert_allclose(costs.expected(proba) / scale, naive.expected(C / scale, proba), rtol=1e-9)
        assert np.isfinite(costs.of_labels(codes, encoded=True)).all()
        if costs.is_square and C.shape[1] == 2:
            assert not np.isinf(np.nan_to_num(costs.thresholds(), posinf=0, neginf=0)).any()


def test_rows_of_very_different_scale_are_decided_each_on_its_own():
    C = np.array([SQUARE, SQUARE]) * np.array([1e299, 1e-300])[:, None, None]
    proba = np.array([[1 - 2e-9, 1e-9, 1e-9]] * 2)
    costs = Costs.from_matrix(C).bind([0, 1, 2])
    assert_array_equal(costs.decide(proba), [0, 0])
    tight = np.array([[0.6, 0.4 - 1e-12, 1e-12]] * 2)
    plain = Costs.from_matrix(SQUARE).bind([0, 1, 2]).decide(tight)
    assert_array_equal(costs.decide(tight), plain)
    assert_allclose(Costs([1e300, 1e-300], [1e300, 1e-300]).thresholds(), 0.5)
    assert_allclose(Costs([1e300, 1e-300], [1e-300, 1e300]).thresholds(), [1, 0])


def test_small_costs_times_small_probabilities_are_not_lost():
    C = np.array([[1.0, 0.0, 0.0], [0.0, 3.0, 1.0], [0.0, 1.0, 1.0]])
    proba = [[1.0, 1e-25, 1e-25]]  # expected: 1, 4e-25 and 2e-25
    for unit in (1.0, 1e-300):
        assert Costs.from_matrix(C * unit).bind([0, 1, 2]).decide(proba).tolist() == [2]
    mixed = Costs.from_matrix(C * np.array([1e299, 1e-300])[:, None, None]).bind([0, 1, 2])
    assert mixed.decide(proba * 2).tolist() == [2, 2]


def test_a_probability_equal_to_the_threshold_is_not_positive():
    rng = np.random.default_rng(0)
    costs = Costs(rng.random(500), rng.random(500)).bind([0, 1])
    t = costs.thresholds()
    at = costs.decide(np.column_stack([1 - t, t]))
    above = np.nextafter(t, 2)
    assert not at.any()
    assert costs.decide(np.column_stack([1 - above, above])).all()


def test_a_rows_decision_does_not_depend_on_the_rows_around_it():
    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(5), size=200)
    costs = Costs.from_matrix(rng.random((200, 5, 5))).bind(range(5))
    whole = costs.expected(proba)
    alone = np.vstack([costs[i].expected(proba[i : i + 1]) for i in range(200)])
    assert_array_equal(whole, alone)


def test_ties_go_to_the_lowest_index_and_of_two_classes_to_the_negative():
    even = Costs.from_matrix(1 - np.eye(3)).bind(list("abc"))
    assert even.decide([[1 / 3] * 3, [0.2, 0.4, 0.4]]).tolist() == ["a", "b"]
    for positive, negative in (("a", "b"), ("b", "a")):
        costs = Costs(1, 1, positive=positive).bind(["a", "b"])
        assert costs.decide([[0.5, 0.5]])[0] == negative
        assert costs.cheapest_constant(["a", "b"]) == (negative, 1.0)


def test_mean_of_each_cell():
    assert Costs(5, [10, 40]).mean([2, 1]) == Costs(5, 20)
    C = np.random.default_rng(0).random((7, 3, 2))
    mean = Costs.from_matrix(C, classes=list("abc"), actions=["x", "y"]).mean()
    assert_allclose(np.asarray(mean)[0], C.mean(axis=0))
    assert mean.actions.tolist() == ["x", "y"]
    constant = Costs(1, 2)
    assert constant.mean() is constant
    assert Costs(1, 1e300 * np.ones(4)).mean([1e6] * 4) == Costs(1, 1e300)


def test_mean_of_rows_within_each_class():
    y = ["a", "b", "a", "b"]
    rows = Costs.of_rows([1, 10, 3, 30]).bind(["a", "b"])
    assert rows.mean() == Costs(11, 11).bind(["a", "b"])
    assert rows.mean(y=y) == Costs(fp=2, fn=20).bind(["a", "b"])
    assert rows.mean([3, 1, 1, 1], y=y) == Costs(fp=1.5, fn=20).bind(["a", "b"])
    answers = Costs.of_rows([[0, 1], [10, 0], [2, 3], [30, 4]]).bind(["a", "b"])
    assert_array_equal(np.asarray(answers.mean(y=y))[0], [[1, 2], [20, 2]])


def test_rows_given_alone_are_symmetric_at_prediction():
    costs = Costs.of_rows([1, 100]).bind([0, 1])
    assert_allclose(costs.expected([[0.75, 0.25]] * 2), [[0.25, 0.75], [25, 75]])
    assert_allclose(costs.thresholds(), 0.5)
    assert costs.decide([[0.75, 0.25]] * 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    "labels", [["n", "y"], [False, True], [-1, 1], [0.5, 1.5], ["x", "y"]], ids=str
)
def test_labels_of_every_kind(labels):
    costs = Costs(1, 10).bind(labels)
    y = np.array(labels)[[0, 1, 1]]
    for given_y in (y, y.tolist(), pd.Series(y, index=[5, 6, 7]), pl.Series(y.tolist())):
        assert_array_equal(costs.of_errors(given_y), [1, 10, 10])
    categories = pd.Series(y).astype("category")
    assert_array_equal(costs.of_errors(categories), [1, 10, 10])
    decided = costs.decide([[0.95, 0.05], [0.5, 0.5]])
    assert decided.dtype == np.array(labels).dtype
    assert decided.tolist() == labels


# The way through scikit-learn


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given. Column 0 of X is the row's own number, which its costs repeat."""

    __metadata_request__fit = {"costs": True}  # noqa: RUF012
    __metadata_request__score = {"costs": True}  # noqa: RUF012
    log = []  # noqa: RUF012

    def __init__(self, costs=None, other=0):
        self.costs = costs
        self.other = other

    def fit(self, X, y, costs=None):
        self.classes_ = np.unique(y)
        self.log.append(("fit", np.array(X), np.array(y), costs))
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y, sample_weight=None, costs=None):  # Pipeline.score needs the former
        self.log.append(("score", np.array(X), np.array(y), costs))
        return 0.0


N = 30
NUMBERS = np.arange(1.0, N + 1)
X = np.column_stack([NUMBERS, np.random.default_rng(0).normal(size=N)])
Y = np.tile([0, 1, 1], N // 3)
PER_ROW = {
    "binary": Costs(fp=5, fn=NUMBERS),
    "rows": Costs.of_rows(NUMBERS),
    "answers": Costs.of_rows(np.column_stack([NUMBERS, NUMBERS])),
    "matrix": Costs.from_matrix(np.tile(NUMBERS[:, None, None], (1, 2, 2))),
}


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.fixture(params=PER_ROW)
def per_row(request):
    return PER_ROW[request.param]


def calls(method):
    return [entry[1:] for entry in Recorder.log if entry[0] == method]


def assert_own_rows(records, costs):
    """Each call must have got the costs of exactly its own rows, in their order."""
    assert records
    for seen_X, _, seen in records:
        numbers = np.rint(seen_X[:, 0]).astype(int)
        assert seen == costs[numbers - 1]
        assert len(seen) == len(seen_X)


@pytest.mark.parametrize("stratify", [None, Y])
def test_train_test_split(per_row, stratify):
    parts = train_test_split(X, Y, per_row, random_state=0, stratify=stratify)
    assert_own_rows([(parts[0], None, parts[4]), (parts[1], None, parts[5])], per_row)


def test_resample_and_shuffle(per_row):
    for cut in (resample, shuffle):
        rows, costs = cut(X, per_row, random_state=0)
        assert_own_rows([(rows, None, costs)], per_row)
    assert _safe_indexing(per_row, [1, 2]) == per_row[[1, 2]]
    assert _safe_indexing(per_row, np.arange(N) < 3) == per_row[:3]
    assert _safe_indexing(per_row, slice(0, 3)) == per_row[:3]


def test_constants_are_refused_where_rows_are_meant():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(X, Y, Costs(1, 10))


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3, shuffle=True, random_state=0)])
def test_cross_validate_gives_each_fold_its_rows(routing, per_row, cv):
    cross_validate(Recorder(), X, Y, params={"costs": per_row}, cv=cv)
    assert len(calls("fit")) == 3
    assert_own_rows(calls("fit"), per_row)
    if routing:
        assert_own_rows(calls("score"), per_row)


def test_cross_validate_passes_constants_whole(routing):
    costs = Costs(1, 10)
    cross_validate(Recorder(), X, Y, params={"costs": costs}, cv=3)
    assert all(seen is costs for _, _, seen in calls("fit"))
    assert len(calls("fit")) == 3


def test_cross_val_predict(routing, per_row):
    cross_val_predict(Recorder(), X, Y, params={"costs": per_row}, cv=3)
    assert_own_rows(calls("fit"), per_row)


def test_grid_search(routing, per_row):
    search = GridSearchCV(Recorder(), {"other": [1, 2]}, cv=3)
    search.fit(X, Y, costs=per_row)
    assert len(calls("fit")) == 7
    assert_own_rows(calls("fit"), per_row)
    assert calls("fit")[-1][2] == per_row


def test_grid_search_over_costs_as_a_hyper_parameter(routing):
    grid = [Costs(1, 10), Costs(1, 20), None]
    search = GridSearchCV(Recorder(), {"costs": grid}, cv=2).fit(X, Y)
    assert list(search.cv_results_["param_costs"]) == grid
    assert search.best_params_["costs"] in grid
    assert repr(search.best_estimator_).startswith("Recorder(costs=Costs(fp=1, fn=")
    assert clone(Recorder(costs=grid[0])).costs == grid[0]


def test_pipeline(routing, per_row):
    # A scaler that leaves column 0 alone, so that the rows can be told apart behind it.
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Recorder())
    if routing:
        cross_validate(pipeline, X, Y, params={"costs": per_row}, cv=3)
        # scikit-learn 1.6 does not forward metadata to the score of a pipeline it validates.
        if parse_version(sklearn.__version__) >= parse_version("1.9"):
            assert_own_rows(calls("score"), per_row)
    else:
        cross_validate(pipeline, X, Y, params={"recorder__costs": per_row}, cv=3)
    assert_own_rows(calls("fit"), per_row)


def test_pipeline_score(per_row):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Recorder())
        pipeline.fit(X, Y, costs=per_row).score(X[5:9], Y[5:9], costs=per_row[5:9])
    assert_own_rows(calls("fit") + calls("score"), per_row)


def test_scaled_pipeline_inside_a_grid_search(routing, per_row):
    pipeline = make_pipeline(StandardScaler(), Recorder())
    name = "costs" if routing else "recorder__costs"
    search = GridSearchCV(pipeline, {"recorder__other": [1, 2]}, cv=StratifiedKFold(3))
    search.fit(X, Y, **{name: per_row})
    folds = [train for train, _ in StratifiedKFold(3).split(X, Y)]
    for (seen_X, _, seen), rows in zip(calls("fit"), folds * 2, strict=False):
        assert seen == per_row[rows]
        assert_allclose(seen_X, StandardScaler().fit_transform(X[rows]))


def test_calibrated_classifier(routing, per_row):
    CalibratedClassifierCV(Recorder(), cv=3).fit(X, Y, costs=per_row)
    assert len(calls("fit")) == 3
    assert_own_rows(calls("fit"), per_row)


def test_bagging_with_routing(per_row):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        bag = BaggingClassifier(Recorder(), n_estimators=2, bootstrap=True, random_state=0)
        bag.fit(X, Y, costs=per_row)
    assert_own_rows(calls("fit"), per_row)

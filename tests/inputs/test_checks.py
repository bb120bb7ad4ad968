"""Tables, labels and parameters are checked once, and warnings point at the user."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags

from costboost import CostBoostClassifier, Costs
from costboost.inputs import checks
from inputs_cases import CLASSIFIERS, N, X, Y


def tables_to_ask_about():
    """Tables for a model of numbers, and for one of named columns: right and wrong ones."""
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame(X, columns=list("abcde"))
    holes = X.copy()
    holes[::3, 1] = np.nan
    return [
        X,
        X[:1],
        X[:0],
        X[0],
        X[:, :4],
        holes,
        X.astype(np.float32),
        X.astype(int),
        X > 0,
        X.astype(str),
        X.astype(object),
        X * 1j,
        X.tolist(),
        sp.csr_matrix(X),
        np.ma.masked_array(X, X > 1),
        frame,
        frame[:1],
        frame[:0],
        frame.astype({"a": int, "b": "Float32", "c": np.float32}),
        frame.assign(a=frame["a"] > 0),
        frame.assign(b="x"),
        frame.assign(c=1j),
        frame[list("bacde")],
        frame[list("abcd")],
        frame.assign(f=1.0),
        frame.set_axis(range(5), axis=1),
        frame.set_axis(list("aabcd"), axis=1),
        pl.DataFrame(frame.to_dict("list")),
        pl.DataFrame(frame.to_dict("list")).lazy(),
        pl.DataFrame(frame.to_dict("list")).to_arrow(),
        None,
    ]


def answer(model, table):
    """Probabilities, or what is said instead; and what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            said = model.predict_proba(table).tolist()
        except (ValueError, TypeError) as error:
            said = f"{type(error)}: {error}"
    return said, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("named", [False, True])
def test_checks_left_out_would_have_found_nothing(booster, named, monkeypatch):
    pd = pytest.importorskip("pandas")
    model = booster().fit(pd.DataFrame(X, columns=list("abcde")) if named else X, Y)
    short = [answer(model, table) for table in tables_to_ask_about()]
    monkeypatch.setattr(checks, "_is_familiar", lambda estimator, table: False)
    assert short == [answer(model, table) for table in tables_to_ask_about()]
    assert isinstance(short[0][0], list)


def test_warnings_point_at_the_users_line():
    priced = Costs(fp=np.linspace(1, 2, N), fn=1.0)

    def said(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught
        return {(str(w.message).split(":")[0][:30], w.filename) for w in caught}

    for name in ("auto", "gradient", "calibrated pnorm", "minimum cost"):
        model = CLASSIFIERS[name]().fit(X, Y, costs=priced)
        for method in (model.predict, model.expected_cost):
            assert {file for _, file in said(lambda method=method: method(X))} == {__file__}
    for name in ("gradient", "adamec", "minimum cost"):  # no split allowed; a class of one row
        lone = said(lambda name=name: CLASSIFIERS[name]().fit(X[:3], [0, 1, 1]))
        assert {file for _, file in lone} == {__file__}


def test_labels_become_class_numbers():
    classes, codes = checks.check_labels(X[:4], ["b", "a", "b", "c"])
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 1, 2]
    mixed = np.array([1, True, 0.0, np.int8(1)], dtype=object)
    assert checks.check_labels(X[:4], mixed)[0].tolist() == [0, 1]
    for y, message in (
        (["a"] * 4, "y holds 1 class only, 'a'"),
        ([7] * 4, "y holds 1 class only, 7;"),
        (np.array(["a", "b", None, "a"], dtype=object), "row 2 has the label None"),
        (np.array(["a", 2, "b", "a"], dtype=object), "such as 'a' and 2"),
        (np.ma.array([0, 1, 0, 1], mask=[0, 0, 0, 1]), "row 3 is masked"),
        ([0, 1, 0], "inconsistent numbers of samples"),
        ([0.5, 1.5, 2.5, 3.5], "continuous"),
    ):
        with pytest.raises(ValueError, match=message):
            checks.check_labels(X[:4], y)


def test_targets_are_finite_and_small_enough_to_be_squared():
    assert checks.read_numeric_targets(X[:3], [1, -1e150, 1e150]).tolist() == [1, -1e150, 1e150]
    for y, message in (
        ([0, 1.1e150, 2], r"row 1: y is 1\.1e\+150; targets beyond 1e\+150"),
        ([0, -(10**400), 2], "row 1: y is -1000.*; targets beyond"),
        ([0, np.nan, 1], "NaN"),
        ([0, 1], "inconsistent"),
    ):
        with pytest.raises(ValueError, match=message):
            checks.read_numeric_targets(X[:3], y)


def test_weights_must_leave_two_classes():
    codes = np.array([0, 0, 1])
    checks.check_weighted_classes(codes, None)
    checks.check_weighted_classes(codes, np.array([0.0, 1e-300, 1.0]))
    with pytest.raises(ValueError, match="fewer than two classes"):
        checks.check_weighted_classes(codes, np.array([1.0, 1.0, 0.0]))


def test_tables_without_rows_or_columns_are_refused():
    pd = pytest.importorskip("pandas")
    model = BaseEstimator()
    frame = pd.DataFrame(X[:3], columns=list("abcde"))
    for table, message in (
        (frame[:0], r"0 sample\(s\) \(shape=\(0, 5\)\)"),
        (frame[[]], r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (X[:0], "0 sample"),
        (np.ones((3, 0)), "0 feature"),
        (SimpleNamespace(open_for=None), "X is a SimpleNamespace: fit, predict"),
    ):
        with pytest.raises(ValueError, match=message):
            checks.check_table(model, table, Y[:3], reset=True)
    for nothing, message in ((None, "X is None while"), (X[:0], "0 sample"), ([], "0 sample")):
        with pytest.raises(ValueError, match=message):
            checks.check_not_empty(nothing)
    checks.check_not_empty(X[:1])


def test_rows_that_are_elsewhere_only_name_their_columns():
    model, table = BaseEstimator(), SimpleNamespace(is_spread=True, columns=["a", "b"])
    assert checks.check_table(model, table, reset=True) is table
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["a", "b"]
    assert not checks.is_spread(X)


@pytest.mark.parametrize("n_jobs", [0, 1.0, True, "2", np.inf])
def test_numbers_of_jobs_that_are_refused(n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.* must be None or a whole number other than 0"):
        checks.count_threads(n_jobs)


def test_numbers_of_jobs():
    assert checks.count_threads(None) == 1
    assert checks.count_threads(np.int64(3)) == 3
    assert checks.count_threads(-1) >= 1


def test_a_warm_start_keeps_its_seed():
    first = SimpleNamespace(warm_start=False, random_state=5, _progress=SimpleNamespace(seed=77))
    assert checks.fit_seed(first) == checks.fit_seed(first) != 77
    first.warm_start = True
    assert checks.fit_seed(first) == 77
    del first._progress
    assert checks.fit_seed(first) != 77
    for wrong in (-1, 2**32, "seed", 1.5):
        with pytest.raises(ValueError, match=r"random_state=.* must be None, a whole number"):
            checks.read_random_state(wrong)


def test_learners_are_instances_that_can_be_trained():
    checks.check_learner("estimator", None)
    checks.check_learner("estimator", LogisticRegression())
    for learner, message in (
        (LogisticRegression, r"is a class: give an instance, estimator=LogisticRegression\(\)"),
        ("tree", "it has no get_params and no fit"),
        (BaseEstimator(), "it has no fit"),
    ):
        with pytest.raises(ValueError, match=message):
            checks.check_learner("estimator", learner)


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (0, {"low": 0, "open_low": True}, "p=0 must be a number above 0"),
        (2, {"low": 0, "high": 1}, "p=2 must be a number at least 0 and at most 1"),
        (1.0, {"low": 0, "whole": True}, r"p=1\.0 must be a whole number at least 0"),
        (np.nan, {"low": 0}, "p=nan must be a number"),
        (np.inf, {"low": 0}, "p=inf must be a finite number"),
        (np.float32(np.inf), {"low": 0}, "must be a finite number"),
        (10**400, {"low": 0, "whole": True}, "p=1000.* must be a whole number"),
        (True, {"low": 0}, "p=True must be a number"),
        (np.bool_(True), {"low": 0}, "must be a number"),
        ("1", {"low": 0}, "p='1' must be a number"),
        (np.ones(1), {"low": 0}, "must be a number"),
    ],
)
def test_numbers_that_are_refused(value, options, message):
    with pytest.raises(ValueError, match=message):
        checks.check_number("p", value, **options)


def test_numbers_that_are_taken():
    checks.check_number("p", 0, low=0)
    checks.check_number("p", 1e-300, low=0, open_low=True)
    for kind in (np.float16, np.float32, np.float64, np.longdouble):
        checks.check_number("p", kind(1), low=0, high=1)
    checks.check_number("p", np.int8(3), low=3, whole=True)


def test_choices_that_are_refused():
    checks.check_choice("how", None, ("a", None))
    for wrong in ("c", ["a"], np.array(["a", "a"]), 0):
        with pytest.raises(ValueError, match=r"how=.* is not known; allowed: 'a', None\."):
            checks.check_choice("how", wrong, ("a", None))


@pytest.mark.parametrize(
    ("asked", "n_features", "count"),
    [
        (None, 9, None),
        ("sqrt", 10, 3),
        ("sqrt", 1, 1),
        ("log2", 1, 1),
        ("log2", 9, 3),
        (0.5, 9, 4),
        (1e-9, 9, 1),
        (1.0, 9, 9),
        (1, 9, 1),
        (20, 9, 9),
    ],
)
def test_how_many_columns_a_node_looks_at(asked, n_features, count):
    assert checks.count_features(asked, n_features) == count


@pytest.mark.parametrize("asked", [0, 0.0, 1.5, "all", -1, True])
def test_numbers_of_columns_that_are_refused(asked):
    with pytest.raises(ValueError, match="max_features="):
        checks.count_features(asked, 9)


class Untagged:
    """A learner that scikit-learn can clone, and that says nothing of tables."""

    def get_params(self, deep=True):
        return {}

    def set_params(self, **params):
        return self

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


def test_a_learner_without_tags_takes_plain_tables():
    checks.check_learner("estimator", Untagged())
    tags = get_tags(LogisticRegression())
    checks.set_input_tags(tags, [])
    assert tags.input_tags.allow_nan
    checks.set_input_tags(tags, [None, Untagged()])
    assert not tags.input_tags.allow_nan
    assert not tags.input_tags.sparse
    assert CostBoostClassifier("adaboost", 2, Untagged()).fit(X, X[:, 0] > 0.5).n_iter_ > 0

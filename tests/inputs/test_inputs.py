"""What every public estimator does with odd and wrong inputs: it takes them, or says why not."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.binning import binner
from costboost.binning.table_reading import read_table
from inputs_cases import BOOSTERS, BUILT_IN, CLASSIFIERS, N, X, Y


def with_one(values, row, value):
    changed = np.array(values, dtype=object)
    changed[row] = value
    return changed


# ---------------------------------------------------------------- labels

NAMES = np.array(["no", "yes"])[Y]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (with_one(NAMES, 3, None), "row 3 has the label None"),
        (with_one(NAMES, 3, np.nan), "row 3 has the label nan"),
        (with_one(NAMES, 3, 5), "different kinds, such as .* and 5"),
        (with_one(Y, 0, None), "row 0 has the label None"),
        (np.where(np.arange(N) == 3, np.nan, Y), "NaN"),
        (np.column_stack([Y, Y]), "1d array"),
        (Y[:-1], "inconsistent"),
        (X[:, 0], "continuous"),
    ],
    ids=["none", "nan", "mixed", "none-number", "nan-float", "wide", "short", "continuous"],
)
def test_labels_that_are_refused(make, y, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, y)


def test_labels_that_are_missing_in_pandas(make):
    pd = pytest.importorskip("pandas")
    for y in (
        pd.Series(pd.Categorical(with_one(NAMES, 3, None))),
        pd.Series(with_one(NAMES, 3, pd.NA), dtype="string"),
        pd.Series(with_one(Y, 3, pd.NA), dtype="Int64"),
    ):
        with pytest.raises(ValueError, match="NaN"):
            make().fit(X, y)


def test_labels_of_every_kind_make_one_model(make):
    pd = pytest.importorskip("pandas")
    expected = make().fit(X, Y).predict(X)
    for y in (
        Y.astype(object),  # Python's own numbers
        Y.astype(bool),
        Y.astype(float),
        NAMES,
        NAMES.astype(object),
        pd.Series(NAMES, dtype="category"),
        pd.Series(Y, dtype="Int64"),
        Y.tolist(),
    ):
        model = make().fit(X, y)
        assert_array_equal(np.searchsorted(model.classes_, model.predict(X)), expected)


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.where(np.arange(N) == 3, -1.0, 1.0), "row 3: sample_weight is -1"),
        (np.where(np.arange(N) == 3, np.nan, 1.0), "row 3: sample_weight is nan"),
        (np.where(np.arange(N) == 3, 1e301, 1.0), "row 3: sample_weight is 1e\\+301"),
        (np.zeros(N), "zero for every row"),
        (np.ones(N - 1), r"shape \(59,\)"),
        (np.ones((N, 1)), r"shape \(60, 1\)"),
        (2.0, r"shape \(\)"),
        (np.array(["a"] * N), "they are strings"),
        (np.ones(N) * 1j, "complex"),
        ([None] * N, "row 0: sample_weight is nan"),
    ],
    ids=["negative", "nan", "huge", "zero", "short", "wide", "scalar", "text", "complex", "none"],
)
def test_weights_that_are_refused(make, weights, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, sample_weight=weights)
    model = make().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.score(X, Y, weights)


# To the recipe a weight of 1e300 is as many copies, which its large leaves cannot part.
@pytest.mark.filterwarnings("ignore:Training found no round:UserWarning")
@pytest.mark.parametrize("weight", [1e-300, 1e300])
@pytest.mark.parametrize("cost", [1e-300, 1e300])
@pytest.mark.parametrize("per_row", [False, True])
def test_weights_and_costs_at_the_edge_of_numbers(make, weight, cost, per_row):
    costs = Costs(fp=np.full(N, cost) if per_row else cost, fn=cost / 2)
    if weight == cost == 1e300:
        with pytest.raises(ValueError, match="add up to more than 1e308"):
            make().fit(X, Y, np.full(N, weight), costs)
        return
    model = make().fit(X, Y, np.full(N, weight), costs)
    assert np.isfinite(model.score(X, Y, np.full(N, weight), costs))


def test_weighted_scores_do_not_overflow(make):
    model = make().fit(X, Y)
    weights = np.random.default_rng(0).uniform(0.5, 1, N)
    costs = Costs(fp=1e300, fn=2e299)
    assert_allclose(
        model.score(X, Y, 1e300 * weights, costs) / 1e300,
        model.score(X, Y, weights, Costs(fp=1.0, fn=0.2)),
    )


# ---------------------------------------------------------------- costs


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"fp": np.nan, "fn": 1}, "fp is nan"),
        ({"fp": np.inf, "fn": 1}, "fp is inf"),
        ({"fp": -1, "fn": 1}, "negative"),
        ({"fp": 1e-310, "fn": 1}, "between 0 and 1e-305"),
        ({"fp": 1e301, "fn": 1}, "beyond 1e\\+300"),
        ({"fp": np.ones(N + 1), "fn": 1}, "61 rows, but X has 60"),
        (np.ones((3, 3)), "3 classes"),
        (np.ones((N, 2)), r"shape \(60, 2\)"),
        ({"fp": 1, "fn": 1, "positive": "z"}, "positive='z'"),
        ("dear", "'dear' was given"),
    ],
    ids=lambda part: None,
)
def test_costs_that_are_refused(make, costs, message):
    with pytest.raises(ValueError, match=message):
        make().fit(X, Y, costs=costs)


def test_scores_take_a_column_of_labels(make):
    model = make().fit(X, Y)
    assert model.score(X, Y[:, None]) == model.score(X, Y)


# ---------------------------------------------------------------- held-out rows, folds, groups


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        ((X, Y[:-1]), "inconsistent"),
        ((X[:-1], Y), "inconsistent"),
        ((X, Y + 5), "y of eval_set has the label"),
        ((X[:, :2], Y), "2 features"),
        ((X[:0], Y[:0]), "0 sample"),
        ((X,), "1 parts"),
        (7, "got 7"),
        ((X, Y, Costs(fp=np.ones(3), fn=1)), "3 rows"),
    ],
    ids=["short y", "short X", "unknown", "columns", "empty", "one part", "number", "short costs"],
)
@pytest.mark.parametrize("patience", [None, 2])
def test_held_out_rows_that_are_refused(booster, held_out, message, patience):
    model = booster().set_params(n_iter_no_change=patience)
    if getattr(model, "method", None) == "auto":
        message = "no use for an eval_set"
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y, eval_set=held_out)


def test_held_out_targets_and_prices_of_a_regression():
    model = GradientBoostRegressor("pinball", n_estimators=3)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y, eval_set=(X, Y[:-1]))
    with pytest.raises(ValueError, match=r"prices of shape \(60,\)"):
        model.fit(X, Y, eval_set=(X, Y, np.ones(N)))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, Y, eval_set=(X, np.full(N, np.nan)))


@pytest.mark.parametrize("name", BUILT_IN[1:])
def test_one_row_of_each_class_cannot_be_held_out(name):
    model = BOOSTERS[name]().set_params(n_iter_no_change=2, calibration=None)
    with pytest.raises(ValueError, match="no class has two rows"):
        model.fit(X[:2], [0, 1])


@pytest.mark.parametrize("name", ["auto", "adamec", "calibrated pnorm", "minimum cost"])
@pytest.mark.parametrize(
    ("options", "groups", "message"),
    [
        ({}, np.arange(N - 1), r"groups has shape \(59,\)"),
        ({}, [None] * N, "row 0: groups is None"),
        ({}, np.where(np.arange(N) == 3, np.nan, 1.0), "row 3: groups is nan"),
        ({}, with_one(np.arange(N), 3, "a"), "different kinds"),
        ({"cv": [(np.arange(30), np.arange(30, N + 5))]}, None, "row numbers from 0 to 59"),
        ({"cv": [([], [])]}, None, "No fold trains"),
        ({"cv": [3]}, None, "row numbers"),
        ({"cv": 1}, None, "at least 2"),
        ({"cv": 2.5}, None, "strictly in"),
    ],
    ids=["short", "none", "nan", "mixed", "beyond", "empty", "no pair", "one", "share"],
)
def test_folds_that_are_refused(name, options, groups, message):
    with pytest.raises(ValueError, match=message):
        CLASSIFIERS[name]().set_params(**options).fit(X, Y, groups=groups)


# ---------------------------------------------------------------- tables


def test_tables_that_are_refused(own):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame(X, columns=list("abcde"))
    for table, message in (
        (pl.DataFrame({"a": X[:, 0]}).lazy(), r"give X.collect\(\)"),
        (np.array([[10**400, 1]] * N, dtype=object), "beyond 1.8e308"),
        (frame.assign(a=pd.date_range("2020", periods=N)), "'a' holds Datetime"),
        (frame.assign(a=pd.period_range("2020", periods=N)), "'a' holds an object of type Period"),
        (X * 1j, "[Cc]omplex"),
        (frame * 1j, "complex"),
        (frame.set_axis(list("aabcd"), axis=1), "unique|duplicate|twice"),
        (None, "2D array"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            own().fit(table, Y)


def test_tables_of_every_kind_make_one_model(own, tmp_path):
    expected = own().fit(X, Y).predict_proba(X)
    X.tofile(tmp_path / "table")
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = sp.csc_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for table in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X[::-1][::-1],
        frozen,
        np.memmap(tmp_path / "table", dtype=float, mode="r", shape=X.shape),
        X.astype(">f8"),
        sp.csr_array(X),
        wide,
    ):
        assert_array_equal(own().fit(table, Y).predict_proba(table), expected)


def test_columns_must_be_those_of_fit(make):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = make().fit(frame, Y)
    with pytest.raises(ValueError, match="same order"):
        model.predict(frame[list("edcba")])
    with pytest.raises(ValueError, match="now missing"):
        model.predict(frame[list("abcd")])


# ---------------------------------------------------------------- predictions

READERS = {
    "auto": (lambda: CostBoostClassifier(n_estimators=10, cv=3, random_state=0), 3),
    "adamec": (lambda: CostBoostClassifier("adamec", 4, cv=3, random_state=0), 3),
    "adacost": (lambda: CostBoostClassifier("adacost", 4, random_state=0), 1),
    "gradient": (
        lambda: GradientBoostClassifier(
            n_estimators=4, min_samples_leaf=5, calibration="sigmoid", cv=3
        ),
        3,
    ),
    "pnorm": (
        lambda: PNormBoostClassifier(n_estimators=4, calibration="sigmoid", cv=3, random_state=0),
        3,
    ),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict(X),
        lambda model: model.predict_proba(X),
        lambda model: model.decision_function(X),
        lambda model: list(model.staged_predict_proba(X)),
    ],
    ids=["predict", "proba", "decision", "staged"],
)
def test_a_table_is_read_and_binned_once(name, ask, monkeypatch):
    make, n_models = READERS[name]
    model = make().fit(X, Y)
    assert len(model._model.members) == n_models
    read = []

    def count(table):
        read.append(table)
        return read_table(table)

    monkeypatch.setattr(binner, "read_table", count)
    ask(model)
    assert len(read) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: CostBoostClassifier("adacost", 4),
        lambda: CostBoostClassifier("adaboost", 4),
        lambda: GradientBoostClassifier("cost-exponential", 4, min_samples_leaf=5),
        lambda: PNormBoostClassifier(n_estimators=4),
    ],
)
def test_costs_are_refused_before_rows_are_looked_at(make):
    model = make().fit(X, Y)
    nothing = object()  # looked at, it would raise something else
    for ask in (
        lambda: model.predict(nothing, costs={"fp": 1, "fn": 5}),
        lambda: model.expected_cost(nothing, costs={"fp": 1, "fn": 5}),
        lambda: next(model.staged_predict(nothing, costs={"fp": 1, "fn": 5})),
    ):
        with pytest.raises(ValueError, match="calibration="):
            ask()


def test_empty_tables_are_refused(make):
    with pytest.raises(ValueError, match="0 sample"):
        make().fit(X[:0], Y[:0])
    with pytest.raises((ValueError, TypeError), match="None"):
        make().fit(None, Y)


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "options",
    [
        {"n_jobs": 0},
        {"n_jobs": "all"},
        {"n_jobs": 1.5},
        {"n_jobs": float("inf")},
        {"calibration": ["sigmoid"]},
        {"calibration": np.array(["sigmoid"])},
        {"method": ["adaboost"]},
        {"learning_rate": float("inf")},
        {"tol": float("inf")},
        {"verbose": 0.5},
        {"verbose": float("inf")},
        {"ensemble": "yes"},
        {"laplace": "no"},
        {"warm_start": None},
        {"n_estimators": 2.0},
    ],
    ids=str,
)
def test_parameters_that_are_refused(make, options):
    model = make()
    if not set(options) <= set(model.get_params(deep=False)):
        pytest.skip("has no such parameter")
    with pytest.raises(ValueError, match=f"{next(iter(options))}="):
        model.set_params(**options).fit(X, Y)


def test_verbose_may_be_true(booster, capsys):
    booster().set_params(verbose=True).fit(X, Y)
    assert "round" in capsys.readouterr().out

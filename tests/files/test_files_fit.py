"""A model of a table in files is that of the same rows in memory, bit for bit."""

from __future__ import annotations

import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    ParquetTable,
    PNormBoostClassifier,
)
from costboost.costs import expression
from parquet_rows import FEATURES, N, make_rows, write
from zoo import many_levels

BY_CLASS, BY_ROW = Costs(fp=1, fn=4), Costs(fp=1, fn="amount")


def boost(method="auto", **options):
    fixed = {"n_estimators": 6, "max_depth": 3, "random_state": 0}
    return CostBoostClassifier(method, **fixed | options)


def quiet(model, *given, **extra):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of doubtful costs and copies
        return clone(model).fit(*given, **extra)


def forests(model):
    return model._model.forests if hasattr(model, "_model") else []


def bits(values):
    return values.tolist() if values.dtype == object else (values.dtype, values.tobytes())


def check_same(model, frame, table):
    """Compare what models say with the same rows in memory, and the arrays they are made of."""
    given = {} if table.costs is None else {"costs": table.costs}
    weights = None if table.weight is None else frame[table.weight]
    X = frame[list(table.features)]
    here = quiet(model, X, frame[table.label], sample_weight=weights, **given)
    there = quiet(model, table)
    for ask in ("predict", "predict_proba", "decision_function"):
        if hasattr(here, ask):
            assert bits(getattr(here, ask)(X)) == bits(getattr(there, ask)(X))
    assert_array_equal(here.feature_names_in_, there.feature_names_in_)
    for one, other in zip(forests(here), forests(there), strict=True):
        assert pickle.dumps(one) == pickle.dumps(other)
    if hasattr(here, "classes_"):
        assert_array_equal(here.classes_, there.classes_)
        assert here.classes_.dtype == there.classes_.dtype
        assert repr(here.costs_) == repr(there.costs_)
    return there


MODELS = {
    "auto": (boost(), BY_CLASS),
    "auto by row": (boost(), BY_ROW),
    "adamec": (boost("adamec"), BY_ROW),
    "numbers as categories": (
        boost("adaboost", categorical_features=["grade", "kind", "word"]),
        None,
    ),
    "adac2": (boost("adac2", calibration=None, subsample=0.7), BY_ROW),
    "cgada": (boost("cgada", calibration=None), BY_CLASS),
    "early stopping": (boost("adaboost", calibration=None, n_iter_no_change=2), BY_CLASS),
    "expression": (boost("csb2"), Costs(fp=1, fn=expression("0.5 * amount + 1"))),
    "function": (boost("adacost"), Costs(fp=1, fn=lambda X: X["amount"] * 2)),
    "log": (GradientBoostClassifier(n_estimators=6, random_state=0), BY_ROW),
    "expected cost": (
        GradientBoostClassifier("expected-cost", n_estimators=6, random_state=0),
        BY_ROW,
    ),
    "lp-csb": (PNormBoostClassifier(n_estimators=4, random_state=0), BY_CLASS),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("weight", [None, "weight"])
def test_models_are_those_of_memory(tmp_path, name, weight):
    model, costs = MODELS[name]
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", costs, weight=weight, features=FEATURES, part_rows=1)
    check_same(model, frame, table)


GROUPS = {
    "one": N,
    "two": 120,
    "seven": 35,
    "one row each": [1, 1, N - 3, 1],
    "an empty one": [100, 0, N - 100],
}


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize("order", [None, "label", "a"])
@pytest.mark.parametrize("part_rows", [1, 100])
def test_row_groups_do_not_matter(tmp_path, groups, order, part_rows):
    frame = make_rows(order=order)
    path = write(frame, tmp_path / "rows.parquet", GROUPS[groups])
    table = ParquetTable(path, "label", BY_ROW, features=FEATURES, part_rows=part_rows)
    check_same(boost("adac2", calibration=None, subsample=0.8, n_jobs=2), frame, table)


def test_many_row_groups_of_one_row(tmp_path):
    frame = make_rows(40)
    path = write(frame, tmp_path / "rows.parquet", [1] * 40)
    table = ParquetTable(path, "label", BY_ROW, features=FEATURES, part_rows=1)
    check_same(boost("adaboost", calibration=None), frame, table)


def test_several_files_in_the_order_of_their_names(tmp_path):
    frame = make_rows()
    for name, (start, stop) in {"b": (70, 150), "a": (0, 70), "c": (150, N)}.items():
        write(frame.iloc[start:stop], tmp_path / f"{name}.parquet", 30)
    for path in (tmp_path, tmp_path / "*.parquet", [tmp_path / f"{n}.parquet" for n in "abc"]):
        table = ParquetTable(path, "label", BY_CLASS, features=FEATURES, part_rows=60)
        assert [Path(file).stem for file in table.files] == ["a", "b", "c"]
        check_same(boost("adamec"), frame, table)


def test_types_may_differ_between_files(tmp_path):
    frame = make_rows()
    first = frame.iloc[:100].assign(count=frame["count"].iloc[:100].astype(np.int8), b=None)
    frame.loc[:99, "b"] = np.nan
    second = frame.iloc[100:].assign(
        count=frame["count"].iloc[100:].astype(float), kind=frame["kind"].iloc[100:].astype(str)
    )
    write(first, tmp_path / "1.parquet")
    write(second[frame.columns[::-1]], tmp_path / "2.parquet")  # other types, in another order
    table = ParquetTable(tmp_path, "label", BY_CLASS, features=FEATURES, part_rows=1)
    check_same(boost("adamec"), frame, table)
    table = ParquetTable(tmp_path, "label", BY_CLASS, features=FEATURES)  # a part of both files
    check_same(boost("adamec"), frame, table)


@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], ["b", "a"], [2.0, 7.0]], ids=str
)
def test_labels_of_any_kind(tmp_path, labels):
    frame = make_rows()
    frame["label"] = np.array(labels)[frame["label"]]
    path = write(frame, tmp_path / "rows.parquet")
    costs = Costs(fp=1, fn=3, positive=labels[1])
    table = ParquetTable(path, "label", costs, features=FEATURES, part_rows=1)
    check_same(boost("adamec"), frame, table)


def test_many_classes(tmp_path):
    frame = make_rows()
    frame["label"] = np.array(["low", "mid", "high"])[np.arange(N) % 3]
    path = write(frame, tmp_path / "rows.parquet")
    costs = Costs.from_matrix([[0, 1, 2], [3, 0, 1], [9, 2, 0]], classes=["high", "low", "mid"])
    table = ParquetTable(path, "label", costs, features=FEATURES, part_rows=1)
    check_same(boost(), frame, table)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_regression(tmp_path, weight):
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet")
    features = [name for name in FEATURES if name != "amount"]
    table = ParquetTable(path, "amount", weight=weight, features=features, part_rows=1)
    model = GradientBoostRegressor(n_estimators=6, random_state=0)
    there = check_same(model, frame, table)
    batches = np.concatenate(list(there.predict(table, batch_rows=77)))
    assert_array_equal(batches, there.predict(frame[features]))


def test_a_table_may_be_pickled(tmp_path):
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", BY_ROW, features=FEATURES)
    again = pickle.loads(pickle.dumps(table))
    assert repr(again) == repr(table)
    check_same(boost("adamec"), frame, again)


def test_groups_and_costs_may_be_given_to_fit(tmp_path):
    frame = make_rows()
    table = ParquetTable(write(frame, tmp_path / "rows.parquet"), "label", features=FEATURES)
    groups = np.arange(N) // 3
    X = frame[FEATURES]
    here = quiet(boost("adamec"), X, frame["label"], costs=BY_ROW, groups=groups)
    there = quiet(boost("adamec"), table, costs=BY_ROW, groups=groups)
    assert_array_equal(here.predict_proba(X), there.predict_proba(X))
    assert_array_equal(here.predict(X), there.predict(X))


# What is refused, and what is left behind


def left_behind():
    return [path for path in Path(tempfile.gettempdir()).glob("costboost-*") if path.is_dir()]


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = make_rows()
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", BY_CLASS, features=FEATURES)
    quiet(boost("adaboost", calibration=None), table)
    assert left_behind() == []
    seen = []

    def interrupt(*_, **__):
        seen.extend(left_behind())
        raise KeyboardInterrupt

    monkeypatch.setattr("costboost.fitting.train.take_rounds", interrupt)
    with pytest.raises(KeyboardInterrupt):
        quiet(boost("adaboost", calibration=None), table)
    assert len(seen) == 1  # there it was
    assert left_behind() == []


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"y": [0, 1]}, "y was given beside a ParquetTable"),
        ({"sample_weight": [1.0]}, "sample_weight was given beside"),
        ({"costs": Costs(fp=1, fn="nowhere")}, "'nowhere', which is no column"),
        ({"costs": Costs(fp=1, fn=[1.0, 2.0])}, "2 rows in memory"),
    ],
)
def test_what_the_table_says_is_not_said_twice(tmp_path, given, match):
    table = ParquetTable(write(make_rows(), tmp_path / "rows.parquet"), "label", features=FEATURES)
    with pytest.raises(ValueError, match=match):
        boost("adaboost").fit(table, **given)


def test_a_fit_needs_labels(tmp_path):
    table = ParquetTable(write(make_rows(), tmp_path / "rows.parquet"))
    with pytest.raises(ValueError, match="name the column of labels"):
        boost("adaboost").fit(table)


def test_missing_labels_and_one_class_are_refused(tmp_path):
    frame = make_rows()
    frame["label"] = np.array(["no", "yes"], dtype=object)[frame["label"]]
    frame.loc[3, "label"] = None
    path = write(frame, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="NaN or None"):
        boost("adaboost").fit(ParquetTable(path, "label", features=FEATURES))
    path = write(frame.assign(label=1), tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="1 class only"):
        boost("adaboost").fit(ParquetTable(path, "label", features=FEATURES))


def test_a_file_that_changed_is_refused(tmp_path):
    path = write(make_rows(), tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", features=FEATURES)
    write(make_rows(seed=1), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="was changed after the ParquetTable was made"):
        boost("adaboost").fit(table)


def test_a_regressor_has_no_use_for_costs(tmp_path):
    table = ParquetTable(
        write(make_rows(), tmp_path / "rows.parquet"), "amount", BY_CLASS, features=["a", "b"]
    )
    with pytest.raises(ValueError, match="trains on none: set loss"):
        GradientBoostRegressor(n_estimators=2).fit(table)


def test_outside_learners_are_refused(tmp_path):
    from sklearn.tree import DecisionTreeClassifier

    table = ParquetTable(write(make_rows(), tmp_path / "rows.parquet"), "label", features=FEATURES)
    with pytest.raises(ValueError, match=r"estimator=.*needs all rows in one place"):
        boost("adaboost", estimator=DecisionTreeClassifier()).fit(table)


def test_an_error_in_a_part_says_where_it_is(tmp_path):
    frame = make_rows()
    frame.loc[130, "amount"] = -1.0
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", BY_ROW, features=FEATURES, part_rows=1)
    with pytest.raises(ValueError, match="row 30: the column 'amount' is -1") as caught:
        boost("adac2").fit(table)
    (note,) = caught.value.__notes__
    assert f"{path}, row groups (2,)" in note


def test_other_methods_say_that_they_take_no_files(tmp_path):
    frame = make_rows()
    table = ParquetTable(write(frame, tmp_path / "rows.parquet"), "label", features=FEATURES)
    model = boost("adaboost").fit(frame[FEATURES], frame["label"])
    with pytest.raises(ValueError, match="X is a ParquetTable: fit, predict"):
        model.score(table, frame["label"])


def test_categories_left_out_are_told_of_as_of_rows_in_memory(tmp_path):
    frame = make_rows()
    frame["a"] = [f"shop {k % 90:02d}" for k in range(N)]
    table = ParquetTable(write(frame, tmp_path / "rows.parquet"), label="label", features=["a"])
    told = []
    for given in ((frame[["a"]], frame["label"]), (table,)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            boost("adaboost", max_bins=40).fit(*given)
        told.append([str(warning.message) for warning in heard])
    assert told[0] == told[1]
    assert "Column 'a' has 90 categories, more than max_bins=40 can tell apart" in told[0][0]


def test_columns_of_many_categories(tmp_path):
    frame, y = many_levels(3)
    frame["label"] = y
    path, cache = write(frame, tmp_path / "rows.parquet", [100, 1, 299, 400]), tmp_path / "cache"
    cache.mkdir()
    model = boost("adamec", target_encoding=True, categorical_features=["code", "shop"])
    for labels in (y, y, (y + 1) % 3):  # the same once more from the cache; then other labels
        frame["label"] = labels
        write(frame, path, [100, 1, 299, 400])
        check_same(model, frame, ParquetTable(path, "label", cache=cache))
    check_same(boost(n_estimators=20, random_state=1), frame, ParquetTable(path, "label"))

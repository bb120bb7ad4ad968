"""Columns of many categories in whole fits: what they bring, what identifiers do, the same bits."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    PNormBoostClassifier,
    load,
    save,
)
from costboost.calibration import calibration_splits
from zoo import many_levels

FEW = {"n_estimators": 8, "random_state": 0}
COLUMNS = {"categorical_features": ["shop", "code"]}
NAMED = [
    CostBoostClassifier("adamec", **FEW),
    CostBoostClassifier("adaboost", calibration=None, **FEW),
    GradientBoostClassifier(**FEW),
    PNormBoostClassifier(**FEW),
]


def split(n_classes=2):
    X, y = many_levels(n_classes, 1600)
    return X[:800], y[:800], X[800:], y[800:]


def loss_of(model, X, y):
    return log_loss(y, model.predict_proba(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_recipe_learns_from_levels_and_loses_little_beside_telling_them_apart(n_classes):
    rng = np.random.default_rng(n_classes)
    level = np.minimum(rng.geometric(0.01, size=4000), 1000)
    X = pd.DataFrame({"level": [f"L{i}" for i in level], "x": rng.normal(size=4000)})
    score = 1.5 * rng.normal(size=1001)[level] + X["x"] + rng.logistic(size=4000)
    y = np.digitize(score, np.arange(n_classes - 1.0))
    X, new, y, true = X[:2000], X[2000:], y[:2000], y[2000:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some levels share the code of missing values
        models = {
            given: CostBoostClassifier(random_state=0, target_encoding=given).fit(X, y)
            for given in ("auto", False)
        }
    bare = CostBoostClassifier(random_state=0).fit(X[["x"]], y)
    losses = {given: loss_of(model, new, true) for given, model in models.items()}
    # Some hundred levels of strong effects can also be told apart: little is lost, or gained.
    assert losses["auto"] < 1.04 * losses[False]
    assert losses["auto"] < 0.985 * loss_of(bare, new[["x"]], true)
    again = CostBoostClassifier(random_state=0, target_encoding=True).fit(X, y)
    assert np.array_equal(again.predict_proba(new), models["auto"].predict_proba(new))


@pytest.mark.parametrize(
    "model", NAMED, ids=lambda m: f"{type(m).__name__} {m.get_params().get('method')}"
)
def test_named_methods_do_so_if_asked(model, tmp_path):
    X, y, new, true = split()
    model.set_params(**COLUMNS)
    plain = model.set_params(target_encoding="auto").fit(X, y).predict_proba(new)
    assert np.array_equal(
        plain, model.set_params(target_encoding=False).fit(X, y).predict_proba(new)
    )
    asked = model.set_params(target_encoding=True).fit(X, y)
    found = asked.predict_proba(new)
    assert not np.array_equal(found, plain)
    assert roc_auc_score(true, found[:, 1]) > 0.75
    save(asked, tmp_path / "model.cb")
    assert np.array_equal(load(tmp_path / "model.cb").predict_proba(new), found)


@pytest.mark.parametrize("per_level", [1, 2, 20])
def test_identifiers_are_as_a_column_that_is_always_the_same(per_level):
    rng = np.random.default_rng(per_level)
    X, y, new, true = split()
    ids = [f"row {i}" for i in rng.permutation(800) // per_level]
    model, plain = CostBoostClassifier(random_state=0), ["shop", "x"]
    constant = model.fit(X[plain].assign(id="one"), y).predict_proba(new[plain].assign(id="one"))
    alone = model.fit(X[plain], y).predict_proba(new[plain])
    found = model.fit(X[plain].assign(id=ids), y)
    asked = new[plain].assign(id=["row 3", "nobody"] * 400)
    np.testing.assert_array_equal(found.predict_proba(asked), constant)
    assert abs(log_loss(true, constant) / log_loss(true, alone) - 1.0) < 0.005


def test_levels_of_noise_do_not_leak():
    rng = np.random.default_rng(0)
    level = rng.integers(200, size=4000)
    X = pd.DataFrame({"level": [f"L{i}" for i in level], "known": rng.normal(size=200)[level]})
    y = rng.integers(2, size=4000)
    folds = calibration_splits(y, 5, random_state=0)
    model = CostBoostClassifier(random_state=0, cv=folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a constant costs no more
        model.fit(X, y)
    assert abs(min(model.validation_loss_) - np.log(2)) < 0.003
    new = X.sample(4000, replace=True, random_state=1)
    drawn = rng.integers(2, size=4000)
    assert abs(roc_auc_score(drawn, model.predict_proba(new)[:, 1]) - 0.5) < 0.03


@pytest.mark.parametrize("n_classes", [2, 3])
def test_threads_tables_and_the_order_of_levels_do_not_matter(n_classes):
    X, y, new, _ = split(n_classes)
    model = CostBoostClassifier("adamec", target_encoding=True, **COLUMNS, **FEW)
    found = model.fit(X, y).predict_proba(new)
    assert np.array_equal(model.set_params(n_jobs=3).fit(X, y).predict_proba(new), found)
    kept = X.assign(shop=pd.Categorical(X["shop"], X["shop"].dropna().unique()[::-1]))
    assert np.array_equal(model.fit(kept, y).predict_proba(new), found)
    frame, asked = (pl.from_pandas(part) for part in (X, new))
    assert np.array_equal(model.fit(frame, y).predict_proba(asked), found)


def test_arrays_of_numbers_and_rows_of_weight_nought():
    X, y, new, _ = split()
    numbers, asked = (part[["code", "x"]].to_numpy() for part in (X, new))
    model = GradientBoostClassifier(categorical_features=[0], target_encoding=True, **FEW)
    found = model.fit(numbers, y).predict_proba(asked)
    extra = np.vstack([numbers, [[1e9, 0.0], [-3.0, 1.0]]])
    weights = np.append(np.ones(800), [0.0, 0.0])
    again = model.fit(extra, np.append(y, [0, 1]), weights)
    assert np.array_equal(again.predict_proba(asked), found)


@pytest.mark.parametrize("rows", [[], [3]])
def test_columns_of_one_level_and_of_none(rows):
    X, y, new, _ = split()
    odd = X.assign(one="the same", none=None)
    odd["none"] = odd["none"].astype(object)
    model = CostBoostClassifier(
        random_state=0, n_estimators=30, categorical_features=["shop", "one", "none"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(odd, y)
    proba = model.predict_proba(new.assign(one="other", none="new").iloc[rows or slice(None)])
    assert np.isfinite(proba).all()


def test_explanations_are_of_the_column():
    X, y, new, _ = split()
    model = CostBoostClassifier("adamec", target_encoding=True, **COLUMNS, **FEW).fit(X, y)
    parts = model.contributions(new)
    assert parts.values.shape == (800, 3)
    np.testing.assert_allclose(
        parts.base + parts.values.sum(axis=1), model.decision_function(new), atol=1e-9
    )
    assert np.abs(parts.values[:, 0]).mean() > 0.05
    with pytest.raises(ValueError, match="coded by its target"):
        GradientBoostClassifier(target_encoding=True, **COLUMNS, **FEW).fit(X, y).to_shap()


def test_monotone_constraints_on_levels_are_refused():
    X, y, _, _ = split()
    model = GradientBoostClassifier(
        target_encoding=True, monotonic_cst={"shop": 1}, **COLUMNS, **FEW
    )
    with pytest.raises(ValueError, match="'shop', whose categories have no order"):
        model.fit(X, y)


def test_what_is_not_known_is_refused():
    X, y, _, _ = split()
    with pytest.raises(ValueError, match="target_encoding='yes' is not known"):
        CostBoostClassifier(target_encoding="yes", **COLUMNS).fit(X, y)

"""What estimators are given: masks, Arrow's dictionaries, and weights that leave one class."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

from costboost import (
    CostBoostClassifier,
    CostingClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)

FOREIGN = HistGradientBoostingClassifier(max_iter=2)
MODELS = {
    "auto": CostBoostClassifier(n_estimators=20, cv=2, random_state=0),
    "named": CostBoostClassifier("adaboost", 3, random_state=0),
    "outside": CostBoostClassifier("adaboost", 2, FOREIGN, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=3, random_state=0),
    "regressor": GradientBoostRegressor(n_estimators=3, random_state=0),
    "pnorm": PNormBoostClassifier(n_estimators=3, random_state=0),
    "minimum cost": MinimumCostClassifier(FOREIGN, cv=2, random_state=0),
    "metacost": MetaCostClassifier(FOREIGN, 2, random_state=0),
    "costing": CostingClassifier(FOREIGN, 2, random_state=0),
}
CLASSIFIERS = [name for name in MODELS if name != "regressor"]
OWN = [name for name in MODELS if name in ("auto", "named", "gradient", "regressor", "pnorm")]


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 3))
    return X, (X[:, 0] + rng.normal(size=120) > 0).astype(int)


def said(model, X):
    answers = [model.predict(X)]
    return answers + ([model.predict_proba(X)] if is_classifier(model) else [])


def assert_same_model(model, one, other, y):
    first, second = clone(model).fit(one, y), clone(model).fit(other, y)
    for a, b in zip(said(first, one), said(second, other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["f8", "f4", "i8"])
def test_what_is_under_a_mask_is_missing(name, kind):
    X, y = rows()
    X = np.round(10 * X).astype(kind)
    mask = np.random.default_rng(1).random(X.shape) < 0.3
    told = np.where(mask, 1000 * (2 * y[:, None] - 1), X).astype(kind)  # the mask hides the truth
    masked = np.ma.MaskedArray(told, mask)
    assert_same_model(MODELS[name], masked, np.where(mask, np.nan, X).astype(float), y)
    whole = np.ma.MaskedArray(X, np.zeros(X.shape, bool))
    assert_same_model(MODELS[name], whole, X, y)


def test_strings_under_a_mask_are_missing():
    X = np.array([["ash", "oak"], ["elm", "fir"], ["oak", "ash"]] * 20)
    y = np.array([0, 1, 1] * 20)
    mask = np.zeros(X.shape, bool)
    mask[:, 0] = True
    model = GradientBoostClassifier(n_estimators=3, min_samples_leaf=1)
    none = X.astype(object)
    none[mask] = None
    assert_same_model(model, np.ma.MaskedArray(X, mask), none, y)


def test_a_learner_that_knows_no_missing_values_refuses_a_mask():
    X, y = rows()
    for wrapper in (MinimumCostClassifier, MetaCostClassifier, CostingClassifier):
        with pytest.raises(ValueError, match="contains NaN"):
            wrapper(GaussianNB()).fit(np.ma.MaskedArray(X, X > 1), y)


@pytest.mark.parametrize("name", MODELS)
def test_masked_targets_are_refused(name):
    X, y = rows()
    y = np.ma.MaskedArray(y, np.arange(120) == 7)
    with pytest.raises(ValueError, match="row 7 is masked"):
        clone(MODELS[name]).fit(X, y)


def arrow_frames():
    letters, numbers = ["x", "y", None, "z"] * 30, [3, 1, None, 2] * 30
    for values, kind in ((letters, pa.string()), (numbers, pa.int64())):
        dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), kind))
        for index in (None, np.arange(120)[::-1]):
            column = pd.Series(values, dtype=dictionary, index=index)
            yield column, pd.Series(values, dtype="category", index=index)


@pytest.mark.parametrize("name", OWN)
def test_arrow_dictionaries_are_categories(name):
    X, y = rows()
    for column, category in arrow_frames():
        one = pd.DataFrame({"a": column, "b": X[:, 0]}, index=column.index)
        other = pd.DataFrame({"a": category, "b": X[:, 0]}, index=column.index)
        assert_same_model(MODELS[name], one, other, y)


def test_a_parquet_file_read_by_arrow(tmp_path):
    X, y = rows()
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "z"] * 40), "b": X[:, 0]})
    frame.to_parquet(tmp_path / "rows.parquet")
    back = pd.read_parquet(tmp_path / "rows.parquet", dtype_backend="pyarrow")
    assert_same_model(MODELS["gradient"], back, frame, y)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "costs",
    [None, Costs(fp=1, fn=5), Costs(fp=1, fn=np.arange(120.0)), Costs.of_rows(np.ones(120))],
)
def test_weights_that_leave_one_class_are_refused(name, costs):
    X, y = rows()
    with pytest.raises(ValueError, match="fewer than two classes"):
        clone(MODELS[name]).fit(X, y, sample_weight=(y == 1).astype(float), costs=costs)

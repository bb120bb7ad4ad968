"""Contributions of estimators add up to what they decide by; importances are shares."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES
from costboost.calibration import CALIBRATORS
from costboost.explain import Contributions
from explained_tables import SMALL, table
from fitted_parts import calibrations
from naive import shapley as naive


def decision_values(model, X):
    return getattr(model, "decision_function", model.predict)(X)


def adds_up(model, X, atol=1e-9):
    for background in (None, X[:25]):
        added = model.contributions(X, background=background)
        np.testing.assert_allclose(added.total, decision_values(model, X), rtol=0, atol=atol)
    return model.contributions(X)


@pytest.mark.parametrize("method", sorted(RULES))
@pytest.mark.parametrize("max_depth", [1, 3])
def test_every_method_adds_up(method, max_depth):
    X, y = table()
    model = CostBoostClassifier(method, max_depth=max_depth, **SMALL)
    adds_up(model.fit(X, y, costs=Costs(fp=1, fn=2)), X)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("calibration", [name for name in CALIBRATORS if name])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ensemble", [True, False])
def test_every_calibration_adds_up(calibration, n_classes, ensemble):
    X, y = table(n_classes=n_classes)
    options = {"calibration": calibration, "cv": 3, "ensemble": ensemble, **SMALL}
    models = [CostBoostClassifier("adamec", **options), GradientBoostClassifier(**options)]
    if calibration != "temperature":  # cannot undo costs that were trained on
        models.append(PNormBoostClassifier(**options))
    for model in models:
        added = adds_up(model.fit(X, y), X)
        assert added.values.shape == ((240, 4) if n_classes == 2 else (240, 4, 3))
        assert not np.any(np.isnan(added.values))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_recipe_adds_up(n_classes):
    X, y = table(300, n_classes=n_classes)
    model = CostBoostClassifier(n_estimators=40, random_state=0).fit(X, y)
    assert len(model._model.members) == 5
    adds_up(model, X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_uncalibrated_families_add_up(n_classes):
    X, y = table(n_classes=n_classes)
    for model in (
        CostBoostClassifier("adaboost", **SMALL),
        GradientBoostClassifier(**SMALL),
        GradientBoostClassifier("exponential" if n_classes == 2 else "log", **SMALL),
        PNormBoostClassifier(**SMALL),
        PNormBoostClassifier(method="adaboost.m2", **SMALL),
        GradientBoostRegressor(**SMALL),
        GradientBoostRegressor("pinball", **SMALL),
    ):
        adds_up(model.fit(X, y), X)


def test_a_model_of_another_model_keeps_its_answers_as_the_base():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + (X[:, 1] > 0) * X[:, 2]
    model = GradientBoostRegressor(n_estimators=5, init=LinearRegression()).fit(X, y)
    added = adds_up(model, X)
    assert np.ptp(added.base) > 0.5


def test_one_calibrated_model_is_its_margin_stretched():
    """A sigmoid is straight in the log odds: Shapley values of F, times the slope."""
    X, y = table()
    model = GradientBoostClassifier(calibration="sigmoid", cv=0.4, **SMALL).fit(X, y)
    (calibrator,) = calibrations(model)[0].calibrators
    bare = model._model.members[0]
    expected = [naive.path_dependent(bare.forest, row)[:, 0] for row in as_rows(X[:3])]
    added = model.contributions(X[:3])
    np.testing.assert_allclose(added.values, -calibrator.A * np.array(expected), rtol=1e-6)


def as_rows(X):
    return X.astype(object).where(X.notna(), None).to_numpy()


def test_models_that_are_alike_are_opened_as_one():
    """The mean of five equal models is that model: weights along the way are the slope."""
    X, y = table()
    model = CostBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    model._model = replace(model._model, members=(model._model.members[0],) * 5)
    beta = calibrations(model)[0].calibrators[0].beta
    expected = naive.path_dependent(model._model.members[0].forest, as_rows(X)[0])[:, 0] * beta
    np.testing.assert_allclose(model.contributions(X[:1]).values[0], expected, rtol=1e-6)


def test_the_way_is_close_to_all_subsets_of_the_mean_itself():
    """Shapley values of the averaged log odds themselves, against a background, as a check."""
    X, y = table(260, seed=3)
    model = CostBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    others, row = as_rows(X[:20]), as_rows(X)[100]

    def log_odds(rows):
        frame = pd.DataFrame(rows, columns=X.columns).astype(X.dtypes)
        return model.decision_function(frame)[:, None]

    expected = naive.interventional(log_odds, row, others)[:, 0]
    found = model.contributions(X[100:101], background=X[:20]).values[0]
    np.testing.assert_allclose(found, expected, atol=0.05 * np.abs(expected).sum())
    assert np.argmax(np.abs(found)) == np.argmax(np.abs(expected))


def test_frames_arrays_one_row_and_threads_agree():
    X, y = table()
    numbers = X.drop(columns="region")
    for fitted in (X, pl.from_pandas(X)):
        model = GradientBoostClassifier(n_jobs=2, **SMALL).fit(fitted, y)
        added = model.contributions(fitted)
        assert added.columns == tuple(X.columns)
        one = model.contributions(fitted[5:6])
        np.testing.assert_array_equal(one.values[0], added.values[5])
    model = GradientBoostClassifier(**SMALL).fit(numbers.to_numpy(), y)
    added = model.contributions(numbers.to_numpy())
    assert added.columns == ("x0", "x1", "x2")
    np.testing.assert_array_equal(np.asarray(added), added.values)
    assert list(added.to_frame().columns) == ["(base)", "x0", "x1", "x2"]


def test_outputs_are_chosen_by_class():
    X, y = table(n_classes=3)
    labels = np.array(["a", "b", "c"])[y]
    added = GradientBoostClassifier(**SMALL).fit(X, labels).contributions(X)
    np.testing.assert_array_equal(added.of_output("b").values, added.values[:, :, 1])
    with pytest.raises(ValueError, match="'d' is none of the classes"):
        added.of_output("d")
    with pytest.raises(ValueError, match="of_output"):
        added.to_frame()
    with pytest.raises(ValueError, match="output=label"):
        added.of_output("b").of_output("b")


def test_contributions_print_shortly():
    added = Contributions(np.zeros((2, 1)), np.zeros(2), ("x",), "margin")
    assert repr(added) == "Contributions of 1 columns to the margin of 2 rows"
    assert len(added) == 2

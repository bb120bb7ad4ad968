"""Parameters and data out of range: our own message, or an answer; never somebody else's error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.tree import DecisionTreeClassifier

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
from costboost.binning.binner import fit_binner
from costboost.calibration import BiasCorrected, Temperature
from costboost.metrics import brier_score_by_class

BOOSTED = (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
WRAPPERS = (CostingClassifier, MetaCostClassifier, MinimumCostClassifier)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, (X[:, 0] + rng.normal(size=200) > 0).astype(int)


@pytest.mark.parametrize("estimator", [[], "tree", 5, DecisionTreeClassifier, object()])
@pytest.mark.parametrize("model", BOOSTED + WRAPPERS)
def test_estimators_that_are_none_are_refused(rows, model, estimator):
    with pytest.raises(ValueError, match="estimator="):
        model(estimator=estimator).fit(*rows)


@pytest.mark.parametrize("init", [[], 5, LogisticRegression])
@pytest.mark.parametrize("model", [GradientBoostClassifier, GradientBoostRegressor])
def test_initial_models_that_are_none_are_refused(rows, model, init):
    with pytest.raises(ValueError, match="init="):
        model(init=init).fit(*rows)


@pytest.mark.parametrize("model", BOOSTED)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", 10**30),
        ("random_state", -1),
        ("random_state", 2**32),
        ("random_state", "seed"),
        ("random_state", 0.5),
        ("tol", 10**400),
        ("max_features", "all"),
        ("max_features", np.ones(2)),
        ("max_features", float("inf")),
        ("learning_rate", 10**400),
    ],
    ids=lambda part: str(part)[:20],
)
def test_parameters_out_of_range_are_named(rows, model, name, value):
    if name not in model().get_params():
        return
    with pytest.raises(ValueError, match=f"{name}="):
        model(**{name: value, "n_estimators": 2}).fit(*rows)


@pytest.mark.parametrize("model", WRAPPERS)
def test_seeds_of_wrappers_are_named(rows, model):
    with pytest.raises(ValueError, match="random_state=-1"):
        model(DecisionTreeClassifier(), random_state=-1).fit(*rows)


# --- weights, steps and targets at the ends of the range


WEIGHTS = {
    "denormal": np.full(200, 5e-324),
    "mixed denormals": np.linspace(1e-322, 1e-310, 200),
    "small": np.full(200, 1e-300),
    "far apart": np.logspace(-320, 300, 200),
}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("calibration", ["bias-corrected", "sigmoid", "beta", "isotonic"])
def test_tiny_weights_are_weights(rows, weights, calibration):
    X, y = rows
    model = CostBoostClassifier(
        "adamec", n_estimators=5, calibration=calibration, cv=3, random_state=0
    )
    proba = model.fit(X, y, sample_weight=WEIGHTS[weights]).predict_proba(X)
    assert_allclose(proba.sum(axis=1), 1)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
def test_tiny_weights_of_regressions_are_weights(rows, weights, loss):
    X, y = rows
    model = GradientBoostRegressor(loss=loss, n_estimators=5)
    assert np.isfinite(model.fit(X, y, sample_weight=WEIGHTS[weights]).predict(X)).all()


@pytest.mark.parametrize("loss", ["absolute", "huber", "pinball"])
def test_equal_weights_of_any_size_are_no_weights(rows, loss):
    X, _ = rows
    y = X[:, 0] + X[:, 1] ** 2
    fit = lambda w: GradientBoostRegressor(loss=loss, n_estimators=5).fit(X, y, w)  # noqa: E731
    expected = fit(None).predict(X)
    for size in (2.0**-1074, 2.0**-1000, 2.0**900):
        assert_array_equal(fit(np.full(200, size)).predict(X), expected)


@pytest.mark.parametrize("rate", [1e-300, 1e-320])
def test_tiny_steps_are_steps(rows, rate):
    X, y = rows
    for model in (
        CostBoostClassifier(learning_rate=rate, n_estimators=5, random_state=0),
        GradientBoostClassifier(learning_rate=rate, n_estimators=5, calibration="sigmoid"),
    ):
        assert np.isfinite(model.fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-200, 1.0, 1e200, 1e300])
@pytest.mark.parametrize("calibrator", [BiasCorrected, Temperature])
def test_calibration_knows_no_unit_of_margins(calibrator, size):
    rng = np.random.default_rng(1)
    margins = rng.normal(size=400)
    y = (rng.random(400) < 1 / (1 + np.exp(-2 * margins))).astype(int)
    expected = calibrator(margins=True).fit(margins, y).predict(margins)
    got = calibrator(margins=True).fit(margins * size, y).predict(margins * size)
    if size > 1e-310:
        assert_allclose(got, expected, rtol=1e-6)
    else:  # too small to be told apart: the share of the class
        assert_allclose(got, y.mean())


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
@pytest.mark.parametrize("size", [1e308, 1e200])
def test_targets_whose_squares_overflow_are_refused(rows, loss, size):
    X, y = rows
    with pytest.raises(ValueError, match=r"row \d+: y is .*use larger units"):
        GradientBoostRegressor(loss=loss).fit(X, (2.0 * y - 1) * size)
    with pytest.raises(ValueError, match="use larger units"):
        GradientBoostRegressor(loss=loss).fit(X, [10**400] * len(y))


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
def test_the_largest_targets_are_learnt(rows, loss):
    X, y = rows
    model = GradientBoostRegressor(loss=loss, n_estimators=5)
    small, large = model.fit(X, y).predict(X), model.fit(X, y * 1e149).predict(X)
    assert_allclose(large / 1e149, small, rtol=1e-9)
    assert np.isfinite(model.train_loss_).all()


@pytest.mark.parametrize("power", [-1060, -1000, -300, 300, 990])
def test_nothing_depends_on_the_unit_of_weights(rows, power):
    X, y = rows
    weights = np.random.default_rng(1).integers(1, 9, len(y)).astype(float)
    costs = Costs(fp=1, fn=3)
    for model in (
        GradientBoostClassifier(n_estimators=5),
        GradientBoostClassifier("cost-exponential"),
    ):
        model.set_params(n_estimators=5)
        expected = model.fit(X, y, weights, costs).decision_function(X)
        paid = model.train_cost_
        got = model.fit(X, y, np.ldexp(weights, power), costs).decision_function(X)
        assert_array_equal(got, expected)
        assert_array_equal(model.train_cost_, np.ldexp(paid, power))


def test_sums_that_would_overflow_are_taken_in_another_unit(rows):
    X, y = rows
    model = GradientBoostRegressor(n_estimators=3, l2_regularization=1.0)
    weights = np.linspace(1e299, 1e300, len(y))
    found = model.fit(X, y * 1e100, sample_weight=weights).predict(X)
    # Beside such weights the penalty is nothing.
    plain = GradientBoostRegressor(n_estimators=3).fit(X, y, sample_weight=weights / 1e300)
    np.testing.assert_allclose(found, plain.predict(X) * 1e100, rtol=1e-9)


# --- numbers that no float can hold


def test_categories_beyond_floats_are_refused():
    cells = np.array([[10**400], [1], [2], [3]] * 5, dtype=object)
    with pytest.raises(ValueError, match=r"beyond 1\.8e308"):
        fit_binner(cells, categorical_features=[0])
    binner = fit_binner(np.array([[5], [1], [2]], dtype=object), categorical_features=[0])
    with pytest.raises(ValueError, match=r"beyond 1\.8e308"):
        binner.encode(cells)


def test_costs_beyond_floats_are_refused():
    with pytest.raises(ValueError, match="must be finite"):
        Costs(fp=10**400, fn=1)


# --- folds


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("adamec", n_estimators=2),
        GradientBoostClassifier(calibration="sigmoid", n_estimators=2),
        MinimumCostClassifier(LogisticRegression()),
    ],
    ids=lambda model: type(model).__name__,
)
def test_folds_that_cannot_be_cut_are_refused(rows, model):
    X, y = rows
    model.set_params(cv=GroupKFold(3))
    with pytest.raises(ValueError, match=r"cannot cut these 200 rows of 1 group"):
        model.fit(X, y, groups=np.zeros(200))
    with pytest.raises(ValueError, match=r"cannot cut these 200 rows of no groups"):
        model.fit(X, y)
    model.set_params(cv=0.3)
    with pytest.raises(ValueError, match="All rows are of one group"):
        model.fit(X, y, groups=np.zeros(200))
    model.set_params(cv=[(np.arange(150), np.arange(149, 200))])
    with pytest.raises(ValueError, match="same rows: 1 of fold 0, row 149"):
        model.fit(X, y)
    even = np.arange(200) % 2 == 0
    model.set_params(cv=[(even, ~even), (~even, np.ones(200, dtype=bool))])
    with pytest.raises(ValueError, match="same rows: 100 of fold 1"):
        model.fit(X, y)


# --- tables that lie across words


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_packed_records_are_read(dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(dtype)
    packed = np.zeros(300, dtype=[("tag", "u1"), ("x", dtype, (4,))])
    packed["x"] = X
    assert not packed["x"].flags.aligned
    binner = fit_binner(packed["x"])
    assert binner == fit_binner(X)
    assert_array_equal(binner.encode(packed["x"]), binner.encode(X))


# --- measures


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1.0, 1e299])
def test_brier_scores_by_class_know_no_unit_of_weight(size):
    weights = np.array([1.0, 2.0, 3.0, 1.0]) * size
    parts = brier_score_by_class([0, 0, 1, 1], [0.1, 0.4, 0.6, 0.9], sample_weight=weights)
    assert_allclose(parts, [0.11, 0.1225], rtol=1e-3 if size < 1e-310 else 1e-12)

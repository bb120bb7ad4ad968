"""The additive model beside the boosted trees: its share of the blend, and one forest of both."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier, Costs
from costboost.calibration import ClassCalibration
from costboost.estimators.adaboost import blending
from costboost.estimators.adaboost.blending import best_share, fit_mixing
from costboost.estimators.adaboost.choices import NEWEST, always, recipe_words
from recipe_models import change_recipe


def auto(n_estimators=20, **options):
    return CostBoostClassifier("auto", n_estimators, cv=3, random_state=0, **options)


def smooth(n=300, seed=0):
    """Log odds that are additive and smooth."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (rng.random(n) < expit(2 * X[:, 0] + X[:, 1] ** 2 - 1)).astype(int)


def jagged(n=900, seed=0):
    """A chessboard, of which no column tells anything alone."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, (np.floor(4 * X).sum(axis=1) % 2).astype(int)


def least_loss(one, other, y, w):
    """The share of least loss; log odds of two classes have a column of zeros for the first."""

    def loss(share):
        logs = log_softmax((1 - share) * one + share * other, axis=1)
        return -w @ logs[np.arange(len(y)), y] + 0.5 * NEWEST.even * (share - 0.5) ** 2

    return minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).x


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("truth", [0.1, 0.7])
def test_the_share_has_the_least_loss(n_outputs, truth):
    rng = np.random.default_rng(0)
    one, other = 2 * rng.normal(size=(2, 500, n_outputs))
    w = rng.uniform(0.5, 2, 500)
    drawn = (1 - truth) * one + truth * other
    if n_outputs == 1:
        one, other, drawn = (np.hstack([np.zeros((500, 1)), z]) for z in (one, other, drawn))
    p = np.exp(log_softmax(drawn, axis=1))
    y = (rng.random((500, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=p.shape[1] - 1)
    given = (one[:, 1:], other[:, 1:]) if n_outputs == 1 else (one, other)
    assert_allclose(best_share(*given, y, w, NEWEST.even), least_loss(one, other, y, w), atol=1e-5)


def test_the_share_is_found_where_newton_would_cycle():
    """Where few rows are all but sure, a step from the flat of the loss leads far too far."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        one, other = 30 * rng.normal(size=(2, 5, 3))
        y = rng.integers(0, 3, 5)
        expected = least_loss(one, other, y, np.ones(5))
        assert_allclose(best_share(one, other, y, None, NEWEST.even), expected, atol=1e-5)


def test_two_models_alike_share_evenly():
    log_odds, y = np.zeros((9, 1)), np.arange(9) % 2
    assert best_share(log_odds, log_odds, y, None, NEWEST.even) == 0.5


def test_the_share_stays_between_nothing_and_all():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    good, bad = (4.0 * y - 2)[:, None], rng.normal(size=(4000, 1)) * 9
    assert best_share(good, bad, y, None, NEWEST.even) < 0.02
    assert best_share(bad, good, y, None, NEWEST.even) > 0.98
    few = slice(0, 4)  # too few rows to tell
    assert 0.2 < best_share(good[few], bad[few], y[few], None, NEWEST.even) < 0.8


@pytest.mark.parametrize("unit", [1 / 300, 1e-6, 1e-300])
def test_the_share_knows_no_unit_of_small_weights(unit):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    one, other = (rng.normal(size=(300, 1)) + k * (2.0 * y - 1)[:, None] for k in (0, 2))
    expected = best_share(one, other, y, None, NEWEST.even)
    assert abs(expected - 0.5) > 0.1
    assert_allclose(best_share(one, other, y, np.full(300, unit), NEWEST.even), expected, rtol=1e-9)


def share_of(monkeypatch, X, y):
    seen = []

    def spy(*args):
        seen.append(best_share(*args))
        return seen[-1]

    monkeypatch.setattr(blending, "best_share", spy)
    auto(100).fit(X, y)
    return seen[-1]


def test_the_rows_left_out_choose(monkeypatch):
    assert share_of(monkeypatch, *smooth()) > 0.4
    assert share_of(monkeypatch, *jagged()) < 0.2


def test_it_helps_where_the_world_is_smooth(monkeypatch):
    X, y = smooth(1200)
    blended = auto(100).fit(X[:300], y[:300]).predict_proba(X[300:])
    monkeypatch.setattr(blending, "fit_additive", lambda *args: None)
    monkeypatch.setattr("costboost.estimators.adaboost.recipe.fit_additive", lambda *args: None)
    alone = auto(100).fit(X[:300], y[:300]).predict_proba(X[300:])
    own = np.arange(900), y[300:]
    assert -np.mean(np.log(blended[own])) < -np.mean(np.log(alone[own])) - 0.005


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_those_of_both_models(n_classes):
    X, y = make_classification(
        300, 6, n_informative=4, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    model = auto().fit(X, y)
    for ensemble in model._model.members:
        forest, first = ensemble.forest, ensemble.n_first
        assert first == 6
        assert [set(forest.tree(t).feature) - {-1} for t in range(first)] == [{j} for j in range(6)]
        stages = list(ensemble.staged_margins(X[:5]))
        assert len(stages) == model.n_iter_
        assert_array_equal(stages[-1], ensemble.margins(X[:5]))
        assert_allclose(stages[0], forest.first(first + 1).margins(X[:5]))


@pytest.mark.parametrize(
    "options", [{"monotonic_cst": {0: 1}}, {"votes": "discrete"}, {"calibration": None}]
)
def test_where_there_is_no_additive_model(options):
    X, y = smooth()
    assert all(e.n_first == 0 for e in auto(**options).fit(X, y)._model.members)


def test_large_and_wide_tables_have_none(monkeypatch):
    X, y = smooth()
    change_recipe(monkeypatch, widest=11)  # four cubics are 12 columns
    assert auto().fit(X, y)._model.members[0].n_first == 0
    change_recipe(monkeypatch, widest=12)
    assert auto().fit(X, y)._model.members[0].n_first == 4
    whole = auto().fit(X, y).recipe_["additive_weight"]
    change_recipe(monkeypatch, additive=always(0.25))
    assert 0 < auto().fit(X, y).recipe_["additive_weight"] < 0.3 * whole
    change_recipe(monkeypatch, additive=always(0.0))
    assert auto().fit(X, y)._model.members[0].n_first == 0


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "beta", "temperature"])
def test_any_calibration_maps_the_blend(calibration):
    X, y = smooth()
    model = auto(calibration=calibration).fit(X, y)
    assert model._model.members[0].n_first == 4
    assert np.mean(model.predict(X) == y) > 0.75


def test_importances_are_by_share():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abc"))
    y = (rng.random(400) < expit(3 * X["a"])).astype(int)
    model = auto(30).fit(X, y, costs=Costs(fp=1, fn=5))
    importances = model.feature_importances_
    assert_allclose(importances.sum(), 1)
    assert importances[0] > 0.8
    assert_allclose(model.contributions(X).total, model.decision_function(X), atol=1e-9)


def test_weights_in_other_units_are_the_same_to_the_additive_models():
    X, y = smooth()
    weights = np.random.default_rng(3).uniform(0.5, 2, 300)
    one, other = (auto(1).fit(X, y, unit * weights)._model.members for unit in (1.0, 1024.0))
    for a, b in zip(one, other, strict=True):
        effects = [
            model.trees.first(4).values.ravel() / np.abs(model.trees.first(4).values).max()
            for model in (a, b)
        ]
        assert_allclose(*effects, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*single row")
@pytest.mark.parametrize("exponent", [101, 120, 250, -101, -120, -250])
@pytest.mark.parametrize("x", [0.0, 1.0])
def test_one_row_may_weigh_1e100_times_the_other(exponent, x):
    """The odds of the heavier class were infinite, and the loss of every ridge was no number."""
    weights = [10.0 ** (-exponent / 2), 10.0 ** (exponent / 2)]
    model = CostBoostClassifier(random_state=0).fit([[0.0], [x]], [0, 1], sample_weight=weights)
    p = model.predict_proba([[0.0], [x]])
    assert_allclose(p.sum(axis=1), 1.0)
    assert_allclose(p[:, int(exponent > 0)], 1.0)


# ---------------------------------------------------------------- classes that are mixed


def shifted_classes(n=400, n_classes=3, seed=0):
    """Scores, and labels drawn by other log odds: what one class has, the next has too."""
    rng = np.random.default_rng(seed)
    scores = 2 * rng.normal(size=(n, n_classes))
    truth = scores @ (np.eye(n_classes) + 0.4 * np.eye(n_classes, k=1)) + [0.5, 0.0, -0.5]
    p = np.exp(log_softmax(truth, axis=1))
    y = (rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=n_classes - 1)
    return scores, y


def calibrated(scores, y, weights=None):
    return ClassCalibration("bias-corrected", scores.shape[1], margins=True).fit(scores, y, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_mixing_is_the_penalised_optimum(weighted):
    scores, y = shifted_classes()
    weights = np.random.default_rng(1).integers(1, 4, 400).astype(float) if weighted else None
    start = calibrated(scores, y, weights)
    found = fit_mixing(scores, y, weights, start, NEWEST)
    w = np.ones(400) if weights is None else weights
    (bias_corrected,) = start.calibrators
    near = bias_corrected.beta * (scores - scores.mean(axis=1, keepdims=True))
    near += np.array(bias_corrected.biases)

    def loss(flat):
        """Of log odds times (1 + W), plus b."""
        more, shift = flat[:9].reshape(3, 3), flat[9:]
        logs = log_softmax(near + near @ more + shift, axis=1)
        rows = np.full((3, 3), NEWEST.mixing[1])
        np.fill_diagonal(rows, NEWEST.mixing[0])
        penalty = np.sum(rows * more**2) + 5.0 * shift @ shift
        return -w @ logs[np.arange(400), y] + 0.5 * penalty

    best = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-5}).x
    expected = softmax(near + near @ best[:9].reshape(3, 3) + best[9:], axis=1)
    mixed = softmax(scores @ found.matrix + found.shift, axis=1)
    assert_allclose(mixed, expected, atol=1e-4)
    plain = -w @ np.log(start.predict(scores))[np.arange(400), y]
    assert -w @ np.log(mixed)[np.arange(400), y] < plain - 1.0


def test_the_mixing_is_part_of_the_forest():
    scores, y = shifted_classes()
    model = auto().fit(scores, y)
    plain = auto(calibration="bias-corrected").fit(scores, y)
    matrix = np.array(model.recipe_["mixing"])
    assert plain.recipe_["mixing"] is None
    assert "mixes the classes" in recipe_words(model.recipe_)["Calibration"]
    for mixed, own in zip(model._model.members, plain._model.members, strict=True):
        assert_allclose(mixed.forest.values, own.forest.values @ matrix)
    assert_allclose(list(model.staged_predict_proba(scores))[-1], model.predict_proba(scores))
    one = auto(ensemble=False).fit(scores, y)
    assert_array_equal(one.recipe_["mixing"], matrix)


def test_when_classes_are_not_mixed():
    scores, y = shifted_classes()
    fitted, two = calibrated(scores, y), np.minimum(y, 1)
    assert fit_mixing(scores, y, None, fitted, replace(NEWEST, mixed_classes=2)) is None
    assert fit_mixing(scores, two, None, calibrated(scores, two), NEWEST) is None  # no third
    few = fit_mixing(scores, y, None, fitted, replace(NEWEST, mixed_rows=200))
    half = fit_mixing(scores[::2], y[::2], None, fitted, NEWEST)
    assert_array_equal(few.matrix, half.matrix)
    assert auto(votes="discrete").fit(scores, y).recipe_["mixing"] is None
    assert auto().fit(scores, two).recipe_["mixing"] is None

"""Train on some rows, calibrate on others."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit

from calibration_cases import NAMES, sample
from costboost.calibration import (
    CalibratedScores,
    ClassCalibration,
    Sigmoid,
    calibrate_fitted,
    calibrate_folds,
    calibration_splits,
)
from costboost.costs import Costs
from naive import calibration as naive


class Table:
    """A table, and the mean difference classifier on it."""

    def __init__(self, seed=0, n=120):
        rng = np.random.default_rng(seed)
        self.y = np.where(rng.random(n) < 0.4, "yes", "no")
        self.x = rng.normal(size=(n, 3)) + (self.y == "yes")[:, None]
        self.w = rng.integers(0, 3, n).astype(float)
        self.trained = []

    def fit(self, rows):
        self.trained.append(rows)
        mine, y = self.x[rows], self.y[rows]
        return mine[y == "yes"].mean(axis=0) - mine[y == "no"].mean(axis=0)

    def score(self, model, rows):
        return self.x[rows] @ model


OPTIONS = {"classes": ["no", "yes"], "margins": True, "random_state": 0}


@pytest.mark.parametrize("method", NAMES)
def test_ensemble_is_the_mean_of_calibrated_folds(method):
    t = Table()
    fitted = calibrate_folds(t.fit, t.score, t.y, 4, method=method, sample_weight=t.w, **OPTIONS)
    codes = (t.y == "yes").astype(int)
    splits = calibration_splits(codes, 4, sample_weight=t.w, random_state=0)
    expected = np.zeros((len(t.y), 2))
    for train, test in splits:
        model = t.fit(train)
        kind = ClassCalibration(method, 2, margins=True)
        kind = kind.fit(t.score(model, test), codes[test], t.w[test])
        expected += kind.predict(t.x @ model) / 4
    assert fitted.n_folds == 4
    np.testing.assert_allclose(
        fitted.predict_proba(t.x @ model for model in fitted.models), expected
    )


@pytest.mark.parametrize("method", NAMES)
def test_one_model_with_pooled_scores(method):
    t = Table()
    fitted = calibrate_folds(
        t.fit, t.score, t.y, 4, method=method, ensemble=False, sample_weight=t.w, **OPTIONS
    )
    codes = (t.y == "yes").astype(int)
    pooled = np.full(len(t.y), np.nan)
    for train, test in calibration_splits(codes, 4, sample_weight=t.w, random_state=0):
        pooled[test] = t.score(t.fit(train), test)
    alive = t.w > 0
    kind = ClassCalibration(method, 2, margins=True).fit(pooled[alive], codes[alive], t.w[alive])
    model = t.fit(np.flatnonzero(alive))
    assert len(fitted.models) == 1
    assert fitted.n_folds == 4
    got = fitted.predict_proba(t.x @ model for model in fitted.models)
    np.testing.assert_allclose(got, kind.predict(t.x @ model))


def test_a_share_trains_on_the_rest_only():
    t = Table()
    fitted = calibrate_folds(t.fit, t.score, t.y, 0.5, ensemble=False, **OPTIONS)
    assert len(t.trained) == 1
    assert len(t.trained[0]) == pytest.approx(60, abs=1)
    assert fitted.n_folds == 1


def test_rows_scored_by_several_folds_count_once():
    t = Table()
    cv = ShuffleSplit(6, test_size=0.5, random_state=0)
    fitted = calibrate_folds(t.fit, t.score, t.y, cv, ensemble=False, **OPTIONS)
    assert fitted.n_folds == 6
    assert np.all(np.isfinite(fitted.predict_proba(t.x @ model for model in fitted.models)))


def test_folds_in_parallel_are_the_same_folds():
    t = Table()
    one = calibrate_folds(t.fit, t.score, t.y, 3, **OPTIONS)
    two = calibrate_folds(t.fit, t.score, t.y, 3, n_jobs=2, **OPTIONS)
    assert one.maps == two.maps


def test_two_rows():
    t = Table()
    t.x, t.y = np.array([[0.0], [1.0]]), np.array(["no", "yes"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        fitted = calibrate_folds(t.fit, t.score, t.y, 5, **OPTIONS)
    p = fitted.predict_proba(t.x @ model for model in fitted.models)
    np.testing.assert_allclose(p, [[2 / 3, 1 / 3], [1 / 3, 2 / 3]])


def test_strange_labels_are_refused():
    t = Table()
    t.y[0] = "x"
    with pytest.raises(ValueError, match="none of the classes"):
        calibrate_folds(t.fit, t.score, t.y, 3, **OPTIONS)


def test_fitted_model():
    s, y, w = sample(0)
    fitted = calibrate_fitted("model", s, y, classes=[0, 1], margins=True, sample_weight=w)
    assert isinstance(fitted, CalibratedScores)
    p = fitted.predict_proba([s])
    np.testing.assert_array_equal(p[:, 1], Sigmoid().fit(s, y, w).predict(s))


@pytest.mark.parametrize(("c_fp", "c_fn"), [(1, 1), (1, 5), (10, 1)])
def test_calibrated_adamec_follows_the_poster_line_by_line(c_fp, c_fn):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(160, 2)).round(1)
    y = np.where(X.sum(axis=1) + 1.2 * rng.normal(size=160) > 0.8, 1, -1)
    X_new = rng.normal(size=(50, 2))

    # 1. Split: half of each class calibrates.
    ((train, calibrate),) = calibration_splits((y + 1) // 2, 0.5, random_state=1)
    poster = naive.calibrated_adamec(X, y, c_fp, c_fn, 15, train, calibrate, X_new)
    assert np.all((poster["s"] >= 0) & (poster["s"] <= 1))

    # 2. to 3.3.
    fitted = calibrate_folds(
        lambda rows: naive.adaboost(X[rows], y[rows], 15),
        lambda ensemble, rows: naive.vote_fraction(ensemble, X[rows]),
        y,
        0.5,
        classes=[-1, 1],
        method="sigmoid-brier",
        random_state=1,
    )
    (model,), (calibration,) = fitted.models, fitted.maps
    np.testing.assert_allclose(naive.vote_fraction(model, X[calibrate]), poster["s"])
    (sigmoid,) = calibration.calibrators
    assert pytest.approx(poster["A"], abs=1e-5) == sigmoid.A
    assert pytest.approx(poster["B"], abs=1e-5) == sigmoid.B
    assert sigmoid.A < 0

    # 4.1 to 4.3.
    proba = fitted.predict_proba(naive.vote_fraction(part, X_new) for part in fitted.models)
    np.testing.assert_allclose(proba[:, 1], poster["p"], atol=1e-6)
    decided = Costs(fp=c_fp, fn=c_fn).bind([-1, 1]).decide(proba)
    np.testing.assert_array_equal(decided, poster["H"])

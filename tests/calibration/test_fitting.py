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
from costboost.calibration._fitting import _pool
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
    with pytest.raises(ValueError, match="row 0: y has the label 'x', which is not among"):
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


def test_a_fit_that_ends_keeps_the_folds_so_far():
    t = Table()
    whole = calibrate_folds(t.fit, t.score, t.y, 4, **OPTIONS)
    for ensemble in (True, False):  # cut short, there is no model of all rows
        t.trained.clear()
        ended = calibrate_folds(
            t.fit,
            t.score,
            t.y,
            4,
            ensemble=ensemble,
            ended=lambda: len(t.trained) == 2,
            **OPTIONS,
        )
        assert (ended.n_folds, len(t.trained)) == (2, 2)
        assert ended.maps == whole.maps[:2]
    never = calibrate_folds(t.fit, t.score, t.y, 4, ended=lambda: False, **OPTIONS)
    assert never.maps == whole.maps


def test_an_interrupted_fold_is_left_out_unless_it_is_the_first():
    t = Table()
    whole = calibrate_folds(t.fit, t.score, t.y, 4, **OPTIONS)

    def fit_until(n_folds):
        def fit(rows):
            if len(t.trained) == n_folds:
                raise KeyboardInterrupt
            return t.fit(rows)

        t.trained.clear()
        return calibrate_folds(fit, t.score, t.y, 4, ended=lambda: False, **OPTIONS)

    assert fit_until(3).maps == whole.maps[:3]
    with pytest.raises(KeyboardInterrupt):
        fit_until(0)


def test_folds_are_announced_before_the_first_is_trained():
    t = Table()
    told = []

    def announce(folds):
        told.append((folds, len(t.trained)))

    calibrate_folds(t.fit, t.score, t.y, 3, announce=announce, **OPTIONS)
    ((folds, trained),) = told
    assert trained == 0
    for (train, _), rows in zip(folds, t.trained, strict=True):
        np.testing.assert_array_equal(train, rows)


def test_scores_of_classes_that_a_fold_never_saw_do_not_calibrate_the_whole():
    y = np.array([0, 1, 2] * 6)
    x = np.random.default_rng(0).random((18, 3))
    no_2 = (np.flatnonzero(y[:9] < 2), np.arange(9, 18))
    all_3 = (np.arange(9, 18), np.arange(9))

    def score(model, rows):
        seen = np.isin([0, 1, 2], model)
        return np.where(seen, x[rows], 0.0)

    fitted = calibrate_folds(
        lambda rows: np.unique(y[rows]),
        score,
        y,
        [no_2, all_3],
        classes=[0, 1, 2],
        ensemble=False,
        method="sigmoid",
    )
    known = [*range(9), *(row for row in range(9, 18) if y[row] < 2)]
    scores = np.where(np.arange(18)[:, None] >= 9, x * [1, 1, 0], x)
    expected = ClassCalibration("sigmoid", 3).fit(scores[known], y[known])
    np.testing.assert_allclose(fitted.maps[0].predict(x), expected.predict(x), atol=1e-12)


def test_of_a_row_scored_twice_the_first_score_counts():
    scores, rows = _pool(
        [np.array([0.1, 0.2]), np.array([0.3, 0.4])], [np.array([5, 2]), np.array([2, 0])]
    )
    assert rows.tolist() == [0, 2, 5]
    assert scores.tolist() == [0.4, 0.2, 0.1]


@pytest.mark.parametrize("stranger", [2, -1, 0.5])
def test_labels_are_among_the_classes(stranger):
    with pytest.raises(ValueError, match=rf"row 1: y has the label {stranger}, which is not among"):
        calibrate_fitted("model", [0.1, 0.2], [0, stranger], classes=[0, 1])


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("n_classes", [256, 257, 300])  # codes of one byte, and of more
def test_many_classes_keep_apart(n_classes, ensemble):
    y = np.repeat(np.arange(n_classes), 2)
    scores = np.eye(n_classes)[y] * 0.9 + 0.1 / n_classes
    fitted = calibrate_folds(
        lambda rows: None,
        lambda _, rows: scores[rows],
        y,
        2,
        classes=np.arange(n_classes),
        method="temperature",
        ensemble=ensemble,
        random_state=0,
    )
    # Each fold has the same scores, of other rows: what is fitted to all of them is fitted to each.
    expected = ClassCalibration("temperature", n_classes).fit(scores, y).predict(scores)
    p = fitted.predict_proba([scores for _ in fitted.models])
    np.testing.assert_allclose(p, expected, atol=1e-6)
    assert p[np.arange(len(y)), y].min() > 0.99

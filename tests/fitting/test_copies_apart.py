"""Copies of rows are never on both sides of a cut, and many of them are told of."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import costboost.calibration._fitting
import costboost.estimators.adaboost.recipe
from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.calibration import calibration_folds, labels_of_sets
from costboost.fitting.tables import read_copies
from costboost.fitting.train import Trainer

TREE = DecisionTreeClassifier(random_state=0)
MODELS = {
    "auto": CostBoostClassifier(n_estimators=20, cv=3, random_state=0),
    "auto, a share": CostBoostClassifier(n_estimators=20, cv=0.4, random_state=0),
    "named": CostBoostClassifier("adamec", 3, random_state=0),
    "outside": CostBoostClassifier("adamec", 2, TREE, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=3, calibration="sigmoid", random_state=0),
    "pnorm": PNormBoostClassifier(n_estimators=3, calibration="sigmoid", random_state=0),
    "minimum cost": MinimumCostClassifier(TREE, random_state=0),
}
STOPPED = {
    "named": CostBoostClassifier("adaboost", 5, n_iter_no_change=2, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=5, n_iter_no_change=2, random_state=0),
    "regressor": GradientBoostRegressor(n_estimators=5, n_iter_no_change=2, random_state=0),
    "pnorm": PNormBoostClassifier(n_estimators=5, n_iter_no_change=2, random_state=0),
}
TOLD = "copies of other rows"


def rows(n=120, seed=0):
    X, y = make_classification(n, 6, flip_y=0.2, weights=[0.7], random_state=seed)
    return X, y


def copied(X, y, seed=1):
    """Return a third of the rows once, a third twice and a third thrice, shuffled."""
    which = np.random.default_rng(seed).permutation(
        np.repeat(np.arange(len(X)), np.arange(len(X)) % 3 + 1)
    )
    return X[which], y[which], which


@pytest.fixture
def cuts(monkeypatch):
    """Collect the splits of every calibration and the rows of every hold-out."""
    seen = []

    def splits(*args, **kwargs):
        found = calibration_folds(*args, **kwargs)
        seen.extend(found)
        return found

    hold_out = Trainer._hold_out

    def held(self, rows):
        found = hold_out(self, rows)
        seen.append(found)
        return found

    monkeypatch.setattr(costboost.calibration._fitting, "calibration_folds", splits)
    monkeypatch.setattr(costboost.estimators.adaboost.recipe, "calibration_folds", splits)
    monkeypatch.setattr(Trainer, "_hold_out", held)
    return seen


@pytest.mark.parametrize("name", [*MODELS, *(f"stopped {name}" for name in STOPPED)])
@pytest.mark.parametrize("frame", [False, True])
def test_copies_are_never_on_both_sides(name, frame, cuts):
    X, y, which = copied(*rows())
    model = STOPPED[name.removeprefix("stopped ")] if name.startswith("stopped") else MODELS[name]
    with pytest.warns(UserWarning, match=TOLD) as told:
        model.fit(pd.DataFrame(X) if frame else X, y)
    assert sum(TOLD in str(warning.message) for warning in told) == 1
    assert cuts
    for train, test in cuts:
        assert len(test)
        assert not set(which[train]) & set(which[test])


@pytest.mark.parametrize("name", MODELS)
def test_without_copies_folds_are_those_of_ever(name, cuts):
    X, y = rows()
    MODELS[name].fit(X, y)
    cv = MODELS[name].cv
    if isinstance(cv, float):
        return
    assert len(cuts) == cv
    seed = 0
    if name != "minimum cost":
        seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    folds = StratifiedKFold(cv, shuffle=True, random_state=np.random.RandomState(seed)).split(y, y)
    for (train, test), (old_train, old_test) in zip(cuts, folds, strict=True):
        np.testing.assert_array_equal(np.sort(train), old_train)
        np.testing.assert_array_equal(test, old_test)


def test_the_default_is_not_sure_of_copies():
    X, y = make_classification(2500, 20, n_informative=5, flip_y=0.2, random_state=0)
    once = CostBoostClassifier(n_estimators=100, random_state=0).fit(X[:300], y[:300])
    with pytest.warns(UserWarning, match="67% of the rows are copies"):
        thrice = CostBoostClassifier(n_estimators=100, random_state=0).fit(
            np.repeat(X[:300], 3, axis=0), np.repeat(y[:300], 3)
        )
    loss, alone = (log_loss(y[300:], m.predict_proba(X[300:])) for m in (thrice, once))
    assert loss < alone + 0.05
    assert loss < log_loss(y[300:], np.full(2200, 0.5))


def test_groups_and_splitters_have_the_last_word():
    X, y, which = copied(*rows())
    model = CostBoostClassifier("adamec", 2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, groups=which)
        model.set_params(cv=KFold(3)).fit(X, y)
        model.set_params(calibration=None).fit(X, y)


def test_few_copies_are_not_told_of():
    X, _ = rows()
    X[:5] = X[5:10]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sets = read_copies(X)
    assert sets.max() + 1 == 115


def test_rows_of_weight_zero_are_copies_of_nothing():
    X, _, which = copied(*rows())
    weights = (np.arange(len(X)) == np.unique(which, return_index=True)[1][which]).astype(float)
    assert read_copies(X, weights) is None
    weights[:40] = 1.0
    sets = read_copies(X, weights)
    alive = np.flatnonzero(weights)
    for i in alive:
        same = alive[which[alive] == which[i]]
        assert np.all(sets[same] == sets[i])
    assert len(np.unique(sets)) == len(np.unique(which)) + int(np.sum(weights == 0))


def test_a_table_that_cannot_be_compared_has_no_copies():
    assert read_copies(pd.DataFrame({"day": pd.to_datetime(["2020-01-01"] * 4)})) is None
    assert read_copies(np.array(["one text", "another"] * 3)) is None


def test_sets_go_by_their_rarest_class():
    codes = np.array([0, 0, 0, 1, 0, 2, 1])
    sets = np.array([0, 0, 1, 1, 2, 3, 3])
    assert labels_of_sets(codes, sets).tolist() == [0, 1, 0, 2]


def test_copies_of_a_rare_class_are_spread():
    X, y = rows(200)
    few = np.flatnonzero(y == 1)[:4]
    X, y = (
        np.vstack([X[y == 0], np.repeat(X[few], 30, axis=0)]),
        np.repeat([0, 1], [sum(y == 0), 120]),
    )
    with pytest.warns(UserWarning, match=TOLD):
        sets = read_copies(X)
    splits = calibration_folds(y, 5, copies=sets, random_state=0)
    assert len(splits) == 4  # as many as there are different rows of the rare class
    assert all(np.sum(y[test] == 1) == 30 for _, test in splits)


def test_more_threads_or_a_share_make_no_difference():
    X, y, which = copied(*rows(400))
    with pytest.warns(UserWarning, match=TOLD):
        models = [
            CostBoostClassifier("adamec", 3, n_jobs=n, random_state=0).fit(X, y) for n in (1, 3)
        ]
    np.testing.assert_array_equal(models[0].predict_proba(X), models[1].predict_proba(X))
    ((train, test),) = calibration_folds(y, 0.25, copies=read_quiet(X), random_state=0)
    assert not set(which[train]) & set(which[test])
    assert 0.15 < len(test) / len(X) < 0.35


def read_quiet(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_copies(X)

"""Whatever happens inside ``fit``, an estimator is fitted as a whole or as it was before."""

import inspect
import sys
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from costboost import (
    CostBoostClassifier,
    CostingClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    GuaranteedClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    ParityClassifier,
    PNormBoostClassifier,
    RateClassifier,
)

ESTIMATORS = {
    "auto": CostBoostClassifier(n_estimators=20, cv=2, random_state=0),
    "named": CostBoostClassifier("csb2", 3, n_iter_no_change=2, random_state=0),
    "calibrated": CostBoostClassifier("cgada", 3, cv=2, ensemble=False, random_state=0),
    "outside": CostBoostClassifier(
        "adaboost", 3, DecisionTreeClassifier(max_depth=1), random_state=0
    ),
    "gradient": GradientBoostClassifier(n_estimators=3, random_state=0),
    "gradient calibrated": GradientBoostClassifier(
        "expected-cost", 3, calibration="sigmoid", cv=2, random_state=0
    ),
    "regressor": GradientBoostRegressor(n_estimators=3, random_state=0),
    "regressor outside": GradientBoostRegressor(
        n_estimators=3, estimator=DecisionTreeRegressor(max_depth=2), random_state=0
    ),
    "pnorm": PNormBoostClassifier(n_estimators=3, random_state=0),
    "pnorm calibrated": PNormBoostClassifier(
        n_estimators=3, calibration="sigmoid", cv=2, random_state=0
    ),
    "minimum cost": MinimumCostClassifier(GaussianNB(), cv=2, random_state=0),
    "metacost": MetaCostClassifier(GaussianNB(), 3, random_state=0),
    "costing": CostingClassifier(GaussianNB(), 3, random_state=0),
    "guaranteed": GuaranteedClassifier(GaussianNB(), 100, cv=0.3, random_state=0),
    "parity": ParityClassifier(GaussianNB(), cv=2, random_state=0),
    "rate": RateClassifier(GaussianNB(), cv=2, random_state=0),
}
ASKED = (
    "predict",
    "predict_proba",
    "decision_function",
    "expected_cost",
    "staged_predict",
    "staged_predict_proba",
    "staged_decision_function",
)


class Bang(BaseException):
    """Raised where it is least expected."""


def old_rows():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    return X, np.where(X["a"] + 0.5 * rng.normal(size=60) > 0, 7, 3)


def new_rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 5))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, 1, 0)


def inside(frame):
    """Whether it is ours; a generator that is closed would swallow what is raised in it."""
    code = frame.f_code
    return "costboost" in code.co_filename and not code.co_flags & inspect.CO_GENERATOR


@contextmanager
def calls_counted(raised=None, at=None):
    """Count the calls into the library; raise at the one numbered `at`."""
    seen = [0]

    def look(frame, event, arg):
        if event == "call" and inside(frame):
            seen[0] += 1
            if seen[0] == at:
                raise raised

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield seen
    finally:
        sys.setprofile(before)


def answers(model, X):
    """Everything the model says, as bytes."""
    said = {}
    for name in ASKED:
        if not hasattr(model, name):
            continue
        try:
            value = getattr(model, name)(X)
            value = list(value) if name.startswith("staged") else value
        except ValueError as error:  # methods that refuse to price decisions
            value = str(error)
        said[name] = value if isinstance(value, str) else np.asarray(value).tobytes()
    return said


def points_of(model, X, y, n_points):
    """Numbers of calls, spread over a fit; not the very last, which another run may not reach."""
    bare = clone(model).fit(X, y)  # the first time something may be made that is kept
    with calls_counted() as seen:
        bare.fit(X, y)
    spread = np.linspace(2, 0.95 * seen[0] - 2, n_points)
    return sorted({3, 5, *spread.astype(int).tolist()})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_failed_first_fit_leaves_it_unfitted(name):
    X, y = new_rows()
    for at in points_of(ESTIMATORS[name], X, y, 8):
        model = clone(ESTIMATORS[name])
        before = dict(vars(model))
        with pytest.raises(Bang), calls_counted(Bang(), at):
            model.fit(X, y)
        assert vars(model) == before
        for method in ASKED:
            if not hasattr(model, method):
                continue
            with pytest.raises(NotFittedError):
                list(getattr(model, method)(X))
        with pytest.raises(NotFittedError):
            model.score(X, y)
        if is_classifier(model):
            with pytest.raises(NotFittedError):
                model.score(X, y, costs={"fp": 1, "fn": 2})
            with pytest.raises(NotFittedError):
                model.predict(X, costs={"fp": 1, "fn": 2})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.parametrize("kind", [Bang, KeyboardInterrupt, MemoryError])
def test_a_failed_refit_leaves_the_old_model_whole(name, kind):
    (X, y), other = old_rows(), new_rows()
    model = clone(ESTIMATORS[name]).fit(X, y)
    told, said = dict(vars(model)), answers(model, X)
    for at in points_of(model, *other, 6):
        with pytest.raises(kind), calls_counted(kind(), at):
            model.fit(*other)
        assert vars(model).keys() == told.keys()
        assert all(vars(model)[key] is value for key, value in told.items())
        assert answers(model, X) == said
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    if is_classifier(model):
        assert model.classes_.tolist() == [3, 7]
    model.fit(*other)
    assert model.n_features_in_ == 5
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("name", ESTIMATORS)
def test_wrong_input_leaves_the_old_model_whole(name):
    X, y = old_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(ESTIMATORS[name]).fit(X, y)
    said = answers(model, X)
    wrong_tables = [(X.to_numpy()[:, :2], y[:10]), (np.zeros((0, 3)), []), (X, np.full(60, np.nan))]
    for wrong in wrong_tables:
        with pytest.raises(ValueError):
            model.fit(*wrong)
        assert answers(model, X) == said


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("adaboost", 3, warm_start=True, random_state=0),
        GradientBoostClassifier(n_estimators=3, warm_start=True, random_state=0),
        GradientBoostRegressor(n_estimators=3, warm_start=True, random_state=0),
        PNormBoostClassifier(n_estimators=3, warm_start=True, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_refused_warm_start_leaves_nothing_changed(model):
    X, y = old_rows()
    model = clone(model).fit(X, y)
    told, said = dict(vars(model)), answers(model, X)
    other, labels = new_rows()
    refusals = [
        (lambda: model.fit(other, labels), "not what it was given"),
        (lambda: model.fit(X, 11 - y - (y == 3)), "not what it was given"),
        (lambda: model.set_params(n_estimators=2).fit(X, y), "only adds rounds"),
        (lambda: model.set_params(max_bins=9).fit(X, y), "another max_bins"),
    ]
    for refused, message in refusals:
        with pytest.raises(ValueError, match=message):
            refused()
        model.set_params(n_estimators=3, max_bins=255)
        assert vars(model).keys() == told.keys()
        assert answers(model, X) == said
    longer = model.set_params(n_estimators=6).fit(X, y)
    anew = clone(model).set_params(warm_start=False).fit(X, y)
    assert answers(longer, X) == answers(anew, X)


def test_a_warm_start_that_fails_on_its_way_can_be_taken_again():
    X, y = old_rows()
    model = GradientBoostClassifier(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    said = answers(model, X)
    model.set_params(n_estimators=8)
    for at in (50, 100, 200):
        with pytest.raises(KeyboardInterrupt), calls_counted(KeyboardInterrupt(), at):
            model.fit(X, y)
        assert answers(model, X) == said
    anew = GradientBoostClassifier(n_estimators=8, random_state=0).fit(X, y)
    assert answers(model.fit(X, y), X) == answers(anew, X)


def crowded_rows():
    rng = np.random.default_rng(3)
    shop = rng.integers(0, 400, 1200)
    X = pd.DataFrame({"shop": [f"shop {k}" for k in shop], "x": rng.normal(size=1200)})
    return X, (shop % 3 == 0).astype(int)


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier(n_estimators=2, cv=3, target_encoding=False, random_state=0),
        CostBoostClassifier("cgada", 2, cv=3, random_state=0),
        GradientBoostRegressor(n_estimators=2, random_state=0),
        MinimumCostClassifier(CostBoostClassifier("adaboost", 2, random_state=0), cv=3),
        MetaCostClassifier(CostBoostClassifier("adaboost", 2), n_estimators=3, random_state=0),
        CostingClassifier(CostBoostClassifier("adaboost", 2), n_estimators=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_warns_once_of_categories_left_out_and_the_next_fit_again(model):
    X, y = crowded_rows()
    for _ in range(2):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            clone(model).fit(X, y)
        told = [warning for warning in heard if "share the code of missing" in str(warning.message)]
        assert len(told) == 1
        assert str(told[0].message).startswith("Column 'shop' has 3")
        assert told[0].filename == __file__

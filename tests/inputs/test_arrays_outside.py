"""What comes from outside is checked where it enters, and the message names who answered what.

Learners, rules, betas, objectives, losses and initial models that answer NaN, infinity, other
shapes, other types, or classes that nobody asked for. Half of these ended the process before.
"""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

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
from costboost.boosting.adaboost.rules import RULES, Rule
from costboost.inputs.arrays import read_classes, read_finite, read_objective, read_probabilities
from odd import CHANGES, HARMLESS, OddClassifier, OddLoss, OddRegressor, odd_function

N = 60


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    y = (X[:, 0] + 0.7 * rng.normal(size=N) > 0).astype(int)
    return X, y, Costs(fp=1, fn=rng.lognormal(size=N))


def refused(fit, match):
    """The message, from a fit that must be refused without a warning before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the outsider's own overflow
        with pytest.raises(ValueError, match=match) as caught:
            fit()
    return str(caught.value)


def refused_or_finite(run, change, name):
    """`run` gives finite numbers, or is refused by a message that has `name` in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that no step could be taken, or a constant answered
        try:
            answers, said = run(), None
        except ValueError as error:
            answers, said = None, str(error)
    if said is None:
        assert np.isfinite(np.asarray(answers, dtype=float)).all()
        return
    assert change not in HARMLESS, said
    assert name in said


# --- learners: what ended the process


@pytest.mark.parametrize("votes", ["real", "gentle", "confidence"])
def test_nan_probabilities_are_refused(rows, votes):
    X, y, _ = rows
    huge = X * [1, 1e160, 1]
    model = CostBoostClassifier("adaboost", estimator=GaussianNB(), votes=votes, n_estimators=3)
    refused(lambda: model.fit(huge, y), r"GaussianNB.predict_proba answered nan in row \d+")


def test_nan_probabilities_of_new_rows_are_refused(rows):
    X, y, _ = rows
    model = CostBoostClassifier("adaboost", estimator=GaussianNB(), votes="real", n_estimators=3)
    model.fit(X, y)
    refused(lambda: model.predict_proba(X * 1e200), "GaussianNB.predict_proba answered nan")


@pytest.mark.parametrize(
    ("learner", "answer"),
    [
        (LinearRegression(), r"0\.\d+"),
        (IsolationForest(n_estimators=5, random_state=0), "-1"),
        (OddClassifier("all 77"), "77"),
        (OddClassifier("one 65536"), "65536"),
        (OddClassifier("one nan"), "nan"),
        (OddClassifier("all 9.22337e+18"), r"9\.22337e\+18"),
    ],
    ids=lambda part: str(part),
)
@pytest.mark.parametrize(
    "make",
    [
        lambda learner: CostBoostClassifier("adaboost", estimator=learner, n_estimators=3),
        lambda learner: CostBoostClassifier("csada", estimator=learner, n_estimators=3),
        lambda learner: PNormBoostClassifier(estimator=learner, n_estimators=3),
        lambda learner: PNormBoostClassifier(method="dse", estimator=learner, n_estimators=3),
    ],
    ids=["adaboost", "csada", "lp-csb", "dse"],
)
def test_answers_that_are_no_classes_are_refused(rows, make, learner, answer):
    X, y, costs = rows
    said = refused(lambda: make(learner).fit(X, y, costs=costs), f"predict answered {answer}")
    assert type(learner).__name__ in said
    assert "class numbers 0 to" in said


def test_learners_without_probabilities_are_refused_by_name(rows):
    X, y, _ = rows
    model = CostBoostClassifier("adaboost", estimator=LinearSVC(), votes="real", n_estimators=3)
    refused(lambda: model.fit(X, y), "LinearSVC has no predict_proba")


# --- learners: every oddity


CLASSIFIERS = {
    "adaboost": (CostBoostClassifier("adaboost", n_estimators=2), "predict"),
    "adac2": (CostBoostClassifier("adac2", n_estimators=2), "predict"),
    "real": (CostBoostClassifier("adaboost", votes="real", n_estimators=2), "predict_proba"),
    "gentle": (CostBoostClassifier("cgada", votes="gentle", n_estimators=2), "predict_proba"),
    "confidence": (
        CostBoostClassifier("csada", votes="confidence", n_estimators=2),
        "predict_proba",
    ),
    "labels of real": (CostBoostClassifier("adaboost", votes="real", n_estimators=2), "classes_"),
    "lp-csb": (PNormBoostClassifier(n_estimators=2), "predict"),
    "dse": (PNormBoostClassifier(method="dse", n_estimators=2), "predict"),
    "costing": (CostingClassifier(None, n_estimators=2), "predict_proba"),
    "metacost": (MetaCostClassifier(None, n_estimators=2), "predict_proba"),
    "minimum cost": (MinimumCostClassifier(None, cv=2), "decision_function"),
    "minimum cost, beta": (MinimumCostClassifier(None, calibration="beta", cv=2), "predict_proba"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_odd_classifiers_are_refused_or_harmless(rows, kind, change):
    X, y, costs = rows
    model, where = CLASSIFIERS[kind]
    model.set_params(estimator=OddClassifier(change, where), random_state=0)
    refused_or_finite(
        lambda: model.fit(X, y, costs=costs).predict_proba(X), change, "OddClassifier"
    )


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("loss", "step"),
    [("squared", "newton"), *((loss, "line-search") for loss in ("squared", "pinball", "huber"))],
)
def test_odd_regressors_are_refused_or_harmless(rows, loss, step, change):
    X, y, _ = rows
    model = GradientBoostRegressor(
        loss=loss, estimator=OddRegressor(change), step=step, n_estimators=3
    )
    refused_or_finite(
        lambda: model.fit(X, y - 0.5).predict(X), change, "OddRegressor.predict answered"
    )


@pytest.mark.parametrize("change", CHANGES)
def test_odd_initial_models_are_refused_or_harmless(rows, change):
    X, y, _ = rows
    regressor = GradientBoostRegressor(init=OddRegressor(change), n_estimators=2)
    refused_or_finite(lambda: regressor.fit(X, y).predict(X), change, "OddRegressor.predict")
    start = OddClassifier(change, "predict_proba")
    classifier = GradientBoostClassifier(init=start, n_estimators=2)
    refused_or_finite(lambda: classifier.fit(X, y).predict(X), change, "OddClassifier.predict")


# --- rules, betas, objectives


PLACES = (
    "first",
    "round_factor",
    "learner_factor",
    "right",
    "wrong",
    "right_factor",
    "wrong_factor",
)


@pytest.fixture
def register_rule(monkeypatch):
    def register(**functions):
        monkeypatch.setitem(RULES, "odd", Rule("odd", "nobody", many_classes=True, **functions))

    return register


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("per_row", [False, True])
def test_odd_rules_are_refused_or_harmless(rows, register_rule, place, change, per_row):
    X, y, costs = rows
    register_rule(**{place: odd_function(change)})
    model = CostBoostClassifier("odd", n_estimators=3, max_depth=1, calibration=None)
    costs = costs if per_row else None
    refused_or_finite(
        lambda: model.fit(X, y, costs=costs).decision_function(X),
        change,
        f"{place} of method='odd' answered",
    )


def test_overflowing_exponents_are_refused(rows, register_rule):
    X, y, costs = rows
    register_rule(right=odd_function("all 1e+308"), wrong=odd_function("all 1e+308"))
    model = CostBoostClassifier("odd", n_estimators=3, calibration=None)
    refused(lambda: model.fit(X, y, costs=costs), r"right of method='odd' answered 1e\+308")


def test_a_beta_that_is_nan_between_the_points_is_refused(rows):
    X, y, costs = rows

    def beta(sign, cost):
        on_grid = np.isclose(100 * cost, np.rint(100 * cost), atol=1e-9)
        return np.where(on_grid, 0.5 - 0.5 * sign * cost, np.nan)

    model = CostBoostClassifier("adacost", beta=beta, n_estimators=3)
    said = refused(lambda: model.fit(X, y, costs=costs), "answered nan")
    assert "adacost" in said
    assert "beta" in said


@pytest.mark.parametrize("change", CHANGES)
def test_odd_betas_are_refused_or_harmless(rows, change):
    X, y, costs = rows
    model = CostBoostClassifier(
        "adacost", beta=lambda sign, c: CHANGES[change](0.5 - 0.5 * sign * c), n_estimators=3
    )
    refused_or_finite(lambda: model.fit(X, y, costs=costs).decision_function(X), change, "beta")


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("part", [0, 1, 2])
@pytest.mark.parametrize("as_function", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("gradient-csb", n_estimators=3, max_depth=1),
        GradientBoostClassifier(loss="cost-exponential", n_estimators=3, max_depth=1),
    ],
    ids=["gradient-csb", "cost-exponential"],
)
def test_odd_objectives_are_refused_or_harmless(rows, model, as_function, part, change):
    X, y, costs = rows

    def make(sign):
        parts = [sign, np.zeros_like(sign), np.ones_like(sign)]
        parts[part] = CHANGES[change](parts[part])
        return tuple(parts)

    signs = np.where(y == 1, 1.0, -1.0)
    objective = (lambda at: make(np.array(at.sign))) if as_function else make(signs)
    model.set_params(objective=objective)
    refused_or_finite(
        lambda: model.fit(X, y, costs=costs).decision_function(X), change, "objective"
    )


# --- losses


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    ("classes", "where"),
    [
        (False, "value"),
        (False, "gradient"),
        (False, "hessian"),
        (True, "gradient"),
        (True, "hessian"),
        (True, "proba"),
    ],
)
def test_odd_losses_are_refused_or_harmless(rows, classes, where, change):
    X, y, _ = rows
    estimator = GradientBoostClassifier if classes else GradientBoostRegressor
    model = estimator(loss=OddLoss(change, where, classes), n_estimators=3, max_depth=2)

    def run():
        answers = model.fit(X, y).predict(X)
        return model.predict_proba(X) if classes else answers

    refused_or_finite(run, change, f"OddLoss.{where}")


# --- the readers themselves


@pytest.mark.parametrize("shape", [(5,), (5, 2)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_finite_numbers_are_found_anywhere(shape, bad):
    good = np.arange(np.prod(shape), dtype=float).reshape(shape)
    assert read_finite(good, shape, "mine") is not None
    for place in range(good.size):
        broken = good.copy()
        broken.reshape(-1)[place] = bad
        with pytest.raises(ValueError, match=f"in row {place // (shape[1:] or (1,))[0]}"):
            read_finite(broken, shape, "mine")


def test_frames_and_series_are_read():
    assert read_finite(pd.Series([1.0, 2.0]), (2,), "mine").tolist() == [1, 2]
    assert read_classes(pd.Series([1, 0]), 2, 2, "mine").tolist() == [1, 0]
    assert read_classes(np.array([[1], [0]]), 2, 2, "mine").tolist() == [1, 0]
    assert read_classes(np.array([True, False]), 2, 2, "mine").tolist() == [1, 0]


def test_no_rows_are_no_error():
    assert read_finite(np.zeros((0, 2)), (0, 2), "mine").shape == (0, 2)
    assert read_classes(np.zeros(0), 0, 2, "mine").shape == (0,)


@pytest.mark.parametrize("value", [None, 3, "asymboost!", (1, 2), ((1, 2), 0)])
def test_objectives_of_another_form_are_refused(value):
    with pytest.raises(ValueError, match="objective"):
        read_objective(value, (4,))


def test_classes_named_twice_are_refused():
    class Twice:
        classes_ = np.array([0, 0])

        def predict_proba(self, X):
            return np.full((len(X), 2), 0.5)

    with pytest.raises(ValueError, match="twice"):
        read_probabilities(Twice(), np.zeros((3, 1)), np.arange(2))


def test_a_sound_rule_is_as_before(rows, register_rule):
    X, y, costs = rows
    register_rule()
    plain = CostBoostClassifier("adaboost", n_estimators=5, calibration=None)
    odd = CostBoostClassifier("odd", n_estimators=5, calibration=None)
    expected = plain.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(odd.fit(X, y, costs=costs).decision_function(X), expected)
    assert replace(RULES["odd"], name="adaboost").plain_rounds

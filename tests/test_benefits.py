"""Benefits through the whole house: a campaign whose answers earn money.

Adding the same amount to every cell changes no decision and moves every bill by that amount, so
that prices with benefits (negative ones) are refereed by others that have none.
"""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

import costboost as cb
from costboost import Costs
from costboost.metrics import (
    cost_by_threshold,
    cross_validate_cost,
    make_cost_scorer,
    mean_cost,
    profit,
    savings_score,
    total_cost,
)
from costboost.plots import (
    BrierCurveDisplay,
    CapacityDisplay,
    CostCurveDisplay,
    CoverageDisplay,
    PolicyDisplay,
    SavingsCurveDisplay,
    ThresholdCostDisplay,
    TrainingCostDisplay,
)

MORE = 200.0  # added to every cell: nothing is negative then
MODELS = {
    "recipe": cb.CostBoostClassifier(n_estimators=20, cv=2, random_state=0),
    "calibrated": cb.CostBoostClassifier("adamec", 20, cv=2, random_state=0),
    "trained on costs": cb.CostBoostClassifier("cgada", 20, cv=2, random_state=0),
    "gradient": cb.GradientBoostClassifier(n_estimators=20, random_state=0),
    "expected cost": cb.GradientBoostClassifier(
        "expected-cost", 20, calibration="sigmoid", cv=2, random_state=0
    ),
    "minimum cost": cb.MinimumCostClassifier(
        cb.GradientBoostClassifier(n_estimators=20), cv=2, random_state=0
    ),
}
each_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(autouse=True)
def no_window():
    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def campaign():
    """A letter costs 5; those who answer spend 20 to 180, which is their own column."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=["age", "visits", "noise"])
    X["spends"] = rng.uniform(20, 180, 600)
    y = (X["visits"] + rng.normal(size=600) > 1.5).astype(int).to_numpy()
    return X, y


def prices(kind, more=0.0):
    """The costs of the campaign, all cells dearer by `more`."""
    earned = {
        "constant": 5.0 - 60.0 + more,
        "column": lambda X: 5.0 - X["spends"] + more,
    }[kind]
    return Costs(fp=5.0 + more, tp=earned, fn=more, tn=more, benefits=True)


def fitted(name, X, y, costs):
    return clone(MODELS[name]).fit(X, y, costs=costs)


@each_model
@pytest.mark.parametrize("kind", ["constant", "column"])
@pytest.mark.filterwarnings("ignore:In these costs the right answer")
def test_every_bill_moves_and_no_decision_does(campaign, name, kind):
    X, y = campaign
    given, dearer = prices(kind), prices(kind, MORE)
    model, other = fitted(name, X, y, given), fitted(name, X, y, dearer)
    assert_allclose(model.predict_proba(X), other.predict_proba(X), rtol=1e-6)
    decided = model.predict(X, costs=given)
    assert_array_equal(decided, other.predict(X, costs=dearer))
    assert 0 < decided.sum() < len(y)
    expected = np.asarray(model.expected_cost(X, costs=given))
    assert expected.min() < 0.0
    assert_allclose(
        np.asarray(other.expected_cost(X, costs=dearer)), expected + MORE, rtol=1e-6, atol=1e-6
    )
    assert_allclose(model.score(X, y, costs=given), other.score(X, y, costs=dearer) + MORE)
    assert model.score(X, y, costs=given) > 0.0  # money is earned
    some = model.decide(X, costs=given, capacity={1: 20})
    assert some.counts[1] == 20
    assert_array_equal(some.decisions, other.decide(X, costs=dearer, capacity={1: 20}).decisions)


def test_methods_that_relabel_rows_take_benefits(campaign):
    X, y = campaign
    answers = [
        cb.MetaCostClassifier(GaussianNB(), n_estimators=5, random_state=0)
        .fit(X, y, costs=prices("constant", more))
        .predict(X)
        for more in (0.0, MORE)
    ]
    assert_array_equal(*answers)
    assert 0 < answers[0].sum() < len(y)


@each_model
def test_files_keep_benefits(campaign, name, tmp_path):
    X, y = campaign
    model = fitted(name, X, y, prices("constant"))
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model")
    assert again.costs_ == model.costs_
    assert_array_equal(again.predict(X), model.predict(X))
    assert_allclose(np.asarray(again.expected_cost(X)), np.asarray(model.expected_cost(X)))


def test_training_costs_are_earnings(campaign):
    X, y = campaign
    plain, dearer = (fitted("gradient", X, y, prices("column", more)) for more in (0.0, MORE))
    assert plain.train_cost_[-1] < 0.0
    assert_allclose(plain.train_cost_ + MORE * len(y), dearer.train_cost_)
    own = plain.predict(X, costs=prices("column"))
    assert_allclose(plain.train_cost_[-1], total_cost(y, own, costs=prices("column").bind_table(X)))


def test_measures(campaign):
    X, y = campaign
    costs, dearer = (prices("column", more).bind_table(X) for more in (0.0, MORE))
    decided = (X["visits"] > 1).astype(int).to_numpy()
    by_hand = np.sum(decided * (np.where(y == 1, X["spends"], 0.0) - 5.0))
    assert_allclose(profit(y, decided, costs=costs), by_hand)
    assert_allclose(total_cost(y, decided, costs=costs), -by_hand)
    assert_allclose(mean_cost(y, decided, costs=dearer), MORE - by_hand / len(y))
    best = np.sum((y == 1) * (X["spends"] - 5.0))
    nothing = max(0.0, np.sum(np.where(y == 1, X["spends"], 0.0) - 5.0))  # a letter to nobody, all
    assert_allclose(savings_score(y, y, costs=costs), (best - nothing) / abs(nothing))
    scores = X["visits"].to_numpy()
    plain, moved = (cost_by_threshold(y, scores, costs=c) for c in (costs, dearer))
    assert_allclose(plain[1] + MORE, moved[1])
    assert_array_equal(plain[0], moved[0])


def test_scorers_and_cross_validation(campaign):
    X, y = campaign
    model = clone(MODELS["gradient"])
    found = [
        cross_val_score(
            clone(model).set_params(costs=costs), X, y, scoring=make_cost_scorer(costs), cv=3
        )
        for costs in (prices("column"), prices("column", MORE))
    ]
    assert_allclose(found[0], found[1] + MORE)
    assert found[0].mean() > 0.0
    tables = [
        cross_validate_cost(model, X, y, costs=prices("column", more), cv=3) for more in (0.0, MORE)
    ]
    assert_allclose(tables[0]["test_cost"] + MORE, tables[1]["test_cost"])


PICTURES = {
    "thresholds": ThresholdCostDisplay.from_estimator,
    "savings": SavingsCurveDisplay.from_estimator,
    "cost curve": CostCurveDisplay.from_estimator,
    "Brier curve": BrierCurveDisplay.from_estimator,
    "coverage": CoverageDisplay.from_estimator,
}


def numbers_of(axes):
    lines = [line.get_xydata() for line in axes.lines if len(line.get_xydata())]
    return np.concatenate(lines)


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("kind", ["constant", "column"])
def test_pictures_of_earnings(campaign, picture, kind):
    X, y = campaign
    model = fitted("gradient", X, y, prices(kind))
    display = PICTURES[picture](model, X, y, costs=prices(kind))
    assert np.isfinite(numbers_of(display.ax_)).all()


def test_pictures_of_training_limits_and_policies(campaign):
    X, y = campaign
    costs = prices("column")
    model = fitted("gradient", X, y, costs)
    limited = CapacityDisplay.from_estimator(model, X, y, action=1, costs=costs)
    assert np.isfinite(numbers_of(limited.ax_)).all()
    assert numbers_of(limited.ax_)[:, 1].min() < 0.0
    assert TrainingCostDisplay.from_estimator(model).ax_.lines[0].get_ydata().min() < 0.0
    policies = {"model": model.predict(X, costs=costs), "nobody": np.zeros(len(y), dtype=int)}
    bars = PolicyDisplay.from_decisions(y, policies, costs=costs.bind_table(X))
    assert np.isfinite([bar.get_width() for bar in bars.ax_.patches]).all()

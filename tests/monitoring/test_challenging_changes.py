"""`challenge(recalibrate=True)` and `reprice`, groups, and more rows against newer ones."""

from dataclasses import replace

import numpy as np
import pytest

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.calibration import Beta, Sigmoid
from costboost.metrics.policies import SumInterval, sum_interval
from costboost.monitoring import challenge, reprice
from costboost.persistence import load, save


def rows(n, seed, *, rate=1.0, n_classes=2):
    """Rows of which one column says how likely each class is; `rate` makes the last one rarer."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 2))
    y = np.minimum((X[:, 0] * n_classes + rng.normal(scale=0.5, size=n)), n_classes - 1)
    y = np.maximum(np.rint(y), 0).astype(int)
    return X, np.where((y == n_classes - 1) & (rng.uniform(size=n) > rate), 0, y)


COSTS = {"fp": 4, "fn": 9}
INNER = GradientBoostClassifier(n_estimators=5, random_state=0)
MODELS = {
    "link": GradientBoostClassifier(n_estimators=10, random_state=0),
    "calibrated": GradientBoostClassifier(n_estimators=10, calibration="beta", random_state=0),
    "votes": CostBoostClassifier("adaboost", n_estimators=10, random_state=0),
    "shares": CostBoostClassifier("adamec", n_estimators=10, calibration=None, random_state=0),
    "isotonic": CostBoostClassifier("cgada", n_estimators=9, calibration="isotonic"),
    "auto": CostBoostClassifier(n_estimators=10, random_state=0),
    "mixture": PNormBoostClassifier(n_estimators=5, random_state=0),
    "any": MinimumCostClassifier(INNER, random_state=0),
    "natural": MinimumCostClassifier(INNER, calibration=None, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_new_map_mends_what_a_changed_prevalence_spoils(tmp_path, name, n_classes):
    costs = COSTS if n_classes == 2 else [[0, 2, 4], [3, 0, 3], [9, 5, 0]]
    old = MODELS[name].fit(*rows(1500, 0, n_classes=n_classes), costs=costs)
    X, y = rows(2400, 1, rate=0.3, n_classes=n_classes)
    before, decided = old.predict_proba(X), old.predict(X)
    found = challenge(old, X, y, time=np.arange(2400), costs=costs, recalibrate=True)
    assert found.learnt.tolist() == list(range(1800))
    assert np.array_equal(old.predict_proba(X), before)  # the old one is as it was
    held = slice(1800, 2400)
    rates = np.bincount(y[:1800], minlength=n_classes) / 1800
    means = found.model.predict_proba(X[:1800]).mean(axis=0)
    assert means == pytest.approx(rates, abs=0.03)
    assert np.abs(before[:1800].mean(axis=0) - rates).max() > 0.05
    p = found.model.predict_proba(X[held])
    assert found.swap.old.tolist() == decided[held].tolist()
    # Decisions are the cheapest by the new probabilities, and a file keeps them.
    table = np.array([[0, 4], [9, 0]]) if n_classes == 2 else np.array(costs)
    assert found.swap.new.tolist() == np.argmin(p @ table, axis=1).tolist()
    save(found.model, tmp_path / "m.cb")
    assert np.array_equal(load(tmp_path / "m.cb").predict_proba(X[held]), p)


def test_the_new_map_is_that_of_the_scores_of_the_rows_that_were_known():
    X, y = rows(800, 1, rate=0.5)
    old = MODELS["link"].fit(*rows(800, 0))
    found = challenge(old, X, y, time=np.arange(800), recalibrate=True, label_delay=100)
    assert len(found.learnt) == 500
    by_hand = Sigmoid().fit(old.decision_function(X)[:500], y[:500])
    assert found.model.predict_proba(X)[:, 1] == pytest.approx(
        by_hand.predict(old.decision_function(X))
    )
    # One that is calibrated keeps its kind: each fold's model has a map of all these rows.
    again = MODELS["calibrated"].fit(*rows(800, 0))
    maps = [member.maps for member in again._recalibrated(X, y)._model.members]
    assert [type(steps[-1].calibration.calibrators[0]) for steps in maps] == [Beta] * 5


def test_models_that_were_trained_on_costs_decide_by_their_own_rule():
    X, y = rows(800, 1, rate=0.3)
    old = CostBoostClassifier("adacost", n_estimators=9, random_state=0)
    old = old.fit(*rows(800, 0), costs=COSTS)
    found = challenge(old, X, y, time=np.arange(800), costs=COSTS)
    assert found.swap.old.tolist() == old.predict(X[600:]).tolist()
    assert found.swap.new.tolist() == found.model.predict(X[600:]).tolist()
    paid = [4 * (d == 1) * (y[600:] == 0) + 9 * (d == 0) * y[600:]
            for d in (found.swap.old, found.swap.new)]  # fmt: skip
    assert found.saved.total == (paid[0] - paid[1]).sum()


def test_constraints_hold_in_a_new_map():
    X, y = rows(800, 0)
    old = GradientBoostClassifier(n_estimators=9, monotonic_cst=[1, 0]).fit(X, y)
    turned = old._recalibrated(X, 1 - y)  # for which the best sigmoid falls
    grid = np.column_stack([np.linspace(0, 1, 50), np.full(50, 0.5)])
    assert (np.diff(turned.predict_proba(grid)[:, 1]) >= 0).all()


def test_repriced_decisions_are_billed_by_the_new_prices():
    X, y = rows(900, 0)
    amount = np.random.RandomState(2).lognormal(2, 1, 900)
    old = MODELS["link"].fit(X, y, costs={"fp": 4, "fn": 9})
    new = Costs(fp=40, fn=amount)
    found = reprice(old, X, y, costs=new)
    p = old.predict_proba(X)[:, 1]
    acted = [9 * p > 4 * (1 - p), amount * p > 40 * (1 - p)]
    paid = [np.where(a, 40 * (y == 0), amount * y) for a in acted]
    assert found.saved.total == pytest.approx((paid[0] - paid[1]).sum())
    assert found.advice == "replace"
    assert found.swap.new.tolist() == acted[1].astype(int).tolist()
    assert (len(found.learnt), len(found.judged)) == (0, 900)
    assert old.costs_.shape == (1, 2, 2)
    assert found.model.costs_per_row_
    assert not old.costs_per_row_
    back = reprice(old, X, y, costs=new, old_costs=new)
    assert (back.advice, back.swap.total.n_rows, back.rows_needed) == ("wait", 0, None)
    with pytest.raises(ValueError, match="costs of other rows: give old_costs"):
        reprice(found.model, X, y, costs=COSTS)


def test_intervals_allow_for_groups_and_folds_keep_them_whole():
    X, y = rows(1200, 1, rate=0.4)
    who = np.random.RandomState(0).randint(40, size=1200)
    old = MODELS["calibrated"].fit(*rows(1200, 0))
    found = challenge(old, X, y, time=np.arange(1200), costs=COSTS, groups=who)
    assert found.swap.realised is not None
    own = np.unique(who[900:], return_inverse=True)[1]
    assert found.saved == sum_interval(found.swap.realised, own)
    assert found.saved != sum_interval(found.swap.realised)
    model = GradientBoostClassifier(n_estimators=10, calibration="beta", random_state=0)
    model.fit(X[:900], y[:900], costs=Costs(**COSTS), groups=who[:900])
    assert np.array_equal(model.predict_proba(X), found.model.predict_proba(X))
    repriced = reprice(old, X, y, costs={"fp": 1, "fn": 30}, groups=who)
    assert repriced.saved == sum_interval(
        repriced.swap.realised, np.unique(who, return_inverse=True)[1]
    )


def test_more_rows_are_told_from_newer_ones():
    rng = np.random.RandomState(0)
    X = rng.uniform(size=(6000, 6))
    y = (rng.uniform(size=6000) < np.where((X[:, :3] > 0.5).sum(axis=1) % 2, 0.75, 0.25)).astype(
        int
    )
    model = GradientBoostClassifier(n_estimators=60, random_state=0)
    few = model.fit(X[:300], y[:300])
    how = {"time": np.arange(5700), "costs": COSTS}
    found = challenge(few, X[300:], y[300:], **how, n_old=300)
    assert found.advice == "replace"
    assert found.pays_by_more_rows
    latest = np.arange(300 + len(found.learnt))[-300:]
    again = challenge(
        few, X[latest[0] :], y[latest[0] :], time=np.arange(6000 - latest[0]), costs=COSTS,
        holdout=len(found.judged) / (6000 - latest[0]),
    )  # fmt: skip
    assert found.saved_by_as_many == again.saved
    turned = np.column_stack([1 - X[:, 0], X[:, 1:]])
    found = challenge(few, turned[300:], y[300:], **how, n_old=2000)
    assert found.advice == "replace"
    assert not found.pays_by_more_rows
    assert found.saved_by_as_many.low > 0
    half = SumInterval(found.saved.total / 2, 1.0, found.saved.total)
    assert not replace(found, saved_by_as_many=half).pays_by_more_rows
    less = half._replace(total=0.99 * half.total)
    assert replace(found, saved_by_as_many=less).pays_by_more_rows
    assert challenge(few, X[300:], y[300:], **how).saved_by_as_many is None
    assert challenge(few, X[300:], y[300:], **how, n_old=5000).saved_by_as_many is None


X, Y = rows(200, 1)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"recalibrate": True, "challenger": MODELS["link"]}, "trains no challenger"),
        ({"n_old": 0}, "n_old"),
        ({"groups": np.zeros(3)}, "groups has shape"),
        ({"groups": [None] * 200}, "every row must have a group"),
    ],
)
def test_what_a_challenge_refuses(how, message):
    old = MODELS["link"].fit(X, Y)
    with pytest.raises(ValueError, match=message):
        challenge(old, X, Y, time=np.arange(200), **how)


def test_models_that_cannot_change_say_so():
    old = MetaCostClassifier(INNER, 2, random_state=0).fit(X, Y, costs=COSTS)
    with pytest.raises(ValueError, match="a MetaCostClassifier has no map from scores"):
        challenge(old, X, Y, time=np.arange(200), costs=COSTS, recalibrate=True)
    trained = CostBoostClassifier("adacost", n_estimators=3).fit(X, Y, costs=COSTS)
    with pytest.raises(ValueError, match="cannot decide by other costs"):
        reprice(trained, X, Y, costs={"fp": 1, "fn": 1})
    with pytest.raises(ValueError, match="costs=None"):
        reprice(MODELS["link"].fit(X, Y), X, Y, costs=None)
    with pytest.raises(ValueError, match="no row to judge by has the label 1"):
        reprice(MODELS["link"].fit(X, Y), X, 0 * Y, costs=COSTS)
    with pytest.raises(ValueError, match="y is missing in row 0"):
        reprice(MODELS["link"].fit(X, Y), X, Y * np.nan, costs=COSTS)

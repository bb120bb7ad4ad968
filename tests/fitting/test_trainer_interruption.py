"""Ctrl-C ends all folds; callbacks see a model of the rounds so far."""

import importlib
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from costboost import (
    CostBoostClassifier,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.metrics import make_cost_scorer, mean_cost
from family import has_callbacks
from fitted_parts import calibrations, only

FAMILIES = {
    "adamec": (
        lambda **p: CostBoostClassifier("adamec", 6, cv=3, random_state=0, **p),
        ("costboost.boosting.adaboost.loop", "Boosting"),
    ),
    "gradient": (
        lambda **p: GradientBoostClassifier(
            "log", 6, cv=3, calibration="sigmoid", random_state=0, **p
        ),
        ("costboost.boosting.gradient.loop", "GradientBoosting"),
    ),
    "pnorm": (
        lambda **p: PNormBoostClassifier(
            n_estimators=6, cv=3, calibration="sigmoid", random_state=0, **p
        ),
        ("costboost.boosting.pnorm.loop", "PNormBoosting"),
    ),
}


@pytest.fixture(scope="module")
def rows():
    return make_classification(240, flip_y=0.1, random_state=0)


def interrupt_at(monkeypatch, place, number):
    """Make Ctrl-C come in the n-th round of any fold; return the count of rounds begun."""
    module, name = place
    loop = getattr(importlib.import_module(module), name)
    take, begun = loop.rounds, []

    def interrupted(self, first=0):
        for done in take(self, first):
            begun.append(done)
            if len(begun) == number:
                raise KeyboardInterrupt
            yield done

    monkeypatch.setattr(loop, "rounds", interrupted)
    return begun


@pytest.mark.parametrize("ensemble", [True, False])
@pytest.mark.parametrize(("number", "n_models"), [(4, 1), (6, 1), (7, 1), (9, 2), (15, 3)])
@pytest.mark.parametrize("family", FAMILIES)
def test_ctrl_c_ends_all_folds(monkeypatch, rows, family, number, n_models, ensemble):
    X, y = rows
    make, place = FAMILIES[family]
    begun = interrupt_at(monkeypatch, place, number)
    model = make(on_interrupt="keep", ensemble=ensemble).fit(X, y)
    assert len(begun) == number  # not one round more
    assert len(calibrations(model)) == n_models
    proba = model.predict_proba(X)
    assert np.all(np.isfinite(proba))
    assert np.mean((proba[:, 1] > 0.5) == y) > 0.7
    assert model.predict(X, costs={"fp": 1, "fn": 9}).mean() >= model.predict(X).mean()
    told = model.train_cost_
    assert len(told) == n_models if n_models > 1 else np.ndim(told) == 1


@pytest.mark.parametrize("family", FAMILIES)
def test_ctrl_c_raises_by_default_and_before_the_first_round(monkeypatch, rows, family):
    X, y = rows
    make, place = FAMILIES[family]
    interrupt_at(monkeypatch, place, 1)
    with pytest.raises(KeyboardInterrupt):
        make(on_interrupt="keep").fit(X, y)
    with monkeypatch.context() as again:
        interrupt_at(again, place, 9)
        with pytest.raises(KeyboardInterrupt):
            make().fit(X, y)


def test_an_interrupted_recipe_trains_no_further_model(monkeypatch, rows):
    X, y = rows
    begun = interrupt_at(monkeypatch, FAMILIES["adamec"][1], 32)
    options = {"votes": "gentle", "cv": 3, "ensemble": False, "on_interrupt": "keep"}
    model = CostBoostClassifier(n_estimators=100, random_state=0, **options).fit(X, y)
    assert len(begun) == 32
    assert len(calibrations(model)) == 3


def test_a_real_signal_ends_every_calibrated_method():
    """They would take hours; the margin is for machines that do other things besides."""
    command = [sys.executable, "-u", str(Path(__file__).with_name("interrupted.py")), "5000"]
    took, sent = {}, None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            first, _, rest = line.partition(" ")
            if first == "fit":
                name, sent = rest.strip(), None
            elif first == "round" and sent is None:
                sent = time.time()
                child.send_signal(signal.SIGINT)
            elif first == "done":
                took[name] = float(rest.split()[0]) - sent
    assert child.returncode == 0
    assert len(took) == 7
    assert max(took.values()) < 10.0, took


# ---------------------------------------------------------------- callbacks


needs_callbacks = pytest.mark.skipif(
    not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9"
)


def monitor(scoring):
    from sklearn.callback import ScoringMonitor

    return ScoringMonitor(scoring=scoring)


@needs_callbacks
@pytest.mark.parametrize("family", FAMILIES)
def test_monitors_score_every_round_of_every_fold(rows, family):
    X, y = rows
    first = monitor("accuracy")
    second = monitor({"cost": make_cost_scorer({"fp": 1, "fn": 5})})
    model = FAMILIES[family][0]().set_callbacks(first, second).fit(X, y)
    plain = FAMILIES[family][0]().fit(X, y)
    assert np.array_equal(model.predict_proba(X), plain.predict_proba(X))
    scores = [row["accuracy"] for row in first.get_logs().data]
    costs = [row["cost"] for row in second.get_logs().data]
    assert len(scores) == len(costs) == 18
    # The last of a fold is what that fold's calibrated model says.
    for fold in range(3):
        alone = only(FAMILIES[family][0]().fit(X, y), fold)
        assert scores[6 * fold + 5] == np.mean(alone.predict(X) == y)


@needs_callbacks
def test_monitors_take_a_cost_scorer_as_it_is(rows):
    X, y = rows
    costs = {"fp": 1, "fn": 5}
    watcher = monitor(make_cost_scorer(costs))
    model = GradientBoostClassifier("log", 4, costs=costs).set_callbacks(watcher).fit(X, y)
    seen = [row["score"] for row in watcher.get_logs().data]
    paid = [mean_cost(y, decided, costs=costs) for decided in model.staged_predict(X)]
    assert seen == pytest.approx([-cost for cost in paid])


@needs_callbacks
@pytest.mark.parametrize("model", [LogisticRegression(), GradientBoostClassifier("log", 4)])
def test_monitors_without_scoring_fail_in_scikit_learn_itself(rows, model):
    """1.9.1 reads the number that `score` returns as a dictionary: no estimator can help it."""
    X, y = rows
    if sklearn.__version__ != "1.9.1":
        pytest.skip("known of 1.9.1")
    with pytest.raises(TypeError, match="'float' object is not iterable"):
        model.set_callbacks(monitor(None)).fit(X, y)


@needs_callbacks
@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("cgada", 5, calibration=None),
        GradientBoostClassifier("log", 5),
        PNormBoostClassifier(n_estimators=5),
        GradientBoostRegressor(n_estimators=5),
    ],
    ids=["adaboost", "gradient", "pnorm", "regressor"],
)
def test_monitors_see_the_stages_of_one_model(rows, model):
    X, y = rows
    name = "r2" if isinstance(model, GradientBoostRegressor) else "accuracy"
    watcher = monitor(name)
    model.set_callbacks(watcher).fit(X, y)
    seen = [row[name] for row in watcher.get_logs().data]
    if name == "accuracy":
        expected = [np.mean(decided == y) for decided in model.staged_predict(X)]
    else:
        expected = [1 - np.mean((f - y) ** 2) / np.var(y) for f in model.staged_predict(X)]
    assert seen == pytest.approx(expected)


@needs_callbacks
def test_monitors_see_the_recipe_from_its_first_look(rows):
    X, y = rows
    watcher = monitor("neg_log_loss")
    model = CostBoostClassifier(n_estimators=20, cv=2, random_state=0)
    model.set_callbacks(watcher).fit(X, y)
    seen = [row["neg_log_loss"] for row in watcher.get_logs().data]
    assert len(seen) == 2 * 11  # rounds 10 to 20 of two folds
    proba = model.predict_proba(X)[np.arange(len(y)), y]
    if model.n_iter_ == 20:
        assert seen[-1] == pytest.approx(np.mean(np.log(proba)))

"""The one trainer: its order of work, with a family that is nothing but its functions."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, PNormBoostClassifier
from costboost.boosting.adaboost import rows, rules
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.estimators.adaboost import plan as adaboost_plan
from costboost.fitting.plan import TrainingPlan
from costboost.fitting.train import Family, Trainer
from costboost.shards.layout import RowData
from costboost.trees.tree import Limits

Y = np.array([0, 1, 0, 1, 1, 0, 0, 1])
X = np.arange(16.0).reshape(8, 2)


@dataclass
class Count:
    """A round that says how many rows there are."""

    number: int
    train_cost: float


class CountingLoop:
    stop = "rounds"

    def __init__(self, n_rows, n_rounds, log):
        self.n_rows, self.n_rounds, self.log = n_rows, n_rounds, log

    def rounds(self, first=0):
        for number in range(first, self.n_rounds):
            self.log.append(f"round {number}")
            yield Count(number, float(self.n_rows))

    def replay(self, done):
        self.log.append(f"replay {len(done)}")


@dataclass
class Loader:
    data: RowData
    labels = None
    n_segments = 1

    def load(self, numbers):
        return SimpleNamespace(y=self.data.y[numbers])


def counting(log):
    """Return a family whose models are the numbers of rows that they were trained on."""

    def open_loop(trainer, shards, loader, numbers, previous):
        log.append("open")
        return CountingLoop(shards.n_rows, trainer.n_rounds, log)

    def finish(trainer, loop, done, numbers):
        log.append("finish")
        return loop.n_rows

    return Family(
        settle=None,
        loader=lambda trainer, numbers: Loader(trainer.data_of(numbers)),
        loop=open_loop,
        follow=None,
        to_member=lambda trainer, loop, done: loop.n_rows,
        finish=finish,
        score=None,
        curves=lambda plan, loop, done, model: {"seen_": [model] * len(done)},
        attributes=lambda plan, models, scores: {"models_": models, "n_iter_": len(models)},
    )


def plan(**other):
    given = {"calibration": None, "patience": None, "n_classes": 2, **other}
    return TrainingPlan(
        setting=SimpleNamespace(n_rounds=3),
        limits=Limits(),
        max_bins=255,
        categorical_features=None,
        estimator="outside",  # nothing is binned
        seed=0,
        n_threads=1,
        total_rounds=3,
        validation_fraction=0.25,
        metric="cost",
        tolerance=0.0,
        verbose=0,
        on_interrupt="raise",
        **given,
    )


def trainer(log, weights=None, observer=None):
    costs = Costs(fp=1, fn=2).bind([0, 1])
    return Trainer(counting(log), plan(), X, Y, weights, costs, observer=observer)


def test_a_model_is_opened_replayed_trained_and_finished_in_this_order():
    log = []
    with trainer(log) as training:
        assert training.train() == 8
    assert log == ["open", "replay 0", "round 0", "round 1", "round 2", "finish"]
    (history,) = training.histories
    assert history.curves == {"seen_": [8, 8, 8]}
    assert (history.stop, history.evals, len(history.rounds)) == ("rounds", {}, 3)


def test_a_warm_start_goes_on_after_the_rounds_that_there_are():
    log = []
    with trainer(log) as training:
        training.train(None, SimpleNamespace(rounds=[Count(0, 8.0), Count(1, 8.0)]))
    assert log == ["open", "replay 2", "round 2", "finish"]
    assert len(training.histories[0].rounds) == 3


@pytest.mark.parametrize(
    ("chosen", "n_rows"), [(None, 6), (np.array([0, 1, 2, 3]), 3), (np.array([3, 4, 5]), 3)]
)
def test_rows_without_weight_are_as_good_as_absent(chosen, n_rows):
    weights = np.array([1.0, 2.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0])
    with trainer([], weights) as training:
        assert training.train(chosen) == n_rows


def test_whoever_ends_a_model_limits_those_that_follow():
    log = []
    with trainer(log, observer=lambda done, fitted: done.number == 1) as training:
        training.train()
        assert training.n_rounds == 2
        log.clear()
        training.train()
    assert [line for line in log if "round" in line] == ["round 0", "round 1"]


def test_the_observer_can_have_the_model_so_far():
    found = []
    with trainer([], observer=lambda done, fitted: found.append(fitted())) as training:
        training.train()
    assert found == [{"models_": (8,), "n_iter_": 1}] * 3


# Rows are wrapped once, and what holds for all of them is read once.


@pytest.mark.parametrize(
    ("method", "calibration"),
    [("auto", "sigmoid"), ("cgada", "sigmoid"), ("adacost", "beta"), ("adacost", None)],
)
def test_prices_by_class_are_read_once_a_fit(method, calibration, monkeypatch):
    calls, read = [], rules.class_prices

    def counted(*arguments, **options):
        calls.append(arguments)
        return read(*arguments, **options)

    for module in (rules, rows, adaboost_plan):
        monkeypatch.setattr(module, "class_prices", counted)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2))
    labels = (table[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = CostBoostClassifier(method, 2, calibration=calibration, cv=3, random_state=0)
    model.fit(table, labels, costs={"fp": 1, "fn": 3})
    assert len(calls) == 1


def test_rows_with_costs_of_their_own_forget_the_prices_by_class():
    same = Costs(fp=1, fn=3).bind([0, 1])
    known = rules.class_prices(same, 2)
    loader = TrainingRows(RowData(Y, None, same), 2, Y, known=known)
    assert loader.by_class() is known
    assert loader.on(RowData(Y[:3])).by_class() is known
    own = Costs(fp=1, fn=np.arange(1.0, 9.0)).bind([0, 1], 8)
    assert loader.on(RowData(Y, None, own)).by_class() is None


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("adaboost", 3),
        GradientBoostClassifier(n_estimators=3),
        PNormBoostClassifier(n_estimators=3),
    ],
)
def test_curves_are_as_long_as_the_rounds_in_every_family(model):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 3))
    labels = (table[:, 0] + rng.normal(size=200) > 0).astype(int)
    model.fit(table, labels)
    curves = {name: values for name, values in vars(model).items() if name.endswith("s_")}
    assert len(model.train_cost_) == len(model.estimator_weights_) == model.n_iter_ == 3
    assert "estimators_" not in curves

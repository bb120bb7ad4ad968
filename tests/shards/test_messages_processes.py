"""Loops whose rows are in other processes give the same model, bit for bit."""

import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.evaluation import BoundRule
from costboost.boosting.adaboost.hypothesis import Hypothesis
from costboost.boosting.adaboost.messages.binding import Bind
from costboost.boosting.adaboost.messages.summing import BalanceSums, LargestPriced, View
from costboost.boosting.adaboost.messages.weighing import (
    FirstWeights,
    HandFactors,
    LargestHanded,
    ScaleHanded,
)
from costboost.boosting.adaboost.rows import Given
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient import learner as gradient_learner
from costboost.fitting import tables
from costboost.fitting import trainer as trainers
from costboost.shards import layout
from costboost.shards.local import Shards
from costboost.shards.messages import Message
from processes import ProcessShards, Workers

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:300, :8].copy(), y[:300]
X[::7, 2] = np.nan
AMOUNT = np.random.default_rng(0).lognormal(0.0, 1.0, len(y))
WEIGHT = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
IRIS = load_iris(return_X_y=True)
FAR = np.where(np.arange(len(y)) == 3, 1e5, 1.0)  # one price needs long steps
ACTIONS = Costs.from_matrix([[0, 1, 3], [9, 2, 0]], classes=[0, 1], actions=["no", "ask", "yes"])

BY_CLASS = {"costs": Costs(fp=1, fn=4)}
BY_ROW = {"costs": Costs(fp=1, fn=AMOUNT), "sample_weight": WEIGHT}


def boosted(name, data=(X, y), given=None, **options):
    """Return a case of the AdaBoost family: a model, its data, and what else `fit` gets."""
    options = {"n_estimators": 4, "max_depth": 2, "calibration": None, "random_state": 0} | options
    return CostBoostClassifier(name, **options), data, given or {}


def gradient(loss, data=(X, y), given=None, **options):
    return GradientBoostClassifier(loss, 4, random_state=0, **options), data, given or {}


def mixed(data=IRIS, given=None, **options):
    return PNormBoostClassifier(n_estimators=4, random_state=0, **options), data, given or {}


def iris_prices(*, free):
    prices = np.random.default_rng(2).uniform(1, 5, (150, 3))
    prices[np.arange(150), IRIS[1]] *= not free
    return Costs.of_rows(prices)


CASES = {}
for name in RULES:
    CASES[f"{name} by class"] = boosted(name, given=BY_CLASS, subsample=0.8)
    CASES[f"{name} by row"] = boosted(name, given=BY_ROW)
for name in ("adaboost", "adac2", "csb2", "adacost", "adamec"):
    CASES[f"{name}, three classes"] = boosted(name, IRIS)
    if name != "adamec":
        own = {"costs": iris_prices(free=True)}
        CASES[f"{name}, three classes by row"] = boosted(name, IRIS, own)
CASES |= {
    "one far price": boosted("csada", given={"costs": Costs(fp=1, fn=FAR)}),
    "far factors": boosted("csb2", given={"costs": Costs(fp=1, fn=FAR)}),
    "far handed": boosted("gradient-csb", given={"costs": Costs(fp=1e-5, fn=FAR)}),
    "deep": boosted("csada", given=BY_ROW, max_depth=8),
    "real": boosted("adamec", given=BY_ROW, votes="real"),
    "gentle": boosted("adaboost", votes="gentle"),
    "actions": boosted("adamec", given={"costs": ACTIONS}, min_weight_leaf=0.01),
    "dear right answers": boosted("csb2", given={"costs": {"fp": 1, "fn": 2, "tp": 3}}),
}
recipe = {"n_estimators": 30, "calibration": "auto", "max_depth": 3, "cv": 2}
CASES["auto"] = boosted("auto", given=BY_ROW, **recipe)
CASES["auto, three classes"] = boosted("auto", IRIS, **recipe)
for loss in ("log", "exponential", "cost-exponential", "expected-cost"):
    for step in ("newton", "line-search"):
        CASES[f"{loss} {step}"] = gradient(loss, given=BY_CLASS, step=step, subsample=0.8)
        CASES[f"{loss} {step} by row"] = gradient(loss, given=BY_ROW, step=step)
CASES["log, three classes"] = gradient("log", IRIS)
for loss in ("squared", "huber"):
    CASES[loss] = (GradientBoostRegressor(loss, 4, random_state=0), (X, X[:, 0] ** 2), {})
for method in ("lp-csb", "lp-csb-pa", "lp-csb-a", "dse", "gbse", "adaboost.m2"):
    CASES[method] = mixed(method=method)
for step in ("harmonic", "bound", "search"):
    own = {"costs": iris_prices(free=False), "sample_weight": np.resize([1.0, 2.5], 150)}
    CASES[f"p-norm {step}"] = mixed(given=own, step=step)


@pytest.fixture(scope="module")
def workers():
    workers = Workers(2)
    yield workers
    workers.end()


@pytest.fixture
def elsewhere(workers, monkeypatch):
    """Return a function that fits a model on shards in other processes."""

    def fit(model, *data, n_shards=3, **extra):
        with monkeypatch.context() as patch:
            patch.setattr(tables, "sensible_shards", lambda *_: n_shards)
            patch.setattr(layout, "_DEAL", 40)
            patch.setattr(layout, "Shards", lambda shards: ProcessShards(workers, shards))
            return quiet_fit(model, *data, **extra)

    return fit


def quiet_fit(model, *data, **extra):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **extra)


def said(model, X):
    told = ("estimator_weights_", "normalizers_", "train_cost_", "train_loss_", "cost_bound_")
    parts = [np.asarray(getattr(model, name)) for name in told if hasattr(model, name)]
    answer = getattr(model, "predict_proba", model.predict)
    return [*parts, answer(X)]


def assert_same(here, there, X):
    for one, other in zip(said(here, X), said(there, X), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("case", CASES)
def test_models_are_the_same_bit_for_bit(case, elsewhere):
    model, data, given = CASES[case]
    here = quiet_fit(clone(model), *data, **given)
    assert_same(here, elsewhere(clone(model), *data, **given), data[0])


@pytest.mark.parametrize("name", ["adacost", "adac2"])
def test_rounds_are_replayed(name, elsewhere):
    def options(n_rounds):
        return {"n_estimators": n_rounds, "calibration": None, "random_state": 0}

    here = CostBoostClassifier(name, **options(6))
    there = CostBoostClassifier(name, warm_start=True, **options(3))
    elsewhere(there, X, y, costs=Costs(fp=1, fn=4))
    elsewhere(there.set_params(n_estimators=6), X, y, costs=Costs(fp=1, fn=4))
    assert_same(quiet_fit(here, X, y, costs=Costs(fp=1, fn=4)), there, X)


def test_gradients_on_the_coarse_grid(elsewhere, monkeypatch):
    monkeypatch.setattr(gradient_learner, "PACKED_ROWS", 1)
    make = [GradientBoostClassifier(n_estimators=3, random_state=0) for _ in range(2)]
    assert_same(quiet_fit(make[0], X, y), elsewhere(make[1], X, y), X)


def test_messages_of_rare_occasions(workers):
    """Prices that cancel, or differ by many powers of ten, ask for these."""
    given = Given(y, Costs(fp=1, fn=AMOUNT).bind([0, 1], len(y)), None, 2, y)
    plan, hypothesis = layout.plan_layout(y, len(y), 2, 1), Hypothesis(np.array([1]), np.ones(1))
    sums = [LargestPriced(hypothesis), BalanceSums(View(hypothesis), 2.0**40)]
    messages = [
        Bind(BoundRule(RULES["csada"], 4, 2), (1.0,)),
        FirstWeights(),
        HandFactors(),
        ScaleHanded(3),
        LargestHanded(),
        *sums,
    ]
    codes = np.zeros((len(y), 1), np.uint8)
    with plan.cut(codes, given.load) as shards:
        here = shards.call(messages)
        with ProcessShards(workers, plan.cut(codes, given.load).shards) as remote:
            there = remote.call(messages)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)
    assert here[4] == 8.0 * AMOUNT[y == 1].max()


MANY = 300_000
LARGE = {
    "adaboost": boosted("adaboost"),
    "csb2 by row": boosted("csb2"),
    "adacost by row": boosted("adacost"),
    "csada by row": boosted("csada"),
    "gradient-csb by row": boosted("gradient-csb"),
    "log": gradient("log"),
    "lp-csb": mixed(p=2.0),
}


@pytest.mark.parametrize("case", LARGE)
def test_no_array_as_long_as_the_rows_is_made_beside_them(case, elsewhere, monkeypatch):
    """During the rounds this process allocates less than a byte a row: the rows are elsewhere."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(MANY, 3)).astype(np.float32)
    labels = (table[:, 0] + rng.normal(size=MANY) > 1).astype(int)
    given = {"costs": Costs(fp=1, fn=rng.lognormal(size=MANY))} if "by row" in case else {}
    peaks, take = [], trainers.take_rounds

    def measured(*arguments, **options):
        tracemalloc.start()
        try:
            return take(*arguments, **options)
        finally:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()

    monkeypatch.setattr(trainers, "take_rounds", measured)
    elsewhere(clone(LARGE[case][0]), table, labels, n_shards=2, **given)
    assert peaks
    assert max(peaks) < MANY


def test_what_needs_all_rows_at_once_cannot_go_elsewhere():
    """Loops see no rows: what still asks for them (outside learners, ...) does so by name."""
    assert not hasattr(ProcessShards, "fetch")
    assert not hasattr(ProcessShards, "shards")
    assert hasattr(Shards, "fetch")


def test_every_message_is_sent_by_these_tests(monkeypatch):
    """A new message must be in one of the cases above, or say here why it is not."""
    seen, call = set(), Shards.call

    def listen(shards, messages, n_rows=None):
        seen.update(type(message).__name__ for message in messages)
        return call(shards, messages, n_rows)

    monkeypatch.setattr(Shards, "call", listen)
    monkeypatch.setattr(Shards, "alone", False)  # as those elsewhere: trees grow node by node
    for model, data, given in CASES.values():
        quiet_fit(clone(model), *data, **given)
    # Asked in other tests of this module.
    seen |= {"Recall", "Pack", "LargestHanded", "LargestPriced", "ScaleHanded", "BalanceSums"}
    # Asked only with outside learners, which need all rows at once.
    seen |= {"LargestSize", "Reward"}
    # Asked only of a shard that is alone, in this process (`tests/trees/test_at_once.py`).
    seen |= {"GrowTree"}
    assert sorted(names_of_messages() - seen) == []


TO_PARTS = tuple(
    f"costboost.{name}"
    for name in (
        "binning.counting",
        "binning.questions",
        "shards.part_messages",
        "fitting.spread_copies",
    )
)


def names_of_messages():
    """Return all messages to shards that nothing is derived from.

    Those to parts of a table are sent by tests/binning/test_spread.py and tests/fitting.
    """
    known, pending = set(), [Message]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        to_shards = kind.__module__.startswith("costboost.") and kind.__module__ not in TO_PARTS
        if to_shards and not kind.__subclasses__():
            known.add(kind.__name__)
    return known

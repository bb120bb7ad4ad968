"""Loops and tables whose rows are in other processes give the same model, bit for bit."""

import importlib
import pkgutil
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

import costboost
from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.binning.binner import fit_binner
from costboost.binning.partitioned import fit_partitioned_binner
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import RULES, BoundRule
from costboost.boosting.adaboost.sums import View, largest_priced_weight, sum_balance
from costboost.boosting.adaboost.updates import (
    bind_rule,
    largest_learner_weight,
    scale_learner_factors,
    set_first_weights,
    set_learner_factors,
)
from costboost.boosting.gradient import learner as gradient_learner
from costboost.boosting.gradient.rows import LossRows, fetch_row_kinds
from costboost.fitting import tables
from costboost.fitting import train as trainers
from costboost.fitting.spread import PartsTable
from costboost.runtime.messages import Message
from costboost.shards import grid, layout
from costboost.shards.layout import RowData, Shards
from gradient_shards import cut_rows
from processes import ProcessParts, ProcessShards, Source, Workers, name_of
from rebuilding import RebuiltShards

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
    "joint stumps": boosted("csada", given={"costs": Costs(fp=1, fn=1e9)}, max_depth=1),
    "far factors": boosted("csb2", given={"costs": Costs(fp=1, fn=FAR)}),
    "far handed": boosted("gradient-csb", given={"costs": Costs(fp=1e-5, fn=FAR)}),
    "deep": boosted("csada", given=BY_ROW, max_depth=8),
    "real": boosted("adamec", given=BY_ROW, votes="real"),
    "gentle": boosted("adaboost", votes="gentle"),
    "actions": boosted("adamec", given={"costs": ACTIONS}, min_weight_leaf=0.01),
    "dear right answers": boosted("csb2", given={"costs": {"fp": 1, "fn": 2, "tp": 3}}),
}
columns = {"feature_costs": {0: 0.05, "g": {"columns": [2, 3], "cost": 0.1}, 5: np.inf}}
CASES["columns with prices"] = boosted("adamec", given=BY_ROW, **columns)
recipe = {"n_estimators": 30, "calibration": "auto", "max_depth": 3, "cv": 2}
CASES["auto"] = boosted("auto", given=BY_ROW, **recipe)
CASES["auto, three classes"] = boosted("auto", IRIS, **recipe)
for loss in ("log", "exponential", "cost-exponential", "expected-cost"):
    for step in ("newton", "line-search"):
        CASES[f"{loss} {step}"] = gradient(loss, given=BY_CLASS, step=step, subsample=0.8)
        CASES[f"{loss} {step} by row"] = gradient(loss, given=BY_ROW, step=step)
CASES["log, three classes"] = gradient("log", IRIS)
CASES["expected-cost, three classes by row"] = gradient(
    "expected-cost", IRIS, {"costs": iris_prices(free=True)}
)
for loss in ("squared", "huber"):
    CASES[loss] = (GradientBoostRegressor(loss, 4, random_state=0), (X, X[:, 0] ** 2), {})
for method in ("lp-csb", "lp-csb-pa", "lp-csb-a", "dse", "gbse", "adaboost.m2"):
    CASES[method] = mixed(method=method)
CASES["lp-csb of some rows"] = mixed(subsample=0.8)
for step in ("harmonic", "bound", "search"):
    own = {"costs": iris_prices(free=False), "sample_weight": np.resize([1.0, 2.5], 150)}
    CASES[f"p-norm {step}"] = mixed(given=own, step=step)


@pytest.fixture(scope="module")
def workers():
    workers = Workers(2)
    yield workers
    workers.end()


@pytest.fixture
def elsewhere(workers):
    """Return a function that fits a model on shards in other processes."""
    return lambda *given, **options: fit_elsewhere(workers, *given, **options)


def fit_elsewhere(workers, model, *data, n_shards=3, **extra):
    return fit_on(lambda shards: ProcessShards(workers, shards), n_shards, model, *data, **extra)


def fit_on(make_shards, n_shards, model, *data, **extra):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "sensible_shards", lambda *_: n_shards)
        patch.setattr(layout, "_DEAL", 40)
        patch.setattr(layout, "Shards", make_shards)
        return quiet_fit(model, *data, **extra)


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


@pytest.mark.parametrize("case", CASES)
def test_shards_that_are_made_again_give_the_same_model(case):
    """A message that changes rows must say so, and keep what those who come later need of it."""
    model, data, given = CASES[case]
    here = quiet_fit(clone(model), *data, **given)
    assert_same(here, fit_on(RebuiltShards, 2, clone(model), *data, **given), data[0])


def test_histograms_are_not_added_up_again(monkeypatch):
    """Of the trees of past rounds only the leaves of rows are left."""
    summed, told = [0], []
    plain, rebuild = grid.ClassWeights.histogram, RebuiltShards.rebuild

    def counted(*given):
        summed[0] += 1
        return plain(*given)

    def noted(shards):
        before = summed[0]
        rebuild(shards)
        told.append((len(shards.journal), summed[0] - before))

    monkeypatch.setattr(grid.ClassWeights, "histogram", counted)
    monkeypatch.setattr(RebuiltShards, "rebuild", noted)
    fit_on(RebuiltShards, 2, clone(CASES["csb2 by row"][0]), X, y, **BY_ROW)
    assert summed[0] > 0
    assert max(entries for entries, _ in told) > 20
    assert {again for _, again in told} == {0}


@pytest.mark.parametrize("name", ["adacost", "adac2"])
def test_rounds_are_replayed(name, workers):
    replay(workers, name)


def replay(workers, name):
    def options(n_rounds):
        return {"n_estimators": n_rounds, "calibration": None, "random_state": 0}

    here = CostBoostClassifier(name, **options(6))
    there = CostBoostClassifier(name, warm_start=True, **options(3))
    fit_elsewhere(workers, there, X, y, costs=Costs(fp=1, fn=4))
    fit_elsewhere(workers, there.set_params(n_estimators=6), X, y, costs=Costs(fp=1, fn=4))
    assert_same(quiet_fit(here, X, y, costs=Costs(fp=1, fn=4)), there, X)


def test_gradients_on_the_coarse_grid(workers):
    learn_coarsely(lambda shards: ProcessShards(workers, shards))
    learn_coarsely(RebuiltShards)


def learn_coarsely(make_shards):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradient_learner, "PACKED_ROWS", 1)
        make = [GradientBoostClassifier(n_estimators=3, random_state=0) for _ in range(2)]
        assert_same(quiet_fit(make[0], X, y), fit_on(make_shards, 3, make[1], X, y), X)


def test_messages_of_rare_occasions(workers):
    send_rare_messages(workers)


def send_rare_messages(workers):
    """Prices that cancel, or differ by many powers of ten, and users' losses ask for these."""
    given = TrainingRows(RowData(y, None, Costs(fp=1, fn=AMOUNT).bind([0, 1], len(y))), 2, y)
    plan, hypothesis = layout.plan_layout(y, len(y), 2, 1), Hypothesis(np.array([1]), np.ones(1))
    sums = [
        largest_priced_weight(hypothesis=hypothesis),
        sum_balance(view=View(hypothesis), scale=2.0**40),
    ]
    messages = [
        bind_rule(bound=BoundRule(RULES["csada"], 4, 2), scales=(1.0,)),
        set_first_weights(),
        set_learner_factors(),
        scale_learner_factors(exponent=3),
        largest_learner_weight(),
        *sums,
    ]
    codes = np.zeros((len(y), 1), np.uint8)
    with plan.cut(codes, given.load) as shards:
        here = shards.call(messages)
        with ProcessShards(workers, plan.cut(codes, given.load).shards) as remote:
            there = remote.call(messages)
        again = RebuiltShards(plan.cut(codes, given.load).shards)
        made_again = [again.call([message])[0] for message in messages]
    for one, *others in zip(here, there, made_again, strict=True):
        for other in others:
            np.testing.assert_array_equal(one, other)
    assert here[4] == 8.0 * AMOUNT[y == 1].max()
    with (
        cut_rows(LossRows(y, weights=WEIGHT), n_shards=2) as cut,
        ProcessShards(workers, cut.shards) as remote,
    ):
        (outline,) = remote.call([fetch_row_kinds()])
    assert (len(outline.y), len(outline.weights), outline.prices) == (0, 0, None)


# --- tables in parts

FRAME = pd.DataFrame(X, columns=list("abcdefgh")).assign(
    kind=pd.Categorical(np.resize(["ash", "elm", "oak"], len(y))), amount=AMOUNT
)
CUTS = [slice(0, 90), slice(90, 91), slice(91, len(y))]
IN_PARTS = {
    "by column": (boosted("csb2", given={"costs": Costs(fp=2, fn="amount")}), y),
    "calibrated": (boosted("adamec", calibration="sigmoid", cv=3), y),
    "early": (boosted("adaboost", n_estimators=20, n_iter_no_change=3), y),
    "auto": (boosted("auto", **recipe), y),
    "copies": (boosted("auto", **recipe), y[np.arange(len(y)) % 100]),
    "log": (gradient("log"), y),
    "squared": ((GradientBoostRegressor(n_estimators=4, random_state=0), None, {}), X[:, 0] ** 2),
    "p-norm": (mixed(), y),
    "many levels": (boosted("auto", **recipe), y),
}
LEVELS = [f"L{i}" for i in np.arange(len(y)) ** 2 % 97]


def parts_of(workers, frame, truth, weights=None):
    own = [None if weights is None else weights[part] for part in CUTS]
    sources = [Source(frame.iloc[p], truth[p], w) for p, w in zip(CUTS, own, strict=True)]
    return ProcessParts(workers, sources)


def fit_parts(workers, case):
    """Fit a model to a table whose parts are in other processes; compare it."""
    (model, _, extra), truth = IN_PARTS[case]
    frame = FRAME.iloc[np.arange(len(y)) % 100] if case == "copies" else FRAME
    if case == "many levels":
        frame = frame.assign(kind=pd.Categorical(LEVELS))
    here = quiet_fit(clone(model), frame, truth, sample_weight=WEIGHT, **extra)
    numbers = isinstance(model, GradientBoostRegressor)
    with parts_of(workers, frame, truth, WEIGHT) as parts:
        table = PartsTable(parts, frame.columns, targets=numbers)
        given = (table, table.labels(), table.weights())
        assert_same(here, quiet_fit(clone(model), *given, **extra), frame)


@pytest.mark.parametrize("case", IN_PARTS)
def test_tables_in_parts_give_the_same_model(case, workers):
    fit_parts(workers, case)


def test_parts_bin_columns_together(workers):
    bin_in_parts(workers)


def bin_in_parts(workers):
    """Many values, and a part that does not know yet what a column holds."""
    frame = FRAME.assign(late=pd.Series(["x"] * len(y), dtype=object))
    frame.loc[: CUTS[0].stop - 1, "late"] = np.nan
    pieces = [frame.iloc[part] for part in CUTS]
    pieces[0] = pieces[0].astype({"late": float})
    with ProcessParts(workers, [Source(piece, None) for piece in pieces]) as parts:
        found = fit_partitioned_binner(parts.send, max_bins=5, few=8)
    assert found == fit_binner(frame, max_bins=5)


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


def test_parts_follow_a_model(workers):
    follow_in_parts(workers)


def follow_in_parts(workers):
    model = quiet_fit(GradientBoostClassifier(n_estimators=3, random_state=0), FRAME, y)
    forest, rows = model._model.members[0].forest, np.arange(80, 200)
    with parts_of(workers, FRAME, y) as parts:
        table = PartsTable(parts, FRAME.columns)
        table.read_classes()
        table.binner = forest.binner
        followed = table.follow(rows, forest.base)
        found = followed.add(forest)
        followed.close()
    np.testing.assert_array_equal(found[:, 0], model.decision_function(FRAME.iloc[rows]))


# --- all of them

# By name: why no process but that of the loop is ever asked.
HERE_ONLY = {
    "largest_vote_size": "of the votes of an outside classifier, which needs all rows at once",
    "grow_tree": "to a single shard, in this process (`tests/trees/test_grower_at_once.py`)",
}


def all_messages():
    """Return all messages of the package."""
    found = set()
    for module in pkgutil.walk_packages(costboost.__path__, "costboost."):
        if not module.name.endswith("__main__"):
            values = vars(importlib.import_module(module.name)).values()
            found |= {value for value in values if isinstance(value, Message)}
    return found


def test_every_message_is_answered_in_another_process():
    """A new message must be in one of the cases above, or say in `HERE_ONLY` why it is not."""
    workers = Workers(2)
    try:
        for model, data, given in CASES.values():
            fit_elsewhere(workers, clone(model), *data, **given)
        replay(workers, "adac2")
        learn_coarsely(lambda shards: ProcessShards(workers, shards))
        send_rare_messages(workers)
        for case in IN_PARTS:
            fit_parts(workers, case)
        bin_in_parts(workers)
        follow_in_parts(workers)
        answered = workers.answered()
    finally:
        workers.end()
    silent = {kind.__name__ for kind in all_messages() if name_of(kind) not in answered}
    assert silent == set(HERE_ONLY)

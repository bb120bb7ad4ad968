"""A table in parts gives the model of the same rows in memory, bit for bit."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES
from costboost.shards.parts import forward_to_shard
from costboost.shards.rows import count_codes, divide_node, sum_histogram
from spread_tables import spread
from zoo import many_levels

RNG = np.random.default_rng(0)
N = 400


def make_frame():
    """Return numbers, missing values and categories, and an amount."""
    x = RNG.normal(size=(N, 4))
    frame = pd.DataFrame(x, columns=list("abcd"))
    frame.loc[::7, "b"] = np.nan
    frame["kind"] = pd.Categorical(RNG.choice(["ash", "elm", "oak"], N))
    frame["amount"] = RNG.lognormal(0.0, 1.0, N)
    y = (x[:, 0] + x[:, 1] ** 2 + RNG.normal(size=N) > 1).astype(int)
    return frame, y


FRAME, Y = make_frame()
WEIGHT = RNG.integers(0, 4, N).astype(float)
BY_ROW = Costs(fp=2, fn="amount")
BY_CLASS = Costs(fp=1, fn=5)


def quiet(model, *given, **extra):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(*given, **extra)


def check_same(model, frame=FRAME, y=Y, weights=None, costs=None, cuts=(37, 38, 38, 300), **opts):
    extra = {} if costs is None else {"costs": costs}
    here = quiet(model, frame, y, sample_weight=weights, **extra)
    table = spread(frame, y, weights, cuts, **opts)
    there = quiet(model, table, table.labels(), sample_weight=table.weights(), **extra)
    for ask in ("predict_proba", "decision_function", "predict"):
        if hasattr(here, ask):
            one, other = getattr(here, ask)(frame), getattr(there, ask)(frame)
            assert_array_equal(one, other)
    for name in ("train_cost_", "train_loss_", "cost_bound_", "validation_loss_"):
        assert hasattr(here, name) == hasattr(there, name)
        if hasattr(here, name):
            for one, other in zip(
                np.atleast_2d(getattr(here, name)), np.atleast_2d(getattr(there, name)), strict=True
            ):
                assert_array_equal(one, other)
    assert_array_equal(here.feature_names_in_, there.feature_names_in_)


def boost(method, **options):
    fixed = {"n_estimators": 6, "max_depth": 3, "calibration": None, "random_state": 0}
    return CostBoostClassifier(method, **fixed | options)


@pytest.mark.parametrize("method", RULES)
@pytest.mark.parametrize("costs", [BY_CLASS, BY_ROW], ids=["by class", "by row"])
def test_adaboost_family(method, costs):
    check_same(boost(method, subsample=0.8), costs=costs)


CASES = {
    "weights": (boost("adac2"), {"weights": WEIGHT, "costs": BY_ROW}),
    "columns": (boost("cgada", max_features=2), {"costs": BY_CLASS}),
    "calibrated": (boost("adamec", calibration="sigmoid", cv=3), {"costs": BY_ROW}),
    "early": (boost("adaboost", n_estimators=30, n_iter_no_change=5), {}),
    "dear answers": (boost("csb2"), {"costs": Costs(fp=1, fn=2, tp=3)}),
    "auto": (CostBoostClassifier(n_estimators=30, cv=3, random_state=0), {"costs": BY_ROW}),
    "auto weights": (
        CostBoostClassifier(n_estimators=30, cv=3, random_state=0),
        {"weights": WEIGHT},
    ),
    "auto, one model": (
        CostBoostClassifier(n_estimators=20, cv=3, ensemble=False, random_state=0),
        {},
    ),
    "log": (GradientBoostClassifier(n_estimators=6, random_state=0), {"costs": BY_ROW}),
    "log weights": (
        GradientBoostClassifier(n_estimators=6, subsample=0.7, random_state=0),
        {"weights": WEIGHT, "costs": BY_CLASS},
    ),
    "cost-exponential": (
        GradientBoostClassifier("cost-exponential", n_estimators=6, random_state=0),
        {"costs": BY_ROW},
    ),
    "expected-cost": (
        GradientBoostClassifier("expected-cost", n_estimators=6, random_state=0),
        {"costs": BY_ROW},
    ),
    "huber": (
        GradientBoostRegressor("huber", n_estimators=6, random_state=0),
        {"y": FRAME["a"].to_numpy() ** 2, "targets": True},
    ),
    "squared": (
        GradientBoostRegressor(n_estimators=6, random_state=0),
        {"y": FRAME["a"].to_numpy() ** 2, "targets": True, "weights": WEIGHT},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_estimators(name):
    model, given = CASES[name]
    check_same(model, **given)


@pytest.mark.parametrize("method", ["lp-csb", "dse", "adaboost.m2"])
def test_many_classes(method):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    costs = Costs.from_matrix([[0, 1, 2], [3, 0, 1], [9, 2, 0]], classes=np.unique(names))
    model = PNormBoostClassifier(method=method, n_estimators=5, random_state=0)
    check_same(model, X, names, costs=costs, cuts=(50, 100))  # every part has one class
    recipe = CostBoostClassifier(n_estimators=20, cv=3, random_state=0)
    check_same(recipe, X, names, costs=costs, cuts=(50, 100))


@pytest.mark.parametrize("cuts", [(), (1,), (0, 0, 399, 400), tuple(range(6, 390, 6))])
def test_any_parts(cuts):
    check_same(boost("adac1", subsample=0.8), costs=BY_ROW, weights=WEIGHT, cuts=cuts)
    recipe = CostBoostClassifier(n_estimators=10, cv=2, random_state=0)
    check_same(recipe, costs=BY_ROW, cuts=cuts)


FREE = FRAME.assign(amount=FRAME["amount"].where(np.arange(N) >= 150, 0.0))


@pytest.mark.parametrize("name", ["cgada", "csb2", "adacost", "cost-exponential"])
def test_a_part_whose_rows_cost_nothing(name):
    model = boost(name) if name in RULES else GradientBoostClassifier(name, 6, objective="cgada")
    both = Costs(fp="amount", fn="amount")
    check_same(model, FREE, costs=both, cuts=(37, 150, 300))


def test_a_split_is_one_trip_where_columns_are_drawn_and_rows_counted():
    options = {"max_features": 2, "min_samples_leaf": 5, "max_depth": 3}
    model = GradientBoostClassifier(n_estimators=4, random_state=0, **options)
    check_same(model)
    table = spread(FRAME, Y, cuts=(37, 300))
    asked, send = [], table.cluster.send

    def noted(orders):
        inner = [
            call
            for order in orders
            if getattr(order, "message", None) is forward_to_shard
            for call in order.arguments["calls"]
        ]
        asked.append([call.message for call in inner])
        return send(orders)

    table.cluster.send = noted
    quiet(model, table, table.labels())
    splits = [kinds for kinds in asked if divide_node in kinds]
    assert len(splits) >= 4
    assert any(kinds.count(sum_histogram) == kinds.count(count_codes) == 2 for kinds in splits)
    # The roots' trips: their rows are counted when their histogram is known.
    roots = [kinds for kinds in asked if kinds and kinds[0] in (sum_histogram, count_codes)]
    assert len(roots) <= 4


def test_sorted_by_label():
    order = np.argsort(Y, kind="stable")
    check_same(boost("adac3"), FRAME.iloc[order], Y[order], costs=BY_ROW, cuts=(100, 200, 350))


def test_copies_stay_together_wherever_they_are():
    again = np.tile(np.arange(150), 3)
    recipe = CostBoostClassifier(n_estimators=10, cv=3, random_state=0)
    check_same(recipe, FRAME.iloc[again], Y[again], cuts=(100, 290))


@pytest.mark.parametrize(
    ("model", "word"),
    [
        (CostBoostClassifier("adaboost", estimator=GradientBoostClassifier()), "estimator"),
        (CostBoostClassifier("adaboost", warm_start=True, calibration=None), "warm_start"),
        (CostBoostClassifier("gradient-csb", objective=lambda at: at), "objective"),
        (CostBoostClassifier("adacost", beta=lambda sign, cost: cost), "beta"),
        (GradientBoostClassifier(init=GradientBoostClassifier()), "init"),
        (GradientBoostRegressor("pinball"), "loss"),
    ],
)
def test_what_needs_all_rows_is_refused(model, word):
    table = spread(FRAME, Y, cuts=(100,))
    with pytest.raises(ValueError, match=f"^{word}=.*files or on a cluster"):
        model.fit(table, table.labels())


def test_prices_in_memory_are_refused():
    table = spread(FRAME, Y, cuts=(100,))
    costs = Costs(fp=1, fn=FRAME["amount"].to_numpy())
    with pytest.raises(ValueError, match="Name the columns"):
        boost("adac2").fit(table, table.labels(), costs=costs)


def test_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        spread(FRAME.iloc[:0], Y[:0])


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier(n_estimators=20, random_state=0),
        CostBoostClassifier("adamec", n_estimators=3, random_state=0, target_encoding=True),
        GradientBoostClassifier(n_estimators=3, random_state=0, target_encoding=True),
        PNormBoostClassifier(n_estimators=3, random_state=0, target_encoding=True),
    ],
    ids=["auto", "adamec", "gradient", "p-norm"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_many_categories(model, n_classes, weighted):
    frame, y = many_levels(n_classes)
    again = np.repeat(np.arange(800), 1 + (np.arange(800) % 9 == 0))  # with copies of rows
    frame, y = frame.iloc[again].reset_index(drop=True), y[again]
    frame["code"] = frame["code"].astype(str).where(frame["code"].notna(), None)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else None
    check_same(model, frame, y, weights, cuts=(37, 38, 38, 500))


@pytest.mark.parametrize("weighted", [False, True])
def test_many_categories_of_numbers_to_predict(weighted):
    frame, y = many_levels(5)
    target = y + np.random.default_rng(0).normal(size=len(y))
    frame["code"] = frame["code"].astype(str).where(frame["code"].notna(), None)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float) if weighted else None
    model = GradientBoostRegressor(n_estimators=20, random_state=0, target_encoding=True)
    check_same(model, frame, target, weights, cuts=(37, 38, 38, 500), targets=True)
    plain = clone(model).set_params(target_encoding=False).fit(frame, target, weights)
    asked = clone(model).fit(frame, target, weights)
    assert asked._model.forests[0].binner.level_codes is not None
    assert not np.array_equal(plain.predict(frame), asked.predict(frame))

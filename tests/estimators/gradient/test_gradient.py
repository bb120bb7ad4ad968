"""Gradient boosting: agreement with scikit-learn, and the two estimators."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_wine,
    make_friedman1,
)
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.boosting.gradient.learner import ordered_values
from costboost.boosting.gradient.losses import (
    CLASSIFICATION_LOSSES,
    ExpectedCostLoss,
    HuberLoss,
    LogLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.metrics import asymmetric_cost
from costboost.shards import layout as layout_module

# --- agreement with scikit-learn -----------------------------------------------------------------


def test_the_first_tree_is_scikit_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).round(2)
    y = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=60)
    options = {"learning_rate": 0.1, "max_leaf_nodes": 6, "min_samples_leaf": 5}
    pairs = [
        (GradientBoostRegressor, HistGradientBoostingRegressor, y),
        (GradientBoostClassifier, HistGradientBoostingClassifier, (y > 0).astype(int)),
    ]
    for ours, theirs, target in pairs:
        model = ours(n_estimators=1, **options)
        if ours is GradientBoostClassifier:
            model.set_params(max_step=None)
        model.fit(X, target)
        peer = theirs(max_iter=1, early_stopping=False, **options).fit(X, target)
        nodes = peer._predictors[0][0].nodes
        tree = model._models[0].forest.tree(0)
        inner = ~nodes["is_leaf"].astype(bool)
        is_split = tree.feature >= 0
        mine = sorted(zip(tree.feature[is_split], tree.threshold[is_split], strict=True))
        other = sorted(zip(nodes["feature_idx"][inner], nodes["num_threshold"][inner], strict=True))
        assert [f for f, _ in mine] == [f for f, _ in other]
        np.testing.assert_allclose([t for _, t in mine], [t for _, t in other], rtol=1e-7)
        leaves = np.sort(tree.value[tree.feature < 0, 0])
        np.testing.assert_allclose(leaves, np.sort(nodes["value"][~inner]), rtol=1e-5)
        np.testing.assert_allclose(model.start_, peer._baseline_prediction.ravel(), rtol=1e-6)


def regression_sets():
    X, y = load_diabetes(return_X_y=True)
    yield "diabetes", X, y
    X, y = make_friedman1(600, random_state=0)
    yield "friedman1", X, y


def classification_sets():
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)
    yield "wine", *load_wine(return_X_y=True)
    yield "iris", *load_iris(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits", X[:300], y[:300]


REGRESSION = {name: rest for name, *rest in regression_sets()}
CLASSES = {name: rest for name, *rest in classification_sets()}


@pytest.mark.parametrize("name", REGRESSION)
def test_same_quality_as_scikit_learn_in_regression(name):
    X, y = REGRESSION[name]
    mine = cross_val_predict(GradientBoostRegressor(n_estimators=60), X, y, cv=3)
    other = cross_val_predict(HistGradientBoostingRegressor(max_iter=60), X, y, cv=3)
    difference = (mine - y) ** 2 - (other - y) ** 2
    assert abs(difference.mean()) <= 2 * difference.std() / np.sqrt(len(y)) + 1e-9


@pytest.mark.parametrize("name", CLASSES)
def test_same_quality_as_scikit_learn_in_classification(name):
    X, y = CLASSES[name]
    options = {"learning_rate": 0.1, "max_leaf_nodes": 8}
    mine = GradientBoostClassifier(n_estimators=30, max_step=None, **options)
    other = HistGradientBoostingClassifier(max_iter=30, early_stopping=False, **options)
    losses = []
    for model in (mine, other):
        proba = cross_val_predict(model, X, y, cv=3, method="predict_proba")
        losses.append(-np.log(np.maximum(proba[np.arange(len(y)), y], 1e-15)))
    difference = losses[0] - losses[1]
    assert abs(difference.mean()) <= 2 * difference.std() / np.sqrt(len(y)) + 1e-9


@pytest.mark.data
@pytest.mark.parametrize("name", ["ionosphere", "spambase", "pima", "landsatm", "german_credit"])
def test_same_quality_as_scikit_learn_on_the_papers_sets(name, data_folder):
    file = next(data_folder.glob(f"nik_{name}.csv*"))
    table = pd.read_csv(file).sample(frac=1.0, random_state=0)[:1200]
    X, y = table.drop(columns="target").to_numpy(float), (table["target"] == 1).to_numpy(int)
    losses = []
    for model in (
        GradientBoostClassifier(n_estimators=40),
        HistGradientBoostingClassifier(max_iter=40, early_stopping=False),
    ):
        proba = cross_val_predict(model, X, y, cv=3, method="predict_proba")
        losses.append(-np.log(np.maximum(proba[np.arange(len(y)), y], 1e-15)))
    difference = losses[0] - losses[1]
    # Ours may be better (steps are bounded), not worse by more than noise.
    assert difference.mean() <= 3 * difference.std() / np.sqrt(len(y)) + 1e-9


# --- estimators ----------------------------------------------------------------------------------


@parametrize_with_checks(
    [
        # Small leaves: scikit-learn's tables have fewer rows than two leaves of 20.
        GradientBoostClassifier(n_estimators=10, min_samples_leaf=1, max_leaf_nodes=8),
        GradientBoostRegressor(n_estimators=10, min_samples_leaf=1, max_leaf_nodes=8),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def test_threads_change_nothing(monkeypatch, cancer):
    monkeypatch.setattr(layout_module, "_DEAL", 32)
    monkeypatch.setattr(layout_module, "_CELLS_PER_SHARD", 100)
    X, y = cancer
    for loss in ("log", "cost-exponential", "expected-cost"):
        models = [
            GradientBoostClassifier(loss, 8, n_jobs=n, subsample=0.8, random_state=0)
            for n in (1, 2, 3)
        ]
        scores = [m.fit(X, y, costs=Costs(fp=X[:, 0], fn=3)).decision_function(X) for m in models]
        np.testing.assert_array_equal(scores[0], scores[1])
        np.testing.assert_array_equal(scores[0], scores[2])
        np.testing.assert_array_equal(models[0].train_cost_, models[2].train_cost_)


@pytest.mark.parametrize("loss", ["log", "exponential", "cost-exponential", "expected-cost"])
def test_weights_are_copies(loss, cancer):
    X, y = cancer[0][::4, :6], cancer[1][::4]
    w = np.random.default_rng(0).integers(0, 4, size=len(y))
    costs = Costs(fp=1 + X[:, 0], fn=7)
    options = {"n_estimators": 12, "min_samples_leaf": 1, "max_leaf_nodes": 5}
    model = GradientBoostClassifier(loss, **options).fit(X, y, sample_weight=w, costs=costs)
    rows = np.repeat(np.arange(len(y)), w)
    copies = GradientBoostClassifier(loss, **options).fit(X[rows], y[rows], costs=costs[rows])
    np.testing.assert_allclose(
        model.decision_function(X), copies.decision_function(X), rtol=1e-8, atol=1e-10
    )
    assert model.train_cost_ == pytest.approx(copies.train_cost_, rel=1e-9)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber", "pinball"])
def test_weights_are_copies_in_regression(loss):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    w = np.random.default_rng(0).integers(0, 4, size=len(y))
    options = {"n_estimators": 12, "min_samples_leaf": 1, "max_leaf_nodes": 5, "under": 3.0}
    model = GradientBoostRegressor(loss, **options).fit(X, y, sample_weight=w)
    rows = np.repeat(np.arange(len(y)), w)
    copies = GradientBoostRegressor(loss, **options).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.predict(X), copies.predict(X), rtol=1e-8)
    assert model.train_loss_ == pytest.approx(copies.train_loss_, rel=1e-9)


def test_stages_end_where_predict_is(cancer):
    X, y = cancer
    model = GradientBoostClassifier(n_estimators=7).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 7
    np.testing.assert_allclose(stages[-1], model.predict_proba(X), rtol=1e-12)
    decisions = list(model.staged_predict(X))
    assert np.array_equal(decisions[-1], model.predict(X))
    paid = [float(np.sum(stage != y)) for stage in decisions]
    assert model.train_cost_ == pytest.approx(paid)


def test_train_cost_is_what_decisions_cost():
    X, y = load_wine(return_X_y=True)
    rng = np.random.default_rng(0)
    constant = Costs.from_matrix(rng.uniform(1, 5, (3, 3)) * (1 - np.eye(3)))
    per_row = Costs.from_matrix(rng.uniform(1, 5, (len(y), 3, 3)) * (1 - np.eye(3)))
    triage = Costs.from_matrix([[0, 1], [3, 1], [5, 0]], classes=[0, 1, 2], actions=["a", "b"])
    for costs in (constant, per_row, triage):
        model = GradientBoostClassifier(n_estimators=4).fit(X, y, costs=costs)
        for t, decided in enumerate(model.staged_predict(X, costs=costs)):
            paid = costs.bind([0, 1, 2]).total(y, decided)
            assert model.train_cost_[t] == pytest.approx(paid, rel=1e-9)
    model = GradientBoostClassifier("expected-cost", n_estimators=4).fit(X, y, costs=per_row)
    paid = [per_row.bind([0, 1, 2]).total(y, stage) for stage in model.staged_predict(X)]
    assert model.train_cost_ == pytest.approx(paid, rel=1e-9)


def test_train_loss_is_the_mean_loss():
    X, y = load_diabetes(return_X_y=True)
    for loss in ("squared", "absolute", "huber", "pinball"):
        model = GradientBoostRegressor(loss, n_estimators=4, over=2.0, under=0.5, delta=30.0)
        model.fit(X, y)
        exact = {
            "squared": SquaredLoss(),
            "absolute": PinballLoss(),
            "huber": HuberLoss(30.0),
            "pinball": PinballLoss(2.0, 0.5),
        }[loss]
        means = [exact.value(y, stage).mean() for stage in model.staged_predict(X)]
        assert model.train_loss_ == pytest.approx(means, rel=1e-12)


def test_new_prices_need_no_new_model(cancer):
    X, y = cancer
    model = GradientBoostClassifier(n_estimators=10).fit(X, y)
    bills = [model.predict(X, costs=Costs(fp=fp, fn=1)).sum() for fp in (0.01, 1, 100)]
    assert bills[0] > bills[1] > bills[2]
    per_row = Costs(fp=np.where(X[:, 0] > 14, 100.0, 0.01), fn=1)
    mixed = model.predict(X, costs=per_row)
    dear = model.predict(X, costs=Costs(fp=100, fn=1))
    assert np.array_equal(mixed[X[:, 0] > 14], dear[X[:, 0] > 14])


@pytest.mark.parametrize("loss", ["cost-exponential", "expected-cost"])
@pytest.mark.parametrize("per_row", [False, True])
def test_training_on_costs_moves_the_decision(loss, per_row, cancer):
    X, y = cancer
    n = len(y)
    shape = np.ones(n) if per_row else 1.0
    dear = Costs(fp=50 * shape, fn=1)
    cheap = Costs(fp=shape, fn=50)
    options = {"n_estimators": 30, "max_leaf_nodes": 4}
    few = GradientBoostClassifier(loss, **options).fit(X, y, costs=dear)
    many = GradientBoostClassifier(loss, **options).fit(X, y, costs=cheap)
    assert few.predict(X).sum() < many.predict(X).sum()
    with pytest.raises(ValueError, match="calibration="):
        few.predict(X, costs=Costs(fp=1, fn=1))
    assert few.score(X, y) > -1.0


def test_calibration_makes_costs_free_to_change(cancer):
    X, y = cancer
    model = GradientBoostClassifier(
        "expected-cost", n_estimators=10, calibration="sigmoid", cv=3, random_state=0
    ).fit(X, y, costs=Costs(fp=5, fn=1))
    assert model.predict(X, costs=Costs(fp=1, fn=100)).mean() > model.predict(X).mean()
    assert len(model.train_cost_) == 3


def test_fraud_like_rows_are_not_overshot():
    """One positive in a thousand: a Newton step of 1 / p = 1000 would make it certain."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = np.zeros(4000, dtype=int)
    y[np.argsort(X[:, 0])[-4:]] = 1
    free = GradientBoostClassifier(n_estimators=1, max_step=None, min_samples_leaf=1).fit(X, y)
    held = GradientBoostClassifier(n_estimators=1, min_samples_leaf=1).fit(X, y)
    assert free.decision_function(X).max() > 50
    assert held.decision_function(X).max() == pytest.approx(np.log(4 / 3996) + 0.4)


def test_monotonic_constraints_hold():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(500, 3))
    y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + rng.normal(size=500)
    options = {"n_estimators": 40, "min_samples_leaf": 5, "monotonic_cst": [1, -1, 0]}
    grid = np.linspace(-2, 2, 60)
    models = [
        GradientBoostRegressor(loss, **options).fit(X, y)
        for loss in ("squared", "absolute", "huber")
    ]
    models += [
        GradientBoostRegressor("absolute", step="line-search", **options).fit(X, y),
        GradientBoostClassifier("exponential", **options).fit(X, y > 0.5),
        GradientBoostClassifier(step="exact", **options).fit(X, y > 0.5),
    ]
    for model in models:
        score = model.predict if hasattr(model, "over") else model.decision_function
        for base in X[:20]:
            for column, way in ((0, 1), (1, -1)):
                line = np.repeat(base[None, :], len(grid), axis=0)
                line[:, column] = grid
                assert np.all(way * np.diff(score(line)) >= -1e-9)
        assert np.ptp(score(X)) > 0.1


def test_constraints_by_name_and_their_errors():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 2)), columns=["a", "b"])
    frame["c"] = pd.Categorical(rng.choice(["x", "y"], 80))
    y = frame["a"].to_numpy()
    GradientBoostRegressor(n_estimators=2, monotonic_cst={"a": 1}).fit(frame, y)
    for given, message in (
        ({"z": 1}, "'z', which X does not have"),
        ([1, 0], "each of the 3 columns"),
        ({"b": 2}, "monotonic_cst says 2 of column 'b'"),
        ([0, 0, 1], "constrains column 'c', whose categories have no order"),
    ):
        with pytest.raises(ValueError, match=message):
            GradientBoostRegressor(n_estimators=2, monotonic_cst=given).fit(frame, y)
    with pytest.raises(ValueError, match="two classes"):
        GradientBoostClassifier(monotonic_cst=[1, 0, 0]).fit(frame, np.arange(80) % 3)


def test_missing_values_and_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "c": rng.choice(list("uvwx"), 300)})
    y = (frame["a"] > 0).to_numpy() ^ frame["c"].isin(["u", "x"]).to_numpy()
    frame.loc[::7, "a"] = np.nan
    frame["c"] = frame["c"].astype("category")
    model = GradientBoostClassifier(n_estimators=30, min_samples_leaf=5).fit(frame, y)
    assert np.mean(model.predict(frame) == y) > 0.9


def test_early_stopping_and_warm_start():
    X, y = make_friedman1(400, noise=3.0, random_state=0)
    model = GradientBoostRegressor(n_estimators=300, n_iter_no_change=5, random_state=0).fit(X, y)
    assert 5 < model.n_iter_ < 300
    assert np.argmin(model.validation_loss_) == model.n_iter_ - 1
    whole = GradientBoostRegressor(n_estimators=12, random_state=0).fit(X, y)
    part = GradientBoostRegressor(n_estimators=5, random_state=0, warm_start=True).fit(X, y)
    part.set_params(n_estimators=12).fit(X, y)
    np.testing.assert_array_equal(part.predict(X), whole.predict(X))
    labels = (y > 14).astype(int) + (y > 18)
    tree = DecisionTreeRegressor(max_depth=2, splitter="random")
    for options in ({}, {"loss": "exponential", "subsample": 0.7}, {"estimator": tree}):
        options = {"random_state": 0, "max_features": 3, **options}
        whole = GradientBoostClassifier(n_estimators=8, **options).fit(X, labels)
        part = GradientBoostClassifier(n_estimators=3, warm_start=True, **options).fit(X, labels)
        part.set_params(n_estimators=8).fit(X, labels)
        np.testing.assert_array_equal(part.predict_proba(X), whole.predict_proba(X))
    given = GradientBoostRegressor(n_estimators=300, n_iter_no_change=5)
    given.fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert given.n_iter_ < 300


def test_early_stopping_on_cost(cancer):
    X, y = cancer
    costs = Costs(fp=np.where(np.arange(len(y)) % 2, 1.0, 5.0), fn=2)
    model = GradientBoostClassifier(n_estimators=200, n_iter_no_change=10, random_state=0)
    model.fit(X, y, costs=costs)
    assert model.n_iter_ < 200
    assert np.argmin(model.validation_cost_) == model.n_iter_ - 1
    with pytest.raises(ValueError, match="eval_set=\\(X, y, costs\\)"):
        model.fit(X, y, costs=costs, eval_set=(X, y))


@pytest.mark.parametrize("step", ["newton", "line-search"])
def test_any_regressor_may_be_the_learner(step, cancer):
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = GradientBoostRegressor(estimator=tree, n_estimators=20, step=step, subsample=0.9)
    assert model.fit(X, y).score(X, y) > 0.5
    assert len(model.estimators_) == 20
    stages = list(model.staged_predict(X))
    np.testing.assert_allclose(stages[-1], model.predict(X), rtol=1e-12)
    X, y = load_wine(return_X_y=True)
    classifier = GradientBoostClassifier(estimator=tree, n_estimators=15, step=step).fit(X, y)
    assert -classifier.score(X, y) < 0.05


def test_one_tree_from_outside_is_the_lectures_algorithm():
    X, y = load_diabetes(return_X_y=True)
    tree = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0)
    model = GradientBoostRegressor(estimator=tree, n_estimators=1, learning_rate=1.0).fit(X, y)
    residuals = y - y.mean()
    expected = y.mean() + clone(tree).fit(X, residuals).predict(X)
    np.testing.assert_allclose(model.predict(X), expected)
    assert model.estimator_weights_ == pytest.approx([1.0])


def test_learners_that_take_no_weights():
    X, y = load_diabetes(return_X_y=True)
    model = GradientBoostRegressor(estimator=KNeighborsRegressor(), n_estimators=3)
    model.fit(X, y)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        model.fit(X, y, sample_weight=1 + np.arange(len(y)) % 2)
    with pytest.raises(ValueError, match='step="exact"'):
        clone(model).set_params(step="exact").fit(X, y)


def test_init_gives_the_start(cancer):
    X, y = load_diabetes(return_X_y=True)
    line = LinearRegression().fit(X, y)
    model = GradientBoostRegressor(init=LinearRegression(), n_estimators=5).fit(X, y)
    assert np.mean((model.predict(X) - y) ** 2) < np.mean((line.predict(X) - y) ** 2)
    mean = GradientBoostRegressor(init=DummyRegressor(), n_estimators=5).fit(X, y)
    plain = GradientBoostRegressor(n_estimators=5).fit(X, y)
    np.testing.assert_allclose(mean.predict(X), plain.predict(X))
    zero = GradientBoostRegressor(init="zero", n_estimators=1, min_samples_leaf=300).fit(X, y[:])
    assert zero.start_.tolist() == [0.0]
    X, y = cancer
    logistic = LogisticRegression(max_iter=10_000)
    for loss in ("log", "exponential"):
        model = GradientBoostClassifier(loss, init=logistic, n_estimators=3).fit(X[:, :4], y)
        before = log_loss(y, logistic.fit(X[:, :4], y).predict_proba(X[:, :4]))
        assert log_loss(y, model.predict_proba(X[:, :4])) < before


def test_per_row_prices_of_pinball():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2000, 1)).astype(float)
    y = rng.normal(size=2000)
    under = np.where(X[:, 0] == 1, 9.0, 1.0)
    model = GradientBoostRegressor("pinball", n_estimators=60).fit(X, y, under=under)
    low, high = model.predict([[0.0], [1.0]])
    assert low == pytest.approx(np.quantile(y[X[:, 0] == 0], 0.5), abs=0.05)
    assert high == pytest.approx(np.quantile(y[X[:, 0] == 1], 0.9), abs=0.05)
    with pytest.raises(ValueError, match="pinball"):
        GradientBoostRegressor().fit(X, y, over=2.0)


def test_a_users_loss_in_classification(cancer):
    X, y = cancer

    class Brier:
        def value(self, y, raw):
            return (1 / (1 + np.exp(-raw)) - y) ** 2

        def gradient(self, y, raw):
            p = 1 / (1 + np.exp(-raw))
            return 2 * (p - y) * p * (1 - p)

        def hessian(self, y, raw):
            p = 1 / (1 + np.exp(-raw))
            return 2 * (p * (1 - p)) ** 2 + 1e-6

    model = GradientBoostClassifier(Brier(), n_estimators=40).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.95
    with pytest.raises(ValueError, match="value, gradient and hessian"):
        GradientBoostClassifier(object()).fit(X, y)


def test_a_users_loss_may_use_costs(cancer):
    X, y = cancer

    class Mine:
        uses_costs = True

        def value(self, y, raw, prices):
            return ExpectedCostLoss().value(y, raw, prices)

        def gradient(self, y, raw, prices):
            return ExpectedCostLoss().gradient(y, raw, prices)

        def hessian(self, y, raw, prices):
            return ExpectedCostLoss().hessian(y, raw, prices)

    costs = Costs(fp=1 + X[:, 0], fn=3)
    options = {"n_estimators": 5, "init": "zero"}
    mine = GradientBoostClassifier(Mine(), **options).fit(X, y, costs=costs)
    built_in = GradientBoostClassifier("expected-cost", **options).fit(X, y, costs=costs)
    np.testing.assert_allclose(mine.decision_function(X), built_in.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("per_row", [False, True])
def test_training_decisions_go_by_the_link_of_the_loss(cancer, per_row, monkeypatch):
    """Also where it is no logistic function: `train_cost_` is what `predict` would cost."""
    X, y = cancer

    class Timid(LogLoss):
        def proba(self, raw):
            return 0.3 + 0.4 * super().proba(raw)

    monkeypatch.setitem(CLASSIFICATION_LOSSES, "timid", Timid)
    costs = Costs(fp=2.0, fn=1.0 + X[:, 0] / 40 if per_row else 1.0)
    for loss in ("timid", Timid()):
        model = GradientBoostClassifier(loss, 5, random_state=0).fit(X, y, costs=costs)
        decided = model.predict(X, costs=costs)
        paid = costs.bind([0, 1], len(y)).of_labels(y, encoded=True)[np.arange(len(y)), decided]
        assert model.train_cost_[-1] == pytest.approx(paid.sum())
        assert np.any(decided != (model.decision_function(X) > np.log(2)))
        assert model._own_unit(many=False) == "margin"


def test_no_split_is_said_aloud():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    with pytest.warns(UserWarning, match="min_samples_leaf"):
        model = GradientBoostClassifier().fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert GradientBoostRegressor().fit(X, np.ones(10)).predict(X).tolist() == [1.0] * 10


def test_an_objective_that_only_climbs_is_said_aloud(cancer):
    X, y = cancer
    model = GradientBoostClassifier("cost-exponential", objective="adacost", step="line-search")
    with pytest.warns(UserWarning, match="step='newton'"):
        model.fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "nonsense"}, "is not known"),
        ({"step": "far"}, "is not known"),
        ({"loss": "expected-cost", "step": "exact"}, "certainty"),
        ({"learning_rate": 0.0}, "above 0"),
        ({"n_estimators": 0}, "at least 1"),
        ({"warm_start": True, "calibration": "sigmoid"}, "warm_start"),
        ({"objective": "mine", "loss": "cost-exponential"}, "is not known"),
        ({"init": "one"}, "is not known"),
    ],
)
def test_parameters_are_checked(options, message, cancer):
    with pytest.raises(ValueError, match=message):
        GradientBoostClassifier(**options).fit(*cancer)


def test_newton_steps_need_curvature():
    with pytest.raises(ValueError, match="no curvature"):
        GradientBoostRegressor("absolute", step="newton").fit(np.eye(30), np.arange(30.0))


def test_models_can_be_pickled(cancer):
    X, y = cancer
    model = GradientBoostClassifier("cost-exponential", n_estimators=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_ordered_values_of_a_tree_by_hand():
    from types import SimpleNamespace

    tree = SimpleNamespace(
        left=np.array([1, -1, -1]),
        feature=np.array([0, -1, -1]),
        leaves=np.array([1, 2]),
        sums=np.array([[0, 4], [0, 3], [0, 1]]),
    )
    rising = np.array([1], dtype=np.int8)
    assert ordered_values(tree, np.array([1.0, 2.0]), rising).tolist() == [1.0, 2.0]
    assert ordered_values(tree, np.array([2.0, 1.0]), rising).tolist() == [1.5, 1.5]
    assert ordered_values(tree, np.array([1.0, 2.0]), -rising).tolist() == [1.5, 1.5]


def test_regressors_score_by_money():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 2))
    y = 5 * X[:, 0] + rng.exponential(size=400)
    over, under = rng.uniform(1, 2, size=(2, 400))
    weight = rng.uniform(size=400)
    model = GradientBoostRegressor("pinball", 20, over=1, under=9, scoring="cost").fit(X, y)
    answer = model.predict(X)
    paid = asymmetric_cost(y, answer, over=1, under=9, sample_weight=weight)
    assert model.score(X, y, weight) == pytest.approx(-paid)
    paid = asymmetric_cost(y, answer, over=over, under=under)
    assert model.score(X, y, over=over, under=under) == pytest.approx(-paid)
    middle = GradientBoostRegressor("absolute", 20).fit(X, y).predict(X)
    assert asymmetric_cost(y, middle, over=1, under=9) > -model.score(X, y)
    plain = model.set_params(scoring="r2")
    assert plain.score(X, y) <= 1
    with pytest.raises(ValueError, match='scoring="cost"'):
        plain.score(X, y, over=2)
    with pytest.raises(ValueError, match="scoring"):
        model.set_params(scoring="money").score(X, y)


# ---------------------------------------------------------------- max_step and prices


def test_max_step_is_in_the_unit_of_the_margins_of_cost_exponential_loss():
    """Pure leaves move by max_step / 2 over the price of their rows, however cheap they are."""
    X, y = np.repeat([0.0, 1.0], 20)[:, None], np.repeat([0, 1], 20)
    price = np.repeat([1.0, 0.01], 20)
    model = GradientBoostClassifier(
        "cost-exponential", n_estimators=1, step="exact", learning_rate=1.0, min_samples_leaf=1
    ).fit(X, y, costs=Costs.of_rows(price))
    moved = model.decision_function([[0.0], [1.0]]) - model.decision_function([[0.0]]).mean()
    np.testing.assert_allclose(np.ptp(moved), 2.0 / 1.0 + 2.0 / 0.01, rtol=1e-9)


@pytest.mark.parametrize("step", ["newton", "exact"])
def test_one_dear_row_does_not_hold_the_others_back(step):
    X, y = load_breast_cancer(return_X_y=True)
    price = np.ones(len(y))
    price[7] = 100.0
    model = GradientBoostClassifier(
        "cost-exponential", n_estimators=100, step=step, random_state=0, min_samples_leaf=5
    ).fit(X, y, costs=Costs.of_rows(price))
    assert model.train_cost_[-1] < 2.0  # at most one row of 569 is wrong


def clipped_loss(size, steps, limits, leaves, a):
    """The loss after every leaf moved by step * min(size, limit), by a loop over rows."""
    moves = steps * np.minimum(size, limits)
    return math.fsum(math.exp(min(-a[i] * moves[leaves[i]], 600.0)) for i in range(len(a)))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("spread", [0, 2, 6])
def test_a_line_search_takes_the_best_step_at_prices_of_all_sizes(noise, spread):
    """SciPy searches the same line; leaves whose rows all aim one way stop at max_step / |a|."""
    rng = np.random.default_rng(spread)
    X, price = rng.normal(size=(300, 3)), 10.0 ** rng.uniform(-spread, spread, 300)
    y = ((X[:, 0] + X[:, 1] > 0) ^ (rng.random(300) < noise)).astype(int)
    options = {"step": "line-search", "n_estimators": 1, "learning_rate": 1.0, "init": "zero"}
    model = GradientBoostClassifier(
        "cost-exponential", **options, max_leaf_nodes=8, min_samples_leaf=5
    ).fit(X, y, costs=Costs.of_rows(price))
    moved = model.decision_function(X)
    a = np.where(y == 1, price, -price) / price.max()
    places, leaves = np.unique(moved, return_inverse=True)
    rows = [leaves == leaf for leaf in range(len(places))]
    steps = np.array([a[inside].mean() for inside in rows])
    units = np.array([np.abs(a[inside]).mean() for inside in rows])
    pure = np.array([len(set(y[inside])) == 1 for inside in rows])
    limits = np.where(pure, 2.0 / (units * np.abs(steps)), np.inf)
    found = [
        minimize_scalar(
            lambda log_size: clipped_loss(math.exp(log_size), steps, limits, leaves, a),
            bounds=(low, low + 4),
            method="bounded",
            options={"xatol": 1e-10},
        )
        for low in range(-4, 40, 4)
    ]
    size = np.max(places[~pure] / steps[~pure]) if not pure.all() else 1e300
    np.testing.assert_allclose(places, steps * np.minimum(size, limits), rtol=1e-6)
    ours = clipped_loss(size, steps, limits, leaves, a)
    assert ours <= min(best.fun for best in found) * (1 + 1e-9)


def test_max_step_does_not_hold_a_line_search_back_over_twelve_decades_of_prices():
    X, y = load_breast_cancer(return_X_y=True)
    price = 10.0 ** np.random.default_rng(0).uniform(-6, 6, len(y))
    paid = {
        (step, bound): GradientBoostClassifier(
            "cost-exponential", step=step, max_step=bound, min_samples_leaf=5
        )
        .fit(X, y, costs=Costs.of_rows(price))
        .train_cost_[-1]
        for step, bound in (("line-search", 4.0), ("line-search", None), ("newton", 4.0))
    }
    assert paid["line-search", 4.0] <= paid["newton", 4.0]

"""Training of gradient boosting: threads, starts, learners from outside."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine, make_friedman1
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.shards import layout as layout_module


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


@pytest.mark.parametrize("scale", [1e-250, 1e-3, 1e250])
def test_the_unit_of_weights_does_not_matter(cancer, scale):
    X, y = cancer
    weights = 1.0 + np.arange(len(y)) % 3
    models = [
        GradientBoostClassifier(n_estimators=5).fit(X, y, sample_weight=weights * factor)
        for factor in (1.0, scale)
    ]
    np.testing.assert_allclose(*(model.decision_function(X) for model in models), rtol=1e-6)
    np.testing.assert_allclose(models[1].train_cost_, models[0].train_cost_ * scale, rtol=1e-9)


def test_rows_of_weight_0_are_as_good_as_absent():
    X, y = load_diabetes(return_X_y=True)
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    here = weights > 0
    whole = GradientBoostRegressor(n_estimators=5).fit(X, y, sample_weight=weights)
    part = GradientBoostRegressor(n_estimators=5).fit(X[here], y[here])
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))


def test_an_init_that_lacks_a_class_or_weights_is_refused(cancer):
    X, y = cancer
    short = GradientBoostClassifier(n_estimators=2, init=KNeighborsClassifier())
    with pytest.raises(ValueError, match="init=KNeighborsClassifier takes no sample_weight"):
        short.fit(X, y, sample_weight=1.0 + np.arange(len(y)) % 2)

    class Blind(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            self.classes_ = self.classes_[:1]
            return self

    with pytest.raises(ValueError, match="init=Blind knows 1 of the 2 classes"):
        GradientBoostClassifier(n_estimators=2, init=Blind(max_iter=5000)).fit(X[:, :2], y)


def of_any_unit(rng):
    X = rng.normal(size=(60, 3))
    return X, X @ [3.0, 2.0, 1.0] + rng.normal(size=60), rng.uniform(0.5, 2.0, 60)


SMALL_TREES = {"n_estimators": 5, "max_depth": 2, "min_samples_leaf": 1, "random_state": 0}


@pytest.mark.parametrize("power", [-600, -300, 300, 450])
def test_powers_of_two_of_targets_weights_and_prices_change_no_importance(power):
    X, y, weights = of_any_unit(np.random.default_rng(0))
    scaled = np.ldexp(1.0, power)

    def same(one, other, unit=1.0):
        np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
        np.testing.assert_array_equal(one.predict(X) * unit, other.predict(X))

    plain = GradientBoostRegressor(**SMALL_TREES).fit(X, y)
    same(plain, GradientBoostRegressor(**SMALL_TREES).fit(X, y * scaled), scaled)
    pinball = {"loss": "pinball", "step": "line-search", **SMALL_TREES}
    priced = GradientBoostRegressor(over=scaled, under=3.0 * scaled, **pinball).fit(X, y)
    same(GradientBoostRegressor(over=1.0, under=3.0, **pinball).fit(X, y), priced)
    # Leaves are held back by the penalty beside the weights, in their unit.
    models = (
        GradientBoostRegressor(l2_regularization=3.0 * unit, **SMALL_TREES)
        for unit in (1.0, scaled)
    )
    same(*(m.fit(X, y, weights * u) for m, u in zip(models, (1.0, scaled), strict=True)))


@pytest.mark.parametrize("step", ["newton", "exact", "line-search"])
def test_an_objective_in_any_unit_of_a_gives_the_same_model(step):
    X, y, weights = of_any_unit(np.random.default_rng(1))
    sides = np.where(y > 1.0, 1.0, -1.0)
    found = []
    for power in (-300, 0, 300):
        objective = (np.ldexp(sides, power), np.zeros(60), weights)
        model = GradientBoostClassifier(
            "cost-exponential", objective=objective, step=step, calibration=None, **SMALL_TREES
        )
        found.append(np.ldexp(model.fit(X, sides > 0).decision_function(X), power))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[1], rtol=1e-9)

"""`GradientBoostClassifier`: prices in training and after it, losses of users."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_predict

from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, ExpectedCostLoss, LogLoss
from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier


def classification_sets():
    yield "breast_cancer", *load_breast_cancer(return_X_y=True)
    yield "wine", *load_wine(return_X_y=True)
    yield "iris", *load_iris(return_X_y=True)
    X, y = load_digits(return_X_y=True)
    yield "digits", X[:300], y[:300]


CLASSES = {name: rest for name, *rest in classification_sets()}


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
        assert model._model.unit == "margin"


def test_models_can_be_pickled(cancer):
    X, y = cancer
    model = GradientBoostClassifier("cost-exponential", n_estimators=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_as_many_classes_as_a_byte_can_number():
    y = np.repeat(np.arange(256), 2)
    X = (y[:, None] >> np.arange(8) & 1).astype(float)  # the bits of the class
    model = GradientBoostClassifier(n_estimators=2, min_samples_leaf=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)

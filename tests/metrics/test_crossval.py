"""Cross-validation by cost: every fold with the costs of its own rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cost_recorders import Asked, NoWeights, PassThrough, Recorder, cost_by_fold
from costboost.costs import Costs
from costboost.metrics import (
    cross_validate_cost,
    make_cost_scorer,
    mean_cost,
    normalized_cost,
    savings_score,
    total_cost,
)


@pytest.mark.parametrize("model", [Recorder(), Asked()], ids=["proba", "asked"])
def test_cross_validate_cost_gives_each_fold_its_own_costs(case, routing, model):
    X, y, costs, amount = case
    cv = KFold(4, shuffle=True, random_state=0)
    result = cross_validate_cost(
        model,
        X,
        y,
        costs=costs,
        cv=cv,
        return_estimator=True,
        return_predictions=True,
        return_indices=True,
        return_train_score=True,
    )
    folds = list(cv.split(X))
    np.testing.assert_allclose(result["test_cost"], cost_by_fold(X, y, amount, folds))
    np.testing.assert_allclose(
        result["train_cost"], cost_by_fold(X, y, amount, [(b, a) for a, b in folds])
    )
    for model, (train, test), got in zip(
        result["estimator"], folds, result["indices"]["test"], strict=True
    ):
        np.testing.assert_array_equal(got, test)
        np.testing.assert_array_equal(model.rows_, train)
        bound = model.costs_.bind([0, 1])
        np.testing.assert_array_equal(
            bound.of_labels(np.ones(len(train), int))[:, 0], amount[train]
        )
    np.testing.assert_array_equal(result["decisions"], X[:, 1] > 5 / (5 + amount))
    np.testing.assert_allclose(result["probabilities"][:, 1], X[:, 1])
    total = total_cost(y, result["decisions"], costs=costs)
    np.testing.assert_allclose(result["test_total_cost"].sum(), total)
    for k, (_, test) in enumerate(folds):
        args = (y[test], result["decisions"][test])
        assert result["test_savings"][k] == pytest.approx(savings_score(*args, costs=costs[test]))
        assert result["test_normalized_cost"][k] == pytest.approx(
            normalized_cost(*args, costs=costs[test])
        )


@pytest.mark.parametrize("kind", ["pandas", "polars", "list"])
def test_cross_validate_cost_takes_any_table(case, kind):
    X, y, costs, amount = case
    table = {
        "pandas": pd.DataFrame(X, columns=["id", "p"], index=np.arange(len(y))[::-1]),
        "polars": pl.DataFrame({"id": X[:, 0], "p": X[:, 1]}),
        "list": X.tolist(),
    }[kind]
    labels = {"pandas": pd.Series(y), "polars": pl.Series(y), "list": y.tolist()}[kind]
    result = cross_validate_cost(Recorder(), table, labels, costs=costs, cv=KFold(3))
    np.testing.assert_allclose(result["test_cost"], cost_by_fold(X, y, amount, KFold(3).split(X)))


def test_cross_validate_cost_in_pipelines_and_searches(case, routing):
    X, y, costs, amount = case
    pipe = make_pipeline(PassThrough(), Recorder())
    search = GridSearchCV(
        pipe, {"recorder__power": [1.0]}, cv=2, scoring=make_cost_scorer({"fp": 5, "fn": 20})
    )
    for model in (pipe, search):
        result = cross_validate_cost(model, X, y, costs=costs, cv=KFold(3), return_estimator=True)
        np.testing.assert_allclose(
            result["test_cost"], cost_by_fold(X, y, amount, KFold(3).split(X))
        )
        fitted = result["estimator"][0]
        last = getattr(fitted, "best_estimator_", fitted)[-1]
        assert len(last.costs_) == 40


def test_cross_validate_cost_asks_a_model_inside_a_pipeline(case):
    X, y, costs, _ = case
    pipe = make_pipeline(PassThrough(), Asked())
    result = cross_validate_cost(pipe, X, y, costs=costs, cv=KFold(3), return_estimator=True)
    assert len(result["estimator"][0][-1].asked_) == 20


def test_cross_validate_cost_with_groups_weights_and_parameters(case, routing):
    X, y, costs, _ = case
    groups, weight = np.arange(60) // 6, np.arange(60) + 1.0
    result = cross_validate_cost(
        Recorder(),
        X,
        y,
        costs=costs,
        cv=GroupKFold(3),
        groups=groups,
        sample_weight=weight,
        return_estimator=True,
        return_indices=True,
        return_predictions=True,
    )
    for k, (train, test) in enumerate(zip(*result["indices"].values(), strict=True)):
        assert not set(groups[train]) & set(groups[test])
        np.testing.assert_array_equal(result["estimator"][k].weights_, weight[train])
        assert result["test_cost"][k] == pytest.approx(
            mean_cost(
                y[test],
                result["decisions"][test],
                costs=costs[test],
                sample_weight=weight[test],
            )
        )
    again = cross_validate_cost(
        Recorder(),
        X,
        y,
        costs=costs,
        cv=GroupKFold(3),
        groups=groups,
        params={"sample_weight": weight},
    )
    assert again["test_cost"].shape == (3,)


def test_cross_validate_cost_of_a_classifier_that_knows_no_costs(case, routing):
    X, y, costs, _ = case
    result = cross_validate_cost(
        make_pipeline(StandardScaler(), LogisticRegression()), X, y, costs=costs
    )
    assert (result["test_savings"] <= 1).all()
    assert len(result["test_cost"]) == 5


def test_cross_validate_cost_in_parallel_and_on_sparse_rows(case):
    X, y, costs, _ = case
    one = cross_validate_cost(LogisticRegression(), X, y, costs=costs, cv=3)
    with parallel_config(backend="threading"):
        two = cross_validate_cost(LogisticRegression(), X, y, costs=costs, cv=3, n_jobs=2)
    thin = cross_validate_cost(LogisticRegression(), csr_array(X), y, costs=costs, cv=3)
    np.testing.assert_array_equal(one["test_cost"], two["test_cost"])
    np.testing.assert_allclose(one["test_cost"], thin["test_cost"])


def test_cross_validate_cost_of_own_decisions(case):
    X, y, costs, _ = case
    result = cross_validate_cost(
        Asked.__base__(), X, y, costs=costs, decide="predict", return_predictions=True, cv=3
    )
    np.testing.assert_array_equal(result["decisions"], X[:, 1] > 0.5)
    svm = cross_validate_cost(LinearSVC(), X, y, costs=costs, decide="predict", cv=3)
    assert svm["test_cost"].shape == (3,)
    with pytest.raises(ValueError, match="MinimumCostClassifier"):
        cross_validate_cost(LinearSVC(), X, y, costs=costs, cv=3)
    with pytest.raises(ValueError, match="decide"):
        cross_validate_cost(LinearSVC(), X, y, costs=costs, decide="guess")


def test_cross_validate_cost_survives_folds_that_lack_a_class():
    X, y = make_classification(90, n_informative=4, n_classes=3, random_state=0)
    y = np.array(["a", "b", "c"])[y]
    order = np.argsort(y)
    C = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]])
    result = cross_validate_cost(
        GaussianNB(),
        X[order],
        y[order],
        costs=Costs.from_matrix(C, classes=["a", "b", "c"]),
        cv=KFold(3),
        return_predictions=True,
    )
    assert result["probabilities"].shape == (90, 3)
    assert (result["test_cost"] >= 0.9).all()  # the true class was never seen


def test_cross_validate_cost_with_actions_and_classes_in_another_order(case):
    X, y, _, _ = case
    labels = np.array(["good", "bad"])[y]
    loan = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["approve", "review", "no"]
    )
    result = cross_validate_cost(
        GaussianNB(), X[:, 1:], labels, costs=loan, cv=3, return_predictions=True
    )
    assert set(result["decisions"]) <= {"approve", "review", "no"}
    bad, good = result["probabilities"].T  # sorted, whatever the costs' order
    expected = np.column_stack([good, bad]) @ np.array([[0, 1, 6], [30, 2, 0]])
    np.testing.assert_array_equal(
        result["decisions"], np.array(["approve", "review", "no"])[expected.argmin(axis=1)]
    )


def test_cross_validate_cost_refuses_what_it_cannot_do(case):
    X, y, costs, _ = case
    with pytest.raises(ValueError, match="exactly once"):
        cross_validate_cost(
            Recorder(), X, y, costs=costs, cv=ShuffleSplit(3), return_predictions=True
        )
    with pytest.raises(ValueError, match="60"):
        cross_validate_cost(Recorder(), X, y, costs=costs[:10])
    with pytest.raises(ValueError, match="sample_weight"):
        cross_validate_cost(NoWeights(), X, y, costs=costs, sample_weight=np.ones(60))

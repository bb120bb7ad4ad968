"""The cost scorer in every tool of scikit-learn that takes a scorer, against costs by hand."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
    cross_val_score,
    learning_curve,
    validation_curve,
)
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, Costs
from costboost.metrics import make_cost_scorer, total_cost


@pytest.fixture
def rows():
    X, y = make_classification(300, 6, weights=[0.8], flip_y=0.1, random_state=0)
    return X, y, np.random.default_rng(0).lognormal(2, 1, 300)


def totals_by_threshold(proba, y, costs, thresholds):
    return [total_cost(y, (proba >= t).astype(int), costs=costs) for t in thresholds]


@pytest.mark.parametrize("kind", ["mean", "total", "normalized", "regret", "savings"])
@pytest.mark.parametrize("names", [None, np.array(["bad", "good"])])
def test_thresholds_are_tuned_by_cost(rows, kind, names):
    X, y, _ = rows
    # With names the positive class is the first: a threshold is one whichever class it is for.
    costs = Costs(fp=1, fn=6) if names is None else Costs(fp=6, fn=1, positive="bad")
    labels = y if names is None else names[y]
    model = GaussianNB().fit(X, labels)
    thresholds = np.linspace(0.001, 0.999, 200)
    tuned = TunedThresholdClassifierCV(
        model,
        scoring=make_cost_scorer(costs, kind=kind),
        thresholds=thresholds,
        cv="prefit",
        refit=False,
    ).fit(X, labels)
    by_hand = totals_by_threshold(model.predict_proba(X)[:, 1], y, Costs(fp=1, fn=6), thresholds)
    assert tuned.best_threshold_ == thresholds[int(np.argmin(by_hand))]
    assert tuned.best_threshold_ < 0.5
    assert total_cost(labels, tuned.predict(X), costs=costs) == min(by_hand)


def test_thresholds_are_tuned_by_the_costs_of_their_own_rows(rows):
    X, y, amount = rows
    costs, thresholds = Costs(fp=5, fn=amount), np.linspace(0.01, 0.99, 50)
    folds = KFold(3)
    with sklearn.config_context(enable_metadata_routing=True):
        tuned = TunedThresholdClassifierCV(
            LogisticRegression(),
            scoring=make_cost_scorer(kind="total"),
            thresholds=thresholds,
            cv=folds,
            store_cv_results=True,
        ).fit(X, y, costs=costs)
    parts = []
    for train, test in folds.split(X):
        proba = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
        parts.append(totals_by_threshold(proba, y[test], costs[test], thresholds))
    np.testing.assert_allclose(tuned.cv_results_["scores"], -np.mean(parts, axis=0))


def test_threshold_tuning_without_costs_is_refused(rows):
    X, y, amount = rows
    tuned = TunedThresholdClassifierCV(GaussianNB(), scoring=make_cost_scorer())
    with pytest.raises(ValueError, match="no costs reached"):
        tuned.fit(X, y)
    with pytest.raises(ValueError, match="costs for 300 rows"):
        tuned.set_params(scoring=make_cost_scorer(Costs(fp=1, fn=amount))).fit(X, y)


def test_our_own_model_in_threshold_tuning(rows):
    X, y, _ = rows
    model = CostBoostClassifier("adamec", 5, cv=2, random_state=0)
    tuned = TunedThresholdClassifierCV(model, scoring=make_cost_scorer({"fp": 1, "fn": 6}), cv=2)
    assert set(tuned.fit(pd.DataFrame(X), y).predict(pd.DataFrame(X))) <= {0, 1}


def test_the_other_tools_that_take_a_scorer(rows):
    X, y, _ = rows
    scorer, model = make_cost_scorer({"fp": 1, "fn": 6}), LogisticRegression()
    _, _, scores = learning_curve(model, X, y, scoring=scorer, cv=3, train_sizes=[0.5, 1.0])
    whole = cross_val_score(model, X, y, scoring=scorer, cv=3)
    np.testing.assert_allclose(scores[-1], whole)
    grid = {"C": [1e-3, 1.0]}
    _, curve = validation_curve(
        model, X, y, param_name="C", param_range=[1e-3, 1.0], scoring=scorer, cv=3
    )
    np.testing.assert_allclose(curve[1], whole)
    search = RandomizedSearchCV(model, grid, n_iter=2, scoring=scorer, cv=3, random_state=0)
    assert search.fit(X, y).best_score_ == pytest.approx(curve.mean(axis=1).max())
    halving = HalvingGridSearchCV(model, grid, scoring=scorer, cv=3, random_state=0).fit(X, y)
    assert halving.best_score_ < 0
    found = permutation_importance(
        model.fit(X, y), X, y, scoring={"cost": scorer}, n_repeats=2, random_state=0
    )
    assert found["cost"].importances.shape == (6, 2)
    assert found["cost"].importances_mean.max() > 0

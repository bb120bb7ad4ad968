"""CostColumns: around pipelines and searches, in searches and cross-validation."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier, CostColumns, Costs, MetaCostClassifier
from costboost.metrics import make_cost_scorer

rng = np.random.default_rng(1)
N = 80
X = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"])
X["amount"] = rng.lognormal(3, 1, size=N)
Y = (X["a"] + rng.normal(size=N) > 0.4).astype(int).to_numpy()
COSTS = Costs(fp=8, tp=2, fn="amount")
BY_ROW = COSTS.bind_table(X)
MODEL = CostBoostClassifier("adamec", n_estimators=3, random_state=0)


@parametrize_with_checks([CostColumns(LogisticRegression())])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("routing", [False, True])
def test_a_pipeline_is_trained_and_decides_by_the_prices_of_the_rows(routing):
    with sklearn.config_context(enable_metadata_routing=routing):
        wrapped = CostColumns(make_pipeline(StandardScaler(), MODEL), COSTS).fit(X, Y)
    scaled = StandardScaler().fit_transform(X)
    plain = sklearn.base.clone(MODEL).fit(scaled, Y, costs=BY_ROW)
    assert_array_equal(wrapped.predict_proba(X), plain.predict_proba(scaled))
    assert_array_equal(wrapped.predict(X), plain.predict(scaled, costs=BY_ROW))
    assert wrapped.score(X, Y) == plain.score(scaled, Y, costs=BY_ROW)
    assert_array_equal(wrapped.expected_cost(X), plain.expected_cost(scaled, costs=BY_ROW))
    dearer = Costs(fp=800, tp=800, fn="amount")
    assert_array_equal(
        wrapped.predict(X, costs=dearer), plain.predict(scaled, costs=dearer.bind_table(X))
    )


def test_any_classifier_with_probabilities():
    wrapped = CostColumns(make_pipeline(StandardScaler(), LogisticRegression()), COSTS).fit(X, Y)
    assert_array_equal(wrapped.predict(X), BY_ROW.bind([0, 1]).decide(wrapped.predict_proba(X)))
    assert wrapped.decision_function(X).shape == (N,)
    assert wrapped.expected_cost(pl.from_pandas(X)).columns == ["0", "1"]
    with pytest.raises(ValueError, match="no predict_proba"):
        CostColumns(RidgeClassifier(), COSTS).fit(X, Y).predict(X)


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas], ids=["pandas", "polars"])
def test_drop_leaves_columns_out_of_the_features(make):
    table = make(X)
    kept = CostColumns(MODEL, COSTS).fit(table, Y)
    left = CostColumns(MODEL, COSTS, drop=True).fit(table, Y)
    assert kept.feature_names_in_.tolist() == ["a", "b", "c", "amount"]
    assert left.feature_names_in_.tolist() == ["a", "b", "c"]
    assert left.dropped_ == ["amount"]
    features = X[["a", "b", "c"]]
    plain = sklearn.base.clone(MODEL).fit(features, Y, costs=BY_ROW)
    assert_array_equal(left.predict(table), plain.predict(features, costs=BY_ROW))
    assert_array_equal(left.predict_proba(make(features)), plain.predict_proba(features))
    by_function = Costs(fp=8, tp=2, fn=lambda X: np.asarray(X["amount"]))
    listed = CostColumns(MODEL, by_function, drop=["amount"]).fit(table, Y)
    assert_array_equal(listed.predict(table), left.predict(table))
    with pytest.raises(ValueError, match="a function does not say what it reads"):
        CostColumns(MODEL, by_function, drop=True).fit(table, Y)


def test_searches_around_and_inside():
    pipeline = make_pipeline(StandardScaler(), MODEL)
    grid = {"costboostclassifier__max_depth": [1, 2]}
    with sklearn.config_context(enable_metadata_routing=True):  # else its folds lose the costs
        inside = CostColumns(GridSearchCV(pipeline, grid, cv=2), COSTS).fit(X, Y)
    best = inside.estimator_.best_estimator_
    scaled = best[0].transform(X)
    assert_array_equal(inside.predict(X), best[-1].predict(scaled, costs=BY_ROW))
    outer = {f"estimator__{name}": values for name, values in grid.items()}
    around = GridSearchCV(
        CostColumns(pipeline, COSTS), outer, cv=2, scoring=make_cost_scorer(COSTS)
    ).fit(X, Y)
    best = around.best_estimator_
    assert_array_equal(around.predict(X), best.predict(X))
    assert around.score(X, Y) == best.score(X, Y)


def test_methods_that_contain_the_costs_decide_as_they_learnt():
    for inner in (
        CostBoostClassifier("adacost", n_estimators=3, random_state=0),
        MetaCostClassifier(LogisticRegression(), 3, random_state=0),
    ):
        wrapped = CostColumns(make_pipeline(StandardScaler(), inner), COSTS).fit(X, Y)
        scaled = StandardScaler().fit_transform(X)
        plain = sklearn.base.clone(inner).fit(scaled, Y, costs=BY_ROW)
        assert_array_equal(wrapped.predict(X), plain.predict(scaled))
        assert wrapped.score(X, Y) == plain.score(scaled, Y, costs=BY_ROW)
        with pytest.raises(ValueError, match="trained on costs"):
            wrapped.predict(X, costs=COSTS)


def test_weights_reach_the_estimator_or_are_refused():
    weights = rng.integers(1, 4, size=N)
    pipeline = make_pipeline(StandardScaler(), MODEL)
    scaled = StandardScaler().fit_transform(X)
    wrapped = CostColumns(pipeline, COSTS).fit(X, Y, sample_weight=weights)
    plain = sklearn.base.clone(MODEL).fit(scaled, Y, sample_weight=weights, costs=BY_ROW)
    assert_array_equal(wrapped.predict_proba(X), plain.predict_proba(scaled))
    from sklearn.neighbors import KNeighborsClassifier

    with pytest.raises(ValueError, match="does not take"):
        CostColumns(KNeighborsClassifier(), COSTS).fit(X, Y, sample_weight=weights)


def test_drop_in_front_of_a_sampler_is_refused():
    samplers = pytest.importorskip("imblearn.under_sampling")
    pipelines = pytest.importorskip("imblearn.pipeline")
    pipeline = pipelines.make_pipeline(samplers.RandomUnderSampler(random_state=0), MODEL)
    assert CostColumns(pipeline, COSTS).fit(X, Y).predict(X).shape == (N,)
    with pytest.raises(ValueError, match="behind the sampler"):
        CostColumns(pipeline, COSTS, drop=True).fit(X, Y)

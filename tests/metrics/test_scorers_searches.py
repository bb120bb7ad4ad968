"""Costs in scikit-learn's searches, curves, importances and stacks, with routing on and off."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    cross_validate,
    learning_curve,
)

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.metrics import make_cost_scorer, mean_cost

MODEL = CostBoostClassifier("adamec", n_estimators=3, cv=2, random_state=0)
GRID = {"max_depth": [1, 2]}
CONSTANT = {"fp": 5, "fn": 30}


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(240, weights=[0.8], flip_y=0.1, random_state=0)
    amount = np.random.default_rng(0).lognormal(3, 1, 240)
    return X, y, Costs(fp=5, fn=amount)


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(model, X, y, costs, splits):
    """Fit and pay fold by fold."""
    paid = []
    for train, test in splits:
        fitted = sklearn.clone(model).fit(X[train], y[train], costs=costs[train])
        decided = fitted.predict(X[test], costs=costs[test])
        paid.append(mean_cost(y[test], decided, costs=costs[test]))
    return -np.array(paid)


def searches(scorer):
    yield lambda X, y, **p: GridSearchCV(MODEL, GRID, scoring=scorer, cv=2).fit(X, y, **p)
    yield lambda X, y, **p: GridSearchCV(
        MODEL, GRID, scoring={"cost": scorer, "also": scorer}, refit="cost", cv=2
    ).fit(X, y, **p)
    yield lambda X, y, **p: HalvingGridSearchCV(MODEL, GRID, scoring=scorer, cv=2).fit(X, y, **p)
    yield lambda X, y, **p: learning_curve(
        MODEL, X, y, train_sizes=[100], scoring=scorer, cv=2, params=p or None
    )
    yield lambda X, y, **p: cross_validate(MODEL, X, y, scoring=scorer, cv=2, params=p or None)


@pytest.mark.parametrize("number", range(5))
def test_a_scorer_without_costs_raises_once_and_names_the_remedy(rows, number):
    X, y, costs = rows
    search = list(searches(make_cost_scorer()))[number]
    with pytest.raises(ValueError, match=r"no costs reached this scorer.*enable_metadata_routing"):
        search(X, y, costs=costs)
    with pytest.raises(ValueError, match="the scorer holds costs for 240 rows"):
        list(searches(make_cost_scorer(costs)))[number](X, y)


def test_called_by_hand_it_raises_as_well(rows):
    X, y, _ = rows
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"^no costs reached this scorer"):
        make_cost_scorer()(model, X, y)
    with pytest.raises(ValueError, match=r"^no costs reached this scorer"):
        permutation_importance(model, X, y, scoring=make_cost_scorer(), n_repeats=1)


@pytest.mark.parametrize("number", range(5))
def test_constant_costs_need_no_routing(rows, number):
    X, y, _ = rows
    list(searches(make_cost_scorer(CONSTANT)))[number](X, y)


@pytest.mark.usefixtures("routing")
def test_each_fold_is_scored_by_its_own_costs(rows):
    X, y, costs = rows
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(MODEL, GRID, scoring=make_cost_scorer(), cv=folds)
    found = search.fit(X, y, costs=costs).cv_results_
    for j, depth in enumerate(GRID["max_depth"]):
        model = sklearn.clone(MODEL).set_params(max_depth=depth)
        expected = by_hand(model, X, y, costs, folds.split(X))
        ours = [found[f"split{i}_test_score"][j] for i in range(3)]
        assert ours == pytest.approx(expected)


@pytest.mark.usefixtures("routing")
def test_learning_curves_cut_costs_with_the_rows(rows):
    X, y, costs = rows
    folds = KFold(3)
    sizes, _, scores = learning_curve(
        MODEL, X, y, train_sizes=[80, 160], scoring=make_cost_scorer(), cv=folds,
        params={"costs": costs},
    )  # fmt: skip
    for j, size in enumerate(sizes):
        splits = [(train[:size], test) for train, test in folds.split(X)]
        assert scores[j] == pytest.approx(by_hand(MODEL, X, y, costs, splits))


@pytest.mark.usefixtures("routing")
def test_halving_searches_keep_costs_with_their_rows(rows):
    X, y, costs = rows
    search = HalvingGridSearchCV(
        MODEL, GRID, scoring=make_cost_scorer(), cv=2, min_resources=120, random_state=0
    )
    search.fit(X, y, costs=costs)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert search.best_estimator_.costs_per_row_


def test_permutation_importance_with_costs_per_row(rows):
    X, y, costs = rows
    X = np.column_stack([X, np.zeros(len(y))])
    model = sklearn.clone(MODEL).fit(X, y, costs=costs)
    found = permutation_importance(
        model, X, y, scoring=make_cost_scorer(costs), n_repeats=2, random_state=0
    )
    assert found.importances_mean[-1] == 0
    assert found.importances_mean.max() > 0


@pytest.mark.parametrize("inner", [LogisticRegression(), MODEL])
def test_a_search_inside_decides_by_any_costs(rows, inner):
    X, y, costs = rows
    grid = {"C": [0.1, 1.0]} if isinstance(inner, LogisticRegression) else GRID
    search = GridSearchCV(inner, grid, scoring=make_cost_scorer(CONSTANT), cv=2)
    model = MinimumCostClassifier(search, cv=2, random_state=0).fit(X, y, costs=costs)
    decided = model.predict(X, costs=costs)
    expected = costs.bind([0, 1]).decide(model.predict_proba(X))
    assert np.array_equal(decided, expected)
    assert not np.array_equal(decided, model.predict(X, costs={"fp": 5, "fn": 5}))
    alone = search.fit(X, y)
    assert alone.best_estimator_.predict(X).shape == y.shape


def test_stacks_with_a_final_estimator_that_knows_costs(rows):
    X, y, costs = rows
    parts = [("a", LogisticRegression()), ("b", LogisticRegression(C=0.01))]
    plain = StackingClassifier(parts, final_estimator=MODEL, cv=2).fit(X, y)
    dear = StackingClassifier(
        parts, final_estimator=sklearn.clone(MODEL).set_params(costs=CONSTANT), cv=2
    ).fit(X, y)
    assert plain.predict(X).sum() < dear.predict(X).sum()
    expected = costs.bind([0, 1]).decide(plain.predict_proba(X))
    assert np.array_equal(plain.predict(X, costs=costs), expected)
    with pytest.raises(ValueError, match="costs"):
        StackingClassifier(parts, final_estimator=MODEL, cv=2).fit(X, y, costs=costs)


@pytest.mark.usefixtures("routing")
def test_stacks_refuse_costs_that_nobody_asked_for(rows):
    X, y, costs = rows
    parts = [("a", LogisticRegression())]
    with pytest.raises(TypeError, match="costs"):
        StackingClassifier(parts, final_estimator=MODEL, cv=2).fit(X, y, costs=costs)

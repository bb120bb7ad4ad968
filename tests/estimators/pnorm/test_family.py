"""Training of mixtures: rounds, held-out rows, learners from outside."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost import Costs
from costboost.boosting.formulas import normalised
from costboost.estimators.pnorm import PNormBoostClassifier
from naive import pnorm as naive
from pnorm_problems import NAMES, matrix, problem
from quick_pnorm import quick


def test_rows_of_no_weight_make_leaves_no_larger():
    X, y = problem(40, n=200)
    weights = np.ones(200)
    weights[120:] = 0.0
    params = {"n_estimators": 3, "random_state": 0}
    whole = PNormBoostClassifier(**params).fit(X, y, sample_weight=weights)
    part = PNormBoostClassifier(**params).fit(X[:120], y[:120])
    assert_array_equal(whole.decision_function(X), part.decision_function(X))


def test_objective_falls_and_is_bounded():
    X, y = problem(43, n=200, K=3)
    for p in (2, 2.5, 4):
        model = quick(p=p, method="lp-csb-a", step="search", n_estimators=20).fit(
            X, y, costs=matrix(43, 3)
        )
        assert np.all(np.diff(model.objective_) <= 1e-12)
        assert np.all(model.objective_ <= model.objective_bound_)
        H = np.array(list(model.staged_decision_function(X)))
        expected = [naive.objective(h, matrix(43, 3)[y], p) for h in H]
        assert_allclose(model.objective_, expected)
    assert not hasattr(quick().fit(X, y), "objective_bound_")


def test_warm_start_continues():
    X, y = problem(47, n=200, K=3)
    for name in ("lp-csb", "adaboost.m2"):
        whole = quick(method=name, n_estimators=9).fit(X, y, costs=matrix(47, 3))
        part = quick(method=name, n_estimators=4, warm_start=True).fit(X, y, costs=matrix(47, 3))
        part.set_params(n_estimators=9).fit(X, y, costs=matrix(47, 3))
        assert_array_equal(part.decision_function(X), whole.decision_function(X))
        assert_array_equal(part.objective_, whole.objective_)


def test_early_stopping_keeps_the_best_round(capsys):
    X, y = problem(53, n=300, K=3)
    model = quick(n_estimators=60, n_iter_no_change=5, verbose=1).fit(X, y)
    assert model.n_iter_ < 60
    assert len(model.validation_cost_) == model.n_iter_ + 5
    assert np.argmin(model.validation_cost_) + 1 == model.n_iter_
    assert "held-out cost" in capsys.readouterr().out
    X2, y2 = problem(54, n=100, K=3)
    tree = DecisionTreeClassifier(max_depth=2)
    for estimator in (None, tree):
        model = quick(n_iter_no_change=3, estimator=estimator).fit(X, y, eval_set=(X2, y2))
        last = model.validation_cost_[model.n_iter_ - 1]
        assert last == pytest.approx(np.mean(model.predict(X2) != y2))


def test_a_fold_may_lack_a_class():
    X, y = problem(61, n=60, K=3)
    y[:] = np.where(y == 2, 1, y)
    y[0] = 2  # a single row: most folds train without it
    costs = Costs.from_matrix(matrix(61, 3), classes=[0, 1, 2])
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X, np.minimum(y, 1)))
    for train, test in folds:
        model = quick().fit(X[train], y[train], costs=costs)
        assert set(model.predict(X[test])) <= set(y[train])
    scores = cross_val_score(quick(costs=costs), X, np.minimum(y, 1), cv=folds)
    assert np.all(np.isfinite(scores))
    with pytest.warns(UserWarning, match="single row"):
        model = quick(calibration="sigmoid", cv=3).fit(X, y, costs=costs)
    assert model.predict_proba(X).shape == (60, 3)


@pytest.mark.parametrize("name", NAMES)
def test_any_classifier_serves(name):
    X, y = problem(73, n=150, K=3)
    costs = matrix(73, 3)
    for estimator in (DecisionTreeClassifier(max_depth=4), KNeighborsClassifier(3)):
        model = quick(method=name, estimator=estimator, n_estimators=6).fit(X, y, costs=costs)
        assert len(model.estimators_) == model.n_iter_
        assert -model.score(X, y) < 0.6 * costs.mean() * 1.5
        again = quick(method=name, estimator=estimator, n_estimators=6).fit(X, y, costs=costs)
        assert_array_equal(model.decision_function(X), again.decision_function(X))
        stages = list(model.staged_decision_function(X))
        assert_allclose(stages[-1], model.decision_function(X), atol=1e-12)


def test_outside_classifier_takes_tables_of_all_kinds():
    X, y = problem(79, n=90, K=3)
    tree = DecisionTreeClassifier(max_depth=4)
    dense = quick(estimator=tree).fit(X, y).decision_function(X)
    sparse = quick(estimator=tree).fit(sp.csc_matrix(X), y)
    assert_allclose(sparse.decision_function(sp.csr_matrix(X)), dense)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert_allclose(quick(estimator=tree).fit(frame, y).decision_function(frame), dense)
    model = quick(estimator=LogisticRegression(), method="dse", calibration="sigmoid", cv=2)
    assert model.fit(frame, y).predict_proba(frame).shape == (90, 3)


@pytest.mark.parametrize("method", ["lp-csb", "adaboost.m2", "gbse"])
def test_held_out_rows_are_paid_as_the_mixture_answers(method):
    X, y = problem(53, n=300, K=3)
    C = matrix(53, 3)
    model = quick(method=method, n_iter_no_change=8)
    model.fit(X[:200], y[:200], costs=C, eval_set=(X[200:], y[200:]))
    paid = [C[y[200:], stage].mean() for stage in model.staged_predict(X[200:])]
    assert_allclose(model.validation_cost_[: len(paid)], paid)


def test_answers_that_all_cost_the_same_leave_one_constant_and_say_why():
    X, y = problem(0)
    with pytest.warns(UserWarning, match="no answer costs more than another.*Try other costs"):
        model = quick().fit(X, y, costs=Costs.of_rows(np.ones((len(y), 3))))
    assert model.n_iter_ == 0
    assert len(set(model.predict(X))) == 1


def test_scores_to_calibrate_on_add_up_to_1():
    X, y = problem(0, n=200)
    model = quick(calibration="sigmoid", cv=2).fit(X, y, costs=matrix(0, 3))
    for mixture in model._model.members:
        scores = normalised(mixture.margins(X))
        assert_allclose(scores.sum(axis=1), 1.0)
        assert scores.min() >= 0


@pytest.mark.parametrize("step", [{"max_leaf_nodes": 2}, {"max_leaf_nodes": 15}])
@pytest.mark.parametrize("informed", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_says_where_it_costs_no_less_than_a_constant_on_the_rows_it_was_trained_on(
    step, informed, weighted
):
    rng = np.random.default_rng(0)
    y = rng.choice(3, 400, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(400, 3)) + (y[:, None] if informed else 0)
    weights = rng.integers(0, 4, 400).astype(float) if weighted else np.ones(400)
    C = np.array([[0, 1, 1], [1, 0, 1], [60.0, 60, 0]])
    model = PNormBoostClassifier(n_estimators=3, costs=C, random_state=0, **step)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight=weights if weighted else None)
    paid = np.sum(weights * C[y, model.predict(X)])
    constant = min(np.sum(weights * C[y, k]) for k in range(3))
    said = ["rows it was trained on than the best constant" in str(w.message) for w in caught]
    assert said == ([True] if paid >= constant else [])


def test_calibrated_it_says_so_of_the_rows_that_folds_left_out():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 400, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(400, 3))
    C = np.array([[0, 1, 1], [1, 0, 1], [60.0, 60, 0]])
    for ensemble in (True, False):
        model = PNormBoostClassifier(
            n_estimators=5, costs=C, calibration="sigmoid", cv=3, ensemble=ensemble, random_state=0
        )
        with pytest.warns(UserWarning, match="folds left out.*describe") as caught:
            model.fit(X, y)
        assert len(caught) == 1
        model.fit(X + 3 * y[:, None], y)  # says nothing


def test_of_costs_that_nobody_gave_it_says_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.repeat([0, 0, 0, 1, 2], 40)
    for calibration in (None, "sigmoid"):
        PNormBoostClassifier(n_estimators=2, calibration=calibration, random_state=0).fit(X, y)

"""`PNormBoostClassifier`: scores, stages, prices."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from costboost import Costs
from costboost.boosting.pnorm.methods import METHODS
from costboost.shards import layout as layout_module
from pnorm_problems import NAMES, matrix, problem
from quick_pnorm import quick


def test_scores_decide_and_stages_lead_to_them():
    X, y = problem(37, n=200, K=4)
    names = np.array(["d", "a", "c", "b"])
    costs = Costs.from_matrix(matrix(37, 4), classes=["a", "b", "c", "d"])
    model = quick().fit(X, names[y], costs=costs)
    H = model.decision_function(X)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(H, axis=1)])
    assert_allclose(model.predict_proba(X), H / H.sum(axis=1, keepdims=True))
    for stages, last in [
        (model.staged_decision_function(X), H),
        (model.staged_predict_proba(X), model.predict_proba(X)),
        (model.staged_predict(X), model.predict(X)),
    ]:
        stages = list(stages)
        assert len(stages) == model.n_iter_ == 8
        assert_array_equal(stages[-1], last)
    paid = [np.sum(model.costs_.of_decisions(names[y], d)) for d in model.staged_predict(X)]
    assert_allclose(model.train_cost_, paid)


@pytest.mark.parametrize("options", [{}, {"calibration": "sigmoid", "cv": 2}])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
@pytest.mark.parametrize("name", NAMES)
def test_stages_end_at_what_the_model_says(name, estimator, options):
    X, y = problem(3, n=300, K=2)  # of two classes many rows tie, and a rounding decides them
    model = quick(method=name, n_estimators=6, estimator=estimator, **options)
    model.fit(X, y, costs=Costs(fp=1, fn=7))
    for what in ("predict", "predict_proba", "decision_function"):
        *_, last = getattr(model, f"staged_{what}")(X)
        assert_array_equal(last, getattr(model, what)(X))


def test_scores_contain_costs_so_new_prices_need_calibration():
    X, y = problem(41, n=300, K=3)
    model = quick().fit(X, y, costs=matrix(41, 3))
    for ask in (model.predict, model.expected_cost):
        with pytest.raises(ValueError, match="calibration="):
            ask(X, costs=matrix(1, 3))
    with pytest.raises(ValueError, match="calibration="):
        model.expected_cost(X)
    assert model.score(X, y, costs=10 * matrix(41, 3)) == pytest.approx(10 * model.score(X, y))
    dear = np.array([[0, 1, 1], [1, 0, 1], [500, 500, 0.0]])
    for ensemble in (True, False):
        model = quick(calibration="sigmoid", cv=3, ensemble=ensemble).fit(X, y)
        cheap = model.predict(X, costs=dear)
        assert np.sum(cheap == 2) > np.sum(model.predict(X) == 2)
        assert_array_equal(cheap, np.argmin(model.expected_cost(X, costs=dear), axis=1))
        assert model.expected_cost(X).shape == (300, 3)
    triage = Costs.from_matrix(dear[:, :2], classes=[0, 1, 2], actions=["go", "stay"])
    assert set(model.predict(X, costs=triage)) <= {"go", "stay"}


def test_threads_and_pickles_change_nothing(monkeypatch):
    monkeypatch.setattr(layout_module, "_DEAL", 16)
    monkeypatch.setattr(layout_module, "_CELLS_PER_SHARD", 64)
    X, y = problem(59, n=300, K=3)
    one = quick(n_jobs=1, subsample=0.7, max_features=2).fit(X, y)
    two = quick(n_jobs=2, subsample=0.7, max_features=2).fit(X, y)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    again = pickle.loads(pickle.dumps(one))
    assert_array_equal(one.decision_function(X), again.decision_function(X))


def test_one_row_per_class():
    X, y = np.arange(5.0)[:, None], np.arange(5)
    for name in NAMES:
        model = quick(method=name, n_estimators=30).fit(X, y)
        assert_array_equal(model.predict(X), y)


def test_cost_rows_of_zeros():
    X, y = problem(67, n=100, K=3)
    C = matrix(67, 3)
    C[1] = 0.0  # whatever is answered for class 1 is free
    prices = C[y]
    prices[::7] = 0.0
    for costs in (C, Costs.of_rows(prices)):
        for name in NAMES:
            model = quick(method=name).fit(X, y, costs=costs)
            assert np.all(np.isfinite(model.decision_function(X)))
            assert np.all(np.isfinite(model.objective_))
    same = Costs.of_rows(np.ones((100, 3)))  # no answer is dearer than another
    with pytest.warns(UserWarning, match="could not take a single step"):
        model = quick().fit(X, y, costs=same)
    assert model.n_iter_ == 0
    assert len(set(model.predict(X))) == 1
    assert list(model.staged_predict(X)) == []


@pytest.mark.parametrize("name", NAMES)
def test_costs_of_any_size(name):
    X, y = problem(71, n=150, K=3)
    rng = np.random.default_rng(71)
    C = 10 ** rng.uniform(-6, 6, size=(150, 3))
    C[np.arange(150), y] = 0.0
    p = 5.0 if METHODS[name].uses_p else 2.0
    model = quick(method=name, p=p).fit(X, y, costs=Costs.of_rows(C))
    larger = quick(method=name, p=p).fit(X, y, costs=Costs.of_rows(2.0**40 * C))
    assert np.all(np.isfinite(model.objective_))
    assert_array_equal(model.decision_function(X), larger.decision_function(X))
    assert_allclose(larger.train_cost_, 2.0**40 * model.train_cost_)
    assert model.train_cost_[-1] < np.sum(C[:, 0])


def test_categories_and_gaps():
    rng = np.random.default_rng(83)
    kind = rng.choice(["ash", "oak", "elm"], 200)
    frame = pd.DataFrame({"kind": pd.Categorical(kind), "size": rng.normal(size=200)})
    frame.loc[::9, "size"] = np.nan
    y = np.where(kind == "ash", "soft", np.where(frame["size"] > 0, "large", "small"))
    model = quick().fit(frame, y)
    assert model.score(frame, y) > -0.05
    model.predict(frame.assign(kind="pine"))

"""What wrappers share: constants, clones, answers that contain costs."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from costboost.costs import Costs
from costboost.estimators.wrappers import CostingClassifier, MetaCostClassifier
from costboost.estimators.wrappers.base import Constant, copy_features, fit_clone, shares_of
from wrapped_rows import DEAR, problem


@pytest.mark.parametrize("wrapper", [CostingClassifier, MetaCostClassifier])
def test_a_constant_answer_still_checks_the_table(wrapper):
    X, y = problem(K=2)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    priced = Costs(fp=0, fn=1)  # calling everything positive costs nothing
    model = wrapper(LogisticRegression(), 3, random_state=0).fit(table, y, costs=priced)
    assert_array_equal(model.predict(table), 1)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(table.rename(columns={"c": "d"}))
    bare = wrapper(LogisticRegression(), 3, random_state=0).fit(X, y, costs=priced)
    for answer in (bare.predict, bare.predict_proba):
        with pytest.raises(ValueError, match=r"X has 1 features, but \w+ is expecting 3 features"):
            answer(X[:, :1])


@pytest.mark.parametrize("kind", [CostingClassifier, MetaCostClassifier])
def test_new_costs_need_a_new_fit(kind):
    X, y = problem()
    names = np.array(["b", "a", "c"])[y]
    model = kind(make_pipeline(StandardScaler(), LogisticRegression()), 3, random_state=0)
    model.fit(X, names, costs=Costs.from_matrix(DEAR, classes=["b", "a", "c"]))
    assert set(model.predict(X)) <= {"a", "b", "c"}
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="MinimumCostClassifier"):
        model.predict(X, costs=DEAR)
    with pytest.raises(ValueError, match="trained on costs"):
        model.expected_cost(X)
    assert model.score(X, names, costs=1 - np.eye(3)) <= 0
    actions = Costs.from_matrix([[0, 1], [1, 0], [2, 2]], classes=list("abc"), actions=[0, 1])
    with pytest.raises(ValueError, match="decisions must be the"):
        model.fit(X, names, costs=actions)


@pytest.mark.parametrize("kind", [CostingClassifier, MetaCostClassifier])
def test_bad_parameters_are_named(kind):
    X, y = problem()
    with pytest.raises(ValueError, match="n_estimators=0"):
        kind(LogisticRegression(), 0).fit(X, y)
    if kind is MetaCostClassifier:
        with pytest.raises(ValueError, match="max_samples=2"):
            kind(LogisticRegression(), max_samples=2).fit(X, y)
        with pytest.raises(ValueError, match="votes='some'"):
            kind(LogisticRegression(), votes="some").fit(X, y)


def test_a_constant_answers_its_class_and_refuses_what_is_not_finite():
    X = np.arange(6.0).reshape(3, 2)
    constant = Constant().fit(X, np.array(["b"] * 3))
    assert constant.predict(X).tolist() == ["b"] * 3
    assert constant.predict_proba(X).tolist() == [[1.0]] * 3
    holes = np.array([[np.nan, 1.0]])
    with pytest.raises(ValueError, match="NaN"):
        constant.predict(holes)
    lenient = Constant(check_finite=False).fit(X, np.array(["b"] * 3))
    assert lenient.predict(holes).tolist() == ["b"]


def test_clones_are_seeded_wherever_chance_is_hidden():
    X, y = problem(K=2)
    forest = RandomForestClassifier(3, max_depth=2)
    pipe = make_pipeline(StandardScaler(), DecisionTreeClassifier(splitter="random", max_depth=2))
    for estimator in (forest, pipe):
        one, other = (fit_clone(estimator, X, y, seed=7) for _ in range(2))
        assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        assert estimator.get_params().get("random_state") is None


def test_rows_of_one_class_make_a_constant_that_asks_as_much_as_its_estimator():
    X, ones = np.array([[np.nan], [1.0]]), np.array([1, 1])
    with pytest.raises(ValueError, match="NaN"):
        fit_clone(LogisticRegression(), X, ones, seed=0)
    assert fit_clone(DecisionTreeClassifier(), X, ones, seed=0).predict(X).tolist() == [1, 1]


def test_weights_reach_the_clone():
    X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    model = fit_clone(DecisionTreeClassifier(), X, y, 0, np.array([1.0, 1.0, 1.0, 9.0]))
    assert_allclose(model.predict_proba(X[:1]), [[0.25, 0.75]])


def test_shares_of_classes_that_a_model_never_saw_are_0():
    X, classes = np.array([[0.0], [1.0]]), np.array(["a", "b", "c"])
    model = DecisionTreeClassifier().fit(X, np.array(["c", "a"]))
    for votes in (False, True):
        assert shares_of(model, X, classes, votes=votes).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_what_the_last_model_knew_of_its_columns_is_forgotten():
    wrapper = SimpleNamespace(n_features_in_=3, feature_names_in_=["a", "b", "c"])
    copy_features(wrapper, SimpleNamespace(n_features_in_=2))
    assert vars(wrapper) == {"n_features_in_": 2}


@pytest.mark.parametrize("kind", [CostingClassifier, MetaCostClassifier])
def test_wrappers_take_the_tables_that_their_estimator_takes(kind):
    assert get_tags(kind(DecisionTreeClassifier())).input_tags.allow_nan
    assert not get_tags(kind(LogisticRegression())).input_tags.allow_nan
    assert get_tags(kind(LogisticRegression())).input_tags.sparse
    X, y = problem(K=2)
    X[0, 0] = np.nan
    kind(DecisionTreeClassifier(), 2, random_state=0).fit(X, y).predict(X)
    with pytest.raises(ValueError, match="NaN"):
        kind(LogisticRegression(), 2, random_state=0).fit(X, y)

"""MetaCost: every row with its cheapest label."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from costboost.costs import Costs
from costboost.estimators.wrappers import MetaCostClassifier
from wrapped_rows import DEAR, problem


@pytest.mark.parametrize("out_of_bag", [False, True])
def test_metacost_with_equal_costs_relabels_by_argmax(out_of_bag):  # invariant 49
    X, y = problem(n=200)
    model = MetaCostClassifier(
        DecisionTreeClassifier(max_depth=3), 7, out_of_bag=out_of_bag, random_state=0
    )
    model.fit(X, y)
    rng = np.random.RandomState(0)
    model._read(X, y, None, None)
    proba = model._bagged_proba(X, y, None, rng)
    assert_allclose(proba.sum(axis=1), 1.0)
    assert_array_equal(model.labels_, np.argmax(proba, axis=1))


def test_metacost_relabels_by_least_expected_cost():
    X, y = problem(n=200)
    model = MetaCostClassifier(DecisionTreeClassifier(max_depth=3), 7, random_state=0)
    model.fit(X, y, costs=DEAR)
    proba = model._bagged_proba(X, y, None, np.random.RandomState(0))
    assert_array_equal(model.labels_, np.argmin(proba @ DEAR, axis=1))
    assert np.sum(model.predict(X) == 2) > np.sum(y == 2)
    assert model.predict_proba(X).shape == (200, 3)


def test_out_of_bag_asks_only_models_that_did_not_see_the_row():
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2  # learnt by heart, or wrong
    nearest = KNeighborsClassifier(1)
    heart = MetaCostClassifier(nearest, 15, random_state=0).fit(X, y)
    fresh = MetaCostClassifier(nearest, 15, out_of_bag=True, random_state=0).fit(X, y)
    assert np.mean(heart.labels_ == y) > 0.9
    assert np.mean(fresh.labels_ == y) < 0.3


def test_metacost_with_costs_per_row_and_weights():
    X, y = problem(K=2)
    amount = np.random.default_rng(0).exponential(100, len(y))
    for estimator in (LogisticRegression(), KNeighborsClassifier(5)):
        model = MetaCostClassifier(estimator, 5, random_state=0)
        model.fit(X, y, sample_weight=np.linspace(0.5, 1, 300), costs=Costs(fp=5, fn=amount))
        assert np.sum(model.labels_) > np.sum(y)
        assert model.score(X, y, costs=Costs(fp=5, fn=amount)) < 0


def test_metacost_may_leave_a_single_class():
    X, y = problem()
    C = np.array([[0, 1, 0.0], [1, 0, 0], [1e9, 1e9, 0]])
    model = MetaCostClassifier(LogisticRegression(), 5, random_state=0).fit(X, y, costs=C)
    assert set(model.predict(X)) == {2}
    assert_array_equal(model.predict_proba(X)[:, 2], 1.0)


def test_weights_count_by_drawing_where_the_estimator_takes_none():
    X, y = problem(K=2)
    weights = np.where(y == 1, 1e-12, 1.0)
    model = MetaCostClassifier(KNeighborsClassifier(3), 4, random_state=0)
    model.fit(X, y, sample_weight=weights)
    assert set(model.predict(X)) == {0}  # rows of class 1 are too light to be drawn
    assert set(model.labels_) == {0}


def test_rows_that_every_sample_holds_are_judged_by_all_models():
    # Two rows, samples of two: some row is in every sample, and still gets a label.
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    for seed in range(5):
        model = MetaCostClassifier(
            KNeighborsClassifier(1), 1, out_of_bag=True, random_state=seed
        ).fit(X, y)
        assert set(model.labels_) <= {0, 1}
        assert len(model.labels_) == 2


def test_small_samples_are_at_least_one_row():
    X, y = problem(K=2)
    model = MetaCostClassifier(DecisionTreeClassifier(), 5, max_samples=1e-9, random_state=0)
    model.fit(X, y, costs=Costs(fp=1, fn=1))
    assert len(set(model.labels_)) == 1  # every model knows one row, and the majority is told


def test_only_estimators_with_probabilities_give_them():
    X, y = problem(K=2)
    assert not hasattr(MetaCostClassifier(LinearSVC()), "predict_proba")
    model = MetaCostClassifier(DecisionTreeClassifier(max_depth=2), 3, random_state=0).fit(X, y)
    assert_allclose(model.predict_proba(X), model.estimator_.predict_proba(X))

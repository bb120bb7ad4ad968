"""Costing: rows are drawn by their price."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from costboost.costs import Costs
from costboost.estimators.wrappers import CostingClassifier, rejection_sample
from wrapped_rows import DEAR, problem


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10_000), top=st.sampled_from([None, 1.0, 4.0]))
def test_acceptance_is_proportional_to_cost(seed, top):  # invariant 48
    rng = np.random.default_rng(seed)
    c = np.tile(rng.uniform(0, 1, 5), 4000)
    accepted = rejection_sample(c, seed, ceiling=top)
    Z = c.max() if top is None else top
    assert abs(accepted.mean() - np.mean(c / Z)) < 0.02
    by_price = accepted.reshape(-1, 5).mean(axis=0)
    assert_allclose(by_price, c[:5] / Z, atol=0.05)


def test_error_of_accepted_rows_is_the_cost_weighted_error():  # invariant 48
    rng = np.random.default_rng(1)
    c, wrong = rng.exponential(size=40_000), rng.random(40_000) < 0.3
    c = np.where(wrong, 2 * c, c)
    share = [wrong[rejection_sample(c, seed)].mean() for seed in range(20)]
    assert np.mean(share) == pytest.approx(np.sum(c * wrong) / np.sum(c), abs=0.01)


def test_rejection_at_the_ends():
    assert rejection_sample([2.0, 2.0, 0.0], 0).tolist() == [True, True, False]
    assert not rejection_sample([0.0, 0.0], 0).any()
    with pytest.raises(ValueError, match=r"ceiling=1.*largest weight, 2"):
        rejection_sample([2.0], ceiling=1)


def test_costing_answers_the_dear_class_more_often():
    X, y = problem()
    for estimator in (DecisionTreeClassifier(max_depth=3), LinearSVC()):
        plain = CostingClassifier(estimator, 5, random_state=0).fit(X, y)
        model = CostingClassifier(estimator, 5, random_state=0).fit(X, y, costs=DEAR)
        assert np.sum(model.predict(X) == 2) > np.sum(plain.predict(X) == 2)
        assert plain.acceptance_ == 1.0
        assert model.acceptance_ == pytest.approx(np.mean(np.where(y == 2, 1, 1 / 40)))
        assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
        assert -model.score(X, y) < np.mean(DEAR[y, plain.predict(X)])


def test_costing_weighs_rows_by_price_and_weight():
    X, y = problem(K=2)
    amount = np.random.default_rng(0).exponential(100, len(y))
    model = CostingClassifier(LogisticRegression(), random_state=0)
    costs = Costs(fp=5, fn=amount)
    model.fit(X, y, sample_weight=np.where(y == 1, 1e-12, 1.0), costs=costs)
    assert set(model.predict(X)) == {0}  # rows of class 1 weigh too little to be drawn
    again = CostingClassifier(LogisticRegression(), random_state=0).fit(X, y, costs=costs)
    with joblib.parallel_config("threading"):
        twice = CostingClassifier(LogisticRegression(), random_state=0, n_jobs=2)
        twice.fit(X, y, costs=costs[np.arange(300)])
    assert_array_equal(again.predict_proba(X), twice.predict_proba(X))


def test_costing_without_any_difference_accepts_all():
    X, y = problem()
    model = CostingClassifier(LogisticRegression()).fit(X, y, costs=np.ones((3, 3)))
    assert model.acceptance_ == 1.0


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_the_unit_of_prices_and_weights_does_not_matter(scale):
    X, y = problem(K=2)
    costs = Costs(fp=1, fn=7)
    plain = CostingClassifier(LogisticRegression(), 3, random_state=0)
    plain.fit(X, y, sample_weight=1.0 + y, costs=costs)
    scaled = CostingClassifier(LogisticRegression(), 3, random_state=0)
    scaled.fit(X, y, sample_weight=scale * (1.0 + y), costs=Costs(fp=scale, fn=7 * scale))
    assert scaled.acceptance_ == pytest.approx(plain.acceptance_)
    assert_allclose(scaled.predict_proba(X), plain.predict_proba(X))


def test_rows_of_weight_0_are_never_drawn():
    X, y = problem(K=2)
    weights = (np.arange(300) < 200).astype(float)
    model = CostingClassifier(LogisticRegression(), 3, random_state=0)
    poisoned = X.copy()
    poisoned[200:] *= -1e6
    model.fit(poisoned, y, sample_weight=weights, costs=Costs(fp=1, fn=3))
    assert np.mean(model.predict(X) == y) > 0.6
    assert model.acceptance_ == pytest.approx(np.sum(np.where(y[:200], 1, 1 / 3)) / 300)


def test_probabilities_are_the_mean_of_the_models_and_votes_their_shares():
    X, y = problem()
    soft = CostingClassifier(DecisionTreeClassifier(max_depth=2), 4, random_state=0)
    soft.fit(X, y, costs=DEAR)
    each = [model.predict_proba(X) for model in soft.estimators_]
    assert_allclose(soft.predict_proba(X), np.mean(each, axis=0))
    votes = CostingClassifier(LinearSVC(), 4, random_state=0).fit(X, y, costs=DEAR)
    said = np.array([model.predict(X) for model in votes.estimators_])
    expected = np.stack([(said == k).mean(axis=0) for k in range(3)], axis=1)
    assert_allclose(votes.predict_proba(X), expected)

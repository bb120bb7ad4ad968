"""Costing and MetaCost around any classifier."""

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.costs import Costs
from costboost.estimators.wrappers import CostingClassifier, MetaCostClassifier, rejection_sample

DRAWN = "rows are drawn at random, so weights count in expectation only"


@parametrize_with_checks(
    [
        CostingClassifier(LogisticRegression(), 4, random_state=0),
        CostingClassifier(KNeighborsClassifier(3), 4, random_state=0),
        MetaCostClassifier(LogisticRegression(), 4, random_state=0),
        MetaCostClassifier(LinearSVC(random_state=0), 4, out_of_bag=True, random_state=0),
        MetaCostClassifier(KNeighborsClassifier(3), 4, votes=True, random_state=0),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": DRAWN,
        "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    },
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def problem(seed=0, n=300, K=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.argmax(X @ rng.normal(size=(3, K)) + rng.normal(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    return X, y


DEAR = np.array([[0, 1, 1], [1, 0, 1], [40, 40, 0.0]])  # missing class 2 is dear


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


# -- rejection ----------------------------------------------------------------------------------


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


# -- costing ------------------------------------------------------------------------------------


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


# -- MetaCost -----------------------------------------------------------------------------------


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


# -- both ---------------------------------------------------------------------------------------


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

"""What both gradient boosting estimators tell of their rounds, and of the tables they take."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import get_tags

from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor


def test_no_split_is_said_aloud():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    with pytest.warns(UserWarning, match="min_samples_leaf"):
        model = GradientBoostClassifier().fit(X, y)
    assert model.n_iter_ == 0
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert GradientBoostRegressor().fit(X, np.ones(10)).predict(X).tolist() == [1.0] * 10


def test_an_objective_that_only_climbs_is_said_aloud(cancer):
    X, y = cancer
    model = GradientBoostClassifier("cost-exponential", objective="adacost", step="line-search")
    with pytest.warns(UserWarning, match="step='newton'"):
        model.fit(X, y)


def test_what_is_told_of_rounds_agrees_with_the_models(cancer):
    X, y = cancer
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = GradientBoostClassifier(n_estimators=4, estimator=tree, random_state=0).fit(X, y)
    assert model.n_iter_ == len(model.train_cost_) == len(model.estimators_) == 4
    assert len(model.estimator_weights_) == 4
    folds = GradientBoostClassifier(n_estimators=4, calibration="sigmoid", cv=3).fit(X, y)
    assert [len(part) for part in folds.train_cost_] == [4, 4, 4]
    again = folds.set_params(calibration=None).fit(X, y)
    assert again.train_cost_.shape == (4,)
    assert not hasattr(again, "estimators_")


def test_a_flat_target_is_no_failure():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GradientBoostRegressor(n_estimators=3).fit(
            np.arange(60.0)[:, None], np.full(60, 7.0)
        )
    assert model.n_iter_ == 0
    assert model.start_.tolist() == [7.0]


@pytest.mark.parametrize("kind", [GradientBoostClassifier, GradientBoostRegressor])
def test_tables_are_those_that_all_learners_take(kind):
    def tags(**learners):
        return get_tags(kind(**learners)).input_tags

    for own in (tags(), tags(init="zero")):
        assert own.allow_nan
        assert own.sparse
    assert tags(estimator=DecisionTreeRegressor()).allow_nan
    assert not tags(estimator=LinearRegression()).allow_nan
    assert not tags(init=LinearRegression()).allow_nan
    assert not tags(estimator=DecisionTreeRegressor(), init=LinearRegression()).allow_nan
    assert not tags(estimator=GaussianProcessRegressor()).sparse
    assert not tags(init=GaussianProcessRegressor()).sparse


def test_tags_tell_which_tables_a_fit_takes():
    X, y = np.linspace(-1.0, 1.0, 40).reshape(-1, 1), np.linspace(0.0, 1.0, 40)
    refusing = GradientBoostRegressor(n_estimators=2, init=GaussianProcessRegressor())
    with pytest.raises(TypeError, match="dense data is required"):
        refusing.fit(csr_matrix(X), y)
    tree = DecisionTreeRegressor(max_depth=1, random_state=0)
    missing = np.where(X > 0.9, np.nan, X)
    assert GradientBoostRegressor(n_estimators=2, estimator=tree).fit(missing, y).n_iter_ == 2

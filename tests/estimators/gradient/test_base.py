"""What both gradient boosting estimators tell of their rounds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
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
def test_missing_values_are_for_the_built_in_trees(kind):
    assert get_tags(kind()).input_tags.allow_nan
    assert get_tags(kind(init="zero")).input_tags.allow_nan
    assert not get_tags(kind(estimator=DecisionTreeRegressor())).input_tags.allow_nan
    assert not get_tags(kind(init=LinearRegression())).input_tags.allow_nan

"""What both gradient boosting estimators tell of their rounds."""

from __future__ import annotations

import numpy as np
import pytest

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

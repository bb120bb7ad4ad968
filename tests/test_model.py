"""The fitted model that all families end in: members that share their codes, maps, stages."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from costboost import CostBoostClassifier, GradientBoostRegressor
from costboost.model import FittedModel
from explained_tables import SMALL, table


def test_margins_of_every_model_are_its_own():
    X, y = table()
    model = CostBoostClassifier("adamec", cv=3, **SMALL).fit(X, y)
    model_ = model._model
    margins = model_.margins(X, model_.encode(X))
    assert len(margins) == len(model_.members) == 3
    for got, member in zip(margins, model_.members, strict=True):
        np.testing.assert_array_equal(got, member.forest.margins(X))
    np.testing.assert_allclose(model_.values(margins), model.decision_function(X), rtol=1e-12)
    assert model_.is_calibrated


def test_margins_from_elsewhere_are_added():
    X, _ = table()
    X = X[["age", "noise"]].to_numpy()
    init = LinearRegression()
    model = GradientBoostRegressor(init=init, **SMALL).fit(X, X[:, 0] + X[:, 1])
    model_ = model._model
    assert not model_.is_calibrated
    (margins,) = model_.margins(X, model_.encode(X))
    np.testing.assert_allclose(model_.values([margins]), model.predict(X), rtol=1e-12)
    (member,) = model_.members
    alone = replace(member, init=None).margins(X)
    np.testing.assert_allclose(margins - alone, member.init.margins(X), rtol=1e-9, atol=1e-9)


def test_models_of_different_binners_are_refused():
    X, y = table()
    one, other = (
        CostBoostClassifier("adaboost", **SMALL).fit(part, y[: len(part)])._model
        for part in (X, X[:150])
    )
    mixed = FittedModel(one.members + other.members, None, one.unit)
    with pytest.raises(ValueError, match="binner"):
        mixed.encode(X)

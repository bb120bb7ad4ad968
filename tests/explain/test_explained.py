"""What is explained: forests that share their codes, and margins from elsewhere."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from costboost import CostBoostClassifier, GradientBoostRegressor
from costboost.explain.explained import ExplainedModel, Member
from explained_tables import SMALL, table


def test_margins_of_every_model_are_its_own():
    X, y = table()
    model = CostBoostClassifier("adamec", cv=3, **SMALL).fit(X, y)
    subject = model._explained_model()
    rows = subject.encode(X, 1)
    margins = subject.margins(rows, 1)
    assert len(margins) == len(subject.members) == 3
    for got, member in zip(margins, subject.members, strict=True):
        np.testing.assert_array_equal(got, member.forest.margins(X))
    np.testing.assert_allclose(subject.decide(margins), model.decision_function(X), rtol=1e-12)
    assert not subject.is_sum


def test_margins_from_elsewhere_are_added():
    X, _ = table()
    X = X[["age", "noise"]].to_numpy()
    init = LinearRegression()
    model = GradientBoostRegressor(init=init, **SMALL).fit(X, X[:, 0] + X[:, 1])
    subject = model._explained_model()
    assert subject.is_sum
    (margins,) = subject.margins(subject.encode(X, 1), 1)
    np.testing.assert_allclose(subject.decide([margins]), model.predict(X), rtol=1e-12)
    assert subject.members[0].first is not None
    bare = Member(subject.members[0].forest, subject.members[0].weights)
    without = ExplainedModel((bare,), subject.decide, subject.unit)
    (alone,) = without.margins(without.encode(X, 1), 1)
    np.testing.assert_allclose(margins - alone, subject.members[0].first(X), rtol=1e-9, atol=1e-9)


def test_models_of_different_binners_are_refused():
    X, y = table()
    one, other = (
        CostBoostClassifier("adaboost", **SMALL).fit(part, y[: len(part)])._explained_model()
        for part in (X, X[:150])
    )
    mixed = ExplainedModel(one.members + other.members, one.decide, one.unit)
    with pytest.raises(ValueError, match="binner"):
        mixed.encode(X, 1)

"""From a fitted model to a picture: the same as from its predictions."""

import numpy as np
import pytest

from costboost.costs import Costs
from pictures import BINARY, assert_same, curve_of, legend_texts


@pytest.mark.parametrize("cls", BINARY)
@pytest.mark.parametrize("per_row", [False, True])
def test_from_estimator_equals_from_predictions(cls, rows, model, per_row):
    X, y, money, weight = rows
    costs = Costs(fp=5, fn=money if per_row else 20, positive="bad")
    one = cls.from_estimator(model, X, y, costs=costs, sample_weight=weight)
    p = model.predict_proba(X)[:, 0]  # "bad" is the first class
    other = cls.from_predictions(y, p, costs=costs, sample_weight=weight)
    assert_same(one, other)
    np.testing.assert_array_equal(curve_of(one), curve_of(other))
    assert legend_texts(one)[0].startswith("LogisticRegression: ")
    assert not legend_texts(other)[0].startswith("LogisticRegression")

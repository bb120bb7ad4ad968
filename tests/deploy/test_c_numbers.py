"""A `MinimumCostRegressor` in C answers as in Python."""

from __future__ import annotations

import ctypes

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from costboost import GradientBoostRegressor, MinimumCostRegressor, NumberCosts
from costboost.deploy import to_c, to_onnx
from tests.helpers.compiled_c import COMPILER, DOUBLES, compiled


def rows(n=300):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 3))
    y = 20 * X[:, 0] + (1 + 5 * X[:, 1]) * rng.gamma(2.0, size=n)
    X[::7, 2] = np.nan
    return X, y


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("scale", [None, "constant"])
def test_quantiles_and_cheapest_numbers_are_pythons(tmp_path, scale):
    X, y = rows()
    learner = GradientBoostRegressor(n_estimators=10, max_leaf_nodes=6)
    model = MinimumCostRegressor(learner, scale=scale, cv=3, random_state=0).fit(X, y)
    to_c(model, tmp_path / "bread.c", name="bread")
    library = compiled(tmp_path / "bread.c")

    def ask(function, *numbers):
        call = getattr(library, f"bread_{function}")
        call.restype = ctypes.c_double
        given = [ctypes.c_double(number) for number in numbers]
        return np.array([call(row.ctypes.data_as(DOUBLES), *given) for row in X[:60]])

    np.testing.assert_array_equal(ask("mean"), model.predict(X[:60]))
    for level in (1e-7, 0.1, 0.5, 0.875, 1 - 1e-7):
        np.testing.assert_array_equal(ask("quantile", level), model.predict_quantile(X[:60], level))
    for under, over in ((9.0, 1.0), (0.5, 2.0), (1.0, 0.0)):
        answers = model.predict(X[:60], costs=NumberCosts(under, over))
        np.testing.assert_array_equal(ask("cheapest", under, over), answers)
    for threshold in (-50.0, 15.0, 22.5, 500.0):
        found = ask("probability_above", threshold)
        np.testing.assert_allclose(found, model.predict_proba_above(X[:60], threshold), atol=1e-12)


def test_what_has_no_form_is_refused_by_name():
    X, y = rows(80)
    with pytest.raises(ValueError, match="A LinearRegression cannot be exported"):
        to_c(MinimumCostRegressor(LinearRegression()).fit(np.nan_to_num(X), y))
    frame = pd.DataFrame({"shop": np.where(X[:, 0] > 0.5, "a", "b")}).astype("category")
    learner = GradientBoostRegressor(n_estimators=2, min_samples_leaf=5)
    model = MinimumCostRegressor(learner).fit(frame, y)
    with pytest.raises(ValueError, match="Column 0 holds text"):
        to_c(model)
    with pytest.raises(ValueError, match="A MinimumCostRegressor cannot be exported"):
        to_onnx(model)

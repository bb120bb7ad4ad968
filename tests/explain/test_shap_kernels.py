"""The loops of Shapley values, compiled and interpreted."""

import numpy as np
import pytest

from costboost.explain import _shap_kernels, shapley
from costboost.explain.shapley import Explainer
from interpreted import load_interpreted
from shapley_cases import random_case


@pytest.fixture(scope="module", params=["installed", "interpreted"])
def kernels(request):
    if request.param == "installed":
        return _shap_kernels
    return load_interpreted("explain._shap_kernels")[0]


@pytest.mark.parametrize("n_splits", [1, 5, 12])
def test_compiled_and_interpreted_say_the_same(kernels, monkeypatch, n_splits):
    case = random_case(7, n_splits, n_outputs=2)
    codes = case.forest.encode(case.X)
    expected = Explainer(case.forest)._by_kernel(codes, None, 1)
    against = Explainer(case.forest)._by_kernel(codes, codes[:6], 1)
    monkeypatch.setattr(shapley, "kernels", kernels)
    np.testing.assert_array_equal(Explainer(case.forest)._by_kernel(codes, None, 1), expected)
    np.testing.assert_array_equal(Explainer(case.forest)._by_kernel(codes, codes[:6], 1), against)

"""Kernels of gradient boosting as they were installed, and as plain Python."""

import pytest

from costboost.boosting.gradient import _gradient_kernels, _leaf_kernels
from interpreted import WAYS, load_interpreted

NAMES = ("boosting.gradient._gradient_kernels", "boosting.gradient._leaf_kernels")


@pytest.fixture(scope="module", params=WAYS)
def both_kernels(request):
    if request.param == "installed":
        return _gradient_kernels, _leaf_kernels
    if request.param == "interpreted":
        pytest.importorskip("cython")
    return load_interpreted(*NAMES, hide_cython=request.param == "without-cython")


@pytest.fixture(scope="module")
def kernels(both_kernels):
    return both_kernels[0]


@pytest.fixture(scope="module")
def by_leaf(both_kernels):
    return both_kernels[1]

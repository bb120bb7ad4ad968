"""Kernels of gradient boosting as they were installed, and as plain Python."""

import pytest

from costboost.boosting.gradient import _gradient_kernels
from interpreted import load_interpreted


@pytest.fixture(scope="module", params=["installed", "interpreted"])
def kernels(request):
    if request.param == "installed":
        return _gradient_kernels
    return load_interpreted("boosting.gradient._gradient_kernels")[0]

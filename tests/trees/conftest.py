"""The kernels of the trees, as installed and as plain Python."""

import pytest

from interpreted import WAYS, tree_kernels_by


@pytest.fixture(scope="module", params=WAYS)
def kernels(request):
    return tree_kernels_by(request.param)

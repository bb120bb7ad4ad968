"""Rows with an amount each, and metadata routing off and on."""

import numpy as np
import pytest
import sklearn

from costboost.costs import Costs


@pytest.fixture
def case():
    rng = np.random.RandomState(0)
    n = 60
    p = rng.rand(n)
    y = (rng.rand(n) < p).astype(int)
    amount = rng.exponential(20, n) + 1
    return np.stack([np.arange(n), p], axis=1), y, Costs(fp=5, fn=amount), amount


@pytest.fixture(params=[False, True], ids=["routing-off", "routing-on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param

"""The four prices of two classes, by name."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs


def test_the_four_prices():
    costs = Costs(fp=8, fn=[1, 2], tp=3, tn="fee", positive="a")
    for view in (costs, costs.bind(["a", "b"]), costs.bind(["b", "a"])):
        assert view.fp == 8
        assert view.tp == 3
        assert view.tn == "fee"
        assert_array_equal(view.fn, [1, 2])
    with pytest.raises(AttributeError, match="two classes"):
        _ = Costs.from_matrix(1 - np.eye(3)).fp
    with pytest.raises(ValueError, match="read-only"):
        view.fn[0] = 9

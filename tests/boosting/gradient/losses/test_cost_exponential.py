"""Cai, Song and Zhang's loss: its objectives, prices and first constants."""

import numpy as np

from costboost.boosting.gradient.losses import CostExponentialLoss
from costboost.boosting.gradient.rows import Rows
from gradient_shards import best_constant


def test_a_class_that_costs_nothing_has_a_finite_start():
    y = np.array([0, 1, 1])
    table = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = best_constant(CostExponentialLoss("cgada"), Rows(y, table=table))
    assert 15 < found[0] < 20

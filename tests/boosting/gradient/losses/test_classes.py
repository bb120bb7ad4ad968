"""Losses of classes at some rows: numbers by class or by row."""

import numpy as np
import pytest

from costboost.boosting.gradient.rows import Rows
from gradient_losses import derive, example


@pytest.mark.parametrize("name", ["asymboost-2", "adacost-3", "expected-cost-2", "cgada-3"])
def test_prices_by_class_equal_prices_by_row(name):
    loss, _, rows, raw = example(name)
    n_classes = rows.prices.shape[1]
    table = np.random.default_rng(3).uniform(0.1, 1, size=(n_classes, n_classes))
    np.fill_diagonal(table, 0.0)
    found = []
    for bundle in (
        Rows(rows.y, rows.n_outputs, table=table),
        Rows(rows.y, rows.n_outputs, prices=table[rows.y]),
    ):
        found.append(derive(loss, bundle, raw)[1])
    np.testing.assert_array_equal(*found)

"""Expected cost: its bound of the curvature, and where it starts."""

import numpy as np
import pytest

from gradient_losses import example, price_of
from gradient_shards import best_constant
from naive import gradient as naive


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_hessian_of_expected_cost_bounds_its_curvature(n_classes):
    """Hoppner's |(1 - 2 s) g| lies below ours, which does not vanish at s = 1/2."""
    loss, twin, rows, raw = example(f"expected-cost-{n_classes}")
    g, h = loss.derivatives(rows, raw)
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            true = naive.hessian(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert h[i, k] >= abs(true) - 1e-6
    if n_classes == 2:
        s = 1 / (1 + np.exp(-raw[:, 0]))
        assert np.all(h[:, 0] >= np.abs((1 - 2 * s) * g[:, 0]))
        at_half = loss.derivatives(rows, np.zeros_like(raw))[1]
        assert np.all(at_half > 0.0)


def test_the_start_of_expected_cost_is_undecided():
    loss, _, rows, _ = example("expected-cost-3")
    assert best_constant(loss, rows).tolist() == [0.0, 0.0, 0.0]

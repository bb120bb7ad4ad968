"""The kernels of gradient boosting, compiled and interpreted, against NumPy."""

import numpy as np
import pytest

from costboost.boosting.gradient import rows as rows_module
from costboost.boosting.gradient.losses import classes, errors
from costboost.boosting.gradient.rows import LossRows
from gradient_losses import derive, each_loss, example

NONE = np.zeros(0)


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_compute_what_the_methods_say(kernels, name, weighted, monkeypatch):
    for module in (classes, errors, rows_module):
        monkeypatch.setattr(module, "kernels", kernels)
    loss, _, rows, raw = example(name, n=61)
    if weighted:
        weights = np.random.default_rng(1).uniform(0.1, 3, size=61)
        rows = LossRows(rows.y, rows.n_outputs, weights, rows.prices)
    expected = loss.derivatives(rows, raw)
    largest, *found = derive(loss, rows, raw, n_shards=2)
    for part, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, twin, rtol=1e-12)
    tops = np.stack([np.abs(expected[0]).max(axis=0), expected[1].max(axis=0)], axis=1)
    np.testing.assert_allclose(largest, tops, rtol=1e-12)


def test_certain_rows_have_finite_gradients(kernels):
    margins = np.array([[800.0], [-800.0], [800.0], [-800.0]])
    labels = np.array([1, 1, 0, 0], dtype=np.uint8)
    one, none = np.ones(2), np.zeros(0)
    for kind in (3, 4, 5):
        cores, parts, top = np.zeros(4), np.zeros((2, 4)), np.zeros((1, 2))
        terms = (np.array([-1.0, 1.0]), np.zeros(2), one)
        rows = (margins, labels, True, *terms, 0.0, none)
        kernels.binary_cores(kind, *rows, cores, top)
        kernels.unfold(kind, cores, 0, labels, True, terms[0], none, False, parts)
        assert np.all(np.isfinite(parts))


def test_margins_move_by_leaf_and_by_steps(kernels):
    rng = np.random.default_rng(2)
    margins, steps = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    leaves, values = rng.integers(0, 4, 30).astype(np.uint16), rng.normal(size=4)
    moved, out = margins.copy(), np.empty_like(margins)
    kernels.add_by_leaf(moved, 1, leaves, values)
    kernels.add_scaled(margins, steps, -0.7, out)
    expected = margins.copy()
    expected[:, 1] += values[leaves]
    np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(out, margins + -0.7 * steps)


def test_sums_of_values_keep_what_is_below_a_unit(kernels):
    values = np.array([0.5, 2.0**-30, 7.25, 0.0, 1e-9])
    out = np.zeros((1, 2), dtype=np.int64)
    kernels.sum_values(values, 2.0, out)
    assert out[0, 0] == 1 + 14  # whole units
    assert (out[0, 0] + out[0, 1] / 2**40) / 2 == pytest.approx(values.sum(), abs=1e-12)
    none = np.zeros((1, 2), dtype=np.int64)
    kernels.sum_values(NONE, 2.0, none)
    assert not none.any()

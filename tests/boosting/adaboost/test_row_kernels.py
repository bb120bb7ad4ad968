"""The loops over rows, compiled and interpreted, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from costboost.boosting.adaboost import _row_kernels
from costboost.boosting.adaboost.steps import halvings
from interpreted import load_interpreted
from rows_of_votes import Rows

few = settings(max_examples=25, deadline=None)
SCALE = 2.0**40
kinds = pytest.mark.parametrize("symmetric", [True, False])
factors = pytest.mark.parametrize("factored", [True, False])


@pytest.fixture(scope="module", params=["installed", "interpreted", "without-cython"])
def kernels(request):
    if request.param == "installed":
        return _row_kernels
    if request.param == "interpreted":
        pytest.importorskip("cython")
    hide = request.param == "without-cython"
    return load_interpreted("boosting.adaboost._row_kernels", hide_cython=hide)[0]


@kinds
@factors
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.1, 1.0, 17.0, 300.0, 1e5])
def test_rows_are_multiplied_by_their_exponentials(kernels, symmetric, factored, alpha):
    rows = Rows(1, symmetric=symmetric, factored=factored)
    exponent = np.clip(-alpha * rows.margins, -500.0, 500.0)
    expected = np.maximum(rows.weights * rows.factors * np.exp(exponent) * 0.5, 1e-280)
    weights, starts, leaves, columns, sizes, u, f = rows.arguments()
    arguments = (starts, leaves, columns, -alpha * sizes, u, f, halvings(alpha), 0.5)
    largest = kernels.multiply_rows(weights, *arguments, np.empty(16))
    # Every halving is a squaring in the end, which doubles the error.
    assert_allclose(weights, expected, rtol=2.0 ** halvings(alpha) * 1e-15)
    assert largest == weights.max()


@kinds
@factors
def test_exact_sums_over_rows(kernels, symmetric, factored):
    rows = Rows(2, symmetric=symmetric, factored=factored)
    q, u, alpha = rows.weights * rows.factors, rows.margins, 0.7
    out = np.zeros((2, 2), dtype=np.int64)
    kernels.balance_rows(*rows.arguments(), SCALE, out)
    sums = (out[:, 0] + out[:, 1] / 2.0**40) / SCALE
    assert_allclose(sums, [np.sum(q * (1 + u)), np.sum(q * (1 - u))], rtol=1e-13)
    out, z = np.zeros((3, 2), dtype=np.int64), q * np.exp(-alpha * u)
    step = (alpha, halvings(alpha), SCALE, np.empty(7))
    kernels.normalizer_rows(*rows.arguments(), *step, out)
    sums = (out[:, 0] + out[:, 1] / 2.0**40) / SCALE
    assert_allclose(sums, [z.sum(), (u * z).sum(), (u * u * z).sum()], rtol=1e-13, atol=1e-13)


@kinds
@factors
def test_moments_of_an_outline(kernels, symmetric, factored):
    rows = Rows(3, symmetric=symmetric, factored=factored)
    q, reach, n_cells = rows.weights * rows.factors, 1.0, 8
    place = (rows.margins / reach + 1.0) * n_cells / 2
    cell = np.minimum(place.astype(int), n_cells - 1)
    expected, by_leaf = np.zeros((n_cells, 4)), np.zeros((3, 2))
    np.add.at(expected, cell, q[:, None] * (place - cell - 0.5)[:, None] ** np.arange(4))
    np.add.at(by_leaf, (rows.leaves, rows.labels), q)
    moments, sums = np.zeros((n_cells, 4), np.int64), np.zeros((3, 2), np.int64)
    room = np.empty(7), np.empty(7, np.int32)
    kernels.outline_rows(*rows.arguments(), reach, SCALE, *room, moments, sums)
    assert_allclose(moments / SCALE, expected, atol=1e-10)
    assert_allclose(sums / SCALE, by_leaf, atol=1e-10)


def test_weights_by_leaf_and_class(kernels):
    rows = Rows(4, factored=True)
    expected, priced = np.zeros((3, 2)), np.zeros((3, 2))
    np.add.at(expected, (rows.leaves, rows.labels), rows.weights)
    np.add.at(priced, (rows.leaves, rows.labels), rows.weights * rows.factors)
    out = np.zeros((2, 3, 2), np.int64)
    kernels.sum_by_leaf(rows.weights, rows.starts, rows.leaves, SCALE, out)
    assert_allclose(out.sum(axis=0) / SCALE, expected, atol=1e-10)
    weights, starts, leaves, columns, _, _, f = rows.arguments()
    out = np.zeros((3, 2, 2), np.int64)
    kernels.sum_terms_by_leaf(weights, starts, leaves, columns, f, SCALE, out)
    assert_allclose((out[..., 0] + out[..., 1] / 2.0**40) / SCALE, priced, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 1023, 1024, 1025])
def test_weights_multiplied_by_cell_and_their_largest(n):
    rows = Rows(5, n, factored=True)
    by_cell = np.random.default_rng(0).uniform(0.5, 2.0, (3, 2))
    cells = by_cell[rows.leaves, rows.labels]
    weights = rows.weights.copy()
    largest = _row_kernels.multiply_by_leaf(weights, rows.starts, rows.leaves, by_cell)
    assert_allclose(weights, np.maximum(rows.weights * cells, 1e-280), rtol=1e-15)
    assert largest == weights.max(initial=0.0)
    weights, starts, leaves, columns, _, _, f = rows.arguments()
    expected = np.maximum(weights * cells * rows.factors, 1e-280)
    largest = _row_kernels.multiply_by_leaf_and_row(weights, starts, leaves, columns, by_cell, f)
    assert_allclose(weights, expected, rtol=1e-15)
    assert largest == weights.max(initial=0.0)


@few
@given(st.integers(0, 10**6), st.floats(-50.0, 50.0), st.booleans())
def test_sums_of_logs(kernels, seed, alpha, rare):
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=50) * (rng.uniform(size=50) < (0.1 if rare else 0.9))
    logs, u, weights = np.empty(50), rng.normal(size=50), np.empty(50)
    kernels.take_logs(values, logs)
    assert_allclose(np.exp(logs), values)
    kernels.raise_logs(logs, weights)
    assert_allclose(weights, np.maximum(values, 1e-280))
    top = kernels.largest_log(logs, u, alpha)
    assert top == np.max(logs - alpha * u)
    if np.isfinite(top):
        out = np.zeros((1, 2), dtype=np.int64)
        kernels.sum_of_logs(logs, u, alpha, top, SCALE, out)
        total = (out[0, 0] + out[0, 1] / 2.0**40) / SCALE
        assert_allclose(total, np.sum(np.exp(logs - alpha * u - top)), rtol=1e-12)

"""The kernels of binning, compiled and interpreted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binning_cases import mixed_matrix
from costboost.binning import _binning_kernels as compiled
from costboost.binning import column_bins as cutting
from costboost.binning import column_bins as encoding
from costboost.binning import table_reading
from costboost.binning.binner import fit_binner
from interpreted import load_interpreted
from naive import binning as naive


def interpreted_kernels():
    (module,) = load_interpreted("binning._binning_kernels", hide_cython=False)
    assert not module.is_compiled()
    return module


def test_interpreted_kernels_give_the_same(monkeypatch):
    weights = np.random.default_rng(0).integers(0, 3, 400)
    tables = [mixed_matrix(), mixed_matrix(dtype=np.float64)]
    tables[1][:3, 0] = [np.inf, -np.inf, 1e308]

    def results():
        for X in tables:
            for max_bins in (4, 255):
                for weight in (None, weights):
                    binner = fit_binner(X, weight, max_bins=max_bins)
                    yield binner, binner.encode(X, positions=np.arange(400)[::-1])

    compiled = list(results())
    interpreted = interpreted_kernels()
    for module in (table_reading, cutting, encoding):
        monkeypatch.setattr(module, "kernels", interpreted)
    for (binner, codes), (other, other_codes) in zip(compiled, results(), strict=True):
        assert binner == other
        np.testing.assert_array_equal(codes, other_codes)


KERNELS = pytest.mark.parametrize(
    "kernels", [compiled, interpreted_kernels()], ids=["compiled", "interpreted"]
)
NO_SUMS = np.empty(0, dtype=np.int64)


def cuts(kernels, values, sums, max_bins):
    lower, upper = np.full(max_bins - 1, np.nan), np.full(max_bins - 1, np.nan)
    n = kernels.cut_sorted(np.array(values, dtype=np.float64), sums, max_bins, lower, upper)
    return list(zip(lower[:n].tolist(), upper[:n].tolist(), strict=True))


@KERNELS
def test_columns_are_copied_beyond_one_tile_of_rows(kernels):
    values = np.arange(1100.0 * 3).reshape(1100, 3)
    out = np.zeros((2, 1100))
    kernels.copy_columns(values, np.array([2, 0]), out)
    np.testing.assert_array_equal(out, values[:, [2, 0]].T)


@KERNELS
def test_cuts_lie_between_neighbours(kernels):
    assert cuts(kernels, [], NO_SUMS, 3) == []
    assert cuts(kernels, [4], NO_SUMS, 3) == []
    assert cuts(kernels, [1, 1, 2, 5, 5], NO_SUMS, 3) == [(1, 2), (2, 5)]  # a bin for each
    assert cuts(kernels, range(8), NO_SUMS, 4) == [(1, 2), (3, 4), (5, 6)]
    # Half of the weight lies on 0: it is alone, and 3 rows share the bin left of it.
    sums = np.array([0, 1, 2, 3, 9, 10, 11, 12])
    assert cuts(kernels, [-3, -2, -1, 0, 1, 2, 3], sums, 3) == [(-1, 0), (0, 1)]


@KERNELS
@given(
    st.lists(st.integers(-30, 30), min_size=1, max_size=80).map(sorted),
    st.data(),
    st.sampled_from([2, 3, 5, 9]),
)
def test_cuts_are_halfway_the_naive_edges(kernels, values, data, max_bins):
    size = st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values))
    weights = np.array(data.draw(size))
    found = cuts(kernels, values, np.append(0, np.cumsum(weights)), max_bins)
    assert [a + (b - a) / 2 for a, b in found] == naive.edges(values, weights, max_bins)


@KERNELS
def test_codes_of_a_guide_with_one_cell(kernels):
    """All edges in one cell of the guide: the window alone must find them."""
    edges = np.array([-1.0, 0.0, 2.5, np.inf, np.inf, np.inf, np.inf])
    x = np.array([[-np.inf], [-1.0], [-0.5], [0.0], [2.5], [2.6], [np.inf], [np.nan]])
    out = np.full((9, 2), 99, dtype=np.uint8)
    kernels.encode_block(
        x,
        np.array([0]),
        np.array([1]),
        edges,
        np.array([0, 0, 7]),
        np.zeros(1, dtype=np.uint8),
        np.array([0, 0, 1]),
        np.zeros(2),
        np.zeros(2),
        np.array([0, 2]),
        255,
        np.array([0, 8, 7, 6, 5, 4, 3, 2, 1]),
        1,
        out,
    )
    assert out[:, 1].tolist() == [99, 255, 3, 3, 2, 1, 1, 0, 0]
    assert (out[:, 0] == 99).all()

"""Columns and tables that the tests of binning share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from costboost.binning import column_bins

# Few distinct values make ties and heavy values; all floats make everything else.
LEVELS = st.sampled_from([-np.inf, -2.5, -0.0, 0.0, 1.0, 1.5, 3.0, 1e30, np.inf, np.nan])
FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True)
COLUMNS = st.one_of(
    st.lists(LEVELS, min_size=1, max_size=60),
    st.lists(FLOATS, min_size=1, max_size=60),
    st.lists(st.integers(-20, 20).map(float), min_size=1, max_size=200),
)
MAX_BINS = st.sampled_from([2, 3, 4, 7, 16, 255])

ONES = np.ones((3, 2))

large = pytest.mark.skipif(
    not column_bins.kernels.is_compiled(), reason="too many rows for interpreted kernels"
)


@st.composite
def weighted_columns(draw):
    values = draw(COLUMNS)
    sizes = st.lists(st.integers(0, 5), min_size=len(values), max_size=len(values))
    weights = draw(sizes.filter(any))
    return np.array(values), np.array(weights)


def column(values, dtype=np.float64):
    return np.array(values, dtype=dtype)[:, np.newaxis]


def mixed_matrix(n=400, seed=0, dtype=np.float32):
    """Columns of different kinds: continuous, few values, heavy zeros, skewed, all missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(dtype)
    X[:, 1] = rng.integers(0, 4, n)
    X[rng.random(n) < 0.6, 2] = 0
    X[:, 3] = np.exp(3 * X[:, 3])
    X[rng.random(n) < 0.2, 4] = np.nan
    X[:, 5] = np.nan
    return X

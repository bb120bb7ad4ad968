"""The binner as a whole: types, threads, and the value that it is."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from scipy import sparse

from binning_cases import COLUMNS, MAX_BINS, ONES, column, large, mixed_matrix
from costboost.binning.binner import Binner, fit_binner


@given(COLUMNS, MAX_BINS)
def test_float32_equals_float64(values, max_bins):
    small = column(values, np.float32)
    large = small.astype(np.float64)
    binner = fit_binner(small, max_bins=max_bins)
    assert binner == fit_binner(large, max_bins=max_bins)
    np.testing.assert_array_equal(binner.encode(small), binner.encode(large))


@large
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_change_nothing(weighted):
    X = mixed_matrix(n=50_000)
    weights = np.random.default_rng(2).random(len(X)) if weighted else None
    alone = fit_binner(X, weights)
    assert fit_binner(X, weights, n_threads=2) == alone
    assert fit_binner(X, weights, n_threads=5) == alone
    np.testing.assert_array_equal(alone.encode(X, n_threads=2), alone.encode(X))
    stored = sparse.csr_array(np.nan_to_num(X))
    alone = fit_binner(stored, weights)
    assert fit_binner(stored, weights, n_threads=2) == alone
    np.testing.assert_array_equal(alone.encode(stored, n_threads=2), alone.encode(stored))


def test_binner_is_a_value():
    X = pd.DataFrame({"a": [1.0, np.nan, 2.0], "b": ["x", "y", "x"]})
    binner = fit_binner(X)
    binner.encode(X)
    copy = pickle.loads(pickle.dumps(binner))
    assert copy == binner
    assert binner != fit_binner(X.iloc[:2])
    assert binner != fit_binner(X, max_bins=9)
    assert binner != 1
    assert repr(binner) == "Binner(n_features=2, max_bins=255, n_categorical=1)"
    for array in (copy.edges[0], copy.has_missing, copy.n_bins, copy.is_categorical):
        assert not array.flags.writeable
    with pytest.raises(AttributeError):
        binner.max_bins = 3
    assert isinstance(binner, Binner)


@pytest.mark.parametrize("max_bins", [1, 256, 2.5, "many", None])
def test_max_bins_that_are_refused(max_bins):
    with pytest.raises(ValueError, match="between 2 and 255"):
        fit_binner(ONES, max_bins=max_bins)

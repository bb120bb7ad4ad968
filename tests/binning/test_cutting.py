"""Edges and categories against naive twins, and what they do not depend on."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from binning_cases import MAX_BINS, column, large, weighted_columns
from costboost.binning.binner import MISSING, fit_binner
from naive import binning as naive


@given(weighted_columns(), MAX_BINS)
def test_edges_equal_the_naive_twins(data, max_bins):
    values, weights = data
    binner = fit_binner(column(values), weights, max_bins=max_bins)
    assert binner.edges[0].tolist() == naive.edges(values, weights, max_bins)
    assert binner.has_missing[0] == np.isnan(values[weights > 0]).any()
    assert binner.n_bins[0] == len(binner.edges[0]) + 1 <= max_bins


@given(weighted_columns(), MAX_BINS)
def test_weight_k_equals_k_copies(data, max_bins):
    values, weights = data
    X = column(values)
    weighted = fit_binner(X, weights, max_bins=max_bins)
    assert weighted == fit_binner(np.repeat(X, weights, axis=0), max_bins=max_bins)
    assert weighted == fit_binner(X, weights * 0.125, max_bins=max_bins)
    assert weighted == fit_binner(X[weights > 0], weights[weights > 0], max_bins=max_bins)


@given(weighted_columns(), MAX_BINS, st.randoms(use_true_random=False))
def test_edges_do_not_depend_on_the_order_of_rows(data, max_bins, random):
    values, weights = data
    weights = weights * 0.1 + (weights > 0) / 3  # sums of these depend on their order in floats
    order = list(range(len(values)))
    random.shuffle(order)
    straight = fit_binner(column(values), weights, max_bins=max_bins)
    assert straight == fit_binner(column(values)[order], weights[order], max_bins=max_bins)


@given(weighted_columns(), MAX_BINS)
def test_weighted_float32_equals_weighted_float64(data, max_bins):
    # Weights below 2 ** 32 are sorted with float32 values as one integer each.
    values, weights = data[0].astype(np.float32), data[1]
    values[::3] *= -1  # also NaN with a sign, which must still sort last
    for chosen in (None, [0]):
        options = {"max_bins": max_bins, "categorical_features": chosen}
        small = fit_binner(column(values, np.float32), weights, **options)
        assert small == fit_binner(column(values, np.float64), weights, **options)


def test_few_values_are_kept_and_cut_halfway():
    binner = fit_binner(column([3, 1, 1, 2, 10]))
    assert binner.edges[0].tolist() == [1.5, 2.5, 6.5]
    assert binner.encode(column([1, 2, 3, 10])).ravel().tolist() == [0, 1, 2, 3]


def test_quantiles_by_hand():
    # 8 rows in 4 bins: 2 rows each.
    assert fit_binner(column(range(8)), max_bins=4).edges[0].tolist() == [1.5, 3.5, 5.5]


def test_a_heavy_value_gets_a_bin_alone_and_wastes_none():
    values = [-3, -2, -1] + 90 * [0] + [1, 2, 3, 4]
    # -3..-1 | 0 | 1, 2 | 3, 4
    assert fit_binner(column(values), max_bins=4).edges[0].tolist() == [-0.5, 0.5, 2.5]


def test_all_bins_are_used_by_a_continuous_column():
    X = np.random.default_rng(0).normal(size=(5_000, 1))
    binner = fit_binner(X)
    counts = np.bincount(binner.encode(X).ravel(), minlength=255)
    assert binner.n_bins[0] == 255
    assert counts.min() >= 19
    assert counts.max() <= 20


def test_edges_of_extreme_values_separate_them():
    tiny = np.nextafter(1.0, 2.0)
    values = [-np.inf, -1.7e308, 0.0, 5e-324, 1.0, tiny, 1.7e308, np.inf]
    binner = fit_binner(column(values))
    assert binner.encode(column(values)).ravel().tolist() == list(range(8))
    assert np.all(np.diff(binner.edges[0]) > 0)


def test_a_column_without_values_has_one_bin_and_no_edges():
    binner = fit_binner(column([np.nan, np.nan]))
    assert binner.n_bins.tolist() == [1]
    assert binner.encode(column([np.nan, 7.0])).ravel().tolist() == [255, 0]


@given(weighted_columns(), MAX_BINS)
def test_numeric_categories_equal_the_naive_twins(data, max_bins):
    values, weights = data
    binner = fit_binner(column(values), weights, max_bins=max_bins, categorical_features=[0])
    kept = naive.categories(values.tolist(), weights, max_bins)
    assert list(binner.categories[0]) == kept
    expected = [kept.index(v) if v in kept else MISSING for v in values.tolist()]
    assert binner.encode(column(values)).ravel().tolist() == expected


@large
def test_fitting_needs_few_bytes_a_row():
    X = np.random.default_rng(0).normal(size=(3_000_000, 2)).astype(np.float32)
    weights = np.ones(len(X))
    weights[0] = 2
    for weight, per_row in ((None, 32), (weights, 48)):
        tracemalloc.start()
        fit_binner(X, weight, n_threads=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < per_row * len(X) + (1 << 26)


@given(
    st.lists(st.sampled_from(["b", "a", "ab", "", "z", None]), min_size=1, max_size=40),
    st.data(),
    st.sampled_from([2, 3, 255]),
)
def test_categories_equal_the_naive_twins(values, data, max_bins):
    size = st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)).filter(any)
    weights = np.array(data.draw(size))
    X = pd.DataFrame({"a": pd.Categorical(values)})
    binner = fit_binner(X, weights, max_bins=max_bins)
    kept = naive.categories(values, weights, max_bins)
    assert list(binner.categories[0]) == kept
    expected = [kept.index(v) if v in kept else MISSING for v in values]
    assert binner.encode(X).ravel().tolist() == expected
    assert binner.has_missing[0] == (MISSING in np.array(expected)[weights > 0])
    repeated = X.iloc[np.repeat(np.arange(len(X)), weights)]
    assert fit_binner(repeated, max_bins=max_bins) == binner


@pytest.mark.parametrize("as_strings", [False, True])
def test_more_categories_than_bins(as_strings):
    # Category k of 0 .. 299 occurs twice if k is odd: the odd ones and the first even ones stay.
    values = np.concatenate([np.arange(300), np.arange(1, 300, 2)])
    kept = sorted([*range(1, 300, 2), *range(0, 210, 2)])
    assert len(kept) == 255
    if as_strings:
        X = pd.DataFrame({"c": [f"{v:03d}" for v in values]})
        binner = fit_binner(X)
        assert binner.categories[0] == tuple(f"{v:03d}" for v in kept)
    else:
        X = column(values)
        binner = fit_binner(X, categorical_features=[0])
        assert binner.categories[0] == tuple(map(float, kept))
    assert binner.has_missing[0]
    expected = [kept.index(v) if v in kept else MISSING for v in values]
    assert binner.encode(X).ravel().tolist() == expected

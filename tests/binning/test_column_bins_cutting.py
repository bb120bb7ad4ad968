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
from costboost.binning.column_bins import (
    cut_ordered,
    distinct_values,
    halfway,
    heaviest,
    key_totals,
    sorted_with_sums,
)
from costboost.binning.table_reading import DenseTable, ObjectTable, weigh_rows
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


@pytest.mark.filterwarnings("ignore:Column .* has .* categories")
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


@pytest.mark.filterwarnings("ignore:Column .* has .* categories")
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


@pytest.mark.filterwarnings("ignore:Column .* has .* categories")
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


@pytest.mark.filterwarnings("ignore:Column .* has .* categories")
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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("largest", [3, 1 << 33])  # beyond 32 bits pairs are no words
def test_values_are_sorted_with_the_sums_of_their_weights(dtype, largest):
    rng = np.random.default_rng(0)
    values = rng.choice([-np.inf, -2.5, -0.0, 0.0, 1e-40, 7, np.inf, np.nan, -np.nan], 60)
    values = values.astype(dtype)
    units = rng.integers(1, largest, 60)
    ordered, sums = sorted_with_sums(values.copy(), units)
    assert len(ordered) == np.count_nonzero(~np.isnan(values))
    np.testing.assert_array_equal(ordered, np.sort(values)[: len(ordered)])
    for value in np.unique(ordered):
        first, last = (
            np.searchsorted(ordered, [value, value], "left")[0],
            np.searchsorted(ordered, value, "right"),
        )
        assert sums[last] - sums[first] == units[values == value].sum()


def test_distinct_values_of_nothing_of_one_and_of_zeros():
    none = np.empty(0, dtype=np.int64)
    values, weights = distinct_values(np.empty(0), none)
    assert (values.tolist(), weights.tolist()) == ([], [])
    values, weights = distinct_values(np.array([5.0]), np.array([0, 3]))
    assert (values.tolist(), weights.tolist()) == ([5.0], [3])
    values, weights = distinct_values(np.array([-0.0, 0.0, 2.0]), none)
    assert (str(values.tolist()), weights.tolist()) == ("[0.0, 2.0]", [2, 1])


def test_halfway_is_never_the_right_neighbour():
    tiny = np.nextafter(1.0, 2.0)
    lower = np.array([1.0, -1.7e308, -np.inf, 5.0, -np.inf, -0.0, 0.0])
    upper = np.array([tiny, 1.7e308, 5.0, np.inf, np.inf, np.inf, 1.0])
    middle = halfway(lower, upper)
    assert np.all((lower <= middle) & (middle < upper))
    assert middle.tolist() == [1.0, 0.0, -np.inf, 5.0, -np.inf, 0.0, 0.5]
    assert not np.signbit(middle[5])


def test_the_heaviest_categories_stay_in_their_order():
    totals = {"b": 2, 3.0: 5, "a": 2, 1.0: 2}
    assert heaviest(totals, 4) == (1.0, 3.0, "a", "b")
    assert heaviest(totals, 3) == (1.0, 3.0, "a")  # of equals the first
    assert heaviest({**totals, "b": 9}, 2) == (3.0, "b")
    assert heaviest({}, 2) == ()


def test_categories_without_weight_do_not_occur(monkeypatch):
    monkeypatch.setattr("costboost.binning.column_bins._KEY_ROWS", 2)  # several blocks
    table = ObjectTable(np.array([["a"], ["b"], [None], ["a"], ["c"]], dtype=object))
    weights = weigh_rows([1, 0, 2, 3, 2], 5)
    unit = weights.every[0]
    found, missing = key_totals(table, weights, 0)
    assert found == {"a": 4 * unit, "c": 2 * unit}
    assert missing == 2 * unit
    assert key_totals(table, weigh_rows(None, 5), 0) == ({"a": 2, "b": 1, "c": 1}, 1)


def test_a_table_is_cut_as_its_columns_are():
    X = np.random.default_rng(3).normal(size=(300, 9))
    binner = fit_binner(X, max_bins=7)
    for j, values in enumerate(DenseTable(X).copy_columns(range(9))):
        alone = cut_ordered(*sorted_with_sums(values, None), 7)
        np.testing.assert_array_equal(binner.edges[j], alone)

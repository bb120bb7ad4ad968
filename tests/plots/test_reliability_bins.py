"""Bins, quantiles and intervals, by hand and against copies of rows."""

from itertools import pairwise

import numpy as np
import pytest

from costboost.plots.reliability import (
    bin_edges,
    fill_bins,
    sum_bins,
    weighted_quantiles,
    wilson_interval,
)


def test_wilson_interval_by_hand():
    # 8 of 10 at 95%: (0.4901, 0.9433), as printed in textbooks.
    low, high = wilson_interval(np.array([0.8]), np.array([10.0]), 0.95)
    np.testing.assert_allclose([low[0], high[0]], [0.4902, 0.9433], atol=1e-4)
    with pytest.raises(ValueError, match="confidence=95"):
        wilson_interval(np.array([0.8]), np.array([10.0]), 95)


def test_weighted_quantiles_are_those_of_copies():
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 9, 30).astype(float), rng.integers(0, 4, 30)
    q = np.linspace(0.01, 0.99, 15)
    copies = np.quantile(np.repeat(values, weight), q, method="inverted_cdf")
    np.testing.assert_array_equal(weighted_quantiles(values, weight.astype(float), q), copies)


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    proba = np.round(rng.uniform(size=n), 1)  # on the edges of ten bins
    return rng.integers(0, 2, n), proba, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def test_bins_are_those_of_a_loop_and_an_edge_belongs_to_its_left():
    positive, proba, weight = rows()
    edges = np.linspace(0, 1, 6)
    wanted = []
    for low, high in pairwise(edges):
        inside = (proba <= high) & ((proba > low) | (low == 0)) & (weight > 0)
        w = weight[inside]
        if w.sum():
            means = (w @ proba[inside] / w.sum(), w @ positive[inside] / w.sum())
            wanted.append((*means, w.sum(), w.sum() ** 2 / (w @ w)))
    found = fill_bins(positive, proba, weight, edges)
    np.testing.assert_allclose(np.column_stack(found), wanted, rtol=1e-12)


def test_bins_without_weight_are_left_out():
    found = fill_bins(
        np.array([1, 0, 1]), np.array([0.1, 0.5, 0.9]), np.array([1.0, 0.0, 2.0]),
        np.array([0, 1 / 3, 2 / 3, 1]),
    )  # fmt: skip
    assert found.predicted.tolist() == [0.1, 0.9]
    assert found.observed.tolist() == [1, 1]
    assert found.weight.tolist() == [1, 2]
    assert found.effective.tolist() == [1, 1]


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-600, 2.0**600])
def test_rows_that_a_bin_is_worth_do_not_depend_on_the_unit_of_weight(unit):
    positive, proba, weight = rows()
    edges = np.linspace(0, 1, 6)
    plain, other = (fill_bins(positive, proba, w, edges) for w in (weight, weight * unit))
    for one, two in zip(plain, other._replace(weight=other.weight / unit), strict=True):
        np.testing.assert_array_equal(one, two)
    # One bin may be far lighter than another.
    light = np.where(proba > 0.8, weight * unit, weight)
    mixed = fill_bins(positive, proba, light, edges)
    np.testing.assert_array_equal(mixed.effective, plain.effective)


@pytest.mark.parametrize("strategy", ["quantile", "positives"])
def test_parts_hold_about_as_much_each(strategy):
    proba = np.random.default_rng(0).beta(1, 9, 5000)
    weight = np.ones(5000)
    edges = bin_edges(proba, weight, 8, strategy)
    assert (edges[0], edges[-1], len(edges)) == (0, 1, 9)
    held = sum_bins(weight if strategy == "quantile" else proba, proba, edges)
    np.testing.assert_allclose(held, held.sum() / 8, atol=1)
    # All rows alike: one part ends there, and the rest of the axis is the other.
    alike = bin_edges(np.full(9, 0.25), np.ones(9), 8, strategy)
    assert alike.tolist() == [0, 0.25, 1]
    assert bin_edges(np.zeros(9), np.ones(9), 8, strategy).tolist() == [0, 1]


def test_a_quantile_is_the_first_value_at_which_its_share_is_reached():
    values = np.array([4.0, 2.0, 1.0, 3.0])
    found = weighted_quantiles(values, np.ones(4), [0, 0.25, 0.26, 0.5, 0.75, 1])
    assert found.tolist() == [1, 1, 2, 2, 3, 4]
    skipped = weighted_quantiles(values, np.array([0.0, 1.0, 0.0, 0.0]), [0, 0.5, 1])
    assert skipped.tolist() == [2, 2, 2]

"""What the byte of a cell says of its value."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given

from binning_cases import COLUMNS, MAX_BINS, column
from costboost.binning.binner import fit_binner
from costboost.binning.codes import MISSING
from naive import binning as naive


@given(COLUMNS, COLUMNS, MAX_BINS)
def test_codes_equal_the_naive_twins_and_grow_with_the_value(train, test, max_bins):
    binner = fit_binner(column(train), max_bins=max_bins)
    values = np.sort(np.concatenate([train, test, binner.edges[0]]))
    codes = binner.encode(column(values)).ravel()
    expected = [naive.code(v, binner.edges[0]) for v in values]
    assert codes.tolist() == expected
    assert np.all(np.diff(codes.astype(int)) >= 0)


def test_unseen_categories_share_the_missing_code():
    binner = fit_binner(pl.DataFrame({"c": ["a", "b"]}))
    assert not binner.has_missing[0]
    codes = binner.encode(pl.DataFrame({"c": ["c", "b", None]}))
    assert codes.ravel().tolist() == [255, 1, 255]


@given(COLUMNS, MAX_BINS)
def test_a_value_lies_left_of_an_edge_if_its_code_does(values, max_bins):
    binner = fit_binner(column(values), max_bins=max_bins)
    codes = binner.encode(column(values)).ravel()
    known = ~np.isnan(values)
    for t, edge in enumerate(binner.edges[0]):
        left = np.array(values)[known] <= edge
        np.testing.assert_array_equal(codes[known] <= t, left)
    assert (codes[~known] == MISSING).all()
    assert (codes[known] < binner.n_bins[0]).all()


def test_no_value_has_the_missing_code_though_all_bins_are_full():
    X = np.append(np.arange(5000.0), np.nan)[:, np.newaxis]
    counts = np.bincount(fit_binner(X).encode(X).ravel(), minlength=256)
    assert counts[MISSING] == 1
    assert (counts[:MISSING] > 0).all()

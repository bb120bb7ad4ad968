"""What the byte of a cell says of its value."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given

from binning_cases import COLUMNS, MAX_BINS, column
from costboost.binning.binner import fit_binner
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

"""Tables as users hand them over: names, chosen categories, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from binning_cases import ONES
from costboost.binning.binner import fit_binner


@pytest.mark.parametrize("chosen", [[1], [False, True], ["b"], np.array([1]), ("b",)])
def test_numbers_named_as_categories(chosen):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [7, 3, 3, 5]})
    binner = fit_binner(X, categorical_features=chosen)
    assert binner.is_categorical.tolist() == [False, True]
    assert binner.categories == (None, (3.0, 5.0, 7.0))
    assert binner.encode(X)[:, 1].tolist() == [2, 0, 0, 1]
    assert binner.encode(np.array([[0, 4.0], [0, np.nan]]))[:, 1].tolist() == [255, 255]
    stored = sparse.csr_array(X.to_numpy())
    np.testing.assert_array_equal(binner.encode(stored), binner.encode(X))
    as_category = fit_binner(X.astype({"b": "category"}))
    assert as_category == binner
    np.testing.assert_array_equal(as_category.encode(X), binner.encode(X))


def test_none_means_no_categories():
    X = pd.DataFrame({"a": [1, 2], "c": ["x", "y"]})
    assert not fit_binner(X[["a"]], categorical_features=None).is_categorical.any()
    with pytest.raises(ValueError, match=r"Column 'c' holds String.*categorical_features"):
        fit_binner(X, categorical_features=None)
    with pytest.raises(ValueError, match="Column 0 holds strings where numbers"):
        fit_binner([["x"], ["y"]], categorical_features=[])


def test_masked_arrays_are_missing_where_masked():
    X = np.ma.masked_array([[1], [2], [3]], mask=[[0], [1], [0]])
    assert fit_binner(X).encode(X).ravel().tolist() == [0, 255, 1]


def test_names_are_checked_as_scikit_learn_does():
    X = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    binner = fit_binner(X)
    with pytest.raises(ValueError, match="must be in the same order"):
        binner.encode(X[["b", "a"]])
    with pytest.raises(ValueError, match=r"unseen at fit time:\n- c\n.*now missing:\n- b\n"):
        binner.encode(X.rename(columns={"b": "c"}))
    np.testing.assert_array_equal(binner.encode(X.to_numpy()), binner.encode(X))
    assert fit_binner(pd.DataFrame(np.ones((2, 2)))).feature_names is None


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "Reshape your data"),
        (np.ones((0, 2)), r"0 sample\(s\) .* minimum of 1 is required"),
        (np.ones((2, 0)), r"0 feature\(s\) .* minimum of 1 is required"),
        (ONES + 1j, "Complex data not supported"),
        (sparse.csr_array(ONES + 1j), "Complex data not supported"),
        (np.zeros((2, 2), dtype="datetime64[s]"), "turn dates into numbers"),
        (np.zeros((2, 2), dtype="S3"), "decode bytes"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), "Column 't' holds Datetime"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (np.array([["x"], [1]], dtype=object), "both strings and numbers"),
        (np.array([["x"], [1.5]], dtype=object), "both strings and numbers"),
    ],
)
def test_tables_that_are_refused(X, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(X)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("auto", "from_dtype"),
        ([2], "between 0 and 1"),
        ([-1], "between 0 and 1"),
        ([True], "has 1 booleans, but X has 2"),
        (["a"], "have no names"),
        ([0.5], "booleans, indices or names"),
        ([[0], [1]], "booleans, indices or names"),
    ],
)
def test_categorical_features_that_are_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES, categorical_features=chosen)


def test_categorical_names_must_exist():
    with pytest.raises(ValueError, match=r"'z', which is no column of X: its columns are \['a'\]"):
        fit_binner(pd.DataFrame({"a": [1]}), categorical_features=["z"])

"""Copies of rows, against pandas' idea of equal rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from costboost.calibration import copies_in
from costboost.fitting.tables import find_copies


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 5, (n, 2))])


def repeated(X, seed=0):
    rows = np.random.default_rng(seed).integers(0, len(X), 2 * len(X))
    return X[rows], rows


def by_pandas(frame):
    """Number equal rows in the order of their first occurrence."""
    return frame.groupby(list(frame.columns), sort=False, dropna=False, observed=True).ngroup()


def test_no_copies():
    assert find_copies(table()) is None
    assert find_copies(table(1)) is None


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_copies_are_equal_rows(kind):
    X, rows = repeated(table().astype(kind))
    found = find_copies(X)
    np.testing.assert_array_equal(found, by_pandas(pd.DataFrame(X)))
    np.testing.assert_array_equal(found, by_pandas(pd.DataFrame({"row": rows})))


def test_every_kind_of_table_has_the_same_copies():
    X, _ = repeated(table())
    X[X[:, 3] == 0, 1] = np.nan
    X[X[:, 3] == 1, 1] = 0.0
    X[np.flatnonzero(X[:, 3] == 1)[::2], 1] = -0.0
    words = np.array(["ash", "elm", "fir", "oak", "yew"])[X[:, 4].astype(int)]
    frame = pd.DataFrame(X, columns=list("abcde")).assign(f=words)
    expected = by_pandas(frame.replace(-0.0, 0.0))
    tables = {
        "pandas": frame,
        "categories": frame.astype({"f": "category"}),
        "polars": pl.from_pandas(frame),
        "objects": frame.to_numpy(dtype=object),
        "numbers": frame.drop(columns="f").to_numpy(),
        "sparse": sp.csr_matrix(frame.drop(columns="f").to_numpy()),
        "fortran": np.asfortranarray(frame.drop(columns="f").to_numpy()),
    }
    for name, given in tables.items():
        np.testing.assert_array_equal(find_copies(given), expected, err_msg=name)


def test_blocks_and_order_do_not_matter():
    X, _ = repeated(table(20_000, seed=1))
    found = find_copies(X)
    np.testing.assert_array_equal(found, by_pandas(pd.DataFrame(X)))
    order = np.random.default_rng(2).permutation(len(X))
    np.testing.assert_array_equal(find_copies(X[order]), copies_in(found, order))


def test_equal_rows_that_chance_explains_are_no_copies():
    rng = np.random.default_rng(0)
    assert find_copies(rng.integers(0, 2, (400, 2))) is None  # four different rows are all there is
    assert find_copies(rng.integers(0, 2, (400, 8))) is None
    assert find_copies(rng.integers(0, 40, (400, 1))) is None
    assert find_copies(np.repeat(rng.integers(0, 2, (400, 2)), 2, axis=1)) is None
    titanic = pd.DataFrame({"class": rng.integers(0, 4, 2000), "sex": rng.integers(0, 2, 2000)})
    assert find_copies(titanic) is None


@pytest.mark.parametrize("n_columns", [2, 5])
def test_few_columns_have_copies_where_values_are_many(n_columns):
    X = np.random.default_rng(0).normal(size=(100, n_columns))
    np.testing.assert_array_equal(find_copies(np.tile(X, (3, 1))), np.tile(np.arange(100), 3))


def test_copies_in_some_rows():
    sets = np.array([0, 1, 0, 2, 1])
    assert copies_in(None, [0, 1]) is None
    assert copies_in(sets, [0, 1, 3]) is None
    assert copies_in(sets, [3, 1, 4]).tolist() == [0, 1, 1]

"""Codes of cells: how they are searched, where they are written, what is refused."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from binning_cases import ONES, column, large, mixed_matrix
from costboost.binning.binner import fit_binner
from costboost.binning.column_bins import encode_table, make_encoder, make_target
from costboost.binning.table_reading import DenseTable, SparseTable
from naive import binning as naive


@pytest.mark.parametrize("scale", [0.5, 2.0, 8.0])
def test_codes_of_skewed_columns(scale):
    # Edges crowd in one cell of the guide: the search window is wide.
    X = np.exp(scale * np.random.default_rng(1).normal(size=(3_000, 1)))
    binner = fit_binner(X)
    np.testing.assert_array_equal(
        binner.encode(X).ravel(), np.searchsorted(binner.edges[0], X.ravel(), side="left")
    )


def test_positions_place_rows_and_columns_leave_others_alone():
    X = mixed_matrix()
    binner = fit_binner(X)
    codes = binner.encode(X)
    positions = np.random.default_rng(0).permutation(len(X))
    for table in (X, pd.DataFrame(X), sparse.csc_array(np.nan_to_num(X))):
        expected = binner.encode(table)
        np.testing.assert_array_equal(
            binner.encode(table, positions=positions)[positions], expected
        )
        out = np.full((len(X) + 3, 6), 77, dtype=np.uint8)
        assert binner.encode(table, positions=positions + 3, out=out, columns=[3, 0]) is out
        np.testing.assert_array_equal(out[positions + 3][:, [0, 3]], expected[:, [0, 3]])
        assert (out[:3] == 77).all()
        assert (out[:, [1, 2, 4, 5]] == 77).all()
    assert (binner.encode(X, columns=[1])[:, 0] == 0).all()
    np.testing.assert_array_equal(binner.encode(X[:0]), codes[:0])


@large
def test_encoding_needs_little_memory():
    X = np.random.default_rng(0).normal(size=(300_000, 8)).astype(np.float32)
    binner = fit_binner(X)
    for table, extra in ((X, 100_000), (X.astype(np.int64), 2 * 9_000_000)):
        out = np.empty(X.shape, dtype=np.uint8)
        tracemalloc.start()
        binner.encode(table, out=out, n_threads=2)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < extra


def test_kinds_of_categories_may_not_change():
    strings = fit_binner(pd.DataFrame({"c": ["x", "y"]}))
    with pytest.raises(ValueError, match=r"'c' holds numbers.*strings in training"):
        strings.encode(pd.DataFrame({"c": [1.0, 2.0]}))
    assert strings.encode(pd.DataFrame({"c": [np.nan]})).tolist() == [[255]]
    numbers = fit_binner(column([1, 2]), categorical_features=[0])
    with pytest.raises(ValueError, match=r"the category 'x'.*numbers in training"):
        numbers.encode(pd.DataFrame({"c": ["x"]}))
    with pytest.raises(ValueError, match="Column 'c' holds String where numbers"):
        fit_binner(column([1, 2])).encode(pd.DataFrame({"c": ["x"]}))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.ones((3, 3))}, "X has 3 features, but Binner is expecting 2 features as input"),
        ({"positions": [0, 1]}, "positions must be 3 integers"),
        ({"positions": [0.0, 1.0, 2.0]}, "positions must be 3 integers"),
        ({"positions": [0, 1, 3]}, "between 0 and 2, got 0 to 3"),
        ({"positions": [0, 1, -1]}, "between 0 and 2, got -1 to 1"),
        ({"out": np.empty((2, 2), np.uint8)}, "at least 3 rows and exactly 2 columns"),
        ({"out": np.empty((3, 2))}, "writeable uint8 array"),
        ({"columns": [2]}, "between 0 and 1"),
        ({"columns": [-1]}, "between 0 and 1"),
    ],
)
def test_encode_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit_binner(ONES).encode(**{"X": ONES, **arguments})


@pytest.mark.parametrize("kind", ["pandas", "polars", "object"])
def test_columns_that_are_not_encoded_are_of_the_same_kind(kind):
    def table(**columns):
        if kind == "object":
            return np.array(list(zip(*columns.values(), strict=True)), dtype=object)
        return (pd.DataFrame if kind == "pandas" else pl.DataFrame)(columns)

    number, word = [1.0, 2.0, 3.0], ["ash", "oak", "elm"]
    binner = fit_binner(table(a=number, b=number, c=word))
    assert binner.encode(table(a=number, b=number, c=word), columns=[0])[:, 1].tolist() == [0] * 3
    with pytest.raises((ValueError, TypeError), match=r"b|1"):
        binner.encode(table(a=number, b=word, c=word), columns=[0])
    with pytest.raises((ValueError, TypeError), match="were strings in training"):
        binner.encode(table(a=number, b=number, c=number), columns=[0])
    missing = [None, None, None]
    binner.encode(table(a=number, b=number, c=missing), columns=[0])


EDGES = st.lists(
    st.one_of(
        st.floats(-1e3, 1e3),
        st.floats(allow_nan=False),
        st.sampled_from([-np.inf, 0.0, 5e-324, 1e-300, 1e300, 1.7e308]),
    ),
    max_size=40,
    unique=True,
).map(sorted)


def codes_of(table, edges, categories):
    target = make_target(table.n_rows, table.n_columns)
    encode_table(make_encoder(edges, categories), table, target, 1)
    return target.out


@given(EDGES, EDGES)
def test_any_edges_are_searched_rightly(one, other):
    """Edges over all decades fall into few cells of the guide, and still count those below."""
    x = np.array([*one, *other, -np.inf, 0.0, np.inf, np.nan])
    X = np.column_stack([x, x])
    for table in (DenseTable(X), SparseTable(sparse.csr_array(X))):
        codes = codes_of(table, [np.array(one), np.array(other)], [None, None])
        assert codes[:, 0].tolist() == [naive.code(v, one) for v in x]
        assert codes[:, 1].tolist() == [naive.code(v, other) for v in x]


def test_numbers_that_are_categories_have_their_places():
    table = DenseTable(np.array([[7.0], [-1], [3], [8], [np.nan], [-np.inf]]))
    codes = codes_of(table, [np.empty(0)], [(-1.0, 3.0, 7.0)])
    assert codes.ravel().tolist() == [2, 0, 1, 255, 255, 255]
    nothing = codes_of(table, [np.empty(0)], [()])  # no category was kept
    assert nothing.ravel().tolist() == [255] * 6
    missing = DenseTable(np.full((2, 1), np.nan))
    assert codes_of(missing, [np.empty(0)], [("a",)]).ravel().tolist() == [255, 255]
    with pytest.raises(ValueError, match=r"Column 0 holds numbers.*were strings in training"):
        codes_of(table, [np.empty(0)], [("a",)])


def test_features_are_sorted_and_named_once():
    assert make_target(2, 5, columns=[3, 0, 3]).features.tolist() == [0, 3]
    assert make_target(2, 5, columns=iter([])).features.tolist() == []
    assert make_target(2, 5, columns=[1]).out.tolist() == [[0] * 5] * 2  # never what was there
    assert make_target(0, 5, positions=np.empty(0, dtype=np.int64)).out.shape == (0, 5)
    frozen = np.empty((2, 5), dtype=np.uint8)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="writeable"):
        make_target(2, 5, out=frozen)

"""The binner as a whole: types, threads, and the value that it is."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
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


# Categories for which there is no code


def heard_from(make, *args, **options):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        make(*args, **options)
    return [str(warning.message) for warning in heard]


@given(
    st.lists(st.sampled_from(["b", "a", "ab", "", "z", "y", None]), min_size=1, max_size=40),
    st.data(),
    st.sampled_from([2, 3, 6]),
)
def test_categories_left_out_are_told_of(values, data, max_bins):
    drawn = data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values)))
    weights = np.array(drawn) if any(drawn) else None
    heard = heard_from(
        fit_binner, pd.DataFrame({"x": values}, dtype=object), weights, max_bins=max_bins
    )
    total = Counter()
    for value, weight in zip(
        values, np.ones(len(values)) if weights is None else weights, strict=True
    ):
        if weight:
            total[value] += weight
    levels = sorted(total.keys() - {None}, key=lambda level: (-total[level], level))
    left = levels[max_bins:]
    if not left:
        assert heard == []
        return
    named = ", ".join(map(repr, left[:3])) + (", ..." if len(left) > 3 else "")
    share = 100 * sum(total[level] for level in left) / sum(total.values())
    (message,) = heard
    assert message.startswith(
        f"Column 'x' has {len(levels)} categories, more than max_bins={max_bins} can tell apart: "
        f"the {len(left)} with the least weight ({named}), {share:.2g} % of the "
        f"{'rows' if weights is None else 'weight'}, share the code of missing values."
    )
    assert "raise max_bins" in message


NAMES = [f"shop {k:04d}" for k in range(300)]
TABLES = {
    "pandas": pd.DataFrame({"shop": NAMES}),
    "pandas category": pd.DataFrame({"shop": pd.Categorical(NAMES)}),
    "polars": pl.DataFrame({"shop": NAMES}),
    "polars Categorical": pl.DataFrame({"shop": pl.Series(NAMES, dtype=pl.Categorical)}),
    "arrow": pa.table({"shop": NAMES}),
    "numpy strings": column(NAMES, str),
    "numpy objects": column(NAMES, object),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_library_tell_of_categories_left_out(kind):
    (message,) = heard_from(fit_binner, TABLES[kind])
    name = "Column 0" if kind.startswith("numpy") else "Column 'shop'"
    assert message.startswith(
        f"{name} has 300 categories, more than max_bins=255 can tell apart: the 45 with the least "
        "weight ('shop 0255', 'shop 0256', 'shop 0257', ...), 15 % of the rows, share the code"
    )
    assert "raise max_bins" not in message  # there are no more


def test_255_categories_are_all_kept():
    assert heard_from(fit_binner, column(NAMES[:255], object)) == []


def test_every_crowded_column_is_named_once():
    X = pd.DataFrame({"a": NAMES, "b": 1.0, "c": NAMES[::-1], "d": np.arange(300)})
    heard = heard_from(fit_binner, X, categorical_features=["a", "c", "d"])
    assert [message.split(" has ")[0] for message in heard] == [
        "Column 'a'",
        "Column 'c'",
        "Column 'd'",
    ]

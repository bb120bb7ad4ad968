"""A table in parts is binned as the whole table is, whatever its columns, weights and parts."""

from __future__ import annotations

import pickle
import warnings
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from binning_parts import Wire, cuts_of, split
from costboost.binning import partitioned
from costboost.binning.binner import fit_binner
from costboost.binning.binning_messages import count_keys, glance_at_columns, values_between
from costboost.binning.partitioned import fit_partitioned_binner

N_PARTS = [1, 2, 7, 64]


def check(X, weights=None, n_parts=3, seed=0, few=1 << 16, held_bytes=1 << 30, **options):
    n_rows = X.shape[0]
    borders = cuts_of(n_rows, n_parts, seed)
    weighed = None if weights is None else split(np.asarray(weights), borders)
    wire = Wire(split(X, borders), weighed)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        spread = fit_partitioned_binner(wire, few=few, held_bytes=held_bytes, **options)
        n_heard = len(heard)
        whole = fit_binner(X, weights, **options)
    assert spread == whole
    messages = [str(warning.message) for warning in heard]
    assert messages[:n_heard] == messages[n_heard:]  # of categories left out
    for mine, theirs in zip(spread.edges, whole.edges, strict=True):
        assert mine.tobytes() == theirs.tobytes()  # == takes -0.0 for 0.0
    return wire, spread


# Numbers

NUMBERS = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(width=32),
    st.sampled_from([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, 1e308, -1e308]),
    st.integers(0, 400).map(lambda v: v / 7),
)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(NUMBERS, min_size=1, max_size=150),
    st.booleans(),
    st.sampled_from(N_PARTS),
    st.integers(0, 9),
    st.sampled_from([2, 3, 5, 255]),
    st.sampled_from([2, 6, 1 << 16]),
    st.sampled_from([1, 1 << 30]),
    st.sampled_from([np.float64, np.float32]),
)
@example([-0.0, 0.0, 1.0], True, 2, 0, 2, 2, 1, np.float64)
def test_numbers_are_cut_as_in_one_table(
    values, weighted, n_parts, seed, max_bins, few, held_bytes, dtype
):
    with np.errstate(over="ignore"):
        X = np.array(values, dtype=np.float64).astype(dtype)[:, np.newaxis]
    weights = None
    if weighted:
        weights = np.random.default_rng(seed).integers(0, 4, len(X)) * 0.3
        weights[0] = 0.3
    check(X, weights, n_parts, seed, few, held_bytes, max_bins=max_bins)


COLUMNS = {
    "continuous": lambda rng, n: rng.normal(size=n),
    "narrow": lambda rng, n: 1e9 + rng.random(n) * 1e-3,
    "heavy tail": lambda rng, n: np.exp(rng.normal(size=n) * 20),
    "integers": lambda rng, n: rng.integers(0, n // 8, n).astype(float),
    "one heavy value": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
    "rounded": lambda rng, n: np.round(rng.lognormal(size=n) * 300),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
    "infinite": lambda rng, n: np.where(rng.random(n) < 0.1, np.inf, rng.normal(size=n)),
}


@pytest.mark.parametrize("n_parts", N_PARTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_many_values(n_parts, weighted):
    rng = np.random.default_rng(3)
    n = 30_000
    X = np.column_stack([make(rng, n) for make in COLUMNS.values()])
    weights = rng.lognormal(size=n) if weighted else None
    if weighted:
        weights[::7] = 0.0
    wire, _ = check(X, weights, n_parts, few=4096)
    looked = [call.message for call in wire.sent]
    assert 1 <= looked.count(values_between) <= 8
    assert looked.count(glance_at_columns) == 1  # all columns in one group


def test_probes_answer_of_few_rows():
    # What crosses the wire is bounded: a column of a million values is cut from a part of them.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 1))
    wire = Wire(split(X, list(range(0, 1_000_001, 125_000))))
    answered = []
    ask = wire.ask
    wire.ask = lambda message: answered.append(ask(message)) or answered[-1]
    assert fit_partitioned_binner(wire) == fit_binner(X)
    sizes = [len(pickle.dumps(answer)) for answer in answered]
    assert max(sizes) < 1_500_000
    assert len(sizes) <= 8


@pytest.mark.parametrize("held_bytes", [1, 5_000, 1 << 30])
def test_columns_are_asked_about_in_groups_that_fit(held_bytes):
    rng = np.random.default_rng(1)
    wire, _ = check(rng.normal(size=(300, 4)), held_bytes=held_bytes, few=16, max_bins=10)
    glances = [call.arguments for call in wire.sent if call.message is glance_at_columns]
    groups = [glance["columns"] for glance in glances]
    width = max(1, held_bytes // (300 * 8))
    assert groups == [tuple(range(j, min(j + width, 4))) for j in range(0, 4, width)]
    keeps = {glance["keep"] for glance in glances}
    assert keeps == {held_bytes >= 300 * 8}
    assert all("sorted_columns" not in vars(part) for part in wire.parts)


def test_weights_are_copies():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 2))
    weights = rng.integers(0, 5, 400)
    _, spread = check(X, weights, n_parts=7, few=20, max_bins=20)
    assert spread == fit_binner(np.repeat(X, weights, axis=0), max_bins=20)


def test_even_weights_are_none():
    X = np.random.default_rng(2).normal(size=(100, 1))
    _, spread = check(X, np.full(100, 0.3), few=20, max_bins=20)
    assert spread == fit_binner(X, max_bins=20)


def test_a_weight_counts_the_same_in_every_part():
    # Within each part weights are even: only together they are not.
    X = np.arange(200.0)[:, np.newaxis]
    weights = np.repeat([1.0, 1e-3], 100)
    wire = Wire([X[:100], X[100:]], [weights[:100], weights[100:]])
    assert fit_partitioned_binner(wire, max_bins=9) == fit_binner(X, weights, max_bins=9)


# Other kinds of columns


def mixed_frame(rng, n):
    words = np.array(["ash", "oak", "elm", "fir", "yew", ""])
    return pd.DataFrame(
        {
            "float32": rng.normal(size=n).astype(np.float32),
            "int8": rng.integers(-100, 100, n).astype(np.int8),
            "int64": rng.integers(-(2**62), 2**62, n),
            "uint64": rng.integers(0, 2**64 - 1, n, dtype=np.uint64),
            "bool": rng.random(n) < 0.3,
            "Int64": pd.array(np.where(rng.random(n) < 0.2, None, rng.integers(0, 9, n)), "Int64"),
            "boolean": pd.array(
                np.where(rng.random(n) < 0.2, None, rng.random(n) < 0.5), "boolean"
            ),
            "Float64": pd.array(np.where(rng.random(n) < 0.2, None, rng.random(n)), "Float64"),
            "string": pd.array(np.where(rng.random(n) < 0.2, None, rng.choice(words, n)), "string"),
            "object": pd.Series(rng.choice([*words, None], n), dtype=object),
            "category": pd.Categorical(rng.choice(words, n), categories=[*words[::-1], "unused"]),
            "numbers as category": pd.Categorical(rng.integers(0, 30, n)),
            "decimals": pd.Series([None, 1, 2.5, True] * (n // 4 + 1), dtype=object).iloc[:n].array,
        }
    )


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 120),
    st.integers(0, 1000),
    st.sampled_from(N_PARTS),
    st.sampled_from([2, 4, 255]),
)
def test_every_kind_of_column(n, seed, n_parts, max_bins):
    rng = np.random.default_rng(seed)
    frame = mixed_frame(rng, n)
    weights = rng.integers(0, 3, n).astype(float)
    weights[-1] = 1.0
    check(frame, None, n_parts, seed, few=4, max_bins=max_bins)
    check(frame, weights, n_parts, seed, few=4, max_bins=max_bins)


CATEGORY = [None, "b", "a", "b", "c", "c", None, "a", "z", "c"]
TABLES = {
    "pandas": pd.DataFrame({"c": pd.Categorical(CATEGORY), "x": np.arange(10.0)}),
    "polars": pl.DataFrame({"c": pl.Series(CATEGORY, dtype=pl.Categorical), "x": np.arange(10.0)}),
    "polars Enum": pl.DataFrame(
        {"c": pl.Series(CATEGORY, dtype=pl.Enum(list("zcab"))), "x": np.arange(10)}
    ),
    "arrow": pa.table({"c": CATEGORY, "x": np.arange(10.0)}),
    "arrow dictionary": pa.table({"c": pa.array(CATEGORY).dictionary_encode(), "x": range(10)}),
    "numpy objects": np.array([CATEGORY, range(10)], dtype=object).T,
    "numpy strings": np.array([["b", "a"], ["", "c"], ["b", "a"]]),
}


@pytest.mark.parametrize("n_parts", N_PARTS)
@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_every_library(kind, n_parts):
    X = TABLES[kind]
    borders = cuts_of(X.shape[0], n_parts, 5)
    rows = pairwise(borders)
    parts = [X.slice(a, b - a) for a, b in rows] if hasattr(X, "slice") else split(X, borders)
    message = r"3 with the least weight|1 with the least weight"
    with pytest.warns(UserWarning, match=message) if kind != "numpy strings" else nullcontext():
        assert fit_partitioned_binner(Wire(parts), max_bins=3) == fit_binner(X, max_bins=3)


def test_sparse_parts():
    rng = np.random.default_rng(4)
    X = sparse.random_array((500, 3), density=0.2, rng=rng, format="csr")
    weights = rng.integers(0, 3, 500).astype(float)
    check(X, None, 7, few=30, max_bins=20)
    check(X, weights, 7, few=30, max_bins=20)


@pytest.mark.parametrize("max_bins", [2, 5, 255])
def test_numbers_given_as_categories(max_bins):
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"a": rng.integers(0, 400, 900), "b": rng.normal(size=900)})
    X.loc[::11, "b"] = np.nan
    weights = rng.integers(0, 4, 900).astype(float)
    for given_as in (["a"], [0, 1], [True, False]):
        check(X, weights, 7, categorical_features=given_as, max_bins=max_bins)
        check(X, None, 7, categorical_features=given_as, max_bins=max_bins)


def test_too_many_categories_are_counted_in_slices(monkeypatch):
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"id": [f"row {k}" for k in rng.integers(0, 3000, 4000)]})
    monkeypatch.setattr(partitioned, "MANY", 500)
    wire, _ = check(X, None, 7, max_bins=40)
    counts = [call.arguments for call in wire.sent if call.message is count_keys]
    slices = {arguments.get("n_slices", 1) for arguments in counts}
    assert len(slices) == 2
    check(X, rng.integers(0, 3, 4000).astype(float), 7, max_bins=40)
    assert max(slices) > 5


def test_types_may_differ_between_parts():
    parts = [
        pd.DataFrame(
            {"x": [1, 2, 3], "c": pd.Categorical(["b", None, "a"]), "i": [True, False, True]}
        ),
        pd.DataFrame({"x": [0.5, np.nan], "c": pd.array(["c", "b"], "string"), "i": [2, 7]}),
        pd.DataFrame({"x": pd.array([7, None], "Int64"), "c": [np.nan, np.nan], "i": [0.5, 1.0]}),
        pd.DataFrame({"x": pd.Series([None], dtype=object), "c": [None], "i": [None]}),
        pd.DataFrame({"x": [], "c": [], "i": []}),
    ]
    whole = pd.DataFrame(
        {
            "x": [1, 2, 3, 0.5, np.nan, 7, np.nan, np.nan],
            "c": ["b", None, "a", "c", "b", None, None, None],
            "i": [1, 0, 1, 2, 7, 0.5, 1.0, np.nan],
        }
    )
    assert fit_partitioned_binner(Wire(parts)) == fit_binner(whole)


# What is refused


def refused(match, parts, weights=None, **options):
    with pytest.raises(ValueError, match=match):
        fit_partitioned_binner(Wire(parts, weights), **options)


def test_what_does_not_fit_together_is_refused():
    one = pd.DataFrame({"x": [1.0, 2.0]})
    refused("do not have the same columns: one has", [one, one.rename(columns={"x": "y"})])
    refused("do not have the same columns: one has", [one, one.assign(y=0)])
    refused("do not have the same columns: one has", [one, one.to_numpy()])
    refused("categories in some parts of the table and numbers", [one, one.astype(str)])
    refused("give weights to all rows", [one, one], [None, np.ones(2)])
    refused("zero for every row", [one, one], [np.zeros(2), np.zeros(2)])
    refused("not negative", [one], [np.array([1.0, -1.0])])
    refused("max_bins must be", [one], max_bins=256)
    refused("which is no column of X", [one], categorical_features=["z"])
    refused("0 sample", [one.iloc[:0], one.iloc[:0]])
    refused("0 feature", [one[[]]])

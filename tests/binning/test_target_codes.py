"""Columns of many levels are coded by the labels of other rows, exactly and only as far as pays."""

import pickle
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.binning import target_codes
from costboost.binning.binner import Binner, fit_binner, fit_target_binner
from costboost.binning.codes import MISSING
from costboost.binning.partitioned import PartTargets, fit_partitioned_target_binner
from costboost.binning.table_reading import read_table, weigh_rows
from costboost.binning.target_codes import (
    BUCKETS,
    MANY_LEVELS,
    STRENGTHS,
    TargetRows,
    code_levels,
    codes_of_rows,
    sum_levels,
)
from naive import target_codes as naive


class Part:
    """Rows as parts of a table hold them."""

    def __init__(self, X, y, weights):
        self.raw = self.data = self
        self.X, self.y, self.weights = X, y, weights


def draw(rng, n_rows, n_levels, n_classes=2, signal=2.0):
    """Return levels as text, labels that depend on them, and buckets."""
    effects = signal * rng.normal(size=(n_levels, n_classes))
    levels = rng.integers(n_levels, size=n_rows)
    labels = np.argmax(effects[levels] + rng.gumbel(size=(n_rows, n_classes)), axis=1)
    names = np.array([f"L{level}" for level in range(n_levels)], dtype=object)
    return names[levels], labels, rng.integers(BUCKETS, size=n_rows).astype(np.uint8)


def coded(levels, labels, buckets, n_classes=2, weights=None, max_bins=255):
    """Return the binner of one column and the codes of its rows."""
    target = TargetRows(labels, n_classes, buckets)
    binner, own = fit_target_binner(
        levels[:, None], weights, lambda: target, max_bins=max_bins, categorical_features=[0]
    )
    return binner, own[0]


@pytest.mark.parametrize("n_classes", [2, 3])
@given(seed=st.integers(0, 10_000), signal=st.sampled_from([0.0, 1.0, 3.0]))
def test_statistics_are_those_of_the_rows_one_by_one(n_classes, seed, signal):
    rng = np.random.default_rng(seed)
    names, labels, buckets = draw(rng, 80, 8, n_classes, signal)
    labels[:n_classes] = range(n_classes)
    table = read_table(names[:, None])
    rows = TargetRows(labels, n_classes, buckets)
    with mock.patch.object(target_codes, "FINER", 0):
        found = code_levels(sum_levels(table, 0, weigh_rows(None, 80), rows), 1.0, 255)
    own = codes_of_rows(table, 0, found.bins.categories, found.own, buckets)
    given_rows = (names.tolist(), labels.tolist(), buckets.tolist(), n_classes)
    strength = naive.best_strength(*given_rows, STRENGTHS)
    # Each code is worth its price: one code alone is never better.
    price = naive.price_of_codes(own.tolist(), labels.tolist(), n_classes)
    assert price <= naive.price_of_codes([0] * 80, labels.tolist(), n_classes) + 1e-9
    pairs = [
        (naive.shares_of(*given_rows, strength, level=level, bucket=bucket), code)
        for level, bucket, code in zip(names, buckets, own, strict=True)
    ]
    levels = [*found.bins.categories, None]
    pairs += [
        (naive.shares_of(*given_rows, strength, level=level), code)
        for level, code in zip(levels, found.bins.level_codes, strict=True)
    ]
    if n_classes == 2:  # the code is the number of edges below the share
        for shares, code in pairs:
            beyond = [abs(edge - shares[1]) < 1e-12 for edge in found.bins.edges]
            assert any(beyond) or code == sum(edge < shares[1] for edge in found.bins.edges)
    else:  # what has the same shares has the same code
        by_shares = {}
        for shares, code in pairs:
            assert by_shares.setdefault(tuple(np.round(shares, 12)), code) == code


def test_no_row_knows_its_own_label():
    rng = np.random.default_rng(0)
    names, labels, buckets = draw(rng, 400, 40)
    sums = sum_levels(
        read_table(names[:, None]), 0, weigh_rows(None, 400), TargetRows(labels, 2, buckets)
    )
    for bucket in range(BUCKETS):
        other = labels.copy()
        other[buckets == bucket] = rng.permutation(labels[buckets == bucket])
        again = sum_levels(
            read_table(names[:, None]), 0, weigh_rows(None, 400), TargetRows(other, 2, buckets)
        )
        left = [s.sums.sum(axis=1) - s.sums[:, bucket] for s in (sums, again)]
        assert np.array_equal(*left)
        assert not np.array_equal(sums.sums, again.sums)


@pytest.mark.parametrize("per_level", [1, 2, 5, 10])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_identifiers_have_one_code(per_level, n_classes):
    rng = np.random.default_rng(per_level)
    names, labels, buckets = draw(rng, 4000, 4000 // per_level, n_classes, signal=0.0)
    if per_level == 1:
        names = np.array([f"id{i}" for i in range(4000)], dtype=object)
    binner, own = coded(names, labels, buckets, n_classes)
    assert binner.n_bins.tolist() == [1]
    assert not own.any()
    assert not binner.is_categorical.any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_levels_that_matter_have_codes_and_unseen_ones_the_prior(n_classes):
    rng = np.random.default_rng(1)
    names, labels, buckets = draw(rng, 6000, 300, n_classes)
    names[:50] = None
    binner, own = coded(names, labels, buckets, n_classes)
    assert int(binner.n_bins[0]) > 4
    assert binner.is_categorical.tolist() == [n_classes > 2]
    assert len(binner.categories[0]) == 300  # none is lost
    assert set(own[:50]) == {MISSING}
    asked = np.array([["L7"], ["nobody"], [None]], dtype=object)
    codes = binner.encode(asked).ravel().tolist()
    assert codes[1] == binner.level_codes[0][-1] != MISSING
    assert codes[2] == MISSING
    assert binner == Binner(**{**binner.__getstate__()}) == pickle.loads(pickle.dumps(binner))
    assert binner != fit_binner(names[:300, None])


def test_a_level_that_says_more_has_the_higher_code():
    rng = np.random.default_rng(2)
    names, labels, buckets = draw(rng, 2000, 100, signal=3.0)
    binner, _ = coded(names, labels, buckets)
    shares = [labels[names == key].mean() for key in binner.categories[0]]
    codes = binner.level_codes[0][:-1].astype(int)
    order = np.argsort(shares)
    assert np.corrcoef(np.argsort(order), codes)[0, 1] > 0.9  # rows of a level shrink its share
    assert codes[order[-1]] > codes[order[50]] > codes[order[0]]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_levels_of_many_rows_are_told_apart(n_classes):
    rng = np.random.default_rng(9)
    names, labels, buckets = draw(rng, 8000, 60, n_classes)
    names[:40] = [f"rare {i}" for i in range(40)]
    binner, own = coded(names, labels, buckets, n_classes)
    codes = dict(zip(binner.categories[0], binner.level_codes[0].tolist(), strict=False))
    heavy = [key for key in codes if key.startswith("L")]
    assert len({codes[key] for key in heavy}) == 60
    assert not {codes[key] for key in heavy} & {binner.level_codes[0][-1]}
    assert binner.is_categorical.all()
    assert max(own.max(), *codes.values()) < int(binner.n_bins[0])
    for key in heavy[:5]:  # whatever the bucket
        assert set(own[names == key]) == {codes[key]}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_three_is_three_rows(n_classes):
    rng = np.random.default_rng(3)
    names, labels, buckets = draw(rng, 900, 60, n_classes)
    weights = rng.integers(0, 4, size=900)
    weighted, own = coded(names, labels, buckets, n_classes, weights.astype(float))
    again = [np.repeat(part, weights) for part in (names, labels, buckets)]
    repeated, theirs = coded(*again, n_classes)
    assert weighted == repeated
    assert np.array_equal(np.repeat(own, weights), theirs)
    doubled, _ = coded(names, labels, buckets, n_classes, np.full(900, 2.0))
    assert doubled == coded(*(np.repeat(p, 2) for p in (names, labels, buckets)), n_classes)[0]
    # Weights below 1 have another unit.
    small = weights / 1000.0
    assert coded(names, labels, buckets, n_classes, small)[0].n_bins[0] > 1


@pytest.mark.parametrize("cuts", [[], [300], [1, 1, 500, 899]])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_give_the_same_bits(cuts, weighted):
    rng = np.random.default_rng(4)
    names, labels, buckets = draw(rng, 900, 60, 3)
    weights = rng.uniform(0.5, 3.0, size=900) if weighted else None
    numbers = rng.integers(0, 500, size=900).astype(object)  # numbers that are categories
    few = rng.choice(np.array(["a", "b"], dtype=object), size=900)
    X = np.column_stack([names, numbers, few])
    target = TargetRows(labels, 3, buckets)
    whole, own = fit_target_binner(X, weights, lambda: target, categorical_features=[0, 1, 2])
    bounds = [0, *cuts, 900]
    spans = [slice(a, b) for a, b in pairwise(bounds)]
    parts = [Part(X[s], labels[s], None if weights is None else weights[s]) for s in spans]

    def send(orders):
        each = [[order] * len(parts) if not isinstance(order, list) else order for order in orders]
        return [
            calls[0].reduce([call.answer(part) for call, part in zip(calls, parts, strict=True)])
            for calls in each
        ]

    binner, levels = fit_partitioned_target_binner(
        send,
        lambda: PartTargets(3, 900, [buckets[s] for s in spans]),
        categorical_features=[0, 1, 2],
    )
    assert binner == whole
    assert sorted(levels) == sorted(own) == [0, 1]
    for j, by_level in levels.items():
        found = [
            codes_of_rows(read_table(X[s]), j, binner.categories[j], by_level, buckets[s])
            for s in spans
        ]
        assert np.array_equal(np.concatenate(found), own[j])


def test_numbers_are_levels_and_few_levels_stay_as_they_are():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.integers(0, 400, 5000), rng.integers(0, MANY_LEVELS, 5000)])
    X = X.astype(float)
    X[:7, 0] = np.nan
    labels = (rng.normal(size=400)[np.nan_to_num(X[:, 0]).astype(int)] > 0).astype(int)
    target = TargetRows(labels, 2, (np.arange(5000) % BUCKETS).astype(np.uint8))
    binner, own = fit_target_binner(X, None, lambda: target, categorical_features=[0, 1])
    assert list(own) == [0]
    assert binner.level_codes[1] is None
    assert np.all(own[0][:7] == MISSING)
    codes = binner.encode([[np.nan, 1.0], [-5.0, 99.0], [0.5, 2.0], [3.0, 3.0]])
    assert codes[0].tolist() == [MISSING, 1]
    assert codes[1].tolist() == [binner.level_codes[0][-1], MISSING]
    assert codes[2, 0] == binner.level_codes[0][-1]
    assert codes[3, 0] == binner.level_codes[0][binner.categories[0].index(3.0)]


@pytest.mark.parametrize("max_bins", [2, 3, 255])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_codes_stay_below_max_bins(max_bins, n_classes):
    names, labels, buckets = draw(np.random.default_rng(6), 3000, 90, n_classes, signal=4.0)
    binner, own = coded(names, labels, buckets, n_classes, max_bins=max_bins)
    assert own.max() < int(binner.n_bins[0]) <= max_bins
    assert binner.level_codes[0].max() < int(binner.n_bins[0])


def test_a_column_without_a_target_is_as_before():
    names, _, _ = draw(np.random.default_rng(7), 500, 60)
    binner = fit_binner(names[:, None])
    assert binner.level_codes is None
    assert "level_codes" not in binner.__getstate__()
    assert binner.levels_of(0, 0) == binner.categories[0][:1]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ((np.zeros(3, np.uint8), None), "one entry for each"),
        ((np.zeros(9, np.uint8),), "has 60 levels"),
        ((np.zeros(61),), "no bytes"),
        ((np.full(61, 255, np.uint8),), "the code 255"),
    ],
)
def test_codes_that_do_not_fit_are_refused(codes, message):
    names, labels, buckets = draw(np.random.default_rng(8), 900, 60)
    binner, _ = coded(names, labels, buckets)
    with pytest.raises(ValueError, match=message):
        Binner(**{**binner.__getstate__(), "level_codes": codes})

"""The tests that C4.5 chooses from: against the book, and against a plain search."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from golf import KINDS, golf
from papers.c45_splits import (
    Table,
    best_test,
    categorical_candidates,
    information,
    numeric_candidates,
)
from papers.c45_splits import Test as Question  # pytest collects a Test


def test_the_golf_gains_are_quinlan_s():
    table = Table.read(*golf(), KINDS)
    found = categorical_candidates(table, np.arange(14), np.ones(14), 2.0)
    assert_allclose(found.gains, [0.247, 0.048], atol=6e-4)  # outlook, windy
    assert_allclose(found.gains[0] / found.informations[0], 0.156, atol=6e-4)


def entropy(weights):
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def plain_gain(x, y, w, threshold):
    """The gain of x <= threshold in plain Python, known rows only, times their share."""
    known = [(a, b, c) for a, b, c in zip(x, y, w, strict=True) if not math.isnan(a)]

    def bits(rows):
        return entropy([sum(c for _, b, c in rows if b == k) for k in set(y)])

    sides = [[r for r in known if (r[0] <= threshold) == left] for left in (True, False)]
    size = [sum(c for _, _, c in side) for side in sides]
    after = sum(s * bits(side) for s, side in zip(size, sides, strict=True)) / sum(size)
    gain = bits(known) - after
    return gain * sum(size) / sum(w), size


@pytest.mark.parametrize("seed", range(8))
def test_thresholds_are_those_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    n = 30
    X = rng.integers(0, 9, size=(n, 3)).astype(float)
    X[rng.uniform(size=X.shape) < 0.15] = np.nan
    y, w = rng.integers(0, 3, size=n), rng.uniform(0.2, 3, size=n)
    table = Table.read(X, y, np.zeros(3, dtype=bool))
    found = numeric_candidates(table, np.arange(n), w, 2.0)
    for j in range(3):
        known = w[~np.isnan(X[:, j])].sum()
        least = min(max(2.0, 0.1 * known / 3), 25)
        tried = {}
        for value in np.unique(X[~np.isnan(X[:, j]), j])[:-1]:
            gain, size = plain_gain(X[:, j].tolist(), y.tolist(), w.tolist(), value)
            if min(size) >= least:
                tried[value] = gain
        best = max(tried.values()) - math.log2(len(tried)) / w.sum()
        assert found.gains[j] == pytest.approx(best, abs=1e-12)
        assert tried[table.levels[j][found.cuts[j, 0]]] == pytest.approx(max(tried.values()))


def test_the_test_has_the_highest_ratio_of_those_of_average_gain():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, size=(60, 5)).astype(float), rng.integers(0, 2, size=60)
    table = Table.read(X, y, np.array([True, False, False, True, False]))
    rows, w = np.arange(60), np.ones(60)
    parts = [f(table, rows, w, 2.0) for f in (numeric_candidates, categorical_candidates)]
    gains, infos, columns = (
        np.concatenate([getattr(p, k) for p in parts]) for k in ("gains", "informations", "columns")
    )
    allowed = [k for k in range(5) if gains[k] > 0 and gains[k] >= gains[gains > 0].mean() - 1e-3]
    best = max(allowed, key=lambda k: gains[k] / infos[k])
    assert best_test(table, rows, w, 2.0).column == columns[best]


def test_few_rows_of_a_long_column_are_searched_as_a_table_of_their_own():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 1]) + rng.normal(0, 0.3, size=400) > 0).astype(int)
    rows = np.arange(20, 60)
    numbers = np.zeros(3, dtype=bool)
    w = rng.uniform(0.5, 2, size=40)
    some = numeric_candidates(Table.read(X, y, numbers), rows, w, 2.0)
    alone = numeric_candidates(Table.read(X[rows], y[rows], numbers), np.arange(40), w, 2.0)
    assert_allclose(some.gains, alone.gains, atol=1e-12)
    assert_allclose(some.informations, alone.informations, atol=1e-12)
    whole = best_test(Table.read(X, y, numbers), rows, w, 2.0)
    part = best_test(Table.read(X[rows], y[rows], numbers), np.arange(40), w, 2.0)
    assert whole.column == part.column
    inside = X[rows, part.column]
    assert whole.branches(inside).tolist() == part.branches(inside).tolist()


def test_a_threshold_is_a_value_of_the_whole_table():
    X = np.array([[0.0], [10.0], [4.0], [5.1]])
    table = Table.read(X, np.array([0, 1, 0, 0]), np.array([False]))
    test = best_test(table, np.array([0, 0, 0, 1, 1, 1]), np.ones(6), 2.0)
    # Between 0 and 10, the middle is 5: 4 is the largest value below it that the table holds.
    assert test == Question(0, 4.0, 2)


def test_rows_go_where_their_values_are_and_unknown_ones_nowhere():
    numbers = np.array([1.0, 2.0, 2.5, np.nan])
    assert Question(0, 2.0, 2).branches(numbers).tolist() == [0, 0, 1, -1]
    assert Question(0, None, 3).branches(np.array([0.0, 2.0, 3.0, np.nan])).tolist() == [
        0,
        2,
        -1,
        -1,
    ]


def test_what_tells_nothing_is_no_test():
    constant = np.column_stack([np.ones(8), np.full(8, np.nan), np.zeros(8)])
    table = Table.read(constant, np.arange(8) % 2, np.array([False, False, True]))
    assert best_test(table, np.arange(8), np.ones(8), 2.0) is None
    lone = Table.read(np.arange(3.0)[:, None], np.array([0, 1, 1]), np.array([False]))
    assert best_test(lone, np.arange(3), np.ones(3), 2.0) is None  # one side would be too light


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
def test_information_is_total_times_entropy_in_any_unit(size):
    weights = np.array([[1.0, 3.0], [2.0, 0.0], [0.0, 0.0]]) * size
    plain = 4 * size * entropy([1, 3])
    assert_allclose(information(weights), [plain, 0.0, 0.0], rtol=1e-9, atol=1e-12 * size)

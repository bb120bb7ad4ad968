"""Copies of columns that rows are divided by: the same codes, and no more of them than allowed."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.shards.rows import ROOT, HotColumns, Shard, TreeShape

N_ROWS = 200_000


@pytest.fixture
def codes() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (N_ROWS, 9), dtype=np.uint8)


def copied(hot: HotColumns, feature: int, n_rows: int = N_ROWS) -> bool:
    table, column = hot.find(feature, n_rows)
    return table.shape[1] == 1 and column == 0


def test_a_column_is_copied_once_a_table_of_rows_was_asked(codes: np.ndarray) -> None:
    hot = HotColumns(codes)
    assert [copied(hot, 4, N_ROWS // 2) for _ in range(3)] == [False, True, True]
    table, column = hot.find(4, 1)
    np.testing.assert_array_equal(table[:, column], codes[:, 4])
    assert hot.find(5, 1)[0] is codes


def test_a_third_of_the_columns_is_copied_at_most(codes: np.ndarray) -> None:
    hot = HotColumns(codes)
    assert [copied(hot, feature) for feature in range(9)] == [True] * 3 + [False] * 6
    assert hot.find(8, N_ROWS) == (codes, 8)


def test_small_and_shared_tables_are_not_copied(codes: np.ndarray) -> None:
    assert not copied(HotColumns(codes[:1000]), 0, 1000)
    assert not copied(HotColumns(codes, shared=True), 0)


def test_rows_are_divided_and_settled_the_same_by_copies(codes: np.ndarray) -> None:
    """The second of two equal trees reads copies where the first read the table."""
    goes = [np.where(np.arange(256) < cut, 1, 0).astype(np.uint8) for cut in (90, 160)]
    none = (None,) * 3
    shape = TreeShape((1, 3, -1, -1, -1), (7, 2, -1, -1, -1), (*goes, *none), (-1, -1, 0, 1, 2))
    starts = np.array([0, N_ROWS // 3, N_ROWS])
    shard = Shard(codes, np.arange(N_ROWS, dtype=np.uint32), starts)
    found = []
    for _ in range(3):
        shard.begin_tree(None)
        sizes = shard.divide(ROOT, 1, 7, goes[0])
        counts = shard.assign_leaves(shape).tolist()
        found.append((sizes, counts, shard.order.tobytes(), shard.leaves.tobytes()))
    left = codes[:, 7] < 90
    assert found[0] == found[1] == found[2]
    assert found[0][0] == (left.sum(), (~left).sum())
    assert found[0][1][1] == (left & (codes[:, 2] < 160)).sum()

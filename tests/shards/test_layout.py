"""Rows are dealt to shards, and lie there class by class."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.shards import layout as module
from costboost.shards.layout import blocks_of, deal_rows, plan_layout, sensible_shards


@pytest.mark.parametrize("n_segments", [1, 3, 300])
@pytest.mark.parametrize("n_shards", [1, 2, 5])
def test_rows_lie_by_shard_and_class_and_keep_their_order(n_segments, n_shards, monkeypatch):
    monkeypatch.setattr(module, "_DEAL", 7)
    labels = np.random.default_rng(0).integers(0, n_segments, 100)
    rows, starts = deal_rows(labels, 100, n_segments, n_shards)
    expected = sorted(range(100), key=lambda i: (i // 7 % n_shards, labels[i], i))
    assert rows.tolist() == expected
    for shard, own in enumerate(starts):
        members = [i for i in range(100) if i // 7 % n_shards == shard]
        before = [sum(labels[i] < k for i in members) for k in range(n_segments)]
        assert own.tolist() == [*before, len(members)]


def test_a_shard_may_be_empty(monkeypatch):
    monkeypatch.setattr(module, "_DEAL", 7)
    layout = plan_layout(None, 5, 1, 3)
    assert layout.bounds == [(0, 5), (5, 5), (5, 5)]
    with layout.cut(np.zeros((5, 2), np.uint8)) as shards:
        assert [len(shard.rows) for shard in shards.shards] == [5, 0, 0]
    none = plan_layout(np.zeros(0, np.uint8), 0, 2, 1)
    assert none.rows.tolist() == []
    assert none.starts[0].tolist() == [0, 0, 0]


def test_codes_written_to_positions_are_those_of_the_rows(monkeypatch):
    monkeypatch.setattr(module, "_DEAL", 4)
    codes = np.arange(90, dtype=np.uint8).reshape(30, 3)
    layout = plan_layout(np.arange(30) % 2, 30, 2, 3)
    stored = np.empty_like(codes)
    stored[layout.positions] = codes
    with layout.cut(stored, lambda rows: rows.copy()) as shards:
        for shard in shards.shards:
            assert_array_equal(shard.codes, codes[shard.rows])
            assert_array_equal(shard.state, shard.rows)
            assert np.all(shard.rows[: shard.starts[1]] % 2 == 0)
            assert np.all(shard.rows[shard.starts[1] :] % 2 == 1)


def test_small_tables_are_worth_one_shard():
    assert sensible_shards(0, 5, 8) == 1
    assert sensible_shards(1_000_000, 100, 8) == 8
    assert sensible_shards(9_000, 1000, 8) == 2  # two deals
    assert sensible_shards(1_000_000, 1, 8) == 5  # so many cells


def test_blocks_follow_each_other():
    for n_rows in (0, 1, 1 << 14, (1 << 15) + 1):
        found = [range(n_rows)[block] for block in blocks_of(n_rows)]
        assert [i for part in found for i in part] == list(range(n_rows))
        assert all(0 < len(part) <= 1 << 14 for part in found)

"""Shards in this process: the threads that answer for them, and rows in the order of the table."""

import threading
from contextlib import ExitStack

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.runtime.messages import message, total
from costboost.shards.layout import Shards, SharedPool, plan_layout
from costboost.shards.rows import Pieces, Shard, begin_tree


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 5)


def shards_of(n_rows, n_shards, labels=None, n_segments=1):
    layout = plan_layout(labels, n_rows, n_segments, n_shards)
    return layout.cut(np.zeros((n_rows, 3), dtype=np.uint8), lambda rows: rows.astype(float))


@message(reduce=total)
def where(shard):
    """Which thread answers for each shard."""
    return [threading.get_ident()]


@message(reduce=None, changes=True)
def double(shard):
    shard.state *= 2.0


@message(reduce=total)
def total_weight(shard):
    return int(shard.state.sum())


@message(reduce=total)
def refuse(shard, *, last: Shard, done: threading.Event):
    """Fails for all shards but the last, which is slower."""
    if shard is not last:
        raise ValueError("not these rows")
    threading.Event().wait(0.05)
    done.set()


def test_a_crew_ends_with_the_last_model():
    pool, begun = SharedPool(2), threading.active_count()
    with ExitStack() as stack:
        for _ in range(3):
            shards = shards_of(400, 2)
            stack.enter_context(Shards(shards.shards, pool)).call([begin_tree()])
        assert threading.active_count() == begun + 1  # the first shard is answered for by who asks
    assert threading.active_count() == begun
    with Shards(shards.shards, pool) as again:
        assert again.call([begin_tree()]) == [400]
    assert threading.active_count() == begun


@pytest.mark.parametrize("n_shards", [1, 2, 7])
def test_messages_are_answered_one_after_the_other(n_shards):
    with shards_of(100, n_shards) as shards:
        found = shards.call([total_weight(), double(), total_weight(), double(), total_weight()])
        assert found == [4950, None, 9900, None, 19800]
        assert shards.call([]) == []


def test_little_work_wakes_no_thread(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._CELLS_PER_CALL", 30)
    own = threading.get_ident()
    with shards_of(100, 4) as shards:
        for n_rows, here in ((0, True), (9, True), (10, False), (None, False)):
            (threads,) = shards.call([where()], n_rows)
            assert threads[0] == own
            assert (set(threads) == {own}) == here


def test_no_shard_is_at_work_after_an_error():
    with shards_of(100, 3) as shards:
        done = threading.Event()
        with pytest.raises(ValueError, match="not these rows"):
            shards.call([refuse(last=shards.shards[-1], done=done)])
        assert done.is_set()


@pytest.mark.parametrize("n_shards", [1, 3])
def test_rows_are_fetched_and_put_in_the_order_of_the_table(n_shards):
    labels = np.arange(60) % 4
    with shards_of(60, n_shards, labels, 4) as shards:
        assert_array_equal(shards.fetch(lambda shard: shard.state), np.arange(60.0))
        pairs = np.arange(120.0).reshape(60, 2)
        shards.put(lambda shard, part: setattr(shard, "state", part), pairs)
        assert_array_equal(shards.fetch(lambda shard: shard.state), pairs)
        for shard in shards.shards:
            assert_array_equal(shard.state, pairs[shard.rows])
            assert shard.state.flags.c_contiguous


def test_a_shard_is_alone_only_if_classes_lie_together():
    codes, rows = np.zeros((6, 1), dtype=np.uint8), np.arange(4, dtype=np.uint32)
    pieces = Pieces(np.array([0, 1, 2, 3, 4]), (0, 1, 1, 2))
    two, one = np.array([0, 2, 4]), np.array([0, 4])
    assert Shards([Shard(codes[:4], rows, two)]).is_single_shard
    assert Shards([Shard(codes, rows, one, pieces=pieces)]).is_single_shard
    assert not Shards([Shard(codes, rows, two, pieces=pieces)]).is_single_shard
    with shards_of(20, 2) as both:
        assert not both.is_single_shard

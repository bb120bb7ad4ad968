"""Draws by number: the same whoever asks, as even as chance should be."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.shards.rows import (
    ColumnDraw,
    RowSample,
    column_draw,
    mix,
    mix_one,
    round_key,
    uniform,
)


def split_mix(state, steps):
    """SplitMix64 as its authors write it: a state that grows by the golden ratio, finalised."""
    found = []
    for _ in range(steps):
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        found.append(z ^ (z >> 31))
    return found


@pytest.mark.parametrize("key", [0, 1, 2**63, 2**64 - 1])
def test_numbers_in_turn_give_the_stream_of_split_mix(key):
    expected = split_mix(key, 50)
    numbers = np.arange(1, 51)
    assert mix(key, numbers).tolist() == expected
    assert [mix_one(key, number) for number in numbers.tolist()] == expected
    assert mix(np.full(50, key, dtype=np.uint64), numbers).tolist() == expected


def test_the_first_numbers_are_the_published_ones():
    # Of seed 0, as in the test vectors of many implementations.
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix(0, np.array([1, 2, 3])).tolist() == expected


def test_what_is_mixed_is_not_changed():
    numbers = np.arange(5, dtype=np.uint64)
    mix(3, numbers)
    assert_array_equal(numbers, np.arange(5))


def test_rounds_and_seeds_have_keys_of_their_own():
    keys = {round_key(seed, number) for seed in range(30) for number in range(30)}
    assert len(keys) == 900
    assert all(0 <= key < 2**64 for key in keys)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_sample_keeps_its_share_of_rows_whoever_asks(share):
    rows, kept = np.arange(20_000), []
    for number in (0, 1):
        sample = RowSample(share, seed=4, number=number)
        kept.append(sample.keeps(rows))
        assert abs(kept[-1].mean() - share) < 5 * np.sqrt(share * (1 - share) / 20_000)
        turned = np.random.default_rng(0).permutation(20_000)
        assert_array_equal(sample.keeps(turned.astype(np.uint32)), kept[-1][turned])
    # Rounds are independent of each other.
    assert abs((kept[0] & kept[1]).mean() - share**2) < 0.02


def test_samples_of_all_rows_and_of_none():
    rows = np.arange(1000)
    assert RowSample(1.0, 0, 0).keeps(rows).all()
    assert not RowSample(0.0, 0, 0).keeps(rows).any()
    small, large = RowSample(0.3, 7, 1).keeps(rows), RowSample(0.6, 7, 1).keeps(rows)
    assert np.all(large[small])


@pytest.mark.parametrize("stream", [0, 3])
def test_nodes_draw_the_columns_of_the_table_of_nodes(stream):
    draw = ColumnDraw(width=3, n_features=10, seed=5, number=2, stream=stream)
    table = draw.table(40)
    for node in range(40):
        found = draw.columns(node)
        assert_array_equal(found, table[node])
        assert np.all(np.diff(found) > 0)
    assert len({tuple(row) for row in table.tolist()}) > 20
    assert not np.array_equal(table, ColumnDraw(3, 10, 5, 2, stream + 1).table(40))
    assert np.all(np.bincount(ColumnDraw(3, 10, 5, 2).table(5000).ravel()) > 1300)


def test_columns_are_drawn_among_the_allowed():
    draw = ColumnDraw(width=3, n_features=10, seed=5, number=2)
    allowed = np.array([1, 4, 7, 9])
    for node in range(20):
        found = draw.columns(node, allowed)
        assert len(found) == 3
        assert set(found.tolist()) <= set(allowed.tolist())
        # Of the allowed, those that would have been drawn first among all.
        order = [c for width in range(1, 11) for c in ranked(node, width)]
        assert set(found.tolist()) == set([c for c in order if c in allowed][:3])
    assert_array_equal(draw.columns(0, allowed[:2]), allowed[:2])


def ranked(node, width):
    """Return the column that a draw of one more column adds."""
    wide = set(ColumnDraw(width, 10, 5, 2).columns(node).tolist())
    return wide - (set(ColumnDraw(width - 1, 10, 5, 2).columns(node).tolist()))


def test_all_columns_need_no_draw():
    assert column_draw(None, 5, 0, 0) is None
    assert column_draw(5, 5, 0, 0) is None
    assert column_draw(9, 5, 0, 0) is None
    assert column_draw(4, 5, 1, 2, 3) == ColumnDraw(4, 5, 1, 2, 3)


def test_uniform_numbers_are_even():
    found = uniform(11, np.arange(10_000))
    assert found.min() >= 0.0
    assert found.max() < 1.0
    counts = np.histogram(found, bins=10, range=(0, 1))[0]
    assert np.all(np.abs(counts - 1000) < 150)

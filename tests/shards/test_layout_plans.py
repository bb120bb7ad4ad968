"""Rows dealt to shards and grouped by class."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from costboost.shards import layout as layout_module
from costboost.shards.layout import plan_layout, sensible_shards


@given(
    st.integers(0, 60),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_plan_layout(n_rows, n_segments, n_shards, deal, labelled, seed):
    labels = np.random.default_rng(seed).integers(0, n_segments, size=n_rows)
    if not labelled:
        labels, n_segments = np.zeros(n_rows, dtype=np.int64), 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout_module, "_DEAL", deal)
        layout = plan_layout(labels if labelled else None, n_rows, n_segments, n_shards)
    assert sorted(layout.rows.tolist()) == list(range(n_rows))
    np.testing.assert_array_equal(layout.rows[layout.positions], np.arange(n_rows))
    assert len(layout.bounds) == len(layout.starts) == n_shards
    assert layout.bounds[0][0] == 0
    assert layout.bounds[-1][1] == n_rows
    stops = [stop for _, stop in layout.bounds]
    assert [start for start, _ in layout.bounds[1:]] == stops[:-1]
    for s, ((start, stop), starts) in enumerate(zip(layout.bounds, layout.starts, strict=True)):
        rows = layout.rows[start:stop]
        assert (rows // deal % n_shards == s).all()
        assert starts[0] == 0
        assert starts[-1] == stop - start
        for k in range(n_segments):
            part = rows[starts[k] : starts[k + 1]]
            assert (labels[part] == k).all()
            assert (np.diff(part) > 0).all()


def test_rows_are_put_and_fetched_in_the_order_of_the_table():
    layout = plan_layout(np.array([1, 0, 1, 0, 0]), 5, 2, 1)
    codes = np.arange(10, dtype=np.uint8).reshape(5, 2)
    cut = layout.cut(codes[layout.rows], lambda rows: SimpleNamespace(weights=None))
    np.testing.assert_array_equal(cut.shards[0].codes[:, 0] // 2, [1, 3, 4, 0, 2])
    cut.put(lambda shard, part: setattr(shard.state, "weights", part), np.arange(5.0))
    np.testing.assert_array_equal(cut.shards[0].state.weights, [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(cut.fetch(lambda shard: shard.state.weights), np.arange(5.0))


@given(st.integers(1, 10**8), st.integers(1, 1000), st.integers(1, 64))
def test_sensible_shards(n_rows, n_features, n_threads):
    n_shards = sensible_shards(n_rows, n_features, n_threads)
    assert 1 <= n_shards <= n_threads
    assume(n_shards > 1)
    assert n_shards <= n_rows // 4096
    assert n_shards <= sensible_shards(2 * n_rows, n_features, n_threads)

"""What shards answer to gradient boosting, against sums in NumPy."""

import numpy as np
import pytest

from costboost.boosting.gradient import messages
from costboost.boosting.gradient import rows as rows_module
from costboost.boosting.gradient.losses import (
    CostExponentialLoss,
    HuberLoss,
    LogLoss,
    OwnLoss,
    classes,
    errors,
)
from costboost.boosting.gradient.messages import (
    mark_sample,
    move_margins,
    prepare_line_search,
    put_derivatives,
    residual_ranges,
    sum_along,
    sum_leaf_sides,
    sum_leaf_sizes,
    sum_leaves,
    sum_values,
    try_leaves,
    try_steps,
    write_derivatives,
    write_packed_pairs,
    write_pairs,
    write_steps,
    write_values,
    write_vectors,
)
from costboost.boosting.gradient.rows import LossRows, bind_loss
from costboost.shards.grid import PackedPairs, to_floats
from costboost.shards.rows import RowSample
from gradient_losses import derive, each_loss, example
from gradient_shards import cut_rows


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_weight", [False, True])
def test_sums_are_those_of_the_derivatives(both_kernels, name, weighted, by_weight, monkeypatch):
    """Over several blocks of rows, for all that reads derivatives from cores."""
    kernels, by_leaf = both_kernels
    for module in (classes, errors, rows_module, messages):
        monkeypatch.setattr(module, "kernels", kernels)
    monkeypatch.setattr(messages, "by_leaf", by_leaf)
    monkeypatch.setattr(rows_module, "BLOCK", 16)
    loss, _, rows, raw = example(name, n=61)
    rng = np.random.default_rng(2)
    if weighted:
        rows = LossRows(rows.y, rows.n_outputs, rng.uniform(0.1, 3, size=61), rows.prices)
    steps, leaves = rng.normal(size=raw.shape), rng.integers(0, 3, size=61).astype(np.uint16)
    _, gradients, hessians = derive(loss, rows, raw)
    spread = np.tile(rows.unit_or_weights[:, None], raw.shape[1]) if by_weight else hessians
    keep, scales = rng.random(61) < 0.7, (2.0**30, 2.0**31)
    with cut_rows(rows) as shards:
        shards.call([bind_loss(loss=loss, start=(0.0,) * rows.n_outputs, moves_by="leaf")])
        shard = shards.shards[0]
        shard.leaves[:], shard.state.margins = leaves, raw
        loss.measure(shards, getattr(loss, "total", 0.0))
        shard.state.keep, shard.state.along = keep.astype(np.uint8), steps
        for k in range(raw.shape[1]):
            sums = sum_leaves(output=k, n_leaves=3, by_weight=by_weight, scales=scales).answer(
                shard
            )
            for leaf in range(3):
                there = keep & (leaves == leaf)
                expected = gradients[there, k].sum(), spread[there, k].sum()
                found = [to_floats(sums[leaf, 2 * j : 2 * j + 2], scales[j]) for j in (0, 1)]
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            assert (
                write_pairs(output=k, by_weight=by_weight, scales=scales).answer(shard)
                == shard.state.pairs[:, 1].sum()
            )
            expected = np.rint(np.stack([gradients[:, k], spread[:, k]], axis=1) * scales)
            np.testing.assert_allclose(shard.state.pairs, expected, atol=1)
        sums = sum_along(scales=scales).answer(shard)[0]
        expected = ((gradients * steps)[keep].sum(), (hessians * steps**2)[keep].sum())
        found = [to_floats(sums[2 * j : 2 * j + 2], scales[j]) for j in (0, 1)]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
        write_vectors(gradient_scale=2.0**20, weight_scale=2.0**10).answer(shard)
        np.testing.assert_allclose(shard.state.vectors[:, :-1], np.rint(gradients * 2.0**20))
        weights = np.rint(rows.unit_or_weights * 2.0**10)
        np.testing.assert_array_equal(shard.state.vectors[:, -1], weights)


LEAVES = np.array([0, 1, 1, 2, 0, 2, 2], dtype=np.uint16)


def bound(rows, loss=None, moves_by="leaf", start=None):
    """Return shards, and the only one of them, whose rows have a loss and stand in `LEAVES`."""
    shards = cut_rows(rows)
    start = (0.0,) * rows.n_outputs if start is None else start
    shards.call(
        [bind_loss(loss=LogLoss() if loss is None else loss, start=start, moves_by=moves_by)]
    )
    shards.shards[0].leaves[:] = LEAVES
    return shards, shards.shards[0]


def test_rows_of_a_round_are_marked_and_counted():
    shards, shard = bound(LossRows(LEAVES % 2))
    sample = RowSample(0.5, seed=1, number=4)
    kept = sample.keeps(np.arange(7))
    assert shards.call([mark_sample(sample=sample)]) == [kept.sum()]
    np.testing.assert_array_equal(shard.state.keep, kept)
    shards.call([mark_sample(sample=None)])
    assert len(shard.state.keep) == 0  # all


def test_packed_derivatives_are_the_wide_ones():
    rows = LossRows(LEAVES % 2, weights=np.array([1.0, 0.0, 2.0, 1.0, 3.0, 1.0, 1.0]))
    shards, shard = bound(rows, start=(0.3,))
    shards.call([write_derivatives(where="margins", total=0.0)])
    for by_weight in (False, True):
        scales = (2.0**15, 2.0**12)
        (sums,) = shards.call([write_packed_pairs(output=0, by_weight=by_weight, scales=scales)])
        packed = shard.state.packed.copy()
        (hessians,) = shards.call([write_pairs(output=0, by_weight=by_weight, scales=scales)])
        wide = shard.state.pairs
        np.testing.assert_array_equal(packed >> PackedPairs.SHIFT, wide[:, 0])
        np.testing.assert_array_equal(packed & (2**PackedPairs.SHIFT - 1), wide[:, 1])
        gradients = wide[:, 0]
        # A row without weight has no derivatives, and is not counted.
        assert sums.tolist() == [np.abs(gradients).sum(), gradients.sum(), hessians, 6]
        assert shard.state.packed is None


def test_leaf_values_are_tried_before_they_are_taken():
    shards, shard = bound(LossRows(LEAVES % 3, 3), moves_by="leaves", start=(1.0, 2.0, 3.0))
    values = [np.array([0.1, 0.2, 0.3]), np.array([-1.0, 0.0, 1.0]), np.zeros(3)]
    before = shard.state.margins.copy()
    shards.call([try_leaves(output=1, values=values[1])])
    np.testing.assert_array_equal(shard.state.trial[:, 1], before[:, 1] + values[1][LEAVES])
    np.testing.assert_array_equal(shard.state.trial[:, [0, 2]], before[:, [0, 2]])
    np.testing.assert_array_equal(shard.state.margins, before)
    expected = before.copy()
    for k, turn in enumerate((0, 2, 1)):  # each output has a tree, and leaves, of its own
        shard.leaves[:] = (LEAVES + turn) % 3
        shards.call([write_steps(output=k, values=None)])
        expected[:, k] += values[k][(LEAVES + turn) % 3]
    shards.call([move_margins(size=1.0, values=tuple(values))])
    np.testing.assert_array_equal(shard.state.margins, expected)


def test_a_shared_tree_moves_all_outputs_by_its_leaf():
    shards, shard = bound(LossRows(LEAVES % 3, 3))
    values = (np.array([0.5, 1.0, 2.0]), np.array([0.0, -1.0, 1.0]), np.array([3.0, 2.0, 1.0]))
    shards.call([write_steps(output=0, values=None), move_margins(size=1.0, values=values)])
    np.testing.assert_array_equal(shard.state.margins, np.stack(values, axis=1)[LEAVES])


def test_steps_are_tried_and_taken_times_a_size():
    shards, shard = bound(LossRows(LEAVES % 2), moves_by="steps", start=(1.0,))
    values = np.array([0.5, -1.0, 2.0])
    shards.call([write_steps(output=0, values=values), try_steps(size=-2.0)])
    np.testing.assert_array_equal(shard.state.trial[:, 0], 1.0 - 2.0 * values[LEAVES])
    shards.call([move_margins(size=0.25, values=())])
    np.testing.assert_array_equal(shard.state.margins[:, 0], 1.0 + 0.25 * values[LEAVES])
    shard.state.answers = np.arange(7.0)  # of a regressor, which has no leaves
    shards.call([write_steps(output=0, values=None), move_margins(size=1.0, values=())])
    expected = 1.0 + 0.25 * values[LEAVES] + np.arange(7.0)
    np.testing.assert_array_equal(shard.state.margins[:, 0], expected)
    (longest,) = shards.call([prepare_line_search()])
    assert longest.tolist() == [6.0, 6.0]


def test_steps_of_all_outputs_are_written_at_once():
    shards, shard = bound(LossRows(LEAVES % 3, 3), moves_by="steps")
    values = np.arange(9.0).reshape(3, 3)
    shards.call([write_steps(output=0, values=values), move_margins(size=2.0, values=())])
    np.testing.assert_array_equal(shard.state.margins, 2.0 * values[LEAVES])


def test_sizes_are_added_up_by_leaf_and_by_side():
    y, weights = LEAVES % 2, np.array([1.0, 2.0, 0.0, 1.0, 0.5, 4.0, 1.0])
    table = np.array([[0.0, 0.25], [1.0, 0.0]])
    rows = LossRows(y, weights=weights, table=table)
    shards, shard = bound(rows, CostExponentialLoss("asymboost"))
    sizes = weights * np.where(y == 1, 1.0, 0.25)
    keep = np.array([1, 1, 1, 0, 1, 1, 1])
    shard.state.keep = keep.astype(np.uint8)
    (found,) = shards.call([sum_leaf_sizes(n_leaves=3, scales=(2.0**20, 2.0**21))])
    (sides,) = shards.call([sum_leaf_sides(n_leaves=3, scale=2.0**20)])
    (whole,) = shards.call([sum_leaf_sizes(n_leaves=1, scales=(2.0**20, 2.0**21))])
    for leaf in range(3):
        there = keep * (leaf == LEAVES)
        assert to_floats(found[leaf, :2], 2.0**20) == np.sum(there * sizes)
        assert to_floats(found[leaf, 2:], 2.0**21) == np.sum(there * weights)
        assert to_floats(sides[leaf, :2], 2.0**20) == np.sum(there * sizes * (y == 1))
        assert to_floats(sides[leaf, 2:], 2.0**20) == np.sum(there * sizes * (y == 0))
    assert to_floats(whole[0, :2], 2.0**20) == np.sum(keep * sizes)


def test_values_are_written_and_added_up():
    y, weights = np.linspace(-2, 3, 7), np.array([1.0, 2.0, 0.0, 1.0, 0.5, 4.0, 1.0])
    shards, _ = bound(LossRows(y, weights=weights), HuberLoss(1.5), start=(0.5,))
    shards.call([write_derivatives(where="margins", total=0.0)])
    (largest,) = shards.call([write_values()])
    expected = weights * HuberLoss(1.5).value(y, np.full(7, 0.5))
    assert largest == expected.max()
    (sums,) = shards.call([sum_values(scale=2.0**30)])
    np.testing.assert_allclose(to_floats(sums, 2.0**30), [expected.sum()], rtol=1e-12)


@pytest.mark.parametrize("n_shards", [1, 3])
def test_derivatives_made_elsewhere_are_read_as_they_were_put(n_shards, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 2)
    values = np.random.default_rng(0).normal(size=(7, 3, 2))
    with cut_rows(LossRows(LEAVES % 3, 3), n_shards=n_shards) as shards:
        shards.call([bind_loss(loss=OwnLoss(LogLoss()), start=(0.0,) * 3, moves_by="leaf")])
        shards.put(put_derivatives, values)
        for k in range(3):
            found = shards.fetch(lambda shard, k=k: shard.state.derivatives(k).T)
            np.testing.assert_array_equal(found, values[:, k])


@pytest.mark.parametrize("n_shards", [1, 3])
def test_ends_of_leaves_are_those_of_the_residuals_that_count(n_shards, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 4)
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 3)
    rng = np.random.default_rng(3)
    y, leaves = rng.normal(size=40), rng.integers(0, 3, 40).astype(np.uint16)
    weights = rng.integers(0, 2, 40).astype(float)
    sample = RowSample(0.5, 7, 0)
    with cut_rows(LossRows(y, 1, weights), n_shards=n_shards) as shards:
        shards.call([bind_loss(loss=HuberLoss(), start=(0.25,), moves_by="leaf")])
        shards.put(put_leaves, leaves[:, None])
        for chosen, counts in ((None, weights > 0), (sample, sample.keeps(np.arange(40)))):
            shards.call([mark_sample(sample=chosen)])
            (ends,) = shards.call([residual_ranges(n_leaves=4)])
            for leaf in range(3):
                gaps = (y - 0.25)[(leaves == leaf) & counts & (weights > 0)]
                assert ends[:, leaf].tolist() == [np.max(-gaps), np.max(gaps)]
            assert ends[:, 3].tolist() == [-np.inf, -np.inf]


def put_leaves(shard, values):
    shard.leaves[:] = values[:, 0]

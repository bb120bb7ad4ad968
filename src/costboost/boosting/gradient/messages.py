"""Messages of gradient boosting to the shards, round after round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient import _leaf_kernels as by_leaf
from costboost.boosting.gradient.rows import EVERY, HELD, NONE, Unfolded, read_both, unfolded
from costboost.runtime.messages import largest, message, total
from costboost.shards.grid import PackedPairs
from costboost.shards.layout import blocks_of
from costboost.shards.rows import RowSample, Shard
from costboost.typing import Floats, Int64

_MANY = 1 << 16  # copies of which half a unit each is far from filling 32 bits
_ONE_LEAF = np.zeros(1, dtype=np.uint16)


# Derivatives.


@message(reduce=largest, changes=True)
def write_derivatives(shard: Shard, *, where: str, total: float) -> Floats:
    """Compute derivatives at some margins; return the largest of both, (J, 2)."""
    state, derived = shard.state, _derivative_buffer(shard)
    found: Floats = state.terms.derive(getattr(state, where), total, derived)
    return found


def _derivative_buffer(shard: Shard) -> Floats:
    """Return the buffer that derivatives are written to, (D, J, m); also as `state.derived`."""
    state, m = shard.state, len(shard.rows)
    depth, n_outputs = state.terms.depth, state.data.n_outputs
    buffer = shard.scratch_array("derived", np.float64, depth * n_outputs)
    state.derived = buffer.reshape(depth, n_outputs, m)
    return np.asarray(state.derived)


def put_derivatives(shard: Shard, values: Floats) -> None:
    """Set derivatives that a user's loss has computed, (m, J, 2)."""
    _derivative_buffer(shard)[:] = values.T


def _read(rows: Unfolded) -> Any:
    """Return the kernels' reader of derivatives."""
    return kernels.Derivatives(*rows)


# One round.


@message(reduce=total, changes=True)
def mark_sample(shard: Shard, *, sample: RowSample | None) -> int:
    """Mark the rows that a round learns from; return their number."""
    state = shard.state
    state.keep = EVERY
    if sample is not None:
        state.keep = shard.mark(sample).view(np.uint8)
    return int(np.sum(state.keep))


@message(reduce=total, changes=True)
def write_pairs(shard: Shard, *, output: int, by_weight: bool, scales: tuple[float, float]) -> int:
    """Round both derivatives of an output to the grid, a word each; return the hessians' sum."""
    state = shard.state
    # The two forms share one buffer, so only one of them is ever valid.
    state.packed = None
    state.pairs = shard.scratch_array("grid", np.int64, 2).reshape(-1, 2)
    rows = _read(state.read(output, by_weight=by_weight))
    return int(by_leaf.widen_pairs(rows, *scales, state.pairs))


@message(reduce=total, changes=True)
def write_packed_pairs(
    shard: Shard, *, output: int, by_weight: bool, scales: tuple[float, float]
) -> Int64:
    """Round both derivatives of an output to the coarse grid, packed into one word.

    The answer adds up sizes of gradients, gradients, hessians, and rows that have any, (4,).
    """
    state, sums = shard.state, np.zeros(4, dtype=np.int64)
    state.packed = shard.scratch_array("grid", np.int64)
    # The caller judges by these sums whether so coarse a grid is fine enough.
    rows = _read(state.read(output, by_weight=by_weight))
    by_leaf.pack_pairs(rows, *scales, PackedPairs.SHIFT, state.packed, sums)
    return sums


@message(reduce=None, changes=True)
def write_vectors(shard: Shard, *, gradient_scale: float, weight_scale: float) -> None:
    """Round the gradients of all outputs and the weights to the grid, side by side."""
    state, n_outputs = shard.state, shard.state.data.n_outputs
    width = n_outputs + 1
    state.vectors = shard.scratch_array("vectors", np.int32, width).reshape(-1, width)
    for k in range(n_outputs):
        read = _read(state.read(k))
        by_leaf.put_vectors(read, gradient_scale, k, state.vectors)
    if state.data.weights is None:
        state.vectors[:, -1] = np.rint(weight_scale)
        return
    for rows in blocks_of(len(state.vectors)):
        state.vectors[rows, -1] = np.rint(state.data.weights[rows] * weight_scale)
    _repeat_whole_rows(shard, gradient_scale)


def _repeat_whole_rows(shard: Shard, gradient_scale: float) -> None:
    """Where a row's weight is whole, write its gradient on the grid times that weight."""
    # A product rounded once is not the sum of so many rounded copies: splits that separate the
    # classes equally well, whose gains tie, would then be ordered by rounding.
    state = shard.state
    units = shard.scratch_array("units", np.int32).reshape(-1, 1)
    for k in range(state.data.n_outputs):
        found = state.terms.read(state.derived, k)
        if found[0] == HELD:
            return  # weighed where they were made
        read = _read(unfolded((*found[:-1], NONE)))
        by_leaf.put_vectors(read, gradient_scale, 0, units)
        for rows in blocks_of(len(units)):
            weights = state.data.weights[rows]
            whole = (weights == np.rint(weights)) & (weights <= _MANY)
            times = weights[whole].astype(np.int32)
            state.vectors[rows, k][whole] = units[rows, 0][whole] * times


@message(reduce=total)
def sum_leaves(
    shard: Shard, *, output: int, n_leaves: int, by_weight: bool, scales: tuple[float, float]
) -> Int64:
    """Return the exact sums of an output's derivatives in every leaf, (L, 4)."""
    state, out = shard.state, np.zeros((n_leaves, 4), dtype=np.int64)
    rows = _read(state.read(output, by_weight=by_weight))
    by_leaf.sum_by_leaf(rows, _leaves(shard, n_leaves), state.keep, *scales, out)
    return out


def _leaves(shard: Shard, n_leaves: int) -> NDArray[np.uint16]:
    """Return the leaf of every row, as kernels take it: one entry stands for all rows."""
    return shard.leaves if n_leaves > 1 else _ONE_LEAF


@message(reduce=total)
def sum_leaf_sizes(shard: Shard, *, n_leaves: int, scales: tuple[float, float]) -> Int64:
    """Add up the weighted |a| of rows and their weights in every leaf, exactly, (L, 4).

    One leaf stands for all of them.
    """
    state, out = shard.state, np.zeros((n_leaves, 4), dtype=np.int64)
    sizes = state.sizes
    rows = _read(unfolded(read_both(sizes, sizes, state.weights), by_weight=True))
    by_leaf.sum_by_leaf(rows, _leaves(shard, n_leaves), state.keep, *scales, out)
    return out


@message(reduce=total)
def sum_leaf_sides(shard: Shard, *, n_leaves: int, scale: float) -> Int64:
    """Add up the weighted |a| of rows that aim up, and of those that aim down, by leaf, (L, 4)."""
    state, out = shard.state, np.zeros((n_leaves, 4), dtype=np.int64)
    up, sizes = state.terms.aims > 0.0, state.sizes
    sides = (np.where(up, sizes, 0.0), np.where(up, 0.0, sizes))
    rows = _read(unfolded(read_both(*sides, NONE)))
    how = (_leaves(shard, n_leaves), state.keep, scale, scale)
    by_leaf.sum_by_leaf(rows, *how, out)
    return out


@message(reduce=largest)
def residual_ranges(shard: Shard, *, n_leaves: int) -> Floats:
    """Return the range of the residuals y - F of each leaf, (2, L): -smallest, largest."""
    state = shard.state
    out = np.full((2, n_leaves), -np.inf)
    for rows in blocks_of(len(state.margins)):
        alive = state.data.take(rows).unit_or_weights > 0.0
        if len(state.keep):
            alive &= state.keep[rows] != 0
        gaps = (state.data.y[rows] - state.margins[rows, 0])[alive]
        leaves = shard.leaves[rows][alive]
        for end, values in zip(out, (-gaps, gaps), strict=True):
            np.maximum.at(end, leaves, values)
    return out


@message(reduce=None, changes=True)
def try_leaves(shard: Shard, *, output: int, values: Floats) -> None:
    """Set trial margins: leaf values added to an output."""
    state = shard.state
    state.trial = _scratch_like_margins(shard, "trial")
    state.trial[:] = state.margins
    kernels.add_by_leaf(state.trial, output, shard.leaves, values)


def _scratch_like_margins(shard: Shard, name: str) -> Floats:
    """Return a scratch buffer of the shape of the margins."""
    m, n_outputs = shard.state.margins.shape
    return np.asarray(shard.scratch_array(name, np.float64, n_outputs).reshape(m, n_outputs))


@message(reduce=None, changes=True)
def write_steps(shard: Shard, *, output: int, values: Floats | None) -> None:
    """Store what a tree, or a regressor (None), adds to an output of every row, where needed.

    Values (L, K) are those of all outputs.
    """
    state = shard.state
    if state.moves_by == "leaves":
        n_outputs = state.data.n_outputs
        # One tree for each output: the next one overwrites `shard.leaves`.
        buffer = shard.scratch_array("own leaves", np.uint16, n_outputs)
        state.own_leaves = buffer.reshape(n_outputs, -1)
        state.own_leaves[output] = shard.leaves
    elif state.moves_by == "steps":
        state.steps = _scratch_like_margins(shard, "steps")
        steps = state.answers if values is None else values[shard.leaves]
        state.steps[:, ... if steps.ndim == 2 else output] = steps


@message(reduce=None, changes=True)
def move_margins(shard: Shard, *, size: float, values: tuple[Floats, ...]) -> None:
    """Add the stored steps, times a size, to the margins.

    Or else the leaf values of the outputs.
    """
    state = shard.state
    if state.moves_by == "steps":
        kernels.add_scaled(state.margins, state.steps, size, state.margins)
        return
    for k, own in enumerate(values):
        leaves = shard.leaves if state.moves_by == "leaf" else state.own_leaves[k]
        kernels.add_by_leaf(state.margins, k, leaves, own)


# Lambda.


@message(reduce=largest, changes=True)
def prepare_line_search(shard: Shard) -> Floats:
    """Prepare a line search; return the largest gradient multiplier and the largest step, (2,)."""
    state = shard.state
    state.along = state.terms.along(state.steps)
    return np.array([np.max(np.abs(part), initial=0.0) for part in (state.along, state.steps)])


@message(reduce=None, changes=True)
def try_steps(shard: Shard, *, size: float) -> None:
    """Set trial margins: the stored steps added, times a size."""
    state = shard.state
    state.trial = _scratch_like_margins(shard, "trial")
    kernels.add_scaled(state.margins, state.steps, size, state.trial)


@message(reduce=total)
def sum_along(shard: Shard, *, scales: tuple[float, float]) -> Int64:
    """Add up the derivatives along the steps, exactly, (1, 4)."""
    state, out = shard.state, np.zeros((1, 4), dtype=np.int64)
    for k in range(state.data.n_outputs):
        read = _read(state.read(k))
        by_leaf.sum_along(read, state.along, k, state.keep, *scales, out)
    return out


# What the loss amounts to.


@message(reduce=largest, changes=True)
def write_values(shard: Shard) -> float:
    """Write every row's weighted loss in place of its derivatives; return the largest."""
    state = shard.state
    return float(state.terms.write_values(state.margins, state.derived[0, 0]))


@message(reduce=total)
def sum_values(shard: Shard, *, scale: float) -> Int64:
    """Return the exact sum of the values written, (1, 2)."""
    out = np.zeros((1, 2), dtype=np.int64)
    kernels.sum_values(shard.state.derived[0, 0], scale, out)
    return out

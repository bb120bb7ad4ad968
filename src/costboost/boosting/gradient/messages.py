"""Messages of gradient boosting to the shards, round after round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient import _leaf_kernels as by_leaf
from costboost.boosting.gradient.rows import EVERY, HELD, NONE, Unfolded, read_both, unfolded
from costboost.shards.layout import blocks_of
from costboost.shards.local import Command, MaxMessage, Message
from costboost.shards.modes import PackedPairs
from costboost.shards.rows import Shard
from costboost.shards.sampling import RowSample
from costboost.typing import Floats, Int64

_MANY = 1 << 16  # copies of which half a unit each is far from filling 32 bits
_ONE_LEAF = np.zeros(1, dtype=np.uint16)


# Derivatives.


@dataclass(frozen=True)
class Derive(MaxMessage):
    """Compute derivatives at some margins; returns the largest of both, (J, 2)."""

    where: str
    total: float

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return the largest."""
        state, derived = shard.state, _derivative_buffer(shard)
        found: Floats = state.terms.derive(getattr(state, self.where), self.total, derived)
        return found


def _derivative_buffer(shard: Shard) -> Floats:
    """Return the buffer that derivatives are written to, (D, J, m); also as `state.derived`."""
    state, m = shard.state, len(shard.rows)
    depth, n_outputs = state.terms.depth, state.data.n_outputs
    buffer = shard.scratch_array("derived", np.float64, depth * n_outputs)
    state.derived = buffer.reshape(depth, n_outputs, m)
    return np.asarray(state.derived)


def put_derivatives(shard: Shard, values: Floats) -> None:
    """Set derivatives that were computed elsewhere, (m, J, 2)."""
    _derivative_buffer(shard)[:] = values.T


def _read(rows: Unfolded) -> Any:
    """Return the kernels' reader of derivatives."""
    return kernels.Derivatives(*rows)


# One round.


@dataclass(frozen=True)
class Sample(Message):
    """Mark the rows that a round learns from; returns their number."""

    sample: RowSample | None

    changes = True

    def answer(self, shard: Shard) -> int:
        """Return how many there are."""
        state = shard.state
        state.keep = EVERY
        if self.sample is not None:
            state.keep = shard.mark(self.sample).view(np.uint8)
        return int(np.sum(state.keep))


@dataclass(frozen=True)
class Widen(Message):
    """Round both derivatives of an output to the grid, a word each; returns the hessians' sum."""

    output: int
    by_weight: bool
    scales: tuple[float, float]

    changes = True

    def answer(self, shard: Shard) -> int:
        """Return the sum of hessians on the grid."""
        state = shard.state
        # The two forms share one buffer, so only one of them is ever valid.
        state.packed = None
        state.pairs = shard.scratch_array("grid", np.int64, 2).reshape(-1, 2)
        rows = _read(state.read(self.output, by_weight=self.by_weight))
        return int(by_leaf.widen_pairs(rows, *self.scales, state.pairs))


@dataclass(frozen=True)
class Pack(Message):
    """Round both derivatives of an output to the coarse grid, packed into one word.

    The answer adds up sizes of gradients, gradients, hessians, and rows that have any, (4,).
    """

    output: int
    by_weight: bool
    scales: tuple[float, float]

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Return the four sums."""
        state, sums = shard.state, np.zeros(4, dtype=np.int64)
        state.packed = shard.scratch_array("grid", np.int64)
        rows = _read(state.read(self.output, by_weight=self.by_weight))
        by_leaf.pack_pairs(rows, *self.scales, PackedPairs.SHIFT, state.packed, sums)
        return sums


@dataclass(frozen=True)
class PutVectors(Command):
    """Round the gradients of all outputs and the weights to the grid, side by side."""

    gradient_scale: float
    weight_scale: float

    def answer(self, shard: Shard) -> None:
        """Write the vectors, (m, K + 1)."""
        state, n_outputs = shard.state, shard.state.data.n_outputs
        width = n_outputs + 1
        state.vectors = shard.scratch_array("vectors", np.int32, width).reshape(-1, width)
        for k in range(n_outputs):
            read = _read(state.read(k))
            by_leaf.put_vectors(read, self.gradient_scale, k, state.vectors)
        if state.data.weights is None:
            state.vectors[:, -1] = np.rint(self.weight_scale)
            return
        for rows in blocks_of(len(state.vectors)):
            state.vectors[rows, -1] = np.rint(state.data.weights[rows] * self.weight_scale)
        self._repeat_whole_rows(shard)

    def _repeat_whole_rows(self, shard: Shard) -> None:
        """Write a gradient on the grid times a whole weight where that weight is whole.

        Rounded after it is weighed it is not the sum of so many copies, and splits that part the
        classes alike, whose gains tie, would be told apart by the rounding.
        """
        state = shard.state
        units = shard.scratch_array("units", np.int32).reshape(-1, 1)
        for k in range(state.data.n_outputs):
            found = state.terms.read(state.derived, k)
            if found[0] == HELD:
                return  # weighed where they were made
            read = _read(unfolded((*found[:-1], NONE)))
            by_leaf.put_vectors(read, self.gradient_scale, 0, units)
            for rows in blocks_of(len(units)):
                weights = state.data.weights[rows]
                whole = (weights == np.rint(weights)) & (weights <= _MANY)
                times = weights[whole].astype(np.int32)
                state.vectors[rows, k][whole] = units[rows, 0][whole] * times


@dataclass(frozen=True)
class LeafSums(Message):
    """Exact sums of an output's derivatives in every leaf, (L, 4)."""

    output: int
    n_leaves: int
    by_weight: bool
    scales: tuple[float, float]

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of gradients, then of hessians."""
        state, out = shard.state, np.zeros((self.n_leaves, 4), dtype=np.int64)
        rows = _read(state.read(self.output, by_weight=self.by_weight))
        by_leaf.sum_by_leaf(rows, _leaves(shard, self.n_leaves), state.keep, *self.scales, out)
        return out


def _leaves(shard: Shard, n_leaves: int) -> NDArray[np.uint16]:
    """Return the leaf of every row, as kernels take it: one entry stands for all rows."""
    return shard.leaves if n_leaves > 1 else _ONE_LEAF


@dataclass(frozen=True)
class LeafSizes(Message):
    """Add up the weighted |a| of rows and their weights in every leaf, exactly, (L, 4).

    One leaf stands for all of them.
    """

    n_leaves: int
    scales: tuple[float, float]

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of sizes, then of weights."""
        state, out = shard.state, np.zeros((self.n_leaves, 4), dtype=np.int64)
        sizes = state.sizes
        rows = _read(unfolded(read_both(sizes, sizes, state.weights), by_weight=True))
        by_leaf.sum_by_leaf(rows, _leaves(shard, self.n_leaves), state.keep, *self.scales, out)
        return out


@dataclass(frozen=True)
class LeafSides(Message):
    """Add up the weighted |a| of rows that aim up, and of those that aim down, by leaf, (L, 4)."""

    n_leaves: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of both."""
        state, out = shard.state, np.zeros((self.n_leaves, 4), dtype=np.int64)
        up, sizes = state.terms.aims > 0.0, state.sizes
        sides = (np.where(up, sizes, 0.0), np.where(up, 0.0, sizes))
        rows = _read(unfolded(read_both(*sides, NONE)))
        how = (_leaves(shard, self.n_leaves), state.keep, self.scale, self.scale)
        by_leaf.sum_by_leaf(rows, *how, out)
        return out


@dataclass(frozen=True)
class LeafEnds(MaxMessage):
    """Range of the residuals y - F of each leaf, (2, L): -smallest, largest."""

    n_leaves: int

    def answer(self, shard: Shard) -> Floats:
        """Return both ends."""
        state = shard.state
        out = np.full((2, self.n_leaves), -np.inf)
        for rows in blocks_of(len(state.margins)):
            alive = state.data.take(rows).unit_or_weights > 0.0
            if len(state.keep):
                alive &= state.keep[rows] != 0
            gaps = (state.data.y[rows] - state.margins[rows, 0])[alive]
            leaves = shard.leaves[rows][alive]
            for end, values in zip(out, (-gaps, gaps), strict=True):
                np.maximum.at(end, leaves, values)
        return out


@dataclass(frozen=True)
class TryLeaves(Command):
    """Set trial margins: leaf values added to an output."""

    output: int
    values: Floats

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        state.trial = _scratch_like_margins(shard, "trial")
        state.trial[:] = state.margins
        kernels.add_by_leaf(state.trial, self.output, shard.leaves, self.values)


def _scratch_like_margins(shard: Shard, name: str) -> Floats:
    """Return a scratch buffer of the shape of the margins."""
    m, n_outputs = shard.state.margins.shape
    return np.asarray(shard.scratch_array(name, np.float64, n_outputs).reshape(m, n_outputs))


@dataclass(frozen=True)
class WriteSteps(Command):
    """Store what a tree, or a regressor (None), adds to an output of every row, where needed.

    Values (L, K) are those of all outputs.
    """

    output: int
    values: Floats | None

    def answer(self, shard: Shard) -> None:
        """Write the steps, or the leaves."""
        state = shard.state
        if state.moves_by == "leaves":
            n_outputs = state.data.n_outputs
            buffer = shard.scratch_array("own leaves", np.uint16, n_outputs)
            state.own_leaves = buffer.reshape(n_outputs, -1)
            state.own_leaves[self.output] = shard.leaves
        elif state.moves_by == "steps":
            state.steps = _scratch_like_margins(shard, "steps")
            steps = state.answers if self.values is None else self.values[shard.leaves]
            state.steps[:, ... if steps.ndim == 2 else self.output] = steps


@dataclass(frozen=True)
class Move(Command):
    """Add the stored steps, times a size, to the margins.

    Or else the leaf values of the outputs.
    """

    size: float
    values: tuple[Floats, ...]

    def answer(self, shard: Shard) -> None:
        """Change the margins."""
        state = shard.state
        if state.moves_by == "steps":
            kernels.add_scaled(state.margins, state.steps, self.size, state.margins)
            return
        for k, values in enumerate(self.values):
            leaves = shard.leaves if state.moves_by == "leaf" else state.own_leaves[k]
            kernels.add_by_leaf(state.margins, k, leaves, values)


# Lambda.


@dataclass(frozen=True)
class LookAlong(MaxMessage):
    """Prepare a line search; returns the largest gradient multiplier and the largest step, (2,)."""

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return both, (2,)."""
        state = shard.state
        state.along = state.terms.along(state.steps)
        return np.array([np.max(np.abs(part), initial=0.0) for part in (state.along, state.steps)])


@dataclass(frozen=True)
class TrySteps(Command):
    """Set trial margins: the stored steps added, times a size."""

    size: float

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        state.trial = _scratch_like_margins(shard, "trial")
        kernels.add_scaled(state.margins, state.steps, self.size, state.trial)


@dataclass(frozen=True)
class SumsAlong(Message):
    """Add up the derivatives along the steps, exactly, (1, 4)."""

    scales: tuple[float, float]

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of gradients, then of hessians."""
        state, out = shard.state, np.zeros((1, 4), dtype=np.int64)
        for k in range(state.data.n_outputs):
            read = _read(state.read(k))
            by_leaf.sum_along(read, state.along, k, state.keep, *self.scales, out)
        return out


# What the loss amounts to.


@dataclass(frozen=True)
class WriteValues(MaxMessage):
    """Write every row's weighted loss in place of its derivatives; returns the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        return float(state.terms.write_values(state.margins, state.derived[0, 0]))


@dataclass(frozen=True)
class SumValues(Message):
    """Exact sum of the values written, (1, 2)."""

    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return units and remainders."""
        out = np.zeros((1, 2), dtype=np.int64)
        kernels.sum_values(shard.state.derived[0, 0], self.scale, out)
        return out

"""What gradient boosting asks of those who hold rows, round after round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient import _leaf_kernels as by_leaf
from costboost.boosting.gradient.rows import EVERY, NONE, Unfolded, read_both, unfolded
from costboost.shards.layout import blocks_of
from costboost.shards.messages import Command, Largest, Message
from costboost.shards.modes import PackedPairs
from costboost.shards.rows import Shard
from costboost.shards.sampling import RowSample

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_ONE_LEAF = np.zeros(1, dtype=np.uint16)


# --- derivatives


@dataclass(frozen=True)
class Derive(Largest):
    """Write derivatives at some margins; tell the largest of both, (J, 2)."""

    where: str
    total: float

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return the largest."""
        state, derived = shard.state, _room_to_derive(shard)
        found: Floats = state.terms.derive(getattr(state, self.where), self.total, derived)
        return found


def _room_to_derive(shard: Shard) -> Floats:
    """Return what derivatives are read from, to be written, (D, J, m)."""
    state, m = shard.state, len(shard.rows)
    depth, n_outputs = state.terms.depth, state.given.n_outputs
    room = shard.worktop("derived", np.float64, depth * n_outputs)
    state.derived = room.reshape(depth, n_outputs, m)
    return np.asarray(state.derived)


def put_derivatives(shard: Shard, values: Floats) -> None:
    """Write derivatives that were made elsewhere, (m, J, 2)."""
    _room_to_derive(shard)[:] = values.T


def _read(rows: Unfolded) -> Any:
    """Return derivatives of rows as kernels read them."""
    return kernels.Derivatives(*rows)


# --- one round


@dataclass(frozen=True)
class Sample(Message):
    """Mark the rows that a round learns from; count them."""

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
    """Put derivatives of an output on the grid, a word each; add up the hessians."""

    output: int
    by_weight: bool
    scales: tuple[float, float]

    changes = True

    def answer(self, shard: Shard) -> int:
        """Return the sum of hessians on the grid."""
        state = shard.state
        state.packed = None
        state.pairs = shard.worktop("grid", np.int64, 2).reshape(-1, 2)
        rows = _read(state.read(self.output, by_weight=self.by_weight))
        return int(by_leaf.widen_pairs(rows, *self.scales, state.pairs))


@dataclass(frozen=True)
class Pack(Message):
    """Put derivatives of an output on the coarse grid, both in one word.

    The answer adds up sizes of gradients, gradients, hessians, and rows that have any, (4,).
    """

    output: int
    by_weight: bool
    scales: tuple[float, float]

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Return the four sums."""
        state, sums = shard.state, np.zeros(4, dtype=np.int64)
        state.packed = shard.worktop("grid", np.int64)
        rows = _read(state.read(self.output, by_weight=self.by_weight))
        by_leaf.pack_pairs(rows, *self.scales, PackedPairs.SHIFT, state.packed, sums)
        return sums


@dataclass(frozen=True)
class PutVectors(Command):
    """Put the gradients of all outputs and the rows' weights on the grid, side by side."""

    gradient_scale: float
    weight_scale: float

    def answer(self, shard: Shard) -> None:
        """Write the vectors, (m, K + 1)."""
        state, n_outputs = shard.state, shard.state.given.n_outputs
        width = n_outputs + 1
        state.vectors = shard.worktop("vectors", np.int32, width).reshape(-1, width)
        for k in range(n_outputs):
            read = _read(state.read(k))
            by_leaf.put_vectors(read, self.gradient_scale, k, state.vectors)
        for rows in blocks_of(len(state.vectors)):
            weights = 1.0 if state.given.weights is None else state.given.weights[rows]
            state.vectors[rows, -1] = np.rint(weights * self.weight_scale)


@dataclass(frozen=True)
class LeafSums(Message):
    """Add up the derivatives of an output in every leaf, exactly, (L, 4)."""

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
    """Return the leaves of all rows as kernels take them: a single entry is that of all."""
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
class TryLeaves(Command):
    """Try leaf values for an output, without taking them."""

    output: int
    values: Floats

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        state.trial = _room_like(shard, "trial")
        state.trial[:] = state.margins
        kernels.add_by_leaf(state.trial, self.output, shard.leaves, self.values)


def _room_like(shard: Shard, name: str) -> Floats:
    """Return an array of the bench that is shaped as the margins."""
    m, n_outputs = shard.state.margins.shape
    return np.asarray(shard.worktop(name, np.float64, n_outputs).reshape(m, n_outputs))


@dataclass(frozen=True)
class WriteSteps(Command):
    """Let rows note what the tree, or the regressor (None), adds to an output, if they need to.

    Values (L, K) are those of all outputs.
    """

    output: int
    values: Floats | None

    def answer(self, shard: Shard) -> None:
        """Write the steps, or the leaves."""
        state = shard.state
        if state.moves_by == "leaves":
            n_outputs = state.given.n_outputs
            room = shard.worktop("own leaves", np.uint16, n_outputs)
            state.own_leaves = room.reshape(n_outputs, -1)
            state.own_leaves[self.output] = shard.leaves
        elif state.moves_by == "steps":
            state.steps = _room_like(shard, "steps")
            steps = state.answers if self.values is None else self.values[shard.leaves]
            state.steps[:, ... if steps.ndim == 2 else self.output] = steps


@dataclass(frozen=True)
class Move(Command):
    """Take the steps that rows noted, times a size; or else the leaf values of every output."""

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


# --- lambda


@dataclass(frozen=True)
class LookAlong(Largest):
    """Prepare a line search; tell the longest of what multiplies gradients, and of the steps."""

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return both, (2,)."""
        state = shard.state
        state.along = state.terms.along(state.steps)
        return np.array([np.max(np.abs(part), initial=0.0) for part in (state.along, state.steps)])


@dataclass(frozen=True)
class TrySteps(Command):
    """Try the steps that rows keep, times a size, without taking them."""

    size: float

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        state.trial = _room_like(shard, "trial")
        kernels.add_scaled(state.margins, state.steps, self.size, state.trial)


@dataclass(frozen=True)
class SumsAlong(Message):
    """Add up the derivatives along the steps, exactly, (1, 4)."""

    scales: tuple[float, float]

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of gradients, then of hessians."""
        state, out = shard.state, np.zeros((1, 4), dtype=np.int64)
        for k in range(state.given.n_outputs):
            read = _read(state.read(k))
            by_leaf.sum_along(read, state.along, k, state.keep, *self.scales, out)
        return out


# --- what the loss amounts to


@dataclass(frozen=True)
class WriteValues(Largest):
    """Write every row's weighted loss in place of its derivatives; tell the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        return float(state.terms.write_values(state.margins, state.derived[0, 0]))


@dataclass(frozen=True)
class SumValues(Message):
    """Add up what was written, exactly, (1, 2)."""

    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return units and remainders."""
        out = np.zeros((1, 2), dtype=np.int64)
        kernels.sum_values(shard.state.derived[0, 0], self.scale, out)
        return out

"""What gradient boosting asks of those who hold rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.rows import EVERY
from costboost.shards.grid import exact_sum, rounded
from costboost.shards.local import Shards
from costboost.shards.messages import Command, Largest, Message, Parts
from costboost.shards.modes import PackedPairs
from costboost.shards.rows import Shard
from costboost.shards.sampling import RowSample

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


# --- before the first round


@dataclass(frozen=True)
class LargestCost(Largest):
    """Tell the largest cost that a loss scales by."""

    loss: Any

    def answer(self, shard: Shard) -> float:
        """Return the largest cost."""
        return float(self.loss.largest_cost(shard.state.given))


@dataclass(frozen=True)
class Bind(Largest):
    """Give rows a loss and their first margins, a constant or their own.

    The answer tells the largest weight of a row, and of the loss the largest w0 and the largest
    weighted |a|, (3,).

    With `steps`, rows keep what a round adds to them: where there are several outputs, or a line
    search, all steps are known before any is taken.
    """

    loss: Any
    start: tuple[float, ...] | None
    steps: bool

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Prepare the rows; return the largest weights."""
        state, m = shard.state, len(shard.rows)
        n_outputs = state.given.n_outputs
        state.terms = self.loss.bind(state.given)
        if self.start is not None:
            state.margins = np.tile(np.array(self.start), (m, 1))
        state.gradients, state.hessians = np.zeros((n_outputs, m)), np.zeros((n_outputs, m))
        state.steps = np.zeros((m, n_outputs)) if self.steps else None
        heaviest = 1.0 if state.given.weights is None else np.max(state.weights, initial=0.0)
        if self.loss.has_prices:
            state.sizes = state.given.unit_or_weights * state.terms.sizes
        terms = (getattr(state.terms, name, top) for name, top in (("largest_w0", 1), ("drift", 0)))
        return np.array([heaviest, *terms, np.max(state.sizes, initial=0.0)])


@dataclass(frozen=True)
class WeightedSum(Parts):
    """Add up y and the weights, without any rounding."""

    def answer(self, shard: Shard) -> tuple[int, int]:
        """Return both sums."""
        rows = shard.state.given
        weights = rows.unit_or_weights
        return exact_sum(np.asarray(rows.y, dtype=float) * weights), exact_sum(weights)


@dataclass(frozen=True)
class ClassWeights(Parts):
    """Add up the weights of every class, without any rounding."""

    n_classes: int

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return the sums."""
        rows = shard.state.given
        weights = rows.unit_or_weights
        return tuple(exact_sum(weights[rows.y == k]) for k in range(self.n_classes))


def class_weights(shards: Shards, n_classes: int) -> Floats:
    """Return the weight of every class, (K,)."""
    (sums,) = shards.call([ClassWeights(n_classes)])
    return np.array([rounded(part) for part in sums])


def log_shares(shards: Shards, n_outputs: int) -> Floats:
    """Return the log odds of class 1, or the centred logs of every class's share, (J,)."""
    n_classes = 2 if n_outputs == 1 else n_outputs
    parts = class_weights(shards, n_classes).tolist()
    # A class without rows: as likely as one ulp.
    shares = np.maximum(np.array(parts) / math.fsum(parts), 2.0**-52)
    if n_outputs == 1:
        odds = parts[1] / parts[0] if min(parts) > 0 else float(shares[1] / shares[0])
        return np.array([math.log(odds)])
    logs = np.log(shares)
    return np.asarray(logs - math.fsum(logs.tolist()) / n_classes)


@dataclass(frozen=True)
class TermsByClass(Message):
    """Tell a, b, w0 of the classes, or None where rows of a class differ."""

    loss: Any

    def answer(self, shard: Shard) -> Any:
        """Return the terms."""
        terms, by_class = self.loss.of_rows(shard.state.given)
        return terms if by_class else None

    def reduce(self, answers: Sequence[Any]) -> Any:
        """All say the same."""
        return answers[0]


@dataclass(frozen=True)
class SizeSums(Parts):
    """Add up the weighted |a| of rows, and their weights, without any rounding."""

    loss: Any

    def answer(self, shard: Shard) -> tuple[int, int]:
        """Return both sums."""
        rows = shard.state.given
        weights = rows.unit_or_weights
        return exact_sum(self.loss.bind(rows).sizes * weights), exact_sum(weights)


@dataclass(frozen=True)
class SumsAtConstant(Parts):
    """Add up the derivatives of one output at a constant, without any rounding."""

    loss: Any
    constant: tuple[float, ...]
    output: int

    def answer(self, shard: Shard) -> tuple[int, int]:
        """Return the sums of gradients and hessians."""
        rows = shard.state.given
        margins = np.tile(np.array(self.constant), (len(rows.y), 1))
        gradients, hessians = self.loss.derivatives(rows, margins)
        return exact_sum(gradients[:, self.output]), exact_sum(hessians[:, self.output])


# --- derivatives


@dataclass(frozen=True)
class Derive(Largest):
    """Write derivatives at some margins; tell the largest of both, (J, 2)."""

    where: str
    total: float

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return the largest."""
        state = shard.state
        margins = getattr(state, self.where)
        found: Floats = state.terms.derive(margins, self.total, state.gradients, state.hessians)
        return found


def put_derivatives(shard: Shard, values: Floats) -> None:
    """Write derivatives that were made elsewhere, (m, J, 2)."""
    shard.state.gradients[:] = values[..., 0].T
    shard.state.hessians[:] = values[..., 1].T


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
            state.keep = self.sample.keeps(shard.numbers()).astype(np.uint8)
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
        if state.pairs is None:
            state.pairs = np.empty((len(shard.rows), 2), np.int64)
        hessians = state.spread(self.output, by_weight=self.by_weight)
        kernels.widen_pairs(state.gradients[self.output], hessians, *self.scales, state.pairs)
        return int(np.sum(state.pairs[:, 1]))


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
        state = shard.state
        if state.packed is None:
            state.packed = np.empty(len(shard.rows), np.int64)
        sums = np.zeros(4, dtype=np.int64)
        hessians = state.spread(self.output, by_weight=self.by_weight)
        scales = (*self.scales, PackedPairs.SHIFT)
        kernels.pack_pairs(state.gradients[self.output], hessians, *scales, state.packed, sums)
        return sums


@dataclass(frozen=True)
class PutVectors(Command):
    """Put the gradients of all outputs and the rows' weights on the grid, side by side."""

    gradient_scale: float
    weight_scale: float

    def answer(self, shard: Shard) -> None:
        """Write the vectors, (m, K + 1)."""
        state = shard.state
        if state.vectors is None:
            state.vectors = np.empty((len(shard.rows), len(state.gradients) + 1), np.int32)
            weights = state.given.unit_or_weights * self.weight_scale
            state.vectors[:, -1] = np.rint(weights).astype(np.int32)
        gradients = np.rint(state.gradients * self.gradient_scale)
        state.vectors[:, :-1] = gradients.T


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
        hessians = state.spread(self.output, by_weight=self.by_weight)
        rows = (state.gradients[self.output], hessians, shard.leaves, state.keep)
        kernels.sum_by_leaf(*rows, *self.scales, out)
        return out


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
        leaves = shard.leaves if self.n_leaves > 1 else np.zeros_like(shard.leaves)
        rows = (state.sizes, state.given.unit_or_weights, leaves, state.keep)
        kernels.sum_by_leaf(*rows, *self.scales, out)
        return out


@dataclass(frozen=True)
class LeafSides(Message):
    """Add up the weighted |a| of rows that aim up, and of those that aim down, by leaf, (L, 4)."""

    n_leaves: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of both."""
        state, out = shard.state, np.zeros((self.n_leaves, 4), dtype=np.int64)
        up = state.terms.aims > 0.0
        rows = (np.where(up, state.sizes, 0.0), np.where(up, 0.0, state.sizes))
        kernels.sum_by_leaf(*rows, shard.leaves, state.keep, self.scale, self.scale, out)
        return out


@dataclass(frozen=True)
class TryLeaves(Command):
    """Try leaf values for an output, without taking them."""

    output: int
    values: Floats

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        state.trial = state.margins.copy()
        kernels.add_by_leaf(state.trial, self.output, shard.leaves, self.values)


@dataclass(frozen=True)
class WriteSteps(Command):
    """Note what the tree, or the regressor (None), adds to an output, if rows keep steps.

    Values (L, K) are those of all outputs.
    """

    output: int
    values: Floats | None

    def answer(self, shard: Shard) -> None:
        """Write the steps."""
        state = shard.state
        if state.steps is not None:
            steps = state.answers if self.values is None else self.values[shard.leaves]
            if steps.ndim == 2:
                state.steps = steps
            else:
                state.steps[:, self.output] = steps


@dataclass(frozen=True)
class Move(Command):
    """Take the steps that rows keep, times a size; or else the leaf values of the only tree."""

    size: float
    values: Floats

    def answer(self, shard: Shard) -> None:
        """Change the margins."""
        state = shard.state
        if state.steps is None:
            kernels.add_by_leaf(state.margins, 0, shard.leaves, self.values)
        else:
            kernels.add_scaled(state.margins, state.steps, self.size, state.margins)


# --- lambda


@dataclass(frozen=True)
class LookAlong(Largest):
    """Prepare a line search; tell the longest of what multiplies gradients, and of the steps."""

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Return both, (2,)."""
        state = shard.state
        state.along = state.steps if state.terms is None else state.terms.along(state.steps)
        return np.array([np.max(np.abs(part), initial=0.0) for part in (state.along, state.steps)])


@dataclass(frozen=True)
class TrySteps(Command):
    """Try the steps that rows keep, times a size, without taking them."""

    size: float

    def answer(self, shard: Shard) -> None:
        """Write the margins that they would lead to."""
        state = shard.state
        if state.trial is None:
            state.trial = np.empty_like(state.margins)
        kernels.add_scaled(state.margins, state.steps, self.size, state.trial)


@dataclass(frozen=True)
class SumsAlong(Message):
    """Add up the derivatives along the steps, exactly, (1, 4)."""

    scales: tuple[float, float]

    def answer(self, shard: Shard) -> Int64:
        """Return the sums: units and remainders of gradients, then of hessians."""
        state, out = shard.state, np.zeros((1, 4), dtype=np.int64)
        rows = (state.gradients, state.hessians, state.along, state.keep)
        kernels.sum_along(*rows, *self.scales, out)
        return out


# --- what the loss amounts to


@dataclass(frozen=True)
class WriteValues(Largest):
    """Write every row's weighted loss in place of its gradient; tell the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        return float(state.terms.write_values(state.margins, state.gradients[0]))


@dataclass(frozen=True)
class SumValues(Message):
    """Add up what was written, exactly, (1, 2)."""

    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return units and remainders."""
        out = np.zeros((1, 2), dtype=np.int64)
        kernels.sum_values(shard.state.gradients[0], self.scale, out)
        return out

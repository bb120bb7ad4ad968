"""What gradient boosting asks of rows before the first round: sums, to find its first margins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.rows import Held, LossRows
from costboost.shards.grid import exact_count, exact_sum, rounded
from costboost.shards.local import Shards
from costboost.shards.messages import Largest, Message, Parts, totals
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]


def _by_blocks(
    part: Callable[[LossRows], tuple[int, ...]], rows: LossRows, n_sums: int
) -> tuple[int, ...]:
    """Add up exact sums over blocks of rows: what is made on the way stays small."""
    return totals([(0,) * n_sums, *(part(some) for _, some in rows.blocks())])


@dataclass(frozen=True)
class LargestCost(Largest):
    """Tell the largest cost that a loss scales by."""

    loss: Any

    def answer(self, shard: Shard) -> float:
        """Return the largest cost."""
        return float(self.loss.largest_cost(shard.state.given))


@dataclass(frozen=True)
class TellGiven(Message):
    """Tell what is known of rows, without any row: whether there are weights, and the like."""

    def answer(self, shard: Shard) -> LossRows:
        """Return no row."""
        rows: LossRows = shard.state.given.take(slice(0))
        return rows

    def reduce(self, answers: Sequence[LossRows]) -> LossRows:
        """All say the same."""
        return answers[0]


@dataclass(frozen=True)
class BindLoss(Largest):
    """Give rows a loss and their first margins, a constant.

    The answer tells the largest weight of a row, and of the loss the largest w0, |b| and weighted
    |a|, (4,).

    `moves_by` says what rows note of a round until its steps are taken: see `GradientRows`.
    """

    loss: Any
    start: tuple[float, ...]
    moves_by: str

    changes = True

    def answer(self, shard: Shard) -> Floats:
        """Prepare the rows; return the largest weights."""
        state, bound = shard.state, self.loss.bind(shard.state.given)
        if bound is None:  # all rows are asked for in every round
            state.given = state.given.priced()
        state.terms = Held(state.weights) if bound is None else bound
        state.margins = np.tile(np.array(self.start), (len(shard.rows), 1))
        state.moves_by = self.moves_by
        heaviest = 1.0 if state.given.weights is None else np.max(state.weights, initial=0.0)
        largest_size = np.max(state.sizes, initial=0.0) if self.loss.has_prices else 0.0
        return np.array([heaviest, state.terms.largest_w0, state.terms.drift, largest_size])


@dataclass(frozen=True)
class WeightedSum(Parts):
    """Add up y and the weights, without any rounding."""

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return both sums."""

        def part(rows: LossRows) -> tuple[int, int]:
            weights = rows.unit_or_weights
            return exact_sum(np.asarray(rows.y, dtype=float) * weights), exact_sum(weights)

        return _by_blocks(part, shard.state.given, 2)


@dataclass(frozen=True)
class WeighClasses(Parts):
    """Add up the weights of every class, without any rounding."""

    n_classes: int

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return the sums."""

        def part(rows: LossRows) -> tuple[int, ...]:
            weights, y = rows.weights, rows.y
            if weights is None:
                counts = np.bincount(y, minlength=self.n_classes).tolist()
                return tuple(map(exact_count, counts))
            return tuple(exact_sum(weights[y == k]) for k in range(self.n_classes))

        return _by_blocks(part, shard.state.given, self.n_classes)


def class_weights(shards: Shards, n_classes: int) -> Floats:
    """Return the weight of every class, (K,)."""
    (sums,) = shards.call([WeighClasses(n_classes)])
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
        return self.loss.of_classes(shard.state.given)

    def reduce(self, answers: Sequence[Any]) -> Any:
        """All say the same."""
        return answers[0]


@dataclass(frozen=True)
class SizeSums(Parts):
    """Add up the weighted |a| of rows, and their weights, without any rounding."""

    loss: Any

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return both sums."""

        def part(rows: LossRows) -> tuple[int, int]:
            weights = rows.unit_or_weights
            return exact_sum(self.loss.bind(rows).sizes * weights), exact_sum(weights)

        return _by_blocks(part, shard.state.given, 2)


@dataclass(frozen=True)
class SumsAtConstant(Parts):
    """Add up the derivatives of one output at a constant, without any rounding."""

    loss: Any
    constant: tuple[float, ...]
    output: int

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return the sums of gradients and hessians."""

        def part(rows: LossRows) -> tuple[int, int]:
            margins = np.tile(np.array(self.constant), (len(rows.y), 1))
            gradients, hessians = self.loss.derivatives(rows, margins)
            return exact_sum(gradients[:, self.output]), exact_sum(hessians[:, self.output])

        return _by_blocks(part, shard.state.given, 2)


def put_margins(shard: Shard, values: Floats) -> None:
    """Give rows first margins of their own, (m, J)."""
    shard.state.margins = values

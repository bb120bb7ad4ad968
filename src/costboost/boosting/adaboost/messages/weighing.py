"""The weights of rows: before the first round, for the learner, and after a step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.hypothesis import Hypothesis
from costboost.boosting.adaboost.messages.binding import Range, Ranges
from costboost.boosting.adaboost.messages.summing import BLOCK, View, weighed
from costboost.boosting.adaboost.rows import TINY
from costboost.shards.messages import Command, Largest, Message
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class FirstWeights(Largest):
    """Set the rule's weights before the first round; tell the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        state.weights = state.evaluate("first")
        if state.bound.rule.round_factor is not None:
            for rows in state.blocks():
                state.weights[rows] *= state.bound.factor("round_factor", state.at(rows))
        return float(np.max(state.weights, initial=0.0))


@dataclass(frozen=True)
class SampleRange(Ranges):
    """Tell the largest and the smallest weight that the user gave."""

    def answer(self, shard: Shard) -> Range:
        """Return both."""
        return _range(shard.state.sample_weights)


@dataclass(frozen=True)
class AreCopies(Message):
    """Whether all weights that the user gave are so many copies of the least."""

    least: float

    def answer(self, shard: Shard) -> bool:
        """Return whether these are."""
        given = shard.state.sample_weights
        return all(_are_copies(given[rows] / self.least) for rows in shard.state.blocks())

    def reduce(self, answers: Sequence[bool]) -> bool:
        """Return whether all are."""
        return all(answers)


@dataclass(frozen=True)
class TakeWeights(Largest):
    """Scale the first weights by a power of two and multiply them by the user's; tell the largest.

    The user's are divided by `unit` and rounded, if given, and scaled by a power of two as well.
    """

    exponent: int
    unit: float | None
    unit_exponent: int

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        weights, given = shard.state.weights, shard.state.sample_weights
        np.ldexp(weights, self.exponent, out=weights)
        for rows in () if given is None else shard.state.blocks():
            own = given[rows] if self.unit is None else np.rint(given[rows] / self.unit)
            weights[rows] *= np.ldexp(own, self.unit_exponent)
        return float(np.max(weights, initial=0.0))


@dataclass(frozen=True)
class SettleWeights(Command):
    """Scale the weights by a power of two, or set them all to one number; note rows without any."""

    exponent: int
    constant: float | None

    def answer(self, shard: Shard) -> None:
        """Write them."""
        state = shard.state
        weights = state.weights
        if self.constant is not None:
            weights.fill(self.constant)
            return
        if not weights.all():  # held above TINY as well, but by no step brought back
            state.absent = weights == 0.0
        np.ldexp(weights, self.exponent, out=weights)
        np.maximum(weights, TINY, out=weights)


@dataclass(frozen=True)
class HandFactors(Ranges):
    """Set what multiplies every row's weight for the learner; tell the largest and smallest."""

    changes = True

    def answer(self, shard: Shard) -> Range:
        """Return both."""
        state = shard.state
        state.handed = state.evaluate("handed")
        return _range(state.handed)


@dataclass(frozen=True)
class ScaleHanded(Command):
    """Multiply these factors by a power of two."""

    exponent: int

    def answer(self, shard: Shard) -> None:
        """Multiply."""
        handed = shard.state.handed
        np.ldexp(handed, self.exponent, out=handed)


@dataclass(frozen=True)
class LargestHanded(Largest):
    """Tell the largest weight that the learner gets."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        state, largest = shard.state, 0.0
        for rows in state.blocks():
            largest = np.max(state.weights[rows] * state.handed[rows], initial=largest)
        return float(largest)


@dataclass(frozen=True)
class MultiplyCells(Largest):
    """Multiply weights by factors of their cells, (L, K), and by their own; tell the largest."""

    hypothesis: Hypothesis
    factors: Floats
    factored: bool
    round_factor: bool

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        state.tails = []
        if not (self.factored or self.round_factor):
            rows = (state.weights, shard.starts, shard.leaves)
            return float(kernels.multiply_by_leaf(*rows, self.factors))
        parts = (self._multiply(shard, *block) for block in self._blocks(shard))
        return float(max(parts, default=0.0))

    def _blocks(self, shard: Shard) -> Iterator[tuple[slice, Int64, Floats]]:
        """Yield rows, the columns of their factors for every leaf, and their factors."""
        state, one_column = shard.state, np.zeros_like(self.hypothesis.votes)
        if not self.factored:
            for rows in state.pieces(shard.starts):
                yield rows, one_column, np.ones((1, 1))
            return
        for rows, terms in state.term_blocks(shard.starts, margins=False):
            yield rows, terms.columns(self.hypothesis), terms.f

    def _multiply(self, shard: Shard, rows: slice, columns: Int64, own: Floats) -> float:
        if self.round_factor:
            own = own * shard.state.round_factor()[rows, None]
        part = weighed(shard, rows)
        return float(kernels.multiply_by_leaf_and_row(*part, columns, self.factors, own))


@dataclass(frozen=True)
class MultiplyRows(Largest):
    """Multiply weights by factor * exp(-alpha u) and a power of two; tell the largest."""

    view: View
    alpha: float
    halvings: int
    shrink: float
    round_factor: bool

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        state.tails = []
        how, largest = (self.halvings, self.shrink, np.empty(BLOCK)), 0.0
        for weights, starts, leaves, columns, sizes, u, f in self.view.blocks(shard):
            rows = (weights, starts, leaves, columns, -self.alpha * sizes, u, f)
            largest = max(largest, kernels.multiply_rows(*rows, *how))
        if self.round_factor:
            weights = state.weights
            weights *= state.round_factor()
            np.maximum(weights, TINY, out=weights)
            largest = np.max(weights, initial=0.0)
        return float(largest)


def _are_copies(shares: Floats) -> bool:
    copies = np.rint(shares)
    return bool(np.all(np.abs(shares - copies) <= 2.0**-50 * copies))


def _range(values: Floats) -> Range:
    return float(np.max(values, initial=0.0)), float(np.min(values, initial=np.inf))

"""Sums over rows: weights by leaf and class, and Z of steps that are not long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.hypothesis import Hypothesis, RowTerms
from costboost.boosting.adaboost.rows import AdaRows
from costboost.shards.messages import Largest, Message, Parts
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
KernelRows = tuple[Floats, Int64, NDArray[np.uint16], Int64, Floats, Floats, Floats]

BLOCK = 1024  # rows that the kernels take at a time
N_CELLS = 2048  # of an outline of Z


@dataclass(frozen=True)
class SumCells(Message):
    """Add up the weights by leaf and class, (L, K)."""

    n_leaves: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        out = np.zeros((2, self.n_leaves, shard.state.n_classes), dtype=np.int64)
        kernels.sum_by_leaf(shard.state.weights, shard.starts, shard.leaves, self.scale, out)
        return np.asarray(out[0] + out[1])


@dataclass(frozen=True)
class View:
    """How a sum sees rows: with the rule's exponents and factors, or without.

    With `code` a wrong vote counts -1 / (K - 1), as SAMME codes it.
    """

    hypothesis: Hypothesis
    exponent: bool = True
    factor: bool = True
    code: bool = False

    def terms(self, state: AdaRows, rows: slice, terms: RowTerms) -> RowTerms:
        """Return margins and factors by row and answer, of some rows and their terms."""
        labels = state.labels[rows]
        if self.code or not self.exponent:
            wrong = 1.0 / (state.n_classes - 1) if self.code else 1.0
            terms = terms.plain(labels, state.n_classes, wrong)
        terms = terms.spread(labels)
        if self.hypothesis.by_row:
            assert state.sizes is not None
            terms = terms.times(state.sizes[rows])
        return terms if self.factor else terms.unpriced()

    def blocks(self, shard: Shard) -> Iterator[KernelRows]:
        """Yield what all kernels take first, some rows at a time."""
        hypothesis, n_classes = self.hypothesis, shard.state.n_classes
        for rows, own in shard.state.term_blocks(shard.starts):
            terms = self.terms(shard.state, rows, own)
            answers = terms.columns(hypothesis), terms.sizes(hypothesis, n_classes)
            yield *weighed(shard, rows), *answers, terms.u, terms.f


def weighed(shard: Shard, rows: slice) -> tuple[Floats, Int64, NDArray[np.uint16]]:
    """Return the weights of some rows, where classes begin among them, and their leaves."""
    starts = np.clip(shard.starts - rows.start, 0, rows.stop - rows.start)
    return shard.state.weights[rows], starts, shard.leaves[rows]


@dataclass(frozen=True)
class SumPricedCells(Message):
    """Add up weight * factor by leaf and class, (L, K, 2): units and remainders."""

    hypothesis: Hypothesis
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        n_leaves = len(self.hypothesis.votes)
        out = np.zeros((n_leaves, shard.state.n_classes, 2), dtype=np.int64)
        for rows, terms in shard.state.term_blocks(shard.starts, margins=False):
            columns = terms.columns(self.hypothesis)
            kernels.sum_terms_by_leaf(*weighed(shard, rows), columns, terms.f, self.scale, out)
        return out


@dataclass(frozen=True)
class LargestPriced(Largest):
    """Tell the largest weight * factor."""

    hypothesis: Hypothesis

    def answer(self, shard: Shard) -> float:
        """Return it."""
        largest = 0.0
        for rows, terms in shard.state.term_blocks(shard.starts, margins=False):
            f = terms.factors(self.hypothesis, shard.leaves[rows])
            largest = np.max(shard.state.weights[rows] * f, initial=largest)
        return float(largest)


@dataclass(frozen=True)
class LargestSize(Largest):
    """Tell the strength of the strongest vote of an outside learner."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        return float(np.max(shard.state.sizes, initial=0.0))


@dataclass(frozen=True)
class OutlineSums(Parts):
    """Add up the moments of an outline of Z, (N_CELLS, 4), and weight * factor by cell, (L, K)."""

    view: View
    reach: float
    scale: float

    def answer(self, shard: Shard) -> tuple[Int64, Int64]:
        """Return both."""
        room = np.empty(BLOCK), np.empty(BLOCK, dtype=np.int32)
        moments = np.zeros((N_CELLS, 4), dtype=np.int64)
        n_leaves = len(self.view.hypothesis.votes)
        sums = np.zeros((n_leaves, shard.state.n_classes), dtype=np.int64)
        for rows in self.view.blocks(shard):
            kernels.outline_rows(*rows, self.reach, self.scale, *room, moments, sums)
        return moments, sums


@dataclass(frozen=True)
class BalanceSums(Message):
    """Add up q (1 + u) and q (1 - u), (2, 2)."""

    view: View
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        out = np.zeros((2, 2), dtype=np.int64)
        for rows in self.view.blocks(shard):
            kernels.balance_rows(*rows, self.scale, out)
        return out


@dataclass(frozen=True)
class ZSums(Message):
    """Add up q exp(-alpha u), times 1, u and u^2, (3, 2)."""

    view: View
    alpha: float
    halvings: int
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sums."""
        block, out = np.empty(BLOCK), np.zeros((3, 2), dtype=np.int64)
        step = (self.alpha, self.halvings, self.scale)
        for rows in self.view.blocks(shard):
            kernels.normalizer_rows(*rows, *step, block, out)
        return out

"""Votes: margins move, and decisions are counted or paid for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _vote_kernels
from costboost.boosting.adaboost.hypothesis import Hypothesis
from costboost.boosting.adaboost.messages.summing import BLOCK
from costboost.boosting.paying import NONE
from costboost.shards.messages import Message
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Vote(Message):
    """Add a round's votes to the margins of two classes, and decide.

    The answer is a confusion matrix, (2, 2), or, where decisions have the prices of their rows, by
    how much the exact price changes, (1, 2).

    Attributes
    ----------
    hypothesis : Hypothesis
    values : float64 array of shape (L,)
    limits : float64 array of shape (1,)
        The second class is answered above this share of `total`, unless rows have their own.
    before, total : float
        The sums of alphas before and after the round.
    scale : float
        Of the grid.
    priced : bool
    """

    hypothesis: Hypothesis
    values: Floats
    limits: Floats
    before: float
    total: float
    scale: float
    priced: bool

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Vote; return the matrix, or the change of the price."""
        state, bill = shard.state, shard.state.bill
        weights = NONE if state.sample_weights is None else state.sample_weights
        # A part without rows has no limit either, and the kernel reads one.
        limits = self.limits if bill.limits is None or not len(bill.limits) else bill.limits
        strengths = state.sizes if self.hypothesis.by_row else NONE
        if self.priced:
            return self._pay(shard, strengths, limits, weights)
        confusion = np.zeros((2, 2), dtype=np.int64)
        rows = (state.margins, shard.starts, shard.leaves)
        votes, counted = (self.values, strengths, limits), (weights, self.scale, confusion)
        _vote_kernels.vote_binary(*rows, *votes, self.total, *counted)
        return confusion

    def _pay(self, shard: Shard, strengths: Floats, limits: Floats, weights: Floats) -> Int64:
        """Vote, some rows at a time, whose prices are found on the way."""
        state, bill = shard.state, shard.state.bill
        out, turned = np.zeros((1, 2), dtype=np.int64), np.empty(BLOCK + 1, dtype=np.uint16)
        own = (strengths, limits, weights)
        for rows in state.pieces(shard.starts):
            extra = np.empty(rows.stop - rows.start)
            np.divide(state.extra(rows), bill.unit, out=extra)
            size, bar, weight = (part[rows] if len(part) > 1 else part for part in own)
            voted = (state.margins[rows], shard.leaves[rows], self.values, size, bar)
            totals, paid = (self.before, self.total), (weight, extra, self.scale, turned, out)
            _vote_kernels.vote_at_prices(*voted, *totals, *paid)
        return out


@dataclass(frozen=True)
class VoteClasses(Message):
    """Add a round's votes to the margins of K classes, and decide; return a confusion matrix.

    Attributes
    ----------
    votes : int64 array of shape (L,)
    values : float64 array of shape (L,)
    prices : float64 array of shape (K, A), or without entries
        What each action costs per vote; without, the largest margin decides.
    scale : float
    kept : bool
        Whether decisions are kept, to be priced.
    """

    votes: Int64
    values: Floats
    prices: Floats
    scale: float
    kept: bool

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Vote; return the matrix."""
        state = shard.state
        n_classes = state.n_classes
        decisions = state.bill.room() if self.kept else np.zeros(0, np.uint8)
        confusion = np.zeros((n_classes, max(n_classes, self.prices.shape[1])), np.int64)
        weights = NONE if state.sample_weights is None else state.sample_weights
        votes = (self.votes, self.values, self.prices, weights, self.scale)
        rows = (state.margins, shard.starts, shard.leaves)
        _vote_kernels.vote_classes(*rows, *votes, decisions, confusion)
        return confusion

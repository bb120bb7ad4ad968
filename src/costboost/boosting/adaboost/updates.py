"""Messages that evaluate the rule at rows, set and update weights, and move margins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from costboost.boosting import _vote_kernels
from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.evaluation import BoundRule
from costboost.boosting.adaboost.hypothesis import EvenMargins, Hypothesis, RowTerms
from costboost.boosting.adaboost.rows import TINY
from costboost.boosting.adaboost.sums import BLOCK, View, weighed
from costboost.boosting.train_cost import NONE
from costboost.shards.grid import exact_sum
from costboost.shards.local import Command, MaxMessage, Message, TupleSumMessage
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

Range = tuple[float, float]


class Ranges(Message):
    """A message that returns (largest, smallest) over all rows."""

    def reduce(self, answers: Sequence[Any]) -> Range:
        """Return (largest, smallest) of all shards."""
        return max(top for top, _ in answers), min(low for _, low in answers)


@dataclass(frozen=True)
class PriceRange(Ranges):
    """The largest and the smallest positive cost of a mistake, in the user's units."""

    def answer(self, shard: Shard) -> Range:
        """Return both."""
        found = [shard.state.prices(rows) for rows in shard.state.blocks()]
        largest = max((part.largest for part in found), default=0.0)
        return largest, min((part.smallest for part in found), default=math.inf)


@dataclass(frozen=True)
class PricesBySign(TupleSumMessage):
    """Add up the weights of the negatives and of the positives, and weight * price of both."""

    scale: float

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return the exact sums."""
        state, sums = shard.state, [0, 0, 0, 0]
        for rows in state.blocks():
            prices, positive = (
                state.prices(rows).scaled(self.scale).row_price,
                state.labels[rows] == 1,
            )
            for i, chosen in enumerate((~positive, positive)):
                weights = state.weights_of(rows)[chosen]
                sums[2 * i] += exact_sum(weights)
                sums[2 * i + 1] += exact_sum(weights * prices[chosen])
        return tuple(sums)


@dataclass(frozen=True)
class BindRule(Command):
    """Bind the rows to a rule at costs multiplied by these factors, one after the other."""

    bound: BoundRule
    scales: tuple[float, ...]

    def answer(self, shard: Shard) -> None:
        """Bind."""
        shard.state.bind(self.bound, *self.scales)


@dataclass(frozen=True)
class RowFacts:
    """Summary of the rule's margins and factors over all rows.

    Attributes
    ----------
    farthest : float
        The largest margin of a vote of strength 1.
    largest_factor : float
    has_factors : bool
        Whether rows have factors other than 1.
    margins : float64 array of shape (K, K)
        The margin of a class's rows for every answer, NaN where no row is known.
    margins_by_class : bool
        Whether all rows of a class have these.
    """

    farthest: float
    largest_factor: float
    has_factors: bool
    margins: Floats
    margins_by_class: bool

    def and_(self, other: RowFacts) -> RowFacts:
        """Return the summary of both sets of rows."""
        # NaN: no row of that class yet, which agrees with anything.
        known = np.where(np.isnan(self.margins), other.margins, self.margins)
        agree = np.isnan(other.margins) | (known == other.margins)
        return RowFacts(
            max(self.farthest, other.farthest),
            max(self.largest_factor, other.largest_factor),
            self.has_factors or other.has_factors,
            known,
            self.margins_by_class and other.margins_by_class and bool(np.all(agree)),
        )


@dataclass(frozen=True)
class EvaluateTerms(Message):
    """Evaluate the rule's margins and factors by row; returns their summary."""

    def answer(self, shard: Shard) -> RowFacts:
        """Return the facts."""
        state, n_classes = shard.state, shard.state.n_classes
        facts = RowFacts(0.0, 0.0, False, np.full((n_classes, n_classes), np.nan), True)
        for rows, terms in state.term_blocks(shard.starts):
            if not state.keeps_terms:
                even = EvenMargins(state.labels[rows], terms.u.shape, n_classes)
                even.add(slice(0, len(terms.u)), terms.u)
                terms = even.terms(terms.f)
            facts = facts.and_(_facts_of(terms, n_classes))
        return facts

    def reduce(self, answers: Sequence[RowFacts]) -> RowFacts:
        """Merge the summaries."""
        facts = answers[0]
        for other in answers[1:]:
            facts = facts.and_(other)
        return facts


def _facts_of(terms: RowTerms, n_classes: int) -> RowFacts:
    known, margins = np.full((n_classes, n_classes), np.nan), terms.u
    if terms.table is not None:
        own = np.eye(n_classes, dtype=bool)
        known = terms.table if terms.signed else np.where(own, terms.table, -terms.table)
        margins = np.nan_to_num(terms.table)
    # By extremes alone: nothing as large as the rows is made beside them.
    largest, smallest = np.max(terms.f, initial=0.0), np.min(terms.f, initial=1.0)
    return RowFacts(
        float(max(np.max(margins, initial=0.0), -np.min(margins, initial=0.0))),
        float(largest),
        terms.factored and len(terms.f) > 0 and not largest == smallest == 1.0,
        known,
        terms.table is not None,
    )


@dataclass(frozen=True)
class RateSums(TupleSumMessage):
    """Add up the weights of every class, and weight * rate of the rule's loss."""

    def answer(self, shard: Shard) -> tuple[int, ...]:
        """Return the exact sums, the weights of all classes first."""
        state, n_classes = shard.state, shard.state.n_classes
        sums = [0] * (2 * n_classes)
        for rows in state.blocks():
            weights = state.weights_of(rows)
            rated = weights * state.bound.rule.rate(state.at(rows))
            for k in range(n_classes):
                own = state.labels[rows] == k
                sums[k] += exact_sum(weights[own])
                sums[n_classes + k] += exact_sum(rated[own])
        return tuple(sums)


@dataclass(frozen=True)
class BoundSums(TupleSumMessage):
    """Add up what mistakes cost, and what the answers aimed at cost, in the user's units."""

    def answer(self, shard: Shard) -> tuple[int, int]:
        """Return the exact sums."""
        state, price, unavoidable = shard.state, 0, 0
        for rows in state.blocks():
            weights, labels = state.weights_of(rows), state.labels[rows]
            paid = state.pricing.paid(rows)[np.arange(len(labels)), labels]
            price += exact_sum(weights * state.prices(rows).row_price)
            unavoidable += exact_sum(weights * paid)
        return price, unavoidable


# The weights of rows: before the first round, for the learner, and after a step.


@dataclass(frozen=True)
class FirstWeights(MaxMessage):
    """Set the rule's first weights; returns the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        # The factors before round 1 belong to its weights, as those of later rounds do.
        state.weights = state.evaluate("first")
        if state.bound.rule.round_factor is not None:
            for rows in state.blocks():
                state.weights[rows] *= state.bound.factor("round_factor", state.at(rows))
        return float(np.max(state.weights, initial=0.0))


@dataclass(frozen=True)
class SampleRange(Ranges):
    """The largest and the smallest weight that the user gave."""

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
class TakeWeights(MaxMessage):
    """Scale first weights by a power of two and multiply them by the user's; returns the largest.

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
            # Copies of rows count as whole numbers: 3 rows and one row of weight 3 are then the
            # same.
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
        # Zero weights are raised to TINY with the others, so that kernels need no special case;
        # `absent` remembers them.
        if not weights.all():  # held above TINY as well, but by no step brought back
            state.absent = weights == 0.0
        np.ldexp(weights, self.exponent, out=weights)
        np.maximum(weights, TINY, out=weights)


@dataclass(frozen=True)
class SetLearnerFactors(Ranges):
    """Set `learner_factors` of every row; returns their largest and smallest."""

    changes = True

    def answer(self, shard: Shard) -> Range:
        """Return both."""
        state = shard.state
        state.learner_factors = state.evaluate("learner_factor")
        return _range(state.learner_factors)


@dataclass(frozen=True)
class ScaleLearnerFactors(Command):
    """Multiply `learner_factors` by a power of two."""

    exponent: int

    def answer(self, shard: Shard) -> None:
        """Multiply."""
        learner_factors = shard.state.learner_factors
        np.ldexp(learner_factors, self.exponent, out=learner_factors)


@dataclass(frozen=True)
class LargestLearnerWeight(MaxMessage):
    """The largest weight * learner factor of a row."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        state, largest = shard.state, 0.0
        for rows in state.blocks():
            largest = np.max(state.weights[rows] * state.learner_factors[rows], initial=largest)
        return float(largest)


@dataclass(frozen=True)
class LargestOfClasses(MaxMessage):
    """The largest weight of every class, (K,)."""

    def answer(self, shard: Shard) -> Floats:
        """Return them."""
        return _by_class(shard, shard.state.weights, 0.0)


@dataclass(frozen=True)
class LargestLogs(MaxMessage):
    """The logarithm of the largest weight of every class, (K,)."""

    def answer(self, shard: Shard) -> Floats:
        """Return them."""
        return _by_class(shard, shard.state.log_weights(), -np.inf)


@dataclass(frozen=True)
class SetLearnerFactorsByClass(Command):
    """Set `learner_factors` to make weights relative to their class's largest, given in logs."""

    largest: Floats

    def answer(self, shard: Shard) -> None:
        """Write the factors."""
        state = shard.state
        state.learner_factors = (
            np.exp(state.log_weights() - self.largest[state.labels]) / state.weights
        )


@dataclass(frozen=True)
class MultiplyCells(MaxMessage):
    """Multiply weights by factors of their cells, (L, K), and by their own; returns the largest."""

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
class MultiplyRows(MaxMessage):
    """Multiply weights by factor * exp(-alpha u) and a power of two; returns the largest."""

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


def _by_class(shard: Shard, values: Floats, initial: float) -> Floats:
    """Return the largest value of the rows of every class, (K,)."""
    ends = pairwise(shard.starts.tolist())
    return np.array([np.max(values[slice(*rows)], initial=initial) for rows in ends])


def _range(values: Floats) -> Range:
    return float(np.max(values, initial=0.0)), float(np.min(values, initial=np.inf))


# Votes: margins are updated, and decisions counted or priced.


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
        state, pricing = shard.state, shard.state.pricing
        weights = NONE if state.sample_weights is None else state.sample_weights
        # A part without rows has no limit either, and the kernel reads one.
        limits = (
            self.limits if pricing.limits is None or not len(pricing.limits) else pricing.limits
        )
        strengths = state.sizes if self.hypothesis.by_row else NONE
        if self.priced:
            return self._pay(shard, strengths, limits, weights)
        confusion = np.zeros((2, 2), dtype=np.int64)
        rows = (state.margins, shard.starts, shard.leaves)
        votes, counted = (self.values, strengths, limits), (weights, self.scale, confusion)
        _vote_kernels.vote_binary(*rows, *votes, self.total, *counted)
        return confusion

    def _pay(self, shard: Shard, strengths: Floats, limits: Floats, weights: Floats) -> Int64:
        """Vote block by block, reading each block's costs on the way."""
        state, pricing = shard.state, shard.state.pricing
        out, turned = np.zeros((1, 2), dtype=np.int64), np.empty(BLOCK + 1, dtype=np.uint16)
        own = (strengths, limits, weights)
        for rows in state.pieces(shard.starts):
            extra = np.empty(rows.stop - rows.start)
            np.divide(state.extra(rows), pricing.unit, out=extra)
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
        decisions = state.pricing.last_decisions() if self.kept else np.zeros(0, np.uint8)
        confusion = np.zeros((n_classes, max(n_classes, self.prices.shape[1])), np.int64)
        weights = NONE if state.sample_weights is None else state.sample_weights
        votes = (self.votes, self.values, self.prices, weights, self.scale)
        rows = (state.margins, shard.starts, shard.leaves)
        _vote_kernels.vote_classes(*rows, *votes, decisions, confusion)
        return confusion

"""Messages that evaluate the rule at rows, set and update weights, and move margins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce as fold
from itertools import pairwise

import numpy as np

from costboost.boosting import _vote_kernels
from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TINY, EvenMargins, RowTerms
from costboost.boosting.adaboost.rules import BoundRule
from costboost.boosting.adaboost.sums import BLOCK, View, weighed
from costboost.boosting.train_cost import NONE
from costboost.runtime.messages import Range, largest, message, ranges, total, totals
from costboost.shards.grid import exact_sum
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64


@message(reduce=ranges)
def price_range(shard: Shard) -> Range:
    """Return the largest and the smallest positive cost of a mistake, in the user's units."""
    found = [shard.state.prices(rows) for rows in shard.state.blocks()]
    largest = max((part.largest for part in found), default=0.0)
    return largest, min((part.smallest for part in found), default=math.inf)


@message(reduce=totals)
def sum_prices_by_sign(shard: Shard, *, scale: float) -> tuple[int, ...]:
    """Add up the weights of the negatives and of the positives, and weight * price of both."""
    state, sums = shard.state, [0, 0, 0, 0]
    for rows in state.blocks():
        prices, positive = state.prices(rows).scaled(scale).row_price, state.labels[rows] == 1
        # Doubles as whole numbers: the mean costs do not depend on how rows lie in shards.
        for i, chosen in enumerate((~positive, positive)):
            weights = state.weights_of(rows)[chosen]
            sums[2 * i] += exact_sum(weights)
            sums[2 * i + 1] += exact_sum(weights * prices[chosen])
    return tuple(sums)


@message(reduce=None, changes=True)
def bind_rule(shard: Shard, *, bound: BoundRule, scales: tuple[float, ...]) -> None:
    """Bind the rows to a rule at costs multiplied by these factors, one after the other."""
    shard.state.bind(bound, *scales)


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


def _merge_facts(answers: Sequence[RowFacts]) -> RowFacts:
    return fold(RowFacts.and_, answers)


@message(reduce=_merge_facts)
def evaluate_terms(shard: Shard) -> RowFacts:
    """Evaluate the rule's margins and factors by row; return their summary."""
    state, n_classes = shard.state, shard.state.n_classes
    facts = RowFacts(0.0, 0.0, False, np.full((n_classes, n_classes), np.nan), True)
    for rows, terms in state.term_blocks(shard.starts):
        if not state.keeps_terms:
            even = EvenMargins(state.labels[rows], terms.u.shape, n_classes)
            even.add(slice(0, len(terms.u)), terms.u)
            terms = even.terms(terms.f)
        facts = facts.and_(_facts_of(terms, n_classes))
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


@message(reduce=totals)
def sum_rates(shard: Shard) -> tuple[int, ...]:
    """Add up the weights of every class, and weight * rate of the rule's loss."""
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


@message(reduce=totals)
def sum_bound(shard: Shard) -> tuple[int, int]:
    """Add up what mistakes cost, and what the answers aimed at cost, in the user's units."""
    state, price, unavoidable = shard.state, 0, 0
    for rows in state.blocks():
        weights, labels = state.weights_of(rows), state.labels[rows]
        paid = state.pricing.paid(rows)[np.arange(len(labels)), labels]
        price += exact_sum(weights * state.prices(rows).row_price)
        unavoidable += exact_sum(weights * paid)
    return price, unavoidable


# The weights of rows: before the first round, for the learner, and after a step.


@message(reduce=largest, changes=True)
def set_first_weights(shard: Shard) -> float:
    """Set the rule's first weights; return the largest."""
    state = shard.state
    # The factors before round 1 belong to its weights, as those of later rounds do.
    state.weights = state.evaluate("first")
    if state.bound.rule.round_factor is not None:
        for rows in state.blocks():
            state.weights[rows] *= state.bound.factor("round_factor", state.at(rows))
    return float(np.max(state.weights, initial=0.0))


@message(reduce=ranges)
def sample_weight_range(shard: Shard) -> Range:
    """Return the largest and the smallest weight that the user gave."""
    return _range(shard.state.sample_weights)


@message(reduce=all)
def are_copies(shard: Shard, *, least: float) -> bool:
    """Return whether all weights that the user gave are so many copies of the least."""
    given = shard.state.sample_weights
    return all(_are_copies(given[rows] / least) for rows in shard.state.blocks())


@message(reduce=largest, changes=True)
def multiply_sample_weights(
    shard: Shard, *, exponent: int, unit: float | None, unit_exponent: int
) -> float:
    """Scale first weights by a power of two and multiply them by the user's; return the largest.

    The user's are divided by `unit` and rounded, if given, and scaled by a power of two as well.
    """
    weights, given = shard.state.weights, shard.state.sample_weights
    np.ldexp(weights, exponent, out=weights)
    for rows in () if given is None else shard.state.blocks():
        # Copies of rows count as whole numbers: 3 rows and one row of weight 3 are then the same.
        own = given[rows] if unit is None else np.rint(given[rows] / unit)
        weights[rows] *= np.ldexp(own, unit_exponent)
    return float(np.max(weights, initial=0.0))


@message(reduce=None, changes=True)
def settle_weights(shard: Shard, *, exponent: int, constant: float | None) -> None:
    """Scale the weights by a power of two, or set them all to one number; note rows without any."""
    state = shard.state
    weights = state.weights
    if constant is not None:
        weights.fill(constant)
        return
    # Zero weights are raised to TINY with the others, so that kernels need no special case;
    # `absent` remembers them.
    if not weights.all():  # held above TINY as well, but by no step brought back
        state.absent = weights == 0.0
    np.ldexp(weights, exponent, out=weights)
    np.maximum(weights, TINY, out=weights)


@message(reduce=ranges, changes=True)
def set_learner_factors(shard: Shard) -> Range:
    """Set `learner_factors` of every row; return their largest and smallest."""
    state = shard.state
    state.learner_factors = state.evaluate("learner_factor")
    return _range(state.learner_factors)


@message(reduce=None, changes=True)
def scale_learner_factors(shard: Shard, *, exponent: int) -> None:
    """Multiply `learner_factors` by a power of two."""
    learner_factors = shard.state.learner_factors
    np.ldexp(learner_factors, exponent, out=learner_factors)


@message(reduce=largest)
def largest_learner_weight(shard: Shard) -> float:
    """Return the largest weight * learner factor of a row."""
    state, largest = shard.state, 0.0
    # In blocks, as everywhere: products of all rows are never held at once.
    for rows in state.blocks():
        largest = np.max(state.weights[rows] * state.learner_factors[rows], initial=largest)
    return float(largest)


@message(reduce=largest)
def largest_weights_by_class(shard: Shard) -> Floats:
    """Return the largest weight of every class, (K,)."""
    return _by_class(shard, shard.state.weights, 0.0)


@message(reduce=largest)
def largest_logs_by_class(shard: Shard) -> Floats:
    """Return the logarithm of the largest weight of every class, (K,)."""
    return _by_class(shard, shard.state.log_weights(), -np.inf)


@message(reduce=None, changes=True)
def set_learner_factors_by_class(shard: Shard, *, largest: Floats) -> None:
    """Set `learner_factors` to make weights relative to their class's largest, given in logs."""
    state = shard.state
    # Weights are held above TINY, so that this is a number for every row.
    state.learner_factors = np.exp(state.log_weights() - largest[state.labels]) / state.weights


@message(reduce=largest, changes=True)
def multiply_cells(
    shard: Shard, *, hypothesis: Hypothesis, factors: Floats, factored: bool, round_factor: bool
) -> float:
    """Multiply weights by factors of their cells, (L, K), and by their own; return the largest."""
    state = shard.state
    state.tails = []
    if not (factored or round_factor):
        rows = (state.weights, shard.starts, shard.leaves)
        return float(kernels.multiply_by_leaf(*rows, factors))
    largest = 0.0
    for block, columns, own in _own_factors(shard, hypothesis, factored=factored):
        if round_factor:
            own = own * state.round_factor()[block, None]
        part = weighed(shard, block)
        found = kernels.multiply_by_leaf_and_row(*part, columns, factors, own)
        largest = max(largest, float(found))
    return largest


def _own_factors(
    shard: Shard, hypothesis: Hypothesis, *, factored: bool
) -> Iterator[tuple[slice, Int64, Floats]]:
    """Yield rows, the column of each leaf's factor, and the factors; a single 1 if unfactored."""
    if factored:
        for rows, terms in shard.state.term_blocks(shard.starts, margins=False):
            yield rows, terms.columns(hypothesis), terms.f
        return
    one_column = np.zeros_like(hypothesis.votes)
    for rows in shard.state.pieces(shard.starts):
        yield rows, one_column, np.ones((1, 1))


@message(reduce=largest, changes=True)
def multiply_rows(
    shard: Shard, *, view: View, alpha: float, halvings: int, shrink: float, round_factor: bool
) -> float:
    """Multiply weights by factor * exp(-alpha u) and a power of two; return the largest."""
    state = shard.state
    state.tails = []
    how, largest = (halvings, shrink, np.empty(BLOCK)), 0.0
    for weights, starts, leaves, columns, sizes, u, f in view.blocks(shard):
        rows = (weights, starts, leaves, columns, -alpha * sizes, u, f)
        largest = max(largest, kernels.multiply_rows(*rows, *how))
    # The factors before the next round follow the step, outside the kernel that holds weights above
    # TINY.
    if round_factor:
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


@message(reduce=total, changes=True)
def vote(
    shard: Shard,
    *,
    hypothesis: Hypothesis,
    values: Floats,
    limits: Floats,
    before: float,
    total: float,
    scale: float,
    priced: bool,
) -> Int64:
    """Add a round's votes to the margins of two classes, and decide.

    The answer is a confusion matrix, (2, 2), or, where decisions have the prices of their rows, by
    how much the exact price changes, (1, 2).

    Parameters
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
    state, pricing = shard.state, shard.state.pricing
    weights = NONE if state.sample_weights is None else state.sample_weights
    # A part without rows has no limit either, and the kernel reads one.
    if pricing.limits is not None and len(pricing.limits):
        limits = pricing.limits
    strengths = state.sizes if hypothesis.by_row else NONE
    if not priced:
        confusion = np.zeros((2, 2), dtype=np.int64)
        rows = (state.margins, shard.starts, shard.leaves)
        votes, counted = (values, strengths, limits), (weights, scale, confusion)
        _vote_kernels.vote_binary(*rows, *votes, total, *counted)
        return confusion
    # Block by block, so that the extra costs of all rows are never held at once.
    out, turned = np.zeros((1, 2), dtype=np.int64), np.empty(BLOCK + 1, dtype=np.uint16)
    own = (strengths, limits, weights)
    for rows in state.pieces(shard.starts):
        extra = np.empty(rows.stop - rows.start)
        np.divide(state.extra(rows), pricing.unit, out=extra)
        size, bar, weight = (part[rows] if len(part) > 1 else part for part in own)
        voted = (state.margins[rows], shard.leaves[rows], values, size, bar)
        totals, paid = (before, total), (weight, extra, scale, turned, out)
        _vote_kernels.vote_at_prices(*voted, *totals, *paid)
    return out


@message(reduce=total, changes=True)
def vote_classes(
    shard: Shard, *, votes: Int64, values: Floats, prices: Floats, scale: float, kept: bool
) -> Int64:
    """Add a round's votes to the margins of K classes, and decide; return a confusion matrix.

    Parameters
    ----------
    votes : int64 array of shape (L,)
    values : float64 array of shape (L,)
    prices : float64 array of shape (K, A), or without entries
        What each action costs per vote; without, the largest margin decides.
    scale : float
    kept : bool
        Whether decisions are kept, to be priced.
    """
    state = shard.state
    n_classes = state.n_classes
    decisions = state.pricing.last_decisions() if kept else np.zeros(0, np.uint8)
    confusion = np.zeros((n_classes, max(n_classes, prices.shape[1])), np.int64)
    weights = NONE if state.sample_weights is None else state.sample_weights
    rows = (state.margins, shard.starts, shard.leaves)
    how = (votes, values, prices, weights, scale)
    _vote_kernels.vote_classes(*rows, *how, decisions, confusion)
    return confusion

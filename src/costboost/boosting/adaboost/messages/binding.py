"""The rule at the prices of rows: what is known of its terms, and sums of prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.evaluation import BoundRule
from costboost.boosting.adaboost.hypothesis import EvenMargins, RowTerms
from costboost.shards.grid import exact_sum
from costboost.shards.messages import Command, Message, Parts
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Range = tuple[float, float]


class Ranges(Message):
    """A question for the largest and the smallest of something."""

    def reduce(self, answers: Sequence[Any]) -> Range:
        """Return the largest and the smallest."""
        return max(top for top, _ in answers), min(low for _, low in answers)


@dataclass(frozen=True)
class PriceRange(Ranges):
    """Tell the largest and the smallest positive cost of a mistake, in the user's units."""

    def answer(self, shard: Shard) -> Range:
        """Return both."""
        found = [shard.state.prices(rows) for rows in shard.state.blocks()]
        largest = max((part.largest for part in found), default=0.0)
        return largest, min((part.smallest for part in found), default=math.inf)


@dataclass(frozen=True)
class PricesBySign(Parts):
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
    """Evaluate a rule at prices multiplied by these factors, one after the other, from now on."""

    bound: BoundRule
    scales: tuple[float, ...]

    def answer(self, shard: Shard) -> None:
        """Bind."""
        shard.state.bind(self.bound, *self.scales)


@dataclass(frozen=True)
class RowFacts:
    """What is known of the rule's terms at all rows.

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
        """Return what is known of both sets of rows."""
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
    """Evaluate the rule's margins and factors by row; tell what is known of them."""

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
        """Put the facts together."""
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
class RateSums(Parts):
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
class BoundSums(Parts):
    """Add up what mistakes cost, and what the answers aimed at cost, in the user's units."""

    def answer(self, shard: Shard) -> tuple[int, int]:
        """Return the exact sums."""
        state, price, unavoidable = shard.state, 0, 0
        for rows in state.blocks():
            weights, labels = state.weights_of(rows), state.labels[rows]
            paid = state.bill.paid(rows)[np.arange(len(labels)), labels]
            price += exact_sum(weights * state.prices(rows).row_price)
            unavoidable += exact_sum(weights * paid)
        return price, unavoidable

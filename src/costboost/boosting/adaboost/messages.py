"""What the AdaBoost family asks of those who hold rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting import _vote_kernels
from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.evaluation import BoundRule
from costboost.boosting.adaboost.hypothesis import EvenMargins, Hypothesis, RowTerms
from costboost.boosting.adaboost.rows import TINY, AdaRows, Part, margins_of
from costboost.boosting.paying import NONE
from costboost.shards.grid import exact_sum
from costboost.shards.messages import Command, Largest, Message, Parts
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Range = tuple[float, float]
KernelRows = tuple[Floats, Int64, NDArray[np.uint16], Int64, Floats, Floats, Floats]

BLOCK = 1024  # rows that the kernels take at a time
N_CELLS = 2048  # of an outline of Z


class Ranges(Message):
    """A question for the largest and the smallest of something."""

    def reduce(self, answers: Sequence[Any]) -> Range:
        """Return the largest and the smallest."""
        return max(top for top, _ in answers), min(low for _, low in answers)


def _range(values: Floats) -> Range:
    return float(np.max(values, initial=0.0)), float(np.min(values, initial=math.inf))


# --- the rule at the prices of rows


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
class Bind(Command):
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
    known = np.full((n_classes, n_classes), np.nan)
    margins = terms.u if terms.table is None else terms.table
    if terms.table is not None:
        own = np.eye(n_classes, dtype=bool)
        known = margins if terms.signed else np.where(own, margins, -margins)
    return RowFacts(
        float(np.max(np.nan_to_num(np.abs(margins)), initial=0.0)),
        float(np.max(terms.f, initial=0.0)),
        terms.factored and bool(np.any(terms.f != 1.0)),
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


# --- first weights


@dataclass(frozen=True)
class FirstWeights(Largest):
    """Set the rule's weights before the first round; tell the largest."""

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest."""
        state = shard.state
        state.weights = state.evaluate("first")
        if state.bound.rule.round_factor is not None:
            state.weights *= state.evaluate("round_factor")
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
        shares = shard.state.sample_weights / self.least
        copies = np.rint(shares)
        return bool(np.all(np.abs(shares - copies) <= 2.0**-50 * copies))

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
        state = shard.state
        weights = np.ldexp(state.weights, self.exponent)
        given = state.sample_weights
        if given is not None:
            given = given if self.unit is None else np.rint(given / self.unit)
            weights = weights * np.ldexp(given, self.unit_exponent)
        state.weights = weights
        return float(np.max(weights, initial=0.0))


@dataclass(frozen=True)
class SettleWeights(Command):
    """Scale the weights by a power of two, or set them all to one number; note rows without any."""

    exponent: int
    constant: float | None

    def answer(self, shard: Shard) -> None:
        """Write them."""
        state = shard.state
        if self.constant is not None:
            state.weights = np.full(len(state.labels), self.constant)
            return
        if not state.weights.all():  # held above TINY as well, but by no step brought back
            state.absent = state.weights == 0.0
        state.weights = np.maximum(np.ldexp(state.weights, self.exponent), TINY)


# --- what the learner gets


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
        shard.state.handed = np.ldexp(shard.state.handed, self.exponent)


@dataclass(frozen=True)
class LargestHanded(Largest):
    """Tell the largest weight that the learner gets."""

    def answer(self, shard: Shard) -> float:
        """Return it."""
        return float(np.max(shard.state.weights * shard.state.handed, initial=0.0))


# --- sums over rows


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
            yield *_weighed(shard, rows), *answers, terms.u, terms.f


def _weighed(shard: Shard, rows: slice) -> tuple[Floats, Int64, NDArray[np.uint16]]:
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
            kernels.sum_terms_by_leaf(*_weighed(shard, rows), columns, terms.f, self.scale, out)
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


# --- long steps, by logarithms

Side = Literal[0, 1, 2]  # all rows, those whose weight falls with a step, those whose rises


@dataclass(frozen=True)
class RowLogs:
    """How ln(weight * factor) and the effective margin of a row are found.

    Attributes
    ----------
    view : View
    cells : float64 array of shape (L, K) or None
        Margins by leaf and class, where rows of a cell are alike.
    factors : float64 array of shape (L, K) or None
        Factors, likewise; None: the rows' own, if the view has any.
    """

    view: View
    cells: Floats | None = None
    factors: Floats | None = None

    def part(self, shard: Shard) -> Part:
        """Return both, (m,) each."""
        state, leaves, view = shard.state, shard.leaves, self.view
        logs = state.log_weights()
        if self.factors is not None:
            logs += _logs(self.factors)[leaves, state.labels]
        if self.cells is not None:
            u = self.cells[leaves, state.labels]
            u = u * state.sizes if view.hypothesis.by_row else u
            if self.factors is not None or not view.factor:
                return logs, u
        own = self.cells is None
        u = np.empty(len(leaves)) if own else u
        for rows, terms in state.term_blocks(shard.starts):
            terms, at = view.terms(state, rows, terms), leaves[rows]
            if self.factors is None and terms.factored:
                logs[rows] += _logs(terms.factors(view.hypothesis, at))
            if own:
                labels = state.labels[rows]
                u[rows] = margins_of(terms, view.hypothesis, at, labels, state.n_classes)
        return logs, u


@dataclass(frozen=True)
class MakeTails(Parts):
    """Keep logs and margins of all rows, of those that gain and of those that lose; count them."""

    how: RowLogs

    changes = True

    def answer(self, shard: Shard) -> tuple[int, int, int]:
        """Return the numbers of rows."""
        logs, u = self.how.part(shard)
        tails = [(logs, u), _sized(logs, u, u > 0.0), _sized(logs, u, u < 0.0)]
        shard.state.tails = tails
        return len(tails[0][0]), len(tails[1][0]), len(tails[2][0])


@dataclass(frozen=True)
class LargestLog(Largest):
    """Tell the largest of logs - alpha u."""

    side: Side
    alpha: float

    def answer(self, shard: Shard) -> float:
        """Return it."""
        part: Part = shard.state.tails[self.side]
        return float(kernels.largest_log(*part, self.alpha))


@dataclass(frozen=True)
class SumLogs(Message):
    """Add up exp(logs - alpha u - top), (1, 2)."""

    side: Side
    alpha: float
    top: float
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sum."""
        out = np.zeros((1, 2), dtype=np.int64)
        part: Part = shard.state.tails[self.side]
        kernels.sum_of_logs(*part, self.alpha, self.top, self.scale, out)
        return out


@dataclass(frozen=True)
class StepLogs(Largest):
    """Take a step by logarithms, which are kept from now on; tell the largest.

    `round_factor` has logarithms of the rule's factors before a round, by class; None: the rows'
    own if `own_round_factor`, else none.
    """

    how: RowLogs
    alpha: float
    round_factor: Floats | None
    own_round_factor: bool

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest logarithm."""
        logs, u = self.how.part(shard)
        logs -= self.alpha * u
        if self.own_round_factor:
            logs += _logs(shard.state.round_factor())
        elif self.round_factor is not None:
            logs += self.round_factor[shard.state.labels]
        shard.state.logs = logs
        return float(np.max(logs, initial=-np.inf))


@dataclass(frozen=True)
class SettleLogs(Command):
    """Make weights of the logarithms, the largest 1."""

    top: float

    def answer(self, shard: Shard) -> None:
        """Write them."""
        state = shard.state
        state.logs -= self.top
        state.tails = []
        kernels.raise_logs(state.logs, state.weights)


def _logs(values: Floats) -> Floats:
    """Return logarithms; factors of 0 leave no weight."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _sized(logs: Floats, u: Floats, chosen: NDArray[np.bool_]) -> Part:
    """Return ln(q |u|) and u of the chosen rows."""
    sizes = np.abs(u[chosen])
    kernels.take_logs(sizes, sizes)
    return logs[chosen] + sizes, u[chosen]


# --- after alpha is known


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
        weighed = _weighed(shard, rows)
        return float(kernels.multiply_by_leaf_and_row(*weighed, columns, self.factors, own))


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
            np.maximum(weights * state.round_factor(), TINY, out=weights)
            largest = np.max(weights, initial=0.0)
        return float(largest)


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
        limits = self.limits if bill.limits is None else bill.limits
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
    rewards : float64 array of shape (K, A), or without entries
        What each action is worth per vote; without, the largest margin decides.
    scale : float
    kept : bool
        Whether decisions are kept, to be priced.
    """

    votes: Int64
    values: Floats
    rewards: Floats
    scale: float
    kept: bool

    changes = True

    def answer(self, shard: Shard) -> Int64:
        """Vote; return the matrix."""
        state = shard.state
        n_classes = state.n_classes
        decisions = state.bill.room() if self.kept else np.zeros(0, np.uint8)
        confusion = np.zeros((n_classes, max(n_classes, self.rewards.shape[1])), np.int64)
        weights = NONE if state.sample_weights is None else state.sample_weights
        votes = (self.votes, self.values, self.rewards, weights, self.scale)
        rows = (state.margins, shard.starts, shard.leaves)
        _vote_kernels.vote_classes(*rows, *votes, decisions, confusion)
        return confusion

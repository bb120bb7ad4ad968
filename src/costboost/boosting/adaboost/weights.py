"""The weights of the training rows: the first ones, what the learner gets, and how they change."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.effective import FAR, EffectiveRule
from costboost.boosting.adaboost.evaluation import in_range
from costboost.boosting.adaboost.hypothesis import Hypothesis, Latest
from costboost.boosting.adaboost.learner import LearnerWeights, Lesson
from costboost.boosting.adaboost.messages.logs import RowLogs, SettleLogs, StepLogs
from costboost.boosting.adaboost.messages.summing import SumCells, SumPricedCells, View
from costboost.boosting.adaboost.messages.weighing import (
    AreCopies,
    FirstWeights,
    HandFactors,
    LargestHanded,
    MultiplyCells,
    MultiplyRows,
    SampleRange,
    ScaleHanded,
    SettleWeights,
    TakeWeights,
)
from costboost.boosting.adaboost.normalizer import RowSums, halvings
from costboost.boosting.adaboost.tails import RowTails, Tails
from costboost.boosting.links import MAX_ALPHA
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.messages import Message

Floats = NDArray[np.float64]

LONG = MAX_ALPHA * (1 + 1e-6)  # exponents up to here are within what the grid can tell
_RAREST = 2.0**-20  # of the largest weight: smaller ones are no unit to count in
# Classes whose factors differ by no more than this share one grid: each class's factor then goes
# into its scale, and rows need none of their own.
_NEAR = 2.0**-6


class Weights:
    """One weight for every row, held where the rows are; their sum need not be 1.

    Parameters
    ----------
    shards : Shards
    terms : EffectiveRule
    weighted : bool
        Whether the user gave weights.

    Attributes
    ----------
    largest : float
        The largest weight.
    """

    def __init__(self, shards: Shards, terms: EffectiveRule, *, weighted: bool) -> None:
        self.shards, self.terms = shards, terms
        self.largest = self._first(weighted)
        self._in_logs = False
        self._priced, self._sums = Latest(), Latest()
        self._by_class = terms.handed_by_class()
        if self._by_class is not None and not _near(self._by_class):
            self._by_class = None
        self._row_factors: tuple[float, float] | None = None

    def _first(self, weighted: bool) -> float:
        """Set the weights of the first round; return the largest.

        Products of 1e300 and 1e-300 must stay in range. Powers of two only: a row of weight 3 is
        three rows, and 3 / 7 is not a number.
        """
        (top,) = self.shards.call([FirstWeights()])
        unit, heaviest = None, 1.0
        if weighted:
            heaviest, unit = self._unit()
        own = -_exponent(heaviest) if weighted else 0
        (largest,) = self.shards.call([TakeWeights(-_exponent(top), unit, own)])
        if not largest > 0.0:
            self.shards.call([SettleWeights(0, constant=0.5)])
            return 0.5
        # The largest is now between 1/2 and 1; dividing by a power of two rounds nothing.
        exponent = -_exponent(largest)
        self.shards.call([SettleWeights(exponent, constant=None)])
        return math.ldexp(largest, exponent)

    def _unit(self) -> tuple[float, float | None]:
        """Return the largest weight and the unit it is counted in: rows given several times."""
        most, least = self.shards.call([SampleRange()])[0]
        if least > _RAREST * most and self.shards.call([AreCopies(least)])[0]:
            return float(np.rint(most / least)), least
        return most, None

    def rescale(self, scale: float) -> None:
        """Evaluate the rule at prices times `scale` from now on."""
        self.terms.evaluate(scale)
        self._forget()
        self._row_factors = None

    def _forget(self) -> None:
        self._priced.forget()
        self._sums.forget()

    def handed(self, *, joint: bool = False) -> LearnerWeights:
        """Put the learner's weights in place; one that picks alpha too gets the weights as is."""
        if self.terms.rule.handed is None or joint:
            return LearnerWeights(self.largest, self.of_cells)
        if self._by_class is not None:
            largest = self.largest * float(np.max(self._by_class))
            return LearnerWeights(largest, self.of_cells, by_class=self._by_class)
        if self._row_factors is None:
            self._row_factors = self._hand()
        most, least = self._row_factors
        largest = self.largest * most
        if least * FAR < most:  # the product of two bounds is then too coarse a bound
            (largest,) = self.shards.call([LargestHanded()])
        return LearnerWeights(float(largest), self.of_cells, by_row=True)

    def _hand(self) -> tuple[float, float]:
        """Give rows their factors for the learner; return the largest and the smallest."""
        most, least = self.shards.call([HandFactors()])[0]
        exponent = in_range(most)
        if exponent:
            self.shards.call([ScaleHanded(exponent)])
        return math.ldexp(most, exponent), math.ldexp(least, exponent)

    def sums(self, hypothesis: Hypothesis, cells: Floats | None) -> RowSums:
        """Return the sums over rows; those of one hypothesis are kept until the weights change.

        `cells` are its weights by leaf and class, if they are known.
        """
        return self._sums.of(hypothesis, lambda said: self._sum_rows(said, cells))

    def _sum_rows(self, hypothesis: Hypothesis, cells: Floats | None) -> RowSums:
        bounds = (self.terms.largest(hypothesis, self.largest), self.terms.reach(hypothesis))
        return RowSums(self.shards, View(hypothesis), cells, *bounds)

    def of_cells(self, hypothesis: Hypothesis) -> Floats:
        """Return the weight of the rows of every class in every leaf, (L, K)."""
        if not self.terms.by_cell(hypothesis) and not self.terms.has_factors:
            return self.sums(hypothesis, None).cells  # by the pass that the step needs too
        scale = grid_scale(self.largest, self.shards.n_rows)
        (sums,) = self.shards.call([SumCells(len(hypothesis.votes), scale)])
        return np.asarray(sums / scale)

    def of_priced_cells(self, lesson: Lesson) -> Floats:
        """Return the sum of weight * factor in every cell; a pass over rows if factors differ."""
        terms, hypothesis = self.terms, lesson.hypothesis
        if terms.terms_by_class:
            factored = terms.has_cell_factors
            return lesson.cells * terms.cell_factors(hypothesis) if factored else lesson.cells
        if not terms.has_factors:
            return lesson.cells
        return self._priced.of(hypothesis, self._price_cells)

    def _price_cells(self, hypothesis: Hypothesis) -> Floats:
        scale = grid_scale(self.terms.largest(hypothesis, self.largest), self.shards.n_rows)
        (sums,) = self.shards.call([SumPricedCells(hypothesis, scale)])
        return to_floats(sums, scale)

    def change(self, lesson: Lesson, alpha: float, normalizer: float) -> Message:
        """Return what makes the weights of the next round; the answer goes to `settle`.

        They are multiplied by factor * exp(-alpha u), and by the rule's own factors.
        """
        hypothesis, terms = lesson.hypothesis, self.terms
        self._forget()
        if self._in_logs or self.is_long(hypothesis, alpha):
            return self._step_in_logs(lesson, alpha)
        # Where costs are constant, the factors of the cells contain those before a round.
        round_factor = terms.round_factor_by_row
        if terms.by_cell(hypothesis):
            factors = self._cell_factors(lesson, alpha, normalizer)
            factored = not terms.terms_by_class and terms.has_factors
            return MultiplyCells(hypothesis, factors, factored, round_factor)
        # A power of two keeps weights in range, exactly.
        shrink = math.ldexp(1.0, -_exponent(terms.largest(hypothesis, self.largest)))
        halved = halvings(alpha * terms.reach(hypothesis))
        round_factor = terms.rule.round_factor is not None
        return MultiplyRows(View(hypothesis), alpha, halved, shrink, round_factor)

    def settle(self, change: Message, largest: float) -> None:
        """Note the largest weight after a change."""
        if isinstance(change, StepLogs):
            self.shards.call([SettleLogs(float(largest))])
            largest = 1.0
        self.largest = float(largest)

    def is_long(self, hypothesis: Hypothesis, alpha: float) -> bool:
        """Whether a step takes weights further than the grid, or numbers, can follow."""
        terms = self.terms
        if terms.by_cell(hypothesis):
            return abs(alpha) * terms.longest_cell_margin(hypothesis) > LONG
        return abs(alpha) * terms.reach(hypothesis) > LONG

    def _step_in_logs(self, lesson: Lesson, alpha: float) -> StepLogs:
        """Do the same by logarithms, which are kept from now on: products have lost too much."""
        self._in_logs, terms, round_factor = True, self.terms, None
        if terms.rule.round_factor is not None and terms.constant:
            with np.errstate(divide="ignore"):
                round_factor = np.log(terms.round_factor_by_class())
        own = terms.round_factor_by_row
        return StepLogs(self._logs(lesson.hypothesis), alpha, round_factor, own)

    def _logs(self, hypothesis: Hypothesis, *, factor: bool = True) -> RowLogs:
        """Return how ln(weight * factor) and the effective margin of a row are found."""
        view, terms = View(hypothesis, factor=factor), self.terms
        if not terms.terms_by_class:
            return RowLogs(view)
        factors = terms.cell_factors(hypothesis) if factor else None
        return RowLogs(view, terms.cell_margins(hypothesis), factors)

    def cell_tails(self, hypothesis: Hypothesis, u: Floats, *, factor: bool) -> Tails:
        """Return the tails of rows whose margins are those of their cells, (L, K)."""
        how = replace(self._logs(hypothesis, factor=factor), cells=u)
        return Tails(RowTails(self.shards, how))

    def _cell_factors(self, lesson: Lesson, alpha: float, normalizer: float) -> Floats:
        """Return what multiplies the weights of every cell, so that their sum stays."""
        terms = self.terms
        logs = -alpha * terms.cell_margins(lesson.hypothesis)
        if terms.terms_by_class:
            if terms.has_cell_factors:
                factors = terms.cell_factors(lesson.hypothesis) * terms.round_factor_by_class()
                with np.errstate(divide="ignore"):
                    logs = logs + np.log(factors)
            shift = _log_sum(logs, lesson.shares)
        else:
            shift = math.log(normalizer) if normalizer > 0.0 else 0.0
        return np.asarray(np.exp(np.minimum(np.maximum(logs - shift, -700.0), 700.0)))


def _exponent(value: float) -> int:
    """Return the power of two that a number is below."""
    return math.frexp(value)[1]


def _near(factors: Floats) -> bool:
    return bool(np.min(factors) >= _NEAR * np.max(factors) > 0.0)


def _log_sum(logs: Floats, weights: Floats) -> float:
    """Return ln sum weights exp(logs), without overflow."""
    held = weights > 0.0
    alive = logs[held]
    top = float(alive.max()) if alive.size else 0.0
    if not math.isfinite(top):
        return 0.0
    return top + math.log(float((weights[held] * np.exp(alive - top)).sum()))

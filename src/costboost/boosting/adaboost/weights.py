"""The weights of the training rows: the first ones, what the learner gets, and how they change."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.effective import FAR, Terms
from costboost.boosting.adaboost.learner import Handed, Lesson
from costboost.boosting.adaboost.normalizer import (
    BLOCK,
    TINY,
    Hypothesis,
    RowSums,
    halvings,
)
from costboost.boosting.adaboost.prices import Prices
from costboost.boosting.adaboost.steps import MAX_ALPHA
from costboost.boosting.adaboost.tails import Part, log_factors, log_weights
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

LONG = MAX_ALPHA * (1 + 1e-6)  # exponents up to here are within what the grid can tell
_NEAR = 2.0**-6  # factors of classes no further apart than this can be put in the grid's scale


class Weights:
    """One weight for every row, in `shard.data["weights"]`, of any sum.

    Attributes
    ----------
    largest : float
        The largest weight.
    """

    def __init__(self, shards: Shards, terms: Terms, sample_weight: Floats | None) -> None:
        self.shards, self.terms = shards, terms
        first = terms.first()
        # Products of 1e300 and 1e-300 must stay in range. Powers of two only: a row of weight 3
        # is three rows, and 3 / 7 is not a number.
        first = _within_one(first)
        if sample_weight is not None:
            first = first * _within_one(sample_weight)
        largest = float(np.max(first))
        if not largest > 0.0:
            first, largest = np.ones(len(first)), 1.0
        if not first.all():  # held above TINY as well, but by no step brought back
            shards.scatter("absent", first == 0.0)
        # The largest is now between 1/2 and 1; dividing by a power of two rounds nothing.
        exponent = -int(np.frexp(largest)[1])
        self.largest = float(np.ldexp(largest, exponent))
        shards.scatter("weights", np.maximum(np.ldexp(first, exponent), TINY))
        self._in_logs = False
        self._priced: Floats | None = None
        self._sums: RowSums | None = None
        self._by_class = terms.handed_by_class()
        if self._by_class is not None and not _near(self._by_class):
            self._by_class = None

    def rescale(self, prices: Prices) -> None:
        """Evaluate the rule at other prices from now on."""
        self.terms.take(prices)
        self._priced = self._sums = None

    def handed(self, *, joint: bool = False) -> Handed:
        """Put the learner's weights in place; one that picks alpha too gets the weights as is."""
        if self.terms.rule.handed is None or joint:
            return Handed(self.largest, self.of_cells)
        if self._by_class is not None:
            largest = self.largest * float(np.max(self._by_class))
            return Handed(largest, self.of_cells, by_class=self._by_class)
        if "handed" not in self.shards.shards[0].data:
            factors = self.terms.handed_by_row()
            self._largest_factor, self._far = float(np.max(factors)), _far(factors)
            self.shards.scatter("handed", factors)
        largest = self.largest * self._largest_factor
        if self._far:  # the product of two bounds is then too coarse a bound
            largest = max(self.shards.map(_largest_handed))
        return Handed(largest, self.of_cells, by_row="handed")

    def sums(self, hypothesis: Hypothesis, cells: Floats | None) -> RowSums:
        """Return the sums over rows, until the weights change; `cells` if they are known."""
        if self._sums is None:
            terms = self.terms
            bounds = (terms.largest(hypothesis, self.largest), terms.reach(hypothesis))
            rows = (self.shards, hypothesis, terms.n_classes, terms.of)
            self._sums = RowSums(*rows, cells, *bounds)
        return self._sums

    def of_cells(self, hypothesis: Hypothesis) -> Floats:
        """Return the weight of the rows of every class in every leaf, (L, K)."""
        if not self.terms.by_cell(hypothesis) and not self.terms.factored:
            return self.sums(hypothesis, None).cells  # by the pass that the step needs too
        n_leaves = len(hypothesis.votes)
        scale = grid_scale(self.largest, self.shards.n_rows)

        def part(shard: Shard) -> Int64:
            out = np.zeros((2, n_leaves, self.terms.n_classes), dtype=np.int64)
            kernels.sum_by_leaf(shard.data["weights"], shard.starts, shard.leaves, scale, out)
            return np.asarray(out[0] + out[1])

        return np.asarray(self.shards.sum(part) / scale)

    def of_priced_cells(self, lesson: Lesson) -> Floats:
        """Return the sum of weight * factor in every cell; a pass over rows if factors differ."""
        terms, hypothesis = self.terms, lesson.hypothesis
        if terms.alike:
            return lesson.cells * terms.cell_factors(hypothesis)
        if not terms.factored:
            return lesson.cells
        scale = grid_scale(terms.largest(hypothesis, self.largest), self.shards.n_rows)

        def part(shard: Shard) -> Int64:
            out = np.zeros((*lesson.cells.shape, 2), dtype=np.int64)
            own = terms.of(shard)
            rows = (shard.data["weights"], shard.starts, shard.leaves)
            kernels.sum_terms_by_leaf(*rows, own.columns(hypothesis), own.f, scale, out)
            return out

        if self._priced is None:
            self._priced = to_floats(self.shards.sum(part), scale)
        return self._priced

    def multiply(self, lesson: Lesson, alpha: float, normalizer: float) -> None:
        """Make the weights of the next round: times factor * exp(-alpha u), and the rule's own."""
        hypothesis = lesson.hypothesis
        self._priced = self._sums = None
        if self._in_logs or self.is_long(hypothesis, alpha):
            self._multiply_logs(lesson, alpha)
        elif self.terms.by_cell(hypothesis):
            factors = self._cell_factors(lesson, alpha, normalizer)
            self.largest = max(self.shards.map(self._by_cell(hypothesis, factors)))
        else:
            self.largest = max(self.shards.map(self._by_row(hypothesis, alpha)))

    def is_long(self, hypothesis: Hypothesis, alpha: float) -> bool:
        """Whether a step takes weights further than the grid, or numbers, can follow."""
        terms = self.terms
        if terms.by_cell(hypothesis):
            return abs(alpha) * float(np.max(np.abs(terms.cell_margins(hypothesis)))) > LONG
        return abs(alpha) * terms.reach(hypothesis) > LONG

    def _multiply_logs(self, lesson: Lesson, alpha: float) -> None:
        """Do the same by logarithms, which are kept from now on: products have lost too much."""
        self._in_logs = True
        terms = self.terms
        ahead = terms.ahead_by_row() if not terms.prices.constant else False

        def add(shard: Shard) -> float:
            logs, u = self.logs_and_margins(lesson, shard)
            logs -= alpha * u
            if ahead:
                logs += log_factors(shard.data["ahead"])
            elif terms.rule.before is not None:
                logs += log_factors(terms.ahead_by_class())[self._labels(shard)]
            shard.data["logs"] = logs
            return float(np.max(logs, initial=-np.inf))

        top = max(self.shards.map(add))

        def settle(shard: Shard) -> None:
            shard.data["logs"] -= top
            kernels.raise_logs(shard.data["logs"], shard.data["weights"])

        self.shards.map(settle)
        self.largest = 1.0

    def logs_and_margins(self, lesson: Lesson, shard: Shard, *, factor: bool = True) -> Part:
        """Return ln(weight * factor) and the effective margin of a shard's rows."""
        terms, hypothesis, leaves = self.terms, lesson.hypothesis, shard.leaves
        logs, labels = log_weights(shard), self._labels(shard)
        if not terms.alike:
            own, rows = terms.of(shard), np.arange(len(leaves))
            answers = own.columns(hypothesis)[leaves]
            if factor and terms.factored:
                logs += log_factors(own.f[rows, answers])
            sizes = own.sizes(hypothesis, terms.n_classes)[leaves, labels]
            return logs, sizes * own.u[rows, answers]
        if factor:
            logs += log_factors(terms.cell_factors(hypothesis))[leaves, labels]
        u = terms.cell_margins(hypothesis)[leaves, labels]
        own_sizes = shard.data.get("sizes")
        return logs, u if own_sizes is None else u * own_sizes

    def _labels(self, shard: Shard) -> Int64:
        return np.repeat(np.arange(self.terms.n_classes), np.diff(shard.starts))

    def _cell_factors(self, lesson: Lesson, alpha: float, normalizer: float) -> Floats:
        """Return what multiplies the weights of every cell, so that their sum stays."""
        terms = self.terms
        logs = -alpha * terms.cell_margins(lesson.hypothesis)
        if terms.alike:
            factors = terms.cell_factors(lesson.hypothesis) * terms.ahead_by_class()
            with np.errstate(divide="ignore"):
                logs = logs + np.log(factors)
            shift = _log_sum(logs, lesson.cells / lesson.cells.sum())
        else:
            shift = math.log(normalizer) if normalizer > 0.0 else 0.0
        return np.asarray(np.exp(np.clip(logs - shift, -700.0, 700.0)))

    def _by_cell(self, hypothesis: Hypothesis, factors: Floats) -> Callable[[Shard], float]:
        terms = self.terms
        # Where costs are constant, the factors of the cells contain it already.
        ahead = not terms.prices.constant and terms.ahead_by_row()
        factored = not terms.alike and terms.factored

        def multiply(shard: Shard) -> float:
            rows = (shard.data["weights"], shard.starts, shard.leaves)
            answers, own = np.zeros_like(hypothesis.votes), np.ones((1, 1))
            if factored:
                answers, own = terms.of(shard).columns(hypothesis), terms.of(shard).f
            if ahead:
                own = own * shard.data["ahead"][:, None]
            if not (factored or ahead):
                return float(kernels.multiply_by_leaf(*rows, factors))
            return float(kernels.multiply_by_leaf_and_row(*rows, answers, factors, own))

        return multiply

    def _by_row(self, hypothesis: Hypothesis, alpha: float) -> Callable[[Shard], float]:
        terms, ahead = self.terms, self.terms.ahead_by_row()
        # A power of two keeps weights in range, exactly.
        shrink = math.ldexp(1.0, -math.frexp(terms.largest(hypothesis, self.largest))[1])
        step = (halvings(alpha * terms.reach(hypothesis)), shrink)

        def multiply(shard: Shard) -> float:
            weights, own = shard.data["weights"], terms.of(shard)
            steps = -alpha * own.sizes(hypothesis, terms.n_classes)
            rows = (weights, shard.starts, shard.leaves, own.columns(hypothesis))
            largest = kernels.multiply_rows(*rows, steps, own.u, own.f, *step, np.empty(BLOCK))
            if ahead:
                np.maximum(weights * shard.data["ahead"], TINY, out=weights)
                largest = np.max(weights, initial=0.0)
            return float(largest)

        return multiply


def _within_one(values: Floats) -> Floats:
    """Return the values over a power of two, so that the largest is between 1/2 and 1."""
    return np.asarray(np.ldexp(values, -int(np.frexp(np.max(values))[1])))


def _largest_handed(shard: Shard) -> float:
    return float(np.max(shard.data["weights"] * shard.data["handed"], initial=0.0))


def _far(factors: Floats) -> bool:
    return bool(np.min(factors) * FAR < np.max(factors))


def _near(factors: Floats) -> bool:
    return bool(np.min(factors) >= _NEAR * np.max(factors) > 0.0)


def _log_sum(logs: Floats, weights: Floats) -> float:
    """Return ln sum weights exp(logs), without overflow."""
    alive = logs[weights > 0.0]
    top = float(np.max(alive)) if alive.size else 0.0
    if not math.isfinite(top):
        return 0.0
    return top + math.log(float(np.sum(weights[weights > 0.0] * np.exp(alive - top))))

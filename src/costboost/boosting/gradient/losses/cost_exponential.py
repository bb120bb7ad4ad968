"""Cai, Song and Zhang's exponential loss: AdaBoost's, with costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from costboost.boosting.formulas import OBJECTIVES, RuleInput, cost_or_one, zero
from costboost.boosting.gradient.losses.base import BuiltIn, RowTerms, flat, signs
from costboost.boosting.gradient.losses.classes import (
    EXPONENTIAL,
    ClassTerms,
    ExponentialTerms,
    once,
)
from costboost.boosting.gradient.minimisers import FARTHEST
from costboost.boosting.gradient.rows import LossRows, class_weights, sum_sizes, terms_by_class
from costboost.inputs.arrays import read_objective
from costboost.inputs.checks import check_choice
from costboost.shards.grid import rounded
from costboost.shards.layout import Shards
from costboost.typing import Array, Floats

_LEAST_SIZE = 1e-250  # of the mean |a|: F in units of less would leave the floats


@dataclass(frozen=True)
class CostExponentialLoss(BuiltIn):
    """Cai, Song and Zhang's objective (17): w0 exp(-sum alpha (a f + b)).

    With F = sum alpha f and A = sum alpha this is w0 exp(-(a F + b A)). Two classes have one term
    per row; K classes have one for every wrong answer k, with F_y - F_k in place of F, costs
    C[y, k], and a, b, w0 from them.

    Parameters
    ----------
    objective : str, or callable
        "asymboost" and "adac1" (a = c y, b = 0, w0 = 1), "adacost" (a = y / 2, b = -c / 2,
        w0 = c), "cgada" (a = y, b = 0, w0 = c), "adaboost" (a = y, b = 0, w0 = 1), or a function
        from `RuleInput` (costs `cost`, scaled to at most 1, and labels `sign`) to (a, b, w0).
    scale : float
        Multiplies costs; training sets it to 1 over the largest, to 0 where nothing costs anything.
    total : float
        A.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CostExponentialLoss("cgada")
    >>> prices = np.array([[0.0, 0.5], [1.0, 0.0]])  # row 0 is negative, row 1 positive
    >>> loss.value(np.array([0, 1]), np.zeros(2), prices).tolist()
    [0.5, 1.0]
    """

    objective: Any = "asymboost"
    scale: float = 1.0
    total: float = 0.0
    kind: ClassVar[str] = "cost-exponential"
    odds: ClassVar[float] = 2.0
    uses_costs: ClassVar[bool] = True
    has_prices: ClassVar[bool] = True

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> CostExponentialLoss:
        """Return the loss of the parameter `objective`."""
        objective = params.objective
        if isinstance(objective, str):
            check_choice("objective", objective, tuple(NAMED))
        return cls(objective) if isinstance(objective, str) or callable(objective) else cls()

    def read_row_terms(self, params: Any, n_rows: int, n_classes: int) -> RowTerms | None:
        """Return the parameter `objective` where it is (a, b, w0) of every row."""
        objective = params.objective
        if isinstance(objective, str) or callable(objective):
            return None
        if n_classes > 2:
            raise ValueError(
                "objective=(a, b, w0) by row is defined for two classes; give a function."
            )
        return read_objective(objective, (n_rows,))

    def check_restored(self) -> None:
        """Refuse an objective that has no known name."""
        if not isinstance(self.objective, str) or self.objective not in NAMED:
            raise ValueError("a loss has no objective that is known")

    def evaluate(self, cost: Floats, sign: Floats, n_classes: int) -> tuple[Floats, ...]:
        """Return a, b, w0 at these costs and labels (+1 everywhere for K classes)."""
        objective = self.objective if callable(self.objective) else NAMED[self.objective]
        free = self.scale == 0.0
        # Where nothing costs anything first weights in proportion to costs would all be 0: `free`
        # makes them alike.
        at = RuleInput(cost=self.scale * cost, sign=sign, n_classes=n_classes, free=free)
        parts = read_objective(objective(at), cost.shape, all_rows=False)
        return tuple(np.ascontiguousarray(part) for part in parts)

    def terms(self, y: Array, prices: Floats, n_outputs: int) -> ExponentialTerms:
        """Return the numbers of every row; each aims at its cheapest answer (Lozano and Abe)."""
        return self._terms_at(*_aims(np.asarray(y, dtype=np.int64), prices, n_outputs))

    def _terms_at(self, aim: Array, cost: Floats) -> ExponentialTerms:
        """Return the numbers of rows that aim at these answers and pay so much to miss them."""
        if cost.ndim == 1:
            a, b, w0 = self.evaluate(cost, signs(aim), 2)
        else:
            a, b, w0 = self.evaluate(cost, np.ones_like(cost), cost.shape[1])
        return ExponentialTerms(aim, a, b, w0, self.total)

    def _at(self, y: Array, raw: Floats, prices: Floats) -> ExponentialTerms:
        return self.terms(y, prices, 1 if raw.ndim == 1 else raw.shape[1])

    def value(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return the loss of every row."""
        return self._at(y, raw, prices).value(raw)

    def gradient(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return its derivative."""
        return self._at(y, raw, prices).gradient(raw)

    def hessian(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return its second derivative."""
        return self._at(y, raw, prices).hessian(raw)

    def largest_cost(self, rows: LossRows) -> float:
        """Return the largest cost of a mistake."""
        # The user's own numbers are not scaled.
        if rows.objective is not None:
            return 0.0
        if rows.table is not None:
            return float(np.max(np.ptp(rows.table, axis=1)))
        gaps = (np.max(np.ptp(part.paid, axis=1)) for _, part in rows.blocks())
        return float(max(gaps, default=0.0))

    def scaled(self, largest: float) -> CostExponentialLoss:
        """Return the loss that scales the largest cost to 1."""
        return replace(self, scale=1.0 / largest if largest > 0.0 else 0.0)

    def of_classes(self, rows: LossRows) -> ExponentialTerms | None:
        """Return a, b, w0 by class, or None where rows of a class differ."""
        if rows.table is None:
            return None
        # Rows may be read by their labels only if no class aims at another one.
        classes = np.arange(len(rows.table))
        terms = self.terms(classes, rows.table, rows.n_outputs)
        return terms if np.array_equal(terms.labels, classes) else None

    def _of_rows(self, rows: LossRows) -> ExponentialTerms:
        """Return a, b, w0 by row."""
        if rows.objective is not None:
            a, b, w0 = (np.ascontiguousarray(part, dtype=float) for part in rows.objective)
            return ExponentialTerms((a > 0).astype(np.int64), a, b, w0)
        shape = (len(rows.y),) if rows.n_outputs == 1 else (len(rows.y), rows.n_outputs)
        aim: Array = np.empty(len(rows.y), dtype=np.uint8)
        a = np.empty(shape)
        aims = ((at, _aims(p.targets, p.paid, rows.n_outputs)) for at, p in rows.blocks())
        if callable(self.objective):
            cost = a  # of all rows, which a user's function sees at once
            for block, found in aims:
                aim[block], cost[block] = found
            return self._terms_at(aim, cost)
        # Named objectives often have one b and one w0: an entry stands for all rows until one
        # differs.
        b = w0 = np.empty((0, *shape[1:]))
        for block, found in aims:
            part = self._terms_at(*found)
            aim[block], a[block] = part.labels, part.a
            b, w0 = _with(b, block, part.b, shape), _with(w0, block, part.w0, shape)
        return ExponentialTerms(aim, a, b, w0, self.total)

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        by_class = self.of_classes(rows)
        terms = self._of_rows(rows) if by_class is None else by_class
        labels = terms.labels if by_class is None else rows.y
        numbers = (terms.a, terms.b, terms.w0)
        return ClassTerms.of(EXPONENTIAL, rows, labels, numbers, by_class=by_class is not None)

    def derivatives(self, rows: LossRows, margins: Floats) -> tuple[Floats, Floats]:
        """Return weighted gradients and hessians of rows, (n, J)."""
        terms, weights = self._of_rows(rows), rows.unit_or_weights[:, None]
        parts = (terms.gradient(flat(margins)), terms.hessian(flat(margins)))
        gradients, hessians = (part.reshape(margins.shape) * weights for part in parts)
        return gradients, hessians

    def _limit(self, shards: Shards, n_outputs: int) -> tuple[float, float]:
        """Return how far a constant may lie, and the unit of F: 1 over the mean |a|."""
        (sums,) = shards.call([sum_sizes(loss=self)])
        # F is in units of 1 / |a|: with prices in other units the minimiser lies elsewhere.
        size = rounded(sums[0]) / rounded(sums[1]) or 1.0
        size = max(size, _LEAST_SIZE)
        return FARTHEST / size, 1.0 / size

    def _sums_at(self, shards: Shards) -> Callable[[Floats, int], tuple[float, float]]:
        """Return sums as the base class does, but over classes where rows of a class are alike."""
        (terms,) = shards.call([terms_by_class(loss=self)])
        if terms is None:
            return super()._sums_at(shards)
        weights = class_weights(shards, len(terms.a))

        def at(f0: Floats, output: int) -> tuple[float, float]:
            raw = np.repeat(f0[None, :], len(weights), axis=0)
            parts = (terms.gradient(flat(raw)), terms.hessian(flat(raw)))
            columns = (part.reshape(raw.shape)[:, output] * weights for part in parts)
            gradient, hessian = (math.fsum(column.tolist()) for column in columns)
            return gradient, hessian

        return at

    def mean_value(self, rows: LossRows, margins: Floats, total: float = 0.0) -> float:
        """Return the weighted mean of the loss; `total` is the sum of the steps so far."""
        terms = replace(self._of_rows(rows), total=total)
        return float(np.average(terms.value(flat(margins)), weights=rows.weights))


def _aims(y: Array, prices: Floats, n_outputs: int) -> tuple[Array, Floats]:
    """Return the cheapest answers to rows, and what others cost more: (n,) of two classes."""
    rows, best = np.arange(len(prices)), np.argmin(prices, axis=1)
    # The true class where none is cheaper, else the first of the cheapest.
    aim = np.where(prices[rows, y] <= prices[rows, best], y, best)
    excess = prices - prices[rows, aim][:, None]
    return aim, excess[rows, 1 - aim] if n_outputs == 1 else excess


def _with(term: Floats, block: slice, part: Floats, shape: tuple[int, ...]) -> Floats:
    """Return a term with the numbers of the next rows; as long as all are alike, one entry."""
    if len(term) < shape[0]:
        first = once(part) if block.start == 0 else term
        if len(first) == 1 and np.all(part == first):
            return first
        term = np.empty(shape)
        term[: block.start] = first[:1]
    term[block] = part
    return term


NAMED: dict[str, Any] = {
    **OBJECTIVES,
    "cgada": lambda at: (at.sign, zero(at), cost_or_one(at)),
}

"""Costs as training sees them: which label to aim at, and what missing it costs.

Constant costs become tables over classes, so that a round never touches a row to price it; costs
per row become arrays. A row whose correct answer is dearer than a wrong one aims at the cheapest
answer instead (Lozano and Abe).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.rules import Rule
from costboost.costs import Costs
from costboost.shards.layout import blocks_of

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

WIDEST = 1e250  # costs further apart than this are taken to be this far apart


@dataclass(frozen=True)
class Prices:
    """The cost of mistakes, by class or by row.

    Attributes
    ----------
    row_price : float64 array of shape (K,) or (m,)
        The mean cost of the wrong answers: the price of a row in general.
    answer_price : float64 array of shape (K, K) or (m, K)
        The cost of each wrong answer; at the label itself, `row_price`.
    constant : bool
        Whether the arrays are by class.
    """

    row_price: Floats
    answer_price: Floats
    constant: bool

    def scaled(self, factor: float) -> Prices:
        """Return the prices multiplied by a factor."""
        return replace(
            self, row_price=self.row_price * factor, answer_price=self.answer_price * factor
        )

    @property
    def largest(self) -> float:
        """The largest cost of a mistake."""
        return float(np.max(self.answer_price, initial=0.0))

    @property
    def smallest(self) -> float:
        """The smallest positive cost of a mistake; infinite if there is none."""
        return float(np.min(self.answer_price, initial=math.inf, where=self.answer_price > 0))

    def by_row(self, labels: NDArray[Any]) -> Prices:
        """Return the same prices as arrays over rows of these labels."""
        if not self.constant:
            return self
        return Prices(self.row_price[labels], self.answer_price[labels], constant=False)


def class_prices(costs: Costs, n_classes: int, *, aim: bool = True) -> Prices | None:
    """Return the prices by class, or None where rows of a class differ.

    Parameters
    ----------
    costs : Costs
        Bound to the K classes. Where the actions are not the classes, no answer has a price, and
        all mistakes cost 1: such costs are for decisions only.
    n_classes : int
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    """
    if not costs.is_square:
        return Prices(np.ones(n_classes), np.ones((n_classes, n_classes)), constant=True)
    if not costs.is_constant:
        return None
    table = costs.of_labels(np.arange(n_classes), encoded=True)
    excess = table - np.diagonal(table)[:, None]
    if excess.min() < 0 and aim:
        return None
    return _mean_and_wrong(np.maximum(excess, 0.0), np.arange(n_classes), constant=True)


def aimed_labels(
    costs: Costs, y: NDArray[np.integer[Any]], n_classes: int, *, aim: bool = True
) -> NDArray[np.integer[Any]]:
    """Return the answers that rows aim at: their classes, or the cheapest."""
    if not aim or class_prices(costs, n_classes) is not None:
        return y
    labels = y.astype(np.uint8)
    for rows in blocks_of(len(y)):
        own = costs[rows] if costs.per_row else costs
        labels[rows] = own.cheapest_labels(y[rows].astype(np.int64), encoded=True)
    return labels


def row_prices(costs: Costs, y: NDArray[Any], labels: NDArray[Any]) -> Prices:
    """Return the prices of rows of classes `y` that aim at `labels`."""
    paid = costs.of_labels(y.astype(np.int64), encoded=True)
    excess = paid - paid[np.arange(len(y)), labels][:, None]
    return _mean_and_wrong(np.maximum(excess, 0.0), labels, constant=False)


def _mean_and_wrong(excess: Floats, labels: NDArray[Any], *, constant: bool) -> Prices:
    rows = np.arange(len(labels))
    # Divided first: costs of 1e300 must not overflow in the sum.
    mean = np.sum(excess / (excess.shape[1] - 1), axis=1)
    wrong = excess.copy()
    wrong[rows, labels] = mean
    return Prices(mean, wrong, constant)


def price_scale(
    largest: float, smallest: float, rule: Rule, wanted: float | Literal["auto"]
) -> float:
    """Return what to multiply prices by for a rule, the largest `wanted` if it can choose."""
    how = rule.scale
    if largest == 0.0 or (how == "none" and 1e-100 < largest < 1e100):
        return 1.0
    if how == "none":  # only Z of AdaC2 depends on the unit of costs, and must not overflow
        return math.ldexp(1.0, -math.frexp(largest)[1])
    if how == "smallest":
        return 1.0 / max(smallest, largest / WIDEST)
    return (1.0 if wanted == "auto" else wanted) / largest

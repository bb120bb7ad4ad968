"""Costs as training sees them: which label to aim at, and what missing it costs.

Constant costs become tables over classes, so that a round never touches a row to price it; costs
per row become arrays. A row whose correct answer is dearer than a wrong one aims at the cheapest
answer instead (Lozano and Abe).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Prices:
    """The cost of mistakes, by class or by row.

    Attributes
    ----------
    labels : int64 array of shape (n,)
        The answer each row aims at.
    right : float64 array of shape (K,) or (n,)
        The mean cost of the wrong answers: the price of a row in general.
    wrong : float64 array of shape (K, K) or (n, K)
        The cost of each wrong answer; at the label itself, `right`.
    constant : bool
        Whether the arrays are by class.
    scale : float
        What `right` and `wrong` were multiplied by.
    """

    labels: Int64
    right: Floats
    wrong: Floats
    constant: bool
    scale: float = 1.0

    def scaled(self, factor: float) -> Prices:
        """Return the prices multiplied by a factor."""
        return replace(
            self,
            right=self.right * factor,
            wrong=self.wrong * factor,
            scale=self.scale * factor,
        )

    @property
    def largest(self) -> float:
        """The largest cost of a mistake."""
        return float(np.max(self.wrong, initial=0.0))

    @property
    def smallest(self) -> float:
        """The smallest positive cost of a mistake; 1 if there is none."""
        positive = self.wrong[self.wrong > 0]
        return float(positive.min()) if positive.size else 1.0

    def by_row(self) -> Prices:
        """Return the same prices as arrays over rows."""
        if not self.constant:
            return self
        rows = self.labels
        return replace(self, right=self.right[rows], wrong=self.wrong[rows], constant=False)


def training_prices(costs: Costs, y: Int64, n_classes: int, *, aim: bool = True) -> Prices:
    """Turn bound costs and encoded labels into prices.

    Parameters
    ----------
    costs : Costs
        Bound to the K classes. Where the actions are not the classes, no answer has a price, and
        all mistakes cost 1: such costs are for decisions only.
    y : int64 array of shape (n,)
        Encoded labels.
    n_classes : int
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    """
    if not costs.is_square:
        return Prices(y, np.ones(n_classes), np.ones((n_classes, n_classes)), constant=True)
    if costs.is_constant:
        table = costs.of_labels(np.arange(n_classes), encoded=True)
        excess = table - np.diagonal(table)[:, None]
        if excess.min() >= 0 or not aim:
            right, wrong = _mean_and_wrong(np.maximum(excess, 0.0), np.arange(n_classes))
            return Prices(y, right, wrong, constant=True)
    paid = costs.of_labels(y, encoded=True)
    labels = np.asarray(costs.cheapest_labels(y, encoded=True), dtype=np.int64) if aim else y
    excess = paid - paid[np.arange(len(y)), labels][:, None]
    right, wrong = _mean_and_wrong(np.maximum(excess, 0.0), labels)
    return Prices(labels, right, wrong, constant=False)


def _mean_and_wrong(excess: Floats, labels: NDArray[Any]) -> tuple[Floats, Floats]:
    rows = np.arange(len(labels))
    # Divided first: costs of 1e300 must not overflow in the sum.
    mean = np.sum(excess / (excess.shape[1] - 1), axis=1)
    wrong = excess.copy()
    wrong[rows, labels] = mean
    return mean, wrong

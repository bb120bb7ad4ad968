"""What the AdaBoost family holds of its rows, shard by shard.

bill            truth and costs, and what decisions are paid with
labels          (m,)     the class each row aims at: rows are grouped by it
prices          what a mistake costs, by class or (m,), in the user's units
weights         (m,)     D, of any sum
margins         (m, J)   F, J = 1 for two classes
terms           a rule's effective margins and factors by row, where rows of a cell differ
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.evaluation import BoundRule
from costboost.boosting.adaboost.hypothesis import Hypothesis, RowTerms
from costboost.boosting.adaboost.prices import Prices, class_prices, row_prices
from costboost.boosting.adaboost.rules import At
from costboost.boosting.paying import Bill, make_bill
from costboost.costs import Costs

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Part = tuple[Floats, Floats]

TINY = 1e-280  # weights are held above this: no denormals, and a way back; as in the kernels
_NONE = np.zeros(0)


@dataclass
class AdaRows:
    """One shard's rows; see the head of this module.

    Attributes
    ----------
    objective : callable or None
        The user's (a, b, w0) at an `At` and these rows.
    scales : tuple of float
        What prices are multiplied by, one factor after the other.
    handed : float64 array of shape (m,) or None
        What multiplies the weights for the learner.
    sizes : float64 array of shape (m,) or None
        How strongly an outside learner votes on each row.
    logs : float64 array of shape (m,) or None
        Logarithms of the weights, once products have lost too much.
    absent : bool array of shape (m,) or None
        Rows without weight, which no step brings back.
    tails : list of (logs, margins)
        All rows, those that gain and those that lose, while a long step is looked for.
    """

    bill: Bill
    labels: NDArray[np.uint8]
    sample_weights: Floats | None
    prices: Prices
    n_classes: int
    objective: Any = None
    bound: BoundRule | None = None
    scales: tuple[float, ...] = ()
    weights: Floats = field(default_factory=lambda: _NONE)
    margins: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    handed: Floats | None = None
    sizes: Floats | None = None
    logs: Floats | None = None
    absent: NDArray[np.bool_] | None = None
    tails: list[Part] = field(default_factory=list)
    _terms: RowTerms | None = None
    _ahead: Floats | None = None

    def bind(self, bound: BoundRule, *scales: float) -> None:
        """Evaluate a rule at other prices from now on."""
        self.bound, self.scales = bound, scales
        self._terms = self._ahead = self.handed = None

    # --- the rule at the rows

    def scaled_prices(self) -> Prices:
        """Return the prices of the rows, (m,) and (m, K), as scaled for the rule."""
        prices = self.prices
        for scale in self.scales:
            prices = prices.scaled(scale)
        return prices.by_row(self.labels)

    def at(self) -> At:
        """Return the rule's view of the rows."""
        assert self.bound is not None
        return self.bound.at(self.scaled_prices().right, self.labels, self.objective)

    def terms(self) -> RowTerms:
        """Return the margins and factors of the rows, votes of strength 1."""
        if self._terms is None:
            assert self.bound is not None
            parts = self.bound.terms(self.scaled_prices(), self.labels, self.objective)
            self._terms = RowTerms.of(*parts)
        return self._terms

    def ahead(self) -> Floats:
        """Return the rule's factors before a round, (m,)."""
        if self._ahead is None:
            assert self.bound is not None
            self._ahead = self.bound.before(self.at())
        return self._ahead

    # --- long steps

    def log_weights(self) -> Floats:
        """Return the logarithms of the weights, a copy; minus infinity for rows without any."""
        if self.logs is not None:
            return self.logs.copy()
        logs = np.empty(len(self.weights))
        kernels.take_logs(self.weights, logs)
        if self.absent is not None:
            logs[self.absent] = -np.inf
        return logs

    @property
    def unit_weights(self) -> Floats:
        """The sample weights; ones where none were given."""
        return np.ones(len(self.labels)) if self.sample_weights is None else self.sample_weights


@dataclass(frozen=True)
class Given:
    """What the user said of all rows, in the order of the table: shards take their part of it.

    Attributes
    ----------
    y : int64 array of shape (n,)
    costs : Costs
        Bound, in the user's units.
    weights : float64 array of shape (n,) or None
    n_classes : int
    labels : int64 array of shape (n,)
        What rows aim at.
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    objective : callable or None
        (at, rows) -> (a, b, w0).
    own_prices : bool
        Whether rows have prices of their own even where costs are constant by class.
    """

    y: Int64
    costs: Costs
    weights: Floats | None
    n_classes: int
    labels: Int64
    aim: bool = True
    objective: Any = None
    own_prices: bool = False

    @property
    def aims_at_truth(self) -> bool:
        """Whether all rows aim at their true classes."""
        return self.labels is self.y or bool(np.array_equal(self.labels, self.y))

    def by_class(self) -> Prices | None:
        """Return the prices by class, or None where rows of a class differ."""
        if self.own_prices:
            return None
        return class_prices(self.costs, self.n_classes, aim=self.aim)

    def prices_of(self, rows: Int64) -> Prices:
        """Return the prices of some rows, or by class where rows of a class are alike.

        Those of a row do not depend on what an objective makes it aim at.
        """
        by_class = class_prices(self.costs, self.n_classes, aim=self.aim)
        if by_class is not None:
            return by_class.by_row(self.y[rows]) if self.own_prices else by_class
        costs, own = self.costs[rows] if self.costs.per_row else self.costs, self.y[rows]
        labels = costs.cheapest_labels(own, encoded=True) if self.aim else own
        return row_prices(costs, own, labels)

    def load(self, rows: Int64) -> AdaRows:
        """Return what a shard holds of these rows."""
        labels = np.ascontiguousarray(self.labels[rows], dtype=np.uint8)
        weights = None if self.weights is None else np.ascontiguousarray(self.weights[rows])
        n_outputs = 1 if self.n_classes == 2 else self.n_classes
        return AdaRows(
            make_bill(self.costs, self.y, rows),
            labels,
            weights,
            self.prices_of(rows),
            self.n_classes,
            None if self.objective is None else partial(self.objective, rows=rows),
            margins=np.zeros((len(rows), n_outputs)),
        )


def margins_of(
    terms: RowTerms, hypothesis: Hypothesis, leaves: NDArray[Any], labels: NDArray[Any], n: int
) -> Floats:
    """Return the effective margin of every row, (m,), for K = `n` classes."""
    rows, answers = np.arange(len(leaves)), terms.columns(hypothesis)[leaves]
    return np.asarray(terms.sizes(hypothesis, n)[leaves, labels] * terms.u[rows, answers])

"""A rule's functions evaluated at costs: by class where rows of a class are alike, else by row.

The same evaluation runs on the driver, for tables over classes, and where the rows are. Whatever a
rule answers is checked: it may be a user's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.objectives import Beta, RuleInput, one
from costboost.costs import Costs
from costboost.inputs.outside import STEEPEST, read_finite
from costboost.shards.layout import blocks_of
from costboost.typing import Floats

# Costs as training takes them: the label to aim at, and the cost of missing it.

WIDEST = 1e250  # costs further apart than this are taken to be this far apart


@dataclass(frozen=True)
class MistakePrices:
    """Costs of mistakes, by class or by row.

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

    def scaled(self, factor: float) -> MistakePrices:
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

    def by_row(self, labels: NDArray[Any]) -> MistakePrices:
        """Return the same prices as arrays over rows of these labels."""
        if not self.constant:
            return self
        return MistakePrices(self.row_price[labels], self.answer_price[labels], constant=False)


def class_prices(costs: Costs, n_classes: int, *, aim: bool = True) -> MistakePrices | None:
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
        return MistakePrices(np.ones(n_classes), np.ones((n_classes, n_classes)), constant=True)
    if not costs.is_constant:
        return None
    table = costs.of_labels(np.arange(n_classes), encoded=True)
    excess = table - np.diagonal(table)[:, None]
    if excess.min() < 0 and aim:
        return None
    return _mean_and_wrong(np.maximum(excess, 0.0), np.arange(n_classes), constant=True)


def aimed_labels(
    costs: Costs,
    y: NDArray[np.integer[Any]],
    n_classes: int,
    *,
    aim: bool = True,
    known: MistakePrices | None = None,
) -> NDArray[np.integer[Any]]:
    """Return the label that each row aims at: its class, or the cheapest answer, (n,).

    `known` are the class prices, where there are some and they were read before.
    """
    if not aim or (known or class_prices(costs, n_classes)) is not None:
        return y
    labels = y.astype(np.uint8)
    for rows in blocks_of(len(y)):
        own = costs[rows] if costs.per_row else costs
        labels[rows] = own.cheapest_labels(y[rows].astype(np.int64), encoded=True)
    return labels


def row_prices(costs: Costs, y: NDArray[Any], labels: NDArray[Any]) -> MistakePrices:
    """Return the prices of rows of classes `y` that aim at `labels`."""
    paid = costs.of_labels(y.astype(np.int64), encoded=True)
    excess = paid - paid[np.arange(len(y)), labels][:, None]
    return _mean_and_wrong(np.maximum(excess, 0.0), labels, constant=False)


def _mean_and_wrong(excess: Floats, labels: NDArray[Any], *, constant: bool) -> MistakePrices:
    rows = np.arange(len(labels))
    # Divided first: costs of 1e300 must not overflow in the sum.
    mean = np.sum(excess / (excess.shape[1] - 1), axis=1)
    wrong = excess.copy()
    wrong[rows, labels] = mean
    return MistakePrices(mean, wrong, constant)


def price_scale(
    largest: float, smallest: float, rule: Rule, wanted: float | Literal["auto"]
) -> float:
    """Return the factor of prices for a rule; where it may choose, the largest becomes `wanted`."""
    how = rule.scale
    if largest == 0.0 or (how == "none" and 1e-100 < largest < 1e100):
        return 1.0
    if how == "none":  # only Z of AdaC2 depends on the unit of costs, and must not overflow
        return math.ldexp(1.0, -math.frexp(largest)[1])
    if how == "smallest":
        return 1.0 / max(smallest, largest / WIDEST)
    return (1.0 if wanted == "auto" else wanted) / largest


_LARGEST = 1e300  # factors beyond are refused: they are multiplied by weights


@dataclass(frozen=True)
class BoundRule:
    """A rule with the parameters of a fit, ready to be evaluated at costs.

    Attributes
    ----------
    rule : Rule
    n_rounds : int
        The number of rounds asked for.
    n_classes : int
    beta : callable or None
        The user's own, for AdaCost.
    ratio : float
        The mean cost of the positives over that of the negatives (AdaUBoost's beta).
    free : bool
        Whether no mistake costs anything, on any row of the fit.
    """

    rule: Rule
    n_rounds: int
    n_classes: int
    beta: Beta | None = None
    ratio: float = 1.0
    free: bool = False

    def at(
        self,
        cost: Floats,
        labels: NDArray[Any],
        objective: Any = None,
        row_cost: Floats | None = None,
    ) -> RuleInput:
        """Return the input of the rule's functions at costs and labels of the same first dimension.

        `objective` gives Gradient-CSB's (a, b, w0) at a `RuleInput`.
        """
        sign = np.where(labels == 1, 1.0, -1.0) if self.n_classes == 2 else np.ones(len(labels))
        at = RuleInput(
            cost=cost,
            sign=_like(sign, cost),
            row_cost=None if row_cost is None else _like(row_cost, cost),
            n_rounds=self.n_rounds,
            n_classes=self.n_classes,
            ratio=self.ratio,
            beta=self.beta,
            free=self.free,
        )
        return at if objective is None else replace(at, objective=objective(at))

    def exponents(self, name: str, at: RuleInput) -> Floats:
        """Evaluate one of the rule's exponents."""
        return self._asked(name, at, -STEEPEST, STEEPEST)

    def factor(self, name: str, at: RuleInput) -> Floats:
        """Evaluate one of the rule's weights or factors."""
        return self._asked(name, at, 0.0, _LARGEST)

    def round_factor(self, at: RuleInput) -> Floats:
        """Evaluate the rule's factors before a round: ones if it has none."""
        return (
            np.ones_like(at.cost)
            if self.rule.round_factor is None
            else self.factor("round_factor", at)
        )

    def _asked(self, name: str, at: RuleInput, low: float, high: float) -> Floats:
        source = f"{name} of method={self.rule.name!r}"
        if self.beta is not None:
            source += " with your beta"
        answer = getattr(self.rule, name)(at)
        return read_finite(answer, at.cost.shape, source, low=low, high=high)

    def both_exponents(self, at: RuleInput) -> tuple[Floats, Floats]:
        """Return the exponents of (right, wrong) answers.

        Twice the same array where they are equal.
        """
        right = self.exponents("right", at)
        alike = self.rule.wrong is self.rule.right
        return right, right if alike else self.exponents("wrong", at)

    def both_factors(self, at: RuleInput) -> tuple[Floats, Floats]:
        """Return the factors of (right, wrong) answers; twice the same array where they are equal.

        Factors that are all 1 are a view of one number.
        """
        alike = self.rule.wrong_factor is self.rule.right_factor
        if alike and self.rule.right_factor is one:
            ones = np.broadcast_to(1.0, at.cost.shape)
            return ones, ones
        right = self.factor("right_factor", at)
        return right, right if alike else self.factor("wrong_factor", at)

    def terms(
        self, prices: MistakePrices, labels: NDArray[Any], objective: Any = None
    ) -> tuple[Floats, Floats]:
        """Return the effective margins and factors for every answer, (m, K) each.

        `prices` are of the rows, or of the classes, that `labels` names.
        """
        own = np.asarray(labels)[:, None] == np.arange(self.n_classes)
        at = wide = self.at(prices.row_price, labels, objective)
        if self.n_classes > 2:
            wide = self.at(prices.answer_price, labels, objective, prices.row_price)
        right, wrong = self.exponents("right", at), self.exponents("wrong", wide)
        u = np.where(own, _wide(right), -_wide(wrong))
        factors = self.factor("right_factor", at), self.factor("wrong_factor", wide)
        return u, np.where(own, _wide(factors[0]), _wide(factors[1]))


def in_range(largest: float, small: float = 1e-100) -> int:
    """Return the exponent of two that brings factors so large into the grid's range; mostly 0."""
    if largest == 0.0 or small <= largest <= 1.0 / small:
        return 0
    return -math.frexp(largest)[1]


def _like(values: Floats, cost: Floats) -> Floats:
    """Return one value per row as an array of the shape of `cost`, (m,) or (m, K)."""
    return np.broadcast_to(values.reshape(values.shape + (1,) * (cost.ndim - 1)), cost.shape)


def _wide(term: Any) -> Floats:
    """Return a term of shape (m,) as (m, 1); one of shape (m, K) as it is."""
    return np.asarray(term if term.ndim > 1 else term[:, None])

"""A rule's functions at costs: by class where rows of a class are alike, else at the rows.

The same evaluation runs on the driver, for tables over classes, and where the rows are. Whatever a
rule answers is checked: it may be a user's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.prices import Prices
from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.objectives import Beta, RuleInput, one
from costboost.inputs.outside import STEEPEST, read_finite

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_LARGEST = 1e300  # factors beyond are refused: they are multiplied by weights


@dataclass(frozen=True)
class BoundRule:
    """A rule with the setting of a fit.

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
        """Return the rule's view of costs, for labels of the same first dimension.

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
        """Return the exponents of right and of wrong answers: one array where they are alike."""
        right = self.exponents("right", at)
        alike = self.rule.wrong is self.rule.right
        return right, right if alike else self.exponents("wrong", at)

    def both_factors(self, at: RuleInput) -> tuple[Floats, Floats]:
        """Return the factors of right and of wrong answers: one array where they are alike.

        Factors that are all 1 are a view of one number.
        """
        alike = self.rule.wrong_factor is self.rule.right_factor
        if alike and self.rule.right_factor is one:
            ones = np.broadcast_to(1.0, at.cost.shape)
            return ones, ones
        right = self.factor("right_factor", at)
        return right, right if alike else self.factor("wrong_factor", at)

    def terms(
        self, prices: Prices, labels: NDArray[Any], objective: Any = None
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
    """Return the power of two that gives factors so large room on a grid; 0 where they have it."""
    if largest == 0.0 or small <= largest <= 1.0 / small:
        return 0
    return -math.frexp(largest)[1]


def _like(values: Floats, cost: Floats) -> Floats:
    """Return one value per row as an array of the shape of `cost`, (m,) or (m, K)."""
    return np.broadcast_to(values.reshape(values.shape + (1,) * (cost.ndim - 1)), cost.shape)


def _wide(term: Any) -> Floats:
    """Return a term of shape (m,) as a column; one of shape (m, K) as it is."""
    return np.asarray(term if term.ndim > 1 else term[:, None])

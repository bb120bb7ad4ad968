"""A rule at the costs of a fit, as the loop knows it: tables over classes, and facts of all rows.

Where costs are constant per class, or do not enter the rounds, rows of one leaf and one class are
alike and everything is a table over classes. Otherwise every row has margins and factors of its
own; often only the factors differ, and the margins are still one table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.evaluation import BoundRule, in_range
from costboost.boosting.adaboost.hypothesis import Hypothesis, Latest
from costboost.boosting.adaboost.learner import Votes
from costboost.boosting.adaboost.messages.binding import (
    BindRule,
    EvaluateTerms,
    PriceRange,
    PricesBySign,
    RateSums,
    RowFacts,
)
from costboost.boosting.adaboost.messages.summing import LargestPriced, LargestSize
from costboost.boosting.adaboost.prices import WIDEST, Prices, price_scale
from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.links import MAX_ALPHA
from costboost.boosting.objectives import Beta, RuleInput
from costboost.shards.grid import rounded
from costboost.shards.local import Shards

Floats = NDArray[np.float64]

# Where the largest factor exceeds the smallest by this, the largest weight times the largest factor
# says too little of the largest product: rows are asked for that.
FAR = 2.0**16


@dataclass(frozen=True)
class Setting:
    """What the user chose, beside the rule and the learner.

    `objective` evaluates Gradient-CSB's (a, b, w0); `cost_scale` is the largest cost after
    scaling, or "auto".
    """

    n_rounds: int
    votes: Votes = "discrete"
    alpha: Literal["published", "search", "estimate"] = "published"
    learning_rate: float = 1.0
    max_alpha: float = MAX_ALPHA
    cost_scale: float | Literal["auto"] = "auto"
    beta: Beta | None = None
    objective: Any = None


class EffectiveRule:
    """The rule's functions, evaluated at scaled prices.

    Parameters
    ----------
    shards : Shards
    rule : Rule
    by_class : Prices or None
        In the user's units; None where rows of a class differ.
    n_classes : int
    setting : Setting

    Attributes
    ----------
    largest_price : float
        The largest cost of a mistake, as scaled for the rule.
    terms_by_class : bool
        Whether rows of one leaf and class are alike in all sums: no pass over rows.
    has_cell_factors : bool
        Whether, then, weights are multiplied by anything but exponentials of margins.
    """

    def __init__(
        self,
        shards: Shards,
        rule: Rule,
        by_class: Prices | None,
        n_classes: int,
        setting: Setting,
    ) -> None:
        self.shards, self.rule, self.setting, self.n_classes = shards, rule, setting, n_classes
        self.constant = by_class is not None
        self.terms_by_class = self.constant or rule.plain_rounds
        if by_class is None:
            largest, smallest = shards.call([PriceRange()])[0]
        else:
            largest, smallest = by_class.largest, by_class.smallest
        scale = price_scale(largest, smallest, rule, setting.cost_scale)
        self._scales: tuple[float, ...] = (scale,)
        self._unit = None if by_class is None else by_class.scaled(scale)
        self.largest_price = largest * scale
        self._cell_margins, self._cell_factors, self._longest = Latest(), Latest(), Latest()
        how = (setting.n_rounds, n_classes, setting.beta)
        self.bound = BoundRule(rule, *how, self._ratio(), free=largest == 0.0)
        self.evaluate(1.0)

    def evaluate(self, scale: float) -> None:
        """Evaluate the rule at prices times `scale`: by class where rows are alike."""
        scales = self._scales if scale == 1.0 else (*self._scales, scale)
        self.shards.call([BindRule(self.bound, scales)])
        self._facts: RowFacts | None = None
        self._cell_margins.forget()
        self._cell_factors.forget()
        self._longest.forget()
        self._slope: float | None = None
        self.prices = None if self._unit is None else self._unit.scaled(scale)
        if self.terms_by_class:
            classes = np.arange(self.n_classes)
            ones = Prices(np.ones(self.n_classes), np.ones((self.n_classes,) * 2), constant=True)
            parts = self.bound.terms(self.prices or ones, classes, self._objective)
            self._margins, self._factors = parts
            self.has_cell_factors = self.rule.round_factor is not None or bool(
                (self._factors != 1.0).any()
            )

    @property
    def _objective(self) -> Any:
        """The user's objective at a table over classes."""
        given = self.setting.objective
        return None if given is None else partial(given, rows=None)

    def _ratio(self) -> float:
        """Return the mean cost of the positives over that of the negatives."""
        if self._unit is not None:
            negative, positive = float(self._unit.row_price[0]), float(self._unit.row_price[1])
        else:
            (sums,) = self.shards.call([PricesBySign(self._scales[0])])
            lighter, cheaper, heavier, dearer = map(rounded, sums)
            if not (lighter > 0.0 and heavier > 0.0):
                return 1.0
            negative, positive = cheaper / lighter, dearer / heavier
        if not (positive > 0 and negative > 0):
            return 1.0
        return min(max(positive / negative, 1.0 / WIDEST), WIDEST)

    def _at_classes(self) -> RuleInput:
        assert self.prices is not None
        return self.bound.at(self.prices.row_price, np.arange(self.n_classes), self._objective)

    # --- weights

    def handed_by_class(self) -> Floats | None:
        """Return what multiplies a class's weights for the learner, (K,), where rows are alike."""
        if self.rule.handed is None or not self.constant:
            return None
        factors = self.bound.factor("handed", self._at_classes())
        return np.asarray(np.ldexp(factors, in_range(float(np.max(factors)))))

    def round_factor_by_class(self) -> Floats:
        """Return the rule's factors before a round, (K,); ones where rows have their own."""
        if self.rule.round_factor is None or not self.constant:
            return np.ones(self.n_classes)
        return self.bound.round_factor(self._at_classes())

    @property
    def round_factor_by_row(self) -> bool:
        """Whether rows have factors before a round that no class has."""
        return self.rule.round_factor is not None and not self.constant

    def link_slope(self) -> float:
        """Return the slope of the link of the rule's loss, a mean where rows differ."""
        if self._slope is None:
            self._slope = self._find_slope()
        return self._slope

    def _find_slope(self) -> float:
        if self.constant and self.setting.objective is None:
            return 2.0 / self.n_classes * float(np.sum(self.rule.rate(self._at_classes())))
        (sums,) = self.shards.call([RateSums()])
        weights, rates = np.array(list(map(rounded, sums))).reshape(2, self.n_classes)
        seen = weights > 0.0
        return 2.0 / int(np.sum(seen)) * float(np.sum(rates[seen] / weights[seen]))

    # --- margins and factors by cell (leaf, class)

    def by_cell(self, hypothesis: Hypothesis) -> bool:
        """Whether rows of one leaf and class have one effective margin."""
        return not hypothesis.by_row and (self.terms_by_class or self.facts.margins_by_class)

    def cell_margins(self, hypothesis: Hypothesis) -> Floats:
        """Return the effective margin of every cell, (L, K)."""
        return self._cell_margins.of(hypothesis, self._margins_of)

    def _margins_of(self, hypothesis: Hypothesis) -> Floats:
        margins = self._margins if self.terms_by_class else self.facts.margins
        return np.asarray(margins[:, hypothesis.votes].T * hypothesis.sizes[:, None])

    def longest_cell_margin(self, hypothesis: Hypothesis) -> float:
        """Return the size of the largest margin of a cell."""
        return self._longest.of(hypothesis, self._longest_of)

    def _longest_of(self, hypothesis: Hypothesis) -> float:
        return float(np.max(np.abs(self.cell_margins(hypothesis))))

    def cell_factors(self, hypothesis: Hypothesis) -> Floats:
        """Return the factor of every cell, (L, K), where rows are alike."""
        return self._cell_factors.of(hypothesis, lambda said: self._factors[:, said.votes].T)

    # --- margins and factors by row

    @property
    def facts(self) -> RowFacts:
        """What is known of the terms of all rows."""
        if self._facts is None:
            (facts,) = self.shards.call([EvaluateTerms()])
            # Classes without rows have no margins.
            self._facts = replace(facts, margins=np.nan_to_num(facts.margins))
        return self._facts

    @property
    def has_factors(self) -> bool:
        """Whether rows have factors other than 1."""
        return self.facts.has_factors

    def reach(self, hypothesis: Hypothesis) -> float:
        """Bound the effective margins of rows."""
        return max(self.facts.farthest * self.largest_size(hypothesis), 1e-300)

    def largest_size(self, hypothesis: Hypothesis) -> float:
        """Return the strength of the strongest vote."""
        size = float(np.max(hypothesis.sizes))
        return size * self.shards.call([LargestSize()])[0] if hypothesis.by_row else size

    def largest(self, hypothesis: Hypothesis, largest_weight: float) -> float:
        """Bound weight * factor of the rows."""
        if self.facts.largest_factor <= FAR:
            return largest_weight * self.facts.largest_factor
        return float(self.shards.call([LargestPriced(hypothesis)])[0])

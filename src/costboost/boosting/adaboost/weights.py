"""The weights of the training rows: the first ones, what the learner gets, and how they change."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from costboost.boosting.adaboost.learner import Hypothesis, LearnerWeights, Votes, WeakModel
from costboost.boosting.adaboost.rules import BoundRule, MistakePrices, Rule
from costboost.boosting.adaboost.steps import RowSums, RowTails, Tails, halvings
from costboost.boosting.adaboost.sums import (
    RowLogs,
    View,
    largest_priced_weight,
    largest_vote_size,
    settle_logs,
    step_logs,
    sum_cells,
    sum_priced_cells,
)
from costboost.boosting.adaboost.updates import (
    RowFacts,
    are_copies,
    bind_rule,
    evaluate_terms,
    largest_learner_weight,
    largest_logs_by_class,
    largest_weights_by_class,
    multiply_cells,
    multiply_rows,
    multiply_sample_weights,
    price_range,
    sample_weight_range,
    scale_learner_factors,
    set_first_weights,
    set_learner_factors,
    set_learner_factors_by_class,
    settle_weights,
    sum_prices_by_sign,
    sum_rates,
)
from costboost.boosting.formulas import MAX_ALPHA, Beta, RuleInput
from costboost.runtime.messages import Call
from costboost.shards.grid import grid_scale, rounded, to_floats
from costboost.shards.layout import Shards
from costboost.typing import Floats

T = TypeVar("T")

# If factors span more than this ratio, max(w) * max(f) is too loose a bound; compute max(w * f).
FAR = 2.0**16


WIDEST = 1e250  # costs further apart than this are taken to be this far apart


def price_scale(
    largest: float, smallest: float, rule: Rule, wanted: float | Literal["auto"]
) -> float:
    """Return the factor of prices for a rule; where it may choose, the largest becomes `wanted`."""
    how = rule.scale
    if largest == 0.0 or (how == "none" and 1e-100 < largest < 1e100):
        return 1.0
    if how == "none":  # only Z of AdaC2 depends on the unit of costs, and must not overflow
        return math.ldexp(1.0, -math.frexp(largest)[1])
    # Prices may be too far apart for floats to hold the largest in units of the smallest.
    if how == "smallest":
        return 1.0 / max(smallest, largest / WIDEST)
    return (1.0 if wanted == "auto" else wanted) / largest


def in_range(largest: float, small: float = 1e-100) -> int:
    """Return the exponent of two that brings factors so large into the grid's range; mostly 0."""
    if largest == 0.0 or small <= largest <= 1.0 / small:
        return 0
    return -math.frexp(largest)[1]


class LastValue:
    """A cache of one value: that of the last object it was computed of."""

    def __init__(self) -> None:
        self._of: Any = None
        self._value: Any = None

    def of(self, thing: Any, compute: Callable[[Any], T]) -> T:
        """Return compute(thing), cached while `thing` is the same object."""
        if self._of is not thing:
            self._of, self._value = thing, compute(thing)
        value: T = self._value
        return value

    def forget(self) -> None:
        """Empty the cache."""
        self._of = None


@dataclass(frozen=True)
class Setting:
    """The user's parameters, beside the rule and the learner.

    `objective` evaluates Gradient-CSB's (a, b, w0); `cost_scale` is the largest cost after
    scaling, or "auto".
    """

    n_rounds: int
    votes: Votes = "discrete"
    alpha: Literal["published", "search", "estimate"] = "published"
    learning_rate: float = 1.0
    cost_scale: float | Literal["auto"] = "auto"
    beta: Beta | None = None
    objective: Any = None


class EffectiveRule:
    """A rule at the costs of a fit: tables by class if rows of a class are alike, else row facts.

    Parameters
    ----------
    shards : Shards
    rule : Rule
    by_class : MistakePrices or None
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
        by_class: MistakePrices | None,
        n_classes: int,
        setting: Setting,
    ) -> None:
        self.shards, self.rule, self.setting, self.n_classes = shards, rule, setting, n_classes
        self.constant = by_class is not None
        self.terms_by_class = self.constant or rule.plain_rounds
        if by_class is None:
            largest, smallest = shards.call([price_range()])[0]
        else:
            largest, smallest = by_class.largest, by_class.smallest
        # Costs are scaled once for the rule; `evaluate` may scale them again (AdaCost's first
        # step).
        scale = price_scale(largest, smallest, rule, setting.cost_scale)
        self._scales: tuple[float, ...] = (scale,)
        self._unit = None if by_class is None else by_class.scaled(scale)
        self.largest_price = largest * scale
        self._cell_margins, self._cell_factors, self._longest = (
            LastValue(),
            LastValue(),
            LastValue(),
        )
        how = (setting.n_rounds, n_classes, setting.beta)
        self.bound = BoundRule(rule, *how, self._ratio(), free=largest == 0.0)
        self.evaluate(1.0)

    def evaluate(self, scale: float) -> None:
        """Evaluate the rule at prices times `scale`: by class where rows are alike."""
        scales = self._scales if scale == 1.0 else (*self._scales, scale)
        self.shards.call([bind_rule(bound=self.bound, scales=scales)])
        self._facts: RowFacts | None = None
        self._cell_margins.forget()
        self._cell_factors.forget()
        self._longest.forget()
        self._slope: float | None = None
        self.prices = None if self._unit is None else self._unit.scaled(scale)
        if self.terms_by_class:
            classes = np.arange(self.n_classes)
            ones = MistakePrices(
                np.ones(self.n_classes), np.ones((self.n_classes,) * 2), constant=True
            )
            # Terms of every (class, answer): rows then need none of their own.
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
            # In proportion to the largest: what any row's weight is multiplied by is at most 1.
            power = -math.frexp(self.largest_price)[1]
            (sums,) = self.shards.call(
                [sum_prices_by_sign(scale=math.ldexp(self._scales[0], power))]
            )
            n_negative, cost_negative, n_positive, cost_positive = map(rounded, sums)
            if not (n_negative > 0.0 and n_positive > 0.0):
                return 1.0
            negative, positive = cost_negative / n_negative, cost_positive / n_positive
        if not (positive > 0 and negative > 0):
            return 1.0
        return min(max(positive / negative, 1.0 / WIDEST), WIDEST)

    def _at_classes(self) -> RuleInput:
        assert self.prices is not None
        return self.bound.at(self.prices.row_price, np.arange(self.n_classes), self._objective)

    # Weights.

    def learner_factors_by_class(self) -> Floats | None:
        """Return the learner's weight factors by class, (K,); None where rows of a class differ."""
        if self.rule.learner_factor is None or not self.constant:
            return None
        factors = self.bound.factor("learner_factor", self._at_classes())
        return np.asarray(np.ldexp(factors, in_range(float(np.max(factors)))))

    def round_factor_by_class(self) -> Floats:
        """Return the factors before a round by class, (K,); ones where rows have their own."""
        if self.rule.round_factor is None or not self.constant:
            return np.ones(self.n_classes)
        return self.bound.round_factor(self._at_classes())

    @property
    def round_factor_by_row(self) -> bool:
        """Whether factors before a round differ by row."""
        return self.rule.round_factor is not None and not self.constant

    def link_slope(self) -> float:
        """Return the slope of the link of the rule's loss; the mean where rows differ."""
        if self._slope is None:
            self._slope = self._find_slope()
        return self._slope

    def _find_slope(self) -> float:
        if self.constant and self.setting.objective is None:
            return 2.0 / self.n_classes * float(np.sum(self.rule.rate(self._at_classes())))
        (sums,) = self.shards.call([sum_rates()])
        weights, rates = np.array(list(map(rounded, sums))).reshape(2, self.n_classes)
        seen = weights > 0.0
        return 2.0 / int(np.sum(seen)) * float(np.sum(rates[seen] / weights[seen]))

    # Margins and factors by cell (leaf, class).

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
        return self._cell_factors.of(hypothesis, lambda h: self._factors[:, h.votes].T)

    def largest_factor(self, hypothesis: Hypothesis) -> float:
        """Return the largest factor of any row."""
        if self.terms_by_class:
            return float(np.max(self.cell_factors(hypothesis)))
        return self.facts.largest_factor

    # Margins and factors by row.

    @property
    def facts(self) -> RowFacts:
        """Summary of the margins and factors of all rows, cached."""
        if self._facts is None:
            (facts,) = self.shards.call([evaluate_terms()])
            # Classes without rows have no margins.
            self._facts = replace(facts, margins=np.nan_to_num(facts.margins))
        return self._facts

    @property
    def has_factors(self) -> bool:
        """Whether rows have factors other than 1."""
        return self.facts.has_factors

    def reach(self, hypothesis: Hypothesis) -> float:
        """Return an upper bound of |u| over all rows."""
        return max(self.facts.farthest * self.largest_size(hypothesis), 1e-300)

    def largest_size(self, hypothesis: Hypothesis) -> float:
        """Return the strength of the strongest vote."""
        size = float(np.max(hypothesis.sizes))
        return size * self.shards.call([largest_vote_size()])[0] if hypothesis.by_row else size

    def largest(self, hypothesis: Hypothesis, largest_weight: float) -> float:
        """Return an upper bound of weight * factor over all rows."""
        if self.facts.largest_factor <= FAR:
            return largest_weight * self.facts.largest_factor
        return float(self.shards.call([largest_priced_weight(hypothesis=hypothesis)])[0])


LONG = MAX_ALPHA * (1 + 1e-6)  # exponents up to here are within what the grid can tell
_RAREST = 2.0**-20  # of the largest weight: smaller ones are no unit to count in
# Classes whose factors differ by no more than this share one grid: each class's factor then goes
# into its scale, and rows need none of their own.
_NEAR = 2.0**-6


class Weights:
    """The row weights, held in the shards; their sum need not be 1.

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
        self._priced, self._sums = LastValue(), LastValue()
        self._by_class = terms.learner_factors_by_class()
        if self._by_class is not None and not _near(self._by_class):
            self._by_class = None
        self._row_factors: tuple[float, float] | None = None

    def _first(self, weighted: bool) -> float:
        """Set the weights of the first round; return the largest.

        Products of 1e300 and 1e-300 must stay in range. Powers of two only: a row of weight 3 is
        three rows, and 3 / 7 is not a number.
        """
        # Three passes, so that neither the rule's weights nor the user's overflow: each is brought
        # near 1 by a power of two before they are multiplied.
        (top,) = self.shards.call([set_first_weights()])
        unit, heaviest = None, 1.0
        if weighted:
            heaviest, unit = self._unit()
        own = -_exponent(heaviest) if weighted else 0
        (largest,) = self.shards.call(
            [multiply_sample_weights(exponent=-_exponent(top), unit=unit, unit_exponent=own)]
        )
        if not largest > 0.0:
            # No row has any weight (nothing costs anything): all are alike then.
            self.shards.call([settle_weights(exponent=0, constant=0.5)])
            return 0.5
        # The largest is now between 1/2 and 1; dividing by a power of two rounds nothing.
        exponent = -_exponent(largest)
        self.shards.call([settle_weights(exponent=exponent, constant=None)])
        return math.ldexp(largest, exponent)

    def _unit(self) -> tuple[float, float | None]:
        """Return the largest weight and the unit it is counted in: rows given several times."""
        most, least = self.shards.call([sample_weight_range()])[0]
        if least > _RAREST * most and self.shards.call([are_copies(least=least)])[0]:
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

    def learner_weights(self, *, joint: bool = False) -> LearnerWeights:
        """Return the weights for the learner.

        With `joint`, which chooses alpha too, without factors.
        """
        if joint:
            return self._learner_weights_by_class()
        # The bound `largest` sets the grid of the learner's histograms: it may be loose, by a few
        # bits, but must not depend on the shards.
        if self.terms.rule.learner_factor is None:
            return LearnerWeights(self.largest, self.of_cells)
        if self._by_class is not None:
            largest = self.largest * float(np.max(self._by_class))
            return LearnerWeights(largest, self.of_cells, by_class=self._by_class)
        if self._row_factors is None:
            self._row_factors = self._set_learner_factors()
        most, least = self._row_factors
        largest = self.largest * most
        if least * FAR < most:  # the product of two bounds is then too coarse a bound
            (largest,) = self.shards.call([largest_learner_weight()])
        return LearnerWeights(float(largest), self.of_cells, by_row=True)

    def _learner_weights_by_class(self) -> LearnerWeights:
        """Return weights without factors; relative to each class's largest if these differ much."""
        if _near(self.shards.call([largest_weights_by_class()])[0]):
            return LearnerWeights(self.largest, self.of_cells)
        (logs,) = self.shards.call([largest_logs_by_class()])
        self.shards.call([set_learner_factors_by_class(largest=logs)])
        return LearnerWeights(1.0, self.of_cells, by_row=True, units=logs)

    def _set_learner_factors(self) -> tuple[float, float]:
        """Set `learner_factors` of all rows, in the grid's range; return (largest, smallest)."""
        most, least = self.shards.call([set_learner_factors()])[0]
        exponent = in_range(most)
        if exponent:
            self.shards.call([scale_learner_factors(exponent=exponent)])
        return math.ldexp(most, exponent), math.ldexp(least, exponent)

    def sums(self, hypothesis: Hypothesis, cells: Floats | None) -> RowSums:
        """Return the sums over rows; those of one hypothesis are kept until the weights change.

        `cells` are its weights by leaf and class, if they are known.
        """
        return self._sums.of(hypothesis, lambda h: self._sum_rows(h, cells))

    def _sum_rows(self, hypothesis: Hypothesis, cells: Floats | None) -> RowSums:
        bounds = (self.terms.largest(hypothesis, self.largest), self.terms.reach(hypothesis))
        return RowSums(self.shards, View(hypothesis), cells, *bounds)

    def of_cells(self, hypothesis: Hypothesis) -> Floats:
        """Return the weight of the rows of every class in every leaf, (L, K)."""
        if not self.terms.by_cell(hypothesis) and not self.terms.has_factors:
            return self.sums(hypothesis, None).cells  # by the pass that the step needs too
        scale = grid_scale(self.largest, self.shards.n_rows)
        (sums,) = self.shards.call([sum_cells(n_leaves=len(hypothesis.votes), scale=scale)])
        return np.asarray(sums / scale)

    def of_priced_cells(self, model: WeakModel) -> Floats:
        """Return the sum of weight * factor in every cell; a pass over rows if factors differ."""
        terms, hypothesis = self.terms, model.hypothesis
        if terms.terms_by_class:
            factored = terms.has_cell_factors
            return model.cells * terms.cell_factors(hypothesis) if factored else model.cells
        if not terms.has_factors:
            return model.cells
        return self._priced.of(hypothesis, self._price_cells)

    def _price_cells(self, hypothesis: Hypothesis) -> Floats:
        scale = grid_scale(self.terms.largest(hypothesis, self.largest), self.shards.n_rows)
        (sums,) = self.shards.call([sum_priced_cells(hypothesis=hypothesis, scale=scale)])
        return to_floats(sums, scale)

    def change(self, model: WeakModel, alpha: float, normalizer: float) -> Call[float]:
        """Return the call that updates the weights; pass its answer to `settle`.

        They are multiplied by factor * exp(-alpha u), and by the rule's own factors.
        """
        hypothesis, terms = model.hypothesis, self.terms
        self._forget()
        if self._in_logs or self.is_long(hypothesis, alpha):
            return self._step_in_logs(model, alpha)
        # Where costs are constant, the factors of the cells contain those before a round.
        round_factor = terms.round_factor_by_row
        if terms.by_cell(hypothesis):
            factors = self._cell_factors(model, alpha, normalizer)
            factored = not terms.terms_by_class and terms.has_factors
            return multiply_cells(
                hypothesis=hypothesis, factors=factors, factored=factored, round_factor=round_factor
            )
        # A power of two keeps weights in range, exactly.
        shrink = math.ldexp(1.0, -_exponent(terms.largest(hypothesis, self.largest)))
        halved = halvings(alpha * terms.reach(hypothesis))
        round_factor = terms.rule.round_factor is not None
        return multiply_rows(
            view=View(hypothesis),
            alpha=alpha,
            halvings=halved,
            shrink=shrink,
            round_factor=round_factor,
        )

    def settle(self, change: Call[float], largest: float) -> None:
        """Record the largest weight after an update."""
        if change.message is step_logs:
            self.shards.call([settle_logs(top=float(largest))])
            largest = 1.0
        elif exponent := in_range(largest):  # cells too light for the grid came to the fore
            self.shards.call([settle_weights(exponent=exponent, constant=None)])
            largest = math.ldexp(largest, exponent)
        self.largest = float(largest)

    def is_long(self, hypothesis: Hypothesis, alpha: float) -> bool:
        """Whether a step is too long for weights on the grid, so that it is taken in logs."""
        terms = self.terms
        if terms.by_cell(hypothesis):
            return abs(alpha) * terms.longest_cell_margin(hypothesis) > LONG
        return abs(alpha) * terms.reach(hypothesis) > LONG

    def _step_in_logs(self, model: WeakModel, alpha: float) -> Call[float]:
        """Return the update in logs, which replace weights from now on.

        Products have lost too much.
        """
        self._in_logs, terms, round_factor = True, self.terms, None
        if terms.rule.round_factor is not None and terms.constant:
            with np.errstate(divide="ignore"):
                round_factor = np.log(terms.round_factor_by_class())
        own = terms.round_factor_by_row
        return step_logs(
            how=self._logs(model.hypothesis),
            alpha=alpha,
            round_factor=round_factor,
            own_round_factor=own,
        )

    def _logs(self, hypothesis: Hypothesis, *, factor: bool = True) -> RowLogs:
        """Return the recipe by which rows compute ln(weight * factor) and their margin."""
        view, terms = View(hypothesis, factor=factor), self.terms
        if not terms.terms_by_class:
            return RowLogs(view)
        factors = terms.cell_factors(hypothesis) if factor else None
        return RowLogs(view, terms.cell_margins(hypothesis), factors)

    def cell_tails(self, hypothesis: Hypothesis, u: Floats, *, factor: bool) -> Tails:
        """Return the tails of rows whose margins are those of their cells, (L, K)."""
        how = replace(self._logs(hypothesis, factor=factor), cells=u)
        return Tails(RowTails(self.shards, how))

    def _cell_factors(self, model: WeakModel, alpha: float, normalizer: float) -> Floats:
        """Return the weight multipliers of every cell, (L, K), which keep the total weight."""
        terms = self.terms
        logs = -alpha * terms.cell_margins(model.hypothesis)
        if terms.terms_by_class:
            if terms.has_cell_factors:
                factors = terms.cell_factors(model.hypothesis) * terms.round_factor_by_class()
                with np.errstate(divide="ignore"):
                    logs = logs + np.log(factors)
            # Dividing by the new sum keeps the weights in range for ever; the sum is taken in logs,
            # where nothing overflows.
            shift = _log_sum(logs, model.shares)
        else:
            shift = math.log(normalizer) if normalizer > 0.0 else 0.0
        return np.asarray(np.exp(np.minimum(np.maximum(logs - shift, -700.0), 700.0)))


def _exponent(value: float) -> int:
    """Return the least e with value < 2**e."""
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

"""A rule at the costs of a fit: first weights, effective margins and factors.

Where costs are constant per class, or do not enter the rounds, rows of one leaf and one class are
alike and everything is a table over classes. Otherwise every row has margins and factors of its
own; often only the factors differ, and the margins are still one table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.learner import Votes
from costboost.boosting.adaboost.normalizer import Hypothesis, RowTerms
from costboost.boosting.adaboost.prices import Prices
from costboost.boosting.adaboost.rules import At, Beta, Rule
from costboost.boosting.adaboost.steps import MAX_ALPHA
from costboost.inputs.outside import STEEPEST, read_finite
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

_WIDEST = 1e250  # costs further apart than this are taken to be this far apart
_LARGEST = 1e300  # factors beyond are refused: they are multiplied by weights
FAR = 2.0**16  # of factors: the product of two bounds is then too coarse a bound


@dataclass(frozen=True)
class Setting:
    """What the user chose, beside the rule and the learner.

    `objective` evaluates Gradient-CSB's (a, b, w0); `cost_scale` is the largest cost after
    scaling, or "auto".
    """

    n_rounds: int
    votes: Votes = "discrete"
    alpha: Literal["published", "search"] = "published"
    learning_rate: float = 1.0
    max_alpha: float = MAX_ALPHA
    cost_scale: float | Literal["auto"] = "auto"
    beta: Beta | None = None
    objective: Any = None


def scaled_prices(prices: Prices, rule: Rule, wanted: float | Literal["auto"]) -> Prices:
    """Return the prices as a rule wants them, the largest `wanted` if it can choose."""
    how = rule.scale
    if prices.largest == 0.0 or (how == "none" and 1e-100 < prices.largest < 1e100):
        return prices
    if how == "none":  # only Z of AdaC2 depends on the unit of costs, and must not overflow
        return prices.scaled(math.ldexp(1.0, -math.frexp(prices.largest)[1]))
    if how == "smallest":
        return prices.scaled(1.0 / max(prices.smallest, prices.largest / _WIDEST))
    return prices.scaled((1.0 if wanted == "auto" else wanted) / prices.largest)


class Terms:
    """The rule's functions, evaluated at scaled prices.

    Parameters
    ----------
    shards : Shards
    rule : Rule
    prices : Prices
    sample_weight : float64 array of shape (n,) or None
    n_classes : int
    setting : Setting

    Attributes
    ----------
    prices : Prices
        As scaled for the rule.
    alike : bool
        Whether rows of one leaf and class are alike in all sums: no pass over rows.
    """

    def __init__(
        self,
        shards: Shards,
        rule: Rule,
        prices: Prices,
        sample_weight: Floats | None,
        n_classes: int,
        setting: Setting,
    ) -> None:
        self.shards, self.rule, self.setting = shards, rule, setting
        self.sample_weight, self.n_classes = sample_weight, n_classes
        self.alike = prices.constant or rule.plain_rounds
        self.take(scaled_prices(prices, rule, setting.cost_scale))

    def take(self, prices: Prices) -> None:
        """Evaluate the rule at these prices: by class where rows are alike, else when asked."""
        self.prices = prices
        self._rows_ready = False
        if not self.alike:
            return
        classes, own = np.arange(self.n_classes), np.eye(self.n_classes, dtype=bool)
        right, wide = np.ones(self.n_classes), np.ones(own.shape)
        if prices.constant:
            right, wide = prices.right, prices.wrong
        at, wrong = self._at(right, classes), self._at(wide, classes, row_cost=right)
        exponents = self._exponents("right", at)[:, None], -self._exponents("wrong", wrong)
        self._margins = np.where(own, *exponents)
        factors = self._factor("right_factor", at)[:, None], self._factor("wrong_factor", wrong)
        self._factors = np.where(own, *factors)

    def _at(
        self, cost: Floats, labels: Int64, rows: Any = None, row_cost: Floats | None = None
    ) -> At:
        """Return the rule's view of costs, for labels of the same first dimension."""
        sign = np.where(labels == 1, 1.0, -1.0) if self.n_classes == 2 else np.ones(len(labels))
        at = At(
            cost=cost,
            sign=_like(sign, cost),
            row_cost=None if row_cost is None else _like(row_cost, cost),
            n_rounds=self.setting.n_rounds,
            n_classes=self.n_classes,
            ratio=self._ratio,
            beta=self.setting.beta,
        )
        if self.setting.objective is not None:
            at = replace(at, objective=self.setting.objective(at, rows))
        return at

    def _exponents(self, name: str, at: At) -> Floats:
        """Evaluate one of the rule's exponents, checked: it may be a user's."""
        return self._asked(name, at, -STEEPEST, STEEPEST)

    def _factor(self, name: str, at: At) -> Floats:
        """Evaluate one of the rule's weights or factors, checked: it may be a user's."""
        return self._asked(name, at, 0.0, _LARGEST)

    def _asked(self, name: str, at: At, low: float, high: float) -> Floats:
        source = f"{name} of method={self.rule.name!r}"
        if self.setting.beta is not None:
            source += " with your beta"
        answer = getattr(self.rule, name)(at)
        return read_finite(answer, at.cost.shape, source, low=low, high=high)

    def _at_classes(self) -> At:
        return self._at(self.prices.right, np.arange(self.n_classes))

    def _at_rows(self) -> At:
        prices = self.prices.by_row()
        return self._at(prices.right, prices.labels, np.arange(len(prices.labels)))

    @cached_property
    def _ratio(self) -> float:
        """The mean cost of the positives over that of the negatives (AdaUBoost's beta)."""
        if self.prices.constant:
            negative, positive = float(self.prices.right[0]), float(self.prices.right[1])
        else:
            plus, right = self.prices.labels == 1, self.prices.right
            weights = np.ones(len(plus)) if self.sample_weight is None else self.sample_weight
            if not plus.any() or plus.all():
                return 1.0
            positive = float(np.average(right[plus], weights=weights[plus]))
            negative = float(np.average(right[~plus], weights=weights[~plus]))
        if not (positive > 0 and negative > 0):
            return 1.0
        return min(max(positive / negative, 1.0 / _WIDEST), _WIDEST)

    # --- weights

    def first(self) -> Floats:
        """Return the weights before the first round, (n,), up to a constant."""
        if self.prices.constant and self.setting.objective is None:
            at = self._at_classes()
            return np.asarray((self._factor("first", at) * self._before(at))[self.prices.labels])
        at = self._at_rows()
        return self._factor("first", at) * self._before(at)

    def _before(self, at: At) -> Floats:
        return np.ones_like(at.cost) if self.rule.before is None else self._factor("before", at)

    def handed_by_class(self) -> Floats | None:
        """Return what multiplies a class's weights for the learner, (K,), where rows are alike."""
        if self.rule.handed is None or not self.prices.constant:
            return None
        return self._factor("handed", self._at_classes())

    def handed_by_row(self) -> Floats:
        """Return what multiplies a row's weight for the learner, (n,)."""
        return self._factor("handed", self._at_rows())

    def ahead_by_class(self) -> Floats:
        """Return the rule's factors before a round, (K,); ones where rows have their own."""
        if self.rule.before is None or not self.prices.constant:
            return np.ones(self.n_classes)
        return self._factor("before", self._at_classes())

    def ahead_by_row(self) -> bool:
        """Give every shard the rule's factors before a round, if it has any."""
        if self.rule.before is None:
            return False
        if "ahead" not in self.shards.shards[0].data:
            self.shards.scatter("ahead", self._factor("before", self._at_rows()))
        return True

    def link_slope(self) -> float:
        """Return the slope of the link of the rule's loss, a mean where rows differ."""
        if self.prices.constant and self.setting.objective is None:
            return 2.0 / self.n_classes * float(np.sum(self.rule.rate(self._at_classes())))
        rates, labels = self.rule.rate(self._at_rows()), self.prices.labels
        weights = np.ones(len(labels)) if self.sample_weight is None else self.sample_weight
        seen = np.flatnonzero(np.bincount(labels, weights, self.n_classes))
        parts = [np.average(rates[labels == k], weights=weights[labels == k]) for k in seen]
        return 2.0 / len(seen) * float(np.sum(parts))

    # --- margins and factors by cell (leaf, class)

    def by_cell(self, hypothesis: Hypothesis) -> bool:
        """Whether rows of one leaf and class have one effective margin."""
        if hypothesis.by_row:
            return False
        if self.alike:
            return True
        self._need_rows()
        return self._even

    def cell_margins(self, hypothesis: Hypothesis) -> Floats:
        """Return the effective margin of every cell, (L, K)."""
        margins = self._margins if self.alike else self._even_margins
        return np.asarray(margins[:, hypothesis.votes].T * hypothesis.sizes[:, None])

    def cell_factors(self, hypothesis: Hypothesis) -> Floats:
        """Return the factor of every cell, (L, K), where rows are alike."""
        return np.asarray(self._factors[:, hypothesis.votes].T)

    # --- margins and factors by row

    def _need_rows(self) -> None:
        """Give every shard the rule's margins and factors by row and answer, (m, K)."""
        if self._rows_ready:
            return
        prices = self.prices.by_row()
        self._largest_factor = self._farthest = 0.0
        self._even, self._even_margins = True, np.full((self.n_classes, self.n_classes), np.nan)
        self._factored = False
        for shard in self.shards.shards:
            u, f = self._terms_of(shard, prices)
            shard.data["terms"] = RowTerms.of(u, f)  # type: ignore[assignment]
            self._farthest = max(self._farthest, float(np.max(np.abs(u), initial=0.0)))
            self._largest_factor = max(self._largest_factor, float(np.max(f, initial=0.0)))
            self._factored = self._factored or not np.all(f == 1.0)
            for k, own in enumerate(self._even_margins):
                block = u[shard.starts[k] : shard.starts[k + 1]]
                if len(block) and np.isnan(own[0]):
                    own[:] = block[0]
                self._even = self._even and bool(np.all(block == own))
        self._even_margins = np.nan_to_num(self._even_margins)  # classes without rows
        self._rows_ready = True

    def _terms_of(self, shard: Shard, prices: Prices) -> tuple[Floats, Floats]:
        """Return the margins and factors of a shard's rows for every answer, (m, K) each."""
        labels, own = prices.labels[shard.rows], prices.right[shard.rows]
        at = wide = self._at(own, labels, shard.rows)
        if self.n_classes > 2:
            wide = self._at(prices.wrong[shard.rows], labels, shard.rows, own)
        right = labels[:, None] == np.arange(self.n_classes)
        exponents = self._exponents("right", at), self._exponents("wrong", wide)
        u = np.where(right, _wide(exponents[0]), -_wide(exponents[1]))
        factors = self._factor("right_factor", at), self._factor("wrong_factor", wide)
        f = np.where(right, _wide(factors[0]), _wide(factors[1]))
        return u, f

    @property
    def factored(self) -> bool:
        """Whether rows have factors other than 1."""
        self._need_rows()
        return self._factored

    def of(self, shard: Shard) -> RowTerms:
        """Return the margins and factors of a shard's rows."""
        self._need_rows()
        terms: RowTerms = shard.data["terms"]  # type: ignore[assignment]
        sizes = shard.data.get("sizes")
        return terms if sizes is None else terms.times(sizes)

    def reach(self, hypothesis: Hypothesis) -> float:
        """Bound the effective margins of rows."""
        self._need_rows()
        return max(self._farthest * self.largest_size(hypothesis), 1e-300)

    def largest_size(self, hypothesis: Hypothesis) -> float:
        """Return the strength of the strongest vote."""
        size = float(np.max(hypothesis.sizes))
        if not hypothesis.by_row:
            return size
        sizes = self.shards.map(lambda shard: float(np.max(shard.data["sizes"], initial=0.0)))
        return size * max(sizes)

    def largest(self, hypothesis: Hypothesis, largest_weight: float) -> float:
        """Bound weight * factor of the rows."""
        self._need_rows()
        if self._largest_factor <= FAR:
            return largest_weight * self._largest_factor
        return max(self.shards.map(lambda shard: _largest(shard, hypothesis)))


def _largest(shard: Shard, hypothesis: Hypothesis) -> float:
    terms: RowTerms = shard.data["terms"]  # type: ignore[assignment]
    answers, rows = terms.columns(hypothesis)[shard.leaves], np.arange(len(shard.leaves))
    return float(np.max(shard.data["weights"] * terms.f[rows, answers], initial=0.0))


def _like(values: Floats, cost: Floats) -> Floats:
    """Return one value per row as an array of the shape of `cost`, (m,) or (m, K)."""
    return np.broadcast_to(values.reshape(values.shape + (1,) * (cost.ndim - 1)), cost.shape)


def _wide(term: Any) -> Floats:
    """Return a term of shape (m,) as a column; one of shape (m, K) as it is."""
    return np.asarray(term if term.ndim > 1 else term[:, None])

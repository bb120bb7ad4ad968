"""A rule's functions evaluated at costs: by class where rows of a class are alike, else by row.

The same evaluation runs on the driver, for tables over classes, and where the rows are. Whatever a
rule answers is checked: it may be a user's. `RowTerms` are the margins and factors that follow,
`Hypothesis` is what they are evaluated for: a weak model as votes of its leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.rules import Rule
from costboost.boosting.formulas import Beta, RuleInput, link, one, vote_shares
from costboost.costs import Costs
from costboost.inputs.arrays import STEEPEST, read_finite
from costboost.shards.layout import blocks_of
from costboost.typing import Floats, Int64

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


# Margins to scores and probabilities: by the link of a method's loss, or by shares of votes.


def scores_of(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return the scores that are calibrated: shares of discrete votes, else margins.

    Two classes: (n,), for the second one; more: (n, K).
    """
    scores = vote_shares(margins, total_alpha) if shares else margins
    return scores[:, -1] if margins.shape[1] == 1 else scores


def voted_proba(margins: Floats, total_alpha: float, *, shares: bool) -> Floats:
    """Return the probabilities by which AdaMEC decides: shares of votes, or the link's, (n, K).

    Real and Gentle AdaBoost's leaves are not counted by alpha: their margins have no share.
    """
    return vote_shares(margins, total_alpha) if shares else link(margins)


T = TypeVar("T")

_NONE = np.zeros(0)


@dataclass(frozen=True)
class Hypothesis:
    """The vote of every leaf of a learner: its class and its strength.

    Attributes
    ----------
    votes : int64 array of shape (L,)
        The class each leaf votes for.
    sizes : float64 array of shape (L,)
        How strongly; 1 for discrete votes.
    by_row : bool
        Whether rows of one leaf vote with different strength; the rows' `sizes` say how.
    """

    votes: Int64
    sizes: Floats
    by_row: bool = False

    def right(self, n_classes: int) -> NDArray[np.bool_]:
        """Return (L, K): whether the leaf's vote is right for a row of the class."""
        return np.asarray(self.votes[:, None] == np.arange(n_classes))


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
class RowTerms:
    """A rule's effective margins and factors, for every row of a shard and every answer.

    In general u and f are (m, K), one column for every answer: a margin is positive at the row's
    own class, negative elsewhere. Of two classes with one price for right and wrong answers the
    sizes suffice, (m, 1). Factors that are all 1 are a view of one number. Where all rows of a
    class have the same margins, they are in `table`, (K, 1) or (K, K), and u has no rows.
    """

    u: Floats
    f: Floats
    table: Floats | None = None

    def spread(self, labels: NDArray[Any]) -> RowTerms:
        """Return the terms with margins by row."""
        return self if self.table is None else RowTerms(self.table[labels], self.f)

    @classmethod
    def of(cls, u: Floats, f: Floats) -> RowTerms:
        """Make terms of (m, K) margins and factors, with one row or column where all are alike."""
        if u.shape[1] == 2 and np.all(u[:, 0] == -u[:, 1]) and np.all(f[:, 0] == f[:, 1]):
            u, f = np.abs(u[:, :1]), f[:, :1]
        if np.all(f == 1.0):
            return cls(np.ascontiguousarray(u), np.broadcast_to(1.0, u.shape))
        return cls(np.ascontiguousarray(u), np.ascontiguousarray(f))

    @classmethod
    def of_label(
        cls, label: int, exponents: tuple[Floats, Floats] | None, factors: tuple[Floats, Floats]
    ) -> RowTerms:
        """Make the terms of rows of one of two classes, from those of right and of wrong answers.

        Without exponents there are factors alone.
        """
        (right_factor, wrong_factor), n_rows = factors, len(factors[0])
        right, wrong = (_NONE, _NONE) if exponents is None else exponents
        if right is wrong and right_factor is wrong_factor:
            return cls(right[:, None], right_factor[:, None])
        u = _by_answer(label, right, -wrong)
        if right_factor is wrong_factor:
            return cls(u, np.broadcast_to(right_factor[:, None], (n_rows, 2)))
        return cls(u, _by_answer(label, right_factor, wrong_factor))

    def stretched(self, n_rows: int, *, margins: bool) -> RowTerms:
        """Return terms with a row for each of `n_rows`, where one stood for all.

        Beside margins factors are not: kernels take a view of one number for factors of 1.
        """
        if len(self.f) == n_rows:
            return self
        f = np.broadcast_to(self.f, (n_rows, self.f.shape[1]))
        if not margins:
            return RowTerms(self.u, f)
        u = np.repeat(self.u, n_rows, axis=0)
        return RowTerms(u, np.repeat(self.f, n_rows, axis=0) if self.factored else f)

    @property
    def signed(self) -> bool:
        """Whether `u` holds signed margins; otherwise the answer alone decides the sign."""
        return bool(self.f.shape[1] > 1)

    @property
    def factored(self) -> bool:
        """Whether rows have factors other than 1."""
        return bool(self.f.strides[0])

    def columns(self, hypothesis: Hypothesis) -> Int64:
        """Return the column of u and f for the vote of every leaf, (L,)."""
        return hypothesis.votes if self.signed else np.zeros_like(hypothesis.votes)

    def factors(self, hypothesis: Hypothesis, leaves: NDArray[Any]) -> Floats:
        """Return the factor of every row for the vote of its leaf, (m,)."""
        return np.asarray(self.f[np.arange(len(leaves)), self.columns(hypothesis)[leaves]])

    def sizes(self, hypothesis: Hypothesis, n_classes: int) -> Floats:
        """Return the multipliers of u by leaf and class, (L, K).

        Strength, with the sign if need be.
        """
        right = hypothesis.right(n_classes)
        sign = np.ones(right.shape) if self.signed else np.where(right, 1.0, -1.0)
        return np.asarray(sign * hypothesis.sizes[:, None])

    def times(self, sizes: Floats) -> RowTerms:
        """Return the terms of votes whose strength differs by row, (m,)."""
        return RowTerms(self.u * sizes[:, None], self.f)

    def plain(self, labels: NDArray[Any], n_classes: int, wrong: float) -> RowTerms:
        """Return the terms with margins of 1 at every row's own class and -wrong elsewhere."""
        if not self.signed:  # of two classes, for which `wrong` is 1
            return RowTerms(np.ones((len(labels), 1)), self.f)
        table = np.where(np.eye(n_classes, dtype=bool), 1.0, -wrong)
        return RowTerms(table[labels], self.f)

    def unpriced(self) -> RowTerms:
        """Return the terms with factors of 1."""
        return RowTerms(self.u, np.broadcast_to(1.0, self.f.shape), self.table)


def _by_answer(label: int, right: Floats, wrong: Floats) -> Floats:
    """Return the columns of both answers to rows of one of two classes, (m, 2)."""
    both = np.empty((len(right), 2))
    both[:, label], both[:, 1 - label] = right, wrong
    return both


class EvenMargins:
    """Collects margins block by block, and keeps one row per class while rows of a class agree."""

    def __init__(self, labels: NDArray[np.uint8], shape: tuple[int, int], n_classes: int) -> None:
        self.labels, self.shape = labels, shape
        self._table = np.full((n_classes, shape[1]), np.nan)
        self._u: Floats | None = None

    def add(self, rows: slice, u: Floats) -> None:
        """Add the margins of the next block of rows."""
        if self._u is None:
            labels = self.labels[rows]
            for k in np.unique(labels).tolist():
                if np.isnan(self._table[k, 0]):
                    self._table[k] = u[np.argmax(labels == k)]
            if np.array_equal(u, self._table[labels]):
                return
            self._u = np.empty(self.shape)
            self._u[: rows.start] = self._table[self.labels[: rows.start]]
        self._u[rows] = u

    def terms(self, f: Floats) -> RowTerms:
        """Return the terms with the collected margins and these factors."""
        if self._u is not None:
            return RowTerms(self._u, f)
        return RowTerms(np.zeros((0, self.shape[1])), f, self._table)

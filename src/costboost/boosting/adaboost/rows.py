"""The per-row state of the AdaBoost family, one `AdaRows` for each shard.

pricing         true classes, costs, and the prices of decisions
labels          (m,)     the class each row aims at: rows are grouped by it
prices          what a mistake costs, by class or (m,), in the user's units
weights         (m,)     D, of any sum
margins         (m, J)   F, J = 1 for two classes

A rule's effective margins and factors by row, where rows of a cell differ, are kept beside a table
in memory. Where tables are larger than that they are not, if they follow from the prices of two
classes: `term_blocks` computes them again, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rules import BoundRule, MistakePrices, class_prices, mean_and_wrong
from costboost.boosting.formulas import RuleInput
from costboost.boosting.train_cost import DecisionPricing, make_pricing
from costboost.costs import Costs
from costboost.shards.layout import RowData, blocks_of
from costboost.typing import Floats, Int64

Part = tuple[Floats, Floats]

# The least weight, as in the kernels: smaller ones would be slow to compute with, and one of 0
# could never grow again.
TINY = 1e-280
_NONE = np.zeros(0)
_ALL = slice(None)
_BLOCK = 1 << 15  # rows whose terms are computed at a time: they stay in the cache


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
    # Block by block: the costs of all answers would be K numbers a row.
    labels = y.astype(np.uint8)
    for rows in blocks_of(len(y)):
        own = costs[rows] if costs.per_row else costs
        labels[rows] = own.cheapest_labels(y[rows].astype(np.int64), encoded=True)
    return labels


def row_prices(costs: Costs, y: NDArray[Any], labels: NDArray[Any]) -> MistakePrices:
    """Return the prices of rows of classes `y` that aim at `labels`."""
    paid = costs.of_labels(y.astype(np.int64), encoded=True)
    excess = paid - paid[np.arange(len(y)), labels][:, None]
    return mean_and_wrong(np.maximum(excess, 0.0), labels, constant=False)


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
        # Margins that differ by their sign alone need one column: the answer says which sign.
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
        # As long as rows of a class agree one row stands for all of them; memory for every row is
        # taken at the first that does not.
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


@dataclass
class AdaRows:
    """The rows of one shard; arrays as at the head of this module.

    Attributes
    ----------
    numbers : row numbers of shape (m,)
        In the table.
    table : MistakePrices or None
        By class, in the user's units; None where rows of a class differ.
    constant : bool
        Whether the table holds for the labels that rows aim at.
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    objective : callable or None
        (at, rows) -> (a, b, w0): the user's.
    frugal : bool
        Whether rows hold as little as they can, at the price of some time.
    scales : tuple of float
        What prices are multiplied by, one factor after the other.
    learner_factors : float64 array of shape (m,) or None
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

    pricing: DecisionPricing
    numbers: NDArray[Any]
    labels: NDArray[np.uint8]
    sample_weights: Floats | None
    n_classes: int
    table: MistakePrices | None
    constant: bool
    aim: bool
    objective: Any = None
    frugal: bool = False
    bound: BoundRule | None = None
    scales: tuple[float, ...] = ()
    weights: Floats = field(default_factory=lambda: _NONE)
    margins: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    learner_factors: Floats | None = None
    sizes: Floats | None = None
    logs: Floats | None = None
    absent: NDArray[np.bool_] | None = None
    tails: list[Part] = field(default_factory=list)
    _terms: RowTerms | None = None
    _round_factor: Floats | None = None

    def bind(self, bound: BoundRule, *scales: float) -> None:
        """Set the rule to evaluate from now on; cached terms are dropped."""
        self.bound, self.scales = bound, scales
        self._terms = self._round_factor = self.learner_factors = None

    # The rule at the rows.

    def blocks(self) -> Iterator[slice]:
        """Yield slices of all rows, block by block, so that temporaries stay small."""
        return blocks_of(len(self.labels))

    def pieces(self, starts: Int64, *, long: bool = False) -> Iterator[slice]:
        """Yield all rows, some of one label at a time; `starts` says where labels begin.

        If they may be long, rows of one label and one price come all at once.
        """
        for begin, end in pairwise(starts.tolist()):
            if begin == end:
                continue
            whole = long and not self.extra(slice(begin, begin + 1)).ndim
            for start in range(begin, end, end - begin if whole else _BLOCK):
                yield slice(start, end if whole else min(start + _BLOCK, end))

    def prices(self, rows: slice = _ALL) -> MistakePrices:
        """Return the prices of some rows, in the user's units."""
        truth = self.pricing.truth[rows]
        if self.table is not None:
            return self.table.by_row(self.labels[rows] if self.constant else truth)
        # Rows of a class differ: prices are computed from costs for this block, never stored.
        costs, own = self.pricing.costs, truth.astype(np.int64)
        costs = costs[rows] if costs.per_row else costs
        labels = costs.cheapest_labels(own, encoded=True) if self.aim else own
        return row_prices(costs, own, labels)

    def scaled_prices(self, rows: slice = _ALL) -> MistakePrices:
        """Return the prices of some rows as scaled for the rule."""
        prices = self.prices(rows)
        for scale in self.scales:
            prices = prices.scaled(scale)
        return prices

    def at(self, rows: slice = _ALL) -> RuleInput:
        """Return the input of the rule's functions at some rows."""
        assert self.bound is not None
        cost = self.scaled_prices(rows).row_price
        return self.bound.at(cost, self.labels[rows], self._objective_at(rows))

    def extra(self, rows: slice, label: int = 0) -> Floats:
        """Return the cost of missing `label` on rows aiming at one; see `DecisionPricing.extra`."""
        truth = int(self.labels[rows.start]) if self.labels is self.pricing.truth else None
        return self.pricing.extra(rows, label, truth)

    def _aimed_price(self, rows: slice, label: int) -> Floats:
        """Return the scaled prices of some rows of two classes that all aim at one label.

        One of shape (1,) where they have the same.
        """
        price = np.maximum(np.atleast_1d(self.extra(rows, label)), 0.0)
        for scale in self.scales:
            if scale != 1.0:
                price *= scale
        return price

    def _objective_at(self, rows: slice) -> Any:
        return None if self.objective is None else partial(self.objective, rows=self.numbers[rows])

    def evaluate(self, name: str) -> Floats:
        """Return one of the rule's weights or factors of all rows, (m,)."""
        assert self.bound is not None
        out = np.empty(len(self.labels))
        for rows in self.blocks():
            out[rows] = self.bound.factor(name, self.at(rows))
        return out

    def term_blocks(
        self, starts: Int64, *, margins: bool = True
    ) -> Iterator[tuple[slice, RowTerms]]:
        """Yield rows and their margins and factors, votes of strength 1.

        Parameters
        ----------
        starts : int64 array of shape (K + 1,)
            Where each label begins.
        margins : bool
            Whether margins are asked for, not factors alone.
        """
        if self.keeps_terms:
            yield slice(0, len(self.labels)), self.terms()
            return
        assert self.bound is not None
        for rows in self.pieces(starts, long=not margins):
            label, n_rows = int(self.labels[rows.start]), rows.stop - rows.start
            # Rows of one label: right and wrong answers are the same for all, so only the price
            # varies.
            price = self._aimed_price(rows, label)
            at = self.bound.at(price, self.labels[rows.start : rows.start + 1])
            exponents = self.bound.both_exponents(at) if margins else None
            terms = RowTerms.of_label(label, exponents, self.bound.both_factors(at))
            yield rows, terms.stretched(n_rows, margins=margins)

    @property
    def keeps_terms(self) -> bool:
        """Whether terms are cached; always for many classes and for a user's objective."""
        if not self.frugal or self.n_classes > 2 or self.table is not None:
            return True
        assert self.bound is not None
        return self.objective is not None or self.bound.beta is not None

    def terms(self) -> RowTerms:
        """Return the margins and factors of all rows for votes of strength 1, cached."""
        if self._terms is None:
            # One column is enough for many rules: more only if some row needs them.
            self._terms = self._join_terms(1) or self._join_terms(self.n_classes)
        assert self._terms is not None
        return self._terms

    def _join_terms(self, n_columns: int) -> RowTerms | None:
        """Return the terms in so many columns; None where some row needs more."""
        assert self.bound is not None
        shape = (len(self.labels), n_columns)
        f, even = np.broadcast_to(1.0, shape), EvenMargins(self.labels, shape, self.n_classes)
        for rows in self.blocks():
            given = (self.labels[rows], self._objective_at(rows))
            parts = self.bound.terms(self.scaled_prices(rows), *given)
            part = RowTerms.of(*parts) if n_columns == 1 else RowTerms(*parts)
            if part.u.shape[1] > n_columns:
                return None
            even.add(rows, part.u)
            if np.any(part.f != 1.0):
                # Factors are stored from the first row on that has one other than 1.
                f = f if f.flags.writeable else np.ones(shape)
                f[rows] = part.f
        return even.terms(f)

    def round_factor(self) -> Floats:
        """Return the factors that the rule applies before a round, (m,)."""
        if self._round_factor is None:
            self._round_factor = self.evaluate("round_factor")
        return self._round_factor

    # Long steps.

    def log_weights(self) -> Floats:
        """Return the logarithms of the weights, a copy; minus infinity for rows without any."""
        if self.logs is not None:
            return self.logs.copy()
        logs = np.empty(len(self.weights))
        kernels.take_logs(self.weights, logs)
        if self.absent is not None:
            logs[self.absent] = -np.inf
        return logs

    def weights_of(self, rows: slice) -> Floats:
        """Return the sample weights of some rows; ones where none were given."""
        if self.sample_weights is None:
            return np.ones(len(self.labels[rows]))
        return self.sample_weights[rows]


@dataclass(frozen=True)
class TrainingRows:
    """The user's data of all training rows, in the order of the table; loads shards.

    Attributes
    ----------
    data : RowData
        With costs, bound, in the user's units.
    n_classes : int
    labels : class numbers of shape (n,)
        What rows aim at.
    aim : bool
        Whether rows may aim at a cheaper answer than the true one.
    objective : callable or None
        (at, rows) -> (a, b, w0).
    own_prices : bool
        Whether rows have prices of their own even where costs are constant by class.
    known : MistakePrices or None
        The prices by class, where they were read before: once for all models of a fit.
    """

    data: RowData
    n_classes: int
    labels: NDArray[np.integer[Any]]
    aim: bool = True
    objective: Any = None
    own_prices: bool = False
    known: MistakePrices | None = None

    @property
    def aims_at_truth(self) -> bool:
        """Whether all rows aim at their true classes."""
        return self.labels is self.data.y or bool(np.array_equal(self.labels, self.data.y))

    @property
    def n_segments(self) -> int:
        """Rows are grouped by the class that they aim at."""
        return self.n_classes

    def blank(self) -> TrainingRows:
        """Return a loader of the same settings without rows."""
        none = self.data.take(np.zeros(0, dtype=np.int64))
        return replace(self, data=none, labels=none.y.astype(np.uint8))

    def on(self, data: RowData) -> TrainingRows:
        """Return a loader of the same settings for other rows and their own costs."""
        # Prices by class stay known where no costs come with the rows.
        known = self.known if data.costs is None else None
        costs = self.costs if data.costs is None else data.costs
        labels = aimed_labels(costs, data.y, self.n_classes, aim=self.aim, known=known)
        return replace(self, data=replace(data, costs=costs), labels=labels, known=known)

    @property
    def costs(self) -> Costs:
        """The costs of the rows: training has some, always."""
        assert self.data.costs is not None
        return self.data.costs

    @cached_property
    def table(self) -> MistakePrices | None:
        """The prices by class, in the user's units; None where rows of a class differ."""
        return self.known or class_prices(self.costs, self.n_classes, aim=self.aim)

    def by_class(self) -> MistakePrices | None:
        """Return the prices by class, or None where rows of a class differ."""
        return None if self.own_prices else self.table

    def _numbers(self, rows: slice) -> NDArray[Any]:
        """Return row numbers where a user's objective needs them, else an empty array."""
        return np.arange(0 if self.objective is None else len(self.data.y))[rows]

    def load(self, rows: NDArray[Any] | slice) -> AdaRows:
        """Return the state of a shard that holds these rows."""
        pricing = make_pricing(self.costs, self.data.y, rows)
        labels = np.ascontiguousarray(self.labels[rows], dtype=np.uint8)
        if np.array_equal(labels, pricing.truth):
            labels = pricing.truth  # held once
        weights = self.data.weights
        if weights is not None:
            weights = np.ascontiguousarray(weights[rows])
        n_outputs = 1 if self.n_classes == 2 else self.n_classes
        numbers = rows if isinstance(rows, np.ndarray) else self._numbers(rows)
        return AdaRows(
            pricing,
            numbers,
            labels,
            weights,
            self.n_classes,
            self.table,
            not self.own_prices,
            self.aim,
            self.objective,
            frugal=isinstance(rows, slice),  # of a part of a table that is elsewhere
            margins=np.zeros((len(labels), n_outputs)),
        )


def margins_of(
    terms: RowTerms, hypothesis: Hypothesis, leaves: NDArray[Any], labels: NDArray[Any], n: int
) -> Floats:
    """Return the effective margin of every row, (m,), for K = `n` classes."""
    rows, answers = np.arange(len(leaves)), terms.columns(hypothesis)[leaves]
    return np.asarray(terms.sizes(hypothesis, n)[leaves, labels] * terms.u[rows, answers])

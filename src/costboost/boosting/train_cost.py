"""The cost of the decisions on the training rows, round after round, for all families.

    a table of prices    a confusion matrix of exact counts is priced
    prices per row       the prices of the decisions are added up exactly
    the slow road        other actions, rows without a limit, or K classes with prices per row:
                         expected costs are computed where the rows are

All sums are exact, so that the cost does not depend on the shards. A shard's `state` holds a
`pricing`, `margins` and `sample_weights`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from costboost.boosting import _vote_kernels as kernels
from costboost.costs import Costs
from costboost.runtime.messages import largest, message, total
from costboost.shards.grid import exact_sum, grid_scale, rounded, to_floats
from costboost.shards.layout import Shards, blocks_of
from costboost.shards.rows import Shard, heaviest_row
from costboost.typing import Floats, Int64

__all__ = ["share_limits"]


# Decision limits of two classes.


def share_limits(costs: Costs) -> Floats | None:
    """Return the limits, of shape (1,) or (n,): the second class is answered strictly above.

    Limits below 0 and from 1 on (prices by which one answer is always the cheaper) are -inf and
    inf: they hold whatever a share is rounded to. None where for some row no limit exists: both of
    its wrong answers are cheaper than the right ones, and the *smaller* share is answered.

    Parameters
    ----------
    costs : Costs
        Bound to two classes.

    Examples
    --------
    >>> share_limits(Costs(fp=1, fn=3).bind([0, 1])).tolist()
    [0.25]
    >>> share_limits(Costs(fp=8, tp=8, fn=[4, 32]).bind([0, 1])).tolist()
    [inf, 0.25]
    """
    limits = np.atleast_1d(np.asarray(costs.second_thresholds(), dtype=np.float64))
    if np.isnan(limits).any():
        return None
    return np.where(limits < 0.0, -np.inf, np.where(limits >= 1.0, np.inf, limits))


NONE = np.zeros(0)


@dataclass
class DecisionPricing:
    """True classes and costs of one shard's rows, by which decisions are priced.

    Attributes
    ----------
    truth : uint8 array of shape (m,), uint32 of more classes than a byte can number
        The true classes, encoded.
    costs : Costs
        Bound, in the user's units; of these rows, if they have prices of their own.
    prices : float64 array of shape (m, K) or None
        What each decision costs, in `unit`.
    unit : float
        The unit of `prices`, a power of two times the user's.
    limits : float64 array of shape (m,) or None
        The margin above which the second of two classes is the cheaper answer.
    decisions : array of shape (m,), of the same kind as `truth`
        The decisions that were made last, where they are priced row by row.
    """

    truth: NDArray[np.unsignedinteger[Any]]
    costs: Costs
    prices: Floats | None = None
    unit: float = 1.0
    limits: Floats | None = None
    decisions: NDArray[np.unsignedinteger[Any]] | None = None

    def paid(self, rows: slice | Int64) -> Floats:
        """Return the price of each decision on some rows, (m, K), in the user's units."""
        # Read from the costs whenever asked: only `set_prices` keeps those of all rows, (m, K).
        costs = self.costs[rows] if self.costs.per_row else self.costs
        return costs.of_labels(self.truth[rows].astype(np.int64), encoded=True)

    def extra(self, rows: slice, label: int = 0, truth: int | None = None) -> Floats:
        """Return the extra cost of missing a label over deciding for it, in the user's units.

        There are two decisions. Of shape () where all of these rows pay the same. It is computed
        whenever it is asked for: that takes less than a number kept by row would.

        Parameters
        ----------
        rows : slice
        label : int
        truth : int or None
            The true class of all of these rows, if it is known to be one.
        """
        if truth is not None:
            return self._extra_of_class(truth, rows, label)
        parts = (self._extra_of_class(k, rows, label) for k in (0, 1))
        return np.where(self.truth[rows] == 0, *parts)

    def _extra_of_class(self, k: int, rows: slice, label: int) -> Floats:
        first, second = self._by_class[k]
        first = first[rows] if first.ndim else first
        second = second[rows] if second.ndim else second
        return np.asarray(second - first if label == 0 else first - second)

    @cached_property
    def _by_class(self) -> list[tuple[Floats, ...]]:
        """Prices of each decision on rows of each class, as views."""
        return [self.costs.of_class(k) for k in (0, 1)]

    def blocks(self) -> Iterator[slice]:
        """Yield all rows, some at a time."""
        return blocks_of(len(self.truth))

    def last_decisions(self) -> NDArray[np.unsignedinteger[Any]]:
        """Return the array of the last decisions, which kernels overwrite; zeros at first."""
        if self.decisions is None:
            self.decisions = np.zeros_like(self.truth)
        return self.decisions

    def price(self, weights: Floats | None, scale: float) -> Int64:
        """Add up the prices of the decisions that were made last, exactly, (1, 2)."""
        assert self.prices is not None
        out = np.zeros((1, 2), dtype=np.int64)
        unit = NONE if weights is None else weights
        kernels.price_decisions(self.last_decisions(), self.prices, unit, scale, out)
        return out

    def add_count(
        self, rows: slice, decided: Int64, weights: Floats | None, scale: float, confusion: Int64
    ) -> None:
        """Add the decisions on some rows to a confusion matrix of exact counts, (K, K)."""
        counted: Any = 1
        if weights is not None:
            counted = (weights[rows] * scale + 0.5).astype(np.int64)
        cells = self.truth[rows] * np.int64(confusion.shape[1]) + decided
        np.add.at(confusion.reshape(-1), cells, counted)

    def add_change(
        self, rows: slice, decided: Int64, weights: Floats | None, scale: float, out: Int64
    ) -> None:
        """Decide anew on some rows; add to an exact price, (1, 2), by how much it changes.

        A decision seldom does: only rows whose did are priced.
        """
        last = self.last_decisions()[rows]
        # Exact sums make this possible: adding changes round after round loses nothing.
        changed = np.flatnonzero(last != decided)
        if not len(changed):
            return
        before, now, places = last[changed], decided[changed], changed + rows.start
        last[changed] = now
        prices, own = self.paid(places) / self.unit, NONE if weights is None else weights[places]
        among = np.arange(len(places))
        out += _exact_price(prices[among, now], own, scale)
        out -= _exact_price(prices[among, before], own, scale)


def _exact_price(prices: Floats, weights: Floats, scale: float) -> Int64:
    """Add up one price of each row, (m,), exactly, (1, 2)."""
    out, only = np.zeros((1, 2), dtype=np.int64), np.zeros(len(prices), np.uint8)
    kernels.price_decisions(only, prices[:, None], weights, scale, out)
    return out


def make_pricing(
    costs: Costs, y: NDArray[np.integer[Any]], rows: NDArray[Any] | slice
) -> DecisionPricing:
    """Return the pricing of some rows of a table."""
    # A byte a row where class numbers fit: they are held as long as the table.
    own = costs[rows] if costs.per_row else costs
    many = costs.classes is not None and len(costs.classes) > 256
    return DecisionPricing(
        np.ascontiguousarray(y[rows], dtype=np.uint32 if many else np.uint8), own
    )


class Proba(Protocol):
    """Maps margins to probabilities."""

    def __call__(self, margins: Floats, total: float) -> Floats:
        """Return probabilities, (m, K); `total` is the sum of all steps so far."""


@message(reduce=largest)
def largest_price(shard: Shard) -> float:
    """Return the largest price of a decision, in the user's units."""
    pricing = shard.state.pricing
    parts = (np.max(np.abs(pricing.paid(rows))) for rows in pricing.blocks())
    return float(max(parts, default=0.0))


@message(reduce=None, changes=True)
def set_prices(shard: Shard, *, unit: float) -> None:
    """Set the prices of all decisions on every row, in a unit."""
    pricing = shard.state.pricing
    parts = [pricing.paid(rows) / unit for rows in pricing.blocks()]
    # A shard without rows has no parts, and nothing to price.
    pricing.prices = np.concatenate([np.zeros((0, parts[0].shape[1] if parts else 1)), *parts])


@message(reduce=total, changes=True)
def price_first_answer(shard: Shard, *, unit: float, scale: float) -> Int64:
    """Return the total price of deciding for the first answer everywhere, in a unit.

    From then on messages return changes of the price: a decision seldom changes.
    """
    pricing, out = shard.state.pricing, np.zeros((1, 2), dtype=np.int64)
    weights, pricing.unit = shard.state.sample_weights, unit
    for rows in pricing.blocks():
        prices, own = pricing.paid(rows) / unit, NONE if weights is None else weights[rows]
        out += _exact_price(prices[:, 0], own, scale)
    return out


@message(reduce=largest, changes=True)
def set_limits(shard: Shard, *, odds: float | None) -> bool:
    """Set every row's limit of the margin; return whether some row has none.

    `odds` as in `DecisionCosts`.
    """
    pricing = shard.state.pricing
    shares = share_limits(pricing.costs)
    pricing.limits = None if shares is None else margin_limits(shares, odds)
    return shares is None


@message(reduce=total)
def price_decisions(shard: Shard, *, scale: float) -> Int64:
    """Return the total price of the last decisions."""
    total: Int64 = shard.state.pricing.price(shard.state.sample_weights, scale)
    return total


@message(reduce=total)
def price_expected(shard: Shard, *, proba: Proba, total: float) -> int:
    """Return the total price of the decisions of least expected cost, summed without rounding."""
    return expected_price(shard, shard.state.margins, proba, total)


def expected_price(shard: Shard, margins: Floats, proba: Proba, total: float) -> int:
    """Return the exact price of the decisions of least expected cost, by these margins (m, J)."""
    state, pricing, price = shard.state, shard.state.pricing, 0
    for rows in pricing.blocks():
        costs = pricing.costs[rows] if pricing.costs.per_row else pricing.costs
        decided = costs.decide(proba(margins[rows], total), encoded=True)
        paid = pricing.paid(rows)[np.arange(len(decided)), decided]
        if state.sample_weights is not None:
            paid = paid * state.sample_weights[rows]
        price += exact_sum(paid)
    return price


def margin_limits(shares: Floats, odds: float | None) -> Floats:
    """Turn limits of the second class's share into limits of the margin, of the same shape.

    `odds` as in `DecisionCosts`.
    """
    # s = (1 + F / total) / 2 exceeds t where F / total exceeds 2 t - 1.
    if odds is None:
        return np.asarray(2.0 * shares - 1.0)
    return np.asarray(logit(np.clip(shares, 0.0, 1.0)) / odds)


class DecisionCosts:
    """Chooses how a method's decisions are priced, and adds up their cost every round.

    Parameters
    ----------
    shards : Shards
    costs : Costs
        Bound, in the user's units.
    n_classes : int
    cheapest : bool
        Whether decisions are the cheapest; else the sign of the margin, or its largest entry.
    odds : float or None
        The margin times this is the log odds (for K > 2, the softmax's input). None: the margin
        over the sum of all steps is a share s of votes, 2 s - 1.
    proba : Proba or None
        Used on the slow road, which may be taken where decisions are the cheapest.
    own_labels : bool
        Whether rows are grouped by, or counted at, their true classes: else no table prices them.
    own_link : bool
        Whether `proba` alone says what margins mean, and `odds` nothing.
    """

    def __init__(
        self,
        shards: Shards,
        costs: Costs,
        n_classes: int,
        *,
        cheapest: bool,
        odds: float | None = None,
        proba: Proba | None = None,
        own_labels: bool = True,
        own_link: bool = False,
    ) -> None:
        self.shards, self.n_classes = shards, n_classes
        self.cheapest, self.odds, self.proba = cheapest, odds, proba
        # Weights on a grid of the heaviest row, so that counts are exact integers.
        (heaviest,) = shards.call([heaviest_row()])
        self.scale = grid_scale(heaviest or 1.0, shards.n_rows)
        self.weight_scale = self.scale if heaviest else 1.0
        self.limits = np.zeros(1)
        missing = own_link or self._set_limits(costs)
        # See the table at the head: limits and tables are fast, expected costs are the last resort.
        self.slowly = (cheapest or not costs.is_square) and missing
        self.table = None
        if costs.is_constant and costs.is_square:
            self.table = costs.of_labels(np.arange(n_classes), encoded=True)
        self.by_table = self.table is not None and own_labels and not self.slowly
        self._paid: Int64 | None = None  # the total so far, where messages return its changes
        if self.priced:
            (largest,) = shards.call([largest_price()])
            # A power of two, so that nothing is rounded.
            self.unit = math.ldexp(1.0, math.frexp(float(largest))[1])

    def set_prices(self) -> None:
        """Set the prices of all decisions on every row, if rows have their own."""
        if self.priced:
            self.shards.call([set_prices(unit=self.unit)])

    def pay_for_first(self) -> None:
        """Price the first answer everywhere; `pay` then takes changes of the price."""
        if self.priced:
            (self._paid,) = self.shards.call([price_first_answer(unit=self.unit, scale=self.scale)])

    @property
    def priced(self) -> bool:
        """Whether every decision has the price of its row."""
        return not (self.by_table or self.slowly)

    @property
    def class_prices(self) -> Floats:
        """Prices by class and decision, (K, K), if the cheapest is decided by them; else empty."""
        return self.table if self.cheapest and self.table is not None else np.zeros((0, 0))

    @property
    def sum_scale(self) -> float:
        """Grid scale of the sums that `pay` takes."""
        return self.scale if self.priced else self.weight_scale

    def _set_limits(self, costs: Costs) -> bool:
        """Set the limits of two classes; True if limits cannot tell the cheapest answer."""
        if not costs.is_square:
            return True
        if not self.cheapest:
            return False
        # With one table of prices the kernel compares expected costs itself; with prices by row
        # none is at hand.
        if self.n_classes > 2:
            return costs.per_row
        if costs.per_row:
            (missing,) = self.shards.call([set_limits(odds=self.odds)])
            return bool(missing)
        shares = share_limits(costs)
        if shares is not None:
            self.limits = margin_limits(shares, self.odds)
        return shares is None

    def pay(self, sums: Any, total: float) -> float:
        """Return the cost of all decisions; `total` is the sum of all steps so far.

        `sums` is a confusion matrix, or an exact price, or by how much it changed; on the slow road
        it is not read.
        """
        if self.slowly:
            assert self.proba is not None
            (exact,) = self.shards.call([price_expected(proba=self.proba, total=total)])
            return rounded(exact)
        # Counts are exact; this product is all that is rounded.
        if self.by_table:
            return float((sums / self.weight_scale * self.table).sum())
        if self._paid is not None:
            sums = self._paid = self._paid + sums
        return float(to_floats(sums, self.scale)[0]) * self.unit

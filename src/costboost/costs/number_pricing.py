"""Prices of numbers: what an answer costs, is expected to cost, and which is the cheapest.

A number that is not known yet has a `NumberDistribution`, moved to its row: y = location + scale Z.
Z is uniform between neighbouring *knots*, so that the expected cost of an answer is a polynomial
between breakpoints, and its minimum is computed, not searched for on a grid:

linear prices      the critical fractile: the quantile of level under / (under + over)
squared prices     convex: the segment where the slope changes its sign, then a quadratic equation
steps              not convex: every segment's ends and stationary points are compared
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from costboost.typing import Array, Floats, Mask

__all__ = ["NumberDistribution", "Prices", "Step", "cheapest", "expected", "paid"]

_KNOTS = 128  # of a distribution; beyond, levels are taken that lie closer in the tails
_TAIL = 0.05  # the share of the rows by whose excesses a tail is fitted
_HALVINGS = 12  # of the mass that lies beyond the last row
_CLEAR = 2.0**-50  # by how much of its size a number keeps away from where a step begins
_BLOCK = 1 << 18  # breakpoints that are compared at once


@dataclass(frozen=True, eq=False)
class NumberDistribution:
    """The distribution of a number: uniform between knots, its tails exponential.

    Attributes
    ----------
    knots : float64 array of shape (m,)
        In order. Two that are equal hold the mass between their levels in one place.
    levels : float64 array of shape (m,)
        The probability up to each knot: from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> spread = NumberDistribution(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.5, 1.0]))
    >>> spread.mean, spread.quantile(np.array([0.25, 0.75])).tolist()
    (1.25, [0.5, 2.0])
    """

    knots: Floats
    levels: Floats

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> NumberDistribution:
        """Return the smoothed distribution of some values; a value of weight k counts k times.

        Each value stands in the middle of its mass. Half a row lies beyond the outermost value, in
        a tail that falls off as the outer 5 % of the values do.
        """
        weights = np.ones(len(values)) if weights is None else weights
        points, of = np.unique(values, return_inverse=True)
        mass = np.bincount(of, weights=weights)
        points, mass = points[mass > 0.0], mass[mass > 0.0]
        if len(points) == 1:
            return cls(np.repeat(points, 2), np.array([0.0, 1.0]))
        total = mass.sum()
        share = mass / total
        levels = np.cumsum(share) - 0.5 * share
        low, high = _excess(points, share), _excess(-points[::-1], share[::-1])
        if len(points) > _KNOTS:
            wanted = 1.0 / (1.0 + np.exp(-np.linspace(-12.0, 12.0, _KNOTS)))
            inside = wanted[(wanted > levels[0]) & (wanted < levels[-1])]
            wanted = np.concatenate([levels[:1], inside, levels[-1:]])
            points, levels = np.interp(wanted, levels, points), wanted
        # Half a row lies beyond the outermost value; of equal rows the others lie on it.
        first, last = (min(0.5 * part, 0.5 / total) for part in (share[0], share[-1]))
        moves = np.log(2.0) * np.arange(1.0, _HALVINGS + 1.0)
        moves = np.append(moves, moves[-1] + 2.0)  # the mean of what is left is that of the tail
        halved = np.append(0.5 ** np.arange(1.0, _HALVINGS + 1.0), 0.0)
        tied = (int(first < levels[0]), int(last < 1.0 - levels[-1]))
        ends = [(points[0] - low * moves)[::-1], points[:1][: tied[0]], points]
        parts = [(first * halved)[::-1], np.array([first])[: tied[0]], levels]
        ends += [points[-1:][: tied[1]], points[-1] + high * moves]
        parts += [np.array([1.0 - last])[: tied[1]], 1.0 - last * halved]
        return cls(np.concatenate(ends), np.concatenate(parts))

    @cached_property
    def mean(self) -> float:
        """The mean."""
        middles = 0.5 * self.knots[1:] + 0.5 * self.knots[:-1]
        return float(np.sum(middles * np.diff(self.levels)))

    @cached_property
    def variance(self) -> float:
        """The variance."""
        low, high = self.knots[:-1] - self.mean, self.knots[1:] - self.mean
        return float(np.sum((low * low + low * high + high * high) / 3.0 * np.diff(self.levels)))

    def quantile(self, levels: Array) -> Floats:
        """Return the quantiles of some levels, of their shape."""
        return np.asarray(np.interp(levels, self.levels, self.knots))

    def cdf(self, t: Array, *, strict: bool = False) -> Floats:
        """Return the probability of a value up to t, or strictly below it."""
        return self.below.moments(t, 0, strict=strict)[0]

    def crps(self, t: Array) -> Floats:
        """Return E|Z - t| - E|Z - Z'| / 2, the continuous ranked probability score of t."""
        _, below = self.below.moments(t, 1)
        _, above = self.above.moments(-np.asarray(t), 1)
        # E|Z - Z'| / 2 is the integral of F (1 - F), a quadratic on every segment.
        one, two = self.levels[:-1], self.levels[1:]
        parts = 0.5 * (one + two) - (one * one + one * two + two * two) / 3.0
        return np.asarray(below + above - np.sum(np.diff(self.knots) * parts))

    @cached_property
    def below(self) -> _Below:
        """The integrals of the distribution function from the left."""
        return _Below.of(self.knots, self.levels)

    @cached_property
    def above(self) -> _Below:
        """The same of -Z."""
        return _Below.of(-self.knots[::-1], 1.0 - self.levels[::-1])


def _excess(points: Floats, share: Floats) -> float:
    """Return the mean distance of the lowest values from the upper end of the lowest 5 %."""
    n = max(int(np.searchsorted(np.cumsum(share), _TAIL)) + 1, min(10, (len(points) + 1) // 2))
    n = min(n, len(points) - 1)
    weights = share[:n] / share[:n].sum()
    return float(np.sum(weights * (points[n] - points[:n])))


class _Below(NamedTuple):
    """At every knot: the distribution function, its integral, and the integral of that."""

    knots: Floats
    density: Floats
    first: Floats
    second: Floats
    third: Floats

    @classmethod
    def of(cls, knots: Floats, levels: Floats) -> _Below:
        width, mass = np.diff(knots), np.diff(levels)
        density = np.divide(mass, width, out=np.zeros_like(mass), where=width > 0.0)
        second = np.append(0.0, np.cumsum(width * 0.5 * (levels[1:] + levels[:-1])))
        parts = second[:-1] * width + width**2 * (levels[:-1] / 2.0 + mass / 6.0)
        third = np.append(0.0, np.cumsum(parts))
        return cls(knots, np.append(density, 0.0), levels, second, third)

    def moments(self, t: Array, order: int = 2, *, strict: bool = False) -> list[Floats]:
        """Return P(Z <= t), E[(t - Z)+] and E[(t - Z)+^2], up to an order, of the shape of t."""
        at = np.searchsorted(self.knots, t, side="left" if strict else "right") - 1
        inside, at = at >= 0, np.maximum(at, 0)
        d, g = np.where(inside, t - self.knots[at], 0.0), self.density[at]
        first = self.first[at]
        found = [first + g * d]
        if order:
            second = self.second[at]
            found.append(second + d * (first + g * d / 2.0))
        if order > 1:
            third = self.third[at] + d * (second + d * (first / 2.0 + g * d / 6.0))
            found.append(2.0 * third)
        return [np.where(inside, part, 0.0) for part in found]


class Step(NamedTuple):
    """A price to pay as a whole where the answer is too far off.

    `beyond` is a distance, or where `relative` a share of the size of the true number.
    """

    side: str  # "under" or "over"
    beyond: float
    relative: bool
    price: Floats

    def limit(self, answers: Floats) -> Floats:
        """Return the true number at which the step begins, of every answer."""
        over = self.side == "over"
        if not self.relative:
            return answers - self.beyond if over else answers + self.beyond
        # Of negative numbers a share of their size lies on the other side.
        wide = (answers >= 0.0) == over
        return np.where(wide, answers / (1.0 + self.beyond), answers / (1.0 - self.beyond))

    def answers(self, limits: Floats) -> Floats:
        """Return the answers whose `limit` is given."""
        over = self.side == "over"
        if not self.relative:
            return limits + self.beyond if over else limits - self.beyond
        wide = (limits >= 0.0) == over
        return np.where(wide, limits * (1.0 + self.beyond), limits * (1.0 - self.beyond))

    def is_due(self, target: Floats, answer: Floats) -> Mask:
        """Return which answers pay it."""
        error = answer - target if self.side == "over" else target - answer
        return np.asarray(error > (self.beyond * np.abs(target) if self.relative else self.beyond))


class Prices(NamedTuple):
    """The prices of n rows, each of shape (n,) or (): per unit, per squared unit, fixed, steps."""

    under: Floats
    over: Floats
    fixed: Floats
    under_squared: Floats
    over_squared: Floats
    steps: tuple[Step, ...] = ()

    @property
    def squares(self) -> bool:
        """Whether any price is one of squared units."""
        return bool(np.any(self.under_squared) or np.any(self.over_squared))

    def apply(self, function: Callable[[Floats], Floats]) -> Prices:
        """Return the prices with each array replaced by what a function makes of it."""
        return Prices(
            function(self.under),
            function(self.over),
            function(self.fixed),
            function(self.under_squared),
            function(self.over_squared),
            tuple(step._replace(price=function(step.price)) for step in self.steps),
        )


def paid(prices: Prices, target: Floats, answer: Floats) -> Floats:
    """Return what every answer costs, (n,)."""
    error = answer - target
    size, too_high = np.abs(error), error > 0.0
    # The price first: that of the other side might overflow, and is not asked for.
    cost = prices.fixed + np.where(too_high, prices.over, prices.under) * size
    if prices.squares:
        each = np.where(too_high, prices.over_squared, prices.under_squared)
        cost = cost + each * size * size
    for step in prices.steps:
        cost = cost + np.where(step.is_due(target, answer), step.price, 0.0)
    return np.asarray(cost)


def expected(
    prices: Prices, spread: NumberDistribution, location: Floats, scale: Floats, answers: Floats
) -> Floats:
    """Return what answers are expected to cost, of their shape: (n,), or (n, m) with columns."""
    t = (answers - location) / scale
    beyond = t - spread.mean
    _, too_much, *more = spread.below.moments(t, 1 + prices.squares)
    too_little = np.maximum(too_much - beyond, 0.0)
    cost = prices.fixed + scale * (prices.over * too_much + prices.under * too_little)
    if prices.squares:
        much_squared = more[0]
        little_squared = np.maximum(spread.variance + beyond * beyond - much_squared, 0.0)
        squares = prices.over_squared * much_squared + prices.under_squared * little_squared
        cost = cost + scale * scale * squares
    for step in prices.steps:
        limit = (step.limit(answers) - location) / scale
        over = step.side == "over"
        share = spread.cdf(limit, strict=over)
        cost = cost + step.price * (share if over else 1.0 - share)
    return np.asarray(cost)


def cheapest(prices: Prices, spread: NumberDistribution, location: Floats, scale: Floats) -> Floats:
    """Return the answers of least expected cost, (n,); of several the lowest.

    Rows to which every answer costs the same get their median.
    """
    n_rows, middle = len(location), location + scale * spread.quantile(np.array(0.5))
    moving = (*prices._replace(fixed=prices.under)[:5], *(step.price for step in prices.steps))
    free = ~np.any([np.broadcast_to(price > 0.0, (n_rows,)) for price in moving], axis=0)
    if prices.steps:
        found = _by_segments(prices, spread, location, scale)
    elif prices.squares:
        found = location + scale * _by_slopes(prices, spread, scale)
    else:
        under, both = prices.under, np.broadcast_to(prices.under + prices.over, (n_rows,))
        levels = np.divide(under, both, out=np.full(n_rows, 0.5), where=both > 0.0)
        found = location + scale * spread.quantile(levels)
    return np.where(free, middle, found)


def _by_slopes(prices: Prices, spread: NumberDistribution, scale: Floats) -> Floats:
    """Return where a convex expected cost is least, in units of Z, (n,)."""
    n_rows = len(scale)
    under, over, _, under2, over2 = (np.broadcast_to(part, (n_rows,)) for part in prices[:5])
    below, above = spread.below, spread.above

    def slope(at: Array) -> Floats:
        level, lack = below.first[at], above.second[::-1][at]
        linear = over * level - under * (1.0 - level)
        return np.asarray(linear + 2.0 * scale * (over2 * below.second[at] - under2 * lack))

    low = np.zeros(n_rows, dtype=np.intp)  # the slope is not above 0 there
    high = np.full(n_rows, len(spread.knots) - 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        falls = slope(middle) <= 0.0
        low, high = np.where(falls, middle, low), np.where(falls, high, middle)
    level, g = below.first[low], below.density[low]
    # The slope within the segment is start + linear x + square x^2; it rises through 0 once.
    start = slope(low)
    linear = (over + under) * g + 2.0 * scale * (over2 * level + under2 * (1.0 - level))
    square = scale * g * (over2 - under2)
    root = np.sqrt(np.maximum(linear * linear - 4.0 * start * square, 0.0))
    width = spread.knots[high] - spread.knots[low]
    x = np.divide(-2.0 * start, linear + root, out=np.zeros(n_rows), where=linear + root > 0.0)
    return np.asarray(spread.knots[low] + np.clip(x, 0.0, width))


def _by_segments(
    prices: Prices, spread: NumberDistribution, location: Floats, scale: Floats
) -> Floats:
    """Return the answers of least expected cost where steps make it other than convex, (n,)."""
    n_rows, n_knots = len(location), len(spread.knots)
    found = np.empty(n_rows)
    size = max(1, _BLOCK // (n_knots * (1 + len(prices.steps)) * 6))
    held = np.flatnonzero(np.diff(spread.knots) == 0.0)
    for start in range(0, n_rows, size):
        rows = slice(start, start + size)
        some = prices.apply(lambda p, rows=rows: p[rows, None] if p.ndim else p)  # type: ignore[misc]
        place, width = location[rows][:, None], scale[rows][:, None]
        knots = place + width * spread.knots
        # Between these the cost is one polynomial, of degree 3 at most.
        parts = [knots, *(step.answers(knots) for step in some.steps)]
        parts += [np.zeros_like(place)] * any(step.relative for step in some.steps)
        ends = np.sort(np.concatenate(parts, axis=1), axis=1)
        left, length = ends[:, :-1], np.diff(ends, axis=1)

        cost = partial(expected, some, spread, place, width)
        inner = [cost(left + length * share) for share in (0.2, 0.4, 0.6, 0.8)]
        places = [ends, *_stationary(inner, left, length)]
        for step in some.steps:  # where much mass lies in one place, the cost jumps: stay clear
            ends = step.answers(knots[:, held])
            clear = _CLEAR * (np.abs(ends) + np.abs(knots[:, held]))
            places.append(ends - clear if step.side == "over" else ends + clear)
        candidates = np.concatenate(places, axis=1)
        candidates.sort(axis=1)
        best = np.argmin(cost(candidates), axis=1)
        found[rows] = candidates[np.arange(len(best)), best]
    return found


def _stationary(inner: Sequence[Floats], left: Floats, length: Floats) -> list[Floats]:
    """Return the stationary points of cubics by their values at 1/5 .. 4/5 of each segment.

    The ends themselves are no help: costs may jump there.
    """
    a, b, c, d = inner
    # Newton's differences, with x = 1/5 (1 + u): f = a + u d1 + u (u - 1) d2 / 2 + ...
    d1, d2, d3 = b - a, c - 2.0 * b + a, d - 3.0 * c + 3.0 * b - a
    square, linear, start = d3 / 2.0, d2 - d3, d1 - d2 / 2.0 + d3 / 3.0
    with np.errstate(all="ignore"):
        root = np.sqrt(np.maximum(linear * linear - 4.0 * square * start, 0.0))
        q = -0.5 * (linear + np.copysign(root, linear))
        places = [q / square, start / q]
    ends = []
    for u in places:
        x = np.where(np.isfinite(u), (1.0 + u) / 5.0, 0.0)
        ends.append(left + length * np.clip(x, 0.0, 1.0))
    return ends

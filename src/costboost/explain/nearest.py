"""The nearest value of a column that turns a decision, where prices change with the column.

Between two edges of a column's bins the probabilities stay as they are, but a price that reads the
column moves on, so a decision may turn anywhere in a bin, that of the row among them. The way leads
outwards from the row's value over points: the ends of every bin, some between, zero, and powers of
ten beyond the last edges, as far as the axis goes. Then the pieces between neighbours are halved:

    a piece at whose end the decision has turned      down to two neighbouring numbers
    one whose prices are refused at one end           likewise (`predict` refuses them too)
    one on which costs may bend below those of now    until they are straight, or far from turning

Costs that are straight in the column have turned nowhere between two points where they have not, so
what is found there is the nearest value; others are looked at as finely as their bends ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.typing import Floats, Int64

__all__ = ["REFUSED", "Axis", "Seen", "nearest", "stretch"]


REFUSED = -1  # in place of a decision: the price of such a row is none
_BEYOND = 1e300  # numbers are looked at up to here
_WHOLE = 2.0**53  # and whole ones, while floats tell them apart
_INSIDE = 7  # points within each bin
_HALVINGS = 90
_POINTS = 20_000  # pieces are not halved into more
_BENDS = 4.0  # a bend is at most twice as deep as it is in the middle of a piece
_STRAIGHT = 1e-12  # of the costs: what differs by rounding alone


class Seen(NamedTuple):
    """What is decided at some values of the column.

    Attributes
    ----------
    decided : int64 array of shape (n,)
        The number of the action; `REFUSED` where there is none.
    expected : float64 array of shape (n, A)
    """

    decided: Int64
    expected: Floats


Ask = Callable[[Floats], Seen]


@dataclass(frozen=True)
class Axis:
    """The values that a column can take, cut into bins as the model sees them."""

    edges: Floats
    whole: bool = False
    lowest: float = -_BEYOND
    highest: float = _BEYOND
    first: float = -_BEYOND  # what is proposed lies between these
    last: float = _BEYOND

    def bins(self, values: Floats) -> Int64:
        """Return the codes of values."""
        return np.searchsorted(self.edges, values, side="left")

    def after(self, value: float, step: float = 1.0) -> float:
        """Return the next value upwards, or downwards for step -1."""
        return value + step if self.whole else float(np.nextafter(value, step * np.inf))

    def ends(self, code: int) -> tuple[float, float]:
        """Return the first and the last value of a bin; there may be none between."""
        low, high = self.lowest, self.highest
        if code > 0:
            edge = float(self.edges[code - 1])
            low = max(low, self.after(np.floor(edge) if self.whole else edge))
        if code < len(self.edges):
            edge = float(self.edges[code])
            high = min(high, np.floor(edge) if self.whole else edge)
        return low, high

    def points(self) -> Floats:
        """Return where to look first, in order."""
        powers = 10.0 ** np.concatenate([np.arange(-10, 21), [50, 100, 200, 300]])
        parts = [np.array([0.0]), powers, -powers]
        for code in range(len(self.edges) + 1):
            low, high = self.ends(code)
            n = _INSIDE + 2 if abs(low) < self.highest and abs(high) < self.highest else 2
            parts.append(np.linspace(low, high, n) if low <= high else np.empty(0))
        points = np.concatenate(parts)
        points = np.append(np.rint(points) if self.whole else points, [self.first, self.last])
        inside = (points >= max(self.lowest, self.first)) & (points <= min(self.highest, self.last))
        return np.unique(points[inside])

    def within_seen(self) -> Axis:
        """Return this axis with no more to propose than training is sure to have seen.

        Edges lie between values that were seen, so there is one at or beyond the first value of
        the last bin, and one at or before the last value of the first bin.
        """
        return replace(self, first=self.ends(0)[1], last=self.ends(len(self.edges))[0])

    def middle(self, one: Floats, other: Floats, even: NDArray[np.bool_]) -> Floats:
        """Return values between pairs: halfway, or where not `even` halfway by count of floats."""
        half = one + (other - one) / 2.0
        if self.whole:
            return np.floor(half)
        between = _number(_place(one) + (_place(other) - _place(one)) // 2)
        return np.where(even, half, between)


def _place(values: Floats) -> Int64:
    """Return the places of floats in their order."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _number(places: Int64) -> Floats:
    """Return the floats at some places of their order."""
    return np.where(places < 0, np.int64(-(2**63)) - places, places).view(np.float64)


def nearest(ask: Ask, axis: Axis, now: float, chosen: int) -> tuple[float, float] | None:
    """Return the nearest value at which another action is decided, and its neighbour towards now.

    "Nearest" counts the bins passed, then the numbers between. NaN is where the value of the row is
    missing: the lowest value that turns the decision is then returned, with itself.

    Parameters
    ----------
    ask : callable
        From values to what is decided there.
    axis : Axis
    now : float
        The row's value.
    chosen : int
        What is decided there.
    """
    points = axis.points()
    seen = ask(points)
    now = float(np.clip(now, -_BEYOND, _BEYOND))  # which leaves NaN
    if np.isnan(now):
        found = _walk(ask, axis, points, seen, chosen)
        return None if found is None else (found[0], found[0])
    own = Seen(np.array([chosen]), ask(np.array([now])).expected)
    ways = []
    for side in (np.flatnonzero(points < now)[::-1], np.flatnonzero(points > now)):
        start = Seen(*(np.concatenate([a, b[side]]) for a, b in zip(own, seen, strict=True)))
        found = _walk(ask, axis, np.append(now, points[side]), start, chosen)
        if found is not None:
            ways.append(found)
    home = int(axis.bins(np.array([now]))[0])

    def far(way: tuple[float, float]) -> tuple[int, float]:
        return abs(int(axis.bins(np.array([way[0]]))[0]) - home), abs(way[0] - now)

    return min(ways, key=far, default=None)


def stretch(ask: Ask, axis: Axis, value: float, decided: int) -> float:
    """Return up to which value of its bin a decision stays, from a value at which it is made."""
    _, last = axis.ends(int(axis.bins(np.array([value]))[0]))
    points = axis.points()
    points = np.append(value, points[(points > value) & (points <= last)])
    found = _walk(ask, axis, points, ask(points), decided, either=True)
    return last if found is None else found[1]


def _walk(
    ask: Ask, axis: Axis, values: Floats, seen: Seen, chosen: int, either: bool = False
) -> tuple[float, float] | None:
    """Return the first value on the way with another decision, and the last before it.

    With `either`, a value that is refused counts as another decision.
    """
    bins, (decided, expected) = axis.bins(values), seen
    open_ = np.ones(len(values), dtype=np.bool_)  # whether the piece after a value may be halved
    for _ in range(_HALVINGS):
        turned = (decided != chosen) & (either | (decided != REFUSED))
        if turned.any():
            stop = int(turned.argmax()) + 1
            values, bins, decided = values[:stop], bins[:stop], decided[:stop]
            expected, open_, turned = expected[:stop], open_[:stop], turned[:stop]
        good = decided != REFUSED
        even = (good & ~turned)[:-1] & (good & ~turned)[1:]
        wanted = open_[:-1] & (bins[:-1] == bins[1:]) & (even | good[:-1] | good[1:])
        wanted &= ~even | (len(values) < _POINTS)
        at = np.flatnonzero(wanted)
        middle = axis.middle(values[at], values[at + 1], even[at])
        new = (middle != values[at]) & (middle != values[at + 1])
        open_[at[~new]] = False
        at, middle = at[new], middle[new]
        if not len(at):
            break
        there = ask(middle)
        bent = even[at] & (there.decided == chosen)
        closed = bent & _stays(expected[at], there.expected, expected[at + 1], chosen)
        open_[at] = ~closed
        values = np.insert(values, at + 1, middle)
        bins = np.insert(bins, at + 1, bins[at])
        decided = np.insert(decided, at + 1, there.decided)
        expected = np.insert(expected, at + 1, there.expected, axis=0)
        open_ = np.insert(open_, at + 1, ~closed)
    turned = (decided != chosen) & (either | (decided != REFUSED))
    if not turned.any():
        return None
    first = int(turned.argmax())
    return float(values[first]), float(values[max(first - 1, 0)])


def _stays(one: Floats, middle: Floats, other: Floats, chosen: int) -> NDArray[np.bool_]:
    """Whether nothing can have turned on pieces, by the costs at their ends and middles."""
    with np.errstate(invalid="ignore", over="ignore"):
        bend = np.abs(middle - (one / 2.0 + other / 2.0)).max(axis=1)
        scale = np.maximum(np.abs(one), np.abs(other)).max(axis=1)
        gaps = [_gap(costs, chosen) for costs in (one, middle, other)]
        clear = np.minimum.reduce(gaps) > _BENDS * bend
        straight = (bend <= _STRAIGHT * scale) | np.isnan(bend)  # NaN: beyond all numbers
    return np.asarray(straight | clear)


def _gap(costs: Floats, chosen: int) -> Floats:
    """Return how much more the cheapest other action costs."""
    others = np.delete(costs, chosen, axis=1).min(axis=1, initial=np.inf)
    return np.asarray(others - costs[:, chosen])

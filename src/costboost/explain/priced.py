"""The nearest changes of columns that prices read, by prices that are read again.

What is decided about a changed row is asked of a table that holds it, as `predict` is: its prices
are those of the changed row, and a row whose prices are refused turns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.explain.changes import Change, rounded
from costboost.explain.nearest import REFUSED, Axis, Seen, nearest, stretch
from costboost.explain.rows import values_of_row
from costboost.explain.subject import Encoded, Subject
from costboost.explain.variants import Variants
from costboost.inputs.arrays import is_missing
from costboost.inputs.checks import plain

__all__ = ["PricedChanges"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PricedChanges:
    """What finds the nearest changes of columns that prices read.

    Parameters
    ----------
    subject : Subject
    row : Encoded
        One row.
    names : tuple of str
    proba : callable
        From the members' margins to the probabilities that decisions rest on, (n, K).
    ask : callable
        From a table and probabilities to what is decided there.
    chosen : int
        The number of the action that is decided now.
    actions : sequence
    n_threads : int, default=1
    """

    subject: Subject
    row: Encoded
    names: tuple[str, ...]
    proba: Callable[[list[Floats]], Floats]
    ask: Callable[[Any, Floats], Seen]
    chosen: int
    actions: Any
    n_threads: int = 1

    def of(self, columns: Collection[int]) -> list[Change]:
        """Return the nearest change of each column that has one."""
        variants, values = Variants(self.row.X), values_of_row(self.row.X)
        found = (self._of_column(j, variants, values[j]) for j in columns)
        return [change for change in found if change is not None]

    def _of_column(self, j: int, variants: Variants, now: Any) -> Change | None:
        binner = self.subject.members[0].forest.binner
        proba = self._of_bins(j, int(binner.n_bins[j]))
        categories = binner.categories[j]
        if categories is not None:
            return self._of_categories(j, variants, categories, proba)
        axis = _axis(binner.edges[j], variants, j)

        def ask(points: Floats) -> Seen:
            return self.ask(variants.table(j, points), proba[axis.bins(points)])

        start = np.nan if is_missing(now) else float(now)
        found = nearest(ask, axis, start, self.chosen)
        if found is None:
            return None
        value, before = found
        code, home = axis.bins(np.array([value, np.nan_to_num(start)])).tolist()
        decided = int(ask(np.array([value])).decided[0])
        if is_missing(now):
            told = _told_stretch(axis, value, stretch(ask, axis, value, decided))
        else:
            told = _told(ask, axis, value, before, decided)
        distance = 1.0 if is_missing(now) else abs(code - home) / int(binner.n_bins[j])
        return self._change(j, told, decided, proba[code], distance)

    def _of_categories(
        self, j: int, variants: Variants, categories: tuple[Any, ...], proba: Floats
    ) -> Change | None:
        keys = np.empty(len(categories), dtype=object)
        keys[:] = categories
        decided = self.ask(variants.table(j, keys), proba).decided
        turned = np.flatnonzero((decided != self.chosen) & (decided != REFUSED))
        if not len(turned):
            return None
        code = int(turned[0])
        return self._change(j, (str(categories[code]), None), decided[code], proba[code], 1.0)

    def _of_bins(self, j: int, n_bins: int) -> Floats:
        """Return the probabilities of the row in each bin of a column."""
        codes = np.repeat(self.row.codes, n_bins, axis=0)
        codes[:, j] = np.arange(n_bins)
        return self.proba(self.subject.margins(Encoded(self.row.X, codes), self.n_threads))

    def _change(
        self, j: int, told: tuple[str, float | None], decided: Any, proba: Floats, distance: float
    ) -> Change:
        chances = tuple(float(p) for p in proba)
        return Change(self.names[j], *told, plain(self.actions[int(decided)]), chances, distance)


def _axis(edges: Floats, variants: Variants, j: int) -> Axis:
    if variants.is_boolean(j):
        return Axis(edges, True, 0.0, 1.0)
    return Axis(edges, True, -(2.0**53), 2.0**53) if variants.is_whole(j) else Axis(edges)


def _told(
    ask: Callable[[Floats], Seen], axis: Axis, value: float, before: float, decided: int
) -> tuple[str, float]:
    """Return in words where a decision turns, and the number in them."""
    up, code = value > before, int(axis.bins(np.array([value]))[0])
    at_edge = up and code > 0 and value == axis.ends(code)[0]
    limit = float(axis.edges[code - 1]) if at_edge else value

    def holds(x: float) -> bool:
        at = axis.after(np.floor(x) if axis.whole else x) if at_edge else x
        inside = axis.lowest <= at <= axis.highest
        return inside and bool(ask(np.array([at])).decided[0] == decided)

    words = "above" if at_edge else "at least" if up else "at most"
    return f"{words} {rounded(limit, up, holds)}", limit


def _told_stretch(axis: Axis, value: float, last: float) -> tuple[str, float | None]:
    """Return in words from where to where a missing value would turn a decision."""
    code = int(axis.bins(np.array([value]))[0])
    first_end, last_end = axis.ends(code)
    parts, limit, least = [], None, -np.inf
    if value > first_end:
        limit, words = value, "at least"
    elif code > 0:
        limit, words = float(axis.edges[code - 1]), "above"
    if limit is not None:
        text = rounded(limit, True, lambda x: x < last)
        parts, least = [f"{words} {text}"], float(text)
    if last < last_end or code < len(axis.edges):
        limit = last
        parts.append(f"at most {rounded(last, False, lambda x: least <= x)}")
    return " and ".join(parts) or "known", limit

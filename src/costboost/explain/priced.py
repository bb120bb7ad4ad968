"""The nearest changes of columns that prices read, by prices that are read again.

What is decided about a changed row is asked of a table that holds it, as `predict` is: its prices
are those of the changed row, and a row whose prices are refused turns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.explain.changes import Change, rounded
from costboost.explain.nearest import REFUSED, Axis, Seen, nearest, stretch
from costboost.explain.rows import Encoded, values_of_row
from costboost.inputs.arrays import is_missing
from costboost.inputs.checks import is_frame, plain
from costboost.model import FittedModel
from costboost.typing import Floats

__all__ = ["Variants", "PricedChanges"]


# Copies of a row that differ in one column, as `predict` would be given them


class Variants:
    """Tables made of one row.

    Parameters
    ----------
    X : table of shape (1, n_features)
        A frame of any library, or an array.

    Examples
    --------
    >>> Variants(np.array([[1, 2]])).table(1, np.array([5.5, 6.5])).tolist()
    [[1.0, 5.5], [1.0, 6.5]]
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._frame: Any = nw.from_native(X, eager_only=True) if is_frame(X) else None

    def is_boolean(self, j: int) -> bool:
        """Whether column j holds truths."""
        if self._frame is None:
            return bool(self.X.dtype == np.bool_)
        return bool(self._frame[:, j].dtype == nw.Boolean)

    def is_whole(self, j: int) -> bool:
        """Whether column j of a frame holds whole numbers: an array has one type for all."""
        return self._frame is not None and bool(self._frame[:, j].dtype.is_integer())

    def table(self, j: int, values: NDArray[Any]) -> Any:
        """Return a table like the row's with these values in column j, one in each row."""
        if self.is_boolean(j):
            values = values.astype(np.bool_)
        if self._frame is None:
            return self._array(j, values)
        if hasattr(self.X, "isetitem"):
            return self._pandas(j, values)
        name = self._frame.columns[j]
        library = nw.get_native_namespace(self._frame)
        new = nw.from_dict({name: values.tolist()}, native_namespace=library)
        return self._frame[[0] * len(values)].with_columns(new[name]).to_native()

    def _array(self, j: int, values: NDArray[Any]) -> NDArray[Any]:
        wide = np.result_type(self.X, values) if self.X.dtype.kind in "biuf" else np.dtype(object)
        rows = np.repeat(self.X.astype(wide), len(values), axis=0)
        rows[:, j] = values
        return np.asarray(rows)

    def _pandas(self, j: int, values: NDArray[Any]) -> Any:
        rows = self.X.iloc[np.zeros(len(values), dtype=np.intp)]
        known = getattr(rows.dtypes.iloc[j], "categories", None)
        new: Any = values
        if known is not None:
            import pandas as pd

            new = pd.Categorical(values, known.append(pd.Index(values)).unique())
        rows.isetitem(j, new)
        return rows


@dataclass(frozen=True)
class PricedChanges:
    """What finds the nearest changes of columns that prices read.

    Parameters
    ----------
    model : FittedModel
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

    model: FittedModel
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
        binner = self.model.forests[0].binner
        proba = self._of_bins(j, int(binner.n_bins[j]))
        categories = binner.categories[j]
        if categories is not None:
            codes = binner.codes_of_levels(j)
            each = proba if codes is None else proba[codes[:-1]]
            return self._of_categories(j, variants, categories, each)
        if not len(binner.edges[j]):  # one value was seen, and no other is proposed
            return None
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
            interval = _interval_of_stretch(axis, value, stretch(ask, axis, value, decided))
        else:
            interval = _interval_of(ask, axis, value, before, decided)
        distance = 1.0 if is_missing(now) else abs(code - home) / int(binner.n_bins[j])
        return self._change(j, interval, decided, proba[code], distance)

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
        return self.proba(self.model.margins(self.row.X, codes, self.n_threads))

    def _change(
        self,
        j: int,
        interval: tuple[str, float | None],
        decided: Any,
        proba: Floats,
        distance: float,
    ) -> Change:
        chances = tuple(float(p) for p in proba)
        return Change(
            self.names[j], *interval, plain(self.actions[int(decided)]), chances, distance
        )


def _axis(edges: Floats, variants: Variants, j: int) -> Axis:
    if variants.is_boolean(j):
        return Axis(edges, True, 0.0, 1.0)
    whole = variants.is_whole(j)
    axis = Axis(edges, True, -(2.0**53), 2.0**53) if whole else Axis(edges)
    return axis.within_seen()  # a loan of 0 months is no advice


def _interval_of(
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


def _interval_of_stretch(axis: Axis, value: float, last: float) -> tuple[str, float | None]:
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

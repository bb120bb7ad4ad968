"""Where a column is cut, when only some of its values are known.

    known values     p0        p1   p2             p3        each with the weight of the rows below
    gaps                ......            .......            it and up to it; the rest is in gaps

`walk` takes the steps of `kernels.cut_sorted` over what is known. Where a share of weight ends in a
gap, or a cut's neighbour lies in one, the gap is wanted, and the walk goes on with a guess: later
gaps are then found in the same trip. A walk that wants nothing has made no guess, so its cuts are
those of the whole column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Known", "Walk", "walk"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Known(NamedTuple):
    """Values of a column, increasing, the smallest and the largest of all among them.

    Attributes
    ----------
    values : float64 array of shape (m,)
    below : int64 array of shape (m,)
        The weight of the rows below each value.
    upto : int64 array of shape (m,)
        The weight of the rows below it or equal to it.
    """

    values: Floats
    below: Integers
    upto: Integers

    def gaps(self, wanted: list[int]) -> tuple[Floats, Floats]:
        """Return the values on both sides of gaps; gap i is that after value i."""
        places = np.array(wanted, dtype=np.int64)
        return self.values[places], self.values[places + 1]

    def filled(self, values: Floats, weights: Integers) -> Known:
        """Add all values of some gaps."""
        gaps = np.searchsorted(self.values, values) - 1
        sums = np.cumsum(weights)
        before = sums - weights
        first = np.searchsorted(gaps, gaps)  # the first new value in the same gap
        upto = self.upto[gaps] + sums - before[first]
        merged = np.concatenate([self.values, values])
        order = np.argsort(merged, kind="stable")
        return Known(
            merged[order],
            np.concatenate([self.below, upto - weights])[order],
            np.concatenate([self.upto, upto])[order],
        )


class Walk(NamedTuple):
    """Cuts, each between two neighbouring values; none of it counts unless nothing is wanted.

    Attributes
    ----------
    lower, upper : float64 arrays
    wanted : list of int
        The gaps that must be known first, increasing.
    """

    lower: Floats
    upper: Floats
    wanted: list[int]


def walk(known: Known, max_bins: int) -> Walk:
    """Cut a column of more than `max_bins` values as `kernels.cut_sorted` does.

    Examples
    --------
    >>> few = Known(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 2]), np.array([1, 2, 3]))
    >>> walk(few, 2).lower.tolist()
    [2.0]
    >>> walk(Known(np.array([1.0, 3.0]), np.array([0, 5]), np.array([1, 6])), 2).wanted
    [0]
    """
    cuts: list[int] = []
    wanted: set[int] = set()
    total, start = int(known.upto[-1]), 0
    for bins_left in range(max_bins, 1, -1):
        if start >= total:
            break
        share = -((start - total) // bins_left)  # rounded up
        i = int(np.searchsorted(known.upto, start + share))
        first, stop = int(known.below[i]), int(known.upto[i])
        if start + share <= first:  # the share ends in the gap before value i
            wanted |= _around(known, i - 1)
            start = _guess(known, i - 1, start + share)
            continue
        alone = stop - first >= share and first > start
        cut = i - 1 if alone else i
        start = first if alone else stop
        if start < total:
            cuts.append(cut)
            if known.upto[cut] < known.below[cut + 1]:
                wanted.add(cut)
    places = np.array(cuts, dtype=np.int64)
    return Walk(known.values[places], known.values[places + 1], sorted(wanted))


def _runs(known: Known, i: int) -> int:
    """Return what the two values around gap i weigh."""
    return int((known.upto - known.below)[i : i + 2].sum())


def _guess(known: Known, i: int, reached: int) -> int:
    """Guess where the run of equal values ends in which a share does: half a run further on."""
    return min(reached + _runs(known, i) // 4, int(known.below[i + 1]))


def _around(known: Known, i: int) -> set[int]:
    """Return gap i, and where values repeat, so that guesses drift, those beside it too."""
    width = 1 if _runs(known, i) > 2 else 0
    near = range(max(i - width, 0), min(i + width + 1, len(known.values) - 1))
    return {g for g in near if known.upto[g] < known.below[g + 1]}

"""How a model's rows lie in a part whose codes are stored fold by fold; see `parts`.

stored   | fold 0 | fold 1 | fold 2 | rows of none
model 1  | ###### |        | ###### |                 two ranges: codes skip fold 1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Arranged", "left_out", "without_fold"]

Codes = NDArray[np.uint8]
Int64 = NDArray[np.int64]


class Arranged(NamedTuple):
    """The rows of a model in a part, as a `Shard` holds them.

    Rows are given by their place among those of the part that the model trains on.
    """

    codes: Codes
    rows: NDArray[np.uint32]
    starts: Int64
    skips: tuple[int, ...] | None = None


def left_out(chosen: NDArray[np.uint32], stored: NDArray[np.uint32], starts: Int64) -> int | None:
    """Return the fold that is all that was not chosen; None: it is another selection."""
    sizes = np.diff(starts)
    folds = np.empty(len(stored), dtype=np.uint8)
    folds[stored] = np.repeat(np.arange(len(sizes), dtype=np.uint8), sizes)
    found = np.bincount(folds[chosen], minlength=len(sizes))
    lacking = (sizes - found)[:-1]
    fold = int(np.argmax(lacking))
    alone = np.count_nonzero(lacking) == 1 and found[fold] == found[-1] == 0
    return fold if alone else None


def without_fold(
    codes: Codes,
    chosen: NDArray[np.uint32],
    stored: NDArray[np.uint32],
    starts: Int64,
    fold: int,
) -> Arranged:
    """Arrange all rows but those of a fold: two ranges, the second of which is further on."""
    begin, end, last = starts[[fold, fold + 1, -2]].tolist()
    rows = np.searchsorted(chosen, np.concatenate([stored[:begin], stored[end:last]]))
    segments = np.array([0, begin, len(rows)], dtype=np.int64)
    return Arranged(codes[:last], rows.astype(np.uint32), segments, (0, end - begin))

"""Columns that rows are often divided by, copied out of the table.

    codes   | 3 1 4 | 1 5 9 | 2 6 5 | ...     a row's codes lie together, as histograms want them
    copy    | 1 5 6 ...                       one column of them

To divide a node takes one code of each of its rows. In the table these are a row apart, each in a
part of memory of its own; copied, many lie in the same one and the whole column stays in cache.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]

_SHARE = 3  # a copy of one column in so many at most: they take memory
_LARGE = 1 << 20  # bytes of a table above which it does not stay in cache


class HotColumns:
    """The copies of one shard's table, made of columns that were asked for often enough.

    Examples
    --------
    >>> codes = np.arange(3 << 20, dtype=np.uint8).reshape(-1, 3)
    >>> hot = HotColumns(codes)
    >>> first, then = hot.find(2, n_rows=1 << 19), hot.find(2, n_rows=1 << 19)
    >>> first[0] is codes, first[1], then[0].shape, then[1]
    (True, 2, (1048576, 1), 0)
    """

    def __init__(self, codes: Codes, *, shared: bool = False) -> None:
        """Copy nothing of a table that other models share: each would copy it."""
        self._codes, self._copies = codes, dict[int, Codes]()
        self._asked: dict[int, int] = {}
        self._most = codes.shape[1] // _SHARE if codes.nbytes > _LARGE and not shared else 0

    def find(self, feature: int, n_rows: int) -> tuple[Codes, int]:
        """Return a table with the codes of a column, and where it stands there.

        `n_rows` is how many rows will be read: a copy is made when they are a table's together.
        """
        copy = self._copies.get(feature)
        if copy is not None:
            return copy, 0
        if len(self._copies) >= self._most:
            return self._codes, feature
        asked = self._asked[feature] = self._asked.get(feature, 0) + n_rows
        if asked >= len(self._codes):
            self._copies[feature] = np.ascontiguousarray(self._codes[:, feature])[:, None]
            return self._copies[feature], 0
        return self._codes, feature

"""Which columns may meet on one path of a tree.

Columns interact when they are split on one after the other. A path may go on with a column if some
group holds it and all columns of the path so far.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]


@dataclass(frozen=True)
class Interactions:
    """Groups of columns that may interact, or how many at most.

    Attributes
    ----------
    n_features : int
    groups : tuple of frozensets of column numbers
        Columns in none of them are a group of their own together.
    most : int or None
        So many columns on a path, whichever they are; in place of groups.

    Examples
    --------
    >>> rule = make_interactions(4, [{0, 1}, {1, 2}])
    >>> [rule.allowed(frozenset(path)).tolist() for path in ([], [0], [1], [0, 1], [3])]
    [[0, 1, 2, 3], [0, 1], [0, 1, 2], [0, 1], [3]]
    """

    n_features: int
    groups: tuple[frozenset[int], ...] = ()
    most: int | None = None

    def allowed(self, path: frozenset[int]) -> Int64:
        """Return the columns that a path may go on with, ascending."""
        if self.most is not None:
            return np.array(sorted(path)) if len(path) >= self.most else np.arange(self.n_features)
        fitting = [group for group in self.groups if path <= group]
        return np.array(sorted(frozenset().union(*fitting)), dtype=np.int64)


def make_interactions(n_features: int, groups: Iterable[Iterable[int]]) -> Interactions:
    """Return the rule of some groups; the columns that none of them names are one more."""
    named = [frozenset(group) for group in groups]
    rest = frozenset(range(n_features)) - frozenset().union(*named)
    return Interactions(n_features, tuple(named) + ((rest,) if rest else ()))

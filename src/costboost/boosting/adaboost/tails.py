"""Long steps: Z in the log domain, rows that gain apart from rows that lose.

    falling   u > 0   sum q u exp(-alpha u)     what a longer step still takes away
    rising    u < 0   sum q |u| exp(-alpha u)   what it adds
    Z'(alpha) = rising - falling: least Z where ln falling = ln rising

Prices that differ by many powers of ten need steps that are long for the dearest row: its weight
is then far below what numbers hold, and may come back in a later round. Logarithms hold it. Each
sum is taken relative to its own largest term, so that it neither overflows nor vanishes, and it is
exact, so that it does not depend on the shards.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost.messages.logs import LargestLog, MakeTails, RowLogs, Side, SumLogs
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards

Floats = NDArray[np.float64]

ALL: Side = 0
FALLING: Side = 1
RISING: Side = 2


class LogSums(Protocol):
    """What adds up the terms of one side."""

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum exp(logs - alpha u); minus infinity without any weight."""


class CellLogs:
    """The tails of a few cells: q and u as arrays of one shape."""

    def __init__(self, q: Floats, u: Floats) -> None:
        q, u = np.ravel(q), np.ravel(u).astype(float)
        self._sides = [(q, u), *((q * np.abs(u) * side, u) for side in (u > 0.0, u < 0.0))]

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum q exp(-alpha u), or with q |u| for one of the sides."""
        q, u = self._sides[side]
        if not np.any(q > 0.0):
            return -math.inf
        terms = np.log(q[q > 0.0]) - alpha * u[q > 0.0]
        top = float(np.max(terms))
        return top + math.log(math.fsum(np.exp(terms - top).tolist()))


class RowTails:
    """The tails of all rows, kept by the shards until the next step."""

    def __init__(self, shards: Shards, how: RowLogs) -> None:
        self.shards = shards
        (self._sizes,) = shards.call([MakeTails(how)])

    def log_sum(self, side: Side, alpha: float) -> float:
        """Return ln sum exp(logs - alpha u), exactly whatever the shards."""
        (top,) = self.shards.call([LargestLog(side, alpha)])
        if top == -math.inf:
            return -math.inf
        scale = grid_scale(1.0, self._sizes[side])
        (sums,) = self.shards.call([SumLogs(side, alpha, float(top), scale)])
        return float(top + math.log(to_floats(sums, scale)[0]))


class Tails:
    """What Z is at long steps."""

    def __init__(self, sums: LogSums) -> None:
        self._log_sum = sums.log_sum

    def log_z(self, alpha: float) -> float:
        """Return ln sum q exp(-alpha u)."""
        return self._log_sum(ALL, alpha)

    def gap(self, alpha: float) -> float:
        """Return ln falling - ln rising: it falls with alpha, and is 0 where Z is least.

        Infinite where no row that has weight is on one of the sides: Z falls for ever.
        """
        falling, rising = self._log_sum(FALLING, alpha), self._log_sum(RISING, alpha)
        if falling == rising:  # also where neither side has any row
            return 0.0
        return falling - rising

    def mean_size(self) -> float:
        """Return E|u|, the margins' own unit."""
        total = self.log_z(0.0)
        sides = (self._log_sum(FALLING, 0.0), self._log_sum(RISING, 0.0))
        return math.fsum(math.exp(side - total) for side in sides)

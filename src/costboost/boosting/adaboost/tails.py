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
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.shards.grid import grid_scale, to_floats
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Part = tuple[Floats, Floats]
Work = Callable[[Part], Any]


@dataclass(frozen=True)
class Tails:
    """Logarithms of weights and effective margins, in one part or in one for every shard.

    Attributes
    ----------
    parts : list of (logs, margins)
        ln(weight * factor), minus infinity where there is no weight, and u.
    run : callable
        Calls a function on every part, on the shards' threads where there are any.
    """

    parts: list[Part]
    run: Callable[[Work, list[Part]], list[Any]]

    @classmethod
    def of_cells(cls, q: Floats, u: Floats) -> Tails:
        """Return the tails of a few cells."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.ravel(q))
        return cls([(logs, np.ravel(u).astype(float))], _one_by_one)

    @classmethod
    def of_rows(cls, shards: Shards, part: Callable[[Shard], Part]) -> Tails:
        """Return the tails of all rows; `part` gives a shard's logs and margins."""

        def run(work: Work, parts: list[Part]) -> list[Any]:
            own = {id(shard): own for shard, own in zip(shards.shards, parts, strict=True)}
            return shards.map(lambda shard: work(own[id(shard)]))

        return cls(shards.map(part), run)

    def log_z(self, alpha: float) -> float:
        """Return ln sum q exp(-alpha u)."""
        return self._log_sum(self.parts, alpha)

    def gap(self, alpha: float) -> float:
        """Return ln falling - ln rising: it falls with alpha, and is 0 where Z is least.

        Infinite where no row that has weight is on one of the sides: Z falls for ever.
        """
        falling, rising = self._log_sum(self._falling, alpha), self._log_sum(self._rising, alpha)
        if falling == rising:  # also where neither side has any row
            return 0.0
        return falling - rising

    def mean_size(self) -> float:
        """Return E|u|, the margins' own unit."""
        sides = [self._log_sum(side, 0.0) for side in (self._falling, self._rising)]
        total = self.log_z(0.0)
        return math.fsum(math.exp(side - total) for side in sides)

    @cached_property
    def _falling(self) -> list[Part]:
        return [_priced(logs, u, u > 0.0) for logs, u in self.parts]

    @cached_property
    def _rising(self) -> list[Part]:
        return [_priced(logs, u, u < 0.0) for logs, u in self.parts]

    def _log_sum(self, parts: list[Part], alpha: float) -> float:
        """Return ln sum exp(logs - alpha u), exactly whatever the parts."""
        tops = self.run(lambda part: kernels.largest_log(*part, alpha), parts)
        top, n_rows = max(tops), sum(len(logs) for logs, _ in parts)
        if top == -math.inf:
            return -math.inf
        scale = grid_scale(1.0, n_rows)

        def add(part: Part) -> Int64:
            out = np.zeros((1, 2), dtype=np.int64)
            kernels.sum_of_logs(*part, alpha, top, scale, out)
            return out

        total = to_floats(np.sum(self.run(add, parts), axis=0), scale)[0]
        return float(top + math.log(total))


def _one_by_one(work: Work, parts: list[Part]) -> list[Any]:
    return [work(part) for part in parts]


def _priced(logs: Floats, u: Floats, chosen: NDArray[np.bool_]) -> Part:
    """Return ln(q |u|) and u of the chosen rows."""
    sizes = np.abs(u[chosen])
    kernels.take_logs(sizes, sizes)
    return logs[chosen] + sizes, u[chosen]


def log_weights(shard: Shard) -> Floats:
    """Return the logarithms of a shard's weights, a copy; minus infinity for rows without any."""
    kept = shard.data.get("logs")
    if kept is not None:
        return kept.copy()
    logs = np.empty(len(shard.rows))
    kernels.take_logs(shard.data["weights"], logs)
    absent = shard.data.get("absent")
    if absent is not None:
        logs[absent] = -np.inf
    return logs


def log_factors(f: Floats) -> Floats:
    """Return ln f; factors of 0 leave no weight."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(f))

"""Rows -> limited actions at the least sum of costs: a transportation problem, solved exactly.

`regrets` are int64, shape (n, m): what action a costs on row i above the cheapest of that row, on a
grid of a power of two. `capacities` has shape (m,) and holds at least n in total. Integers make
every comparison exact, so the result is the optimum of the linear program and not near it.

The way there is the dual one. Any price per action gives an assignment (each row takes the action
that is cheapest with its price) from which no exchange of rows saves anything; only the capacities
may not be kept. Prices are first found roughly, on a sample. Then rows are moved from overfull
actions to others along shortest paths (Ford and Fulkerson's successive shortest paths, on a graph
whose m nodes are the actions), which keeps "no exchange saves anything" true, until all fit.

Places that stay empty are held by *idle* rows, which cost nothing anywhere. With them every
action is exactly full, and one more place is one more idle row.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from costboost.typing import Int64

_FEW_ROWS = 4_096  # up to which prices are found by sweeps alone
_STRIDE = 16
_SWEEPS = 4


class Assignment(NamedTuple):
    """The action of each row, shape (n,), and what one more place of each would save, (m,)."""

    taken: Int64
    savings: Int64


def assign(regrets: Int64, capacities: Int64) -> Assignment:
    """Return the assignment of least total regret in which no action takes more than it can.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.decisions.assignment import assign
    >>> regrets = np.array([[0, 4, 9], [0, 1, 9], [0, 7, 8]])
    >>> taken, savings = assign(regrets, np.array([1, 1, 3]))
    >>> taken.tolist(), savings.tolist()
    ([0, 1, 2], [8, 4, 0])
    """
    prices = _rough_prices(regrets, capacities)
    taken = np.asarray(np.argmin(regrets + prices, axis=1))
    moves = _Moves(regrets, taken, capacities, int(np.argmin(prices)))
    while moves.step():
        pass
    savings = moves.savings()
    return Assignment(_first_come(regrets, moves.taken, savings), savings)


def _first_come(regrets: Int64, taken: Int64, prices: Int64) -> Int64:
    """Among rows that are alike, let the first have the actions that cost them least.

    Only rows to which two actions cost the same, with their prices, can be treated differently.
    """
    total = regrets + prices
    tied = np.flatnonzero(np.sum(total == total.min(axis=1, keepdims=True), axis=1) > 1)
    if not len(tied):
        return taken
    mine = taken[tied]
    _, kind = np.unique(regrets[tied], axis=0, return_inverse=True)
    kind = kind.reshape(-1)  # numpy 2.0 keeps an axis
    by_row = np.argsort(kind, kind="stable")
    by_regret = np.lexsort((mine, regrets[tied, mine], kind))
    out = taken.copy()
    out[tied[by_row]] = mine[by_regret]
    return out


def _rough_prices(regrets: Int64, capacities: Int64) -> Int64:
    """Return prices at which about as many rows choose each action as it can take.

    They are those of every 16th row, found exactly; an error of one row in a hundred there leaves
    few rows to move here.
    """
    if len(regrets) <= _FEW_ROWS:
        return _sweep(regrets, capacities)
    # Rounded up: the sample must find a place for all its rows, too.
    return assign(regrets[::_STRIDE], -(-capacities // _STRIDE)).savings


def _sweep(regrets: Int64, capacities: Int64) -> Int64:
    """Raise the dual coordinate by coordinate: each price in turn is the best given the others."""
    n, m = regrets.shape
    prices = np.zeros(m, dtype=np.int64)
    for _ in range(_SWEEPS):
        before = prices.copy()
        for a in np.flatnonzero(capacities < n):
            others = np.min([regrets[:, b] + prices[b] for b in range(m) if b != a], axis=0)
            prices[a] = max(_largest(others - regrets[:, a], int(capacities[a])), 0)
        if np.array_equal(prices, before):
            break
    return prices


def _largest(values: Int64, rank: int) -> int:
    """Return the value that exactly `rank` others may exceed."""
    at = len(values) - 1 - rank
    return int(np.partition(values, at)[at])


class _Moves:
    """Rows that may move, best first, for every pair of actions; `step` makes the best moves.

    `waiting[a][b]` is a heap of (what moving costs, row) over rows in a; rows that have left a
    are dropped when they come up. A step takes at most one row out of an action, so as many as
    there are steps to come, and one, are enough to begin with.
    """

    def __init__(self, regrets: Int64, taken: Int64, capacities: Int64, idle_at: int) -> None:
        self.regrets, self.taken = regrets, taken
        m = len(capacities)
        self.idle = [0] * m
        self.idle[idle_at] = int(capacities.sum()) - len(taken)
        held = np.bincount(taken, minlength=m) + np.array(self.idle)
        self.excess: list[int] = (held - capacities).tolist()
        to_move = sum(e for e in self.excess if e > 0)
        self.waiting = [[self._first(a, b, to_move + 1) for b in range(m)] for a in range(m)]

    def _first(self, a: int, b: int, n_rows: int) -> list[tuple[int, int]]:
        rows = np.flatnonzero(self.taken == a)
        if a == b or not len(rows):
            return []
        costs = self.regrets[rows, b] - self.regrets[rows, a]
        if n_rows < len(rows):
            # Lowest row first among equals, whatever the partition does with them.
            last = np.partition(costs, n_rows - 1)[n_rows - 1]
            near = np.flatnonzero(costs <= last)
            rows, costs = rows[near], costs[near]
        order = np.argsort(costs, kind="stable")[:n_rows]
        return list(zip(costs[order].tolist(), rows[order].tolist(), strict=True))

    def step(self) -> bool:
        """Move rows along the cheapest path from an overfull action; False when none is."""
        sources = [a for a, excess in enumerate(self.excess) if excess > 0]
        if not sources:
            return False
        distance, previous = self._paths(sources)
        ends = [b for b, excess in enumerate(self.excess) if excess < 0]
        path = [min(ends, key=lambda b: distance[b])]
        while path[-1] not in sources:
            path.append(previous[path[-1]])
        self._move(path[::-1])
        return True

    def savings(self) -> Int64:
        """Return the saving of one more place: one more idle row, moved in from the best place."""
        distance, _ = self._paths(range(len(self.excess)))
        return np.array([-d for d in distance], dtype=np.int64)

    def _paths(self, sources: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the cost of the cheapest way to every action, and the action before it.

        Bellman and Ford's: moves may save, but no round of moves does, so m passes are enough.
        """
        m = len(self.excess)
        moves = [(a, b, self._cost(a, b)) for a in range(m) for b in range(m) if a != b]
        infinity = 1 << 80  # more than any sum of regrets
        distance = [0 if a in sources else infinity for a in range(m)]
        previous = [-1] * m
        for _ in range(m):
            changed = False
            for a, b, cost in moves:
                if cost is not None and distance[a] + cost < distance[b]:
                    distance[b], previous[b], changed = distance[a] + cost, a, True
            if not changed:
                break
        return distance, previous

    def _cost(self, a: int, b: int) -> int | None:
        """Return the cost of the cheapest move from a to b; None where nothing can move."""
        row = self._top(a, b)
        if self.idle[a]:
            return 0 if row is None else min(0, row[0])
        return None if row is None else row[0]

    def _top(self, a: int, b: int) -> tuple[int, int] | None:
        heap = self.waiting[a][b]
        while heap and self.taken[heap[0][1]] != a:
            heapq.heappop(heap)
        return heap[0] if heap else None

    def _move(self, path: list[int]) -> None:
        """Move as many rows along a path as cost the same."""
        edges = list(itertools.pairwise(path))
        most = min(self.excess[path[0]], -self.excess[path[-1]])
        movers: list[list[int] | None] = []
        for a, b in edges:
            found = self._equals(a, b, most)
            most = min(most, self.idle[a] if found is None else len(found))
            movers.append(found)
        for (a, b), rows in zip(edges, movers, strict=True):
            if rows is None:
                self.idle[a] -= most
                self.idle[b] += most
                continue
            for row in rows[:most]:
                self._put(row, b)
            for row in rows[most:]:
                self._wait(row, a, b)
        self.excess[path[0]] -= most
        self.excess[path[-1]] += most

    def _equals(self, a: int, b: int, most: int) -> list[int] | None:
        """Pop the rows whose move is the cheapest off their heap; None: idle rows move."""
        top = self._top(a, b)
        if self.idle[a] and (top is None or top[0] >= 0):
            return None
        assert top is not None  # a path leads here
        heap, rows = self.waiting[a][b], [heapq.heappop(self.waiting[a][b])[1]]
        while len(rows) < most and heap and heap[0][0] == top[0]:
            row = heapq.heappop(heap)[1]
            if self.taken[row] == a and row != rows[-1]:  # a row that came back waits twice
                rows.append(row)
        return rows

    def _put(self, row: int, b: int) -> None:
        self.taken[row] = b
        for c in range(len(self.excess)):
            if c != b:
                self._wait(row, b, c)

    def _wait(self, row: int, a: int, b: int) -> None:
        cost = int(self.regrets[row, b] - self.regrets[row, a])
        heapq.heappush(self.waiting[a][b], (cost, row))

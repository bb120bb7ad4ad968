"""Expected costs and limited actions -> the cheapest decisions of all rows jointly.

`expected` has shape (n, A), one column per action. A capacity is the number of rows that an action
can take, of all rows or of each group (each day, each team); what is not named has no limit.
Inside, capacities are *limits*, int64 of shape (G, A), and costs are *regrets*, int64 on a grid of
a power of two, so that the least sum is found exactly (`costboost.decisions.assignment`).

Boundary convention: among rows that gain the same from a limited action, the first get it; where
several are limited, among rows to which all actions cost the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.state import columns_by_label, read_frame
from costboost.decisions.assignment import assign
from costboost.inputs.arrays import LARGEST_COST, as_array, read_mask, read_numbers
from costboost.text import money
from costboost.typing import Floats, Int64, Mask

# Decisions made jointly: what they are, what they are expected to cost, what a place is worth

_SHOWN = 3  # groups in a repr


@dataclass(frozen=True, eq=False, repr=False)
class Allocation:
    """The cheapest decisions of all rows together, where some actions are limited.

    ``np.asarray`` of it gives the decisions. Attributes by action are dicts of the limited
    actions; with groups, a dict of dicts, ``shadow_prices["review"]["Monday"]``.

    Attributes
    ----------
    codes : int64 array of shape (n_samples,)
        Numbers of the actions taken.
    actions : ndarray of shape (n_actions,)
        Their names.
    expected_costs : float64 array of shape (n_samples,)
        Expected cost of each decision.
    unlimited_cost : float
        What the cheapest decisions would be expected to cost if nothing were limited.
    groups : ndarray of shape (n_groups,) or None
        Labels of the groups whose rows compete.
    limited : tuple of int
        Numbers of the limited actions.
    limits, used : int64 arrays of shape (n_groups, n_limited)
        How often each can be taken, and is.
    prices : float64 array of shape (n_groups, n_limited)
        What one more would save.

    Examples
    --------
    >>> from costboost.decisions import allocate
    >>> expected = [[9, 1], [5, 1], [2, 1]]  # of each action, on each of three rows
    >>> plan = allocate(expected, {"review": 1}, actions=["wait", "review"])
    >>> plan.decisions.tolist(), plan.expected_cost, plan.unlimited_cost
    (['review', 'wait', 'wait'], 8.0, 3.0)
    >>> plan.shadow_prices  # what one more review would save
    {'review': 4.0}
    """

    codes: Int64
    actions: NDArray[Any]
    expected_costs: Floats
    unlimited_cost: float
    groups: NDArray[Any] | None
    limited: tuple[int, ...]
    limits: Int64
    used: Int64
    prices: Floats

    @cached_property
    def decisions(self) -> NDArray[Any]:
        """The action of each row, by name, shape (n_samples,)."""
        return np.asarray(self.actions[self.codes])

    @property
    def expected_cost(self) -> float:
        """Total expected cost of the decisions."""
        return float(np.sum(self.expected_costs))

    @property
    def shadow_prices(self) -> dict[Any, Any]:
        """Saving of one more place of each limited action."""
        return self._by_action(self.prices)

    @property
    def capacities(self) -> dict[Any, Any]:
        """How many rows each limited action can take."""
        return self._by_action(self.limits)

    @property
    def counts(self) -> dict[Any, int]:
        """How many rows take each action, limited or not."""
        counted = np.bincount(self.codes, minlength=len(self.actions))
        return dict(zip(self.actions.tolist(), counted.tolist(), strict=True))

    def _by_action(self, values: NDArray[Any]) -> dict[Any, Any]:
        names = self.actions[list(self.limited)].tolist()
        if self.groups is None:
            return dict(zip(names, values[0].tolist(), strict=True))
        labels = self.groups.tolist()
        columns = (dict(zip(labels, column.tolist(), strict=True)) for column in values.T)
        return dict(zip(names, columns, strict=True))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        made = self.decisions if dtype is None else self.decisions.astype(dtype)
        return made.copy() if copy else made

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        lines = [f"Allocation of {len(self):,} rows: {counts}"]
        more = self.expected_cost - self.unlimited_cost
        limits = f", {money(more)} more than without limits" if self.limited else ""
        lines.append(f"  expected cost {money(self.expected_cost)}{limits}")
        return "\n".join([*lines, *(f"  {line}" for line in self.limit_texts())])

    def limit_texts(self) -> list[str]:
        """Return a line on each limited action: how many were taken, and what one more saves."""
        limited = enumerate(self.limited)
        return [f"{self.actions[a]}: {text}" for j, a in limited for text in self._texts(j)]

    def _texts(self, j: int) -> list[str]:
        """Return lines about one limited action, by group where there are several."""
        labels = [""] if self.groups is None else [f" in {g}" for g in self.groups.tolist()]
        texts = []
        for g in np.argsort(-self.prices[:, j], kind="stable")[:_SHOWN].tolist():
            saves = f"one more would save {money(self.prices[g, j])}"
            if not self.prices[g, j]:
                saves = "one more would save nothing"
            texts.append(f"{self.used[g, j]:,} of {self.limits[g, j]:,}{labels[g]}; {saves}")
        hidden = len(labels) - len(texts)
        return texts if hidden <= 0 else [*texts, f"and {hidden:,} more groups"]


_BITS = 62  # of int64; a price adds up to one regret per action


def allocate(
    expected: ArrayLike,
    capacity: Mapping[Any, Any] | None,
    *,
    actions: Sequence[Any] | NDArray[Any] | None = None,
    groups: ArrayLike | None = None,
    cheapest: ArrayLike | None = None,
    never: Mapping[Any, Any] | None = None,
) -> Allocation:
    """Return the decisions of least expected cost in which no action is taken too often.

    Parameters
    ----------
    expected : array-like of shape (n_samples, n_actions)
        Expected cost of each action on each row.
    capacity : dict or None
        How often actions can be taken: a whole number of rows, or a share of them (a float of at
        most 1, rounded down); or a dict of those by group. Actions that are not named, and all
        with None, are not limited.
    actions : sequence of length n_actions, default=None
        Names of the actions; None is those of the columns of a frame, else 0 .. n_actions - 1. A
        frame that has the same names in another order is read by them.
    groups : array-like of shape (n_samples,), default=None
        Capacities hold for each of these groups, such as days.
    cheapest : array-like of shape (n_samples,), default=None
        Numbers of the actions to take where no limit is in the way; None is the first of the
        cheapest.
    never : dict of action to bool array of shape (n_samples,), default=None
        Which rows must not take an action, whatever it would save.

    Returns
    -------
    Allocation

    Examples
    --------
    >>> from costboost.decisions import allocate
    >>> expected = [[9, 1], [7, 2], [3, 0]]
    >>> result = allocate(expected, {"review": 1}, actions=["pass", "review"])
    >>> result.decisions.tolist(), result.expected_cost, result.shadow_prices
    (['review', 'pass', 'pass'], 11.0, {'review': 5.0})
    """
    table, names = read_expected(expected, actions)
    cut = cut_groups(groups, len(table))
    limited, limits = read_limits(capacity, names, cut)
    free = np.argmin(table, axis=1) if cheapest is None else np.asarray(cheapest, dtype=np.int64)
    forbidden, rows = read_never(never, names, len(table)), np.arange(len(table))
    priced = table
    if forbidden.any():
        priced = price_out(table, forbidden)
        free = np.where(forbidden[rows, free], np.argmin(priced, axis=1), free)
    taken, prices = _allocate(priced, limits, limited, cut, free)
    forced = forbidden[rows, taken]
    if forced.any():
        row = int(np.argmax(forced))
        raise ValueError(
            f"row {row} must not take {names.tolist()[taken[row]]!r}, but the capacities leave no "
            "other action for it: raise one, or allow it."
        )
    return Allocation(
        codes=taken,
        actions=names,
        expected_costs=table[rows, taken],
        unlimited_cost=float(np.sum(table[rows, free])),
        groups=cut.labels,
        limited=tuple(limited),
        limits=limits[:, limited],
        used=count_taken(taken, cut, table.shape[1])[:, limited],
        prices=prices[:, limited],
    )


def read_never(never: Mapping[Any, Any] | None, actions: NDArray[Any], n_rows: int) -> Mask:
    """Return which rows must not take which action, (n, A)."""
    forbidden = np.zeros((n_rows, len(actions)), dtype=np.bool_)
    if never is None:
        return forbidden
    if not isinstance(never, Mapping):
        raise ValueError(f"never={never!r}: give a dict of actions, like {{'decline': 'vip'}}.")
    known = actions.tolist()
    for action, given in never.items():
        if action not in known:
            raise ValueError(f"never names {action!r}, but the actions are {known}.")
        name = f"never[{action!r}]"
        forbidden[:, known.index(action)] = read_mask(given, n_rows, name)
    stuck = forbidden.all(axis=1)
    if stuck.any():
        raise ValueError(
            f"row {int(np.argmax(stuck))}: never forbids every action, {known}: leave one."
        )
    return forbidden


def by_columns(never: Any, X: Any) -> Any:
    """Return what is forbidden with the columns of X in place of their names."""
    if not isinstance(never, Mapping):
        return never
    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    masks = dict(never)
    for action, column in never.items():
        if isinstance(column, str):
            if not isinstance(frame, nw.DataFrame) or column not in frame.columns:
                raise ValueError(
                    f"never[{action!r}]={column!r} is no column of the rows: give one that says "
                    "yes or no, or an array of True and False."
                )
            masks[action] = frame[column].to_numpy()
    return masks


def price_out(table: Floats, forbidden: Mask) -> Floats:
    """Return expected costs at which no plan takes what is forbidden, if there is another."""
    # Dearer than all that the other rows could save by it together.
    span = float(table.max()) - float(table.min())
    beyond = float(table.max()) + (len(table) + 1) * max(span, 1e-300)
    return np.where(forbidden, beyond, table)


def read_expected(expected: Any, actions: Any) -> tuple[Floats, NDArray[Any]]:
    """Return expected costs as a table of numbers, and the names of its actions."""
    frame = read_frame(expected, rows=False)  # such as expected_cost returns for one
    own, given = frame.columns, frame.values
    if actions is not None and own is not None and set(map(str, own)) == set(map(str, actions)):
        given = columns_by_label(expected, np.asarray(actions), "expected")
    table = _read_numbers(given)
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"expected has shape {table.shape}: give (n_samples, n_actions), at least one of each."
        )
    if actions is None:
        actions = list(range(table.shape[1]) if own is None else own)
    names = np.asarray(actions)
    if len(names) != table.shape[1]:
        raise ValueError(f"{len(names)} actions were named, but expected has {table.shape[1]}.")
    return table, names


def _read_numbers(expected: Any) -> Floats:
    """Read expected costs; those of the largest prices may be a rounding beyond them."""
    given = as_array(expected, "expected")
    if given.dtype.kind == "f":
        near = np.abs(given) <= 1.001 * LARGEST_COST  # as near as probabilities sum to 1
        given = np.where(near, np.clip(given, -LARGEST_COST, LARGEST_COST), given)
    return read_numbers(given, "expected", negative=True, row_ndims=(2,))


class RowGroups(NamedTuple):
    """The group of each row, the number of rows of each, and their labels, if there are any."""

    codes: Int64
    sizes: Int64
    labels: NDArray[Any] | None


def cut_groups(groups: ArrayLike | None, n_rows: int) -> RowGroups:
    """Return the groups of the rows by number; None is one group of all."""
    if groups is None:
        return RowGroups(np.zeros(n_rows, dtype=np.int64), np.array([n_rows]), None)
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(f"groups has shape {given.shape}; it must name the group of {n_rows} rows")
    labels, codes, sizes = np.unique(given, return_inverse=True, return_counts=True)
    return RowGroups(codes.astype(np.int64), sizes.astype(np.int64), labels)


def read_limits(
    capacity: Mapping[Any, Any] | None, actions: NDArray[Any], cut: RowGroups
) -> tuple[list[int], Int64]:
    """Return which actions are limited, and the limits (G, A): all rows where there is none."""
    limits = np.repeat(cut.sizes[:, None], len(actions), axis=1)
    if capacity is None:
        return [], limits
    if not isinstance(capacity, Mapping):
        raise ValueError(f"capacity={capacity!r}: give a dict of actions, like {{'review': 200}}.")
    known, limited = actions.tolist(), []
    for action, given in capacity.items():
        if action not in known:
            raise ValueError(f"capacity names {action!r}, but the actions are {known}.")
        limited.append(known.index(action))
        limits[:, limited[-1]] = _limits_of(action, given, cut)
    return sorted(limited), _checked(limits, cut)


def _limits_of(action: Any, given: Any, cut: RowGroups) -> list[int]:
    if not isinstance(given, Mapping):
        return [_limit(action, given, size) for size in cut.sizes.tolist()]
    labels = None if cut.labels is None else cut.labels.tolist()
    if labels is None or any(label not in given for label in labels):
        missing = "no groups= were given" if labels is None else "it lacks some of the groups"
        raise ValueError(f"capacity[{action!r}] names groups, but {missing}: {given!r}.")
    return [_limit(action, given[g], n) for g, n in zip(labels, cut.sizes.tolist(), strict=True)]


def _limit(action: Any, given: Any, n_rows: int) -> int:
    """Read one capacity: a number of rows, or a share of them; at most all rows."""
    is_count = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if is_count and given >= 0:
        return min(int(given), n_rows)
    if isinstance(given, float | np.floating) and 0 <= given <= 1:
        return int(given * n_rows + 1e-9)  # 0.07 of 100 rows are 7
    if isinstance(given, float | np.floating) and given > 1 and given == int(given):
        return min(int(given), n_rows)
    raise ValueError(
        f"capacity[{action!r}]={given!r}: give a whole number of rows, or a share between 0.0 and "
        "1.0 of them."
    )


def _checked(limits: Int64, cut: RowGroups) -> Int64:
    short = np.flatnonzero(limits.sum(axis=1) < cut.sizes)
    if len(short):
        g = int(short[0])
        where = "" if cut.labels is None else f" of group {cut.labels.tolist()[g]!r}"
        raise ValueError(
            f"The capacities allow {limits[g].sum()} decisions, but there are {cut.sizes[g]} rows"
            f"{where}. Raise one, or leave an action out of capacity."
        )
    return limits


def count_taken(taken: Int64, cut: RowGroups, n_actions: int) -> Int64:
    """Return how many rows of each group take each action, (G, A)."""
    cells = np.bincount(cut.codes * n_actions + taken, minlength=len(cut.sizes) * n_actions)
    return cells.reshape(-1, n_actions)


def _allocate(
    table: Floats, limits: Int64, limited: list[int], cut: RowGroups, free: Int64
) -> tuple[Int64, Floats]:
    """Return the action of each row, and what one more place of each action saves, (G, A)."""
    n_actions = table.shape[1]
    prices = np.zeros(limits.shape)
    tight = np.flatnonzero((count_taken(free, cut, n_actions) > limits).any(axis=1))
    if not len(tight):
        return free, prices
    regrets, unit = _on_grid(table)
    if len(limited) == 1 and n_actions > 1:
        taken, savings = _select(regrets, limited[0], limits[:, limited[0]], cut, free)
        prices[:, limited[0]] = savings * unit
        return taken, prices
    taken = free.copy()
    order = np.argsort(cut.codes, kind="stable")
    ends = np.cumsum(cut.sizes)
    for g in tight.tolist():
        rows = order[ends[g] - cut.sizes[g] : ends[g]]
        taken[rows], savings = _assign_group(regrets[rows], limits[g], limited)
        prices[g] = savings * unit
    return taken, prices


def _on_grid(table: Floats) -> tuple[Int64, float]:
    """Return regrets as integers, and the cost that 1 stands for, a power of two."""
    regrets = table - table.min(axis=1, keepdims=True)
    exponent = int(np.frexp(regrets.max())[1]) - (_BITS - (table.shape[1] + 1).bit_length())
    return np.rint(np.ldexp(regrets, -exponent)).astype(np.int64), float(np.ldexp(1.0, exponent))


def _select(
    regrets: Int64, action: int, limits: Int64, cut: RowGroups, free: Int64
) -> tuple[Int64, Int64]:
    """Give the limited action to the rows of each group that gain most from it."""
    want = np.flatnonzero(free == action)
    others = regrets[want].copy()
    others[:, action] = np.iinfo(np.int64).max
    instead = np.argmin(others, axis=1)
    gain = others[np.arange(len(want)), instead] - regrets[want, action]
    order = np.lexsort((-gain, cut.codes[want]))
    group = cut.codes[want][order]
    rank = np.arange(len(want)) - np.searchsorted(group, group)
    without = rank >= limits[group]
    taken = free.copy()
    taken[want[order[without]]] = instead[order[without]]
    savings = np.zeros(len(limits), dtype=np.int64)
    next_one = rank == limits[group]
    savings[group[next_one]] = np.maximum(gain[order[next_one]], 0)
    return taken, savings


def _assign_group(regrets: Int64, limits: Int64, limited: list[int]) -> tuple[Int64, Int64]:
    """Assign the rows of one group; the actions without a limit count as one, their cheapest."""
    open_ones = [a for a in range(regrets.shape[1]) if a not in limited]
    savings = np.zeros(regrets.shape[1], dtype=np.int64)
    columns, capacities = regrets[:, limited], limits[limited]
    if open_ones:
        columns = np.column_stack([columns, regrets[:, open_ones].min(axis=1)])
        capacities = np.append(capacities, len(regrets))
    assigned = assign(columns, capacities)
    savings[limited] = assigned.savings[: len(limited)]
    names = np.array([*limited, -1])
    taken = names[assigned.taken]
    if open_ones:
        best = np.array(open_ones)[np.argmin(regrets[:, open_ones], axis=1)]
        taken = np.where(taken < 0, best, taken)
    return taken, savings

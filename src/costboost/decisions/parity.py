"""The cheapest decisions of all rows whose rates differ little between groups, and what that costs.

Each group g has a rate: of its rows, the share on which an action is taken; or, of the rows in it
that are expected to be negative (positive), the share that is decided positive (negative). Of all
decisions that keep capacities and

    t <= rate of g <= t + within  for every g, some t

those of the least cost are found (`costboost.decisions.parity_program`). If rows could be split the
problem would be convex: its value is a lower bound, its dual values are shadow prices. Decisions
are of whole rows, and go with the lower bound that was proved for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.decisions.capacity import (
    Allocation,
    RowGroups,
    allocate,
    count_taken,
    cut_groups,
    price_out,
    read_expected,
    read_limits,
    read_never,
)
from costboost.decisions.parity_program import (
    WHOLE,
    Program,
    Relaxed,
    TradeOffs,
    build,
    is_proved,
    solve_relaxed,
    solve_whole,
)
from costboost.inputs.checks import check_choice
from costboost.text import count, listed, money, number, percent
from costboost.typing import Floats, Int64

Rate = Literal["rate", "missed", "blocked"]
RATES = ("rate", "missed", "blocked")
FEW_ROWS = 50


@dataclass(frozen=True, eq=False)
class Parity:
    """Which rates may differ between which groups, and by how much.

    Parameters
    ----------
    groups : str or array-like of shape (n_samples,)
        A column of the table that is decided, or the group of each of its rows.
    of : {"rate", "missed", "blocked"}, default="rate"
        "rate" is the share of the rows on which `action` is taken. The other two are for two
        classes: "blocked" the share of negative rows that is decided positive, "missed" that of
        positive rows that is decided negative. Truth is not known when decisions are made: each row
        counts by its probability of being negative, or positive.
    within : float, default=0.02
        How far the largest and the smallest rate may lie apart.
    action : label, default=None
        For "rate", the action; None is the positive class of two.

    Examples
    --------
    >>> from costboost.decisions import Parity, allocate_parity
    >>> expected = [[0, 9], [0, 7], [0, -5], [0, -1]]  # of waiting and of calling
    >>> parity = Parity(["a", "a", "b", "b"], within=0.5, action="call")
    >>> plan = allocate_parity(expected, None, parity, actions=["wait", "call"])
    >>> plan.decisions.tolist(), plan.rates, plan.parity_cost
    (['wait', 'wait', 'call', 'wait'], {'a': 0.0, 'b': 0.5}, 1.0)
    """

    groups: Any
    of: Rate = "rate"
    within: float = 0.02
    action: Any = None

    def __post_init__(self) -> None:
        check_choice("of", self.of, RATES)
        number = isinstance(self.within, int | float | np.integer | np.floating)
        if isinstance(self.within, bool) or not number or not 0 <= self.within <= 1:
            raise ValueError(f"within={self.within!r}: give a difference of shares, 0 to 1.")
        if self.action is not None and self.of != "rate":
            raise ValueError(f"action={self.action!r} is for of='rate', not of={self.of!r}.")


@dataclass(frozen=True, eq=False, repr=False)
class ParityAllocation(Allocation):
    """The cheapest decisions of all rows whose rates differ little between groups.

    Beside what every `Allocation` has:

    Attributes
    ----------
    parity : Parity
    rates : dict
        The rate of each group.
    group_sizes : dict
        Its number of rows.
    few_rows : list
        Groups of fewer than 50 rows, whose rates say little.
    group_costs : dict
        Expected cost of the decisions about the rows of each group.
    group_costs_without : dict
        The same if rates could differ as they like.
    shadow_price : float
        By how much the expected cost of all rows would fall if rates could differ by one percentage
        point more: the slope if rows could be split.
    group_prices : dict
        What treating a row of each group as costing that much more (or less) would do in its place:
        added to the action's price, for "missed" and "blocked" times the row's probability.
    lower_bound : float
        No decisions that keep parity and capacities are expected to cost less: proved by the
        solver, up to rounding.

    Examples
    --------
    >>> from costboost.decisions import Parity, allocate_parity
    >>> expected = [[0, 9], [0, 7], [0, -5], [0, -1]]  # of waiting and of calling
    >>> parity = Parity(["a", "a", "b", "b"], within=0.5, action="call")
    >>> plan = allocate_parity(expected, None, parity, actions=["wait", "call"])
    >>> plan.difference, plan.group_costs, plan.group_costs_without
    (0.5, {'a': 0.0, 'b': -5.0}, {'a': 0.0, 'b': -6.0})
    """

    parity: Parity
    rates: dict[Any, float]
    group_sizes: dict[Any, int]
    few_rows: list[Any]
    group_costs: dict[Any, float]
    group_costs_without: dict[Any, float]
    shadow_price: float
    group_prices: dict[Any, float]
    lower_bound: float

    @property
    def difference(self) -> float:
        """Largest minus smallest rate."""
        return max(self.rates.values()) - min(self.rates.values())

    @property
    def parity_cost(self) -> float:
        """What is expected to be paid more than if rates could differ as they like."""
        return sum(self.group_costs.values()) - sum(self.group_costs_without.values())

    def __repr__(self) -> str:
        lines = [super().__repr__()]
        more = f"{money(self.parity_cost)} more than without it"
        lines.append(
            f"  {self.parity.of} of groups within {number(100 * self.parity.within)} points costs "
            f"{more}; one point more would save {money(self.shadow_price)}"
        )
        for group, rate in self.rates.items():
            paid = self.group_costs[group] - self.group_costs_without[group]
            lines.append(
                f"  {group}: {percent(rate)} of {count(self.group_sizes[group], 'row')}, "
                f"pays {money(paid)} more"
            )
        if self.few_rows:
            lines.append(f"  fewer than {FEW_ROWS} rows: {listed([str(g) for g in self.few_rows])}")
        return "\n".join(lines)


def group_labels(groups: Any, X: Any) -> NDArray[Any]:
    """Return the group of each row: an array as it is, or a column of the table."""
    if not isinstance(groups, str):
        return np.asarray(groups)
    frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or groups not in frame.columns:
        raise ValueError(
            f"groups={groups!r} is no column of the rows: name one, or give an array with the "
            "group of each row."
        )
    return np.asarray(frame[groups].to_numpy())


def cut_parity(groups: Any, n_rows: int) -> RowGroups:
    """Return groups of at least two rows each, of which there must be two."""
    given = np.asarray(groups)
    if given.shape != (n_rows,):
        raise ValueError(f"groups has shape {given.shape}; it must name the group of {n_rows} rows")
    missing = np.array([g is None or g != g for g in given.tolist()])
    if missing.any():
        raise ValueError(
            f"row {int(np.argmax(missing))} has no group: name one for rows of which it is unknown."
        )
    cut = cut_groups(given, n_rows)
    assert cut.labels is not None
    labels = cut.labels.tolist()
    if len(labels) < 2:
        raise ValueError(f"All rows are in one group, {labels}: parity is between groups.")
    lone = [label for label, n in zip(labels, cut.sizes.tolist(), strict=True) if n == 1]
    if lone:
        raise ValueError(
            f"Groups of one row have no rate: {listed([repr(g) for g in lone])}. Join them to "
            "others, or decide those rows apart."
        )
    return cut


def target_and_weights(
    parity: Parity, actions: NDArray[Any], proba: Floats | None, classes: Any, positive: Any, n: int
) -> tuple[int, Floats]:
    """Return the number of the action whose rate counts, and how much each row counts."""
    known = actions.tolist()
    if parity.of == "rate":
        action = positive if parity.action is None else parity.action
        if action is None or action not in known:
            raise ValueError(
                f"action={parity.action!r}: name the action whose rate is to be alike, one of "
                f"{known}."
            )
        return known.index(action), np.ones(n)
    both = [] if classes is None else np.asarray(classes).tolist()
    if proba is None or len(both) != 2 or positive is None or not set(both) <= set(known):
        raise ValueError(
            f"of={parity.of!r} is for two classes that are decisions too, one of them positive: "
            "name it in Costs(..., positive=), or use of='rate'."
        )
    at = both.index(positive)
    if parity.of == "blocked":
        return known.index(positive), np.asarray(proba[:, 1 - at])
    return known.index(both[1 - at]), np.asarray(proba[:, at])


class Problem(NamedTuple):
    """Decisions to be made: what they cost, in which groups, and what they must not do."""

    table: Floats
    names: NDArray[Any]
    parity: Parity
    cut: RowGroups
    target: int
    weights: Floats
    without: Allocation
    limits: Int64
    limited: list[int]
    capacity_cut: RowGroups
    free: Int64
    forbidden: NDArray[np.bool_]

    @property
    def shares(self) -> Floats:
        """What each row adds to the rate of its group."""
        return np.asarray(self.weights / self.group_sums(self.weights)[self.cut.codes])

    def program(self) -> Program:
        """Return the problem as a linear program."""
        return build(
            self.table, self.free, self.forbidden, self.target, self.shares, self.cut,
            float(self.parity.within), self.limits, self.limited, self.capacity_cut,
        )  # fmt: skip

    def trade_offs(self) -> TradeOffs | None:
        """Return the trade-offs of the groups; None where capacities couple them."""
        if self.limited:
            return None
        return TradeOffs(self.table, self.free, self.forbidden, self.target, self.shares, self.cut)

    def relaxed(self) -> Relaxed:
        """Return the optimum if rows may be split."""
        found = self.trade_offs()
        if found is not None:
            return found.relaxed(float(self.parity.within))
        return solve_relaxed(self.program(), len(self.capacity_cut.sizes))

    def solve(self) -> tuple[Int64, float, Relaxed]:
        """Return the best actions, a lower bound to their cost over the free ones, and duals."""
        own, within = self.rates(self.without.codes), float(self.parity.within)
        found = self.trade_offs()
        relaxed = self.relaxed() if found is None else found.relaxed(within)
        if own.max() - own.min() <= within:
            return self.without.codes, relaxed.cost, relaxed
        known = None if found is None else found.whole(within, relaxed)
        if found is not None and found.alike:
            if known is None:
                raise ValueError(WHOLE)
            return *known, relaxed
        if known is not None and is_proved(known[1], relaxed):
            return known[0], relaxed.cost, relaxed
        return *solve_whole(self.program(), relaxed, known), relaxed

    def group_sums(self, values: Floats) -> Floats:
        """Return the sum over the rows of each group."""
        sums = np.bincount(self.cut.codes, weights=values, minlength=len(self.cut.sizes))
        return np.asarray(sums, dtype=np.float64)

    def rates(self, taken: Int64 | Floats) -> Floats:
        """Return the rate of each group, of action numbers (n,) or of shares of rows (n, A)."""
        hit = (taken == self.target) if taken.ndim == 1 else taken[:, self.target]
        return self.group_sums(self.weights * hit) / self.group_sums(self.weights)


def read_problem(
    expected: ArrayLike,
    capacity: Mapping[Any, Any] | None,
    parity: Parity,
    *,
    actions: Sequence[Any] | NDArray[Any] | None = None,
    groups: ArrayLike | None = None,
    cheapest: ArrayLike | None = None,
    never: Mapping[Any, Any] | None = None,
    proba: Floats | None = None,
    classes: Any = None,
    positive: Any = None,
) -> Problem:
    """Read what is to be decided, as `allocate_parity` takes it."""
    table, names = read_expected(expected, actions)
    n = len(table)
    without = allocate(
        table, capacity, actions=names, groups=groups, cheapest=cheapest, never=never
    )
    cut = cut_parity(parity.groups, n)
    target, weights = target_and_weights(parity, names, proba, classes, positive, n)
    sums = np.bincount(cut.codes, weights=weights, minlength=len(cut.sizes))
    assert cut.labels is not None
    if (sums <= 0).any():
        empty = cut.labels.tolist()[int(np.argmin(sums))]
        needed = "positive" if parity.of == "missed" else "negative"
        raise ValueError(
            f"No row of group {empty!r} can be {needed}, so there is nothing to be {parity.of}: "
            "leave that group out, or use of='rate'."
        )
    capacity_cut = cut_groups(groups, n)
    limited, limits = read_limits(capacity, names, capacity_cut)
    free = np.argmin(table, axis=1) if cheapest is None else np.asarray(cheapest, dtype=np.int64)
    forbidden = read_never(never, names, n)
    if forbidden.any():
        allowed = np.argmin(price_out(table, forbidden), axis=1)
        free = np.where(forbidden[np.arange(n), free], allowed, free)
    return Problem(
        table, names, parity, cut, target, weights, without, limits, limited, capacity_cut, free,
        forbidden,
    )  # fmt: skip


def allocate_parity(
    expected: ArrayLike,
    capacity: Mapping[Any, Any] | None,
    parity: Parity,
    *,
    actions: Sequence[Any] | NDArray[Any] | None = None,
    groups: ArrayLike | None = None,
    cheapest: ArrayLike | None = None,
    never: Mapping[Any, Any] | None = None,
    proba: Floats | None = None,
    classes: Any = None,
    positive: Any = None,
) -> ParityAllocation:
    """Return the decisions of least expected cost whose rates differ little between groups.

    Parameters
    ----------
    expected, capacity, actions, groups, cheapest, never
        As for `allocate`; `groups` are those of capacities.
    parity : Parity
        Its groups given by row.
    proba : ndarray of shape (n_samples, 2), default=None
        Class probabilities, needed for "missed" and "blocked".
    classes : array-like of shape (2,), default=None
        Labels of its columns.
    positive : label, default=None
        The positive of them.

    Returns
    -------
    ParityAllocation

    Examples
    --------
    >>> from costboost.decisions import Parity, allocate_parity
    >>> parity = Parity(["a", "b"] * 2, within=0, action=1)
    >>> plan = allocate_parity([[0, -3], [0, 1], [0, 1], [0, 2]], None, parity)
    >>> plan.decisions.tolist(), plan.expected_cost
    ([1, 1, 0, 0], -2.0)
    """
    problem = read_problem(
        expected, capacity, parity, actions=actions, groups=groups, cheapest=cheapest,
        never=never, proba=proba, classes=classes, positive=positive,
    )  # fmt: skip
    cut, table, without = problem.cut, problem.table, problem.without
    taken, bound, relaxed = problem.solve()
    rows = np.arange(len(table))
    bound += float(np.sum(table[rows, problem.free]))
    assert cut.labels is not None
    labels, sizes = cut.labels.tolist(), cut.sizes.tolist()

    def by_group(values: Floats) -> dict[Any, float]:
        return dict(zip(labels, values.tolist(), strict=True))

    used = count_taken(taken, problem.capacity_cut, table.shape[1])[:, problem.limited]
    sums = problem.group_sums(problem.weights)
    return ParityAllocation(
        codes=taken,
        actions=problem.names,
        expected_costs=table[rows, taken],
        unlimited_cost=without.unlimited_cost,
        groups=problem.capacity_cut.labels,
        limited=tuple(problem.limited),
        limits=problem.limits[:, problem.limited],
        used=used,
        prices=relaxed.capacity_prices[:, problem.limited],
        parity=parity,
        rates=by_group(problem.rates(taken)),
        group_sizes=dict(zip(labels, sizes, strict=True)),
        few_rows=[g for g, n in zip(labels, sizes, strict=True) if n < FEW_ROWS],
        group_costs=by_group(problem.group_sums(table[rows, taken])),
        group_costs_without=by_group(problem.group_sums(without.expected_costs)),
        shadow_price=0.01 * relaxed.slope,
        group_prices=by_group(relaxed.prices / sums),
        lower_bound=min(bound, float(np.sum(table[rows, taken]))),
    )


class ParityFrontier(NamedTuple):
    """What rates that may differ less and less cost, from as they like to not at all.

    Attributes
    ----------
    within : ndarray of shape (n_points,)
        The permitted difference, from that of the cheapest decisions down to 0.
    cost : ndarray of shape (n_points,)
        Expected cost of all rows; of each point at most one row for each group and capacity is
        split, as decisions by a lot would.
    groups : ndarray of shape (n_groups,)
    group_costs, rates : ndarray of shape (n_points, n_groups)
        Expected cost of the rows of each group, and its rate.
    sizes : int64 array of shape (n_groups,)

    Examples
    --------
    >>> from costboost.decisions import Parity, parity_frontier
    >>> expected = [[0, 9], [0, 7], [0, -5], [0, -1]]  # of waiting and of calling
    >>> parity = Parity(["a", "a", "b", "b"], action="call")
    >>> found = parity_frontier(expected, None, parity, actions=["wait", "call"], n_points=3)
    >>> found.groups.tolist(), found.rates.round(6).tolist()
    (['a', 'b'], [[0.0, 1.0], [0.0, 0.5], [0.0, 0.0]])
    """

    within: Floats
    cost: Floats
    groups: NDArray[Any]
    group_costs: Floats
    rates: Floats
    sizes: Int64


def parity_frontier(
    expected: ArrayLike,
    capacity: Mapping[Any, Any] | None,
    parity: Parity,
    *,
    n_points: int = 21,
    within: ArrayLike | None = None,
    **how: Any,
) -> ParityFrontier:
    """Return what parity costs for every permitted difference.

    Parameters
    ----------
    expected, capacity, parity
        As for `allocate_parity`; how far rates may differ is not read.
    n_points : int, default=21
        At least 2, evenly spread.
    within : array-like, default=None
        Further differences, such as those that are discussed; beyond that of the cheapest decisions
        they are left out.
    **how
        What `allocate_parity` takes besides.

    Returns
    -------
    ParityFrontier

    Examples
    --------
    >>> from costboost.decisions import Parity, parity_frontier
    >>> expected = [[0, 9], [0, 7], [0, -5], [0, -1]]  # of waiting and of calling
    >>> parity = Parity(["a", "a", "b", "b"], action="call")
    >>> found = parity_frontier(expected, None, parity, actions=["wait", "call"], n_points=3)
    >>> found.within.tolist(), found.cost.round(6).tolist()
    ([1.0, 0.5, 0.0], [-6.0, -5.0, 0.0])
    """
    if n_points < 2:
        raise ValueError(f"n_points={n_points}: give at least the two ends.")
    problem = read_problem(expected, capacity, parity, **how)
    own = problem.rates(problem.without.codes)
    widths = np.linspace(float(own.max() - own.min()), 0.0, n_points)
    if within is not None:
        asked = np.asarray(within, dtype=np.float64).ravel()
        if not (asked >= 0).all():
            raise ValueError(f"within={within!r}: give differences of shares, 0 to 1.")
        widths = np.unique(np.concatenate([widths, asked[asked < widths[0]]]))[::-1]
    base = float(np.sum(problem.table[np.arange(len(problem.table)), problem.free]))
    found = problem.trade_offs()
    costs, by_group, rates = [], [], []
    for width in widths.tolist():
        if found is None:
            wide = problem._replace(parity=replace(parity, within=width))
            relaxed = wide.relaxed()
        else:
            relaxed = found.relaxed(width)
        costs.append(base + relaxed.cost)
        by_group.append(problem.group_sums(np.sum(relaxed.shares * problem.table, axis=1)))
        rates.append(problem.rates(relaxed.shares))
    assert problem.cut.labels is not None
    return ParityFrontier(
        widths, np.array(costs), problem.cut.labels, np.array(by_group), np.array(rates),
        problem.cut.sizes,
    )  # fmt: skip

"""Decisions of the least cost whose rates lie within a window: how the optimum is found.

Without capacities only one thing about a row matters: whether it takes the action whose rate
counts, which costs it something more (or less) than its best other action. A group that must reach
a rate takes the rows on which that costs the least for what they add to the rate. So the cost of a
group is a convex curve over its rate (`TradeOff`), and the cost of a window [t, t + within] is the
sum over groups of their costs at the rate in it that is nearest to their own: convex in t, with
one minimum, found by bisection over the kinks. That is the optimum if one row of each group may be
split. With whole rows rates are steps of these curves: windows that begin at a step are tried one
by one where the convex cost leaves room for a better one. If all rows count alike, every plan has
its rates on steps, and the best window is the best of all plans. Otherwise other rows may fit a
window better, by less than a row; how much less the convex cost says.

With capacities it is a linear program, solved by HiGHS; its mixed-integer solver searches among
the whole decisions that the bound leaves, to 1e-4 of what the constraints cost, or for 10 seconds.
So it does without capacities, where steps leave more open than that.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from costboost.decisions.capacity import RowGroups
from costboost.typing import Floats, Int64

__all__ = [
    "Program",
    "Relaxed",
    "TradeOffs",
    "WHOLE",
    "build",
    "is_proved",
    "solve_relaxed",
    "solve_whole",
]

_GAP = 1e-4  # of what parity and capacities cost
_SECONDS = 10.0
_NEAR = 512  # windows on either side of the best split one that are looked at first
_TOLERANCE = 1e-9  # of rates
_INFEASIBLE = (
    "No decisions keep the parity and the capacities at once: raise within=, or a capacity."
)
WHOLE = (
    "No decisions about whole rows keep the parity and the capacities at once: raise within=, or a "
    "capacity. A difference of nothing asks for rates that are the same fraction of every group."
)


class Relaxed(NamedTuple):
    """The optimum if rows may be split.

    Attributes
    ----------
    shares : ndarray of shape (n, A)
        How much of each row takes each action.
    slope : float
        What the cost falls by per unit of `within`.
    prices : ndarray of shape (G,)
        What raising the rate of each group by 1 adds to the cost: its dual value.
    capacity_prices : ndarray of shape (C, A)
        What one more place would save.
    duals : ndarray
        Of the rates and the capacities, in the order of the rows of `Program`.
    cost : float
        What is paid more than for the cheapest action of every row.
    start : float
        The least rate that the window allows.
    """

    shares: Floats
    slope: float
    prices: Floats
    capacity_prices: Floats
    duals: Floats
    cost: float
    start: float = 0.0


class TradeOff(NamedTuple):
    """What a group pays more than for its cheapest decisions, by its rate.

    Attributes
    ----------
    rates, costs : ndarray of shape (m + 1,)
        When the first 0 .. m of `rows` take the action; rates rise, costs are convex.
    rows : int array of shape (m,)
        Rows that may take it or not and add to the rate, in the order in which they do.
    best : int
        How many of them take it in the cheapest decisions.
    """

    rates: Floats
    costs: Floats
    rows: NDArray[np.intp]
    best: int

    def slopes(self, rate: float) -> tuple[float, float]:
        """Return the slopes of the cost on the left and on the right of a rate."""
        at = int(np.searchsorted(self.rates, rate))
        near = [k for k in (at - 1, at) if 0 <= k < len(self.rates)]
        on = [k for k in near if abs(self.rates[k] - rate) <= 1e-12]
        left, right = (on[0] - 1, on[-1]) if on else (at - 1, at - 1)

        def slope(k: int, beyond: float) -> float:
            if not 0 <= k < len(self.rows):
                return beyond
            wide = self.rates[k + 1] - self.rates[k]
            return float((self.costs[k + 1] - self.costs[k]) / wide) if wide > 0 else beyond

        return slope(left, -np.inf), slope(right, np.inf)


class TradeOffs:
    """The trade-offs of all groups, where nothing but their rates is limited.

    Parameters
    ----------
    table : ndarray of shape (n, A)
        Expected costs.
    free : int array of shape (n,)
        The cheapest permitted action of each row.
    forbidden : bool array of shape (n, A)
    target : int
        The action whose rate counts.
    shares : ndarray of shape (n,)
        What each row adds to the rate of its group.
    cut : RowGroups
    """

    def __init__(
        self,
        table: Floats,
        free: Int64,
        forbidden: NDArray[np.bool_],
        target: int,
        shares: Floats,
        cut: RowGroups,
    ) -> None:
        rows, taking = np.arange(len(table)), free == target
        others = np.where(forbidden, np.inf, table)
        others[:, target] = np.inf
        self.target, self.n_actions = target, table.shape[1]
        self.other = np.where(taking, np.argmin(others, axis=1), free)
        extra = table[:, target] - table[rows, self.other]
        movable = np.isfinite(others[rows, self.other]) & ~forbidden[:, target] & (shares > 0)
        least, most = np.full((2, len(cut.sizes)), np.inf) * [[1.0], [-1.0]]
        np.minimum.at(least, cut.codes, shares)
        np.maximum.at(most, cut.codes, shares)
        self.alike = bool((least == most).all())  # every plan has its rates on the steps
        self.free = free
        fixed = np.bincount(cut.codes, shares * (taking & ~movable), minlength=len(cut.sizes))
        price = np.divide(extra, shares, out=np.zeros(len(table)), where=movable)
        order = np.lexsort((~taking, price, cut.codes))
        order = order[movable[order]]
        ends = np.searchsorted(cut.codes[order], np.arange(len(cut.sizes) + 1))
        self.groups = [
            _trade_off(order[ends[g] : ends[g + 1]], extra, shares, taking, float(fixed[g]))
            for g in range(len(cut.sizes))
        ]
        lowest = max(float(one.rates[0]) for one in self.groups)
        self._ends = lowest, min(float(one.rates[-1]) for one in self.groups)

    def cost(self, start: Floats, within: float) -> Floats:
        """Return what windows cost if one row of each group may be split: convex in `start`."""
        total = np.zeros(len(start))
        for one in self.groups:
            rates = np.clip(one.rates[one.best], start, start + within)
            total += np.interp(rates, one.rates, one.costs)
        return total

    def relaxed(self, within: float) -> Relaxed:
        """Return the best decisions if one row of each group may be split."""
        low, high = self._ends[0] - within, self._ends[1]
        if low > high + 1e-12:
            raise ValueError(_INFEASIBLE)
        steps = [one.rates for one in self.groups]
        kinks = np.concatenate([[low, high], *steps, *(part - within for part in steps)])
        kinks = np.unique(kinks[(kinks >= low) & (kinks <= high)]) if high > low else kinks[:1]
        # Of kinks that are one but for rounding, the costs differ by rounding alone, either way.
        kinks = kinks[np.r_[True, np.diff(kinks) > 1e-12]]
        first, last = 0, len(kinks) - 1
        while first < last:  # the first kink behind which the cost does not fall
            middle = (first + last) // 2
            one, other = self.cost(kinks[middle : middle + 2], within)
            first, last = (middle + 1, last) if other < one else (first, middle)
        start = float(kinks[first])
        rates = np.array([np.clip(one.rates[one.best], start, start + within)
                          for one in self.groups])  # fmt: skip
        slope, prices = self._prices(start, within, rates)
        shares = np.zeros((len(self.free), self.n_actions))
        shares[np.arange(len(self.free)), self.free] = 1.0
        for one, rate in zip(self.groups, rates.tolist(), strict=True):
            taken = np.interp(rate, one.rates, np.arange(len(one.rates)))
            part = np.clip(taken - np.arange(len(one.rows)), 0.0, 1.0)
            shares[one.rows] = 0.0
            shares[one.rows, self.other[one.rows]] = 1.0 - part
            shares[one.rows, self.target] = part
        cost = float(self.cost(np.array([start]), within)[0])
        return Relaxed(shares, slope, prices, np.zeros((1, self.n_actions)), -prices, cost, start)

    def _prices(self, start: float, within: float, rates: Floats) -> tuple[float, Floats]:
        """Return what the cost falls by per unit of `within`, and the dual value of each rate.

        A group at an end of the window has a slope between those on either side; together they
        are zero, or the window would move.
        """
        low, high = np.zeros(len(rates)), np.zeros(len(rates))
        for g, (one, rate) in enumerate(zip(self.groups, rates.tolist(), strict=True)):
            at_low, at_high = rate <= start + 1e-12, rate >= start + within - 1e-12
            if at_low or at_high:
                left, right = one.slopes(rate)
                low[g] = left if at_high else max(left, 0.0)
                high[g] = right if at_low else min(right, 0.0)
        slopes = np.where(np.isfinite(low), low, np.minimum(high, 0.0))
        missing = -float(slopes.sum())
        for g in range(len(slopes)):
            step = (
                min(missing, high[g] - slopes[g])
                if missing > 0
                else max(missing, low[g] - slopes[g])
            )
            slopes[g] += step
            missing -= step
        return float(np.sum(np.maximum(slopes, 0.0))), -slopes

    def whole(self, within: float, relaxed: Relaxed) -> tuple[Int64, float] | None:
        """Return the best decisions about whole rows on steps of the curves, and their cost.

        None if no window has a step of every group.
        """
        starts = np.unique(np.concatenate([one.rates for one in self.groups]))
        at = int(np.searchsorted(starts, relaxed.start))
        near = starts[max(0, at - _NEAR) : at + _NEAR]
        costs = self._on_steps(near, within)
        if np.isfinite(costs).any():
            # Only windows whose convex cost is below what was found can be better.
            least = float(costs.min())
            inside = self.cost(starts, within) <= least
            starts = np.union1d(starts[inside], near[np.argmin(costs)])
        costs = self._on_steps(starts, within)
        best = int(np.argmin(costs))
        if not np.isfinite(costs[best]):
            return None
        taken = self.free.copy()
        for one in self.groups:
            k = int(self._steps(one, starts[best : best + 1], within)[0][0])
            taken[one.rows[:k]] = self.target
            taken[one.rows[k:]] = self.other[one.rows[k:]]
        return taken, float(costs[best])

    def _on_steps(self, starts: Floats, within: float) -> Floats:
        total = np.zeros(len(starts))
        for one in self.groups:
            k, is_inside = self._steps(one, starts, within)
            total += np.where(is_inside, one.costs[k], np.inf)
        return total

    def _steps(
        self, one: TradeOff, starts: Floats, within: float
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the cheapest step of a group in each window, and whether there is one."""
        first = np.searchsorted(one.rates, starts - _TOLERANCE)
        last = np.searchsorted(one.rates, starts + within + _TOLERANCE, side="right") - 1
        k = np.clip(np.clip(one.best, first, last), 0, len(one.rows))
        return k, first <= last


def _trade_off(
    rows: NDArray[np.intp], extra: Floats, shares: Floats, taking: NDArray[np.bool_], fixed: float
) -> TradeOff:
    """Return the trade-off of one group; `rows` in the order in which they take the action."""
    best = int(np.sum(taking[rows]))
    # Summed outwards from the cheapest decisions, so that nothing cancels where it matters.
    before, after = -extra[rows[:best]][::-1], extra[rows[best:]]
    costs = np.concatenate([np.cumsum(before)[::-1], [0.0], np.cumsum(after)])
    rates = fixed + np.concatenate([[0.0], np.cumsum(shares[rows])])
    return TradeOff(rates, costs, rows, best)


class Program(NamedTuple):
    """The program, with a variable for each of `rows`, `acts`, and one for the lowest rate."""

    table: Floats
    free: Int64
    rows: NDArray[np.intp]
    acts: Int64
    extra: Floats
    matrix: Any
    low: Floats
    high: Floats
    n_groups: int
    capped: list[tuple[int, int]]
    forbidden: NDArray[np.bool_]


def build(
    table: Floats,
    free: Int64,
    forbidden: NDArray[np.bool_],
    target: int,
    shares: Floats,
    cut: RowGroups,
    within: float,
    limits: Int64,
    limited: list[int],
    capacity_cut: RowGroups,
) -> Program:
    """Write the program down; `shares` is what each row adds to the rate of its group."""
    n, n_actions = table.shape
    open_cells = ~forbidden
    open_cells[np.arange(n), free] = False
    rows, acts = np.nonzero(open_cells)
    extra = table[rows, acts] - table[rows, free[rows]]
    n_groups, last = len(cut.sizes), len(rows)
    columns = np.arange(last)
    # Rates: what is taken instead of the cheapest action, from what that comes to.
    change = shares[rows] * ((acts == target).astype(float) - (free[rows] == target))
    base = np.bincount(cut.codes, weights=shares * (free == target), minlength=n_groups)
    moved = change != 0
    blocks = [
        sparse.csr_matrix(
            (change[moved], (cut.codes[rows[moved]], columns[moved])), shape=(n_groups, last + 1)
        )
        - sparse.csr_matrix(
            (np.ones(n_groups), (np.arange(n_groups), np.full(n_groups, last))),
            shape=(n_groups, last + 1),
        )
    ]
    low, high = [-base], [within - base]
    capped = [(c, a) for c in range(len(capacity_cut.sizes)) for a in limited]
    for c, a in capped:
        here = capacity_cut.codes[rows] == c
        change = here * ((acts == a).astype(float) - (free[rows] == a))
        used = np.sum((capacity_cut.codes == c) & (free == a))
        blocks.append(sparse.csr_matrix(np.append(change, 0.0)))
        low.append(np.array([-np.inf]))
        high.append(np.array([float(limits[c, a] - used)]))
    if n_actions > 2:  # one action a row
        blocks.append(sparse.csr_matrix((np.ones(last), (rows, columns)), shape=(n, last + 1)))
        low.append(np.full(n, -np.inf))
        high.append(np.ones(n))
    return Program(
        table, free, rows, acts.astype(np.int64), extra, sparse.vstack(blocks).tocsr(),
        np.concatenate(low), np.concatenate(high), n_groups, capped, forbidden,
    )  # fmt: skip


def is_proved(cost: float, relaxed: Relaxed) -> bool:
    """Return whether decisions are as near to the bound as the solver would look for."""
    return cost - relaxed.cost <= _GAP * relaxed.cost


def _bounds(program: Program) -> tuple[Floats, Floats]:
    low, high = np.zeros(len(program.rows) + 1), np.ones(len(program.rows) + 1)
    low[-1] = -1.0  # rates are at least 0 but for rounding
    return low, high


def solve_relaxed(program: Program, n_capacity_groups: int) -> Relaxed:
    """Return the optimum of the linear program."""
    g, rest = program.n_groups, slice(program.n_groups, None)
    matrix = sparse.vstack([program.matrix[:g], -program.matrix[:g], program.matrix[rest]])
    limits = np.concatenate([program.high[:g], -program.low[:g], program.high[rest]])
    found = optimize.linprog(
        np.append(program.extra, 0.0),
        A_ub=matrix.tocsr(),
        b_ub=limits,
        bounds=np.stack(_bounds(program), axis=1),
        method="highs",
    )
    if found.status == 2:
        raise ValueError(_INFEASIBLE)
    if found.status != 0:
        raise RuntimeError(f"the linear program was not solved: {found.message}")
    duals = np.asarray(found.ineqlin.marginals)
    n, n_actions = program.table.shape
    shares = np.zeros((n, n_actions))
    shares[program.rows, program.acts] = found.x[:-1]
    shares[np.arange(n), program.free] = 1 - shares.sum(axis=1)
    prices = np.zeros((n_capacity_groups, n_actions))
    for i, (c, a) in enumerate(program.capped):
        prices[c, a] = max(0.0, -duals[2 * g + i])
    of_rates = duals[:g] - duals[g : 2 * g]
    return Relaxed(
        shares=shares,
        slope=max(0.0, -float(np.sum(duals[:g]))),
        prices=-of_rates,
        capacity_prices=prices,
        duals=np.concatenate([of_rates, duals[2 * g : 2 * g + len(program.capped)]]),
        cost=float(found.fun),
    )


def _regrets(program: Program, relaxed: Relaxed) -> Floats:
    """Return what each action costs more than the best of its row at the dual prices, (n, A).

    Decisions that take such an action cost at least that much more than the linear program.
    """
    priced = program.table - program.table[np.arange(len(program.table)), program.free][:, None]
    coupling = program.matrix[: len(relaxed.duals)]
    priced[program.rows, program.acts] += (coupling.T @ -relaxed.duals)[:-1]
    priced[program.forbidden] = np.inf
    return np.asarray(priced - priced.min(axis=1, keepdims=True))


def solve_whole(
    program: Program, relaxed: Relaxed, known: tuple[Int64, float] | None = None
) -> tuple[Int64, float]:
    """Return the actions of the least cost in which no row is split, and a lower bound.

    Most rows have one action that decisions within reach of the bound can take. First those are
    guessed, which gives decisions and so a limit to their cost, as `known` ones do; then they are
    known.
    """
    regrets = _regrets(program, relaxed)
    best = np.zeros_like(regrets, dtype=bool)
    best[np.arange(len(regrets)), np.argmin(regrets, axis=1)] = True
    taken, cost, proved, allowed = _guess(program, regrets, best, known is None)
    if known is not None and known[1] < cost:
        (taken, cost), proved, allowed = known, -np.inf, np.zeros_like(best)
    assert taken is not None
    reach = regrets <= (cost - relaxed.cost) * (1 + 1e-6) + 1e-9 * abs(relaxed.cost)
    if (reach & ~allowed).any():
        better, less, proved = _solve_open(program, reach | best)
        if better is not None and less <= cost:
            taken, cost = better, less
    return taken, min(cost, max(proved, relaxed.cost))


def _guess(
    program: Program, regrets: Floats, best: NDArray[np.bool_], until_found: bool
) -> tuple[Int64 | None, float, float, NDArray[np.bool_]]:
    """Return decisions in which few rows do not take the action that is best at the dual prices.

    With their cost, the least that others of these may cost, and what was allowed. None where few
    rows were not enough, unless more are to be tried until decisions are found.
    """
    second, n_open = np.partition(regrets, 1, axis=1)[:, 1], 60
    while True:
        near = np.ones(len(second), dtype=bool)
        if n_open < len(second):
            near = second <= np.partition(second, n_open)[n_open]
        allowed = np.where(near[:, None], np.isfinite(regrets), best)
        taken, cost, proved = _solve_open(program, allowed)
        if taken is not None or not until_found:
            return taken, cost, proved, allowed
        if near.all():
            raise ValueError(WHOLE)
        n_open *= 4


def _solve_open(program: Program, allowed: NDArray[np.bool_]) -> tuple[Int64 | None, float, float]:
    """Return the best decisions among allowed actions, their cost over the free ones, and a bound.

    None if there are none.
    """
    low, high = _bounds(program)
    high[:-1] = allowed[program.rows, program.acts]
    alone = allowed.sum(axis=1) == 1
    low[:-1] = high[:-1] * alone[program.rows]
    found = optimize.milp(
        np.append(program.extra, 0.0),
        integrality=np.append(np.ones(len(program.rows)), 0),
        bounds=optimize.Bounds(low, high),
        constraints=optimize.LinearConstraint(program.matrix, program.low, program.high),
        options={"mip_rel_gap": _GAP, "time_limit": _SECONDS},
    )
    if found.x is None:  # none was found, which proves something only if there is none
        bound = found.mip_dual_bound
        return None, np.inf, np.inf if found.status == 2 else -np.inf if bound is None else bound
    taken = program.free.copy()
    chosen = found.x[:-1] > 0.5
    taken[program.rows[chosen]] = program.acts[chosen]
    return taken, float(found.fun), float(found.mip_dual_bound)

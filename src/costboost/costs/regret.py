"""What actions may be expected to cost while prices vary, and beyond the best ones at most.

The expected cost of an action is linear in every factor. So the largest difference between two
actions is found factor by factor, at one of the points of `uncertain.effects`, and the largest
regret of an action is the largest of its differences from the others: exact, without a grid.
Intervals are exact too where one factor moves an action's cost, or where they hold all values.
"""

from __future__ import annotations

from itertools import chain, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.laws import Draws, Law
from costboost.costs.pricing import decide, expected, read_proba
from costboost.costs.state import State, columns_by_label
from costboost.costs.uncertain import N_POINTS, effects, quasi_random, relative
from costboost.inputs.checks import check_number
from costboost.typing import Floats, Indices

__all__ = [
    "expected_interval",
    "largest_total",
    "minimax",
    "regrets",
    "stays_within",
    "swings",
]

_MOST = 4096  # combinations of prices that are looked at one by one
_BLOCK = 512  # rows that are looked at together at all points


def swings(state: State, proba: ArrayLike) -> dict[str, Floats]:
    """Return by factor what actions are expected to cost more than at its mean.

    Of shape (n_points, n_samples, A), at every point of `uncertain.effects`.
    """
    p = read_proba(columns_by_label(proba, state.classes, "proba"), state.k)
    found = {}
    for name, ratios in effects(state).items():
        gained = np.zeros((len(ratios), len(p), state.a))
        for k, a in np.ndindex(state.k, state.a):
            column = _column(state, k, a)
            if column is not None and ratios[:, column].any():
                gained[:, :, a] += ratios[:, column, None] * (p[:, k] * state.cell(k, a))
        found[name] = gained
    return found


def _column(state: State, k: int, a: int) -> int | None:
    """Return which of the cells a decision is priced by; None for one that is free."""
    if state.form == "rows":
        return 0 if k != a else None
    return k * state.a + a


def expected_interval(state: State, proba: ArrayLike, share: float) -> Floats:
    """Return expected costs and their ends, shape (n_samples, A, 3); see `Costs.expected`."""
    check_number("interval", share, low=0, high=1, open_low=True)
    if not state.factors:
        raise ValueError(
            f"interval={share!r} comes from prices that are not known exactly, but every price of "
            "these costs is certain: give one as uncertain(price, low=, high=), or leave interval "
            "out."
        )
    costs = expected(state, proba)
    p = read_proba(columns_by_label(proba, state.classes, "proba"), state.k)
    found = np.repeat(costs[:, :, None], 3, axis=2)
    ends = np.array([(1.0 - share) / 2, (1.0 + share) / 2])
    for a in range(state.a):
        moved: dict[str, list[_Moved]] = {}
        for k in range(state.k):
            column = _column(state, k, a)
            factor = None if column is None else state.cells[column].factor
            if column is not None and factor is not None:
                amount = p[:, k] * state.cell(k, a)
                moved.setdefault(factor.name, []).append(_Moved(column, factor.law, amount))
        # The ends of a sum are the sums of the ends only where all that may be lies between them.
        parts = list(moved.values()) if share == 1.0 else [[*chain(*moved.values())]]
        for part in filter(None, parts):
            found[:, a, 1:] += _ends(state, part, ends).T
    return found


class _Moved(NamedTuple):
    """A cell whose price is uncertain, and what rows are expected to pay in it at the mean."""

    column: int
    law: Law
    amount: Floats


def _ends(state: State, moved: list[_Moved], probabilities: Floats) -> Floats:
    """Return quantiles of what some cells together add to their means, shape (2, n_samples)."""
    names, law = {state.cells[part.column].factor for part in moved}, moved[0].law
    if len(names) == 1:  # one number times a known amount
        if isinstance(law, Draws):
            at = np.asarray(np.quantile(law.values, probabilities))
        else:
            at = law.quantile(probabilities)
        total = np.sum([part.amount for part in moved], axis=0)
        with np.errstate(invalid="ignore"):  # the end of a law may be infinite
            gained = np.where(total == 0.0, 0.0, np.outer(at / law.mean - 1.0, total))
        return np.sort(gained, axis=0)
    n_names, points = len(state.factors), quasi_random(len(state.factors), N_POINTS)
    if isinstance(law, Draws) and len({factor.name for factor in names if factor}) == 1:
        points = np.tile(quasi_random(1, law.values.size), (1, n_names))  # each draw once
    ratios = relative(state, points)[:, [part.column for part in moved]] - 1.0
    amounts = np.stack([part.amount for part in moved])
    blocks = [
        np.quantile(ratios @ amounts[:, i : i + _BLOCK], probabilities, axis=0)
        for i in range(0, amounts.shape[1], _BLOCK)
    ]
    return np.concatenate(blocks, axis=1)


def regrets(state: State, proba: ArrayLike, names: tuple[str, ...] | None = None) -> Floats:
    """Return the largest regret of each action within the ranges, shape (n_samples, A).

    `names` are the factors that move; None: all of them.
    """
    costs = expected(state, proba)
    differences = costs[:, :, None] - costs[:, None, :]
    for name, gained in swings(state, proba).items():
        if names is None or name in names:
            most = np.full(differences.shape, -np.inf)
            for part in gained:
                np.maximum(most, part[:, :, None] - part[:, None, :], out=most)
            differences += most
    return np.asarray(differences.max(axis=2))


def minimax(state: State, proba: ArrayLike) -> Indices:
    """Return the code of the action with the least largest regret; see `Costs.decide`."""
    if not state.factors:
        raise ValueError(
            "regret='minimax' is for prices with a range, but every price of these costs is "
            "certain: give one as uncertain(price, low=, high=), or leave regret out."
        )
    return np.asarray(regrets(state, proba).argmin(axis=1))


def stays_within(state: State, proba: ArrayLike) -> dict[str, Floats]:
    """Return by factor between which values decisions stay; see `Costs.stays_within`."""
    costs, rows = expected(state, proba), np.arange(len(np.asarray(proba)))
    chosen = decide(state, proba)
    gaps = np.maximum(costs - costs[rows, chosen][:, None], 0.0)
    found = {}
    for name, gained in swings(state, proba).items():
        law = state.factors[name].law
        laws = {c.factor.law for c in state.cells if c.factor and c.factor.name == name}
        if len(laws) > 1:
            continue  # draws of several prices: no one number says where they are
        slopes = (gained[1] - gained[0]) / (law.high - law.low)
        slopes = slopes - slopes[rows, chosen][:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = -gaps / slopes
        low = np.where(slopes > 0, steps, -np.inf).max(axis=1)
        high = np.where(slopes < 0, steps, np.inf).min(axis=1)
        values = law.mean + np.stack([low, high], axis=1)
        side = (0.0, np.inf) if law.mean > 0 else (-np.inf, 0.0)
        found[name] = np.clip(values, *side)
    return found


def largest_total(state: State, proba: ArrayLike, chosen: Indices, weights: Floats) -> float:
    """Return what decisions may be expected to cost beyond the best ones, in sum over the rows.

    The sum of regrets is convex in the factors, so its largest value is at the ends of the ranges.
    """
    gained = list(swings(state, proba).values())
    combinations = int(np.prod([len(part) for part in gained], dtype=np.float64))
    if combinations > _MOST:
        raise ValueError(
            f"{len(gained)} uncertain prices have {combinations:,} combinations of ends and draws, "
            f"of which {_MOST:,} can be looked at: let prices move together, or give ranges in "
            "place of draws."
        )
    costs, rows, largest = expected(state, proba), np.arange(len(chosen)), 0.0
    for parts in product(*gained):
        there = costs + sum(parts, np.zeros(()))
        total = float(np.sum(weights * (there[rows, chosen] - there.min(axis=1))))
        largest = max(largest, total)
    return largest

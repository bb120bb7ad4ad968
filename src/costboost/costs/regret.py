"""What decisions may cost beyond the best ones while factors of prices stay within their ranges.

The expected cost of an action is linear in every factor. So the largest difference between two
actions is found factor by factor, at one of the points of `uncertain.effects`, and the largest
regret of an action is the largest of its differences from the others: exact, without a grid.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.pricing import decide, expected, read_proba
from costboost.costs.state import State, columns_by_label
from costboost.costs.uncertain import effects
from costboost.typing import Floats, Indices

__all__ = ["largest_total", "minimax", "regrets", "stays_within", "swings"]

_MOST = 4096  # combinations of prices that are looked at one by one


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

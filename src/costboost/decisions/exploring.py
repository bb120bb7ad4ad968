"""Decisions of which a small, known share is drawn at random, so that others can be judged by them.

A policy that always takes the cheapest decision never learns what the others would have cost. Here
every row takes another of its actions with a small probability, and the probabilities are kept:
from them `costboost.metrics.policy_cost` estimates what any new policy would have cost.

Where it is cheapest to learn: an action that is expected to cost r more than the planned one is
drawn with a probability in proportion to ``1 / sqrt(r + mean r)``. Among all ways to spend a given
share at a given expected cost, those of this form have the least sum of 1 / probability, which is
what makes estimates vary; and no row is without a chance.

Rows are drawn by systematic sampling: laid on a line, each as long as its probability, and those
are taken on which the points u, u + 1, u + 2, ... fall. Each row has exactly its probability, and
the number drawn is the expected one, rounded up or down: a limited action never gets more rows than
were set aside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.decisions.capacity import Allocation, allocate, read_expected, read_never
from costboost.inputs.checks import check_number, read_random_state
from costboost.text import count, money
from costboost.typing import Floats, Int64, Mask

__all__ = ["Exploration", "explore_decisions"]

_MOST = 0.5  # of a row's chance that is given to other actions than the planned one


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Allocation):
    """Decisions of which a share was drawn at random, with the probabilities.

    Beside what every `Allocation` has:

    Attributes
    ----------
    planned : int64 array of shape (n_samples,)
        Numbers of the actions that would have been taken without the draw.
    propensities : float64 array of shape (n_samples, n_actions)
        The probability that each row had of each action.
    share : float
        The share of the rows that was to be drawn.
    exploration_cost : float
        What exploring is expected to cost altogether: the draw, and the places that were set
        aside for it.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.decisions import explore_decisions
    >>> plan = explore_decisions([[0.0, 3.0]] * 200, explore=0.05, random_state=0)
    >>> plan.counts, round(plan.exploration_cost, 6)
    ({0: 190, 1: 10}, 30.0)
    >>> round(float(plan.log["propensity"].min()), 6), sorted(plan.log)
    (0.05, ['decision', 'explored', 'propensity', 'propensity_0', 'propensity_1'])
    """

    planned: NDArray[np.int64]
    propensities: Floats
    share: float
    exploration_cost: float

    @property
    def explored(self) -> Mask:
        """Which rows were drawn, shape (n_samples,)."""
        return np.asarray(self.codes != self.planned)

    @property
    def propensity(self) -> Floats:
        """The probability of the action that each row takes, shape (n_samples,)."""
        return np.asarray(self.propensities[np.arange(len(self.codes)), self.codes])

    @property
    def log(self) -> dict[str, NDArray[Any]]:
        """What to keep until labels come, by columns.

        ``decision``, ``propensity`` of it, ``propensity_<action>`` of each action, ``explored``:
        a table for `costboost.metrics.policy_cost` (``log=``), in the order of the rows.
        """
        return {
            "decision": self.decisions,
            "propensity": self.propensity,
            **{
                f"propensity_{action}": self.propensities[:, a]
                for a, action in enumerate(self.actions.tolist())
            },
            "explored": self.explored,
        }

    def __repr__(self) -> str:
        text = super().__repr__().replace("Allocation", "Exploration", 1)
        first, *rest = text.replace("than without limits", "than with neither", 1).splitlines()
        drawn = (
            f"  {count(int(self.explored.sum()), 'row')} explored, expected to cost "
            f"{money(self.exploration_cost)}"
        )
        return "\n".join([first, drawn, *rest])


def explore_decisions(
    expected: ArrayLike,
    capacity: Mapping[Any, Any] | None = None,
    *,
    explore: float,
    never: Mapping[Any, Any] | None = None,
    actions: Any = None,
    groups: ArrayLike | None = None,
    cheapest: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Exploration:
    """Return the cheapest decisions of all rows jointly, a share of them drawn at random.

    Parameters
    ----------
    expected : array-like of shape (n_samples, n_actions)
        Expected cost of each action on each row.
    capacity : dict or None, default=None
        As for `allocate`. With two actions, places for rows that are drawn are set aside; with
        more, rows are drawn among the actions that are not limited.
    explore : float
        The share of the rows to draw, up to 0.5, such as 0.01.
    never : dict of action to bool array of shape (n_samples,), default=None
        Which rows must not take an action.
    actions, groups, cheapest
        As for `allocate`.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError
        If the share is none, if a row may take no action, or if a limit leaves no place to draw.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.decisions import explore_decisions
    >>> vip = np.arange(100) < 50
    >>> plan = explore_decisions(
    ...     [[1.0, 4.0]] * 100, explore=0.1, actions=["pay", "decline"], never={"decline": vip},
    ...     random_state=0,
    ... )
    >>> int(plan.explored.sum()), bool(plan.explored[vip].any())
    (10, False)
    """
    check_number("explore", explore, low=0.0, high=_MOST)
    rng = read_random_state(random_state)
    table, names = read_expected(expected, actions)
    n = len(table)
    wanted: dict[str, Any] = {
        "actions": names, "groups": groups, "cheapest": cheapest, "never": never
    }  # fmt: skip
    plan = whole = allocate(table, capacity, **wanted)
    limited, cut = list(whole.limited), np.zeros(n, dtype=np.intp)
    allowed = ~read_never(never, names, n)
    if limited:
        if groups is not None:  # limits hold in each, and rows are drawn in each
            cut = np.unique(np.asarray(groups), return_inverse=True)[1]
        if len(names) == 2:
            plan = allocate(table, _without_reserve(whole, cut, explore), **wanted)
        else:
            allowed[:, limited] = False
    chances = _chances(table, plan.codes, allowed, cut, explore)
    codes = _draw(chances, plan.codes, cut, rng)
    rows = np.arange(n)
    propensities = chances.copy()
    propensities[rows, plan.codes] = 1.0 - chances.sum(axis=1)
    counts = np.bincount(cut * len(names) + codes, minlength=(int(cut.max()) + 1) * len(names))
    fields = {name: getattr(whole, name) for name in Allocation.__dataclass_fields__}
    fields["codes"], fields["expected_costs"] = codes, table[rows, codes]
    fields["used"] = counts.reshape(-1, len(names))[:, limited].reshape(whole.used.shape)
    return Exploration(
        **fields,
        planned=plan.codes,
        propensities=propensities,
        share=float(explore),
        exploration_cost=float(np.sum(propensities * table)) - whole.expected_cost,
    )


def _without_reserve(whole: Allocation, cut: NDArray[np.intp], explore: float) -> dict[Any, Any]:
    """Return the capacities without the places that rows which are drawn may take."""
    sizes = np.bincount(cut)
    reserved = np.ceil(explore * sizes).astype(np.int64)
    left: dict[Any, Any] = {}
    for j, a in enumerate(whole.limited):
        action = whole.actions.tolist()[a]
        places = whole.limits[:, j] - reserved
        if (places < 0).any():
            g = int(np.argmin(places))
            where = "" if whole.groups is None else f" in {whole.groups.tolist()[g]!r}"
            raise ValueError(
                f"explore={explore:g} of {sizes[g]:,} rows{where} may draw {reserved[g]:,} for "
                f"{action!r}, which is limited to {whole.limits[g, j]:,}: give a smaller share, or "
                "more places."
            )
        labels = None if whole.groups is None else whole.groups.tolist()
        numbers = places.tolist()
        left[action] = numbers[0] if labels is None else dict(zip(labels, numbers, strict=True))
    return left


def _chances(
    table: Floats, planned: Int64, allowed: Mask, cut: NDArray[np.intp], explore: float
) -> Floats:
    """Return the probability by which each row draws each other action, (n, A)."""
    rows = np.arange(len(table))
    others = allowed.copy()
    others[rows, planned] = False
    if not explore:
        return np.zeros(table.shape)
    regret = np.maximum(table - table[rows, planned][:, None], 0.0)
    typical = float(np.mean(regret[others])) if others.any() else 0.0
    draw = np.where(others, 1.0 / np.sqrt(regret / typical + 1.0) if typical else 1.0, 0.0)
    chances = np.zeros(table.shape)
    for g in range(int(cut.max()) + 1):
        own = np.flatnonzero(cut == g)
        totals = _scale(draw[own].sum(axis=1), explore * len(own))
        chances[own] = draw[own] * totals[:, None]
    return chances


def _scale(weights: Floats, total: float) -> Floats:
    """Return factors by which weights add up to `total`, none of them beyond the largest chance."""
    if _MOST * np.count_nonzero(weights) < total - 1e-9:
        raise ValueError(
            f"{count(round(total), 'row')} of {len(weights):,} cannot be drawn: only "
            f"{np.count_nonzero(weights):,} have another action that is neither forbidden nor "
            "limited. Give a smaller share."
        )
    capped = np.zeros(len(weights), dtype=np.bool_)
    while True:
        free = float(np.sum(weights[~capped]))
        factor = (total - _MOST * np.count_nonzero(capped)) / free if free else 0.0
        more = ~capped & (weights * factor > _MOST)
        if not more.any():
            break
        capped |= more
    return np.where(capped, _MOST / np.where(capped, weights, 1.0), factor)


def _draw(
    chances: Floats, planned: Int64, cut: NDArray[np.intp], rng: np.random.RandomState
) -> Int64:
    """Draw rows by systematic sampling in each group, and for each of them an action."""
    codes, each = planned.copy(), chances.sum(axis=1)
    for g in range(int(cut.max()) + 1):
        own = rng.permutation(np.flatnonzero(cut == g))
        ends = np.cumsum(each[own])
        if not len(ends) or ends[-1] <= 0:
            continue
        # How many of the points u, u + 1, ... lie before the end of each row's stretch.
        passed = np.ceil(ends - rng.random_sample())
        passed[-1] = min(passed[-1], np.ceil(ends[-1] - 1e-9))  # a rounding draws no row more
        drawn = own[np.diff(np.maximum(passed, 0.0), prepend=0.0) > 0]
        within = np.cumsum(chances[drawn], axis=1)
        at = rng.random_sample(len(drawn)) * within[:, -1]
        codes[drawn] = np.minimum((within <= at[:, None]).sum(axis=1), chances.shape[1] - 1)
    return codes

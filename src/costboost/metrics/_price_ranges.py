"""What decisions cost, and whether they stay, while uncertain prices move within their ranges.

A bill has two intervals, which are kept apart: one says that other rows would have come, the other
that the prices may be others. Only the first shrinks with more rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.pricing import read_proba
from costboost.costs.regret import largest_total, regrets
from costboost.costs.state import columns_by_label
from costboost.costs.uncertain import effects
from costboost.inputs.arrays import encode, read_weights
from costboost.metrics.policies import SumInterval, price_spread, sum_interval
from costboost.metrics.prices import bind_costs, check_labels, take
from costboost.text import money, percent, span

__all__ = [
    "PriceEffect",
    "PriceSensitivity",
    "ScenarioCost",
    "price_sensitivity",
    "scenario_costs",
]


class PriceEffect(NamedTuple):
    """What one factor does between the ends of its range, all others at their means.

    Attributes
    ----------
    name : str
        The factor's name.
    low, high : float
        The ends of its range.
    cost_low, cost_high : float
        The bill at these ends; for draws of several prices under one name, at those where it is
        the least and the most.
    turned : float
        Share of the decisions that would turn somewhere within the range.
    turned_money : float
        Share of the expected bill, by size, of these decisions.

    Examples
    --------
    >>> from costboost.costs import Costs, uncertain
    >>> from costboost.metrics import price_sensitivity
    >>> costs = Costs(fp=2, fn=uncertain(10, low=0.5, high=2))
    >>> found = price_sensitivity([0, 1], [[0.75, 0.25], [0.9, 0.1]], costs=costs)
    >>> found.effects[0].cost_low, found.effects[0].cost_high
    (7.0, 22.0)
    """

    name: str
    low: float
    high: float
    cost_low: float
    cost_high: float
    turned: float
    turned_money: float

    @property
    def width(self) -> float:
        """How far apart the bills at both ends are."""
        return abs(self.cost_high - self.cost_low)


@dataclass(frozen=True, eq=False, repr=False)
class PriceSensitivity:
    """How far a bill, and the decisions behind it, depend on uncertain prices.

    Decisions are those at the means of the prices.

    Attributes
    ----------
    rows : SumInterval
        The bill, and its interval because other rows might have come.
    prices : SumInterval
        The bill of these very rows, and its interval because prices may be others.
    effects : tuple of PriceEffect
        One for each factor, the widest first.
    turned : float
        Share of the decisions that would turn at some prices within the ranges.
    turned_money : float
        Share of the expected bill, by size, of these decisions.
    largest_regret : float
        By how much the expected bill may exceed that of the best decisions at the same prices, at
        most.
    confidence : float
    n_rows : int

    Examples
    --------
    >>> from costboost.costs import Costs, uncertain
    >>> from costboost.metrics import price_sensitivity
    >>> costs = Costs(fp=2, fn=uncertain(10, low=0.5, high=2))
    >>> found = price_sensitivity([0, 1], [[0.75, 0.25], [0.9, 0.1]], costs=costs)
    >>> found.larger, found.turned, found.largest_regret
    ('rows', 1.0, 0.25)
    """

    rows: SumInterval
    prices: SumInterval
    effects: tuple[PriceEffect, ...]
    turned: float
    turned_money: float
    largest_regret: float
    confidence: float
    n_rows: int

    @property
    def larger(self) -> str:
        """Which of the two intervals is wider: that of the "rows" or that of the "prices"."""
        own = self.rows.high - self.rows.low
        return "prices" if self.prices.high - self.prices.low > own else "rows"

    def __repr__(self) -> str:
        return (
            f"PriceSensitivity({self.rows.total:.6g}; rows {self.rows.low:.6g} to "
            f"{self.rows.high:.6g}, prices {self.prices.low:.6g} to {self.prices.high:.6g}; "
            f"{percent(self.turned)} of decisions turn)"
        )

    def __str__(self) -> str:
        sure = percent(self.confidence)
        lines = [
            f"bill        {money(self.rows.total)}",
            f"from rows   {span(self.rows.low, self.rows.high)} ({sure} interval)",
            f"from prices {span(self.prices.low, self.prices.high)} ({sure} interval)",
            f"            the {self.larger} matter more",
        ]
        for one in self.effects:
            lines.append(
                f"{one.name}: {one.low:.3g} to {one.high:.3g} makes the bill "
                f"{span(*sorted((one.cost_low, one.cost_high)))}; {percent(one.turned)} of "
                f"decisions turn, {percent(one.turned_money)} of the money"
            )
        lines.append(
            f"all prices: {percent(self.turned)} of decisions turn somewhere within the ranges, "
            f"{percent(self.turned_money)} of the money; largest regret "
            f"{money(self.largest_regret)}"
        )
        return "\n".join(lines)


def price_sensitivity(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    costs: Any,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> PriceSensitivity:
    """Return how far a bill and its decisions depend on prices that are not known exactly.

    The range of a factor is that from ``low`` to ``high``; of draws, from the least to the largest;
    of a distribution, its central 95 %. Shares and the largest regret are exact within these.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples, K)
        Class probabilities: in the order of the sorted classes, or under their labels in a table.
    costs : Costs
        With at least one price that is `costboost.costs.uncertain`, constant or per row.
    labels : array-like of shape (K,), default=None
        The classes, where some do not occur in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are not independent.
    confidence : float, default=0.95
        Of both intervals.

    Returns
    -------
    PriceSensitivity

    Examples
    --------
    >>> from costboost.costs import Costs, uncertain
    >>> from costboost.metrics import price_sensitivity
    >>> costs = Costs(fp=2, fn=uncertain(10, low=0.5, high=2))
    >>> found = price_sensitivity([0, 1] * 50, [[0.75, 0.25], [0.9, 0.1]] * 50, costs=costs)
    >>> found.prices.total, round(found.prices.low), round(found.prices.high)
    (725.0, 369, 1081)
    """
    y = check_labels(y_true)
    bound = bind_costs(costs, y, labels=labels)
    state = bound._state
    if not state.factors:
        raise ValueError(
            "Every price of these costs is certain, so nothing depends on a range: give one as "
            "uncertain(price, low=, high=)."
        )
    proba = read_proba(columns_by_label(y_proba, state.classes, "y_proba"), state.k)
    weight = read_weights(sample_weight, len(y))
    chosen = bound.decide(proba, encoded=True)
    assert bound.classes is not None
    truth = encode(bound.classes, y, "y_true")
    paid = weight * take(bound.of_labels(y), chosen)
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    spread = price_spread(bound, truth)
    assert spread is not None
    sums = spread.sums(paid, chosen)
    ends = np.quantile(sums, [(1 - confidence) / 2, (1 + confidence) / 2])
    rows = sum_interval(paid, codes, confidence)
    expected = weight * np.abs(take(bound.expected(proba), chosen))

    def turned(names: tuple[str, ...] | None) -> tuple[float, float]:
        turns = take(regrets(state, proba, names), chosen) > 0
        total = float(expected.sum())
        part = float(expected[turns].sum()) / total if total else 0.0
        return float(weight[turns].sum() / weight.sum()), part

    by_cell = np.bincount(truth * state.a + chosen, weights=paid, minlength=state.k * state.a)
    found = []
    for name, ratios in effects(state).items():
        if state.form == "rows":
            ratios = np.where(~np.eye(state.k, dtype=np.bool_).ravel(), ratios, 0.0)
        bills = rows.total + ratios @ by_cell
        law = state.factors[name].law
        low, high = (bills[0], bills[1]) if len(bills) == 2 else (bills.min(), bills.max())
        shares = turned((name,))
        found.append(PriceEffect(name, law.low, law.high, float(low), float(high), *shares))
    found.sort(key=lambda one: -one.width)
    share, money_share = turned(None)
    return PriceSensitivity(
        rows=rows,
        prices=SumInterval(rows.total, float(ends[0]), float(ends[1])),
        effects=tuple(found),
        turned=share,
        turned_money=money_share,
        largest_regret=largest_total(state, proba, chosen, weight),
        confidence=confidence,
        n_rows=len(y),
    )


# ---- Price lists with a name. New prices need no new model, so each has two bills: of decisions by
# its own prices, and of those that were made for the first one, if its prices come about instead.


class ScenarioCost(NamedTuple):
    """The bills of one scenario.

    Attributes
    ----------
    name : str
    cost : SumInterval
        Of the decisions by its own prices.
    unchanged : SumInterval
        Of the decisions by the prices of the first scenario, paid at its own.
    saved : SumInterval
        What deciding anew saves, row by row.
    differ : float
        Share of the rows, by weight, that are decided differently than in the first scenario.
    constant : float
        Of the one action that is the cheapest for all rows.

    Examples
    --------
    >>> from costboost.metrics import scenario_costs
    >>> prices = {"today": {"fp": 1, "fn": 2}, "recession": {"fp": 1, "fn": 9}}
    >>> found = scenario_costs([0, 1], [[0.9, 0.1], [0.8, 0.2]], scenarios=prices)
    >>> found[1].unchanged.total, found[1].cost.total, found[1].differ
    (9.0, 0.0, 0.5)
    """

    name: str
    cost: SumInterval
    unchanged: SumInterval
    saved: SumInterval
    differ: float
    constant: float


def scenario_costs(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    scenarios: Mapping[str, Any],
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> list[ScenarioCost]:
    """Return the bills of the same rows under several price lists.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    y_proba : array-like of shape (n_samples, K)
        Class probabilities: in the order of the sorted classes, or under their labels in a table.
    scenarios : dict of str to Costs
        The price lists by name, in any form that costs have, with the same actions; the first is
        what decisions are made for today.
    labels : array-like of shape (K,), default=None
        The classes, where some do not occur in `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are not independent.
    confidence : float, default=0.95
        Of the intervals, which come from rows.

    Returns
    -------
    list of ScenarioCost
        In the order of `scenarios`.

    Examples
    --------
    >>> from costboost.metrics import scenario_costs
    >>> prices = {"today": {"fp": 1, "fn": 2}, "recession": {"fp": 1, "fn": 9}}
    >>> found = scenario_costs([0, 1] * 20, [[0.9, 0.1], [0.8, 0.2]] * 20, scenarios=prices)
    >>> [(one.name, one.cost.total) for one in found]
    [('today', 40.0), ('recession', 0.0)]
    """
    y = check_labels(y_true)
    if not isinstance(scenarios, Mapping) or len(scenarios) < 2:
        raise ValueError(
            "scenarios are at least two price lists by name, such as {'today': costs, "
            f"'recession': other}}, but {scenarios!r} was given."
        )
    weight = read_weights(sample_weight, len(y))
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    bound = {name: bind_costs(costs, y, labels=labels) for name, costs in scenarios.items()}
    first_name, first = next(iter(bound.items()))
    assert first.classes is not None
    assert first.actions is not None
    for name, costs in bound.items():
        if np.asarray(costs.actions).tolist() != first.actions.tolist():
            raise ValueError(
                f"The scenario {name!r} has the actions {np.asarray(costs.actions).tolist()}, and "
                f"{first_name!r} has {first.actions.tolist()}: give each the same actions, in the "
                "same order."
            )
    proba = read_proba(columns_by_label(y_proba, first.classes, "y_proba"), len(first.classes))
    truth = encode(first.classes, y, "y_true")
    today = first.decide(proba, encoded=True)
    found = []
    for name, costs in bound.items():
        prices = costs.of_labels(truth, encoded=True)
        own = costs.decide(proba, encoded=True)
        paid, kept = weight * take(prices, own), weight * take(prices, today)
        found.append(
            ScenarioCost(
                name,
                sum_interval(paid, codes, confidence),
                sum_interval(kept, codes, confidence),
                sum_interval(kept - paid, codes, confidence),
                float(weight[own != today].sum() / weight.sum()),
                float((weight[:, None] * prices).sum(axis=0).min()),
            )
        )
    return found

"""Where a decision would turn: at which probability, at which price.

Decisions are the cheapest by expected cost, E[a] = sum_k p_k C[k, a]. For two classes that is a
straight line in the probability of the second one for every action, so the chosen action is the
cheapest on an interval. A price C[k, a] moves E[a] by p_k for each unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost.typing import Floats

_NEVER = 1e-12  # probabilities below this turn nothing at any price worth printing


@dataclass(frozen=True)
class Interval:
    """The probabilities of a class between which a decision stays as it is.

    Attributes
    ----------
    label : label
        The class.
    low, high : float
        Within [0, 1].
    below, above : action or None
        What is decided beyond the ends; None where there is nothing beyond.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=5, random_state=0).fit(X, y)
    >>> stays = model.explain(X[:1], costs={"fp": 3, "fn": 1}).stays_within
    >>> int(stays.label), stays.low, stays.high  # benign is decided from 3 / (3 + 1) on
    (1, 0.0, 0.75)
    """

    label: Any
    low: float
    high: float
    below: Any = None
    above: Any = None


@dataclass(frozen=True)
class TurningPrice:
    """What one price would have to be, all others as they are, for a decision to turn.

    Attributes
    ----------
    action, truth : labels
        The cell C[truth, action].
    now, turns_at : float
        In units of cost.
    to : action
        What would then be decided.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=5, random_state=0).fit(X, y)
    >>> price = model.explain(X[:1], costs={"fp": 3, "fn": 1}).turning_prices[0]
    >>> bool(price.now != price.turns_at)
    True
    """

    action: Any
    truth: Any
    now: float
    turns_at: float
    to: Any


def stays_within(C: Floats, chosen: int, labels: Any, actions: Any) -> Interval:
    """Return the probabilities of the second of two classes at which an action is the cheapest.

    Parameters
    ----------
    C : float64 array of shape (2, A)
    chosen : int
        The number of the action.
    labels, actions : sequences

    Examples
    --------
    >>> stays_within(np.array([[0.0, 1.0], [9.0, 0.0]]), 1, ["ok", "fraud"], ["pay", "check"])
    Interval(label='fraud', low=0.1, high=1.0, below='pay', above=None)
    """
    low, high, below, above = 0.0, 1.0, None, None
    for rival in range(C.shape[1]):
        first, second = C[:, rival] - C[:, chosen]
        slope = second - first
        if slope > 0.0 and -first / slope > low:
            low, below = float(-first / slope), actions[rival]
        if slope < 0.0 and first / -slope < high:
            high, above = float(first / -slope), actions[rival]
    return Interval(labels[1], low, high, below, above)


def turning_prices(
    C: Floats, proba: Floats, chosen: int, labels: Any, actions: Any
) -> list[TurningPrice]:
    """Return the prices of mistakes that would turn the decision, the smallest change first.

    The chosen action must cost as much as the next one, or another one, whichever it is, as little
    as it; a price that would have to fall below 0 (or below the cheapest answer's, where that is
    negative) is left out, and so is one beyond all numbers.

    Examples
    --------
    >>> C = np.array([[0.0, 5.0], [100.0, 0.0]])
    >>> for price in turning_prices(C, np.array([0.9, 0.1]), 1, [0, 1], [0, 1]):
    ...     print(price.action, price.truth, price.now, round(price.turns_at, 2), price.to)
    0 1 100.0 45.0 0
    1 0 5.0 11.11 0
    """
    gaps = proba @ C
    gaps = gaps - gaps[chosen]
    rivals = [a for a in range(len(gaps)) if a != chosen]
    if not rivals:
        return []
    following = min(rivals, key=lambda a: (gaps[a], a))
    found = []
    for k in np.flatnonzero(proba > _NEVER).tolist():
        share, free = float(proba[k]), float(C[k].min())
        # The chosen action's price rises to where the next one is cheaper; others' prices fall.
        rises = (chosen, following, float(gaps[following]) / share)
        for action, to, step in (rises, *((a, a, -float(gaps[a]) / share) for a in rivals)):
            now = float(C[k, action])
            if now > free and min(free, 0.0) <= now + step < np.inf:
                price = TurningPrice(actions[action], labels[k], now, now + step, actions[to])
                found.append((abs(step) / max(abs(now), 1e-300), price))
    return [price for _, price in sorted(found, key=lambda pair: pair[0])]

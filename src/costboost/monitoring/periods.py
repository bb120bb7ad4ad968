"""Periods of a monitor: what is kept of one, and its rows while they are there.

Rows are decided about, billed, and forgotten; a `Period` holds their sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import Costs
from costboost.inputs.arrays import encode, missing_in
from costboost.metrics.policies import constant_names
from costboost.metrics.prices import take
from costboost.typing import Floats, Indices, Mask

__all__ = ["Alarm", "Decided", "Period", "decide_rows", "read_labels", "texts"]


@dataclass
class Period:
    """What is known of one period.

    Attributes
    ----------
    name : str
    at : int
        When it was, in microseconds; periods are in this order.
    rows : int
    expected : float
        What its decisions are expected to cost, by the model's probabilities.
    constant : dict of str to float
        What one action for all rows is expected to cost, by policy.
    decisions : dict of str to int
        Rows by action.
    used : dict of str to float
        Decisions as a share of the capacity, by action.
    classes : dict of str to float
        Expected rows by class.
    prices : list of float
        The median of each price.
    columns : list of dict
        For each column ``name``, ``worth`` (what its shift costs in this period, with ``low`` and
        ``high``), ``changed`` (the share of rows that are decided differently for it) and how it
        moved. Empty for reference periods.
    billed : dict or None
        Once labels are known: ``rows``, ``open`` (rows without a label), ``paid``, ``expected`` of
        these rows, ``difference`` with ``low`` and ``high``, ``constant`` and ``seen`` (rows by
        class).
    wealth : dict of str to float
        The wealth of each bet after it, as a logarithm.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.datasets import make_card_fraud
    >>> from costboost.monitoring import Monitor
    >>> data = make_card_fraud(3000)
    >>> model = CostBoostClassifier(n_estimators=10, random_state=0, costs=data.costs.mean())
    >>> monitor = Monitor(model.fit(data.X[:2000], data.y[:2000]))
    >>> period = monitor.update(data.X[2000:], period=1, costs=data.costs[2000:])
    >>> period.rows, sorted(period.constant), period.billed is None
    (1000, ['do everything', 'do nothing'], True)
    """

    name: str
    at: int
    rows: int
    expected: float
    constant: dict[str, float]
    decisions: dict[str, int]
    used: dict[str, float]
    classes: dict[str, float]
    prices: list[float]
    columns: list[dict[str, Any]]
    billed: dict[str, Any] | None = None
    wealth: dict[str, float] = field(default_factory=dict)

    @property
    def beyond_chance(self) -> bool:
        """Whether paid and expected differ by more than the 95 % interval of their difference."""
        found = self.billed
        return found is not None and (found["low"] > 0 or found["high"] < 0)

    @property
    def cheapest(self) -> str:
        """The constant policy that cost least, or is expected to until labels are known."""
        costs = self.constant if self.billed is None else self.billed["constant"]
        return min(costs, key=lambda name: costs[name])


@dataclass(frozen=True)
class Alarm:
    """An alarm: what rang, in which period, and how sure.

    Attributes
    ----------
    signal : str
        "paid", "more: fraud", "fewer: fraud", "prices".
    period : str
    log_wealth, limit : float
        The logarithm of the wealth of the bet, and what it had to reach.
    text : str

    Examples
    --------
    >>> from costboost.monitoring import Alarm
    >>> Alarm("paid", "2026-05-04", 5.1, 4.4, "decisions cost more than expected").signal
    'paid'
    """

    signal: str
    period: str
    log_wealth: float
    limit: float
    text: str


@dataclass(frozen=True)
class Decided:
    """Rows of a period with their probabilities, prices and decisions.

    Attributes
    ----------
    proba : ndarray of shape (n, K)
    costs : Costs
        Bound to the classes and the rows.
    expected : ndarray of shape (n, A)
    taken : ndarray of shape (n,)
        Numbers of actions.
    """

    proba: Floats
    costs: Costs
    expected: Floats
    taken: Indices

    @property
    def expected_taken(self) -> Floats:
        """What each decision is expected to cost, (n,)."""
        return take(self.expected, self.taken)

    @property
    def actions(self) -> list[str]:
        """The names of the actions."""
        return texts(self.costs.actions)

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return texts(self.costs.classes)

    @property
    def policies(self) -> list[str]:
        """The names of policies that take one action for all rows."""
        square = self.costs.is_square and len(self.classes) == 2
        return constant_names(self.actions, self.costs.positive_number if square else None)

    @property
    def watched_classes(self) -> list[tuple[int, str]]:
        """Numbers and names of the classes that are counted: of two, the positive one."""
        names = self.classes
        if len(names) > 2:
            return list(enumerate(names))
        k = self.costs.positive_number
        k = 1 if k is None else k
        return [(k, names[k])]

    def beyond_least(self, known: Mask, paid: Floats) -> tuple[Floats, Floats, Floats]:
        """Return paid, expected and variance of what a decision can cost beyond its least."""
        n = len(self.taken)
        each = np.stack(
            [
                take(self.costs.of_labels(np.full(n, k), encoded=True), self.taken)[known]
                for k in range(self.proba.shape[1])
            ],
            axis=1,
        )
        least, p = each.min(axis=1), self.proba[known]
        over = each - least[:, None]
        mean = np.sum(p * over, axis=1)
        return paid - least, mean, np.maximum(0.0, np.sum(p * over**2, axis=1) - mean**2)

    @property
    def _parts(self) -> list[tuple[str, Any]]:
        return [
            (f"the price of {action} where {label} is true", part)
            for k, label in enumerate(self.classes)
            for action, part in zip(self.actions, self.costs.of_class(k), strict=True)
        ]

    @property
    def cells(self) -> list[str]:
        """What each price is called."""
        return [name for name, _ in self._parts]

    @property
    def medians(self) -> list[float]:
        """The median of each price."""
        return [float(np.median(part)) for _, part in self._parts]

    @property
    def fixed(self) -> list[float]:
        """Each price that is the same in all rows; NaN for the others."""
        return [float(np.min(part)) if np.ptp(part) == 0 else math.nan for _, part in self._parts]


def decide_rows(model: Any, X: Any, costs: Any, decisions: Any) -> Decided:
    """Return the decisions of the rows, those given or the cheapest."""
    if len(X) == 0:
        raise ValueError("the period has no rows: leave it out.")
    bound = model._decision_costs(costs, X)
    proba = np.asarray(model._decision_proba(X, costs))
    expected = bound.expected(proba)
    if decisions is None:
        return Decided(proba, bound, expected, bound.decide(proba, encoded=True))
    given = np.asarray(decisions)
    if given.shape != (len(proba),):
        raise ValueError(
            f"decisions has shape {given.shape}: give one decision for each of the {len(proba)} "
            "rows."
        )
    return Decided(proba, bound, expected, encode(bound.actions, given, "decisions"))


def read_labels(classes: NDArray[Any], y: ArrayLike, rows: Decided) -> tuple[Mask, Indices]:
    """Return which labels are known, and their numbers (0 for the others)."""
    given = np.asarray(y)
    if given.shape != (len(rows.taken),):
        raise ValueError(
            f"y has shape {given.shape}: give one label for each of the {len(rows.taken)} rows, "
            "missing where it is not known."
        )
    known = ~missing_in(given)
    codes = np.zeros(len(given), dtype=np.intp)
    codes[known] = encode(classes, np.array(given[known].tolist()), "y") if known.any() else 0
    return known, codes


def texts(labels: Any) -> list[str]:
    """Return labels as text."""
    return [str(label) for label in np.asarray(labels).tolist()]

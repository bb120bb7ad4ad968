"""Binding: costs meet the labels of a data set, and labels become codes and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs.state import State, expanded, same_labels, select
from costboost.costs.text import short
from costboost.inputs.arrays import CodeArray, check_codes, encode, read_labels

__all__ = [
    "bind",
    "check_rows",
    "codes_of_actions",
    "codes_of_labels",
    "labels_of_actions",
    "refuse_unless_square",
    "with_square_actions",
]


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
    if state.positive is None:
        return state._replace(classes=labels)
    if state.positive not in labels.tolist():
        raise ValueError(
            f"positive={state.positive!r} is not among the classes {short(labels)}; name one of "
            "them, or leave positive out to mean the last."
        )
    is_first = state.positive == labels.tolist()[0]
    # Reversing all four cells swaps both the true class and the decision.
    columns = state.columns[::-1] if is_first else state.columns
    return state._replace(columns=columns, classes=labels)


def _bind_by_name(state: State, labels: NDArray[Any]) -> State:
    """Select the named classes that occur in the labels."""
    at = _places(state, labels)
    columns = state.columns
    if state.form == "matrix":
        columns = select(state, at, at if state.is_square else slice(None))
    elif state.form == "answers":
        columns = tuple(columns[i] for i in at)
    k = labels.size
    return state._replace(
        columns=columns,
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
            f"for {short(state.classes)}. Give costs for every class."
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
    return state._replace(columns=select(state, actions=order), actions=None)


def check_rows(state: State, n_samples: int, whose: str) -> None:
    """Check that per-row costs are for as many rows as the data have."""
    if state.n_rows not in (None, n_samples):
        raise ValueError(
            f"These costs have {state.n_rows} rows, but {whose} {n_samples}. Cut both alike, "
            "with costs[index], or give constant costs."
        )


def codes_of_labels(state: State, y: ArrayLike, encoded: bool) -> CodeArray:
    """Return the codes of true labels, one per row."""
    codes = check_codes(y, state.k, "y") if encoded else encode(_known(state.classes), y, "y")
    check_rows(state, codes.size, "y has")
    return codes


def codes_of_actions(state: State, taken: ArrayLike, encoded: bool) -> CodeArray:
    """Return the codes of the actions taken, one per row."""
    if encoded:
        codes = check_codes(taken, state.a, "predicted")
    else:
        codes = encode(_known(state.action_labels), taken, "predicted")
    check_rows(state, codes.size, "predicted has")
    return codes


def labels_of_actions(state: State, codes: CodeArray, encoded: bool) -> NDArray[Any]:
    """Return the labels of actions, or the codes themselves if `encoded`."""
    return codes if encoded else np.asarray(_known(state.action_labels)[codes])


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

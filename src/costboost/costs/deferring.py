"""One more action, whose price does not depend on the truth: to leave the decision to others."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.costs.binding import check_rows
from costboost.costs.cells import read_cell
from costboost.costs.labelled import index_of
from costboost.costs.state import ZERO, Cell, Source, State
from costboost.inputs.arrays import freeze

__all__ = ["with_defer"]


def with_defer(state: State, price: Any, action: Any) -> State:
    """Add the action; see `costboost.costs.Costs.with_defer`."""
    if state.form == "answers" or state.n_classes is None or state.action_labels is None:
        raise ValueError(
            "with_defer adds an action to C[true, action] whose other actions have names: bind "
            "these costs to the classes first, with bind(classes), or give classes= to "
            "Costs.from_matrix."
        )
    names = state.action_labels.tolist()
    if action in names:
        raise ValueError(f"action={action!r} is there already: the actions are {names}.")
    added = _read_price(state, price)
    cells = [[_cell(state, k, a) for a in range(state.a)] for k in range(state.k)]
    return state._replace(
        form="matrix",
        cells=tuple(cell for row in cells for cell in [*row, added]),
        n_actions=state.a + 1,
        actions=_named([*names, action]),
        positive=None,
        index=index_of(price) if state.index is None else state.index,
    )


def _read_price(state: State, price: Any) -> Cell:
    """Read a price as every other cell is read, for the same rows."""
    added = read_cell(price, "price", state.benefits)
    if isinstance(added.value, Source):
        return added
    if added.value.ndim > 1:
        raise ValueError(
            f"price has shape {added.value.shape}; give one number, or one for each row."
        )
    if added.n_rows is not None:
        check_rows(state, added.n_rows, "price has")
    index = index_of(price)
    if index is not None and state.index is not None and not index.equals(state.index):
        raise ValueError(
            "price and the costs have different indexes, so their rows are not the same or not in "
            "the same order. Take both from the same table."
        )
    return added


def _cell(state: State, k: int, a: int) -> Cell:
    """Return ``C[k, a]`` as it is, also where it is still to be read from a table."""
    if state.form == "rows":
        return state.cells[0] if k != a else Cell(ZERO)
    return state.cells[k * state.a + a]


def _named(names: list[Any]) -> Any:
    """Return names as an array that keeps them as they are: not 0 and "defer" both as text."""
    plain = np.array(names)
    if plain.tolist() == names:
        return freeze(plain)
    made = np.empty(len(names), dtype=object)
    made[:] = names
    return freeze(made)

"""One more action, whose price does not depend on the truth: to leave the decision to others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.costs.binding import check_rows
from costboost.costs.state import Cell, State
from costboost.inputs.arrays import freeze, read_numbers

__all__ = ["with_defer"]


def with_defer(state: State, price: ArrayLike, action: Any) -> State:
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
    column = read_numbers(price, "price")
    if column.ndim > 1:
        raise ValueError(f"price has shape {column.shape}; give one number, or one for each row.")
    if column.ndim:
        check_rows(state, column.size, "price has")
    cells = [[Cell(state.cell(k, a)) for a in range(state.a)] for k in range(state.k)]
    return state._replace(
        form="matrix",
        cells=tuple(cell for row in cells for cell in [*row, Cell(column)]),
        n_actions=state.a + 1,
        actions=_named([*names, action]),
        positive=None,
    )


def _named(names: list[Any]) -> Any:
    """Return names as an array that keeps them as they are: not 0 and "defer" both as text."""
    plain = np.array(names)
    if plain.tolist() == names:
        return freeze(plain)
    made = np.empty(len(names), dtype=object)
    made[:] = names
    return freeze(made)

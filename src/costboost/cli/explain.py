"""``costboost explain``: why one row is decided as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.cli.errors import InputError
from costboost.cli.labels import shown
from costboost.cli.money import count
from costboost.cli.prices import Prices
from costboost.cli.recipe import Kept, read_model
from costboost.cli.rows import TableRows, load_rows
from costboost.cli.screen import Screen

__all__ = ["explain"]


def explain(model_path: str, table: str, prices: Prices, screen: Screen, *, row: int) -> None:
    """Explain the decision for one row of a table."""
    kept = read_model(model_path)
    if not hasattr(kept.model, "explain"):
        raise InputError(f"A {type(kept.model).__name__} cannot explain its decisions.")
    rows, source = load_rows(kept, table, prices, screen)
    if row >= len(rows):
        raise InputError(
            f"{source.name} has {count(len(rows), 'row')}, numbered from 0 to {len(rows) - 1}: "
            f"there is no row {row}."
        )
    one = rows.take(np.array([row]))
    by_costs = kept.model._decides_by_costs()
    with screen.listening(), screen.working("Explaining"):
        why = kept.model.explain(one.X, costs=one.costs if by_costs else None)
    named = _identity(kept, one)
    screen.say(f"Row {row}{''.join(f', {name} {value}' for name, value in named.items() if name)}")
    screen.out.print(str(why), soft_wrap=True)
    screen.result({"row": row, "identity": named, **why.to_dict()})


def _identity(kept: Kept, one: TableRows) -> dict[str, Any]:
    """Return what names the row: its identifiers, which are no features."""
    reasons = kept.recipe.left_out
    names = [name for name, why in reasons.items() if why.startswith("an identifier")]
    return {name: shown(one.frame[name][0]) for name in names if name in one.frame.columns}

"""``costboost explain``: why one row is decided as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from costboost.cli.errors import InputError
from costboost.cli.labels import shown
from costboost.cli.money import count
from costboost.cli.prices import Prices
from costboost.cli.reading import with_zeros
from costboost.cli.recipe import Kept, read_model
from costboost.cli.rows import TableRows, load_rows, prices_to_ask_by
from costboost.cli.screen import Screen
from costboost.costs import Expression

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
    asked = prices_to_ask_by(kept, prices) if kept.model._decides_by_costs() else None
    with screen.listening(), screen.working("Explaining"):
        why = kept.model.explain(one.X, costs=_costs(asked, one, kept.model.classes_.tolist()))
    named = _identity(kept, with_zeros(source, rows.frame)[row])
    screen.say(f"Row {row}{''.join(f', {name} {value}' for name, value in named.items() if name)}")
    screen.out.print(str(why), soft_wrap=True)
    screen.result({"row": row, "identity": named, **why.to_dict()})


def _costs(prices: Prices | None, one: TableRows, classes: list[Any]) -> Any:
    """Return costs that are read from the features, so that they change as these do.

    What prices read of other columns is the row's. None: the model's own prices, or none at all.
    """
    if prices is None:
        return None
    mine, theirs = one.X.schema, one.frame.schema
    if all(mine.get(name) == theirs[name] for name in prices.columns()):
        return prices.costs(classes)

    def reading(price: Expression) -> Any:
        def read(X: pl.DataFrame) -> Any:
            followed = [X[name] for name in price.columns if name in mine]
            # A category is text to the model, whatever it is to the price.
            followed = [f.cast(theirs[f.name]) if f.dtype == pl.String else f for f in followed]
            return price(one.frame[[0] * X.height].with_columns(followed))

        return read

    return prices.costs(classes, reading)


def _identity(kept: Kept, one: pl.DataFrame) -> dict[str, Any]:
    """Return what names the row: its identifiers, which are no features."""
    reasons = kept.recipe.left_out
    names = [name for name, why in reasons.items() if why.startswith("an identifier")]
    return {name: shown(one[name][0]) for name in names if name in one.columns}

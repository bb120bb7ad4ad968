"""A table meets a recipe: its features, its truth, its prices, one value of each for every row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli.columns import Feature, features_of, unknown_column
from costboost.cli.errors import InputError, UsageError
from costboost.cli.labels import decisions_of, labels_of
from costboost.cli.prices import Prices
from costboost.cli.reading import Source, read_source, read_table
from costboost.cli.recipe import Kept
from costboost.cli.screen import Screen
from costboost.costs import Costs

__all__ = [
    "TableRows",
    "known_categories",
    "load_rows",
    "prices_to_ask_by",
    "read_rows",
    "take_roles",
    "text_features",
]

Indices = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class TableRows:
    """Rows of a table as everything else needs them.

    Attributes
    ----------
    frame : polars DataFrame
        The table as it was read.
    X : polars DataFrame
        Its features.
    costs : Costs
        Bound to the classes and to these rows.
    positive : label or None
        The positive of two classes.
    y, current, groups : ndarray of shape (n,) or None
        The truth, today's decisions, and who belongs together.
    """

    frame: pl.DataFrame
    X: pl.DataFrame
    costs: Costs
    positive: Any
    y: NDArray[Any] | None = None
    current: NDArray[Any] | None = None
    groups: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return self.frame.height

    @property
    def actions(self) -> list[Any]:
        """What can be decided."""
        assert self.costs.actions is not None  # bound
        return list(self.costs.actions.tolist())

    @property
    def truth(self) -> NDArray[Any]:
        """The labels, where there must be some."""
        assert self.y is not None
        return self.y

    def take(self, index: Indices) -> TableRows:
        """Return some of the rows."""

        def cut(values: Any) -> Any:
            return None if values is None else values[index]

        parts = {name: cut(getattr(self, name)) for name in ("y", "current", "groups")}
        return replace(
            self, frame=self.frame[index], X=self.X[index], costs=self.costs[index], **parts
        )


def take_roles(frame: pl.DataFrame, roles: dict[str, str | None]) -> None:
    """Check that the columns that play a part are there, each with one part only."""
    named: dict[str, str] = {}
    for option, name in roles.items():
        if name is None:
            continue
        if name not in frame.columns:
            raise unknown_column(name, frame.columns, option)
        if name in named:
            raise UsageError(f"{option} and {named[name]} both name the column {name!r}.")
        named[name] = option


def read_rows(
    frame: pl.DataFrame,
    features: Sequence[Feature],
    prices: Prices | None,
    classes: NDArray[Any],
    *,
    model: Any = None,
    target: str | None = None,
    current: str | None = None,
    groups: str | None = None,
) -> TableRows:
    """Read what a table says of every row.

    Without `prices`, those that `model` holds are taken.
    """
    X = features_of(frame, features)
    if prices is None:
        costs, positive = model.costs_.bind_table(frame), model.costs_.positive
    else:
        prices.check(frame, target)
        costs = prices.costs(classes.tolist()).bind_table(frame).bind(classes)
        positive = prices.positive_of(classes.tolist())
    rows = TableRows(frame=frame, X=X, costs=costs, positive=positive)
    return replace(
        rows,
        y=None if target is None else labels_of(frame[target]),
        current=None if current is None else decisions_of(frame[current], rows.actions, positive),
        groups=None if groups is None else _group_codes(frame[groups]),
    )


def _group_codes(column: pl.Series) -> NDArray[np.intp]:
    if column.null_count():
        at = int(column.is_null().arg_max() or 0)
        raise InputError(f"The group {column.name!r} is empty in row {at}: give every row one.")
    return (column.rank("dense").cast(pl.Int64) - 1).to_numpy().astype(np.intp)


def load_rows(
    kept: Kept,
    path: str,
    new_prices: Prices,
    screen: Screen,
    *,
    target: str | None = None,
    needs_target: bool = False,
    current: str | None = None,
    groups: str | None = None,
) -> tuple[TableRows, Source]:
    """Read the table that a model is asked about, with its own recipe and perhaps new prices."""
    recipe = kept.recipe
    source = read_source(path)
    with screen.working(f"Reading {source.name}"):
        frame = read_table(source, text_features(kept))
    truth = (target or recipe.target) if needs_target else None
    if needs_target and truth is None:
        raise UsageError("The model file does not say which column is the truth: give --target.")
    today = current or (recipe.current if recipe.current in frame.columns else None)
    take_roles(frame, {"--target": truth, "--current": today, "--groups": groups})
    rows = read_rows(
        frame,
        recipe.features or _features_as_they_are(frame, kept.model),
        prices_to_ask_by(kept, new_prices),
        kept.model.classes_,
        model=kept.model,
        target=truth,
        current=today if needs_target else None,
        groups=groups,
    )
    if truth is not None:
        _check_known_classes(rows.truth, kept.model.classes_, truth)
    return rows, source


def text_features(kept: Kept) -> list[str]:
    """Return the features that are text to a model, whatever they look like in a file."""
    if kept.recipe.features:
        return [f.name for f in kept.recipe.features if f.kind == "category"]
    known = known_categories(kept.model).items()
    return [name for name, keys in known if any(isinstance(key, str) for key in keys)]


def known_categories(model: Any) -> dict[str, tuple[Any, ...]]:
    """Return the categories that a model has learnt, by column; of built-in trees only."""
    if not hasattr(model, "_subject") or model.estimator is not None:
        return {}
    kept = model._subject().members[0].forest.binner.categories
    names = getattr(model, "feature_names_in_", ())
    return {n: keys for n, keys in zip(names, kept, strict=False) if keys is not None}


def prices_to_ask_by(kept: Kept, new: Prices) -> Prices | None:
    """Return the prices of a model file with those that are given anew; None: the model's own."""
    given = bool(new.texts())
    if kept.recipe.prices is not None:
        return kept.recipe.prices.changed(new)
    if not given and kept.model.costs_per_row_:
        raise UsageError("The model was fitted with prices of other rows: give --fp and --fn.")
    return new if given else None


def _features_as_they_are(frame: pl.DataFrame, model: Any) -> list[Feature]:
    """Return the features of a model that Python has saved, by the types of this table."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise InputError(
            "The model was fitted on an array, whose columns have no names: fit it on a DataFrame, "
            "or train it with 'costboost train'."
        )
    plain = {
        name: frame[name].dtype.is_numeric() or frame[name].dtype == pl.Boolean
        for name in names
        if name in frame.columns
    }
    return [Feature(str(name), "number" if plain.get(name) else "category") for name in names]


def _check_known_classes(y: NDArray[Any], classes: NDArray[Any], target: str) -> None:
    strange = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if strange:
        known = ", ".join(map(str, classes.tolist()))
        raise InputError(
            f"The target {target!r} holds {strange[0]!r}, which the model does not know: its "
            f"classes are {known}."
        )

"""The recipe in a model file: how to read the next table as the first one was; and its rows.

It is kept among the notes of the file under one name, as plain JSON, and every part of it is
checked when it is read: a file from others cannot make columns or prices of anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli import InputError, UsageError
from costboost.cli.cells import Form
from costboost.cli.columns import (
    KINDS,
    Feature,
    decisions_of,
    features_of,
    labels_of,
    shown,
    tidied,
    unknown_column,
    where_labels,
)
from costboost.cli.output import Screen
from costboost.cli.prices import Prices
from costboost.cli.reading import Source, Table, read_source, read_table
from costboost.costs import Costs
from costboost.fitting.propensity import CLIP
from costboost.model import FittedModel
from costboost.persistence import read
from costboost.persistence.kinds import fits
from costboost.typing import Floats, Indices, Mask

__all__ = [
    "Kept",
    "Recipe",
    "read_model",
    "TableRows",
    "known_categories",
    "load_rows",
    "prices_to_ask_by",
    "costs_by_name",
    "scenario_costs_of",
    "read_rows",
    "take_roles",
    "text_features",
]

NAME = "command line"
FORMAT = 1
_LARGEST = 1e300  # of what is on a bill; NaN is not even that


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a table is read, priced and split.

    Attributes
    ----------
    target : str or None
        The column of the truth; None for models that were not trained here.
    features : tuple of Feature
    left_out : dict of str -> str
        Columns that are no features, and why.
    prices : Prices or None
        None: those that the model holds.
    time, groups, current : str or None
        Columns that play these parts.
    method : str
    trained : str
        When, as a date.
    table, digest : str
        The name and the digest of the file that was trained on.
    rows : dict of str -> int
        How many were trained on and held out.
    how : str
        How they were held out.
    until : str or None
        The latest moment that was learnt from, where labels come late.
    bill : list of dict
        What the policies cost on the rows held out.
    form : Form
        How the table was written, and later ones are read.
    """

    target: str | None = None
    features: tuple[Feature, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    prices: Prices | None = None
    time: str | None = None
    groups: str | None = None
    current: str | None = None
    method: str = ""
    trained: str = ""
    table: str = ""
    digest: str = ""
    rows: dict[str, int] = field(default_factory=dict)
    how: str = ""
    until: str | None = None
    bill: list[dict[str, Any]] = field(default_factory=list)
    form: Form = field(default_factory=Form)

    @property
    def identifiers(self) -> list[str]:
        """The columns that name rows, and were left out for it."""
        return [name for name, why in self.left_out.items() if why.startswith("an identifier")]

    def to_notes(self) -> dict[str, Any]:
        """Return the notes that keep it."""
        plain = {**asdict(self), "features": [[f.name, f.kind] for f in self.features]}
        plain["form"]["missing"] = list(self.form.missing)
        if self.prices is not None and self.prices.ranges is None:
            del plain["prices"]["ranges"]  # so that earlier versions read the file
        return {NAME: {"format": FORMAT, **plain}}

    @classmethod
    def of_notes(cls, notes: dict[str, Any]) -> Recipe | None:
        """Return the recipe in the notes of a file; None if there is none."""
        kept = notes.get(NAME)
        if kept is None:
            return None
        demand(isinstance(kept, dict), "it is no list of names")
        if kept.get("format") != FORMAT:
            raise InputError(
                "The model file was written by a newer version of the command line: upgrade "
                "costboost."
            )
        demand(_is_text(kept), "it holds what is no text")
        hints = get_type_hints(cls)
        fields = {name: value for name, value in kept.items() if name != "format"}
        fields.setdefault("form", {})  # of before these were kept
        fields.setdefault("until", None)
        demand(set(fields) == set(hints), "a part is unknown or missing")
        fields["features"] = _read_features(fields["features"])
        fields["prices"] = _read_prices(fields["prices"])
        fields["form"] = _read_form(fields["form"])
        for name, value in fields.items():
            if name != "form":
                demand(fits(value, hints[name]), f"{name} cannot be what it is")
        counted = set(fields["rows"]) == {"train", "held_out"}
        demand(counted or fields["target"] is None, "it does not say how many rows there were")
        for line in fields["bill"]:
            _check_line(line)
        return cls(**fields)


def demand(holds: bool, why: str) -> None:
    """Refuse notes that do not hold together."""
    if not holds:
        raise InputError(f"The notes of the model file are damaged: {why}. Train the model again.")


def _is_text(kept: Any) -> bool:
    """Return whether all texts can be written: halves of a character cannot."""
    try:
        json.dumps(kept, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_line(line: dict[str, Any]) -> None:
    """Refuse a line of the bill that has no name, no price, or what is no number."""
    demand({"policy", "cost", "low", "high"} <= set(line), "a line of the bill lacks a part")
    for name, value in line.items():
        if name == "policy":
            good = isinstance(value, str)
        else:  # of those known only at times, None
            good = type(value) in (int, float) and abs(value) <= _LARGEST
            good = good or (value is None and name not in ("cost", "low", "high"))
        demand(good, f"the bill's {name} is not what it is")


def _read_features(given: Any) -> tuple[Feature, ...]:
    demand(isinstance(given, list), "features are no list")
    for pair in given:
        good = isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
        demand(good and pair[1] in KINDS, "a feature has no name and kind")
    names = [pair[0] for pair in given]
    demand(len(set(names)) == len(names), "a feature stands twice")
    return tuple(Feature(name, kind) for name, kind in given)


def _read_prices(given: Any) -> Prices | None:
    if given is None:
        return None
    demand(isinstance(given, dict), "prices are no list of names")
    hints = get_type_hints(Prices)
    given = {"ranges": None, **given}  # which files without ranges lack
    demand(set(given) == set(hints), "a price is unknown or missing")
    ranges = given["ranges"]
    demand(ranges is None or isinstance(ranges, dict), "ranges of prices have no names")
    demand(all(isinstance(text, str) for text in (ranges or {}).values()), "a range is no text")
    for name, value in given.items():
        if name not in ("actions", "ranges"):
            demand(fits(value, hints[name]), f"the price {name} is no text")
    _check_actions(given["actions"])
    return Prices(**given)


def _read_form(given: Any) -> Form:
    """Return a form of which every part is one that `Form.asked` would take, or text."""
    demand(isinstance(given, dict), "the form is no list of names")
    demand(set(given) <= set(get_type_hints(Form)), "a part of the form is unknown")
    for name, value in given.items():
        allowed = _FORMS.get(name)
        if allowed is not None:
            demand(value in allowed, f"the form's {name} is not known")
        elif name in ("currencies", "labels"):
            good = isinstance(value, dict) and all(isinstance(v, str) for v in value.values())
            demand(good, f"the form's {name} are no text")
        elif name == "missing":
            good = isinstance(value, list) and all(isinstance(v, str) for v in value)
            demand(good, "the form's missing is no text")
        else:
            demand(value is None or isinstance(value, str), f"the form's {name} is no text")
    return Form(**{**given, "missing": tuple(given.get("missing", ()))})


_FORMS: dict[str, tuple[Any, ...]] = {
    "decimal": (None, ".", ","),
    "thousands": (None, "", ".", ",", "'", " "),
    "dates": (None, "dmy", "mdy"),
    "tidy_labels": (True, False),
}


def _check_actions(given: Any) -> None:
    if given is None:
        return
    demand(isinstance(given, dict), "actions have no names")
    for prices in given.values():
        each = list(prices.values()) if isinstance(prices, dict) else [prices]
        demand(all(isinstance(price, str) for price in each), "the price of an action is no text")


@dataclass(frozen=True)
class Kept:
    """A model file: the model, its recipe, and what the file is."""

    model: Any
    recipe: Recipe
    path: str
    version: str
    size: int

    def currency(self, new: Prices) -> str:
        """Return the currency of bills: that of new prices, or of the model's."""
        return new.currency or (self.recipe.prices.currency if self.recipe.prices else "")


def read_model(path: str) -> Kept:
    """Read a model and its recipe; of a model that was saved by Python, what it says itself."""
    file = Path(path)
    if not file.exists():
        raise InputError(f"{path} does not exist: give a file that 'costboost train' has written.")
    found = read(file)
    if "n_jobs" in found.model.get_params(deep=False):
        found.model.set_params(n_jobs=-1)  # the result is the same, bit for bit
    recipe = Recipe.of_notes(found.notes)
    if recipe is not None:
        names = [feature.name for feature in recipe.features]
        demand(names == list(getattr(found.model, "feature_names_in_", names)), "other features")
    return Kept(found.model, recipe or Recipe(), path, found.version, file.stat().st_size)


# ---- Rows of a table, read by a recipe: features, labels, prices, groups.


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
    weight : ndarray of shape (n,) or None
        For how many rows each stands, where only some have a label.
    """

    frame: pl.DataFrame
    X: pl.DataFrame
    costs: Costs
    positive: Any
    y: NDArray[Any] | None = None
    current: NDArray[Any] | None = None
    groups: NDArray[np.intp] | None = None
    weight: Floats | None = None

    def __len__(self) -> int:
        return self.frame.height

    @property
    def actions(self) -> list[Any]:
        """The actions, in the order of the costs."""
        assert self.costs.actions is not None  # bound
        return list(self.costs.actions.tolist())

    @property
    def truth(self) -> NDArray[Any]:
        """The labels, where there must be some."""
        assert self.y is not None
        return self.y

    @property
    def fit_weight(self) -> Floats | None:
        """The weights to train with, 1 on average."""
        return None if self.weight is None else self.weight / self.weight.mean()

    def take(self, index: Indices) -> TableRows:
        """Return some of the rows."""

        def cut(values: Any) -> Any:
            return None if values is None else values[index]

        parts = {name: cut(getattr(self, name)) for name in ("y", "current", "groups", "weight")}
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
    propensity: str | None = None,
) -> TableRows:
    """Read features, truth, current decisions, groups and weights of every row.

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
        weight=None if propensity is None else _weights(frame[propensity]),
    )


def _weights(column: pl.Series) -> Floats:
    """Return 1 / propensity, chances below the least that counts taken for that."""
    chance: Floats = column.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
    bad = ~((chance > 0) & (chance <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        raise InputError(
            f"--propensity {column.name!r} is {column[at]!r} in row {at}: it must be the chance, "
            "above 0 and at most 1, that the row had to get its label."
        )
    return np.asarray(1.0 / np.maximum(chance, CLIP))


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
    form: Form,
    target: str | None = None,
    needs_target: bool = False,
    current: str | None = None,
    groups: str | None = None,
    propensity: str | None = None,
    also: Sequence[str] = (),
    known: Callable[[pl.DataFrame], Mask] | None = None,
) -> tuple[TableRows, Table]:
    """Read the table that a model is asked about, with its own recipe and perhaps new prices.

    It is read as that of the training was, but for what `form` asks; `also` are columns that are
    needed beside features and prices, and `known` says which rows to keep.
    """
    recipe = kept.recipe
    truth = (target or recipe.target) if needs_target else None
    table = read_again(kept, read_source(path, form.encoding, recipe.form.encoding), form, truth)
    frame = table.frame
    if table.remarks:
        screen.say(f"{table.source.name} was read so: {table.remarks}")
    if needs_target and truth is None:
        raise UsageError("The model file does not say which column is the truth: give --target.")
    today = current or (recipe.current if recipe.current in frame.columns else None)
    parts = {"--target": truth, "--current": today, "--groups": groups, "--propensity": propensity}
    take_roles(frame, parts)
    prices = prices_to_ask_by(kept, new_prices)
    features = features_as_read(frame, kept)
    table.need([*(f.name for f in features), *(prices.columns() if prices else ()), *also])
    if known is not None:
        frame = frame.filter(pl.Series(known(frame)))
    if truth is not None and table.form.tidy_labels:
        frame = frame.with_columns(tidied(frame[truth], kept.model.classes_.tolist()))
    rows = read_rows(
        frame,
        features,
        prices,
        kept.model.classes_,
        model=kept.model,
        target=truth,
        current=today if needs_target else None,
        groups=groups,
        propensity=propensity,
    )
    if truth is not None:
        _check_known_classes(rows.truth, kept.model.classes_, truth)
    return rows, table


def read_again(kept: Kept, source: Source, form: Form, target: str | None = None) -> Table:
    """Read a table as a model needs it: its numbers are numbers, its categories text."""
    numbers = [f.name for f in kept.recipe.features if f.kind == "number"]
    return read_table(
        source,
        kept.recipe.form,
        form,
        texts=text_features(kept),
        numbers=numbers,
        target=target,
    )


def text_features(kept: Kept) -> list[str]:
    """Return the features that are text to a model, whatever they look like in a file."""
    if kept.recipe.features:
        return [f.name for f in kept.recipe.features if f.kind == "category"]
    known = known_categories(kept.model).items()
    return [name for name, keys in known if any(isinstance(key, str) for key in keys)]


def known_categories(model: Any) -> dict[str, tuple[Any, ...]]:
    """Return the categories that a model has learnt, by column; of built-in trees only."""
    fitted = getattr(model, "_model", None)
    if not isinstance(fitted, FittedModel) or not fitted.forests:
        return {}
    kept = fitted.forests[0].binner.categories
    names = getattr(model, "feature_names_in_", ())
    return {n: keys for n, keys in zip(names, kept, strict=False) if keys is not None}


def scenario_costs_of(
    kept: Kept, new: Prices, scenarios: Mapping[str, Prices], rows: TableRows, target: str | None
) -> dict[str, Costs]:
    """Return the costs of each scenario for the rows: the prices asked by, some of them changed."""
    base = prices_to_ask_by(kept, new)
    asked = {n: p if base is None else base.changed(p) for n, p in scenarios.items()}
    return costs_by_name(asked, kept.model.classes_, rows, target)


def costs_by_name(
    asked: Mapping[str, Prices], classes: NDArray[Any], rows: TableRows, target: str | None
) -> dict[str, Costs]:
    """Return the costs of the rows in each scenario; refuse prices of other decisions."""
    found = {}
    for name, prices in asked.items():
        prices.check(rows.frame, target)
        found[name] = prices.costs(classes.tolist()).bind_table(rows.frame).bind(classes)
        if np.asarray(found[name].actions).tolist() != list(rows.actions):
            raise InputError(
                f"The scenario {name!r} has other decisions: give it prices of "
                f"{', '.join(map(shown, rows.actions))}, in this order."
            )
    return found


def prices_to_ask_by(kept: Kept, new: Prices) -> Prices | None:
    """Return the prices of a model file with those that are given anew; None: the model's own."""
    given = bool(new.texts())
    if kept.recipe.prices is not None:
        return kept.recipe.prices.changed(new)
    if not given and kept.model.costs_per_row_:
        raise UsageError("The model was fitted with prices of other rows: give --fp and --fn.")
    return new if given else None


def features_as_read(frame: pl.DataFrame, kept: Kept) -> Sequence[Feature]:
    """Return the features of a model; of one that Python has saved, by the types of this table."""
    if kept.recipe.features:
        return kept.recipe.features
    model = kept.model
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
    unknown = sorted(set(np.unique(y).tolist()) - set(classes.tolist()), key=str)
    if unknown:
        known = ", ".join(map(str, classes.tolist()))
        raise InputError(
            f"The target {target!r} holds {where_labels(y, unknown)}, which the model does not "
            f"know: its classes are {known}. Say what these are with --label TEXT=LABEL, or "
            "--tidy-labels if only blanks and capitals differ."
        )

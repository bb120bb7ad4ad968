"""What a model file remembers, so that the next table is read as the first one was.

It is kept among the notes of the file under one name, as plain JSON, and every part of it is
checked when it is read: a file from elsewhere cannot make columns or prices of anything else.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

from costboost.cli.columns import KINDS, Feature
from costboost.cli.errors import InputError
from costboost.cli.prices import Prices
from costboost.persistence import read
from costboost.persistence.hints import fits

__all__ = ["Kept", "Recipe", "read_model"]

NAME = "command line"
FORMAT = 1


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
    bill : list of dict
        What the policies cost on the rows held out.
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
    bill: list[dict[str, Any]] = field(default_factory=list)

    def to_notes(self) -> dict[str, Any]:
        """Return the notes that keep it."""
        plain = {**asdict(self), "features": [[f.name, f.kind] for f in self.features]}
        return {NAME: {"format": FORMAT, **plain}}

    @classmethod
    def of_notes(cls, notes: dict[str, Any]) -> Recipe | None:
        """Return what notes keep; None if they keep nothing of this kind."""
        kept = notes.get(NAME)
        if kept is None:
            return None
        demand(isinstance(kept, dict), "it is no list of names")
        if kept.get("format") != FORMAT:
            raise InputError(
                "The model file was written by a newer version of the command line: upgrade "
                "costboost."
            )
        hints = get_type_hints(cls)
        fields = {name: value for name, value in kept.items() if name != "format"}
        demand(set(fields) == set(hints), "a part is unknown or missing")
        fields["features"] = _read_features(fields["features"])
        fields["prices"] = _read_prices(fields["prices"])
        for name, value in fields.items():
            demand(fits(value, hints[name]), f"{name} cannot be what it is")
        for name in ("left_out", "rows"):
            demand(all(type(v) in (str, int) for v in fields[name].values()), f"{name} is odd")
        demand(all(isinstance(line, dict) for line in fields["bill"]), "the bill is no list")
        return cls(**fields)


def demand(holds: bool, why: str) -> None:
    """Refuse notes that do not hold together."""
    if not holds:
        raise InputError(f"The notes of the model file are damaged: {why}. Train the model again.")


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
    demand(set(given) == set(hints), "a price is unknown or missing")
    for name, value in given.items():
        if name != "actions":
            demand(fits(value, hints[name]), f"the price {name} is no text")
    _check_actions(given["actions"])
    return Prices(**given)


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

"""Which columns of a table are features, and of which kind; the others, with the reason why not.

    kind        columns of                    what the model gets
    number      numbers, booleans             as they are
    category    text, categories              text
    date        dates and moments             days since 1970, where --as-number asks for it
    duration    durations                     days
    clock       times of day                  hours

Left out with a word: columns that play another part (target, time ...), identifiers, constants,
dates (they only ever grow: a tree learns nothing from them for tomorrow), and what is no single
value. `Feature` is all that a model file has to remember to read the next table alike.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from costboost.cli.errors import InputError
from costboost.cli.money import count

__all__ = ["Choice", "Feature", "Kind", "choose", "features_of", "unknown_column"]

Kind = Literal["number", "category", "date", "duration", "clock"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_MANY = 255  # values beyond which what is named an identifier is one
_FEW = 20  # rows below which nothing is called an identifier
_NEARLY = 0.9  # share of rows with a text of its own that makes an identifier
_NUMERIC = 0.9  # share of text cells that are numbers, from which on text is a mistake
_ID_NAME = re.compile(r"(^|[_\W])(id|ids|uuid|guid|key|no|nr|number|index|row)$", re.IGNORECASE)
_NAMED_ID = re.compile(r"(^|[_\W])(id|ids|uuid|guid)$", re.IGNORECASE)
_CAMEL_ID = re.compile(r"[a-z](Id|ID|Key|No|Nr)$")


@dataclass(frozen=True)
class Feature:
    """A column that the model learns from."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Choice:
    """The features of a table, and why its other columns are none."""

    features: tuple[Feature, ...]
    left_out: dict[str, str]

    def names(self, kind: Kind | None = None) -> list[str]:
        """Return the names of the features, of one kind or all."""
        return [f.name for f in self.features if kind in (None, f.kind)]


def unknown_column(name: str, names: Sequence[str], what: str) -> InputError:
    """Make the error about a column that is not there."""
    import difflib

    near = difflib.get_close_matches(name, names, n=1)
    shown = ", ".join(names[:10]) + (f" and {len(names) - 10} others" * (len(names) > 10))
    hint = f"did you mean {near[0]!r}?" if near else f"its columns are {shown}."
    return InputError(f"{what} {name!r} is no column of the table: {hint}")


def choose(
    frame: pl.DataFrame,
    roles: Mapping[str, str],
    *,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    as_number: Collection[str] = (),
    as_category: Collection[str] = (),
) -> Choice:
    """Choose the features of a table.

    Parameters
    ----------
    frame : polars DataFrame
    roles : dict of str -> str
        Columns that play another part, and which.
    drop, keep : collections of str
        Columns to leave out, and not to leave out, whatever they look like.
    as_number, as_category : collections of str
        Dates to take as numbers, and numbers to take as categories.
    """
    asked = {"--drop": drop, "--keep": keep, "--as-number": as_number, "--as-category": as_category}
    for option, names in asked.items():
        for name in names:
            if name not in frame.columns:
                raise unknown_column(name, frame.columns, option)
    reasons = {**roles, **dict.fromkeys(drop, "left out as asked")}
    features, left_out = [], {}
    for name in frame.columns:
        if name in reasons:
            left_out[name] = reasons[name]
            continue
        kind = _kind(frame[name], as_number, as_category)
        why = _objection(frame[name], kind) if kind is None or name not in keep else None
        if why is not None and name not in (*as_number, *as_category):
            left_out[name] = why
        elif kind is not None:
            features.append(Feature(name, kind))
    if not features:
        reasons_why = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError(f"No column is left to learn from: {reasons_why}. See --keep.")
    return Choice(tuple(features), left_out)


def _kind(
    column: pl.Series, as_number: Collection[str], as_category: Collection[str]
) -> Kind | None:
    """Return what kind of feature a column would be; None for none."""
    dtype, name = column.dtype, column.name
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        _refuse_spoilt_numbers(column, as_category)
        return "category"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "category" if name in as_category else "number"
    if dtype in (pl.Date, pl.Datetime):
        return "date" if name in as_number else None
    if dtype == pl.Duration:
        return "duration"
    return "clock" if dtype == pl.Time else None


def _refuse_spoilt_numbers(column: pl.Series, as_category: Collection[str]) -> None:
    """Refuse numbers that a few words have turned into text: nobody means them as categories."""
    if column.name in as_category or column.dtype != pl.String:
        return
    known = column.drop_nulls()
    numbers = known.cast(pl.Float64, strict=False)
    good = len(numbers) - numbers.null_count()
    if not len(known) * _NUMERIC <= good < len(known):
        return
    at = int(
        (column.is_not_null() & column.cast(pl.Float64, strict=False).is_null()).arg_max() or 0
    )
    raise InputError(
        f"Column {column.name!r} holds numbers but for {count(len(known) - good, 'cell')}, such as "
        f"{column[at]!r} in row {at}: leave such cells empty, or say --as-category "
        f"{column.name!r} or --drop {column.name!r}."
    )


def _objection(column: pl.Series, kind: Kind | None) -> str | None:
    """Say why a column is no feature; None if it is one."""
    dtype, known = column.dtype, column.drop_nulls()
    if not len(known):
        return "empty in every row"
    if dtype in (pl.Date, pl.Datetime):
        return "dates; --time holds out the latest, --as-number takes them as days"
    if kind is None:
        return f"{dtype}, no single value"
    distinct = known.n_unique()
    if distinct == 1 and len(known) == len(column):
        return f"constant, {known[0]!r} in every row"
    if kind == "category" and distinct >= max(_FEW, _NEARLY * len(known)):
        return "an identifier, nearly every row has its own"
    if dtype.is_integer() and _numbers_rows(column, distinct):
        return "an identifier, every row has its own"
    if not dtype.is_float() and distinct > _MANY and _NAMED_ID.search(column.name):
        return f"an identifier by its name, {distinct:,} different ones; see --keep"
    return None


def _numbers_rows(column: pl.Series, distinct: int) -> bool:
    """Whether whole numbers only number the rows: all different, and in order or named so."""
    if len(column) < _FEW or distinct < len(column):
        return False
    named = _ID_NAME.search(column.name) or _CAMEL_ID.search(column.name) or not column.name
    return bool(named) or column.is_sorted() or column.is_sorted(descending=True)


# --- a table as the model sees it


def features_of(frame: pl.DataFrame, features: Sequence[Feature]) -> pl.DataFrame:
    """Return the features of a table; every column must be of the kind that it was."""
    for feature in features:
        if feature.name not in frame.columns:
            raise unknown_column(feature.name, frame.columns, "The model needs the column")
    return frame.select(_converted(frame[feature.name], feature.kind) for feature in features)


def _converted(column: pl.Series, kind: Kind) -> pl.Series:
    dtype = column.dtype
    if dtype == pl.Null:
        return column.cast(pl.String if kind == "category" else pl.Float64)
    if kind == "number" and (dtype.is_numeric() or dtype == pl.Boolean):
        return column
    if kind == "category" and not dtype.is_temporal() and not dtype.is_nested():
        return column.cast(pl.String)
    if kind == "date" and dtype in (pl.Date, pl.Datetime):
        return column.dt.epoch("us") / 86_400e6
    if kind == "duration" and dtype == pl.Duration:
        return column.dt.total_microseconds() / 86_400e6
    if kind == "clock" and dtype == pl.Time:
        return column.cast(pl.Int64) / 3_600e9
    first = next((value for value in column.to_list() if value is not None), None)
    raise InputError(
        f"Column {column.name!r} held {_NAMES[kind]} in training and holds {dtype} now, such as "
        f"{first!r}: give it as it was."
    )


_NAMES: dict[Kind, str] = {
    "number": "numbers",
    "category": "categories",
    "date": "dates",
    "duration": "durations",
    "clock": "times of day",
}

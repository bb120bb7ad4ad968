"""The features of a table and their kinds; the other columns, with the reason why not.

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
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli import InputError
from costboost.cli.dates import Problem
from costboost.text import count

__all__ = [
    "Choice",
    "Feature",
    "Kind",
    "choose",
    "features_of",
    "unknown_column",
    "check_strays",
    "decisions_of",
    "label_of",
    "labels_of",
    "shown",
    "tidied",
    "unlabelled",
    "where_labels",
]

Kind = Literal["number", "category", "date", "duration", "clock"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_MANY = 255  # values beyond which what is named an identifier is one
_FEW = 20  # rows below which nothing is called an identifier
_NEARLY = 0.9  # share of rows with a text of its own that makes an identifier
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
    """Return the error about a column that the table does not have."""
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
    problems: Mapping[str, Problem] | None = None,
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
        Dates, and text of numbers, to take as numbers; numbers to take as categories.
    problems : dict of str -> Problem or None
        Columns that could not be understood: they must be left out, but for dates, which are.
    """
    asked = {"--drop": drop, "--keep": keep, "--as-number": as_number, "--as-category": as_category}
    for option, names in asked.items():
        for name in names:
            if name not in frame.columns:
                raise unknown_column(name, frame.columns, option)
    reasons = {**roles, **dict.fromkeys(drop, "left out by --drop")}
    features, left_out = [], {}
    for name in frame.columns:
        if name in reasons:
            left_out[name] = reasons[name]
            continue
        problem = (problems or {}).get(name)
        if problem is not None and problem.is_date and name not in (*as_number, *keep):
            left_out[name] = "dates in an order that is not known; see --dates"
            continue
        if problem is not None:
            raise InputError(problem.text)
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
    """Return the kind of feature that a column would be; None for none."""
    dtype, name = column.dtype, column.name
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "category"
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "category" if name in as_category else "number"
    if dtype in (pl.Date, pl.Datetime):
        return "date" if name in as_number else None
    if dtype == pl.Duration:
        return "duration"
    return "clock" if dtype == pl.Time else None


def _objection(column: pl.Series, kind: Kind | None) -> str | None:
    """Return the reason why a column is no feature; None if it is one."""
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
    """Return whether integers only number the rows: all different, and in order or named so."""
    if len(column) < _FEW or distinct < len(column):
        return False
    named = _ID_NAME.search(column.name) or _CAMEL_ID.search(column.name) or not column.name
    return bool(named) or column.is_sorted() or column.is_sorted(descending=True)


# --- a table as the model sees it


def features_of(frame: pl.DataFrame, features: Sequence[Feature]) -> pl.DataFrame:
    """Return the features of a table; every column must be of the kind that it was."""
    for feature in features:
        if feature.name not in frame.columns:
            raise unknown_column(feature.name, frame.columns, "The model's column")
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


# ---- Labels of the target, as typed or read from a column.

_RARE = 0.01  # share of the rows up to which values beside two classes are taken for mistakes
_MOST_CLASSES = 50  # classes beyond which a column of numbers is no target


def shown(label: Any) -> str:
    """Return a label as people write it.

    Examples
    --------
    >>> shown(True), shown(1.0), shown("yes"), shown(np.int64(3))
    ('true', '1', 'yes', '3')
    """
    if isinstance(label, bool | np.bool_):
        return str(bool(label)).lower()
    if isinstance(label, float | np.floating) and float(label).is_integer():
        return str(int(label))
    return str(label)


def label_of(text: Any, labels: Sequence[Any], what: str) -> Any:
    """Return the label that a text means."""
    wanted = shown(text)
    for match in (str, str.lower):
        found = [label for label in labels if match(shown(label)) == match(wanted)]
        if len(found) == 1:
            return found[0]
    known = ", ".join(shown(label) for label in labels[:10])
    raise InputError(f"{what} {wanted!r} is none of {known}: give one of these.")


def unlabelled(column: pl.Series) -> pl.Series:
    """Return a mask of the rows without a label: null, or NaN, which other programs write."""
    return column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()


def labels_of(column: pl.Series) -> NDArray[Any]:
    """Return the truth of each row as an array; refuse what is missing, or no class."""
    gone = unlabelled(column)
    if gone.any():
        raise InputError(
            f"The target {column.name!r} is missing in {count(int(gone.sum()), 'row')}, the first "
            f"of them row {int(gone.arg_max() or 0)}: leave rows without it out of the table, or "
            "say --skip-unlabelled."
        )
    dtype = column.dtype
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        values = column.cast(pl.String).to_numpy().astype(object)
        labels = np.array(values.tolist())
    elif dtype.is_numeric() or dtype == pl.Boolean:
        labels = column.to_numpy()
    else:
        raise InputError(
            f"The target {column.name!r} holds {dtype}: give a column of classes, such as yes and "
            "no, or 0 and 1."
        )
    _check_classes(column.name, labels)
    return labels


def _check_classes(name: str, labels: NDArray[Any]) -> None:
    distinct = np.unique(labels)
    if labels.dtype.kind == "U":
        _check_spelling(name, labels, distinct)
    if len(distinct) == 1:
        raise InputError(
            f"The target {name!r} is {shown(distinct[0])} in every row: rows of at least two "
            "classes are needed."
        )
    if len(distinct) > _MOST_CLASSES:
        raise InputError(
            f"The target {name!r} has {len(distinct):,} different values: it must be a class, such "
            "as yes and no. Check --target."
        )


def _folded(label: Any) -> str:
    return " ".join(str(label).split()).casefold()


def _check_spelling(name: str, labels: NDArray[Any], distinct: NDArray[Any]) -> None:
    """Refuse labels that differ by blanks and capitals alone: nobody means these as classes."""
    ways: dict[str, list[str]] = {}
    for label in distinct.tolist():
        ways.setdefault(_folded(label), []).append(label)
    several = [label for group in ways.values() if len(group) > 1 for label in group]
    if several:
        raise InputError(
            f"The target {name!r} writes the same class in several ways: "
            f"{where_labels(labels, several)}. Say --tidy-labels to take labels as one that "
            "differ by blanks and capitals alone, or --label TEXT=LABEL what each means."
        )


def where_labels(labels: NDArray[Any], some: Sequence[Any], shown_at_most: int = 6) -> str:
    """Return text: how many rows have each of some labels, and which rows for rare ones."""
    parts = []
    for label in some[:shown_at_most]:
        at = np.flatnonzero(labels == label)
        rows = ", ".join(map(str, at[:5])) + (", ..." if len(at) > 5 else "")
        where = f": {rows}" if len(at) <= _RARE * len(labels) or len(at) <= 5 else ""
        text = repr(label) if isinstance(label, str) else shown(label)
        parts.append(f"{text} ({count(len(at), 'row')}{where})")
    more = len(some) - shown_at_most
    return ", ".join(parts) + (f" and {count(more, 'other')}" if more > 0 else "")


def tidied(column: pl.Series, classes: Sequence[Any] | None = None) -> pl.Series:
    """Return labels without what only differs by blanks and capitals.

    They are written as `classes` are, or as most rows write them.
    """
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        return column
    text = column.cast(pl.String)
    found = text.drop_nulls().value_counts(sort=True)[column.name].to_list()
    best = {_folded(label): str(label).strip() for label in reversed(found)}
    best |= {_folded(label): label for label in classes or () if isinstance(label, str)}
    made = text.replace({label: best[_folded(label)] for label in found})
    return made.set((made == "").fill_null(False), None)


def check_strays(name: str, labels: NDArray[Any]) -> None:
    """Refuse a few values beside two classes: they are mistakes rather than classes."""
    distinct, counts = np.unique(labels, return_counts=True)
    order = np.argsort(counts, kind="stable")
    strays = [distinct[k].item() for k in order[:-2]]
    if strays and counts[order[:-2]].sum() <= _RARE * len(labels):
        two = " and ".join(shown(distinct[k]) for k in order[-2:][::-1])
        raise InputError(
            f"The target {name!r} is {two} but for a few rows: {where_labels(labels, strays)}. Say "
            f"what these mean with --label {str(strays[0])!r}=LABEL; --label {str(strays[0])!r}= "
            "and --skip-unlabelled leave them out."
        )


def decisions_of(column: pl.Series, actions: Sequence[Any], positive: Any) -> NDArray[Any]:
    """Return the decisions that a column holds, by the names of the actions.

    Of two classes, true and 1 mean the positive one, whatever the labels are.
    """
    if column.null_count():
        raise InputError(
            f"Column {column.name!r} holds today's decisions and is empty in row "
            f"{int(column.is_null().arg_max() or 0)}: say what was decided in every row."
        )
    distinct = column.unique().to_list()
    meant = {value: _meant(value, column.name, actions, positive) for value in distinct}
    made = np.empty(len(column), dtype=object)
    made[:] = [meant[value] for value in column.to_list()]
    return np.array(made.tolist(), dtype=np.asarray(list(actions)).dtype)


def _meant(value: Any, name: str, actions: Sequence[Any], positive: Any) -> Any:
    texts = {shown(action).lower(): action for action in actions}
    if shown(value).lower() in texts:
        return texts[shown(value).lower()]
    if len(actions) == 2 and positive is not None and value in (0, 1):
        negative = next(action for action in actions if action != positive)
        return positive if value else negative
    known = ", ".join(map(shown, actions))
    raise InputError(
        f"Column {name!r} holds {shown(value)!r}, which is no decision: they are {known}."
    )

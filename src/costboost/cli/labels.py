"""What was typed or stands in another column becomes labels of the target.

Labels of a table are text, whole numbers, booleans or floats; on a command line and in a file of
prices they are all text. They meet by what they look like: ``1`` is 1, ``true`` is True.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from costboost.cli.errors import InputError
from costboost.cli.money import count

__all__ = ["decisions_of", "label_of", "labels_of", "shown", "unlabelled"]

_MANY = 50  # classes beyond which a column of numbers is no target


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
    """Say of each row whether it has no label: null, or NaN, which other programs write."""
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
    if len(distinct) == 1:
        raise InputError(
            f"The target {name!r} is {shown(distinct[0])} in every row: rows of at least two "
            "classes are needed."
        )
    if len(distinct) > _MANY:
        raise InputError(
            f"The target {name!r} has {len(distinct):,} different values: it must be a class, such "
            "as yes and no. Check --target."
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

"""Columns, and the three kinds of table that are made of them.

A set is read as named columns, each an array of float64 (NaN where missing) or of strings (None
where missing). Here they become what the caller works with.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from costboost.runtime.extras import need
from costboost.typing import Floats

Columns: TypeAlias = Mapping[str, NDArray[Any]]
FrameKind: TypeAlias = Literal["auto", "pandas", "polars", "numpy"]
KINDS = ("auto", "pandas", "polars", "numpy")


def is_category(column: NDArray[Any]) -> bool:
    """Whether a column holds strings rather than numbers."""
    return column.dtype == object


def categories_of(column: NDArray[Any]) -> list[str]:
    """Return the sorted categories of a column of strings."""
    return sorted({value for value in column.tolist() if value is not None})


def codes_of(column: NDArray[Any]) -> Floats:
    """Return the position of each value among the sorted categories, NaN where missing."""
    position: dict[str | None, float] = {c: float(i) for i, c in enumerate(categories_of(column))}
    position[None] = np.nan
    return np.array([position[value] for value in column.tolist()], dtype=np.float64)


def check_kind(as_frame: str) -> None:
    """Raise unless a kind of table is known."""
    if as_frame not in KINDS:
        listed = ", ".join(repr(kind) for kind in KINDS)
        raise ValueError(f"as_frame={as_frame!r} is not known; allowed: {listed}.")


def to_table(columns: Columns, as_frame: str) -> Any:
    """Return the columns as a table of the kind asked for.

    "auto" is the first of pandas and polars that is installed, else numpy.
    """
    check_kind(as_frame)
    if as_frame == "auto":
        as_frame = next((kind for kind in ("pandas", "polars") if find_spec(kind)), "numpy")
    if as_frame == "numpy":
        return to_array(columns)
    library = need(as_frame, f"as_frame={as_frame!r}")
    return (_to_pandas if as_frame == "pandas" else _to_polars)(library, columns)


def to_array(columns: Columns) -> NDArray[Any]:
    """Return float64 if all columns are numbers, else objects: floats, strings, None."""
    mixed = any(is_category(column) for column in columns.values())
    return np.column_stack([c.astype(object) if mixed else c for c in columns.values()])


def to_codes(columns: Columns) -> Floats:
    """Return float64, categories replaced by their codes."""
    return np.column_stack([codes_of(c) if is_category(c) else c for c in columns.values()])


def _to_pandas(pd: Any, columns: Columns) -> Any:
    made = {
        name: pd.Categorical(c, categories=categories_of(c)) if is_category(c) else c
        for name, c in columns.items()
    }
    return pd.DataFrame(made)


def _to_polars(pl: Any, columns: Columns) -> Any:
    made = [
        pl.Series(name, c.tolist(), dtype=pl.Enum(categories_of(c)))
        if is_category(c)
        else pl.Series(name, c, nan_to_null=True)
        for name, c in columns.items()
    ]
    return pl.DataFrame(made)

"""What columns of files hold: numbers, words, numbers that are categories, or nothing at all.

Files of one table may store a column by different types of one kind (int32 here, float64 there),
and a column of nothing but nulls may be of any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

__all__ = ["Kind", "column_kinds", "kind_of"]

Kind = Literal["numbers", "words", "numbered categories", "nothing"]


def kind_of(dtype: pa.DataType) -> Kind | None:
    """Return what a type holds; None where it cannot be binned.

    Examples
    --------
    >>> kind_of(pa.int32()), kind_of(pa.large_string()), kind_of(pa.date32())
    ('numbers', 'words', None)
    """
    types = pa.types
    if types.is_dictionary(dtype):
        inside = kind_of(dtype.value_type)
        return "numbered categories" if inside == "numbers" else inside
    if types.is_null(dtype):
        return "nothing"
    words = (types.is_string, types.is_large_string, getattr(types, "is_string_view", _never))
    if any(test(dtype) for test in words):
        return "words"
    numbers = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    return "numbers" if any(test(dtype) for test in numbers) else None


def _never(dtype: pa.DataType) -> bool:
    """Stand in for types that this version of pyarrow does not know."""
    return False


def column_kinds(
    names: Sequence[str], paths: Sequence[str], schemas: Sequence[pa.Schema]
) -> dict[str, Kind]:
    """Return what the features hold in all files; refuse what cannot be binned, or differs."""
    kinds: dict[str, Kind] = dict.fromkeys(names, "nothing")
    seen_in: dict[str, str] = {}
    for path, schema in zip(paths, schemas, strict=True):
        for name in names:
            dtype = schema.field(name).type
            kind = kind_of(dtype)
            if kind is None:
                raise ValueError(
                    f"{path}: the column {name!r} has the type {dtype}, which cannot be binned. "
                    "Turn it into numbers or strings, or leave it out: features=[...]."
                )
            if kind != "nothing" and kinds[name] not in ("nothing", kind):
                raise ValueError(
                    f"The column {name!r} holds {kinds[name]} in {seen_in[name]}, but {kind} in "
                    f"{path}: write all files with the same types."
                )
            if kind != "nothing":
                kinds[name] = kind
                seen_in.setdefault(name, path)
    return kinds

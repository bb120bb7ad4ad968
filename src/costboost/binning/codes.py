"""Codes: what a table becomes, one byte per cell.

    value        x <= edges[0]   edges[0] < x <= edges[1]   ...   x > edges[-1]   missing
    code               0                    1                      n_bins - 1       255

The code of a number is the number of edges strictly below it, so `x <= edges[t]` if and only if
`code <= t`. The code of a category is its place among the sorted categories. The missing code is
the same for every column and any number of bins, so a histogram has 256 cells a column.
"""

from __future__ import annotations

import numbers
from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, TypeAlias

import numpy as np

from costboost.inputs.arrays import NOTHING, is_missing
from costboost.typing import Codes, Floats, Int64

__all__ = [
    "MISSING",
    "Codes",
    "Key",
    "Refuse",
    "holds_strings",
    "object_keys",
    "object_numbers",
    "pandas_keys",
]

MISSING: Final = 255
"""The code of a missing value, of a category not seen in training, and of one not kept."""


# Columns of Python objects are read as numbers or as categories.

Key: TypeAlias = str | float
Refuse: TypeAlias = Callable[..., Exception]
"""Makes the error about one column: `refuse(held, remedy, kind=ValueError)`."""

Integers: TypeAlias = Int64

_NUMBERS = (numbers.Real, np.bool_, Decimal)


def holds_strings(values: Iterable[Any], refuse: Refuse) -> bool:
    """Whether a column of objects holds strings (True) or numbers (False), never both."""
    kinds = _checked_kinds(values, refuse)
    strings = {kind for kind in kinds if issubclass(kind, str)}
    # NaN among strings is a missing string.
    others = {kind for kind in kinds - strings if not issubclass(kind, float)}
    stray = (v for v in values if isinstance(v, float) and v == v) if strings else ()
    if strings and (others or next(iter(stray), None) is not None):
        raise refuse(
            "both strings and numbers", "convert it to one kind, or list it in categorical_features"
        )
    return bool(strings)


def object_numbers(values: list[Any], refuse: Refuse) -> Floats:
    """Read objects as floats, NaN where missing."""
    if holds_strings(values, refuse):
        raise refuse(
            "strings where numbers are expected",
            "convert it to numbers or list it in categorical_features when fitting",
        )
    try:
        return np.array([np.nan if is_missing(v) else float(v) for v in values], dtype=np.float64)
    except OverflowError:
        raise _beyond_floats(refuse) from None


def _beyond_floats(refuse: Refuse) -> Exception:
    return refuse("whole numbers beyond 1.8e308", "use larger units, or their logarithms")


def object_keys(values: list[Any], refuse: Refuse) -> tuple[Integers, list[Key]]:
    """Read objects as a dictionary of categories."""
    _checked_kinds(values, refuse)
    seen: defaultdict[Any, int] = defaultdict()
    seen.default_factory = seen.__len__  # a new value gets the next number
    numbered = np.fromiter(map(seen.__getitem__, values), dtype=np.int64, count=len(values))
    try:
        return _merge(list(seen), numbered)
    except OverflowError:
        raise _beyond_floats(refuse) from None


def pandas_keys(native: Any) -> tuple[Integers, list[Key]]:
    """Read the dictionary that a pandas categorical already is, without its unused entries."""
    used, numbered = np.unique(native.cat.codes.to_numpy(), return_inverse=True)
    categories = native.cat.categories
    return _merge([None if code < 0 else categories[code] for code in used], numbered)


def _checked_kinds(values: Iterable[Any], refuse: Refuse) -> set[type]:
    kinds = {kind for kind in map(type, values) if kind.__name__ not in NOTHING}
    for kind in kinds:
        if not issubclass(kind, (str, *_NUMBERS)):
            raise refuse(
                f"an object of type {kind.__name__}",
                "every argument must be a string, a real number or missing",
                TypeError,  # as scikit-learn's own checks want it
            )
    return kinds


def _merge(values: list[Any], numbered: Integers) -> tuple[Integers, list[Key]]:
    """Renumber by key instead of by value: missing values are all -1, and 1 is 1.0 is True."""
    numbers_of: dict[Key, int] = {}
    merged = np.array(
        [-1 if is_missing(v) else numbers_of.setdefault(_key(v), len(numbers_of)) for v in values],
        dtype=np.int64,
    )
    return merged[numbered], list(numbers_of)


def _key(value: Any) -> Key:
    """One key for a category in every library; what is no number goes by its string."""
    if isinstance(value, _NUMBERS):
        return float(value) + 0.0  # -0.0 becomes 0.0
    return str(value)

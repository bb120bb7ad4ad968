"""Whether a value is of the type that a field declares: annotations, taken at their word."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

__all__ = ["fits"]


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says, types being exact: True is no int.

    Examples
    --------
    >>> fits((1.0, 2.0), tuple[float, ...]), fits(True, int), fits(None, str | None)
    (True, False, True)
    >>> fits({"a": 1.0}, dict[str, float]), fits({"a": 1.0}, dict[str, int])
    (True, False)
    >>> from numpy.typing import NDArray
    >>> fits(np.zeros(2), NDArray[np.float64]), fits(np.zeros(2, int), NDArray[np.float64])
    (True, False)
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, part) for part in parts)
    if origin is Literal:
        return any(type(value) is type(part) and value == part for part in parts)
    if origin is np.ndarray:
        return type(value) is np.ndarray and _holds(value, parts)
    if origin is tuple:
        return type(value) is tuple and _tuple_fits(value, parts)
    if origin is list:
        return type(value) is list and all(fits(part, parts[0]) for part in value)
    if origin is dict:
        kept = type(value) is dict
        return kept and all(fits(k, parts[0]) and fits(v, parts[1]) for k, v in value.items())
    return value is None if hint in (None, type(None)) else type(value) is (origin or hint)


def _holds(array: Any, parts: tuple[Any, ...]) -> bool:
    """Whether an array has the dtype of NDArray[scalar]."""
    (scalar,) = get_args(parts[1]) or (Any,)
    return scalar is Any or array.dtype == np.dtype(scalar)


def _tuple_fits(value: tuple[Any, ...], parts: tuple[Any, ...]) -> bool:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return all(fits(part, parts[0]) for part in value)
    return len(value) == len(parts) and all(map(fits, value, parts))

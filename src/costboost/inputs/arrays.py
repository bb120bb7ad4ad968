"""Reading what users hand over: numbers, labels, probabilities and weights as plain arrays.

Every function takes one argument as it was given, and returns a fresh or read-only NumPy array, or
raises a ``ValueError`` that names the first offending row. Data frames and series of any library
come in through ``np.asarray``, by position: their own index is not read.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.typing import Floats, Indices, Mask

LARGEST_COST = 1e300
"""Costs beyond this are refused, so that differences and sums over 10^7 rows stay finite."""
SMALLEST_COST = 1e-305
"""Costs nearer to 0 are refused, so that their reciprocals stay finite."""
NOTHING = ("NoneType", "NAType", "NaTType")
"""The types of missing values, by name: pandas need not be there."""

_KINDS = {"b": "booleans", "c": "complex numbers", "U": "strings", "S": "bytes", "M": "dates"}


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, made read-only in place."""
    array.setflags(write=False)
    return array


def _place(name: str, index: tuple[int, ...], rows_first: bool) -> str:
    """Name one cell of an argument: ``row 3: C[0, 1]`` if its first axis counts rows."""
    row, cell = (f"row {index[0]}: ", index[1:]) if rows_first else ("", index)
    return f"{row}{name}[{', '.join(map(str, cell))}]" if cell else f"{row}{name}"


def _first(bad: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))


def without_mask(X: Any) -> Any:
    """Return a masked array as a plain one with nothing under the mask: NaN, or None in objects.

    Whatever else is given is returned as it is.

    Examples
    --------
    >>> without_mask(np.ma.array([1, 2], mask=[False, True])).tolist()
    [1.0, nan]
    >>> without_mask(np.ma.array(["a", "b"], mask=[False, True])).tolist()
    ['a', None]
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    data, mask = np.ma.getdata(X), np.ma.getmaskarray(X)
    if not mask.any():
        return data
    holder = data.dtype if data.dtype.kind == "f" else np.dtype(np.float64)
    missing = np.array(data, dtype=holder if data.dtype.kind in "fiub" else object)
    missing[mask] = np.nan if data.dtype.kind in "fiub" else None
    return missing


def as_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """Read anything into an array; masked cells become NaN, ragged lists an error."""
    if isinstance(value, np.ma.MaskedArray):  # np.asarray would bring the masked values back
        return np.where(np.ma.getmaskarray(value), np.nan, np.ma.getdata(value))
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{name} has rows of different lengths; give an array with one value in every cell."
        ) from None


def is_missing(value: Any) -> bool:
    """Return whether an object stands for no value: None, NaN, or what pandas has for them."""
    number = isinstance(value, float | np.floating)
    return type(value).__name__ in NOTHING or bool(number and value != value)


def missing_in(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values of an array are missing, (n,).

    Examples
    --------
    >>> missing_in(np.array(["a", None], dtype=object)).tolist()
    [False, True]
    """
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values), dtype=np.bool_, count=len(values))
    return np.asarray(values != values)  # NaN, and dates that are none


def _float_of(item: Any) -> float | None:
    """Return one object as a float, NaN where missing, or None where it is not a number."""
    if is_missing(item):
        return np.nan
    if isinstance(item, str | bytes | bool | np.bool_ | complex | np.complexfloating):
        return None
    try:
        return float(item)
    except OverflowError:  # a whole number that no float can hold
        return np.inf if item > 0 else -np.inf
    except (TypeError, ValueError):
        return None


def _floats_of_objects(given: NDArray[Any], name: str, rows: bool) -> Floats:
    numbers = np.empty(given.shape)
    for index, item in np.ndenumerate(given):
        number = _float_of(item)
        if number is None:
            raise ValueError(f"{_place(name, index, rows)} is {item!r}; {name} must be numbers.")
        numbers[index] = number
    return numbers


def read_numbers(
    value: ArrayLike, name: str, *, negative: bool = False, row_ndims: tuple[int, ...] = (1, 3)
) -> Floats:
    """Read real, finite numbers into a new read-only float64 array of the same shape.

    Parameters
    ----------
    value : array-like
        What the user gave. Booleans, strings and complex numbers are refused: each is far more
        often a mistake than a price.
    name : str
        What messages call it.
    negative : bool, default=False
        Whether numbers below zero are allowed.
    row_ndims : tuple of int, default=(1, 3)
        With so many dimensions the first one counts rows; messages then name the row.

    Returns
    -------
    ndarray of float64
        Read-only; minus zero becomes zero, so that equal costs have equal bytes.
    """
    given = as_array(value, name)
    rows = given.ndim in row_ndims
    if given.dtype.kind == "O":
        given = _floats_of_objects(given, name, rows)
    if given.dtype.kind not in "iuf":
        kind = _KINDS.get(given.dtype.kind, f"of type {given.dtype}")
        raise ValueError(f"{name} must be numbers, but they are {kind}.")
    numbers = np.asarray(np.add(given, 0.0, dtype=np.float64))
    _check_range(numbers, name, rows, negative)
    return freeze(numbers)


def _check_range(numbers: Floats, name: str, rows: bool, negative: bool) -> None:
    size = np.abs(numbers)
    bad = ~(size <= LARGEST_COST) | ((size > 0) & (size < SMALLEST_COST))
    if not negative:
        bad |= numbers < 0
    if not bad.any():
        return
    at = _first(bad)
    number = float(numbers[at])
    where = f"{_place(name, at, rows)} is {number:g}"
    if not np.isfinite(number):
        raise ValueError(f"{where}; every value must be finite. Fill or drop such rows first.")
    if abs(number) > LARGEST_COST:
        raise ValueError(f"{where}; values beyond {LARGEST_COST:g} are refused: use larger units.")
    if abs(number) < SMALLEST_COST:
        raise ValueError(
            f"{where}; values between 0 and {SMALLEST_COST:g} are refused: use smaller units, or 0."
        )
    raise ValueError(
        f"{where}, which is negative. If a negative cost is meant (a benefit), make the costs with "
        "benefits=True."
    )


def read_weights(sample_weight: ArrayLike | None, n_samples: int, *, some: bool = True) -> Floats:
    """Read one weight per row (None: all 1); finite, not negative, and if `some`, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = as_array(sample_weight, "sample_weight")
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must hold one weight for each of the "
            f"{n_samples} rows."
        )
    if weights.dtype.kind == "O":
        weights = _floats_of_objects(weights, "sample_weight", rows=True)
    if weights.dtype.kind not in "biuf":
        kind = _KINDS.get(weights.dtype.kind, f"of type {weights.dtype}")
        raise ValueError(f"sample_weight must be numbers, but they are {kind}.")
    weights = np.asarray(weights, dtype=np.float64)
    bad = ~((weights >= 0) & (weights <= LARGEST_COST))
    if bad.any():
        at = _first(bad)
        raise ValueError(
            f"row {at[0]}: sample_weight is {float(weights[at]):g}; weights must be finite, not "
            f"negative, and at most {LARGEST_COST:g}."
        )
    if some and n_samples:
        check_some_weight(float(weights.max()))
    return weights


def check_some_weight(heaviest: float) -> None:
    """Raise if the largest of all weights is 0."""
    if not heaviest > 0.0:
        raise ValueError("sample_weight is zero for every row; at least one must be positive.")


def mean_paid(paid: Floats, sample_weight: ArrayLike | None) -> float:
    """Return the weighted mean of what rows cost; neither weights nor costs overflow in it."""
    if sample_weight is None:
        return float(np.mean(paid))
    weights = read_weights(sample_weight, len(paid))
    return float(np.average(paid, weights=weights / weights.max()))


def read_mask(mask: ArrayLike, n_rows: int, name: str) -> Mask:
    """Read one truth value for each row: booleans, or 0 and 1."""
    given = np.asarray(mask)
    if given.shape != (n_rows,):
        raise ValueError(
            f"{name} has shape {given.shape}; it must say yes or no for each of the {n_rows} rows."
        )
    if given.dtype.kind == "O" and all(isinstance(v, bool | np.bool_) for v in given):
        given = given.astype(bool)
    if given.dtype.kind not in "biuf" or not np.isin(given, (0, 1)).all():
        raise ValueError(f"{name} must hold True and False (or 1 and 0) only.")
    return given.astype(np.bool_)


def read_labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    """Read a list of distinct labels into a read-only array of shape (n_labels,)."""
    given = np.array(labels)
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name} must be a list of labels, but has shape {given.shape}.")
    seen: set[Any] = set()
    for label in given.tolist():
        if label in seen:
            raise ValueError(f"{name} names {label!r} twice; labels must be distinct.")
        seen.add(label)
    return freeze(given)


def encode(labels: NDArray[Any], values: ArrayLike, name: str) -> Indices:
    """Return the position in ``labels`` of each value, shape (n_samples,).

    Numbers are found by binary search, everything else in a dictionary: NumPy would compare ``1``
    with ``"1"`` by turning both into strings.
    """
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"{name} has shape {given.shape}; it must be one label per row.")
    if labels.dtype.kind in "biuf" and given.dtype.kind in "biuf":
        order = np.argsort(labels)
        at = np.searchsorted(labels, given, sorter=order)
        numbers = order[np.minimum(at, labels.size - 1)].astype(np.intp, copy=False)
        numbers[labels[numbers] != given] = -1
    else:
        position = {label: i for i, label in enumerate(labels.tolist())}
        found = (position.get(value, -1) for value in given.tolist())
        numbers = np.fromiter(found, dtype=np.intp, count=given.size)
    if (numbers < 0).any():
        row = _first(numbers < 0)[0]
        raise ValueError(
            f"row {row}: {name} has the label {given[row : row + 1].tolist()[0]!r}, which is not "
            f"among {labels.tolist()}."
        )
    return numbers


def check_encoded(numbers: ArrayLike, n_labels: int, name: str) -> Indices:
    """Check whole numbers 0 .. n_labels - 1, shape (n_samples,)."""
    given = np.asarray(numbers)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be whole numbers of shape (n_samples,) when encoded=True, but has "
            f"shape {given.shape} and type {given.dtype}."
        )
    if given.size and (given.min() < 0 or given.max() >= n_labels):
        row = _first((given < 0) | (given >= n_labels))[0]
        raise ValueError(f"row {row}: {name} has number {given[row]}, not in 0 .. {n_labels - 1}.")
    return given.astype(np.intp, copy=False)


def find_column(key: Any, names: list[Any], parameter: str) -> int:
    """Return the position of a column given by name or position."""
    if key in names and not isinstance(key, bool):
        return names.index(key)
    is_place = isinstance(key, Integral) and not isinstance(key, bool)
    if is_place and 0 <= int(key) < len(names):
        return int(key)
    known = "numbered from 0" if not names or isinstance(names[0], int) else f"such as {names[0]!r}"
    raise ValueError(
        f"{parameter} names column {key!r}, which X does not have: it has {len(names)} columns, "
        f"{known}."
    )

"""Reading what users hand over, and what their code answers, as plain arrays.

Every function takes one argument as it was given, and returns a fresh or read-only NumPy array, or
raises a ``ValueError`` that names the first offending row. Data frames and series of any library
come in through ``np.asarray``, by position: their own index is not read.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _num_samples

from costboost.typing import Floats, Indices, Int64, Mask

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


# Answers of code that is not ours: learners, rules, losses and initial models. It may answer
# anything: NaN where a column is huge, a regression where classes were asked for, three columns
# where there are two classes. Kernels use such answers as indices and as exponents, so every one of
# them passes through here where it enters, and an error names who answered (`source`), the row and
# the answer.

STEEPEST = 1e100  # exponents beyond are refused: their squares are summed
_SUM = 1e-3  # how far probabilities may be from a sum of 1: float16's rounding
_ONE = 1.0 + 1e-6  # and float32's of a probability of 1


def source_of(outsider: Any, method: str) -> str:
    """Return the name that messages show for a method of an outsider.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> source_of(GaussianNB(), "predict")
    'GaussianNB.predict'
    """
    kind = outsider if isinstance(outsider, type) else type(outsider)
    return f"{kind.__name__}.{method}"


def count_rows(X: Any) -> int:
    """Return the number of rows of anything that scikit-learn takes for a table."""
    return int(_num_samples(X))


def ask(outsider: Any, method: str, X: Any) -> Any:
    """Return ``outsider.method(X)``; raise if there is no such method."""
    if not hasattr(outsider, method):
        raise ValueError(
            f"{type(outsider).__name__} has no {method}, which is needed here. Give an estimator "
            "that has it."
        )
    return getattr(outsider, method)(X)


def read_finite(
    answer: Any,
    shape: tuple[int, ...],
    source: str,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    remedy: str = "",
) -> Floats:
    """Read finite numbers of one shape, within [low, high].

    Examples
    --------
    >>> read_finite([0.5, 2], (2,), "Mine.gradient").tolist()
    [0.5, 2.0]
    >>> read_finite([0.5, float("nan")], (2,), "Mine.gradient")
    Traceback (most recent call last):
    ...
    ValueError: Mine.gradient answered nan in row 1; every answer must be a finite number.
    """
    found = _as_numbers(answer, source)
    if found.shape == (*shape, 1):  # one column is as good as none
        found = found[..., 0]
    if found.shape != shape:
        raise ValueError(
            f"{source} answered with shape {found.shape}; it must be {shape}, one value for each "
            f"of {shape[0]} rows."
        )
    # One pass that allocates nothing: a NaN anywhere makes the least and the largest NaN.
    if found.size and not (low <= found.min() and found.max() <= high and _ends_finite(found)):
        at, value = _first_bad(~(np.isfinite(found) & (found >= low) & (found <= high)), found)
        span = "" if low == -np.inf and high == np.inf else f" {_span(low, high)}"
        raise ValueError(
            f"{source} answered {value:g} in {at}; every answer must be a finite number{span}."
            f"{remedy and ' ' + remedy}"
        )
    return found


def read_classes(answer: Any, n_rows: int, n_classes: int, source: str) -> Int64:
    """Read class numbers 0 .. n_classes - 1, one per row; whole floats are numbers too.

    Examples
    --------
    >>> read_classes([1.0, 0.0], 2, 2, "Mine.predict").tolist()
    [1, 0]
    >>> read_classes([1, -1], 2, 2, "IsolationForest.predict")
    Traceback (most recent call last):
    ...
    ValueError: IsolationForest.predict answered -1 in row 1; it was trained on the class numbers \
0 to 1, and every answer must be one of them. Give a classifier.
    """
    found = _as_numbers(answer, source)
    if found.shape == (n_rows, 1):
        found = found[:, 0]
    if found.shape != (n_rows,):
        raise ValueError(
            f"{source} answered with shape {found.shape}; it must be {(n_rows,)}, one class a row."
        )
    known = (found >= 0) & (found < n_classes) & (found == np.rint(found))
    if not known.all():
        at, value = _first_bad(~known, found)
        raise ValueError(
            f"{source} answered {value:g} in {at}; it was trained on the class numbers 0 to "
            f"{n_classes - 1}, and every answer must be one of them. Give a classifier."
        )
    return found.astype(np.int64)


def read_objective(
    answer: Any, shape: tuple[int, ...], *, all_rows: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Read the a, b, w0 of Cai, Song and Zhang's objective: arrays of one shape, or numbers.

    Of all rows, some must have a weight.

    Examples
    --------
    >>> a, b, w0 = read_objective(([1, -1], 0, 1), (2,))
    >>> a.tolist(), b.tolist(), w0.tolist()
    ([1.0, -1.0], [0.0, 0.0], [1.0, 1.0])
    """
    if not isinstance(answer, tuple | list | np.ndarray) or len(answer) != 3:
        raise ValueError(
            f"objective must be a name, a function, or (a, b, w0) of {shape[0]} rows each; got "
            f"{_shown(answer)}."
        )
    lows = {"a": -STEEPEST, "b": -STEEPEST, "w0": 0.0}
    a, b, w0 = (
        read_finite(
            _spread(part, shape, f"objective's {name}"),
            shape,
            f"objective's {name}",
            low=low,
            high=STEEPEST,
        )
        for part, (name, low) in zip(answer, lows.items(), strict=True)
    )
    if all_rows:
        check_some_w0(float(np.max(w0, initial=0.0)))
    return a, b, w0


def check_some_w0(largest: float) -> None:
    """Raise if the largest w0 of an objective is 0."""
    if not largest > 0.0:
        raise ValueError("objective's w0 is 0 in every row: it must be positive, not all zero.")


def _spread(part: Any, shape: tuple[int, ...], source: str) -> Floats:
    """Return one number for all rows as an array over rows; arrays as they are."""
    found = _as_numbers(part, source)
    return np.broadcast_to(found, shape) if found.ndim == 0 else found


def seen_classes(model: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return which of the classes a fitted classifier has seen, by its `classes_`."""
    name = f"{type(model).__name__}.classes_"
    known = getattr(model, "classes_", None)
    if known is None or not _is_array(known):
        raise ValueError(f"{name} is {_shown(known)}; it must list the classes of its answers.")
    seen = encode(classes, known, name)
    if len(np.unique(seen)) < len(seen):
        raise ValueError(f"{name} names a class twice: {_shown(known)}.")
    return seen


def _is_array(value: Any) -> bool:
    try:
        return np.asarray(value).ndim == 1
    except ValueError:  # a ragged list
        return False


def read_shares(answer: Any, shape: tuple[int, ...], source: str) -> Floats:
    """Read probabilities of one shape, (n, K); each row must sum to 1."""
    found = read_finite(answer, shape, source, low=0.0, high=_ONE)
    total = found.sum(axis=1)
    if not np.all(np.abs(total - 1.0) <= _SUM):
        row = int(np.argmax(np.abs(total - 1.0) > _SUM))
        raise ValueError(
            f"{source} answered {found[row].tolist()} in row {row}; probabilities must sum to 1."
        )
    return found


def read_probabilities(model: Any, X: Any, classes: NDArray[Any]) -> Floats:
    """Return a fitted classifier's probabilities, (n, K); 0 for classes that it has not seen.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit([[0], [0]], ["a", "c"])
    >>> read_probabilities(model, [[0]], np.array(["a", "b", "c"])).tolist()
    [[0.5, 0.0, 0.5]]
    """
    source = source_of(model, "predict_proba")
    answer, n_rows = ask(model, "predict_proba", X), count_rows(X)
    seen = seen_classes(model, classes)
    found = read_shares(answer, (n_rows, len(seen)), source)
    proba = np.zeros((n_rows, len(classes)))
    proba[:, seen] = found
    return proba


def _as_numbers(answer: Any, source: str) -> Floats:
    try:
        found = np.asarray(answer)
        if found.dtype.kind not in "biufO":
            raise TypeError
        return found.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{source} answered {_shown(answer)}; it must answer with numbers."
        ) from None


def _shown(answer: Any) -> str:
    shown = repr(answer)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _ends_finite(found: Floats) -> bool:
    return bool(np.isfinite(found.min()) and np.isfinite(found.max()))


def _first_bad(bad: NDArray[np.bool_], found: Floats) -> tuple[str, float]:
    """Return where the first bad answer stands, in words, and the answer."""
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    place = f"row {at[0]}" if at else "its answer"
    place += f", column {at[1]}" if len(at) > 1 else ""
    return place, float(found[at])


def _span(low: float, high: float) -> str:
    if high == np.inf:
        return f"of at least {low:g}"
    return f"from {low:g} to {high:g}" if low > -np.inf else f"of at most {high:g}"

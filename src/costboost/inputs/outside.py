"""Checks of results from outside code: learners, rules, losses and initial models.

Code that is not ours may answer anything: NaN where a column is huge, a regression where classes
were asked for, three columns where there are two classes. Kernels use such answers as indices and
as exponents, so every one of them passes through here where it enters. A function takes the answer
as it was given, and returns it as a plain array of the shape that was asked for, or raises a
`ValueError` that names who answered, the row and the answer.

`source` is the name that messages show: ``"GaussianNB.predict_proba"``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from costboost.inputs.arrays import encode
from costboost.typing import Floats, Int64

__all__ = [
    "ask",
    "count_rows",
    "read_classes",
    "read_finite",
    "check_some_w0",
    "read_objective",
    "read_probabilities",
    "read_shares",
    "seen_classes",
    "source_of",
]


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
        at, value = _first(~(np.isfinite(found) & (found >= low) & (found <= high)), found)
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
        at, value = _first(~known, found)
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


def _first(bad: NDArray[np.bool_], found: Floats) -> tuple[str, float]:
    """Return where the first bad answer stands, in words, and the answer."""
    at = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
    place = f"row {at[0]}" if at else "its answer"
    place += f", column {at[1]}" if len(at) > 1 else ""
    return place, float(found[at])


def _span(low: float, high: float) -> str:
    if high == np.inf:
        return f"of at least {low:g}"
    return f"from {low:g} to {high:g}" if low > -np.inf else f"of at most {high:g}"

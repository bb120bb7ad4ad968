"""What the estimators are given: tables, labels, weights, threads, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

Int64 = NDArray[np.int64]
Floats = NDArray[np.float64]


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame, whose columns are read one by one."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def check_table(estimator: Any, X: Any, y: Any = None, *, reset: bool) -> Any:
    """Return X, checked as far as scikit-learn can without converting it.

    Columns may be of any type and miss values; `trees.binning` reads them.
    """
    target: dict[str, Any] = {"y": y} if reset else {}
    if is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True, **target)
        if X.shape[0] == 0 or X.shape[1] == 0:
            what = "sample(s)" if X.shape[0] == 0 else "feature(s)"
            raise ValueError(
                f"Found array with 0 {what} (shape={tuple(X.shape)}) while a minimum of 1 is "
                "required."
            )
        return X
    if reset and y is None:
        validate_data(estimator, X, y=None, skip_check_array=True)  # says that y is required
    return validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=("csr", "csc"),
        dtype=None,
        ensure_all_finite=False,
    )


def check_labels(X: Any, y: Any) -> tuple[NDArray[Any], Int64]:
    """Return the sorted classes and each row's class number; at least two classes."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind in "fc":
        assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y holds 1 class only, {plain(classes[0])!r}; a classifier needs rows of at least two "
            "classes. Give more rows, or predict that class."
        )
    return classes, codes.astype(np.int64)


def plain(value: Any) -> Any:
    """Return a label as a Python object, so that messages show it as the user wrote it."""
    return value.item() if isinstance(value, np.generic) else value


def count_threads(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` stands for; None is one."""
    return int(effective_n_jobs(n_jobs))


def fit_seed(estimator: Any) -> int:
    """Return a seed for everything random in one fit; a warm start keeps that of the first."""
    earlier = getattr(estimator, "_progress", None) if estimator.warm_start else None
    if earlier is not None:
        return int(earlier.seed)
    return int(check_random_state(estimator.random_state).randint(np.iinfo(np.int32).max))


def check_choice(name: str, value: Any, allowed: tuple[Any, ...]) -> None:
    """Raise unless a parameter has one of the values allowed."""
    if not any(value is choice or value == choice for choice in allowed):
        listed = ", ".join(repr(choice) for choice in allowed)
        raise ValueError(f"{name}={value!r} is not known; allowed: {listed}.")


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = float("inf"),
    whole: bool = False,
    open_low: bool = False,
) -> None:
    """Raise unless a parameter is a number within [low, high] (or ]low, high])."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    fits = isinstance(value, kinds) and not isinstance(value, bool | np.bool_)
    if not fits or not (low < value if open_low else low <= value) or not value <= high:
        kind = "a whole number" if whole else "a number"
        lower = f"above {low:g}" if open_low else f"at least {low:g}"
        upper = "" if high == float("inf") else f" and at most {high:g}"
        raise ValueError(f"{name}={value!r} must be {kind} {lower}{upper}.")


def count_features(max_features: Any, n_features: int) -> int | None:
    """Return how many columns a node may look at; None is all of them."""
    if max_features is None:
        return None
    if max_features == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(max_features, float | np.floating):
        check_number("max_features", max_features, low=0.0, high=1.0, open_low=True)
        return max(1, int(max_features * n_features))
    check_number("max_features", max_features, low=1, whole=True)
    return min(int(max_features), n_features)

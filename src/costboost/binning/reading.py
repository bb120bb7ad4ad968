"""Reading what users hand over to be binned: tables, their names, and which columns are categories.

Messages about shapes and names are scikit-learn's own, word for word: its checks look for them.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from costboost.binning.columns import DenseTable, FrameTable, ObjectTable, SparseTable, Table
from costboost.inputs.arrays import without_mask

__all__ = ["categorical_mask", "check_features", "check_not_empty", "read_table"]


def read_table(X: Any) -> Table:
    """Make a `Table` of anything that looks like one.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or Table of shape (n_samples, n_features)
        A table is returned as it is.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = read_table([["red", 1.5], ["blue", None]])
    >>> [table.is_categorical(j) for j in range(table.n_columns)]
    [True, False]
    >>> table.numbers(1, 0, 2).tolist()
    [1.5, nan]
    """
    if isinstance(X, Table):
        return X
    if isinstance(X, np.ndarray):  # asking narwhals takes longer than a forest for a few rows
        return _read_array(X)
    if sparse.issparse(X):
        _check_two_dimensions(X)
        _check_type(X.dtype)
        return SparseTable(X)
    frame: Any = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError("X is a lazy frame: call its collect() first.")
    if isinstance(frame, nw.DataFrame):
        return FrameTable(frame)
    return _read_array(X)


def _read_array(X: Any) -> Table:
    X = without_mask(X)
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        array = np.asarray(X, dtype=object)  # numpy turned a list's numbers into strings
    _check_two_dimensions(array)
    if array.dtype.kind in "OUT":
        return ObjectTable(array)
    _check_type(array.dtype)
    return DenseTable(array)


def _check_two_dimensions(array: Any) -> None:
    if array.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {array.ndim}D array instead (shape={array.shape}). Reshape "
            "your data either using array.reshape(-1, 1) if your data has a single feature or "
            "array.reshape(1, -1) if it contains a single sample."
        )


def _check_type(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers.")
    if dtype.kind not in "fiub":
        raise ValueError(
            f"X has dtype {dtype}: floats, integers, booleans and strings can be binned; "
            "turn dates into numbers and decode bytes."
        )


def categorical_mask(given: Any, table: Table) -> NDArray[np.bool_]:
    """Read `categorical_features` of `fit_binner` as one boolean per column."""
    d = table.n_columns
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(
                f'categorical_features={given!r} is not known: give "from_dtype", None, or a list '
                "of names, indices or booleans."
            )
        return np.array([table.is_categorical(j) for j in range(d)], dtype=np.bool_)
    wanted = np.asarray([] if given is None else given)
    if wanted.ndim == 1 and wanted.dtype.kind == "b":
        if len(wanted) not in (0, d):
            raise ValueError(
                f"categorical_features has {len(wanted)} booleans, but X has {d} columns."
            )
        return wanted if len(wanted) else np.zeros(d, dtype=np.bool_)
    mask = np.zeros(d, dtype=np.bool_)
    mask[_column_indices(wanted, table)] = True
    return mask


def _column_indices(wanted: NDArray[Any], table: Table) -> list[int]:
    if wanted.size == 0:
        return []
    if wanted.ndim != 1 or wanted.dtype.kind not in "iuUOT":
        raise ValueError(
            "categorical_features must be one list of booleans, indices or names, got an array "
            f"of shape {wanted.shape} and dtype {wanted.dtype}."
        )
    return [_column_index(item, table) for item in wanted.tolist()]


def _column_index(item: Any, table: Table) -> int:
    if isinstance(item, str):
        if table.names is None:
            raise ValueError(
                f"categorical_features names {item!r}, but the columns of X have no names: "
                "give indices, or a DataFrame."
            )
        if item not in table.names:
            raise ValueError(
                f"categorical_features names {item!r}, which is no column of X: "
                f"its columns are {list(table.names)}."
            )
        return table.names.index(item)
    if not isinstance(item, int) or not 0 <= item < table.n_columns:
        raise ValueError(
            f"categorical_features holds {item!r}: indices must lie between 0 and "
            f"{table.n_columns - 1}."
        )
    return item


def check_not_empty(table: Table) -> None:
    """Refuse a table without rows or without columns."""
    shape = (table.n_rows, table.n_columns)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )


def check_features(table: Table, n_features: int, names: tuple[str, ...] | None) -> None:
    """Check that a table has the columns of the one in training."""
    if table.names is not None and names is not None:
        _check_names(table.names, names)
    if table.n_columns != n_features:
        raise ValueError(
            f"X has {table.n_columns} features, but Binner is expecting "
            f"{n_features} features as input."
        )


def _check_names(given: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if given == expected:
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen = sorted(set(given) - set(expected))
    missing = sorted(set(expected) - set(given))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _name_list(unseen)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + _name_list(missing)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ValueError(message)


def _name_list(names: list[str]) -> str:
    more = "- ...\n" if len(names) > 5 else ""
    return "".join(f"- {name}\n" for name in names[:5]) + more

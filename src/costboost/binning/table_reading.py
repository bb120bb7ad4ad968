"""Tables of any library as binning reads them, column by column; and row weights as integers.

Whatever the caller hands over (an array, a sparse matrix, a DataFrame) is read as a `FeatureTable`,
which answers two questions about some rows of column j:

- `numbers(j, start, stop)`: float32 or float64, NaN where missing;
- `keys(j, start, stop)`: categories as a dictionary; see `codes`.

Columns that lie together (`plain`) can also be read as one `block`: for a row or two, asking for
them one by one takes far longer than anything done with them. Nothing here copies a whole table,
and no column is converted to float64 unless its own type needs it.

Messages about shapes and names are scikit-learn's own, word for word: its checks look for them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from costboost.binning import _binning_kernels as kernels
from costboost.binning.codes import Key, holds_strings, object_keys, object_numbers, pandas_keys
from costboost.inputs.arrays import read_weights, without_mask
from costboost.runtime.machine import own_pages, worthwhile
from costboost.typing import AnyFloats, Floats, Int64

__all__ = [
    "DenseTable",
    "FeatureTable",
    "FrameTable",
    "Grid",
    "ObjectTable",
    "PandasTable",
    "RowWeights",
    "SparseTable",
    "check_features",
    "check_not_empty",
    "grid_of",
    "read_table",
    "weigh_rows",
]


# Row weights on an integer grid: sums are exact whatever their order.

_GRID_BITS = 30


class RowWeights(NamedTuple):
    """Row weights as integers, in units of the grid.

    Attributes
    ----------
    rows : int64 array or None
        The rows of positive weight; None when that is all of them.
    kept : int64 array or None
        Their weights; None when they are all equal, and so as good as 1.
    every : int64 array of shape (n,) or None
        The weights of all rows, zeros included; None when all are 1.
    total : int
        The sum.
    """

    rows: Int64 | None
    kept: Int64 | None
    every: Int64 | None
    total: int


def weigh_rows(sample_weight: Any, n_rows: int) -> RowWeights:
    """Round weights to integers, scaled by the power of two that makes the largest <= 2 ** 30.

    Integer weights below 2 ** 30 are kept exactly (up to a common factor). A positive weight
    counts at least one grid unit; a zero weight means that the row is absent.

    Examples
    --------
    >>> weigh_rows([2, 0, 2], 3).rows.tolist()
    [0, 2]
    """
    if sample_weight is None:
        return RowWeights(None, None, None, n_rows)
    weights = read_weights(sample_weight, n_rows)
    return grid_of(weights).weigh(weights)


class Grid(NamedTuple):
    """The grid that the weights of a table make.

    Attributes
    ----------
    largest : float
        The largest weight of all rows; 0 where none is positive.
    smallest : float
        The smallest that is positive; infinity where none is.
    """

    largest: float
    smallest: float

    def weigh(self, weight: Floats) -> RowWeights:
        """Round weights of some or all rows of the table to the grid."""
        units = self._units(weight)
        rows = None if units.all() else np.flatnonzero(units)
        if self._is_even:
            return _even(units, rows)
        kept = units if rows is None else units[rows]
        return RowWeights(rows, kept, units, int(units.sum()))

    @property
    def _is_even(self) -> bool:
        """Whether all rows that count, count the same."""
        least, most = self._units(np.array([self.smallest, self.largest])).tolist()
        return bool(least == most)

    def _units(self, weight: Floats) -> Int64:
        shift = _GRID_BITS - int(np.frexp(self.largest)[1])
        units = np.rint(np.ldexp(weight, shift)).astype(np.int64)
        units[(units == 0) & (weight > 0)] = 1
        return units


def grid_of(weight: Floats) -> Grid:
    """Return the grid that some weights make."""
    smallest = np.min(weight, where=weight > 0, initial=np.inf)
    return Grid(float(weight.max(initial=0.0)), float(smallest))


def _even(units: Int64, rows: Int64 | None) -> RowWeights:
    """Weigh rows that all count the same, or nothing."""
    if rows is None:
        return RowWeights(None, None, None, len(units))
    return RowWeights(rows, None, (units > 0).astype(np.int64), len(rows))


class FeatureTable(ABC):
    """A table of `n_rows` rows and `n_columns` columns; `names` are its columns' or None."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None

    @abstractmethod
    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        raise TypeError(f"{self.describe(j)} holds numbers.")  # guarded by `has_keys`

    @property
    def plain(self) -> NDArray[np.bool_]:
        """Which columns `block` can read; none of them by default."""
        return np.zeros(self.n_columns, dtype=np.bool_)

    def block(self, columns: Int64, start: int, stop: int) -> tuple[AnyFloats, Int64]:
        """Rows start to stop of plain columns: numbers, (n, m), and where each column stands."""
        raise TypeError("No column of this table is plain.")  # guarded by `plain`

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return False

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds categories, by its type alone."""
        return False

    def itemsize(self) -> int:
        """Bytes of a number in `samples`."""
        return 8

    def copy_columns(self, columns: Sequence[int]) -> Iterator[AnyFloats]:
        """Copy whole numeric columns, each contiguous."""
        for j in columns:
            yield np.array(self.numbers(j, 0, self.n_rows))

    def samples(
        self, columns: Sequence[int], weights: RowWeights
    ) -> Iterator[tuple[AnyFloats, Int64 | None]]:
        """Per column, the numbers of the rows of positive weight (a copy), and their weights."""
        for values in self.copy_columns(columns):
            yield values if weights.rows is None else values[weights.rows], weights.kept

    def describe(self, j: int) -> str:
        """How error messages call column j."""
        return f"Column {j}" if self.names is None else f"Column {self.names[j]!r}"

    def refuse(
        self, j: int, held: object, remedy: str, kind: type[Exception] = ValueError
    ) -> Exception:
        """Make an error that says what column j holds and what to do."""
        return kind(f"{self.describe(j)} holds {held}, which cannot be binned: {remedy}.")


# Arrays, dense and sparse


class DenseTable(FeatureTable):
    """A numeric two-dimensional numpy array."""

    def __init__(self, array: NDArray[Any]) -> None:
        # Kernels load numbers where they lie, which must be a place for numbers: a field of
        # packed records need not be one.
        self.array = array if array.flags.aligned else array.copy()
        self.n_rows, self.n_columns = array.shape
        self.dtype = _float_type(array.dtype)

    def itemsize(self) -> int:
        """Bytes of a number in `samples`."""
        return self.dtype.itemsize

    @property
    def plain(self) -> NDArray[np.bool_]:
        """All columns lie together."""
        return np.ones(self.n_columns, dtype=np.bool_)

    def block(self, columns: Int64, start: int, stop: int) -> tuple[AnyFloats, Int64]:
        """Rows start to stop; all columns, so that an array of floats is not copied."""
        return self.array[start:stop].astype(self.dtype, copy=False), columns

    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        return self.array[start:stop, j].astype(self.dtype, copy=False)

    def copy_columns(self, columns: Sequence[int]) -> Iterator[AnyFloats]:
        """Copy whole columns, read together: neighbours share cache lines."""
        buffer = own_pages((len(columns), self.n_rows), self.dtype)
        if self.array.dtype == self.dtype:
            kernels.copy_columns(self.array, np.array(columns, dtype=np.int64), buffer)
        else:
            for k, j in enumerate(columns):
                buffer[k] = self.array[:, j]
        yield from buffer


class ObjectTable(FeatureTable):
    """A two-dimensional numpy array of strings or Python objects."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.n_rows, self.n_columns = array.shape

    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing."""
        return object_numbers(self.array[start:stop, j].tolist(), partial(self.refuse, j))

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        return object_keys(self.array[start:stop, j].tolist(), partial(self.refuse, j))

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return True

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds strings."""
        return holds_strings(self.array[:, j].tolist(), partial(self.refuse, j))


class SparseTable(FeatureTable):
    """A scipy sparse matrix or array, held by columns; what is not stored is 0.0."""

    def __init__(self, matrix: Any) -> None:
        self.csc = matrix.tocsc()
        if not self.csc.has_canonical_format:
            self.csc = self.csc.copy()
            self.csc.sum_duplicates()
        self.n_rows, self.n_columns = self.csc.shape
        self.dtype = _float_type(self.csc.dtype)

    def stored(self, j: int) -> tuple[Int64, AnyFloats]:
        """Return (rows, values) that column j stores."""
        part = slice(int(self.csc.indptr[j]), int(self.csc.indptr[j + 1]))
        return self.csc.indices[part], self.csc.data[part].astype(self.dtype, copy=False)

    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats."""
        rows, values = self.stored(j)
        inside = (rows >= start) & (rows < stop)
        column = np.zeros(stop - start, dtype=self.dtype)
        column[rows[inside] - start] = values[inside]
        return column

    def samples(
        self, columns: Sequence[int], weights: RowWeights
    ) -> Iterator[tuple[AnyFloats, Int64 | None]]:
        """Per column, the stored values and one zero for all that is not stored; weights."""
        for j in columns:
            rows, values = self.stored(j)
            units = np.ones(len(rows), dtype=np.int64)
            if weights.every is not None:
                units = weights.every[rows]
            rest = weights.total - int(units.sum())
            values, units = np.append(values, self.dtype.type(0)), np.append(units, rest)
            yield values[units > 0], units[units > 0]


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """float32 where it holds every value of `dtype`, else float64."""
    return np.dtype(np.float32) if np.can_cast(dtype, np.float32, "safe") else np.dtype(np.float64)


# DataFrames: of any library through narwhals; those of pandas directly, which is faster.

_PLAIN = frozenset(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")))


class FrameTable(FeatureTable):
    """A DataFrame, through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        self.names = _names(list(frame.columns))
        self._read: dict[int, tuple[Any, Any]] = {}

    def column(self, j: int) -> tuple[Any, Any]:
        """Return column j as a series, and its type; asked for once."""
        if j not in self._read:
            series = self.frame[:, j]
            self._read[j] = series, series.dtype
        return self._read[j]

    def _rows(self, j: int, start: int, stop: int) -> tuple[Any, Any]:
        series, dtype = self.column(j)
        return series if stop - start == self.n_rows else series[start:stop], dtype

    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        part, dtype = self._rows(j, start, stop)
        if dtype in (nw.Object, nw.Unknown):
            return object_numbers(part.to_list(), partial(self.refuse, j))
        if not _is_number(dtype):
            raise self._no_numbers(j)
        if dtype in (nw.Float32, nw.Float64):
            values = part.to_numpy()
            if values.dtype in (np.float32, np.float64):
                return np.asarray(values)
        wide = str(dtype) in ("Int128", "UInt128")  # which numpy does not have
        if dtype.is_integer() and not wide:  # Arrow does not cast those beyond 2 ** 53: rounded
            values = np.array(part.fill_null(0).to_numpy(), dtype=np.float64)
            values[part.is_null().to_numpy()] = np.nan
            return values
        values = part.cast(nw.Float64).to_numpy()
        if values.dtype == np.object_:  # pandas' own nulls, in older versions
            return object_numbers(values.tolist(), partial(self.refuse, j))
        return np.asarray(values, dtype=np.float64)

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        part, dtype = self._rows(j, start, stop)
        native = part.to_native()
        # pandas' own categories; columns of Arrow dictionaries are categorical too, without .cat
        if dtype == nw.Categorical and hasattr(native, "cat") and hasattr(native.cat, "codes"):
            return pandas_keys(native)
        if not _is_category(dtype) and dtype not in (nw.Object, nw.Unknown):
            raise self._no_numbers(j)
        return object_keys(part.to_list(), partial(self.refuse, j))

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return not _is_number(self.column(j)[1])

    def is_categorical(self, j: int) -> bool:
        """Whether column j has a categorical type, or holds strings."""
        series, dtype = self.column(j)
        if dtype in (nw.Object, nw.Unknown):
            return holds_strings(series.to_list(), partial(self.refuse, j))
        if not _is_number(dtype) and not _is_category(dtype):
            raise self._no_numbers(j)
        return _is_category(dtype)

    def _no_numbers(self, j: int) -> Exception:
        dtype = self.column(j)[1]
        remedy = "convert it to numbers"
        if _is_category(dtype):
            remedy += " or list it in categorical_features when fitting"
        return self.refuse(j, f"{dtype} where numbers are expected", remedy)


class PandasTable(FeatureTable):
    """A pandas DataFrame; its columns of numpy's own numbers are read without narwhals."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.n_rows, self.n_columns = native.shape
        columns = native.columns.tolist()
        self.names = _names(columns)
        self._holds_numbers = [_holds_numbers(dtype) for dtype in native.dtypes.to_numpy()]
        self._views: dict[int, NDArray[Any]] = {}
        if len(set(columns)) < self.n_columns:
            nw.from_native(native)  # refuses names that stand twice

    @cached_property
    def others(self) -> FrameTable:
        """The same table, for columns of other types."""
        return FrameTable(nw.from_native(self.native, eager_only=True))

    @cached_property
    def plain(self) -> NDArray[np.bool_]:
        """The columns of numbers; none in a large frame, which `block` would copy as a whole."""
        if worthwhile(self.n_rows * self.n_columns):
            return super().plain
        return np.array(self._holds_numbers, dtype=np.bool_)

    @cached_property
    def _array(self) -> NDArray[Any]:
        return np.asarray(self.native.to_numpy())

    def block(self, columns: Int64, start: int, stop: int) -> tuple[AnyFloats, Int64]:
        """Rows start to stop of columns of numbers; of all of them where there are no others."""
        part = self._array[start:stop]
        if part.dtype in (np.float32, np.float64):
            return part, columns
        # Other columns decide what the array holds: integers, objects, even complex numbers. Those
        # asked for are exact as floats, but for integers beyond 2 ** 53, rounded as everywhere.
        return np.real(part[:, columns]).astype(np.float64), np.arange(len(columns))

    def numbers(self, j: int, start: int, stop: int) -> AnyFloats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        if not self._holds_numbers[j]:
            return self.others.numbers(j, start, stop)
        if j not in self._views:
            self._views[j] = self.native.iloc[:, j].to_numpy()
        part = self._views[j][start:stop]
        return part if part.dtype.kind == "f" else part.astype(np.float64)

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        return self.others.keys(j, start, stop)

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return not self._holds_numbers[j] and self.others.has_keys(j)

    def is_categorical(self, j: int) -> bool:
        """Whether column j has a categorical type, or holds strings."""
        return not self._holds_numbers[j] and self.others.is_categorical(j)


def _names(columns: list[Any]) -> tuple[str, ...] | None:
    named = columns and all(isinstance(name, str) for name in columns)
    return tuple(columns) if named else None


def _holds_numbers(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype in _PLAIN


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def _is_category(dtype: Any) -> bool:
    return dtype in (nw.Categorical, nw.Enum, nw.String)


def read_table(X: Any) -> FeatureTable:
    """Make a `FeatureTable` of anything that looks like one.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or FeatureTable of shape (n_samples, n_features)
        A table is returned as it is.

    Returns
    -------
    FeatureTable

    Examples
    --------
    >>> table = read_table([["red", 1.5], ["blue", None]])
    >>> [table.is_categorical(j) for j in range(table.n_columns)]
    [True, False]
    >>> table.numbers(1, 0, 2).tolist()
    [1.5, nan]
    """
    if isinstance(X, FeatureTable):
        return X
    if isinstance(X, np.ndarray):  # asking narwhals takes longer than a forest for a few rows
        return _read_array(X)
    if nw.dependencies.is_pandas_dataframe(X):
        return PandasTable(X)
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


def _read_array(X: Any) -> FeatureTable:
    if isinstance(X, np.ma.MaskedArray):
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


# What a table must have: rows, columns, and the names of those it was binned by.


def check_not_empty(table: FeatureTable) -> None:
    """Refuse a table without rows or without columns."""
    shape = (table.n_rows, table.n_columns)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            raise ValueError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )


def check_features(table: FeatureTable, n_features: int, names: tuple[str, ...] | None) -> None:
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

"""Tables, read column by column.

Whatever the caller hands over (a numpy array, a DataFrame of any library that narwhals knows, a
scipy sparse matrix) is a `Table`, which answers two questions about some rows of column j:

- `numbers(j, start, stop)`: float32 or float64, NaN where missing;
- `keys(j, start, stop)`: categories as a dictionary; see `categories`.

Nothing here copies a whole table, and no column is converted to float64 unless its own type
needs it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.binning import _binning_kernels as kernels
from costboost.binning.categories import (
    Key,
    holds_strings,
    object_keys,
    object_numbers,
    pandas_keys,
)
from costboost.binning.weighing import RowWeights

__all__ = ["DenseTable", "FrameTable", "ObjectTable", "SparseTable", "Table"]

Floats: TypeAlias = NDArray[Any]  # float32 or float64
Integers: TypeAlias = NDArray[np.int64]


class Table(ABC):
    """A table of `n_rows` rows and `n_columns` columns; `names` are its columns' or None."""

    n_rows: int
    n_columns: int
    names: tuple[str, ...] | None = None

    @abstractmethod
    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""

    def keys(self, j: int, start: int, stop: int) -> tuple[Integers, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        raise TypeError(f"{self.describe(j)} holds numbers.")  # guarded by `has_keys`

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return False

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds categories, by its type alone."""
        return False

    def itemsize(self) -> int:
        """Bytes of a number in `samples`."""
        return 8

    def copy_columns(self, columns: Sequence[int]) -> Iterator[Floats]:
        """Copy whole numeric columns, each contiguous."""
        for j in columns:
            yield np.array(self.numbers(j, 0, self.n_rows))

    def samples(
        self, columns: Sequence[int], weights: RowWeights
    ) -> Iterator[tuple[Floats, Integers | None]]:
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


class DenseTable(Table):
    """A numeric two-dimensional numpy array."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.n_rows, self.n_columns = array.shape
        self.dtype = _float_type(array.dtype)

    def itemsize(self) -> int:
        """Bytes of a number in `samples`."""
        return self.dtype.itemsize

    def block(self, start: int, stop: int) -> Floats:
        """Rows start to stop of all columns as floats; a view where the array holds floats."""
        return self.array[start:stop].astype(self.dtype, copy=False)

    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        return self.array[start:stop, j].astype(self.dtype, copy=False)

    def copy_columns(self, columns: Sequence[int]) -> Iterator[Floats]:
        """Copy whole columns, read together: neighbours share cache lines."""
        buffer = np.empty((len(columns), self.n_rows), dtype=self.dtype)
        if self.array.dtype == self.dtype and self.array.flags.aligned:
            kernels.copy_columns(self.array, np.array(columns, dtype=np.int64), buffer)
        else:
            for k, j in enumerate(columns):
                buffer[k] = self.array[:, j]
        yield from buffer


class ObjectTable(Table):
    """A two-dimensional numpy array of strings or Python objects."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.n_rows, self.n_columns = array.shape

    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats, NaN where missing."""
        return object_numbers(self.array[start:stop, j].tolist(), partial(self.refuse, j))

    def keys(self, j: int, start: int, stop: int) -> tuple[Integers, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        return object_keys(self.array[start:stop, j].tolist(), partial(self.refuse, j))

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return True

    def is_categorical(self, j: int) -> bool:
        """Whether column j holds strings."""
        return holds_strings(self.array[:, j].tolist(), partial(self.refuse, j))


class FrameTable(Table):
    """A DataFrame, through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.n_rows, self.n_columns = frame.shape
        columns = list(frame.columns)
        if columns and all(isinstance(name, str) for name in columns):
            self.names = tuple(columns)
        self.series = [frame[:, j] for j in range(self.n_columns)]
        self.dtypes = [series.dtype for series in self.series]

    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        part, dtype = self.series[j][start:stop], self.dtypes[j]
        if dtype in (nw.Object, nw.Unknown):
            return object_numbers(part.to_list(), partial(self.refuse, j))
        if not _is_number(dtype):
            raise self._no_numbers(j)
        if dtype in (nw.Float32, nw.Float64):
            values = part.to_numpy()
            if values.dtype in (np.float32, np.float64):
                return values
        values = part.cast(nw.Float64).to_numpy()
        if values.dtype == np.object_:  # pandas' own nulls, in older versions
            return object_numbers(values.tolist(), partial(self.refuse, j))
        return values.astype(np.float64, copy=False)

    def keys(self, j: int, start: int, stop: int) -> tuple[Integers, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        part, dtype = self.series[j][start:stop], self.dtypes[j]
        native = part.to_native()
        # pandas' own categories; columns of Arrow dictionaries are categorical too, without .cat
        if dtype == nw.Categorical and hasattr(native, "cat") and hasattr(native.cat, "codes"):
            return pandas_keys(native)
        if not _is_category(dtype) and dtype not in (nw.Object, nw.Unknown):
            raise self._no_numbers(j)
        return object_keys(part.to_list(), partial(self.refuse, j))

    def has_keys(self, j: int) -> bool:
        """Whether column j is stored as something else than numbers."""
        return not _is_number(self.dtypes[j])

    def is_categorical(self, j: int) -> bool:
        """Whether column j has a categorical type, or holds strings."""
        dtype = self.dtypes[j]
        if dtype in (nw.Object, nw.Unknown):
            return holds_strings(self.series[j].to_list(), partial(self.refuse, j))
        if not _is_number(dtype) and not _is_category(dtype):
            raise self._no_numbers(j)
        return _is_category(dtype)

    def _no_numbers(self, j: int) -> Exception:
        remedy = "convert it to numbers"
        if _is_category(self.dtypes[j]):
            remedy += " or list it in categorical_features when fitting"
        return self.refuse(j, f"{self.dtypes[j]} where numbers are expected", remedy)


class SparseTable(Table):
    """A scipy sparse matrix or array, held by columns; what is not stored is 0.0."""

    def __init__(self, matrix: Any) -> None:
        self.csc = matrix.tocsc()
        if not self.csc.has_canonical_format:
            self.csc = self.csc.copy()
            self.csc.sum_duplicates()
        self.n_rows, self.n_columns = self.csc.shape
        self.dtype = _float_type(self.csc.dtype)

    def stored(self, j: int) -> tuple[Integers, Floats]:
        """Give the rows and values that column j stores."""
        part = slice(int(self.csc.indptr[j]), int(self.csc.indptr[j + 1]))
        return self.csc.indices[part], self.csc.data[part].astype(self.dtype, copy=False)

    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats."""
        rows, values = self.stored(j)
        inside = (rows >= start) & (rows < stop)
        column = np.zeros(stop - start, dtype=self.dtype)
        column[rows[inside] - start] = values[inside]
        return column

    def samples(
        self, columns: Sequence[int], weights: RowWeights
    ) -> Iterator[tuple[Floats, Integers | None]]:
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


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric() or dtype == nw.Boolean)


def _is_category(dtype: Any) -> bool:
    return dtype in (nw.Categorical, nw.Enum, nw.String)

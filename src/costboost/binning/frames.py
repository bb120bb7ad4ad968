"""DataFrames as tables: of any library through narwhals, those of pandas by a shorter way.

narwhals takes some 100 microseconds for each column of a pandas frame, which is more than a forest
takes for a row. Most columns need none of it: those of numpy's own numbers are read as they lie,
in small frames all at once. What is left (categories, strings, nullable types) goes through
narwhals, one by one, as in every other library.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, TypeAlias

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.binning.categories import (
    Key,
    holds_strings,
    object_keys,
    object_numbers,
    pandas_keys,
)
from costboost.binning.columns import Table
from costboost.runtime.threads import worthwhile

__all__ = ["FrameTable", "PandasTable"]

Floats: TypeAlias = NDArray[Any]  # float32 or float64
Integers: TypeAlias = NDArray[np.int64]

_PLAIN = frozenset(map(np.dtype, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?")))


class FrameTable(Table):
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

    def numbers(self, j: int, start: int, stop: int) -> Floats:
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
        values = part.cast(nw.Float64).to_numpy()
        if values.dtype == np.object_:  # pandas' own nulls, in older versions
            return object_numbers(values.tolist(), partial(self.refuse, j))
        return np.asarray(values, dtype=np.float64)

    def keys(self, j: int, start: int, stop: int) -> tuple[Integers, list[Key]]:
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


class PandasTable(Table):
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

    def block(self, columns: Integers, start: int, stop: int) -> tuple[Floats, Integers]:
        """Rows start to stop of columns of numbers; of all of them where there are no others."""
        part = self._array[start:stop]
        if part.dtype in (np.float32, np.float64):
            return part, columns
        # Other columns decide what the array holds: integers, objects, even complex numbers. Those
        # asked for are exact as floats, but for integers beyond 2 ** 53, rounded as everywhere.
        return np.real(part[:, columns]).astype(np.float64), np.arange(len(columns))

    def numbers(self, j: int, start: int, stop: int) -> Floats:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        if not self._holds_numbers[j]:
            return self.others.numbers(j, start, stop)
        if j not in self._views:
            self._views[j] = self.native.iloc[:, j].to_numpy()
        part = self._views[j][start:stop]
        return part if part.dtype.kind == "f" else part.astype(np.float64)

    def keys(self, j: int, start: int, stop: int) -> tuple[Integers, list[Key]]:
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

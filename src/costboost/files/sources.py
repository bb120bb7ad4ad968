"""The parts of a table in files: their rows, read on demand, and their codes, kept in files.

A `RowGroups` is the small, picklable description of a part; its `read` opens nothing yet. Columns
are read from the file one by one, on every request, and are not kept: binning requests each once,
and encoding all of them together.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from costboost.binning.codes import Key, object_keys
from costboost.binning.table_reading import FeatureTable
from costboost.costs import Costs
from costboost.files.finding import Kind, Stretch, open_file, pa
from costboost.inputs.checks import warn_caller
from costboost.runtime.machine import need
from costboost.typing import Array, Floats, Int64

__all__ = [
    "CodesFolder",
    "FileColumns",
    "FileRows",
    "ParquetColumns",
    "RowGroups",
    "as_pandas",
    "make_folder",
    "prices_of",
]


# Codes in files that are mapped into memory: one byte per cell, read by the system as needed.
#
#     codes-<digest of what they are codes of>-<digest of the codes>.npy
#     rows-<likewise>.npy                 the rows that the codes are of, in their order
#
# Files are written under another name and renamed when they are whole, so a file of that name is
# whole, or was damaged since: its own digest shows that. Space is reserved before anything is
# mapped, because a disk that fills up under a mapped file ends the process without a word.
#
# Digests reveal damage, not malice: anybody who may write to the folder can change codes and name
# them anew, and so decide what is learnt. The folder is made for its owner alone.

_CHUNK = 1 << 24


@dataclass(frozen=True)
class CodesFolder:
    """A folder of codes.

    Attributes
    ----------
    path : str
    temporary : bool
        Whether it is removed with all it holds when it is closed.
    """

    path: str
    temporary: bool

    def array(
        self,
        name: str,
        about: Any,
        shape: tuple[int, ...],
        kind: DTypeLike,
        write: Callable[[Any], Any],
    ) -> NDArray[Any]:
        """Return an array that is there already, or let it be written.

        Parameters
        ----------
        name : str
            What the file's name begins with.
        about : object
            What the array depends on; its `repr` is complete.
        shape : tuple of int
        kind : dtype
        write : callable
            Fills an array of that shape and kind.
        """
        start = f"{name}-{_digest(_described(about).encode())}-"
        for path in Path(self.path).glob(f"{start}*.npy"):
            found = _opened(path, shape, kind)
            if found is not None:
                return found
            warn_caller(f"{path} is damaged: it is written again.")
            path.unlink()
        return self._written(start, shape, kind, write)

    def _written(
        self, start: str, shape: tuple[int, ...], kind: DTypeLike, write: Callable[[Any], Any]
    ) -> NDArray[Any]:
        handle, name = tempfile.mkstemp(prefix=start, suffix=".part", dir=self.path)
        os.close(handle)
        unfinished = Path(name)
        try:
            buffer = _new_file(unfinished, shape, kind)
            write(buffer)
            buffer.flush()
            whole = unfinished.with_name(f"{start}{_digest(buffer)}.npy")
            del buffer
            os.replace(unfinished, whole)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _full(error, self.path, shape, kind) from error
            raise
        finally:
            unfinished.unlink(missing_ok=True)  # not there any more, if all went well
        return _mapped(whole)

    def check_space(self, n_bytes: int) -> None:
        """Refuse a folder that cannot hold so many bytes, before any work."""
        free = shutil.disk_usage(self.path).free
        if free < n_bytes and not self._has_codes():
            raise ValueError(
                f"The codes of this table need {_size(n_bytes)}, but {self.path} has only "
                f"{_size(free)} left: give a folder on a larger disk, cache=..., or fewer features."
            )

    def _has_codes(self) -> bool:
        return any(Path(self.path).glob("codes-*.npy"))

    def close(self) -> None:
        """Remove a temporary folder."""
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)


def make_folder(cache: str | os.PathLike[str] | None) -> CodesFolder:
    """Return the folder that codes go to: the one given, else a new one that will be removed."""
    if cache is None:
        return CodesFolder(tempfile.mkdtemp(prefix="costboost-"), temporary=True)
    try:
        os.makedirs(cache, mode=0o700, exist_ok=True)  # write access decides the model
    except OSError as error:
        raise ValueError(f"cache={os.fspath(cache)!r} is no folder: {error.strerror}.") from error
    return CodesFolder(os.fspath(cache), temporary=False)


def _described(about: Any) -> str:
    """Write out what arrays hold: their `repr` leaves numbers out."""
    if isinstance(about, np.ndarray):
        return f"{about.dtype}{about.shape}{_digest(np.ascontiguousarray(about))}"
    if isinstance(about, dict):
        return repr([(name, _described(value)) for name, value in sorted(about.items())])
    if isinstance(about, tuple | list):
        return f"({', '.join(map(_described, about))})"
    return repr(about)


def _digest(data: Any) -> str:
    found = hashlib.blake2b(digest_size=10)
    view = memoryview(data).cast("B") if len(data) else b""
    for start in range(0, len(view), _CHUNK):
        found.update(view[start : start + _CHUNK])
    return found.hexdigest()


def _new_file(path: Path, shape: tuple[int, ...], kind: DTypeLike) -> np.memmap[Any, Any]:
    buffer = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=shape)
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            _fill(file, size)
    return buffer


def _fill(file: Any, size: int) -> None:
    """Write zeros behind the header, so that the space is really there."""
    file.seek(0)
    header = file.read(min(size, 256))
    file.seek(0)
    file.write(header)
    for start in range(len(header), size, _CHUNK):
        file.write(bytes(min(_CHUNK, size - start)))


def _opened(path: Path, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any] | None:
    """Map an array into memory; None where it is damaged."""
    try:
        found = _mapped(path)
    except (ValueError, OSError, EOFError):
        return None
    whole = found.shape == shape and found.dtype == kind and found.flags.c_contiguous
    return found if whole and path.stem.endswith(_digest(found)) else None


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _full(error: OSError, path: str, shape: tuple[int, ...], kind: DTypeLike) -> OSError:
    return OSError(
        error.errno,
        f"The disk of {path} is full: the codes of these {shape[0]} rows take "
        f"{_size(int(np.prod(shape)) * np.dtype(kind).itemsize)}. Give a folder on a larger disk, "
        "cache=..., or fewer features",
    )


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"


@dataclass(frozen=True)
class ParquetColumns:
    """The columns that are features, labels, weights and costs.

    Attributes
    ----------
    features : tuple of str
    kinds : tuple of str
        What each feature holds; see `kinds.Kind`.
    label : str
    weight : str or None
    prices : tuple of str, or None
        Those that costs are read from; None: all, as a function may read any.
    """

    features: tuple[str, ...]
    kinds: tuple[Kind, ...]
    label: str
    weight: str | None
    prices: tuple[str, ...] | None


def _read_columns(stretches: tuple[Stretch, ...], names: list[str] | None) -> pa.Table:
    """Read some columns of some row groups; None are all columns."""
    tables = []
    for stretch in stretches:
        stretch.file.check()
        with open_file(stretch.file.path) as file:
            found = file.read_row_groups(list(stretch.groups), columns=names, use_threads=False)
        tables.append(found if names is None else found.select(names))
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")


def _one(stretches: tuple[Stretch, ...], name: str) -> list[pa.ChunkedArray]:
    """Return one column as an array for each stretch, whose types may differ."""
    return [_read_columns((stretch,), [name]).column(0) for stretch in stretches]


def _plain(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column as numpy would hold it: objects where it has words, NaN for nulls."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _floats(column: pa.ChunkedArray) -> Array:
    dtype = column.type
    if pa.types.is_null(dtype):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(dtype):
        column = column.cast(pa.int8())  # with nulls, numpy would get objects
    values = _plain(column)
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class FileColumns(FeatureTable):
    """The features of some row groups.

    Columns that are read whole are not kept; columns of which only some rows are read will
    be needed again, for the next rows, and stay as long as the table does.
    """

    def __init__(self, stretches: tuple[Stretch, ...], columns: ParquetColumns) -> None:
        self.stretches, self.kinds = stretches, columns.kinds
        self.names = columns.features
        self.n_rows = sum(stretch.n_rows for stretch in stretches)
        self.n_columns = len(columns.features)
        self._held: dict[int, Any] = {}

    def _column(self, j: int, start: int, stop: int, read: Callable[[int], Any]) -> Any:
        if j in self._held:
            return self._held[j]
        found = read(j)
        if stop - start < self.n_rows:
            self._held[j] = found
        return found

    def _read_numbers(self, j: int) -> Array:
        assert self.names is not None
        return _joined([_floats(part) for part in _one(self.stretches, self.names[j])])

    def _read_keys(self, j: int) -> tuple[Int64, list[Key]]:
        assert self.names is not None
        parts = [_coded(part) for part in _one(self.stretches, self.names[j])]
        values = [value for _, listed in parts for value in listed]
        codes, keys = object_keys(values, lambda *given: self.refuse(j, *given))
        places = np.cumsum([0, *(len(listed) for _, listed in parts)])
        found = [_renumbered(part, codes[a:]) for (part, _), a in zip(parts, places, strict=False)]
        return _joined(found), keys

    def numbers(self, j: int, start: int, stop: int) -> Array:
        """Rows start to stop of column j as floats, NaN where missing; perhaps a view."""
        if self.has_keys(j):
            held = f"{self.kinds[j]} where numbers are expected"
            raise self.refuse(j, held, "list it in categorical_features when fitting")
        values: Array = self._column(j, start, stop, self._read_numbers)[start:stop]
        return values

    def keys(self, j: int, start: int, stop: int) -> tuple[Int64, list[Key]]:
        """Rows start to stop of column j as a dictionary of categories."""
        codes, keys = self._column(j, start, stop, self._read_keys)
        return codes[start:stop], keys

    def has_keys(self, j: int) -> bool:
        """Return whether column j is stored as something else than numbers."""
        return self.kinds[j] in ("words", "numbered categories")

    def is_categorical(self, j: int) -> bool:
        """Return whether column j holds words or has a categorical type."""
        return self.has_keys(j)


def _coded(column: pa.ChunkedArray) -> tuple[Int64, list[Any]]:
    """Return a column as a dictionary: -1 where it is null."""
    if pa.types.is_null(column.type):
        return np.full(len(column), -1, dtype=np.int64), []
    whole = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if isinstance(whole, pa.ChunkedArray):  # no rows, or too large for one
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return np.asarray(codes), coded.dictionary.to_pylist()


def _renumbered(codes: Int64, numbers: Int64) -> Int64:
    """Return new numbers of dictionary entries; -1 stays -1."""
    if len(numbers) == 0:
        return codes
    return np.where(codes < 0, -1, numbers[codes])


class FileRows:
    """The rows of a part, as `shards.parts.RawRows`; each attribute is read at first use."""

    def __init__(self, stretches: tuple[Stretch, ...], columns: ParquetColumns) -> None:
        self.stretches, self.columns = stretches, columns

    @property
    def X(self) -> FileColumns:  # noqa: N802
        """The features."""
        return FileColumns(self.stretches, self.columns)

    @property
    def y(self) -> NDArray[Any]:
        """Labels, or targets."""
        return _joined([_plain(part) for part in _one(self.stretches, self.columns.label)])

    @property
    def weights(self) -> Floats | None:
        """One weight for each row, or None."""
        if self.columns.weight is None:
            return None
        parts = [_floats(part) for part in _one(self.stretches, self.columns.weight)]
        return _joined(parts).astype(np.float64, copy=False)

    @property
    def frame(self) -> Any:
        """The columns that costs are read from."""
        return price_frame(self.stretches, self.columns.prices)


def prices_of(costs: Costs | None) -> tuple[str, ...] | None:
    """Return the columns that costs are read from; None where a function reads them."""
    if costs is None:
        return ()
    return tuple(costs.column_names) if costs.names_every_column else None


def price_frame(stretches: tuple[Stretch, ...], names: tuple[str, ...] | None) -> Any:
    """Return the columns named, as an Arrow table; for a function all, as a pandas frame."""
    if names is not None:
        return _read_columns(stretches, list(names))
    return as_pandas(_read_columns(stretches, None))


def as_pandas(table: pa.Table) -> Any:
    """Return a table as functions of users expect it."""
    need("pandas", "A function in Costs (a column's name or an expression does not)")
    return table.to_pandas()


@dataclass(frozen=True)
class RowGroups:
    """A source: some row groups, whose codes are kept in a folder."""

    stretches: tuple[Stretch, ...]
    columns: ParquetColumns
    folder: CodesFolder

    def __str__(self) -> str:
        places = [f"{part.file.path}, row groups {part.groups}" for part in self.stretches]
        return f"In {'; '.join(places)}: rows are counted from the first of these."

    def read(self) -> FileRows:
        """Return the rows; columns are read when their attribute is first used."""
        return FileRows(self.stretches, self.columns)

    def keep(
        self,
        name: str,
        about: Any,
        shape: tuple[int, ...],
        kind: DTypeLike,
        write: Callable[[Any], Any],
    ) -> NDArray[Any]:
        """Return an array as a file that is mapped into memory; written, if there is none yet."""
        about = (self.stretches, self.columns.features, about)
        return self.folder.array(name, about, shape, kind, write)

"""The files of a table, the kinds of their columns, and the parts into which rows are cut.

A Parquet file is a sequence of row groups, each of which can be read alone. A `Stretch` is some
neighbouring row groups of one file; a part of the table is one stretch or several.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from costboost.runtime.machine import Later

__all__ = [
    "Kind",
    "column_kinds",
    "kind_of",
    "DataFile",
    "Stretch",
    "cut_parts",
    "find_files",
    "open_file",
    "read_files",
    "pa",
    "pq",
]


# pyarrow is imported when the first table is made; `costboost.ParquetTable` exists without it.
if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = Later("pyarrow", "ParquetTable")
    pq = Later("pyarrow.parquet", "ParquetTable")


# Kinds of columns: numbers, strings, numbers that are categories, or nulls only.

Kind = Literal["numbers", "words", "numbered categories", "nothing"]


def kind_of(dtype: pa.DataType) -> Kind | None:
    """Return the kind of an Arrow type; None where it cannot be binned.

    Examples
    --------
    >>> kind_of(pa.int32()), kind_of(pa.large_string()), kind_of(pa.date32())
    ('numbers', 'words', None)
    """
    types = pa.types
    if types.is_dictionary(dtype):
        inside = kind_of(dtype.value_type)
        return "numbered categories" if inside == "numbers" else inside
    if types.is_null(dtype):
        return "nothing"
    words = (types.is_string, types.is_large_string, getattr(types, "is_string_view", _never))
    if any(test(dtype) for test in words):
        return "words"
    numbers = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)
    return "numbers" if any(test(dtype) for test in numbers) else None


def _never(dtype: pa.DataType) -> bool:
    """Stand in for types that this version of pyarrow does not know."""
    return False


def column_kinds(
    names: Sequence[str], paths: Sequence[str], schemas: Sequence[pa.Schema]
) -> dict[str, Kind]:
    """Return the kind of each feature; raise for types that cannot be binned or differ by file."""
    kinds: dict[str, Kind] = dict.fromkeys(names, "nothing")
    seen_in: dict[str, str] = {}
    for path, schema in zip(paths, schemas, strict=True):
        for name in names:
            dtype = schema.field(name).type
            kind = kind_of(dtype)
            if kind is None:
                raise ValueError(
                    f"{path}: the column {name!r} has the type {dtype}, which cannot be binned. "
                    "Turn it into numbers or strings, or leave it out: features=[...]."
                )
            if kind != "nothing" and kinds[name] not in ("nothing", kind):
                raise ValueError(
                    f"The column {name!r} holds {kinds[name]} in {seen_in[name]}, but {kind} in "
                    f"{path}: write all files with the same types."
                )
            if kind != "nothing":
                kinds[name] = kind
                seen_in.setdefault(name, path)
    return kinds


_ENDINGS = (".parquet", ".pq")


@dataclass(frozen=True)
class DataFile:
    """One file, as it was when it was looked at first.

    Attributes
    ----------
    path : str
    size, changed : int
        In bytes; the time of the last change, in nanoseconds.
    group_rows : tuple of int
        The number of rows of each row group.
    """

    path: str
    size: int
    changed: int
    group_rows: tuple[int, ...]

    def check(self) -> None:
        """Refuse a file that has changed since."""
        try:
            now = os.stat(self.path)
        except OSError as error:
            raise ValueError(f"{self.path} cannot be read any more: {error.strerror}.") from error
        if (now.st_size, now.st_mtime_ns) != (self.size, self.changed):
            raise ValueError(
                f"{self.path} was changed after the ParquetTable was made, so its rows may be "
                "others than those already read. Make a new ParquetTable of files that stay."
            )


@dataclass(frozen=True)
class Stretch:
    """Neighbouring row groups of a file."""

    file: DataFile
    groups: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.file.group_rows[g] for g in self.groups)


def find_files(path: Any) -> list[str]:
    """Return the paths of all files meant: of a file, a folder, a pattern, or a list of those.

    Those of a folder or a pattern are in the order of their names.
    """
    if isinstance(path, str | os.PathLike):
        return _find(os.fspath(path))
    try:
        listed = [os.fspath(one) for one in path]
    except TypeError:
        raise ValueError(
            f"path={path!r} must be a file, a folder, a pattern such as 'rows-*.parquet', or a "
            "list of files."
        ) from None
    if not listed:
        raise ValueError("path is an empty list: name at least one Parquet file.")
    return [found for one in listed for found in _find(one)]


def _find(path: str) -> list[str]:
    if os.path.isfile(path):
        return [path]
    if os.path.isdir(path):
        inside = (str(file) for file in Path(path).rglob("*") if file.suffix in _ENDINGS)
        found = sorted(file for file in inside if os.path.isfile(file))
        if not found:
            raise ValueError(f"The folder {path!r} holds no files that end in {_ENDINGS}.")
        return found
    found = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    if not found:
        raise ValueError(f"There is no file {path!r}, and no file matches it as a pattern.")
    return found


def open_file(path: str) -> pq.ParquetFile:
    """Open a Parquet file; raise with its name if it is none."""
    try:
        return pq.ParquetFile(path, memory_map=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} cannot be read as a Parquet file: {error}") from error


def read_files(paths: Iterable[str]) -> tuple[list[DataFile], list[pa.Schema]]:
    """Read the number of rows and the columns of every file, and none of its rows."""
    files, schemas = [], []
    for path in paths:
        path = os.path.abspath(path)
        seen = os.stat(path)
        with open_file(path) as opened:
            metadata = opened.metadata
            rows = tuple(metadata.row_group(g).num_rows for g in range(metadata.num_row_groups))
            schemas.append(opened.schema_arrow)
        files.append(DataFile(path, seen.st_size, seen.st_mtime_ns, rows))
    return files, schemas


def cut_parts(files: Sequence[DataFile], n_rows: int) -> list[tuple[Stretch, ...]]:
    """Join neighbouring row groups to parts of at most `n_rows` rows (or of one group)."""
    parts: list[list[tuple[DataFile, int]]] = [[]]
    filled = 0
    for file in files:
        for group, rows in enumerate(file.group_rows):
            if filled and filled + rows > n_rows:
                parts.append([])
                filled = 0
            parts[-1].append((file, group))
            filled += rows
    return [_stretches(part) for part in parts if part]


def _stretches(groups: list[tuple[DataFile, int]]) -> tuple[Stretch, ...]:
    """Join neighbouring groups of one file; a file listed twice keeps its places."""
    return tuple(
        Stretch(file, tuple(number for _, number in own))
        for file, own in groupby(groups, key=lambda one: one[0])
    )

"""Which files make a table, what columns they have, and how their rows are cut into parts.

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
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["DataFile", "Stretch", "cut_parts", "find_files", "open_file", "read_files"]

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
    """Open a file; what is no Parquet file is refused by its name."""
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
    """Put neighbouring row groups together to parts of at most `n_rows` rows, or of one group."""
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
    """Put neighbours of one file together; a file that is listed twice is read where it stands."""
    return tuple(
        Stretch(file, tuple(number for _, number in own))
        for file, own in groupby(groups, key=lambda one: one[0])
    )

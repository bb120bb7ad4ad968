"""Results become files: whole or not at all, and never in place of another without --force."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from costboost.cli.errors import InputError, ReaderGoneError
from costboost.persistence.writing import write_atomically

__all__ = ["check_output", "is_text", "table_suffixes", "write_figure", "write_table"]


def _gzipped(frame: pl.DataFrame, to: io.BytesIO, separator: str) -> None:
    import gzip

    text = io.BytesIO()
    frame.write_csv(text, separator=separator)
    to.write(gzip.compress(text.getvalue(), mtime=0))


_TEXT: dict[str, Callable[[pl.DataFrame, Any, str], Any]] = {
    ".csv": lambda frame, to, separator: frame.write_csv(to, separator=separator),
    ".csv.gz": _gzipped,
    ".tsv": lambda frame, to, separator: frame.write_csv(to, separator="\t"),
}
_TYPED: dict[str, Callable[[pl.DataFrame, Any], Any]] = {
    ".parquet": lambda frame, to: frame.write_parquet(to),
    ".arrow": lambda frame, to: frame.write_ipc(to),
    ".feather": lambda frame, to: frame.write_ipc(to),
    ".jsonl": lambda frame, to: frame.write_ndjson(to),
    ".ndjson": lambda frame, to: frame.write_ndjson(to),
}


def check_output(path: str | None, force: bool, suffixes: tuple[str, ...] = ()) -> None:
    """Refuse, before any work is done, a file that could not be written in the end."""
    if path is None or path == "-":
        return
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{path} is a folder: name a file in it.")
    if target.exists() and not force:
        raise InputError(f"{path} exists: name another file, or say --force to replace it.")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise InputError(f"The folder {folder} does not exist: make it first.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"The folder {folder} cannot be written to.")
    if suffixes and not target.name.lower().endswith(suffixes):
        raise InputError(f"{path}: the name must end with {', '.join(suffixes)}.")


def table_suffixes() -> tuple[str, ...]:
    """Return how names of tables may end."""
    return (*_TEXT, *_TYPED)


def is_text(path: str | None) -> bool:
    """Whether a table is written as text, in which values have no types."""
    return path in (None, "-") or Path(str(path)).name.lower().endswith(tuple(_TEXT))


def write_table(frame: pl.DataFrame, path: str | None, separator: str = ",") -> None:
    """Write a table, by the end of its name; to standard output as CSV without one."""
    if path is None or path == "-":
        try:
            sys.stdout.write(frame.write_csv(separator=separator))
            sys.stdout.flush()
        except BrokenPipeError:
            raise ReaderGoneError from None
        return
    name = Path(path).name.lower()
    suffix = max((s for s in table_suffixes() if name.endswith(s)), key=len)
    data = io.BytesIO()
    if suffix in _TEXT:
        _TEXT[suffix](frame, data, separator)
    else:
        _TYPED[suffix](frame, data)
    write_atomically(Path(path), [data.getvalue()])


def write_figure(figure: Any, path: str) -> None:
    """Write a picture of matplotlib."""
    data = io.BytesIO()
    figure.savefig(data, format=Path(path).suffix.lstrip(".") or "png", dpi=150)
    write_atomically(Path(path), [data.getvalue()])

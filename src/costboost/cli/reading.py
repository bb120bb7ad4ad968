"""Files of all kinds become a table of polars: CSV, Parquet, Arrow, JSON lines, also compressed.

What a file is, its first bytes tell, and its name only where they do not: so standard input needs
no option, and a Parquet file named .csv is read all the same. Types are guessed by polars, in the
end from all rows of a text; `read_cells` gives the cells of a CSV file as they are written, for
whoever writes them again.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import os
import re
import select
import sys
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from costboost.cli.errors import InputError

__all__ = [
    "ISO_DATE",
    "Cells",
    "Source",
    "read_cells",
    "read_source",
    "read_table",
    "with_zeros",
]

_ENOUGH = 5_000  # rows that mostly tell of which type a column is
ISO_DATE = r"^\d{4}-\d\d-\d\d"
_ARROW_STREAM = b"\xff\xff\xff\xff"
_TYPED = (b"PAR1", b"ARROW1", _ARROW_STREAM)


class Source(NamedTuple):
    """The bytes of a table, where they are from, and their digest."""

    name: str
    data: bytes
    digest: str

    @property
    def is_csv(self) -> bool:
        """Whether cells are text whose types are guessed; all other kinds of files have types."""
        return not self.data.startswith(_TYPED) and self.data.lstrip()[:1] not in (b"{", b"[")


class Cells(NamedTuple):
    """The cells of a CSV file as they are written, and whether its numbers are written 12,5."""

    frame: pl.DataFrame
    decimal_comma: bool


def read_source(path: str) -> Source:
    """Read the bytes of a file, or of standard input for ``-``, decompressed."""
    name = "standard input" if path == "-" else path
    data = _standard_input() if path == "-" else _bytes_of(Path(path))
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{name} is damaged: {error}. Copy it again.") from None
    if not data.strip():
        raise InputError(f"{name} is empty: give a table with a line of names and some rows.")
    return Source(name, data, digest)


def _standard_input() -> bytes:
    """Read standard input, looking up now and then: polars keeps Ctrl-C from ending a read."""
    try:
        handle = sys.stdin.fileno()
        select.select([handle], [], [], 0)
    except (OSError, ValueError):  # not a file of the system, or one that cannot be waited for
        return sys.stdin.buffer.read()
    parts = []
    while True:
        if select.select([handle], [], [], 0.2)[0]:
            parts.append(os.read(handle, 1 << 20))
            if not parts[-1]:
                return b"".join(parts)


def _bytes_of(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{path} is a folder: give one file in it.")
    if not path.exists():
        near = [p.name for p in path.parent.glob(f"{path.stem}*")] if path.parent.is_dir() else []
        hint = f" There is {', '.join(sorted(near)[:3])}." if near else " Check the name."
        raise InputError(f"{path} does not exist.{hint}")
    return path.read_bytes()


def read_table(source: Source, as_text: Collection[str] = ()) -> pl.DataFrame:
    """Make a table of bytes; `as_text` names columns that are text whatever they look like."""
    try:
        frame = _parse(source, as_text)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{source.name} cannot be read: {_first_lines(error)}") from None
    if not frame.height:
        raise InputError(f"{source.name} has names of columns, but no rows.")
    # Decimals of Parquet files are numbers like any other.
    exact = [name for name, dtype in frame.schema.items() if dtype.is_decimal()]
    return frame.with_columns(pl.col(exact).cast(pl.Float64)) if exact else frame


def _parse(source: Source, as_text: Collection[str]) -> pl.DataFrame:
    data = source.data
    for start, read in zip(_TYPED, (pl.read_parquet, pl.read_ipc, pl.read_ipc_stream), strict=True):
        if data.startswith(start):
            return read(io.BytesIO(data))
    if b"\0" in data[:4096]:
        raise InputError(
            f"{source.name} is neither CSV nor Parquet, Arrow or JSON lines: save it as one of "
            "these."
        )
    return _parse_csv(source, as_text) if source.is_csv else _parse_json(source, as_text)


def _parse_json(source: Source, as_text: Collection[str]) -> pl.DataFrame:
    if source.data.lstrip()[:1] == b"[":
        raise InputError(
            f"{source.name} is one JSON list: give JSON lines, an object in each line, as "
            "'jq -c .[]' makes of it."
        )
    frame = pl.read_ndjson(io.BytesIO(source.data), infer_schema_length=None)
    known = [name for name in as_text if name in frame.columns]
    return frame.with_columns(
        *(pl.col(name).cast(pl.String) for name in known),
        *(
            _with_dates(column)
            for column in frame.get_columns()
            if column.dtype == pl.String and column.name not in known
        ),
    )


def _with_dates(column: pl.Series) -> pl.Series:
    """Return text that is dates throughout as dates, which JSON has none of."""
    known = column.drop_nulls()
    if not len(known) or not known.str.contains(ISO_DATE).all():
        return column
    try:
        dates = known.str.len_chars().max() == 10
        return column.str.to_date() if dates else column.str.to_datetime()
    except pl.exceptions.PolarsError:
        return column


def _parse_csv(source: Source, as_text: Collection[str]) -> pl.DataFrame:
    start = _checked_text(source)
    separator, decimal_comma = _dialect(start)
    names = next(csv.reader(io.StringIO(start), delimiter=separator))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{source.name} has two columns named {twice[0]!r}: rename one of them.")
    how: dict[str, Any] = {
        "separator": separator,
        "decimal_comma": decimal_comma,
        "try_parse_dates": True,
        "schema_overrides": {name: pl.String for name in as_text if name in names},
    }
    try:
        return _guess_types(source.data, how)
    except pl.exceptions.PolarsError:
        _refuse_ragged(source, separator, len(names))
        raise


def read_cells(source: Source, names: Sequence[str] | None = None) -> Cells:
    """Return the cells of a CSV file, of some columns or all, once it is known to be a table."""
    separator, decimal_comma = _dialect(_start(source))
    frame = pl.read_csv(
        io.BytesIO(source.data),
        separator=separator,
        infer_schema=False,
        columns=None if names is None else list(names),
    )
    return Cells(frame, decimal_comma)


def with_zeros(source: Source, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with whole numbers as text where they are written with zeros before them.

    Such columns are identifiers: ``00042`` is not 42.
    """
    whole = [name for name, dtype in frame.schema.items() if dtype.is_integer()]
    if not whole or not source.is_csv:
        return frame
    texts = read_cells(source, whole).frame.get_columns()
    return frame.with_columns(t for t in texts if t.str.contains(r"^\s*[-+]?0\d").any())


def _refuse_ragged(source: Source, separator: str, width: int) -> None:
    """Name the first line that has more cells than there are names, if there is one."""
    lines = csv.reader(io.StringIO(source.data.decode("utf-8")), delimiter=separator)
    for row in lines:
        if len(row) > width:
            raise InputError(
                f"{source.name} has {len(row)} cells in line {lines.line_num}, and {width} names: "
                f"put cells that hold {separator!r} into quotes."
            )


def _guess_types(data: bytes, how: dict[str, Any]) -> pl.DataFrame:
    """Guess types from the first rows; from all, which takes longer, where these do not tell."""
    try:
        frame = pl.read_csv(io.BytesIO(data), infer_schema_length=_ENOUGH, **how)
        start = frame.head(_ENOUGH)
        told = all(
            start[name].null_count() < start.height or not frame[name].count()
            for name in frame.columns
        )
    except pl.exceptions.ComputeError:  # a later row is of another type
        told = False
    return frame if told else pl.read_csv(io.BytesIO(data), infer_schema_length=None, **how)


def _checked_text(source: Source) -> str:
    """Return the first lines of a text, once it is known to be one."""
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{source.name} is not UTF-8 (line {line}): convert it, such as with 'iconv -f "
            "latin1 -t utf-8'."
        ) from None
    return _start(source)


def _start(source: Source) -> str:
    return source.data[: 1 << 16].decode("utf-8", "ignore").removeprefix("\ufeff")


def _dialect(start: str) -> tuple[str, bool]:
    """Return what separates cells, and whether numbers are written 12,5."""
    separator = _separator(start)
    return separator, _has_decimal_commas(start, separator)


def _separator(start: str) -> str:
    """Return what separates the names of the first line."""
    head = start.split("\n", 1)[0]
    counts = {sign: head.count(sign) for sign in (",", ";", "\t", "|")}
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] else ","


def _has_decimal_commas(start: str, separator: str) -> bool:
    """Whether numbers are written 12,5, which takes another separator and no points."""
    if separator == ",":
        return False
    lines = start.split("\n")[1:]
    cells = [cell.strip('" \r') for line in lines for cell in line.split(separator)]
    commas = sum(re.fullmatch(r"[-+]?\d+,\d+", cell) is not None for cell in cells)
    points = sum(re.fullmatch(r"[-+]?\d+\.\d+", cell) is not None for cell in cells)
    return commas > points


def _first_lines(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])

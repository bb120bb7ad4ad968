"""Files of all kinds become a table of polars: CSV, Parquet, Arrow, JSON lines, workbooks.

The kind of a file is found from its first bytes, and from its name only where they do not suffice:
so standard input needs no option, and a Parquet file named .csv is read all the same; gzipped ones
are unpacked. Of a text the line of names is found, and the separator of cells; `cells` makes values
of these. `read_cells` gives them as they are written, for writing them again.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import itertools
import os
import re
import select
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from costboost.cli import InputError, UsageError
from costboost.cli.cells import MISSING, Form, Understood, understand
from costboost.text import count

__all__ = ["Source", "Table", "read_cells", "read_source", "read_table"]

_ARROW_STREAM = b"\xff\xff\xff\xff"
_TYPED = (b"PAR1", b"ARROW1", _ARROW_STREAM)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SEPARATORS = (",", ";", "\t", "|")
_LOOKED_AT = 1000  # lines from which the separator is found
_ABOVE = 30  # lines that there may be above the names
_NUMBER = re.compile(r"\s*[-+]?[0-9][0-9.,]*\s*")


class Source(NamedTuple):
    """The bytes of a table, where they are from, and their digest.

    Attributes
    ----------
    name : str
    data : bytes
        Unpacked; a text in UTF-8, from its line of names on.
    digest : str
        Of the file as it is.
    separator : str or None
        Between the cells of a CSV file; None for all other kinds.
    remarks : list of str
        What was understood of the file as a whole.
    """

    name: str
    data: bytes
    digest: str
    separator: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def is_csv(self) -> bool:
        """Whether cells are text whose types are guessed; all other kinds of files have types."""
        return self.separator is not None


class Table(NamedTuple):
    """A table that was read, and how it was understood: see `cells.Understood`."""

    source: Source
    understood: Understood

    @property
    def frame(self) -> pl.DataFrame:
        """Its values."""
        return self.understood.frame

    @property
    def form(self) -> Form:
        """The notation of the file."""
        return self.understood.form

    @property
    def remarks(self) -> str:
        """The notation found, in one line; empty where all of it is the default."""
        return "; ".join([*self.source.remarks, *self.understood.remarks])

    def need(self, names: Collection[str]) -> None:
        """Refuse columns that could not be understood."""
        for name in names:
            if name in self.understood.problems:
                raise InputError(f"{self.source.name}: {self.understood.problems[name].text}")


def read_source(path: str, encoding: str | None = None, known: str | None = None) -> Source:
    """Read the bytes of a file, or of standard input for ``-``, decompressed.

    Parameters
    ----------
    path : str
    encoding, known : str or None
        Of a text: as was asked for, and that of an earlier file, if this one is not UTF-8.
    """
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
    if data.startswith(_TYPED) or data.startswith(b"PK\x03\x04"):
        return Source(name, data, digest)
    data, remarks = _as_utf_8(name, data, encoding, known)
    if data.lstrip()[:1] in (b"{", b"["):
        return Source(name, data, digest, None, tuple(remarks))
    separator, above = _layout(name, data)
    if separator != ",":
        shown = {"\t": "tabs"}.get(separator, repr(separator))
        remarks.append(f"cells separated by {shown}")
    if above:
        first = data.split(b"\n", 1)[0].decode().strip()[:40]
        remarks.append(f"{count(above[0], 'line')} above the names left out ({first!r})")
    return Source(name, data[above[1] if above else 0 :], digest, separator, tuple(remarks))


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


# --- texts


def _as_utf_8(
    name: str, data: bytes, encoding: str | None, known: str | None
) -> tuple[bytes, list[str]]:
    """Return a text as UTF-8, and a remark if it was in another encoding."""
    if encoding is None and data.startswith(_UTF_16):
        encoding = "utf-16"
    if encoding is None:
        if b"\0" in data[:4096]:
            raise InputError(
                f"{name} is neither text nor Parquet, Arrow or a workbook (.xlsx): save it as one "
                "of these, or say --encoding utf-16-le if it is text of that kind."
            )
        try:
            data.decode("utf-8")
            return data.removeprefix(codecs.BOM_UTF8), []
        except UnicodeDecodeError as error:
            if known is None:
                line = data.count(b"\n", 0, error.start) + 1
                raise InputError(
                    f"{name} is not UTF-8 (line {line}): say which --encoding it has, such as "
                    "latin-1, cp1252 (Windows) or utf-16."
                ) from None
            encoding = known
    try:
        text = data.decode(encoding)
    except LookupError:
        raise UsageError(
            f"--encoding {encoding!r} is not known: latin-1, cp1252, utf-16 and utf-8 are, and "
            "what else Python calls so."
        ) from None
    except UnicodeError as error:
        raise InputError(f"{name} is not {encoding}: {error}. Check --encoding.") from None
    return text.removeprefix("\ufeff").encode("utf-8"), [f"text in {encoding}"]


def _layout(name: str, data: bytes) -> tuple[str, tuple[int, int] | None]:
    """Return the separator of cells, and the lines and bytes above the names, if any.

    Of the signs under which a line of names is found, that is taken which cuts most lines alike.
    """
    found: dict[str, tuple[float, tuple[int, int] | None]] = {}
    wrong: list[str] = []
    for separator in _SEPARATORS:
        records = list(itertools.islice(_records(data, separator), _LOOKED_AT))
        widths = Counter(len(cells) for cells, _, _ in records if cells)
        width, alike = widths.most_common(1)[0] if widths else (1, 0)
        if width < 2:
            continue
        at = next((i for i, (cells, _, _) in enumerate(records) if not _is_above(cells, width)), 0)
        cells = records[at][0]
        if at > _ABOVE or (at and any(_NUMBER.fullmatch(cell) for cell in cells)):
            continue
        score = width * alike / len(records) + cells.count("") * -1e-3
        above = None if not at else (records[at - 1][2], records[at - 1][1])
        if at and len(cells) < width:
            wrong.append(
                f"{name} has {count(len(cells), 'name')} in line {records[at][2]}, and {width} "
                "cells in most lines below: give every column a name, and leave out what stands "
                "above the names."
            )
            continue
        found[separator] = (score, above)
    if not found:
        if wrong:
            raise InputError(wrong[0])
        return ",", None
    best = max(found, key=lambda sign: found[sign][0])
    return best, found[best][1]


def _records(data: bytes, separator: str) -> Iterator[tuple[list[str], int, int]]:
    """Yield the cells of every record of a CSV file, and the byte and line at which it ends."""
    read = 0

    def lines() -> Iterator[str]:
        nonlocal read
        for line in io.BytesIO(data):
            read += len(line)
            yield line.decode("utf-8", "replace")

    rows = csv.reader(lines(), delimiter=separator)
    try:
        for cells in rows:
            yield [cell.strip() for cell in cells], read, rows.line_num
    except csv.Error:  # polars says what is wrong, if anything is
        return


def _is_above(cells: list[str], width: int) -> bool:
    """Return whether a line has so few cells that it is a title, or nothing, above a table."""
    filled = sum(map(bool, cells))
    if len(cells) == width == 2:
        return not filled
    return not filled or (len(cells) < width and filled == 1) or 2 * filled < width


def _parse_csv(source: Source) -> pl.DataFrame:
    """Return the cells of a CSV file as text."""
    assert source.separator is not None
    names = next(_records(source.data, source.separator))[0]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        what = f"named {twice[0]!r}: rename one of them" if twice[0] else "without a name"
        raise InputError(f"{source.name} has two columns {what}.")
    try:
        return pl.read_csv(io.BytesIO(source.data), separator=source.separator, infer_schema=False)
    except pl.exceptions.PolarsError:
        _refuse_ragged(source, len(names))
        raise


def _refuse_ragged(source: Source, width: int) -> None:
    """Name the first line that has more cells than there are names, if there is one."""
    for cells, _, line in _records(source.data, source.separator or ","):
        if len(cells) > width:
            raise InputError(
                f"{source.name} has {len(cells)} cells in line {line}, and {width} names: put "
                f"cells that hold {source.separator!r} into quotes."
            )


def read_cells(source: Source) -> pl.DataFrame:
    """Return the cells of a CSV file as they are written, once it is known to be a table."""
    return _parse_csv(source)


# --- tables


def read_table(
    source: Source,
    known: Form | None = None,
    asked: Form | None = None,
    *,
    texts: Collection[str] = (),
    numbers: Collection[str] = (),
    target: str | None = None,
) -> Table:
    """Make a table of bytes.

    Parameters
    ----------
    source : Source
    known, asked : Form or None
        How an earlier file was understood, and what options say of this one.
    texts, numbers : collections of str
        Columns that are text, or numbers, whatever they look like.
    target : str or None
        The column whose labels the forms may rename.
    """
    known, asked = known or Form(), asked or Form()
    form = known.changed(asked)
    try:
        frame = _parse(source, form.sheet)
    except (pl.exceptions.PolarsError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{source.name} cannot be read: {_first_lines(error)}") from None
    if not frame.height:
        raise InputError(f"{source.name} has names of columns, but no rows.")
    # Decimals of Parquet files are numbers like any other.
    exact = [name for name, dtype in frame.schema.items() if dtype.is_decimal()]
    frame = frame.with_columns(pl.col(exact).cast(pl.Float64)) if exact else frame
    if target in frame.columns and form.labels:
        frame = frame.with_columns(_relabelled(frame[target], form.labels, bool(asked.labels)))
    understood = understand(
        frame,
        known,
        asked,
        source=source.name,
        separator=source.separator,
        texts=texts,
        numbers=numbers,
        guess=source.is_csv or source.data.startswith(b"PK"),
    )
    return Table(source, understood)


def _relabelled(column: pl.Series, labels: dict[str, str], asked: bool) -> pl.Series:
    """Return a target with other labels, some of which it must hold if they are `asked` for."""
    text = column.cast(pl.String)
    unknown = [label for label in labels if label not in set(text.drop_nulls().unique())]
    if asked and unknown:
        raise InputError(
            f"--label: the target {column.name!r} holds no {unknown[0]!r}; write labels as they "
            "stand, blanks and capitals included."
        )
    new = [label or None for label in labels.values()]
    text = text.replace(list(labels), new)
    try:
        return text.cast(column.dtype)
    except pl.exceptions.PolarsError:
        return text


def _parse(source: Source, sheet: str | None) -> pl.DataFrame:
    data = source.data
    for start, read in zip(_TYPED, (pl.read_parquet, pl.read_ipc, pl.read_ipc_stream), strict=True):
        if data.startswith(start):
            return read(io.BytesIO(data))
    if source.is_csv:
        return _parse_csv(source)
    return _parse_sheet(source, sheet) if data.startswith(b"PK") else _parse_json(source)


def _parse_json(source: Source) -> pl.DataFrame:
    if source.data.lstrip()[:1] == b"[":
        raise InputError(
            f"{source.name} is one JSON list: give JSON lines, an object in each line, as "
            "'jq -c .[]' makes of it."
        )
    return pl.read_ndjson(io.BytesIO(source.data), infer_schema_length=None)


def _parse_sheet(source: Source, asked: str | None) -> pl.DataFrame:
    """Return the table of a sheet of a workbook."""
    try:
        import openpyxl
    except ImportError:
        raise InputError(
            f"{source.name} is a workbook, and reading those needs openpyxl: pip install "
            "'costboost[excel]', or save the sheet as CSV."
        ) from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(source.data), read_only=True, data_only=True)
    except (KeyError, ValueError, OSError, zipfile.BadZipFile):
        raise InputError(
            f"{source.name} is a ZIP file, but no workbook (.xlsx): give the table in it."
        ) from None
    sheets = {sheet.title: [list(row) for row in sheet.values] for sheet in book.worksheets}
    filled = [name for name, rows in sheets.items() if len(rows) > 1]
    if asked is None and len(filled) == 1:
        asked = filled[0]
    if asked not in sheets:
        given = f"has no sheet {asked!r}" if asked else "has several sheets"
        raise InputError(f"{source.name} {given}: say --sheet with one of {', '.join(sheets)}.")
    rows = [row for row in sheets[asked] if any(cell is not None for cell in row)]
    width = Counter(sum(cell is not None for cell in row) for row in rows).most_common(1)[0][0]
    while len(rows) > 1 and 2 * sum(cell is not None for cell in rows[0]) <= max(1, width - 1):
        del rows[0]  # titles
    if len(rows) < 2:
        raise InputError(f"{source.name}, sheet {asked!r}, has no rows below a line of names.")
    names = ["" if name is None else str(name).strip() for name in rows[0]]
    kept = [j for j, name in enumerate(names) if name or any(row[j] is not None for row in rows)]
    twice = [names[j] for j in kept if names.count(names[j]) > 1]
    if twice:
        raise InputError(f"{source.name} has two columns named {twice[0]!r}: rename one of them.")
    return pl.DataFrame([_sheet_column(names[j], [row[j] for row in rows[1:]]) for j in kept])


def _sheet_column(name: str, cells: list[Any]) -> pl.Series:
    """Return a column of a sheet; as text where its cells are of several kinds."""
    cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]
    kinds = {type(cell) for cell in cells if cell is not None}
    words = [cell for cell in cells if isinstance(cell, str)]
    if kinds <= {int, float, str} and all(word.strip().lower() in MISSING for word in words):
        kinds -= {str}
        cells = [None if isinstance(cell, str) else cell for cell in cells]
    if kinds <= {int, float} or len(kinds) == 1:
        return pl.Series(name, cells, strict=False)
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells])


def _first_lines(error: Any) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])

"""Cells of work: an experiment in pieces that are finished one by one, kept, and never repeated.

A cell is a name and the arguments of a function at the top of a module; its rows (dictionaries of
numbers and words) are written as one CSV file, `cells/NAME.csv`, at once. Whoever stops a run and
starts it again goes on where it stopped. `protocol.json` beside them says what they are cells of:
another experiment is refused in the same folder. Rows come back in the order of the cells, whatever
the number of processes; a cell draws its random numbers from its own name.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed  # type: ignore[import-untyped]

from costboost._version import __version__
from costboost.papers.options import Options

__all__ = ["Row", "compute", "read_rows", "seed_of", "write_rows"]

Row = dict[str, Any]
_WIDTH = 30


def seed_of(*parts: object) -> int:
    """Return a random state that depends on these words alone, the same everywhere.

    Examples
    --------
    >>> seed_of("pima", 3)
    4211480166
    """
    return zlib.crc32(repr(parts).encode())


def compute(
    work: Callable[..., list[Row]],
    cells: Mapping[str, Sequence[Any]],
    options: Options,
    protocol: Mapping[str, Any],
) -> list[Row]:
    """Return the rows of all cells, in order; those finished earlier are read.

    Parameters
    ----------
    work : callable
        ``work(*arguments)`` returns the rows of one cell.
    cells : mapping of str to sequence
        The arguments of each cell by its name.
    options : Options
    protocol : mapping
        What the experiment is: cells of another one are refused.
    """
    folder = options.out / "cells"
    folder.mkdir(parents=True, exist_ok=True)
    _check_protocol(options.out / "protocol.json", protocol)
    open_cells = {name: given for name, given in cells.items() if not _path(folder, name).exists()}
    bar = Bar(len(cells), len(cells) - len(open_cells))
    jobs = (delayed(_finish)(work, folder, name, given) for name, given in open_cells.items())
    # One process for one job: no copies of the interpreter, and errors as they are.
    for name in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(jobs):
        bar.advance(name)
    bar.close()
    return [row for name in cells for row in read_rows(_path(folder, name))]


def _finish(work: Callable[..., list[Row]], folder: Path, name: str, given: Sequence[Any]) -> str:
    write_rows(_path(folder, name), work(*given))
    return name


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.csv"


def _check_protocol(path: Path, protocol: Mapping[str, Any]) -> None:
    now = json.loads(json.dumps({"version": __version__, **protocol}, default=str))
    if not path.exists():
        path.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return
    then = json.loads(path.read_text(encoding="utf-8"))
    if then != now:
        differ = sorted(key for key in {*then, *now} if then.get(key) != now.get(key))
        raise ValueError(
            f"{path.parent} holds the results of another experiment ({', '.join(differ)} differ): "
            "give another folder by --out, or remove that one."
        )


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as CSV, at once: the file is whole or not there."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)


def read_rows(path: Path) -> list[Row]:
    """Read rows that `write_rows` wrote: numbers as numbers, empty fields as None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: _value(text) for key, text in row.items()} for row in csv.DictReader(file)]


def _value(text: str) -> Any:
    if text == "":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class Bar:
    """A bar on the terminal's error stream; nothing where that is not a terminal.

    (The bar of the command line proper needs rich, which these commands do without.)
    """

    def __init__(self, total: int, done: int = 0) -> None:
        self.total, self.done, self.before = total, done, done
        self.start = time.monotonic()
        self.shown = sys.stderr.isatty()

    def advance(self, name: str = "") -> None:
        """Count one more cell."""
        self.done += 1
        if self.shown:
            print(f"\r\x1b[K{self.line(name)}", end="", file=sys.stderr, flush=True)

    def line(self, name: str = "") -> str:
        """Return the bar as text, with the time that is left."""
        filled = _WIDTH * self.done // max(self.total, 1)
        pace = (time.monotonic() - self.start) / max(self.done - self.before, 1)
        left = pace * (self.total - self.done)
        bar = "#" * filled + "." * (_WIDTH - filled)
        return f"[{bar}] {self.done}/{self.total}  {left / 60:.1f} min left  {name}"

    def close(self) -> None:
        """Clear the line."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

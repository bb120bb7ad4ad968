"""How an experiment is asked for, loads its sets, and is done in pieces that can be resumed."""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray

from costboost import datasets
from costboost._version import __version__
from costboost.datasets import Dataset


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    out : Path
        Where tables, pictures and finished cells of work go.
    quick : bool
        The small form of the experiment, of at most two minutes, in place of the paper's.
    jobs : int
        Processes; the results do not depend on it, but for the times.
    data : str or None
        The folder of the papers' data sets; None: as `costboost.datasets.load`.
    repeats : int or None
        Splits, folds or draws in place of the usual number, from which a later run may go on.
    sets : tuple of str
        Some of the paper's sets; empty: all of them.
    """

    out: Path
    quick: bool = False
    jobs: int = 1
    data: str | None = None
    repeats: int | None = None
    sets: tuple[str, ...] = ()

    def choose(self, known: Iterable[str]) -> tuple[str, ...]:
        """Return the sets that were asked for among those of a paper, or all of these."""
        known = tuple(known)
        unknown = [name for name in self.sets if name not in known]
        if unknown:
            raise ValueError(f"--sets {','.join(unknown)}: allowed are {', '.join(known)}.")
        return self.sets or known


def read_options(name: str, about: str, arguments: Sequence[str]) -> Options:
    """Read the command line of one paper.

    Examples
    --------
    >>> read_options("lecture", "", ["--quick", "--jobs", "1"]).out.as_posix()
    'reproduced/lecture-quick'
    """
    parser = argparse.ArgumentParser(prog=f"python -m papers {name}", description=about)
    parser.add_argument("--quick", action="store_true", help="a small form, within two minutes")
    parser.add_argument("--out", type=Path, help="a folder; what is finished there is not repeated")
    parser.add_argument("--jobs", type=_positive, default=cpu_count(), help="processes (all cores)")
    parser.add_argument("--data", help="the folder of the data sets (else $COSTBOOST_DATA, OpenML)")
    parser.add_argument("--repeats", type=_positive, help="splits or draws, fewer or more")
    parser.add_argument("--sets", default="", help="some of the paper's sets, as A,B,C")
    found = parser.parse_args(list(arguments))
    usual = Path("reproduced") / (f"{name}-quick" if found.quick else name)
    sets = tuple(name for name in found.sets.split(",") if name)
    return Options(found.out or usual, found.quick, found.jobs, found.data, found.repeats, sets)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too few: give 1 or more")
    return int(text)


def load_set(name: str, folder: str | None = None) -> Dataset:
    """Load one of the papers' sets, or scikit-learn's "breast_cancer", which needs no folder."""
    if name == "breast_cancer":
        return datasets.load_breast_cancer(as_frame="numpy")
    return datasets.load(name, folder=folder, as_frame="numpy", cost_model="none")


class Split(NamedTuple):
    """Training and test rows of a set of two classes."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def load_two_classes(
    name: str, folder: str | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load the table of a set, and 1 for each row of the positive class, else 0."""
    data = load_set(name, folder)
    return data.to_numpy()[0], (data.y == data.positive).astype(np.int64)


# ------------------------------------------------------------ cells of work
# A cell is a name and the arguments of a function at the top of a module; its rows (dictionaries of
# numbers and words) are written as one CSV file, `cells/NAME.csv`, at once. Whoever stops a run and
# starts it again goes on where it stopped. `protocol.json` beside them says what they are cells of:
# another experiment is refused in the same folder. Rows come back in the order of the cells,
# whatever the number of processes; a cell draws its random numbers from its own name.


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

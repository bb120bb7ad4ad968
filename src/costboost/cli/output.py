"""Results on the screen (lines, tables and bars, or one JSON object) and in files.

Nothing that comes from a table is ever read as markup. Bars appear for what takes more than two
seconds, on a terminal only, and go away when it is done.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import math
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table
from rich.text import Text

from costboost.cli import InputError, ReaderGoneError
from costboost.persistence import save
from costboost.persistence.writing import check_target, write_atomically

__all__ = [
    "Screen",
    "check_output",
    "is_text",
    "save_new",
    "table_suffixes",
    "write_figure",
    "write_table",
]

PATIENCE = 2.0  # seconds before a bar appears
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}

Advance = Callable[..., None]


class _Patient:
    """Standard output or error, for messages: their failure must not lose the work.

    A reader that has gone, a full disk behind it or letters that it does not know must not end a
    command before its files are written: signs unknown to it are written by their numbers, and
    the rest is dropped. `Screen.result` reports it in the end.
    """

    def __init__(self, err: bool) -> None:
        self.err = err
        self.problem: OSError | None = None

    @property
    def to(self) -> Any:
        return sys.stderr if self.err else sys.stdout

    def __getattr__(self, name: str) -> Any:
        return getattr(self.to, name)

    def write(self, text: str) -> int:
        """Write what can be written."""
        if self.problem is None and self.to is not None:
            try:
                self.to.write(text)
            except UnicodeEncodeError:
                encoding = self.to.encoding
                self.to.write(text.encode(encoding, "backslashreplace").decode(encoding))
            except OSError as error:
                self.problem = error
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        if self.problem is None and self.to is not None:
            try:
                self.to.flush()
            except OSError as error:
                self.problem = error


class Screen:
    """The screen: where a command shows progress and results.

    Parameters
    ----------
    as_json : bool
        Show nothing but `result`, as JSON on standard output.
    aside : bool, default=False
        Show everything on standard error: standard output is for a table.
    """

    def __init__(self, as_json: bool, *, aside: bool = False) -> None:
        self.as_json = as_json
        self._file = _Patient(aside)
        self.out = Console(file=self._file, quiet=as_json, **_PLAIN)  # type: ignore[arg-type]
        self.err = Console(file=_Patient(True), **_PLAIN)  # type: ignore[arg-type]
        self.notes: list[str] = []

    # --- text

    def say(self, text: str = "", style: str | None = None) -> None:
        """Print a paragraph."""
        self._print(Text(text, style=style or ""))

    def note(self, text: str) -> None:
        """Print something to be aware of, and remember it for JSON."""
        if text not in self.notes:
            self.notes.append(text)
            self.say(f"note: {text}", "yellow")

    def facts(self, facts: Sequence[tuple[str, str]], indent: int = 2) -> None:
        """Print what is known as two columns: a heading and its text."""
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column()
        for name, text in facts:
            grid.add_row(name, Text(text))
        self._print(Padding(grid, (0, 0, 0, indent)))

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]], strong: int = -1) -> None:
        """Print a table: the first column to the left, numbers to the right."""
        grid = Table(box=None, padding=(0, 1), header_style="bold", pad_edge=False)
        for j, name in enumerate(head):
            grid.add_column(name, justify="right" if j else "left", no_wrap=j > 0)
        for i, row in enumerate(rows):
            grid.add_row(*(Text(cell) for cell in row), style="bold" if i == strong else None)
        self._print(Padding(grid, (0, 0, 0, 2)))

    def _print(self, what: Any) -> None:
        """Print, without blanks at the ends of lines where nobody sees colours."""
        if self.out.is_terminal or self.as_json:
            self.out.print(what)
            return
        with self.out.capture() as captured:
            self.out.print(what)
        lines = [line.rstrip() for line in captured.get().splitlines()]
        self.out.file.write("\n".join(lines) + "\n")

    # --- machines

    def result(self, found: dict[str, Any]) -> None:
        """Print what was found as JSON, if that was asked for: the last word of a command.

        Raises
        ------
        ReaderGoneError
            If the reader has gone, now or before.
        OSError
            If messages could not be written for another reason.
        """
        if self.as_json:
            whole = {**found, "notes": self.notes} if self.notes else found
            ascii_only = "utf" not in self.out.encoding.lower()
            text = json.dumps(plain(whole), indent=2, allow_nan=False, ensure_ascii=ascii_only)
            self._file.write(text + "\n")
        self._file.flush()
        if isinstance(self._file.problem, BrokenPipeError):
            raise ReaderGoneError
        if self._file.problem is not None:
            raise self._file.problem

    # --- what takes time

    @contextlib.contextmanager
    def working(self, what: str, total: int | None = None) -> Iterator[Advance]:
        """Show a bar if this takes long; yields what to call after each of `total` steps."""
        columns = [SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn()]
        counted = [MofNCompleteColumn()] if total is not None else []
        progress = Progress(
            *columns, *counted, Elapsed(), console=self.err, transient=True,
            disable=self.as_json or not self.err.is_terminal,
        )  # fmt: skip
        task = progress.add_task(what, total=total)
        timer = threading.Timer(PATIENCE, progress.start)
        timer.daemon = True
        timer.start()
        try:
            yield lambda done=1, of=None: _advance(progress, task, done, of)
        finally:
            timer.cancel()
            timer.join()
            if progress.live.is_started:
                progress.stop()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Show warnings of the library as notes."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        for warning in caught:
            if not issubclass(warning.category, DeprecationWarning):
                self.note(str(warning.message))


def _advance(progress: Progress, task: Any, done: int, of: int | None) -> None:
    if of is not None:
        progress.update(task, total=of)
    progress.advance(task, done)


class _RoundCallback:
    """A callback of scikit-learn's that advances a bar after every round."""

    def __init__(self, advance: Advance) -> None:
        self.advance = advance

    def setup(self, estimator: Any, context: Any) -> None:
        """Learn how many rounds there may be."""
        self.advance(0, of=getattr(context, "max_subtasks", None) or None)

    def on_fit_task_begin(self, estimator: Any, context: Any, **parts: Any) -> None:
        """Do nothing."""

    def on_fit_task_end(self, estimator: Any, context: Any, **parts: Any) -> bool:
        """Count a round."""
        if getattr(context, "task_name", "") == "round":
            self.advance(1)
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""


@contextlib.contextmanager
def show_rounds(model: Any, advance: Advance) -> Iterator[None]:
    """Advance a bar after every round of a fit, where scikit-learn has callbacks (1.9)."""
    if not hasattr(model, "set_callbacks"):
        yield
        return
    model.set_callbacks(_RoundCallback(advance))
    try:
        yield
    finally:
        model.set_callbacks()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: numpy's numbers as Python's, null for what is no number."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


# ---- Files: written whole or not at all, and never over another without --force.


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
    try:
        folder = check_target(target, force, "--force").parent
    except FileExistsError as error:
        raise InputError(str(error)) from None
    if not folder.is_dir():
        raise InputError(f"The folder {folder} does not exist: make it first.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"The folder {folder} cannot be written to.")
    if suffixes and not target.name.lower().endswith(suffixes):
        raise InputError(f"{path}: the name must end with {', '.join(suffixes)}.")


def save_new(model: Any, path: str, notes: dict[str, Any], *, force: bool) -> str:
    """Save a model and return where; beside `path` if that was taken while it was trained."""
    for k in itertools.count(1):
        file = Path(path)
        place = path if k == 1 else str(file.with_name(f"{file.stem}-{k}{file.suffix}"))
        try:
            save(model, place, notes=notes, overwrite=force)
        except FileExistsError:
            if force:  # and what is there is no file at all
                raise
            continue
        return place
    raise AssertionError  # never: names do not end


def table_suffixes() -> tuple[str, ...]:
    """Return the suffixes of the files that tables can be written to."""
    return (*_TEXT, *_TYPED)


def is_text(path: str | None) -> bool:
    """Return whether a table is written as text, in which values have no types."""
    return path in (None, "-") or Path(str(path)).name.lower().endswith(tuple(_TEXT))


def write_table(
    frame: pl.DataFrame, path: str | None, separator: str = ",", *, force: bool = False
) -> None:
    """Write a table, by the end of its name; to standard output as CSV without one."""
    if path is None or path == "-":
        if sys.stdout is None:  # closed before we began
            raise ReaderGoneError
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
    write_atomically(Path(path), [data.getvalue()], overwrite=force)


def write_figure(figure: Any, path: str, *, force: bool = False) -> None:
    """Write a picture of matplotlib."""
    data = io.BytesIO()
    figure.savefig(data, format=Path(path).suffix.lstrip(".") or "png", dpi=150)
    write_atomically(Path(path), [data.getvalue()], overwrite=force)

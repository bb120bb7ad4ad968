"""What is shown: lines, tables and bars for people, or one JSON object for machines.

Nothing that comes from a table is ever read as markup. Bars appear for what takes more than two
seconds, on a terminal only, and go away when it is done.
"""

from __future__ import annotations

import contextlib
import json
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table
from rich.text import Text

__all__ = ["Screen"]

PATIENCE = 2.0  # seconds before a bar appears
_PLAIN: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False}

Advance = Callable[..., None]


class Screen:
    """Where a command shows what it does and found.

    Parameters
    ----------
    as_json : bool
        Show nothing but `result`, as JSON on standard output.
    aside : bool, default=False
        Show everything on standard error: standard output is for a table.
    """

    def __init__(self, as_json: bool, *, aside: bool = False) -> None:
        self.as_json = as_json
        self.out = Console(stderr=aside, quiet=as_json, **_PLAIN)
        self.err = Console(stderr=True, **_PLAIN)
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
        """Print what is known as two columns: a word, and what there is to say of it."""
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
        """Print what was found as JSON, if that was asked for."""
        if self.as_json:
            whole = {**found, "notes": self.notes} if self.notes else found
            print(json.dumps(plain(whole), indent=2, allow_nan=False, ensure_ascii=False))

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
        """Make notes of what the library warns of."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            yield
        for warning in heard:
            if not issubclass(warning.category, DeprecationWarning):
                self.note(str(warning.message))


def _advance(progress: Progress, task: Any, done: int, of: int | None) -> None:
    if of is not None:
        progress.update(task, total=of)
    progress.advance(task, done)


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

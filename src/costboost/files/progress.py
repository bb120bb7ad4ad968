"""A line on the terminal that says how far reading, binning and writing have come.

    costboost: bins     [##########..........] 15/30 columns   12 s

As with the line of rounds, whoever waits no longer than a few seconds sees none, and it goes when
its step ends.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from costboost.runtime.terminal import AFTER, EVERY, Line

__all__ = ["Progress"]

_WIDTH = 20


class Progress:
    """Shows steps on a terminal, one after the other; says nothing elsewhere.

    Parameters
    ----------
    shown : bool or None
        None: where the stream is a terminal.
    stream : text file or None
        Where lines are written; None: the standard error.
    """

    def __init__(self, shown: bool | None = None, stream: Any = None) -> None:
        stream = sys.stderr if stream is None else stream
        looked_at = bool(getattr(stream, "isatty", lambda: False)())
        self.shown = looked_at if shown is None else shown
        self._line, self._start, self._last = Line(stream), time.monotonic(), 0.0

    def __call__(self, what: str, done: int, total: int, unit: str) -> None:
        """Tell that so many of all units of a step are done."""
        now = time.monotonic()
        seconds = now - self._start
        if not self.shown or seconds < AFTER or (now - self._last < EVERY and done < total):
            return
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        self._line.write(f"costboost: {what:<8} [{bar}] {done}/{total} {unit}   {seconds:.0f} s")
        self._last = now

    def clear(self) -> None:
        """Clear the line, if one is shown."""
        self._line.clear()

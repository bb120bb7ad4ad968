"""A line on the terminal that says how far reading, binning and writing have come.

costboost: bins       [##########..........]  15/30 columns   12 s
"""

from __future__ import annotations

import sys
import time
from typing import Any

__all__ = ["Progress"]

_WIDTH = 20
_WAIT = 0.5  # seconds before anything is shown: small tables are done by then
_PAUSE = 0.1


class Progress:
    """Shows steps on a terminal, one after the other; says nothing elsewhere.

    Parameters
    ----------
    shown : bool or None
        None: where the standard error is a terminal.
    """

    def __init__(self, shown: bool | None = None, stream: Any = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.shown = bool(self.stream.isatty()) if shown is None else shown
        self._what = ""
        self._begun = self._last = 0.0
        self._visible = False

    def __call__(self, what: str, done: int, total: int, unit: str) -> None:
        """Tell that so many of all units of a step are done."""
        if not self.shown:
            return
        now = time.monotonic()
        if what != self._what:
            self.clear()
            self._what, self._begun, self._last = what, now, 0.0
        waiting = now - self._begun < _WAIT and not self._visible
        if waiting or (now - self._last < _PAUSE and done < total):
            return
        filled = _WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (_WIDTH - filled)
        seconds = now - self._begun
        self.stream.write(f"\rcostboost: {what:<8} [{bar}] {done}/{total} {unit} {seconds:.0f} s")
        self.stream.flush()
        self._last, self._visible = now, True

    def clear(self) -> None:
        """End the line of the last step, if one is shown."""
        if self._visible:
            self.stream.write("\n")
            self.stream.flush()
        self._visible, self._what = False, ""

"""One line on a terminal that is written over, and goes when its work ends."""

from __future__ import annotations

from typing import TextIO

__all__ = ["AFTER", "EVERY", "Line"]

AFTER = 3.0  # seconds: who waits no longer needs no line
EVERY = 0.2  # seconds between two writings


class Line:
    r"""The last line of a stream.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> line = Line(stream)
    >>> line.write("half"), line.write("all"), line.clear()
    (None, None, None)
    >>> stream.getvalue()
    '\rhalf\rall \r   \r'
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._length = 0

    def write(self, text: str) -> None:
        """Write the line anew."""
        self.stream.write("\r" + text.ljust(self._length))
        self.stream.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Clear the line, if one is shown."""
        if self._length:
            self.write("")
            self.stream.write("\r")
            self.stream.flush()

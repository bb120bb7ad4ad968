"""What users can do wrong, by the exit code that it gives."""

from __future__ import annotations

__all__ = ["INTERRUPTED", "InputError", "ReaderGoneError", "UsageError"]

INTERRUPTED = 130  # exit code after Ctrl-C


class InputError(ValueError):
    """A file, a table or a price that cannot be used: exit code 1."""


class UsageError(Exception):
    """Options that do not go together, or lack one: exit code 2."""


class ReaderGoneError(Exception):
    """Whoever read standard output has gone, as ``head`` does: exit code 141."""

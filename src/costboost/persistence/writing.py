"""Files that are there as a whole or not at all.

The parts go to a new file in the same folder, which takes the place of the old one when every byte
is on the disk. A full disk, a crash or a kill leaves the old file as it was.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["write_atomically"]

_BINARY = getattr(os, "O_BINARY", 0)


def write_atomically(path: Path, parts: Iterable[Any]) -> None:
    """Write the parts, one after the other, to a file that replaces the one at `path`."""
    target = path.resolve()  # a link keeps pointing where it does
    scratch = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}")
    handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):  # the new file is what the old one was
            scratch.chmod(stat.S_IMODE(target.stat().st_mode))
        scratch.replace(target)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk, too, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

"""Files that are there as a whole or not at all, and never in place of another unasked.

The parts go to a scratch file in the same folder, which takes the place of the target when every
byte is on the disk: a full disk, a crash or a kill leaves what was there as it was. Only regular
files are replaced, and only with `overwrite`; of several writers without it exactly one succeeds. A
symbolic link stays: the file that it points to is written.

A writer holds a lock on its scratch file, which the system drops when the process ends. So the next
writer of the same target can tell what a killed one left behind, and removes it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

if sys.platform != "win32":  # where an open file cannot be removed: no lock is needed
    import fcntl

__all__ = ["check_target", "write_atomically"]

_BINARY = getattr(os, "O_BINARY", 0)
_SUFFIX = ".part"
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_target(path: Path, overwrite: bool, option: str = "overwrite=True") -> Path:
    """Return where a file is to be written, its links followed.

    Raises
    ------
    FileExistsError
        If what is there is no regular file, or is one and `overwrite` is False; `option` is what
        users say to replace it.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if not stat.S_ISREG(mode):
        kind = next((name for holds, name in _KINDS if holds(mode)), "no file")
        raise FileExistsError(f"{path} is {kind}, and only regular files are replaced.")
    if not overwrite:
        raise FileExistsError(f"{path} exists: name another file, or say {option} to replace it.")
    return target


def write_atomically(path: Path, parts: Iterable[Any], *, overwrite: bool) -> None:
    """Write the parts, one after the other, to a new file or in place of the one at `path`.

    Raises
    ------
    FileExistsError
        As `check_target` does, also if another writer was faster.
    """
    target = check_target(path, overwrite)
    prefix = f".{target.name[:100]}."
    _remove_stale(target.parent, prefix)
    with _scratch(target.parent, prefix) as (file, scratch):
        for part in parts:
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
        if sys.platform == "win32":  # which renames no open file
            file.close()
        if overwrite:
            with contextlib.suppress(FileNotFoundError):  # the new file is what the old one was
                scratch.chmod(stat.S_IMODE(target.stat().st_mode))
            scratch.replace(target)
        else:
            _claim(scratch, target, path)
    _sync_folder(target.parent)


def _claim(scratch: Path, target: Path, path: Path) -> None:
    """Give a file its name unless it is taken, in one step: exactly one of many writers may."""
    taken = FileExistsError(f"{path} exists: another program has written it in the meantime.")
    try:
        os.link(scratch, target)
    except FileExistsError:
        raise taken from None
    except OSError:  # no hard links here: an empty file keeps the name for us
        try:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        except FileExistsError:
            raise taken from None
        scratch.replace(target)


@contextlib.contextmanager
def _scratch(folder: Path, prefix: str) -> Iterator[tuple[Any, Path]]:
    """Make a scratch file that is locked while it is written, and gone afterwards."""
    while True:
        scratch = folder / f"{prefix}{secrets.token_hex(8)}{_SUFFIX}"
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        if not _lock(handle, wait=True) or os.fstat(handle).st_nlink:
            break
        os.close(handle)  # taken for a stale one before it was locked
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, scratch
    finally:
        scratch.unlink(missing_ok=True)


def _lock(handle: int, wait: bool) -> bool:
    """Lock an open file; False where that cannot be done."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # held by its writer, or a file system without locks
        return False
    return True


def _remove_stale(folder: Path, prefix: str) -> None:
    """Remove scratch files of this target that no living writer holds."""
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            token = entry.name.removeprefix(prefix).removesuffix(_SUFFIX)
            ours = entry.name == f"{prefix}{token}{_SUFFIX}" and len(token) == 16
            if (
                ours
                and set(token) <= set("0123456789abcdef")
                and entry.is_file(follow_symlinks=False)
            ):
                _remove_unheld(entry.path)


def _remove_unheld(path: str) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            os.unlink(path)  # refused while it is open
            return
        handle = os.open(path, os.O_WRONLY)
        try:
            if _lock(handle, wait=False):
                os.unlink(path)
        finally:
            os.close(handle)


def _sync_folder(folder: Path) -> None:
    """Put the new name on the disk, too, where folders can be synchronised."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

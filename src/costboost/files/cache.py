"""Codes in files that are mapped into memory: one byte per cell, read by the system as needed.

    codes-<digest of what they are codes of>-<digest of the codes>.npy
    rows-<likewise>.npy                 the rows that the codes are of, in their order

Files are written under another name and renamed when they are whole, so a file of that name is
whole, or was damaged since: its own digest shows that. Space is reserved before anything is
mapped, because a disk that fills up under a mapped file ends the process without a word.

Digests reveal damage, not malice: anybody who may write to the folder can change codes and name
them anew, and so decide what is learnt. The folder is made for its owner alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from costboost.inputs.checks import warn_caller

__all__ = ["CodesFolder", "make_folder"]

_CHUNK = 1 << 24


@dataclass(frozen=True)
class CodesFolder:
    """A folder of codes.

    Attributes
    ----------
    path : str
    temporary : bool
        Whether it is removed with all it holds when it is closed.
    """

    path: str
    temporary: bool

    def array(
        self,
        name: str,
        about: Any,
        shape: tuple[int, ...],
        kind: DTypeLike,
        write: Callable[[Any], Any],
    ) -> NDArray[Any]:
        """Return an array that is there already, or let it be written.

        Parameters
        ----------
        name : str
            What the file's name begins with.
        about : object
            What the array depends on; its `repr` is complete.
        shape : tuple of int
        kind : dtype
        write : callable
            Fills an array of that shape and kind.
        """
        start = f"{name}-{_digest(_described(about).encode())}-"
        for path in Path(self.path).glob(f"{start}*.npy"):
            found = _opened(path, shape, kind)
            if found is not None:
                return found
            warn_caller(f"{path} is damaged: it is written again.")
            path.unlink()
        return self._written(start, shape, kind, write)

    def _written(
        self, start: str, shape: tuple[int, ...], kind: DTypeLike, write: Callable[[Any], Any]
    ) -> NDArray[Any]:
        handle, name = tempfile.mkstemp(prefix=start, suffix=".part", dir=self.path)
        os.close(handle)
        unfinished = Path(name)
        try:
            buffer = _new_file(unfinished, shape, kind)
            write(buffer)
            buffer.flush()
            whole = unfinished.with_name(f"{start}{_digest(buffer)}.npy")
            del buffer
            os.replace(unfinished, whole)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise _full(error, self.path, shape, kind) from error
            raise
        finally:
            unfinished.unlink(missing_ok=True)  # not there any more, if all went well
        return _mapped(whole)

    def check_space(self, n_bytes: int) -> None:
        """Refuse a folder that cannot hold so many bytes, before any work."""
        free = shutil.disk_usage(self.path).free
        if free < n_bytes and not self._has_codes():
            raise ValueError(
                f"The codes of this table need {_size(n_bytes)}, but {self.path} has only "
                f"{_size(free)} left: give a folder on a larger disk, cache=..., or fewer features."
            )

    def _has_codes(self) -> bool:
        return any(Path(self.path).glob("codes-*.npy"))

    def close(self) -> None:
        """Remove a temporary folder."""
        if self.temporary:
            shutil.rmtree(self.path, ignore_errors=True)


def make_folder(cache: str | os.PathLike[str] | None) -> CodesFolder:
    """Return the folder that codes go to: the one given, else a new one that will be removed."""
    if cache is None:
        return CodesFolder(tempfile.mkdtemp(prefix="costboost-"), temporary=True)
    try:
        os.makedirs(cache, mode=0o700, exist_ok=True)  # write access decides the model
    except OSError as error:
        raise ValueError(f"cache={os.fspath(cache)!r} is no folder: {error.strerror}.") from error
    return CodesFolder(os.fspath(cache), temporary=False)


def _described(about: Any) -> str:
    """Write out what arrays hold: their `repr` leaves numbers out."""
    if isinstance(about, np.ndarray):
        return f"{about.dtype}{about.shape}{_digest(np.ascontiguousarray(about))}"
    if isinstance(about, dict):
        return repr([(name, _described(value)) for name, value in sorted(about.items())])
    if isinstance(about, tuple | list):
        return f"({', '.join(map(_described, about))})"
    return repr(about)


def _digest(data: Any) -> str:
    found = hashlib.blake2b(digest_size=10)
    view = memoryview(data).cast("B") if len(data) else b""
    for start in range(0, len(view), _CHUNK):
        found.update(view[start : start + _CHUNK])
    return found.hexdigest()


def _new_file(path: Path, shape: tuple[int, ...], kind: DTypeLike) -> np.memmap[Any, Any]:
    buffer = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(kind), shape=shape)
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            _fill(file, size)
    return buffer


def _fill(file: Any, size: int) -> None:
    """Write zeros behind the header, so that the space is really there."""
    file.seek(0)
    header = file.read(min(size, 256))
    file.seek(0)
    file.write(header)
    for start in range(len(header), size, _CHUNK):
        file.write(bytes(min(_CHUNK, size - start)))


def _opened(path: Path, shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any] | None:
    """Map an array into memory; None where it is damaged."""
    try:
        found = _mapped(path)
    except (ValueError, OSError, EOFError):
        return None
    whole = found.shape == shape and found.dtype == kind and found.flags.c_contiguous
    return found if whole and path.stem.endswith(_digest(found)) else None


def _mapped(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _full(error: OSError, path: str, shape: tuple[int, ...], kind: DTypeLike) -> OSError:
    return OSError(
        error.errno,
        f"The disk of {path} is full: the codes of these {shape[0]} rows take "
        f"{_size(int(np.prod(shape)) * np.dtype(kind).itemsize)}. Give a folder on a larger disk, "
        "cache=..., or fewer features",
    )


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"

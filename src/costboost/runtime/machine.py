"""What the machine provides: compiled kernels, memory, a terminal line, threads, packages.

Packages that only some features need are imported when they are used, and missed in one sentence.
"""

from __future__ import annotations

import ctypes
import importlib
import mmap
import warnings
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import prod
from pathlib import Path
from threading import local
from typing import Any, TextIO, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

_ROOT = Path(__file__).parents[1]
KERNELS = tuple(
    ".".join(("costboost", *path.relative_to(_ROOT).with_suffix("").parts))
    for path in sorted(_ROOT.rglob("_*_kernels.py"))
)

_warned = False


def compiled_kernels() -> dict[str, bool]:
    """Return for every kernel module, by dotted name, whether it runs compiled."""
    modules = {name: importlib.import_module(name) for name in KERNELS}
    return {name: Path(str(module.__file__)).suffix != ".py" for name, module in modules.items()}


def warn_if_interpreted() -> None:
    """Warn, once in a process, that interpreted kernels are slow and how to get fast ones."""
    global _warned
    if _warned:
        return
    _warned = True
    slow = [name for name, fast in compiled_kernels().items() if not fast]
    if slow:
        warnings.warn(
            f"costboost runs {len(slow)} of its kernels interpreted ({', '.join(slow)}), hundreds "
            "of times slower than compiled. Install a C compiler and build again: pip install "
            "--force-reinstall --no-deps --no-cache-dir --no-binary costboost costboost; in a "
            "checkout: pip install --force-reinstall --no-deps .",
            RuntimeWarning,
            stacklevel=3,
        )


# Memory. glibc keeps what was freed; large fits hand it back to the system between stages.

_LARGE = 1 << 20  # bytes: less is not worth asking the system for
T = TypeVar("T")


@cache
def _trim() -> Any:
    """Return glibc's `malloc_trim`; None with another C library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


def release_memory() -> None:
    """Return freed memory to the operating system; does nothing where the C library cannot."""
    trim = _trim()
    if trim is not None:
        trim(0)


def own_pages(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array whose pages go back to the system when it is collected.

    Raises MemoryError, as numpy does, where there is no room for it.

    Examples
    --------
    >>> array = own_pages((3, 1 << 18), np.float32)
    >>> array.shape, array.dtype, bool(array.flags.writeable)
    ((3, 262144), dtype('float32'), True)
    """
    kind, size = np.dtype(dtype), prod(shape)
    if size * kind.itemsize < _LARGE:
        return np.empty(shape, dtype=kind)
    try:
        pages = mmap.mmap(-1, size * kind.itemsize)
    except OSError as error:  # what mmap raises where numpy has a MemoryError
        raise MemoryError(
            f"There is no room for an array of shape {shape} and type {kind}, "
            f"{size * kind.itemsize:,} bytes."
        ) from error
    return np.frombuffer(pages, dtype=kind, count=size).reshape(shape)


# Memory that work is done in, kept from one use to the next.


class ThreadScratch(local):
    """A buffer for every thread, used while one message is answered.

    It pickles as an empty one: its content never matters to another process.
    """

    def __init__(self) -> None:
        self._buffer = np.zeros(0, dtype=np.uint32)

    def __reduce__(self) -> Any:
        return ThreadScratch, ()

    def places(self, n_rows: int) -> NDArray[np.uint32]:
        """Return an uninitialised buffer for the places of so many rows, uint32 (n_rows,)."""
        if len(self._buffer) < n_rows:
            self._buffer = np.zeros(0, dtype=np.uint32)  # let go before the larger one is made
            self._buffer = np.zeros(n_rows, dtype=np.uint32)
        return self._buffer[:n_rows]


class Scratch:
    """Arrays by name: zeros at first use, later with whatever content was left in them.

    Attributes
    ----------
    thread_scratch : ThreadScratch

    Examples
    --------
    >>> scratch = Scratch()
    >>> scratch.reserve(3), scratch.reserve(5)
    (None, None)
    >>> order = scratch.rows("order", np.uint32, 3)
    >>> order.shape, np.shares_memory(order, scratch.rows("order", np.uint32, 5))
    ((3,), True)
    """

    def __init__(self, thread_scratch: ThreadScratch | None = None) -> None:
        self.thread_scratch = ThreadScratch() if thread_scratch is None else thread_scratch
        self._most = 0
        self._arrays: dict[str, NDArray[Any]] = {}
        self._kept: tuple[Hashable, Any] = (None, None)

    def keep(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return `make()`, cached for the last key."""
        if self._kept[0] != key:
            self._kept = (key, make())
        kept: T = self._kept[1]
        return kept

    def reserve(self, n_rows: int) -> None:
        """Announce a number of rows; arrays are made for the largest one announced.

        All shards that share the buffers call it before the first of them allocates.
        """
        self._most = max(self._most, n_rows)

    def rows(self, name: str, kind: DTypeLike, n_rows: int, width: int = 1) -> NDArray[Any]:
        """Return the array of a name for so many rows, `width` numbers each: (n_rows * width,)."""
        size, found = n_rows * width, self._arrays.get(name)
        if found is None or len(found) < size:
            self._arrays.pop(name, None)  # let go before the larger one is made
            found = self._arrays[name] = np.zeros(max(n_rows, self._most) * width, dtype=kind)
        return found if len(found) == size else found[:size]


# Progress on a terminal.

AFTER = 3.0  # seconds: who waits no longer needs no line
EVERY = 0.2  # seconds between two writings


class TerminalLine:
    r"""The last line of a stream, rewritten in place and cleared when its work ends.

    Examples
    --------
    >>> import io
    >>> stream = io.StringIO()
    >>> line = TerminalLine(stream)
    >>> line.write("half"), line.write("all"), line.clear()
    (None, None, None)
    >>> stream.getvalue()
    '\rhalf\rall \r   \r'
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._length = 0

    def write(self, text: str) -> None:
        """Replace the line by `text`."""
        self.stream.write("\r" + text.ljust(self._length))
        self.stream.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Clear the line, if one is shown."""
        if self._length:
            self.write("")
            self.stream.write("\r")
            self.stream.flush()


# Threads: independent tasks, in a pool that lives as long as they do.

_SMALL = 1 << 17  # cells: below this, starting threads costs more than it saves

Task = TypeVar("Task")
Result = TypeVar("Result")


def worthwhile(n_cells: int) -> bool:
    """Whether a table of so many cells is large enough for threads to pay."""
    return n_cells >= _SMALL


def run(function: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int) -> list[Result]:
    """Apply a function to every task in threads; return the results in the order of the tasks."""
    if n_threads <= 1 or len(tasks) <= 1:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(min(n_threads, len(tasks))) as pool:
        return list(pool.map(function, tasks))


# Which extra of ours brings a package.
EXTRA_OF = {
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "onnx": "onnx",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "parquet",
    "pyspark": "spark",
    "shap": "explain",
}


def need(module: str, what: str) -> Any:
    """Import a module of an optional package and return it.

    Parameters
    ----------
    module : str
        With dots for a module inside the package.
    what : str
        Begins the sentence of the error: what cannot be done without.

    Raises
    ------
    ImportError
        If the package is missing or broken; it names the extra that brings it.

    Examples
    --------
    >>> from costboost.runtime.machine import need
    >>> need("json", "The report").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"{what} needs {package}: pip install 'costboost[{EXTRA_OF[package]}]'"
        ) from error


class Later:
    """A module that is imported when an attribute of it is first read."""

    def __init__(self, module: str, what: str) -> None:
        self._module, self._what = module, what

    def __getattr__(self, name: str) -> Any:
        return getattr(need(self._module, self._what), name)

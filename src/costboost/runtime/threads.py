"""Threads: tasks that do not depend on each other, run in a pool that lives as long as they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["run", "worthwhile"]

_SMALL = 1 << 17  # cells: below this, starting threads costs more than it saves

Task = TypeVar("Task")
Result = TypeVar("Result")


def worthwhile(n_cells: int) -> bool:
    """Whether a table of so many cells is worth more than one thread."""
    return n_cells >= _SMALL


def run(function: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int) -> list[Result]:
    """Return the results in the order of the tasks."""
    if n_threads <= 1 or len(tasks) <= 1:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(min(n_threads, len(tasks))) as pool:
        return list(pool.map(function, tasks))

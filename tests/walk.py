"""How much of the package a reader meets who follows a fit or a prediction in a debugger.

    python tests/walk.py           # a table
    python tests/walk.py default   # and the files of one line of it, by name

Counts the files and functions of the package that are called: in fits of two rounds on a small
table, and where one row is predicted. Compiled kernels do not count. The last table counts our own
frames on the stack, `fit` included, where a kernel is entered: the one that adds up a histogram of
a large table, and the one that grows a whole tree of a small one. Nothing here is a test: run it
before and after a change of the house.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import numpy as np

import costboost
from costboost import CostBoostClassifier
from costboost.shards import _tree_kernels
from costboost.trees import _grow_kernels

HOME = Path(costboost.__file__).parent
COSTS = {"fp": 1, "fn": 5}
HISTOGRAMS = [name for name in vars(_tree_kernels) if name.endswith("_histogram")]


def table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return four columns and two classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 0.5).astype(int)


def model(name: str) -> CostBoostClassifier:
    """Return a model of two rounds."""
    given = {"method": "adacost"} if name == "adacost" else {}
    return CostBoostClassifier(**given, n_estimators=2, n_jobs=1, random_state=0)


def is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of the package."""
    return frame.f_code.co_filename.startswith(str(HOME))


def walked(run: Callable[[], Any]) -> set[tuple[str, str]]:
    """Return the (file, function) pairs of the package that `run` calls, imports left out."""
    run()  # modules that are imported on the way are read now
    found = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and is_ours(frame):
            file = Path(frame.f_code.co_filename).relative_to(HOME).as_posix()
            found.add((file, frame.f_code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found


@contextmanager
def watched(module: Any, names: list[str], stacks: list[list[str]]) -> Iterator[None]:
    """Note our frames on the stack, outermost first, whenever one of the kernels is entered."""

    def noting(kernel: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            frame, stack = sys._getframe(1), []
            while frame is not None:
                if is_ours(frame):
                    file = Path(frame.f_code.co_filename).relative_to(HOME).as_posix()
                    stack.append(f"{file}, {frame.f_code.co_name}")
                frame = frame.f_back
            stacks.append(stack[::-1])
            return kernel(*args, **kwargs)

        return call

    wrapped = {name: noting(getattr(module, name)) for name in names}
    with mock.patch.multiple(module, **wrapped):
        yield


def deepest(name: str, n_rows: int, module: Any, names: list[str]) -> list[str]:
    """Return our frames where a fit enters a kernel, those of the longest stack."""
    stacks: list[list[str]] = []
    X, y = table(n_rows)
    with watched(module, names, stacks):
        model(name).fit(X, y, costs=COSTS)
    return max(stacks, key=len)


def walks() -> dict[str, set[tuple[str, str]]]:
    """Return what is called in each of the runs."""
    X, y = table(400)
    fitted = model("default").fit(X, y, costs=COSTS)
    return {
        "default": walked(lambda: model("default").fit(X, y, costs=COSTS)),
        "adacost": walked(lambda: model("adacost").fit(X, y, costs=COSTS)),
        "predict": walked(lambda: fitted.predict(X[:1])),
    }


def main(shown: list[str]) -> None:
    """Print the tables."""
    found = walks()
    names = {
        "default": "fit of the default, two rounds",
        "adacost": "fit of AdaCost, two rounds",
        "predict": "predict of one row, by the default",
    }
    print(f"{'':38}{'files':>6}{'functions':>11}")
    for key, pairs in found.items():
        print(f"{names[key]:38}{len({file for file, _ in pairs}):6}{len(pairs):11}")
    kernels = {
        "histogram, large table": (60_000, _tree_kernels, HISTOGRAMS),
        "whole tree, small table": (400, _grow_kernels, ["Growth"]),
    }
    print(f"\n{'our frames from fit to the kernel':38}{'default':>11}{'AdaCost':>9}")
    stacks = {
        (what, name): deepest(name, *where)
        for what, where in kernels.items()
        for name in ("default", "adacost")
    }
    for what in kernels:
        print(f"{what:38}{len(stacks[what, 'default']):11}{len(stacks[what, 'adacost']):9}")
    for key in shown:
        print(f"\n{names[key]}")
        for file in sorted({file for file, _ in found[key]}):
            n = sum(file == other for other, _ in found[key])
            print(f"  {file} ({n})")
        for (what, name), stack in stacks.items():
            if name == key:
                print(f"\n{what}\n  " + "\n  ".join(stack))


if __name__ == "__main__":
    main(sys.argv[1:])

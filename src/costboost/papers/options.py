"""What every command of the papers can be asked: how much, where to, on how many cores."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from joblib import cpu_count  # type: ignore[import-untyped]
from numpy.typing import NDArray

from costboost import datasets
from costboost.datasets import Dataset

__all__ = ["Options", "Split", "load_set", "load_two_classes", "read_options"]


@dataclass(frozen=True)
class Options:
    """What was asked for.

    Attributes
    ----------
    out : Path
        Where tables, pictures and finished cells of work go.
    quick : bool
        The small form of the experiment, of at most two minutes, in place of the paper's.
    jobs : int
        Processes; the results do not depend on it, but for the times.
    data : str or None
        The folder of the papers' data sets; None: as `costboost.datasets.load`.
    repeats : int or None
        Splits, folds or draws in place of the usual number, from which a later run may go on.
    sets : tuple of str
        Some of the paper's sets; empty: all of them.
    """

    out: Path
    quick: bool = False
    jobs: int = 1
    data: str | None = None
    repeats: int | None = None
    sets: tuple[str, ...] = ()

    def choose(self, known: Iterable[str]) -> tuple[str, ...]:
        """Return the sets that were asked for among those of a paper, or all of these."""
        known = tuple(known)
        unknown = [name for name in self.sets if name not in known]
        if unknown:
            raise ValueError(f"--sets {','.join(unknown)}: allowed are {', '.join(known)}.")
        return self.sets or known


def read_options(name: str, about: str, arguments: Sequence[str]) -> Options:
    """Read the command line of one paper.

    Examples
    --------
    >>> read_options("lecture", "", ["--quick", "--jobs", "1"]).out.as_posix()
    'reproduced/lecture-quick'
    """
    parser = argparse.ArgumentParser(prog=f"python -m costboost.papers {name}", description=about)
    parser.add_argument("--quick", action="store_true", help="a small form, within two minutes")
    parser.add_argument("--out", type=Path, help="a folder; what is finished there is not repeated")
    parser.add_argument("--jobs", type=_positive, default=cpu_count(), help="processes (all cores)")
    parser.add_argument("--data", help="the folder of the data sets (else $COSTBOOST_DATA, OpenML)")
    parser.add_argument("--repeats", type=_positive, help="splits or draws, fewer or more")
    parser.add_argument("--sets", default="", help="some of the paper's sets, as A,B,C")
    found = parser.parse_args(list(arguments))
    usual = Path("reproduced") / (f"{name}-quick" if found.quick else name)
    sets = tuple(name for name in found.sets.split(",") if name)
    return Options(found.out or usual, found.quick, found.jobs, found.data, found.repeats, sets)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is too few: give 1 or more")
    return int(text)


def load_set(name: str, folder: str | None = None) -> Dataset:
    """Load one of the papers' sets, or scikit-learn's "breast_cancer", which needs no folder."""
    if name == "breast_cancer":
        return datasets.load_breast_cancer(as_frame="numpy")
    return datasets.load(name, folder=folder, as_frame="numpy", cost_model="none")


class Split(NamedTuple):
    """Training and test rows of a set of two classes."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.int64]


def load_two_classes(
    name: str, folder: str | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load the table of a set, and 1 for each row of the positive class, else 0."""
    data = load_set(name, folder)
    return data.to_numpy()[0], (data.y == data.positive).astype(np.int64)

"""The table of a fit: its bins, its codes, and the shards of every model that trains on its rows.

`LocalTable` is a table in memory, `costboost.fitting.spread.PartsTable` one whose rows are
elsewhere. Trainers ask both for the same things, and number rows from 0 in the table's order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from costboost.binning.binner import Binner, fit_binner
from costboost.fitting.copies import read_copies
from costboost.runtime.machine import release_memory
from costboost.shards.folds import FoldLayout, Folds, plan_folds
from costboost.shards.layout import Loader, ShardLayout, plan_layout, sensible_shards
from costboost.trees.forest import Forest
from costboost.typing import Codes, Floats, Int64

__all__ = ["Followed", "FollowedRows", "LocalTable", "TrainingTable"]


MANY = 50_000  # rows, from which on a copy of the codes for every fold takes too much memory


class Followed(Protocol):
    """Rows whose margins grow with a model that does not train on them."""

    def add(self, forest: Forest) -> Floats:
        """Add all trees of a forest; return the margins, (n, J), which no later call changes."""


class TrainingTable(Protocol):
    """The table as trainers use it; a remote one also has `row_data()`."""

    binner: Binner | None

    def fit_binner(self, weights: Floats | None, max_bins: int, categorical: Any) -> None:
        """Learn how to bin the columns."""

    def open(self, loader: Loader, rows: Any = None, width: int = 1) -> AbstractContextManager[Any]:
        """Return the shards of a model that trains on all rows, or on some.

        `width` says how many columns' work a column is.
        """

    def table_of(self, rows: Any) -> Any:
        """Return some rows of the table as it is, None: all; refused where nobody holds it."""

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows."""

    def apply(self, function: Callable[[Codes], Floats], rows: Any) -> Floats:
        """Apply a picklable function to the codes of some rows; it says something of every row."""

    def follow(self, rows: Any, start: Floats) -> Followed:
        """Follow some rows from margins (J,) on."""

    def copies(self, weights: Floats | None) -> Int64 | None:
        """Return the number of each row's set of equal rows; None where no row has any."""

    def arrange(
        self,
        folds: Folds,
        labels: NDArray[np.integer[Any]] | None = None,
        n_classes: int = 1,
    ) -> bool:
        """Know in advance which rows models will train on and be judged by.

        `labels` (n,) are what their loaders will group rows by. True if models train on all rows
        used but those they leave out, and share the codes.
        """

    def release_memory(self) -> None:
        """Give memory that was freed here back to the system, where it may be much."""

    def close(self) -> None:
        """Let go of the codes."""


class LocalTable:
    """A table in memory.

    Parameters
    ----------
    X : the table
    n_rows : int
    n_threads : int

    Attributes
    ----------
    binner : Binner or None
        None with an outside learner, which gets the table as it is.
    """

    def __init__(self, X: Any, n_rows: int, n_threads: int) -> None:
        self.X, self.n_rows, self.n_threads = X, n_rows, n_threads
        self.binner: Binner | None = None
        self._codes: Codes | None = None
        self._folds: FoldLayout | None = None  # the order of the codes, if it is not the table's

    def fit_binner(self, weights: Floats | None, max_bins: int, categorical: Any) -> None:
        """Learn how to bin the columns."""
        self.binner = fit_binner(
            self.X,
            weights,
            max_bins=max_bins,
            categorical_features=categorical,
            n_threads=self.n_threads,
        )
        self.release_memory()

    def release_memory(self) -> None:
        """Give freed memory back to the system, where it may be much."""
        if self.n_rows >= MANY:
            release_memory()

    def open(
        self, loader: Loader, rows: Int64 | None = None, width: int = 1
    ) -> AbstractContextManager[Any]:
        """Return the shards of a model that trains on all rows, or on some."""
        self.release_memory()
        fold = None if self._folds is None else self._folds.training_on(rows, loader.labels)
        if self._folds is not None and fold is not None:
            return self._folds.cut(self._folded(), fold, loader.load)
        n_rows = self.n_rows if rows is None else len(rows)
        n_shards = self._n_shards(n_rows, width)
        layout = plan_layout(loader.labels, n_rows, loader.n_segments, n_shards)
        return layout.cut(self._arranged(layout, rows), loader.load)

    def _n_shards(self, n_rows: int, width: int = 1) -> int:
        n_features = 0 if self.binner is None else self.binner.n_features
        return sensible_shards(n_rows, n_features * width, self.n_threads)

    def _arranged(self, layout: ShardLayout, rows: Int64 | None) -> Codes:
        """Return the codes of the rows, in the order of the layout."""
        if self.binner is None:
            return np.zeros((len(layout.rows), 0), dtype=np.uint8)
        if rows is None and self._codes is None and self._folds is None:
            return self.binner.encode(self.X, positions=layout.positions, n_threads=self.n_threads)
        return self.codes_of(layout.rows if rows is None else rows[layout.rows])

    def codes_of(self, rows: Any) -> Codes:
        """Return the codes of some rows; the table is binned at the first call, and kept."""
        if self._folds is not None:
            return np.asarray(self._folded()[self._folds.positions()[rows]])
        if self._codes is None:
            assert self.binner is not None
            self._codes = self.binner.encode(self.X, n_threads=self.n_threads)
        return np.asarray(self._codes[rows])

    def _folded(self) -> Codes:
        """Return all codes in the order of the folds; the table is binned at the first call."""
        if self._codes is None:
            assert self.binner is not None
            assert self._folds is not None
            positions = self._folds.positions()
            self._codes = self.binner.encode(self.X, positions=positions, n_threads=self.n_threads)
        return self._codes

    def table_of(self, rows: Any) -> Any:
        """Return some rows of the table as it is; None are all of them."""
        return self.X if rows is None else _safe_indexing(self.X, rows)

    def apply(self, function: Callable[[Codes], Floats], rows: Int64) -> Floats:
        """Apply a function to the codes of some rows."""
        self.release_memory()  # what the model held that was trained before
        return function(self.codes_of(rows))

    def follow(self, rows: Int64, start: Floats) -> Followed:
        """Follow some rows from margins (J,) on."""
        fold = None if self._folds is None else self._folds.leaving_out(rows)
        if self._folds is None or fold is None:
            pieces: list[tuple[Codes, Any]] = [(self.codes_of(rows), slice(None))]
        else:
            pieces = list(self._folds.pieces(self._folded(), fold))
        return FollowedRows(pieces, np.tile(start, (len(rows), 1)), self.n_threads)

    def copies(self, weights: Floats | None) -> Int64 | None:
        """Return the number of each row's set of equal rows; None where no row has any."""
        return read_copies(self.X, weights)

    def arrange(
        self,
        folds: Folds,
        labels: NDArray[np.integer[Any]] | None = None,
        n_classes: int = 1,
    ) -> bool:
        """Know in advance which rows models will train on and be judged by.

        All of them then share one copy of the codes, if folds are what they are: every row that is
        used is left out once.
        """
        if self._codes is None and self.binner is not None and self.n_rows >= MANY:
            n_shards = self._n_shards(self.n_rows)
            self._folds = plan_folds(folds, n_shards, labels, n_classes)
        return self._folds is not None

    def close(self) -> None:
        """Let go of the codes."""
        self._codes = self._folds = None


class FollowedRows:
    """Rows in memory whose margins grow with a model.

    Parameters
    ----------
    pieces : list of (codes, rows)
        Codes that lie together, and which of the rows they are of.
    margins : float64 array of shape (n, J)
        Of the rows at the start.
    n_threads : int
    """

    def __init__(self, pieces: list[tuple[Codes, Any]], margins: Floats, n_threads: int) -> None:
        self.pieces, self.margins, self.n_threads = pieces, margins, n_threads

    def add(self, forest: Forest) -> Floats:
        """Add all trees of a forest; return the margins, (n, J)."""
        # New ones: Ctrl-C at any moment leaves the margins as they were.
        margins = np.empty_like(self.margins)
        for codes, rows in self.pieces:
            own = self.margins[rows].copy() if isinstance(rows, slice) else self.margins[rows]
            forest.add_trees(codes, own, 0, len(forest), self.n_threads)
            margins[rows] = own
        self.margins = margins
        return margins

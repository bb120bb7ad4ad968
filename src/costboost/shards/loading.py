"""What a family holds of its rows before the first round, and how to make it elsewhere.

A loader knows what was said of some rows: their targets, weights and costs. It says by what they
are grouped in a shard, and makes the shard's state. Without rows (`blank`) it is a small value that
may go to where other rows are, and is made whole there (`on`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs

__all__ = ["Loader", "RowData"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RowData:
    """What was said of some rows.

    Attributes
    ----------
    y : array of shape (n,): class numbers, or the target of a regression
    weights : float64 array of shape (n,) or None
    costs : Costs or None
        Bound to the classes; of these rows, if they have prices of their own.
    """

    y: NDArray[Any]
    weights: Floats | None = None
    costs: Costs | None = None

    def take(self, rows: NDArray[Any] | slice) -> RowData:
        """Return what was said of some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return RowData(self.y[rows], weights, None if self.costs is None else self.costs[rows])


class Loader(Protocol):
    """Makes the state of shards."""

    @property
    def labels(self) -> NDArray[np.integer[Any]] | None:
        """What rows are grouped by, (n,); None: they are not."""

    @property
    def n_segments(self) -> int:
        """The number of groups."""

    def load(self, rows: NDArray[Any] | slice) -> Any:
        """Return the state of a shard that holds some of the rows, by their numbers.

        A slice of all of them copies nothing: the state then shares what was said of the rows.
        """

    def blank(self) -> Self:
        """Return the same for no rows."""

    def on(self, data: RowData) -> Self:
        """Return the same for other rows."""

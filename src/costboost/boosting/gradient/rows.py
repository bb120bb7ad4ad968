"""What gradient boosting holds of its rows, shard by shard.

given        y, weights, prices: what the user said of the rows
bill         truth and costs, and what decisions are paid with
terms        what the loss makes of that for its kernels
margins      (m, J)   F, J outputs
gradients    (J, m)   weighted first derivatives
hessians     (J, m)   weighted second derivatives, or what stands for them
steps        (m, J)   what this round adds to F, where it is not taken at once
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.paying import Bill

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

NONE = np.zeros(0)
EVERY = np.zeros(0, dtype=np.uint8)


@dataclass(frozen=True)
class Rows:
    """What a loss knows of rows.

    Attributes
    ----------
    y : float64 array of shape (n,), or int64 class numbers
    n_outputs : int
        J: 1, or K for K > 2 classes.
    weights : float64 array of shape (n,) or None
    prices : float64 array of shape (n, K), or (n, 2) for regression, or None
    table : float64 array of shape (K, K) or None
        The prices by class, where rows of one class have the same.
    objective : tuple of three arrays of shape (n,), or None
        The user's own (a, b, w0) for the cost-exponential loss.
    """

    y: NDArray[Any]
    n_outputs: int = 1
    weights: Floats | None = None
    prices: Floats | None = None
    table: Floats | None = None
    objective: tuple[Floats, ...] | None = None

    @property
    def paid(self) -> Floats:
        """The price of each answer on each row."""
        if self.prices is not None:
            return self.prices
        assert self.table is not None
        return np.asarray(self.table[self.y])

    @property
    def unit_or_weights(self) -> Floats:
        """The weight of every row; 1 where none was given."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def take(self, rows: NDArray[Any]) -> Rows:
        """Return some of the rows."""

        def part(values: Floats | None) -> Floats | None:
            return None if values is None else np.ascontiguousarray(values[rows])

        objective = None
        if self.objective is not None:
            objective = tuple(np.ascontiguousarray(values[rows]) for values in self.objective)
        return replace(
            self,
            y=np.ascontiguousarray(self.y[rows]),
            weights=part(self.weights),
            prices=part(self.prices),
            objective=objective,
        )


class Terms(Protocol):
    """A loss at some rows: what its kernels read."""

    def derive(self, margins: Floats, total: float, gradients: Floats, hessians: Floats) -> Floats:
        """Write derivatives at some margins; return the largest of both, (J, 2)."""

    def along(self, steps: Floats) -> Floats:
        """Return what multiplies gradients when all steps are taken at once, (m, J)."""


@dataclass
class GradientRows:
    """One shard's rows; see the head of this module.

    Attributes
    ----------
    keep : uint8 array of shape (m,) or (0,)
        Which rows this round learns from; without entries, all.
    trial : float64 array of shape (m, J)
        Margins that are tried.
    along : float64 array of shape (m, J)
        What multiplies gradients along a line.
    answers : float64 array of shape (m,)
        What an outside regressor says.
    sizes : float64 array of shape (m,)
        Weighted |a| of a loss that has prices in its exponent.
    packed, pairs, part, vectors
        Gradients and hessians on the grid, for histograms; see `costboost.shards.modes`.
    """

    given: Rows
    bill: Bill | None = None
    terms: Any = None
    margins: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    gradients: Floats = field(default_factory=lambda: np.zeros((1, 0)))
    hessians: Floats = field(default_factory=lambda: np.zeros((1, 0)))
    steps: Floats | None = None
    keep: NDArray[np.uint8] = field(default_factory=lambda: EVERY)
    trial: Floats | None = None
    along: Floats | None = None
    answers: Floats | None = None
    sizes: Floats = field(default_factory=lambda: NONE)
    packed: Int64 | None = None
    pairs: Int64 | None = None
    part: Int64 | None = None
    vectors: NDArray[np.int32] | None = None

    @property
    def sample_weights(self) -> Floats | None:
        """The rows' weights, if they have any."""
        return self.given.weights

    @property
    def weights(self) -> Floats:
        """The rows' weights as kernels take them: without entries, all are 1."""
        return NONE if self.given.weights is None else self.given.weights

    def spread(self, output: int, *, by_weight: bool) -> Floats:
        """Return what stands for hessians in a search: the rows' weights, or the hessians."""
        return self.given.unit_or_weights if by_weight else self.hessians[output]

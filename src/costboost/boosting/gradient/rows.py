"""The per-row state of gradient boosting, one `GradientRows` for each shard.

data         y, weights, prices: the user's data of the rows; class numbers take a byte each
pricing      true classes (the same bytes), costs, and the prices of decisions
terms        what the loss makes of that for its kernels
margins      (m, J)   F, J outputs

Only these last from round to round. The following are scratch buffers of one round:

derived      (D, J, m)   what both derivatives follow from: one number (D = 1), or both (D = 2)
packed       (m,)        both on a grid for histograms, in a word; or `pairs`, or `vectors`
keep         (m,)        whether this round learns from a row
steps        (m, J)      what this round adds to F, where it is not taken at once
trial        (m, J)      margins that are tried
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.train_cost import DecisionPricing, make_pricing
from costboost.costs import Costs
from costboost.runtime.messages import first, largest, message, totals
from costboost.shards.grid import exact_count, exact_sum, rounded
from costboost.shards.layout import RowData, Shards, blocks_of
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

# kind, cores, output, labels, by_class, a, weights: see `_gradient_kernels`.
Read = tuple[int, Floats, int, NDArray[np.uint8], bool, Floats, Floats]
# The same, by_weight, block.
Unfolded = tuple[int, Floats, int, NDArray[np.uint8], bool, Floats, Floats, bool, Floats]

NONE = np.zeros(0)
EVERY = np.zeros(0, dtype=np.uint8)
HELD = 7  # the kernels' number for derivatives that are held both
BLOCK = 1024  # rows whose derivatives the kernels write at a time


@dataclass(frozen=True)
class LossRows:
    """The data of some rows as losses take them.

    Attributes
    ----------
    y : float64 array of shape (n,), or class numbers of any type of integers
    n_outputs : int
        J: 1, or K for K > 2 classes.
    weights : float64 array of shape (n,) or None
    prices : float64 array of shape (n, K), or (n, 2) for regression, or None
    table : float64 array of shape (K, K) or None
        The prices by class, where rows of one class have the same.
    costs : Costs or None
        Those of these rows, where each has its own: `paid` makes prices of them.
    objective : tuple of three arrays of shape (n,), or None
        The user's own (a, b, w0) for the cost-exponential loss.
    """

    y: NDArray[Any]
    n_outputs: int = 1
    weights: Floats | None = None
    prices: Floats | None = None
    table: Floats | None = None
    objective: tuple[Floats, ...] | None = None
    costs: Costs | None = None

    @property
    def targets(self) -> NDArray[Any]:
        """Y as the methods of losses take it: class numbers as int64, for arithmetic."""
        return self.y.astype(np.int64, copy=False) if self.y.dtype.kind in "iu" else self.y

    @property
    def paid(self) -> Floats:
        """The price of each answer on each row."""
        if self.prices is not None:
            return self.prices
        # Read when asked for: rows hold their costs once, as the user gave them.
        if self.costs is not None:
            return self.costs.of_labels(self.y, encoded=True)
        assert self.table is not None
        return np.asarray(self.table[self.y])

    @property
    def unit_or_weights(self) -> Floats:
        """The weight of every row; 1 where none was given."""
        return np.ones(len(self.y)) if self.weights is None else self.weights

    def priced(self) -> LossRows:
        """Return the same rows with prices computed, for losses that read them every round."""
        return self if self.costs is None else replace(self, prices=self.paid, costs=None)

    def blocks(self) -> Iterator[tuple[slice, LossRows]]:
        """Yield all rows block by block, so that temporaries stay small."""
        return ((block, self.take(block)) for block in blocks_of(len(self.y)))

    def take(self, rows: NDArray[Any] | slice) -> LossRows:
        """Return some of the rows, class numbers as bytes."""
        kind = np.uint8 if self.y.dtype.kind in "iu" else self.y.dtype

        def part(values: Floats | None) -> Floats | None:
            return None if values is None else np.ascontiguousarray(values[rows])

        objective = None
        if self.objective is not None:
            objective = tuple(np.ascontiguousarray(values[rows]) for values in self.objective)
        return replace(
            self,
            y=np.ascontiguousarray(self.y[rows], dtype=kind),
            weights=part(self.weights),
            prices=part(self.prices),
            objective=objective,
            costs=None if self.costs is None else self.costs[rows],
        )


class BoundLoss(ABC):
    """A loss bound to some rows: the arrays that its kernels read.

    Where derivatives are not made elsewhere, ``derive(margins, total, derived)`` writes what they
    are read from, (D, J, m), and returns the largest of both, (J, 2). A loss with prices also has
    |a| and a of every row, `sizes` and `aims`, (m,); one of errors can `write_values`.
    """

    @property
    @abstractmethod
    def depth(self) -> int:
        """D: the number of values per row and output from which both derivatives are read.

        1: a core; 2: gradient and hessian.
        """

    @property
    def largest_w0(self) -> float:
        """The largest weight that the loss gives a row."""
        return 1.0

    @property
    def drift(self) -> float:
        """The largest |b|: whether the loss changes with the sum of the steps alone."""
        return 0.0

    @abstractmethod
    def read(self, derived: Floats, output: int) -> Read:
        """Return the derivatives of an output as kernels take them."""

    def along(self, steps: Floats) -> Floats:
        """Return the factors of gradients along a line search, (m, J).

        The steps themselves, where F alone decides.
        """
        return steps


@dataclass(frozen=True)
class Held(BoundLoss):
    """Derivatives that are computed elsewhere and stored, both of them."""

    weights: Floats

    @property
    def depth(self) -> int:
        """Gradient and hessian."""
        return 2

    def read(self, derived: Floats, output: int) -> Read:
        """Return the derivatives of an output as kernels take them."""
        return read_both(derived[0, output], derived[1, output], self.weights)


def read_both(gradients: Floats, hessians: Floats, weights: Floats) -> Read:
    """Return derivatives of every row as kernels take them."""
    return HELD, gradients, 0, EVERY, False, hessians, weights


def unfolded(found: Read, *, by_weight: bool = False) -> Unfolded:
    """Add the buffer in which kernels unfold derivatives, a block of rows at a time."""
    return *found, by_weight, np.empty((2, BLOCK))


@dataclass
class GradientRows:
    """The rows of one shard; arrays as at the head of this module.

    Attributes
    ----------
    keep : uint8 array of shape (m,) or (0,)
        Which rows this round learns from; without entries, all.
    moves_by : "leaf", "leaves" or "steps"
        What rows know of a round when its steps are taken: the leaf of its only tree; their
        leaves in the trees of all outputs; or the steps.
    own_leaves : uint16 array of shape (J, m) or None
    along : float64 array of shape (m, J)
        What multiplies gradients along a line.
    answers : float64 array of shape (m,)
        What an outside regressor says.
    part : int64 array of shape (256 d,)
        Where packed histograms are added up; see `costboost.shards.grid`.
    """

    data: LossRows
    pricing: DecisionPricing | None = None
    terms: Any = None
    margins: Floats = field(default_factory=lambda: np.zeros((0, 1)))
    derived: Floats = field(default_factory=lambda: np.zeros((1, 1, 0)))
    moves_by: str = "leaf"
    own_leaves: NDArray[np.uint16] | None = None
    steps: Floats | None = None
    keep: NDArray[np.uint8] = field(default_factory=lambda: EVERY)
    trial: Floats | None = None
    along: Floats | None = None
    answers: Floats | None = None
    packed: Int64 | None = None
    pairs: Int64 | None = None
    part: Int64 | None = None
    vectors: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        # Class numbers are held once, by whom decisions are priced.
        if self.pricing is not None:
            self.data = replace(self.data, y=self.pricing.truth)

    @property
    def sample_weights(self) -> Floats | None:
        """The rows' weights, if they have any."""
        return self.data.weights

    @property
    def weights(self) -> Floats:
        """The rows' weights as kernels take them: without entries, all are 1."""
        return NONE if self.data.weights is None else self.data.weights

    @property
    def sizes(self) -> Floats:
        """Weighted |a| of a loss that has prices in its exponent, (m,): made when asked for."""
        sizes: Floats = self.terms.sizes
        return sizes if self.data.weights is None else sizes * self.data.weights

    def read(self, output: int, *, by_weight: bool = False) -> Unfolded:
        """Return the derivatives of an output as kernels take them.

        With `by_weight` the rows' weights stand for hessians.
        """
        found: Read = self.terms.read(self.derived, output)
        return unfolded(found, by_weight=by_weight)

    def derivatives(self, output: int) -> Floats:
        """Return the gradients and hessians of an output, (2, m)."""
        found: Read = self.terms.read(self.derived, output)
        out = np.empty((2, len(self.margins)))
        kernels.unfold(*found, False, out)
        return out


# Rows of gradient boosting, made here or on a worker.


@dataclass(frozen=True)
class GradientLoader:
    """Makes `GradientRows`; see `costboost.shards.layout`.

    Attributes
    ----------
    data : RowData
        Without costs for regression.
    n_outputs : int
    weighted : bool
        Whether weights differ at all.
    shift : int
        Weights are multiplied by this power of two.
    uses_costs : bool
        Whether the loss has prices in it.
    prices : float64 array of shape (n, 2) or None
        Pinball loss's (over, under) of every row.
    objective : tuple of three arrays of shape (n,), or None
        The user's own (a, b, w0) for the cost-exponential loss.
    """

    data: RowData
    n_outputs: int = 1
    weighted: bool = True
    shift: int = 0
    uses_costs: bool = False
    prices: Floats | None = None
    objective: tuple[Floats, ...] | None = None

    labels = None
    n_segments = 1

    @cached_property
    def rows(self) -> LossRows:
        """The data of all rows as the loss takes them."""
        y, weights, costs = self.data.y, self.data.weights, self.data.costs
        if weights is not None:
            # A power of two keeps sums of huge or tiny weights in range, and rounds nothing.
            weights = np.ldexp(weights, self.shift) if self.shift else weights
        rows = LossRows(y, self.n_outputs, weights if self.weighted else None, prices=self.prices)
        if not self.uses_costs:
            return rows
        if self.objective is not None:
            return replace(rows, objective=self.objective)
        assert costs is not None
        assert costs.classes is not None
        if costs.is_constant:
            table = costs.of_labels(np.arange(len(costs.classes)), encoded=True)
            return replace(rows, table=table)
        return replace(rows, costs=costs)

    def load(self, rows: NDArray[Any] | slice) -> GradientRows:
        """Return the state of a shard that holds some rows."""
        data, costs = self.rows.take(rows), self.data.costs
        if costs is None:
            return GradientRows(data)
        if data.costs is not None:  # held once
            return GradientRows(data, make_pricing(data.costs, data.y, slice(None)))
        return GradientRows(data, make_pricing(costs, self.data.y, rows))

    def blank(self) -> GradientLoader:
        """Return a loader of the same settings without rows."""
        return replace(self, data=self.data.take(np.zeros(0, dtype=np.int64)))

    def on(self, data: RowData) -> GradientLoader:
        """Return a loader of the same settings for other rows and their own costs."""
        costs = self.data.costs if data.costs is None else data.costs
        return replace(self, data=replace(data, costs=costs))


def _by_blocks(
    part: Callable[[LossRows], tuple[int, ...]], rows: LossRows, n_sums: int
) -> tuple[int, ...]:
    """Add up exact sums over blocks of rows: what is made on the way stays small."""
    return totals([(0,) * n_sums, *(part(some) for _, some in rows.blocks())])


@message(reduce=largest)
def largest_cost(shard: Shard, *, loss: Any) -> float:
    """Return the largest cost, by which a loss scales."""
    return float(loss.largest_cost(shard.state.data))


@message(reduce=first)
def fetch_row_kinds(shard: Shard) -> LossRows:
    """Return a `LossRows` without rows, which shows whether there are weights, prices and so on."""
    rows: LossRows = shard.state.data.take(slice(0))
    return rows


@message(reduce=largest, changes=True)
def bind_loss(shard: Shard, *, loss: Any, start: tuple[float, ...], moves_by: str) -> Floats:
    """Bind rows to a loss, and set their first margins to a constant.

    Return the largest weight of a row, and of the loss the largest w0, |b| and weighted |a|, (4,).
    `moves_by` is what rows store of a round until its step is taken: see `GradientRows`.
    """
    state, bound = shard.state, loss.bind(shard.state.data)
    if bound is None:  # a user's loss: it gets the arrays of all rows in every round
        state.data = state.data.priced()
    state.terms = Held(state.weights) if bound is None else bound
    state.margins = np.tile(np.array(start), (len(shard.rows), 1))
    state.moves_by = moves_by
    heaviest = 1.0 if state.data.weights is None else np.max(state.weights, initial=0.0)
    largest_size = np.max(state.sizes, initial=0.0) if loss.has_prices else 0.0
    return np.array([heaviest, state.terms.largest_w0, state.terms.drift, largest_size])


@message(reduce=totals)
def sum_targets(shard: Shard) -> tuple[int, ...]:
    """Add up y and the weights, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        weights = rows.unit_or_weights
        return exact_sum(np.asarray(rows.y, dtype=float) * weights), exact_sum(weights)

    return _by_blocks(part, shard.state.data, 2)


@message(reduce=largest)
def target_range(shard: Shard) -> Floats:
    """Return the range of the targets of rows with weight, (2, 1): -smallest, largest."""
    rows = shard.state.data
    # -smallest, so that both ends are reduced by their maximum.
    y = rows.y if rows.weights is None else rows.y[rows.weights > 0.0]
    return np.array([[np.max(part, initial=-np.inf)] for part in (-y, y)])


@message(reduce=totals)
def sum_class_weights(shard: Shard, *, n_classes: int) -> tuple[int, ...]:
    """Add up the weights of every class, without any rounding."""

    def part(rows: LossRows) -> tuple[int, ...]:
        weights, y = rows.weights, rows.y
        if weights is None:
            counts = np.bincount(y, minlength=n_classes).tolist()
            return tuple(map(exact_count, counts))
        return tuple(exact_sum(weights[y == k]) for k in range(n_classes))

    return _by_blocks(part, shard.state.data, n_classes)


def class_weights(shards: Shards, n_classes: int) -> Floats:
    """Return the weight of every class, (K,)."""
    (sums,) = shards.call([sum_class_weights(n_classes=n_classes)])
    return np.array([rounded(part) for part in sums])


def log_shares(shards: Shards, n_outputs: int) -> Floats:
    """Return the log odds of class 1, or the centred logs of every class's share, (J,)."""
    n_classes = 2 if n_outputs == 1 else n_outputs
    parts = class_weights(shards, n_classes).tolist()
    # A class without rows: as likely as one ulp.
    shares = np.maximum(np.array(parts) / math.fsum(parts), 2.0**-52)
    # Of the sums themselves where both classes have rows: a quotient of shares would be rounded
    # twice.
    if n_outputs == 1:
        odds = parts[1] / parts[0] if min(parts) > 0 else float(shares[1] / shares[0])
        return np.array([math.log(odds)])
    logs = np.log(shares)
    return np.asarray(logs - math.fsum(logs.tolist()) / n_classes)


@message(reduce=first)
def terms_by_class(shard: Shard, *, loss: Any) -> Any:
    """Return (a, b, w0) by class, or None where rows of a class differ."""
    return loss.of_classes(shard.state.data)


@message(reduce=totals)
def sum_sizes(shard: Shard, *, loss: Any) -> tuple[int, ...]:
    """Add up the weighted |a| of rows, and their weights, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        weights = rows.unit_or_weights
        return exact_sum(loss.bind(rows).sizes * weights), exact_sum(weights)

    return _by_blocks(part, shard.state.data, 2)


@message(reduce=totals)
def sum_at_constant(
    shard: Shard, *, loss: Any, constant: tuple[float, ...], output: int
) -> tuple[int, ...]:
    """Add up the derivatives of one output at a constant, without any rounding."""

    def part(rows: LossRows) -> tuple[int, int]:
        # The loss's own methods: a constant is needed once, before rows are bound to kernels.
        margins = np.tile(np.array(constant), (len(rows.y), 1))
        gradients, hessians = loss.derivatives(rows, margins)
        return exact_sum(gradients[:, output]), exact_sum(hessians[:, output])

    return _by_blocks(part, shard.state.data, 2)


def put_margins(shard: Shard, values: Floats) -> None:
    """Set first margins that differ by row, (m, J)."""
    shard.state.margins = values

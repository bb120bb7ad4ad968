"""A loss on shards: the slope and the bend (first and second derivative) of every row.

    shard.data["margins"]   (m, J)   F, J outputs
    shard.data["slopes"]    (J, m)   weighted first derivatives
    shard.data["bends"]     (J, m)   weighted second derivatives, or what stands for them

The built-in losses run in kernels, a shard at a time. A user's loss is asked once for all rows in
the order of the table, so that its result cannot depend on the shards.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.losses import (
    CostExponentialLoss,
    ExpectedCostLoss,
    ExponentialLoss,
    ExponentialTerms,
    HuberLoss,
    LogLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.shards.local import Shards
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

# The kernels' numbers, in the order in which they declare them.
SQUARED, PINBALL, HUBER, LOG, EXPONENTIAL, EXPECTED = range(6)
NONE = np.zeros(0)


@dataclass(frozen=True)
class Rows:
    """What a loss knows of the rows, in the order of the table.

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
    objective: tuple[Floats, Floats, Floats] | None = None

    @property
    def paid(self) -> Floats:
        """The price of each answer on each row."""
        if self.prices is not None:
            return self.prices
        assert self.table is not None
        return np.asarray(self.table[self.y])


class Slopes(Protocol):
    """What the rounds ask of a loss."""

    loss: Any
    rows: Rows
    total: float

    def measure(self, shards: Shards, margins: str = "margins") -> Floats:
        """Write slopes and bends at some margins; return the largest of both, (J, 2)."""

    def along(self, shard: Shard) -> Floats:
        """Return what multiplies slopes when all steps are taken at once, (m, J)."""


def bind_loss(loss: Any, rows: Rows, shards: Shards) -> Slopes:
    """Give every shard what the loss needs of its rows."""
    for shard in shards.shards:
        shape = (rows.n_outputs, len(shard.rows))
        shard.data["slopes"], shard.data["bends"] = np.zeros(shape), np.zeros(shape)
    if rows.weights is not None:
        shards.scatter("sample weights", rows.weights)
    if isinstance(loss, SquaredLoss | PinballLoss | HuberLoss):
        return RegressionSlopes(loss, rows, shards)
    if isinstance(loss, LogLoss | ExponentialLoss | CostExponentialLoss | ExpectedCostLoss):
        return ClassSlopes(loss, rows, shards)
    return OutsideSlopes(loss, rows)


class RegressionSlopes:
    """Squared, pinball and Huber loss."""

    total = 0.0

    def __init__(self, loss: Any, rows: Rows, shards: Shards) -> None:
        self.loss, self.rows = loss, rows
        shards.scatter("targets", np.asarray(rows.y, dtype=float))
        self.kind = {"squared": SQUARED, "pinball": PINBALL, "huber": HUBER}[loss.kind]
        self._over = self._under = np.zeros(1)
        if self.kind == HUBER:
            self._over = np.array([float(loss.delta)])
        elif self.kind == PINBALL and rows.prices is None:
            self._over = np.array([float(loss.over)])
            self._under = np.array([float(loss.under)])
        elif self.kind == PINBALL and rows.prices is not None:
            shards.scatter("over", rows.prices[:, 0])
            shards.scatter("under", rows.prices[:, 1])

    def measure(self, shards: Shards, margins: str = "margins") -> Floats:
        """Write slopes and bends at some margins; return the largest of both, (1, 2)."""

        def part(shard: Shard) -> Floats:
            data, largest = shard.data, np.zeros((1, 2))
            prices = (data.get("over", self._over), data.get("under", self._under))
            rows = (data[margins], data["targets"], *prices, data.get("sample weights", NONE))
            kernels.regression_slopes(self.kind, *rows, data["slopes"], data["bends"], largest)
            return largest

        return np.asarray(np.max(shards.map(part), axis=0))

    def along(self, shard: Shard) -> Floats:
        """Return the steps."""
        return shard.data["steps"]

    def write_values(self, shard: Shard) -> float:
        """Write every row's weighted loss in place of its slope; return the largest."""
        data = shard.data
        prices = (data.get("over", self._over), data.get("under", self._under))
        rows = (data["margins"], data["targets"], *prices, data.get("sample weights", NONE))
        return float(kernels.regression_values(self.kind, *rows, data["slopes"][0]))


class ClassSlopes:
    """The losses of two or K classes."""

    def __init__(self, loss: Any, rows: Rows, shards: Shards) -> None:
        self.loss, self.rows, self.total = loss, rows, 0.0
        kinds = {"log": LOG, "expected-cost": EXPECTED}
        self.kind = kinds.get(loss.kind, EXPONENTIAL)
        terms, self.by_class = class_terms(loss, rows)
        labels = np.asarray(rows.y if self.by_class else terms.labels)
        shards.scatter("labels", labels.astype(np.uint8))
        self._terms = (terms.a, terms.b, terms.w0)
        if not self.by_class:
            for name, values in zip(("a", "b", "w0"), self._terms, strict=True):
                shards.scatter(name, values)
        self._kernel = kernels.binary_slopes if rows.n_outputs == 1 else kernels.class_slopes

    def measure(self, shards: Shards, margins: str = "margins") -> Floats:
        """Write slopes and bends at some margins; return the largest of both, (J, 2)."""

        def part(shard: Shard) -> Floats:
            data, largest = shard.data, np.zeros((self.rows.n_outputs, 2))
            terms = self._terms
            if not self.by_class:
                terms = (data["a"], data["b"], data["w0"])
            weights = data.get("sample weights", NONE)
            rows = (data[margins], data["labels"], self.by_class, *terms, self.total, weights)
            self._kernel(self.kind, *rows, data["slopes"], data["bends"], largest)
            return largest

        return np.asarray(np.max(shards.map(part), axis=0))

    def along(self, shard: Shard) -> Floats:
        """Return what multiplies slopes when all steps are taken at once, (m, J).

        That is the steps themselves, but for b: w0 exp(-(a (F + l f) + b (A + l))) falls with l
        as if f were f + b / a.
        """
        steps = shard.data["steps"]
        if self.kind != EXPONENTIAL or not np.any(self._terms[1]):
            return steps
        labels = shard.data["labels"]
        if self.by_class:
            a, b = self._terms[0][labels], self._terms[1][labels]
        else:
            a, b = shard.data["a"], shard.data["b"]
        extra = np.divide(b, a, out=np.zeros_like(a), where=a != 0.0)
        if self.rows.n_outputs == 1:
            return np.asarray(steps + extra[:, None])
        rows = np.arange(len(labels))
        steps = steps - steps[rows, labels][:, None] - extra
        steps[rows, labels] = 0.0
        return np.ascontiguousarray(steps)


def class_terms(loss: Any, rows: Rows) -> tuple[ExponentialTerms, bool]:
    """Return a, b, w0 by class, or by row where rows of a class differ."""
    one = rows.n_outputs == 1
    n_classes = 2 if one else rows.n_outputs
    shape = (2,) if one else (n_classes, n_classes)
    classes = np.arange(n_classes)
    blank, ones = np.zeros(shape), np.ones(shape)
    if isinstance(loss, LogLoss):
        return ExponentialTerms(classes, blank, blank, ones), True
    if isinstance(loss, ExponentialLoss):
        a = np.array([-1.0, 1.0]) if one else ones
        return ExponentialTerms(classes, a, blank, ones), True
    if rows.objective is not None:
        a, b, w0 = (np.ascontiguousarray(part, dtype=float) for part in rows.objective)
        return ExponentialTerms((a > 0).astype(np.int64), a, b, w0), False
    if rows.table is not None:
        terms = _priced_terms(loss, classes, rows.table, rows.n_outputs)
        if np.array_equal(terms.labels, classes):
            return terms, True
    return _priced_terms(loss, rows.y, rows.paid, rows.n_outputs), False


def _priced_terms(loss: Any, y: NDArray[Any], paid: Floats, n_outputs: int) -> ExponentialTerms:
    if isinstance(loss, CostExponentialLoss):
        return loss.terms(y, paid, n_outputs)
    a = np.ascontiguousarray(paid[:, 1] - paid[:, 0] if n_outputs == 1 else paid)
    return ExponentialTerms(np.asarray(y), a, np.zeros_like(a), np.ones_like(a))


@dataclass
class OutsideSlopes:
    """A user's loss, asked for all rows in the order of the table."""

    loss: Any
    rows: Rows
    total: float = field(default=0.0)

    def measure(self, shards: Shards, margins: str = "margins") -> Floats:
        """Write slopes and bends at some margins; return the largest of both, (J, 2)."""
        raw = shards.gather(margins)
        slopes, bends = slopes_of(self.loss, self.rows, raw)
        for shard in shards.shards:
            shard.data["slopes"][:] = slopes[shard.rows].T
            shard.data["bends"][:] = bends[shard.rows].T
        return np.stack([np.abs(slopes).max(axis=0), bends.max(axis=0)], axis=1)

    def along(self, shard: Shard) -> Floats:
        """Return the steps."""
        return shard.data["steps"]


def slopes_of(loss: Any, rows: Rows, margins: Floats) -> tuple[Floats, Floats]:
    """Return weighted slopes and bends of all rows, (n, J), by the loss's own three methods."""
    raw = margins[:, 0] if rows.n_outputs == 1 else margins
    extra = (rows.paid,) if getattr(loss, "uses_costs", False) else ()
    if isinstance(loss, PinballLoss):
        extra = () if rows.prices is None else (rows.prices,)
    slopes = _checked(loss, "gradient", loss.gradient(rows.y, raw, *extra), raw)
    bends = _checked(loss, "hessian", loss.hessian(rows.y, raw, *extra), raw)
    if np.any(bends < 0.0):
        raise ValueError(
            f"{type(loss).__name__}.hessian is negative in row {int(np.argmin(bends)) % len(raw)}: "
            "return a positive bound instead, such as its absolute value."
        )
    slopes, bends = slopes.reshape(margins.shape), bends.reshape(margins.shape)
    if rows.weights is None:
        return slopes, bends
    return slopes * rows.weights[:, None], bends * rows.weights[:, None]


def _checked(loss: Any, name: str, values: Any, raw: Floats) -> Floats:
    found = np.asarray(values, dtype=float)
    if found.shape != raw.shape:
        raise ValueError(
            f"{type(loss).__name__}.{name} returned shape {found.shape}; it must have the shape "
            f"of raw, {raw.shape}."
        )
    if not np.all(np.isfinite(found)):
        raise ValueError(f"{type(loss).__name__}.{name} is not finite for some rows.")
    return found


def mean_value(loss: Any, rows: Rows, margins: Floats, total: float = 0.0) -> float:
    """Return the weighted mean of the loss, in the order of the table."""
    raw = margins[:, 0] if rows.n_outputs == 1 else margins
    if isinstance(loss, CostExponentialLoss):
        if rows.objective is not None:
            labels = (rows.objective[0] > 0).astype(np.int64)
            values = ExponentialTerms(labels, *rows.objective, total).value(raw)
        else:
            values = replace(loss, total=total).value(rows.y, raw, rows.paid)
    elif getattr(loss, "uses_costs", False):
        values = loss.value(rows.y, raw, rows.paid)
    elif isinstance(loss, PinballLoss):
        values = loss.value(rows.y, raw, rows.prices)
    else:
        values = loss.value(rows.y, raw)
    return float(np.average(np.asarray(values, dtype=float), weights=rows.weights))

"""Losses: the protocol for users' own ones, and the base class of the built-in ones.

    value(y, raw)      what each row loses, (n,)
    gradient(y, raw)   its first derivative in `raw`, of the shape of `raw`
    hessian(y, raw)    what stands for the second derivative: at least 0, of the same shape

`raw` is F, the sum of all trees: (n,) for regression and for two classes, (n, K) for K classes. `y`
holds numbers, or class numbers 0 .. K - 1. A loss that sets ``uses_costs = True`` gets a third
argument, `prices`: what each answer costs on each row given its truth, (n, K).

A built-in loss (`BuiltIn`) has these methods in NumPy, and may `bind` rows to kernels, in which the
same formulas run compiled; else its methods run where the rows are. A user's loss has the three
methods, and is asked for all rows at once (`OwnLoss`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from costboost.boosting import formulas
from costboost.boosting.gradient.messages import put_derivatives, write_derivatives
from costboost.boosting.gradient.minimisers import FARTHEST, LeafBounds, minimise
from costboost.boosting.gradient.rows import (
    NONE,
    BoundLoss,
    Held,
    LossRows,
    fetch_row_kinds,
    sum_at_constant,
)
from costboost.inputs.arrays import read_finite, read_shares, source_of
from costboost.shards.grid import rounded
from costboost.shards.layout import Shards
from costboost.typing import Array, Floats

RowTerms = tuple[Floats, Floats, Floats]

_ENOUGH = 2_000
FAR = 1e300  # answers of a loss beyond are refused: their sums would overflow


@runtime_checkable
class Loss(Protocol):
    """The three methods that a user's loss must have.

    Two attributes are optional: ``uses_costs = True`` adds the argument `prices`, and a method
    ``proba(raw)`` returns class probabilities, (n, K), where they are not the logistic function
    (the softmax) of `raw`.

    Examples
    --------
    A loss of one's own: the logarithm of cosh, nearly squared near 0 and nearly absolute far away.

    >>> import numpy as np
    >>> class LogCosh:
    ...     def value(self, y, raw):
    ...         return np.logaddexp(raw - y, y - raw) - np.log(2)
    ...     def gradient(self, y, raw):
    ...         return np.tanh(raw - y)
    ...     def hessian(self, y, raw):
    ...         return 1 - np.tanh(raw - y) ** 2
    >>> from costboost import GradientBoostRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostRegressor(loss=LogCosh(), n_estimators=20).fit(X, y / 50)
    >>> bool(model.score(X, y / 50) > 0.5)
    True
    """

    def value(self, y: Any, raw: Any, /) -> Any:
        """Return the loss of each row, (n,)."""

    def gradient(self, y: Any, raw: Any, /) -> Any:
        """Return the derivative of the value, of the shape of `raw`."""

    def hessian(self, y: Any, raw: Any, /) -> Any:
        """Return the second derivative, or what stands for it; not negative."""


class BuiltIn:
    """Base class of losses, with defaults for all that estimators, rounds and files call.

    It is a frozen dataclass: files keep its fields, by the name that it is registered under.

    Attributes
    ----------
    kind : str
        Its name in the estimators.
    uses_costs : bool
        Whether its methods take prices, so that F contains costs.
    odds : float
        F times this is the log odds, or the softmax's input.
    link_scale : float or None
        Probabilities are the logistic function, or the softmax, of F times this, in any language;
        None: `proba` is the loss's own, and is known here only.
    smooth : bool
        Whether hessians are those of the loss, so that Newton steps are its own.
    least_squares : bool
        Whether splits are searched by the weights of rows instead of their hessians.
    quadratic : bool
        Whether a Newton step ends at the minimiser.
    endless : bool
        Whether the loss of a leaf is least at infinity.
    longest : float
        How far a line search moves any row at most, in units of F.
    takes_prices : bool
        Whether a regression may have prices over and under for every row.
    has_prices : bool
        Whether prices stand in its exponent, so that F is in units of 1 / price.
    needs_all_rows : bool
        Whether its steps need all rows in one place, in this process.

    Examples
    --------
    >>> from costboost.extend import CLASSIFICATION_LOSSES
    >>> all(issubclass(loss, BuiltIn) for loss in CLASSIFICATION_LOSSES.values())
    True
    """

    kind: ClassVar[str]
    uses_costs: ClassVar[bool] = False
    odds: ClassVar[float] = 1.0
    smooth: ClassVar[bool] = True
    least_squares: ClassVar[bool] = False
    quadratic: ClassVar[bool] = False
    endless: ClassVar[bool] = False
    longest: ClassVar[float] = 1e6  # far enough for a loss that only falls
    takes_prices: ClassVar[bool] = False
    has_prices: ClassVar[bool] = False
    needs_all_rows: ClassVar[bool] = False

    # For estimators and files.

    @classmethod
    def from_params(cls, params: Any, y: Array, weights: Floats | None) -> BuiltIn:
        """Return the loss that an estimator's parameters describe, for these rows.

        Classes are numbers in `y`, and have no weights here.
        """
        return cls()

    def read_row_terms(self, params: Any, n_rows: int, n_classes: int) -> RowTerms | None:
        """Return per-row terms that a parameter gives (`LossRows.objective`).

        None if it gives none.
        """
        return None

    def check_restored(self) -> None:
        """Refuse fields, read from a file, that no training would have left."""

    # For the rounds.

    def bind(self, rows: LossRows) -> BoundLoss | None:
        """Return the loss at some rows; None where it is asked for all rows at once.

        By its own methods, unless it has kernels.
        """
        return NumpyTerms(NONE if rows.weights is None else rows.weights, self, rows.priced())

    def largest_cost(self, rows: LossRows) -> float:
        """Return the largest cost over all rows, needed before the loss is bound; 0 if unused."""
        return 0.0

    def scaled(self, largest: float) -> Any:
        """Return the loss scaled by the largest cost."""
        return self

    def measure(self, shards: Shards, total: float, where: str = "margins") -> Floats:
        """Write derivatives at some margins; return the largest of both, (J, 2).

        `total` is the sum of the steps so far.
        """
        # The largest derivatives set the grids of all sums of this round.
        (largest,) = shards.call([write_derivatives(where=where, total=total)])
        return np.asarray(largest)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return f_0, (J,): the constant of least loss, by Newton's method."""
        return newton_constant(self._sums_at(shards), n_outputs, *self._limit(shards, n_outputs))

    def _limit(self, shards: Shards, n_outputs: int) -> tuple[float, float]:
        """Return how far a constant may lie, and the unit of F."""
        return FARTHEST if n_outputs > 1 else FAR, 1.0

    def _sums_at(self, shards: Shards) -> Callable[[Floats, int], tuple[float, float]]:
        def at(f0: Floats, output: int) -> tuple[float, float]:
            (sums,) = shards.call(
                [sum_at_constant(loss=self, constant=tuple(f0.tolist()), output=output)]
            )
            return rounded(sums[0]), rounded(sums[1])

        return at

    def leaf_values(self, shards: Shards, n_leaves: int) -> Floats | None:
        """Return the minimiser of every leaf where there is a way but Newton's, (L,)."""
        return None

    def leaf_bounds(self, shards: Shards, weigh: Callable[[], Floats]) -> LeafBounds | None:
        """Return where the minimisers of leaves lie, if the loss knows.

        `weigh` gives the sum of the rows' weights in every leaf, (L,).
        """
        return None

    def best_step(self, shards: Shards) -> float | None:
        """Return the lambda of least loss along the steps where there is a way but Newton's."""
        return None

    # For readers, held-out rows and constants.

    @property
    def link_scale(self) -> float | None:
        """By what F is multiplied in the logistic function; None: `proba` is another function."""
        return self.odds if type(self).proba is BuiltIn.proba else None

    def proba(self, raw: Floats) -> Floats:
        """Return class probabilities, (n, K)."""
        return logistic(self.odds * raw)

    def _extra(self, rows: LossRows) -> tuple[Any, ...]:
        """Return the extra arguments of the three methods, after y and F."""
        return (rows.paid,) if self.uses_costs else ()

    def _ask(self, name: str, rows: LossRows, raw: Floats) -> Any:
        return getattr(self, name)(rows.targets, raw, *self._extra(rows))

    def derivatives(self, rows: LossRows, margins: Floats) -> tuple[Floats, Floats]:
        """Return weighted gradients and hessians of rows, (n, J), by the loss's own methods."""
        raw = flat(margins)
        parts = (self._ask(name, rows, raw) for name in ("gradient", "hessian"))
        gradients, hessians = (part.reshape(margins.shape) for part in parts)
        if rows.weights is None:
            return gradients, hessians
        return gradients * rows.weights[:, None], hessians * rows.weights[:, None]

    def mean_value(self, rows: LossRows, margins: Floats, total: float = 0.0) -> float:
        """Return the weighted mean of the loss; `total` is the sum of the steps so far."""
        return float(np.average(self._ask("value", rows, flat(margins)), weights=rows.weights))


@dataclass(frozen=True)
class NumpyTerms(Held):
    """A loss at some rows, by its own methods."""

    loss: BuiltIn
    rows: LossRows

    def derive(self, margins: Floats, total: float, derived: Floats) -> Floats:
        """Write derivatives, (2, J, m); return the largest of both, (J, 2)."""
        parts = self.loss.derivatives(self.rows, margins)
        derived[0], derived[1] = parts[0].T, parts[1].T
        tops = (np.max(np.abs(part), axis=0, initial=0.0) for part in parts)
        return np.stack(list(tops), axis=1)

    def write_values(self, margins: Floats, out: Floats) -> float:
        """Write what every row loses, times its weight; return the largest."""
        values = self.loss._ask("value", self.rows, flat(margins))
        out[:] = values * self.rows.unit_or_weights
        return float(np.max(np.abs(out), initial=0.0))


@dataclass(frozen=True)
class OwnLoss(BuiltIn):
    """A user's loss, asked for all rows in the order of the table; what it says is checked."""

    loss: Any

    kind: ClassVar[str] = "own"
    needs_all_rows: ClassVar[bool] = True

    @property
    def uses_costs(self) -> bool:  # type: ignore[override]
        """Whether it takes prices."""
        return bool(getattr(self.loss, "uses_costs", False))

    @property
    def odds(self) -> float:  # type: ignore[override]
        """F times this is the log odds."""
        return float(getattr(self.loss, "odds", 1.0))

    def bind(self, rows: LossRows) -> BoundLoss | None:
        """Bind nothing: the loss sees all rows at once, and they hold what it says."""
        return None

    def measure(self, shards: Shards, total: float, where: str = "margins") -> Floats:
        """Write derivatives at some margins; return the largest of both, (J, 2)."""
        # A user's code sees all rows in the order of the table; its answers go back to the shards,
        # which add them up exactly.
        margins = shards.fetch(lambda shard: getattr(shard.state, where))
        gradients, hessians = self.derivatives(_given(shards), margins)
        shards.put(put_derivatives, np.stack([gradients, hessians], axis=-1))
        return np.stack([np.abs(gradients).max(axis=0), hessians.max(axis=0)], axis=1)

    def _sums_at(self, shards: Shards) -> Callable[[Floats, int], tuple[float, float]]:
        rows = _given(shards)

        def at(f0: Floats, output: int) -> tuple[float, float]:
            everywhere = np.repeat(f0[None, :], len(rows.y), axis=0)
            parts = self.derivatives(rows, everywhere)
            # Rounded once, so that the order of rows does not matter.
            gradient, hessian = (math.fsum(part[:, output].tolist()) for part in parts)
            return gradient, hessian

        return at

    def _ask(self, name: str, rows: LossRows, raw: Floats) -> Any:
        answer = getattr(self.loss, name)(rows.targets, raw, *self._extra(rows))
        shape = (len(raw),) if name == "value" else raw.shape
        found = read_finite(answer, shape, source_of(self.loss, name), low=-FAR, high=FAR)
        if name == "hessian" and found.min(initial=0.0) < 0.0:
            raise ValueError(
                f"{type(self.loss).__name__}.hessian is negative in row "
                f"{int(np.argmin(found)) // rows.n_outputs}: return a positive bound instead, such "
                "as its absolute value."
            )
        return found

    @property
    def link_scale(self) -> float | None:
        """1, unless the loss has a link of its own."""
        return None if hasattr(self.loss, "proba") else 1.0

    def proba(self, raw: Floats) -> Floats:
        """Return class probabilities by the loss's own link, or the logistic one."""
        link = getattr(self.loss, "proba", None)
        if link is None:
            return logistic(raw)
        shape = (len(raw), 2 if raw.ndim == 1 else raw.shape[1])
        return read_shares(link(raw), shape, source_of(self.loss, "proba"))


def own_loss(loss: Any) -> OwnLoss:
    """Return a user's loss as the rounds take it; refuse what has not the three methods."""
    if not isinstance(loss, Loss):
        raise ValueError(
            f"loss={loss!r} is neither a name nor an object with the methods value, gradient and "
            "hessian; see costboost.boosting.gradient.losses.Loss."
        )
    return OwnLoss(loss)


def _given(shards: Shards) -> LossRows:
    """Return all rows in the order of the table."""
    outline: LossRows = shards.call([fetch_row_kinds()])[0]

    def whole(name: str) -> Any:
        if getattr(outline, name) is None:
            return None
        return shards.fetch(lambda shard: np.asarray(getattr(shard.state.data, name)))

    y, weights = whole("targets"), whole("weights")
    prices = whole("prices" if outline.costs is None else "paid")
    return replace(outline, y=y, weights=weights, prices=prices, costs=None)


def newton_constant(
    sums_at: Callable[[Floats, int], tuple[float, float]],
    n_outputs: int,
    limit: float,
    unit: float = 1.0,
) -> Floats:
    """Minimise over one output after the other until none moves.

    Prices far apart take very many turns: after `_ENOUGH` evaluations the rounds do the rest.
    """
    f0 = np.zeros(n_outputs)
    asked = 0

    def counted(place: Floats, output: int) -> tuple[float, float]:
        nonlocal asked
        asked += 1
        return sums_at(place, output)

    while asked < _ENOUGH:
        # One output at a time: all at once would take the matrix of second derivatives.
        before = f0.copy()
        for k in range(n_outputs):
            f0[k] = _minimise_output(counted, f0, k, limit, unit)
        if n_outputs > 1:
            f0 -= f0.mean()  # only differences count
        if np.max(np.abs(f0 - before)) <= 1e-12 * max(min(1.0, unit), float(np.max(np.abs(f0)))):
            break
    return f0


def _minimise_output(
    sums_at: Callable[[Floats, int], tuple[float, float]],
    f0: Floats,
    output: int,
    limit: float,
    unit: float,
) -> float:
    def at(value: Floats) -> tuple[Floats, Floats]:
        place = f0.copy()
        place[output] = value[0]
        gradient, hessian = sums_at(place, output)
        return np.array([gradient]), np.array([hessian])

    return float(minimise(at, 1, limit, unit=unit)[0])


def flat(margins: Floats) -> Floats:
    """Return F as losses take it: (n,) if there is one output."""
    return margins[:, 0] if margins.shape[1] == 1 else margins


def signs(y: Array) -> Floats:
    """Return +1 for class 1, -1 for class 0."""
    return np.where(np.asarray(y) == 1, 1.0, -1.0)


def one_hot(y: Array, n_classes: int) -> Floats:
    """Return (n, K): 1 at every row's class."""
    return np.asarray(np.asarray(y)[:, None] == np.arange(n_classes), dtype=float)


def logistic(raw: Floats) -> Floats:
    """Return class probabilities, (n, K), of log odds (n,) or the softmax's input (n, K)."""
    return formulas.logistic(raw) if raw.ndim == 1 else formulas.softmax(raw)

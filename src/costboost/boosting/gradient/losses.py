"""Losses of gradient boosting: three small methods each.

    value(y, raw)      what each row loses, (n,)
    gradient(y, raw)   its first derivative in `raw`, of the shape of `raw`
    hessian(y, raw)    what stands for the second derivative: at least 0, of the same shape

`raw` is F, the sum of all trees: (n,) for regression and for two classes, (n, K) for K classes. `y`
holds numbers, or class numbers 0 .. K - 1. A loss that sets ``uses_costs = True`` gets a third
argument, `prices`: what each answer costs on each row given its truth, (n, K).

The losses here are written for reading, in NumPy; training runs the same formulas compiled
(`_gradient_kernels.py`). A user's own loss is any object with these methods, see `Loss`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp, softmax

from costboost.boosting.adaboost.rules import OBJECTIVES, At

Floats = NDArray[np.float64]
Array = NDArray[Any]

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels


@runtime_checkable
class Loss(Protocol):
    """What gradient boosting asks of a loss: three methods.

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
        """Return what each row loses, (n,)."""

    def gradient(self, y: Any, raw: Any, /) -> Any:
        """Return the derivative of the value, of the shape of `raw`."""

    def hessian(self, y: Any, raw: Any, /) -> Any:
        """Return the second derivative, or what stands for it; not negative."""


# --- regression


@dataclass(frozen=True)
class SquaredLoss:
    """(y - F)^2 / 2; its best constant is the mean."""

    kind: ClassVar[str] = "squared"

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return half the squared residuals."""
        return np.asarray(0.5 * (raw - y) ** 2)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y."""
        return np.asarray(raw - y)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1."""
        return np.ones_like(raw)


@dataclass(frozen=True)
class PinballLoss:
    """`over` per unit that F lies above y, `under` per unit that it lies below.

    Its best constant is the quantile of level under / (under + over): with over = under = 1 this
    is the absolute loss and the median. Prices per row, (n, 2), replace the constants.

    Examples
    --------
    >>> import numpy as np
    >>> PinballLoss(over=1, under=9).value(np.zeros(2), np.array([2.0, -2.0])).tolist()
    [2.0, 18.0]
    """

    over: float = 1.0
    under: float = 1.0
    kind: ClassVar[str] = "pinball"

    def _prices(self, prices: Floats | None) -> tuple[Any, Any]:
        return (self.over, self.under) if prices is None else (prices[:, 0], prices[:, 1])

    def value(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return the price of every row's error."""
        over, under = self._prices(prices)
        return np.asarray(np.where(raw > y, over * (raw - y), under * (y - raw)))

    def gradient(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return over, -under, or 0 where F = y."""
        over, under = self._prices(prices)
        return np.where(raw > y, over, np.where(raw < y, -under, 0.0))

    def hessian(self, y: Array, raw: Floats, prices: Floats | None = None) -> Floats:
        """Return 1: trees are fitted to the slopes by least squares (Friedman 2001)."""
        return np.ones_like(raw)


@dataclass(frozen=True)
class HuberLoss:
    """Squared up to `delta`, linear beyond: r^2 / 2, else delta (|r| - delta / 2)."""

    delta: float = 1.0
    kind: ClassVar[str] = "huber"

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the loss of every row."""
        r = np.abs(raw - y)
        return np.where(r <= self.delta, 0.5 * r**2, self.delta * (r - 0.5 * self.delta))

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return F - y, cut at delta."""
        return np.clip(raw - y, -self.delta, self.delta)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return 1 within delta, 0 beyond."""
        return (np.abs(raw - y) <= self.delta).astype(float)


# --- classification


def _signs(y: Array) -> Floats:
    return np.where(np.asarray(y) == 1, 1.0, -1.0)


def _one_hot(y: Array, n_classes: int) -> Floats:
    return np.asarray(np.asarray(y)[:, None] == np.arange(n_classes), dtype=float)


def _two_columns(log_odds: Floats) -> Floats:
    return np.column_stack([expit(-log_odds), expit(log_odds)])


@dataclass(frozen=True)
class LogLoss:
    """Minus the log of the true class's probability; F is the log odds, or the softmax's input.

    With Newton leaves this is LogitBoost (Friedman, Hastie and Tibshirani 2000), up to their
    factor of 2 in F.
    """

    kind: ClassVar[str] = "log"
    odds: ClassVar[float] = 1.0

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the cross-entropy of every row."""
        if raw.ndim == 1:
            return np.asarray(-log_expit(_signs(y) * raw))
        return np.asarray(logsumexp(raw, axis=1) - raw[np.arange(len(raw)), y])

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return p - [y = k]."""
        if raw.ndim == 1:
            return np.asarray(-_signs(y) * expit(-_signs(y) * raw))
        return np.asarray(softmax(raw, axis=1) - _one_hot(y, raw.shape[1]))

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return p (1 - p)."""
        p = expit(raw) if raw.ndim == 1 else softmax(raw, axis=1)
        return np.asarray(p * (1 - p))

    def proba(self, raw: Floats) -> Floats:
        """Return class probabilities, (n, K)."""
        return _two_columns(raw) if raw.ndim == 1 else np.asarray(softmax(raw, axis=1))


@dataclass(frozen=True)
class ExponentialTerms:
    """Numbers a, b, w0 of every row: (n,) for two classes, (n, K) against each wrong class.

    `total` is A, the sum of the steps so far: F = sum alpha f, and b is multiplied by sum alpha.
    """

    labels: NDArray[np.int64]
    a: Floats
    b: Floats
    w0: Floats
    total: float = 0.0

    def powers(self, raw: Floats) -> Floats:
        """Return w0 exp(-(a F + b A)); for K classes with F_y - F_k for F, and 0 at the label."""
        if raw.ndim == 1:
            z = -(self.a * raw + self.b * self.total)
            return np.asarray(self.w0 * np.exp(np.minimum(z, _STEEP)))
        rows = np.arange(len(raw))
        z = -(self.a * (raw[rows, self.labels][:, None] - raw) + self.b * self.total)
        powers = self.w0 * np.exp(np.minimum(z, _STEEP))
        powers[rows, self.labels] = 0.0
        return np.asarray(powers)

    def value(self, raw: Floats) -> Floats:
        """Return the loss of every row."""
        powers = self.powers(raw)
        return powers if raw.ndim == 1 else np.asarray(powers.sum(axis=1))

    def gradient(self, raw: Floats) -> Floats:
        """Return -a z, z the powers; for K classes a z, and minus their sum at the label."""
        if raw.ndim == 1:
            return np.asarray(-self.a * self.powers(raw))
        slopes = self.a * self.powers(raw)
        slopes[np.arange(len(raw)), self.labels] = -slopes.sum(axis=1)
        return np.asarray(slopes)

    def hessian(self, raw: Floats) -> Floats:
        """Return a^2 z; for K classes their sum at the label."""
        bends = self.a**2 * self.powers(raw)
        if raw.ndim == 2:
            bends[np.arange(len(raw)), self.labels] = bends.sum(axis=1)
        return np.asarray(bends)


@dataclass(frozen=True)
class ExponentialLoss:
    """exp(-y F), AdaBoost's loss; for K classes the sum over k != y of exp(F_k - F_y).

    The minimiser is half the log odds (for K classes, up to a constant, half the log of each
    class's probability), so that probabilities are the logistic function or softmax of 2 F.
    """

    kind: ClassVar[str] = "exponential"
    odds: ClassVar[float] = 2.0

    def _terms(self, y: Array, raw: Floats) -> ExponentialTerms:
        a = _signs(y) if raw.ndim == 1 else np.ones_like(raw)
        labels = np.asarray(y, dtype=np.int64)
        return ExponentialTerms(labels, a, np.zeros_like(raw), np.ones_like(raw))

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the loss of every row."""
        return self._terms(y, raw).value(raw)

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return its derivative."""
        return self._terms(y, raw).gradient(raw)

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return its second derivative."""
        return self._terms(y, raw).hessian(raw)

    def proba(self, raw: Floats) -> Floats:
        """Return class probabilities, (n, K)."""
        if raw.ndim == 1:
            return _two_columns(2.0 * raw)
        return np.asarray(softmax(2.0 * raw, axis=1))


@dataclass(frozen=True)
class CostExponentialLoss:
    """Cai, Song and Zhang's objective (17): w0 exp(-sum alpha (a f + b)).

    With F = sum alpha f and A = sum alpha this is w0 exp(-(a F + b A)). Two classes have one term
    per row; K classes have one for every wrong answer k, with F_y - F_k in place of F, costs
    C[y, k], and a, b, w0 from them.

    Parameters
    ----------
    objective : str, or callable
        "asymboost" and "adac1" (a = c y, b = 0, w0 = 1), "adacost" (a = y / 2, b = -c / 2,
        w0 = c), "cgada" (a = y, b = 0, w0 = c), "adaboost" (a = y, b = 0, w0 = 1), or a function
        from `At` (costs `cost`, scaled to at most 1, and labels `sign`) to (a, b, w0).
    scale : float
        Multiplies costs; training sets it to 1 over the largest.
    total : float
        A.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CostExponentialLoss("cgada")
    >>> prices = np.array([[0.0, 0.5], [1.0, 0.0]])  # row 0 is negative, row 1 positive
    >>> loss.value(np.array([0, 1]), np.zeros(2), prices).tolist()
    [0.5, 1.0]
    """

    objective: Any = "asymboost"
    scale: float = 1.0
    total: float = 0.0
    kind: ClassVar[str] = "cost-exponential"
    odds: ClassVar[float] = 2.0
    uses_costs: ClassVar[bool] = True

    def evaluate(self, cost: Floats, sign: Floats, n_classes: int) -> tuple[Floats, ...]:
        """Return a, b, w0 at these costs and labels (+1 everywhere for K classes)."""
        objective = self.objective if callable(self.objective) else NAMED[self.objective]
        at = At(cost=self.scale * cost, sign=sign, n_classes=n_classes)
        parts = (np.asarray(part, dtype=float) for part in objective(at))
        return tuple(np.ascontiguousarray(np.broadcast_to(part, cost.shape)) for part in parts)

    def terms(self, y: Array, prices: Floats, n_outputs: int) -> ExponentialTerms:
        """Return the numbers of every row; each aims at its cheapest answer (Lozano and Abe)."""
        rows = np.arange(len(prices))
        aim = np.asarray(y, dtype=np.int64)
        best = np.argmin(prices, axis=1)
        aim = np.where(prices[rows, aim] <= prices[rows, best], aim, best)
        excess = prices - prices[rows, aim][:, None]
        if n_outputs == 1:
            a, b, w0 = self.evaluate(excess[rows, 1 - aim], _signs(aim), 2)
        else:
            a, b, w0 = self.evaluate(excess, np.ones_like(excess), prices.shape[1])
        return ExponentialTerms(aim, a, b, w0, self.total)

    def _at(self, y: Array, raw: Floats, prices: Floats) -> ExponentialTerms:
        return self.terms(y, prices, 1 if raw.ndim == 1 else raw.shape[1])

    def value(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return the loss of every row."""
        return self._at(y, raw, prices).value(raw)

    def gradient(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return its derivative."""
        return self._at(y, raw, prices).gradient(raw)

    def hessian(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return its second derivative."""
        return self._at(y, raw, prices).hessian(raw)

    def proba(self, raw: Floats) -> Floats:
        """Return AdaBoost's link of the margins, (n, K): it contains the costs."""
        return ExponentialLoss().proba(raw)


def _cost_or_one(at: At) -> Floats:
    return at.cost if np.any(at.cost) else np.ones_like(at.cost)


NAMED: dict[str, Any] = {
    **OBJECTIVES,
    "cgada": lambda at: (at.sign, np.zeros_like(at.cost), _cost_or_one(at)),
}


@dataclass(frozen=True)
class ExpectedCostLoss:
    """The cost that answers drawn from p would have: sum_k p_k C[y, k] (Hoppner et al. 2022).

    p is the logistic function of F, or the softmax. The loss is bounded and not convex. Its true
    curvature (1 - 2 s) g, for two classes with s = p_1 and slope g, is negative on one side and 0
    at s = 1/2. Hoppner et al. take its absolute value and need an epsilon; we take the bound |g|
    of that, under which every Newton step with a learning rate of at most 1/2 lowers the loss. For
    K classes it is p_k (|C_k - E| + sum_j p_j |C_j - E|), E the expected cost: by diagonal
    dominance twice that bounds the matrix of second derivatives, and 1/4 is small enough.
    """

    kind: ClassVar[str] = "expected-cost"
    odds: ClassVar[float] = 1.0
    uses_costs: ClassVar[bool] = True

    def value(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return the expected cost of every row."""
        return np.asarray(np.sum(self.proba(raw) * prices, axis=1))

    def gradient(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return s (1 - s) (C_1 - C_0), or p_k (C_k - E)."""
        p = self.proba(raw)
        if raw.ndim == 1:
            return np.asarray(p[:, 0] * p[:, 1] * (prices[:, 1] - prices[:, 0]))
        return np.asarray(p * (prices - np.sum(p * prices, axis=1, keepdims=True)))

    def hessian(self, y: Array, raw: Floats, prices: Floats) -> Floats:
        """Return the bound of the absolute curvature."""
        if raw.ndim == 1:
            return np.abs(self.gradient(y, raw, prices))
        p = self.proba(raw)
        gap = np.abs(prices - np.sum(p * prices, axis=1, keepdims=True))
        return np.asarray(p * (gap + np.sum(p * gap, axis=1, keepdims=True)))

    def proba(self, raw: Floats) -> Floats:
        """Return the probabilities of the answers, (n, K): they contain the costs."""
        return LogLoss().proba(raw)


REGRESSION_LOSSES = ("squared", "absolute", "huber", "pinball")
CLASSIFICATION_LOSSES: dict[str, Any] = {
    loss.kind: loss for loss in (LogLoss, ExponentialLoss, CostExponentialLoss, ExpectedCostLoss)
}

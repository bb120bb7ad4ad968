"""What the losses of classes share: numbers by class or by row, and one pair of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp, softmax

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.losses.base import BuiltIn, one_hot, signs
from costboost.boosting.gradient.rows import NONE, BoundLoss, LossRows, Read, log_shares, read_both
from costboost.shards.layout import Shards
from costboost.typing import Array, Floats, Int64

# The kernels' numbers, in the order in which they declare them.
LOG, EXPONENTIAL, EXPECTED, SOFTMAX = range(3, 7)


@dataclass(frozen=True)
class ClassTerms(BoundLoss):
    """A loss of classes at some rows.

    Attributes
    ----------
    number : int
        The loss's, in the kernels.
    labels : uint8 array of shape (m,)
        What each row aims at.
    by_class : bool
        Whether the entries of a, b, w0 are those of classes, or of rows.
    a, b, w0 : float64 arrays of shape (n,) for two classes, (n, K) for K
        A single entry of b or w0, for two classes, is that of all.
    weights : float64 array of shape (m,) or (0,)
    """

    number: int
    labels: NDArray[np.uint8]
    by_class: bool
    a: Floats
    b: Floats
    w0: Floats
    weights: Floats

    @classmethod
    def of(
        cls,
        number: int,
        rows: LossRows,
        labels: NDArray[Any],
        terms: tuple[Floats, Floats, Floats],
        by_class: bool,
    ) -> ClassTerms:
        """Bind rows."""
        weights = np.zeros(0) if rows.weights is None else rows.weights
        a, b, w0 = terms
        own = (np.asarray(labels, dtype=np.uint8), by_class, a, once(b), once(w0), weights)
        return cls(number, *own)

    @classmethod
    def plain(cls, number: int, rows: LossRows, sign: float = 0.0) -> ClassTerms:
        """Bind rows to a loss without prices; for two classes a is -sign and sign."""
        one = rows.n_outputs == 1
        shape = (2,) if one else (rows.n_outputs, rows.n_outputs)
        a = np.array([-sign, sign]) if one else np.full(shape, sign)
        return cls.of(number, rows, rows.y, (a, np.zeros(shape), np.ones(shape)), by_class=True)

    @property
    def sizes(self) -> Floats:
        """|a| of every row, of K classes the largest, (m,)."""
        sizes = np.abs(self.a) if self.a.ndim == 1 else np.abs(self.a).max(axis=1)
        return sizes[self.labels] if self.by_class else sizes

    @property
    def largest_w0(self) -> float:
        """The largest weight that the loss gives a row."""
        return float(np.max(self.w0, initial=0.0))

    @property
    def drift(self) -> float:
        """The largest |b|: whether the loss changes with the sum of the steps alone."""
        return float(np.max(np.abs(self.b), initial=0.0))

    @property
    def aims(self) -> Floats:
        """The a of every row, for two classes: which way its margin should go."""
        return self.a[self.labels] if self.by_class else self.a

    @property
    def depth(self) -> int:
        """A core, unless the derivatives of K classes depend on each other's."""
        return 1 if self.a.ndim == 1 or self.number == LOG else 2

    def derive(self, margins: Floats, total: float, derived: Floats) -> Floats:
        """Write what derivatives are read from; return the largest of both, (J, 2)."""
        largest = np.zeros((margins.shape[1], 2))
        # All classes in one pass: their softmax has one denominator.
        if self.number == LOG and self.a.ndim == 2:
            kernels.softmax_cores(margins, self.labels, self.weights, derived[0], largest)
            return largest
        numbers = (self.labels, self.by_class, self.a, self.b, self.w0, total, self.weights)
        if self.a.ndim == 1:
            kernels.binary_cores(self.number, margins, *numbers, derived[0, 0], largest)
        else:
            kernels.class_gradients(self.number, margins, *numbers, derived[0], derived[1], largest)
        return largest

    def read(self, derived: Floats, output: int) -> Read:
        """Return the derivatives of an output as kernels take them."""
        if self.depth == 2:
            return read_both(derived[0, output], derived[1, output], self.weights)
        one = self.a.ndim == 1
        kind, a = (self.number, self.a) if one else (SOFTMAX, NONE)
        return kind, derived[0, output], output, self.labels, self.by_class, a, self.weights

    def along(self, steps: Floats) -> Floats:
        """Return the factors of gradients along a line search, (m, J).

        That is the steps themselves, but for b: w0 exp(-(a (F + l f) + b (A + l))) falls with l
        as if f were f + b / a.
        """
        if not np.any(self.b):
            return steps
        extra = np.divide(self.b, self.a, out=np.zeros_like(self.a), where=self.a != 0.0)
        if self.by_class:
            extra = extra[self.labels]
        if steps.shape[1] == 1:
            return np.asarray(steps + extra[:, None])
        # Against the step of the true class, as K-class margins are.
        rows = np.arange(len(self.labels))
        steps = steps - steps[rows, self.labels][:, None] - extra
        steps[rows, self.labels] = 0.0
        return np.ascontiguousarray(steps)


def once(term: Floats) -> Floats:
    """Return one entry of a term of two classes that is the same everywhere."""
    alike = term.ndim == 1 and term.size > 1 and np.all(term == term[0])
    return term[:1].copy() if alike else term


# Log loss: the likelihood of classes.


@dataclass(frozen=True)
class LogLoss(BuiltIn):
    """Minus the log of the true class's probability; F is the log odds, or the softmax's input.

    With Newton leaves this is LogitBoost (Friedman, Hastie and Tibshirani 2000), up to their
    factor of 2 in F.

    Examples
    --------
    >>> import numpy as np
    >>> loss = LogLoss()
    >>> y, F = np.array([0.0, 1.0]), np.array([0.5, 0.5])
    >>> loss.value(y, F).round(3).tolist(), loss.gradient(y, F).round(3).tolist()
    ([0.974, 0.474], [0.622, -0.378])
    """

    kind: ClassVar[str] = "log"

    def value(self, y: Array, raw: Floats) -> Floats:
        """Return the cross-entropy of every row."""
        if raw.ndim == 1:
            return np.asarray(-log_expit(signs(y) * raw))
        return np.asarray(logsumexp(raw, axis=1) - raw[np.arange(len(raw)), y])

    def gradient(self, y: Array, raw: Floats) -> Floats:
        """Return p - [y = k]."""
        if raw.ndim == 1:
            return np.asarray(-signs(y) * expit(-signs(y) * raw))
        return np.asarray(softmax(raw, axis=1) - one_hot(y, raw.shape[1]))

    def hessian(self, y: Array, raw: Floats) -> Floats:
        """Return p (1 - p)."""
        p = expit(raw) if raw.ndim == 1 else softmax(raw, axis=1)
        return np.asarray(p * (1 - p))

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        return ClassTerms.plain(LOG, rows)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return the log odds, or the centred logs of the classes' shares."""
        return log_shares(shards, n_outputs) / self.odds


# AdaBoost's loss, and the numbers of every row that exponential losses share.

_STEEP = 500.0  # exponents are cut here, far from overflow; as in the kernels


@dataclass(frozen=True)
class ExponentialTerms:
    """Numbers a, b, w0 of every row: (n,) for two classes, (n, K) against each wrong class.

    `total` is A, the sum of the steps so far: F = sum alpha f, and b is multiplied by sum alpha.
    """

    labels: Int64
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
        gradients = self.a * self.powers(raw)
        gradients[np.arange(len(raw)), self.labels] = -gradients.sum(axis=1)
        return np.asarray(gradients)

    def hessian(self, raw: Floats) -> Floats:
        """Return a^2 z; for K classes their sum at the label."""
        hessians = self.a**2 * self.powers(raw)
        if raw.ndim == 2:
            hessians[np.arange(len(raw)), self.labels] = hessians.sum(axis=1)
        return np.asarray(hessians)


@dataclass(frozen=True)
class ExponentialLoss(BuiltIn):
    """exp(-y F), AdaBoost's loss; for K classes the sum over k != y of exp(F_k - F_y).

    The minimiser is half the log odds (for K classes, up to a constant, half the log of each
    class's probability), so that probabilities are the logistic function or softmax of 2 F.

    Examples
    --------
    >>> import numpy as np
    >>> ExponentialLoss().value(np.array([0.0, 1.0]), np.array([0.5, 0.5])).round(3).tolist()
    [1.649, 0.607]
    """

    kind: ClassVar[str] = "exponential"
    odds: ClassVar[float] = 2.0

    def _terms(self, y: Array, raw: Floats) -> ExponentialTerms:
        a = signs(y) if raw.ndim == 1 else np.ones_like(raw)
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

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        return ClassTerms.plain(EXPONENTIAL, rows, sign=1.0)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return half the log odds, or half the centred logs of the classes' shares."""
        return log_shares(shards, n_outputs) / self.odds


# The expected cost of answers drawn by their probabilities.


@dataclass(frozen=True)
class ExpectedCostLoss(BuiltIn):
    """The cost that answers drawn from p would have: sum_k p_k C[y, k] (Hoppner et al. 2022).

    p is the logistic function of F, or the softmax. The loss is bounded and not convex. Its true
    curvature (1 - 2 s) g, for two classes with s = p_1 and gradient g, is negative on one side and
    0 at s = 1/2. Hoppner et al. take its absolute value and need an epsilon; we take the bound
    ``|g|`` of that, under which every Newton step with a learning rate of at most 1/2 lowers the
    loss. For K classes it is ``p_k (|C_k - E| + sum_j p_j |C_j - E|)``, E the expected cost: by
    diagonal dominance twice that bounds the matrix of second derivatives, and 1/4 is small enough.

    Examples
    --------
    >>> import numpy as np
    >>> prices = np.array([[0.0, 2.0], [8.0, 0.0]])  # row 0 is negative, row 1 positive
    >>> ExpectedCostLoss().value(np.array([0, 1]), np.zeros(2), prices).tolist()
    [1.0, 4.0]
    """

    kind: ClassVar[str] = "expected-cost"
    uses_costs: ClassVar[bool] = True
    endless: ClassVar[bool] = True

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

    def bind(self, rows: LossRows) -> ClassTerms:
        """Return the loss at some rows."""
        by_class, one = rows.table is not None, rows.n_outputs == 1
        if rows.table is not None:
            a = np.ascontiguousarray(_extra(rows.table) if one else rows.table)
        elif one:
            # Two classes need one number of a row, what answering 1 costs more: prices of both are
            # made block by block.
            a = np.empty(len(rows.y))
            for block, part in rows.blocks():
                a[block] = _extra(part.paid)
        else:
            a = np.ascontiguousarray(rows.paid)
        shape = (1,) if one else a.shape
        numbers = (a, np.zeros(shape), np.ones(shape))
        return ClassTerms.of(EXPECTED, rows, rows.y, numbers, by_class)

    def constant(self, shards: Shards, n_outputs: int) -> Floats:
        """Return 0, where gradients are steepest.

        Expected cost is linear in the probabilities and has no best constant but certainty, where
        every gradient vanishes.
        """
        return np.zeros(n_outputs)


def _extra(paid: Floats) -> Floats:
    """Return C[:, 1] - C[:, 0], (n,)."""
    return np.asarray(paid[:, 1] - paid[:, 0])

"""What the losses of classes share: numbers by class or by row, and one pair of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient import _gradient_kernels as kernels
from costboost.boosting.gradient.rows import NONE, BoundLoss, LossRows, Read, read_both

Floats = NDArray[np.float64]

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
        """Return what multiplies gradients when all steps are taken at once, (m, J).

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
        rows = np.arange(len(self.labels))
        steps = steps - steps[rows, self.labels][:, None] - extra
        steps[rows, self.labels] = 0.0
        return np.ascontiguousarray(steps)


def once(term: Floats) -> Floats:
    """Return one entry of a term of two classes that is the same everywhere."""
    alike = term.ndim == 1 and term.size > 1 and np.all(term == term[0])
    return term[:1].copy() if alike else term

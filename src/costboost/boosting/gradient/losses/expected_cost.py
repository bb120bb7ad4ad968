"""The expected cost of answers drawn by their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.gradient.losses.base import BuiltIn
from costboost.boosting.gradient.losses.classes import EXPECTED, ClassTerms
from costboost.boosting.gradient.rows import LossRows
from costboost.shards.local import Shards

Floats = NDArray[np.float64]
Array = NDArray[Any]


@dataclass(frozen=True)
class ExpectedCostLoss(BuiltIn):
    """The cost that answers drawn from p would have: sum_k p_k C[y, k] (Hoppner et al. 2022).

    p is the logistic function of F, or the softmax. The loss is bounded and not convex. Its true
    curvature (1 - 2 s) g, for two classes with s = p_1 and gradient g, is negative on one side and
    0 at s = 1/2. Hoppner et al. take its absolute value and need an epsilon; we take the bound |g|
    of that, under which every Newton step with a learning rate of at most 1/2 lowers the loss. For
    K classes it is p_k (|C_k - E| + sum_j p_j |C_j - E|), E the expected cost: by diagonal
    dominance twice that bounds the matrix of second derivatives, and 1/4 is small enough.
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
    """Return what answering 1 costs more than answering 0."""
    return np.asarray(paid[:, 1] - paid[:, 0])

"""Long steps, by logarithms: sums that numbers do not hold, and weights that come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.messages.summing import View
from costboost.boosting.adaboost.rows import Part, margins_of
from costboost.shards.messages import Command, Largest, Message, Parts
from costboost.shards.rows import Shard

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]
Side = Literal[0, 1, 2]  # all rows, those whose weight falls with a step, those whose rises


@dataclass(frozen=True)
class RowLogs:
    """How ln(weight * factor) and the effective margin of a row are found.

    Attributes
    ----------
    view : View
    cells : float64 array of shape (L, K) or None
        Margins by leaf and class, where rows of a cell are alike.
    factors : float64 array of shape (L, K) or None
        Factors, likewise; None: the rows' own, if the view has any.
    """

    view: View
    cells: Floats | None = None
    factors: Floats | None = None

    def part(self, shard: Shard) -> Part:
        """Return both, (m,) each."""
        state, leaves, view = shard.state, shard.leaves, self.view
        logs = state.log_weights()
        if self.factors is not None:
            logs += _logs(self.factors)[leaves, state.labels]
        if self.cells is not None:
            u = self.cells[leaves, state.labels]
            u = u * state.sizes if view.hypothesis.by_row else u
            if self.factors is not None or not view.factor:
                return logs, u
        own = self.cells is None
        u = np.empty(len(leaves)) if own else u
        for rows, terms in state.term_blocks(shard.starts):
            terms, at = view.terms(state, rows, terms), leaves[rows]
            if self.factors is None and terms.factored:
                logs[rows] += _logs(terms.factors(view.hypothesis, at))
            if own:
                labels = state.labels[rows]
                u[rows] = margins_of(terms, view.hypothesis, at, labels, state.n_classes)
        return logs, u


@dataclass(frozen=True)
class MakeTails(Parts):
    """Keep logs and margins of all rows, of those that gain and of those that lose; count them."""

    how: RowLogs

    changes = True

    def answer(self, shard: Shard) -> tuple[int, int, int]:
        """Return the numbers of rows."""
        logs, u = self.how.part(shard)
        tails = [(logs, u), _sized(logs, u, u > 0.0), _sized(logs, u, u < 0.0)]
        shard.state.tails = tails
        return len(tails[0][0]), len(tails[1][0]), len(tails[2][0])


@dataclass(frozen=True)
class LargestLog(Largest):
    """Tell the largest of logs - alpha u."""

    side: Side
    alpha: float

    def answer(self, shard: Shard) -> float:
        """Return it."""
        part: Part = shard.state.tails[self.side]
        return float(kernels.largest_log(*part, self.alpha))


@dataclass(frozen=True)
class SumLogs(Message):
    """Add up exp(logs - alpha u - top), (1, 2)."""

    side: Side
    alpha: float
    top: float
    scale: float

    def answer(self, shard: Shard) -> Int64:
        """Return the sum."""
        out = np.zeros((1, 2), dtype=np.int64)
        part: Part = shard.state.tails[self.side]
        kernels.sum_of_logs(*part, self.alpha, self.top, self.scale, out)
        return out


@dataclass(frozen=True)
class StepLogs(Largest):
    """Take a step by logarithms, which are kept from now on; tell the largest.

    `round_factor` has logarithms of the rule's factors before a round, by class; None: the rows'
    own if `own_round_factor`, else none.
    """

    how: RowLogs
    alpha: float
    round_factor: Floats | None
    own_round_factor: bool

    changes = True

    def answer(self, shard: Shard) -> float:
        """Return the largest logarithm."""
        logs, u = self.how.part(shard)
        logs -= self.alpha * u
        if self.own_round_factor:
            logs += _logs(shard.state.round_factor())
        elif self.round_factor is not None:
            logs += self.round_factor[shard.state.labels]
        shard.state.logs = logs
        return float(np.max(logs, initial=-np.inf))


@dataclass(frozen=True)
class SettleLogs(Command):
    """Make weights of the logarithms, the largest 1."""

    top: float

    def answer(self, shard: Shard) -> None:
        """Write them."""
        state = shard.state
        state.logs -= self.top
        state.tails = []
        kernels.raise_logs(state.logs, state.weights)


def _logs(values: Floats) -> Floats:
    """Return logarithms; factors of 0 leave no weight."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _sized(logs: Floats, u: Floats, chosen: NDArray[np.bool_]) -> Part:
    """Return ln(q |u|) and u of the chosen rows."""
    sizes = np.abs(u[chosen])
    kernels.take_logs(sizes, sizes)
    return logs[chosen] + sizes, u[chosen]

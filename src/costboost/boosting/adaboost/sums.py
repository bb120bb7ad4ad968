"""Messages that sum over rows: weights by leaf and class, and Z of steps that are not long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import AdaRows, Part, RowTerms, margins_of
from costboost.runtime.messages import largest, message, total, totals
from costboost.shards.rows import Shard
from costboost.typing import Floats, Int64

KernelRows = tuple[Floats, Int64, NDArray[np.uint16], Int64, Floats, Floats, Floats]

BLOCK = 1024  # rows that the kernels take at a time
N_CELLS = 2048  # of an outline of Z


@message(reduce=total)
def sum_cells(shard: Shard, *, n_leaves: int, scale: float) -> Int64:
    """Add up the weights by leaf and class, (L, K)."""
    # Two planes, for even and odd rows: neighbouring rows are often of one leaf, and an add would
    # wait for the one before it.
    out = np.zeros((2, n_leaves, shard.state.n_classes), dtype=np.int64)
    kernels.sum_by_leaf(shard.state.weights, shard.starts, shard.leaves, scale, out)
    return np.asarray(out[0] + out[1])


@dataclass(frozen=True)
class View:
    """Which margins and factors a sum uses: the rule's, or plain ones.

    With `code` a wrong vote counts -1 / (K - 1), as SAMME codes it.
    """

    hypothesis: Hypothesis
    exponent: bool = True
    factor: bool = True
    code: bool = False

    def terms(self, state: AdaRows, rows: slice, terms: RowTerms) -> RowTerms:
        """Return margins and factors by row and answer, of some rows and their terms."""
        labels = state.labels[rows]
        if self.code or not self.exponent:
            wrong = 1.0 / (state.n_classes - 1) if self.code else 1.0
            terms = terms.plain(labels, state.n_classes, wrong)
        terms = terms.spread(labels)
        if self.hypothesis.by_row:
            assert state.sizes is not None
            terms = terms.times(state.sizes[rows])
        return terms if self.factor else terms.unpriced()

    def blocks(self, shard: Shard) -> Iterator[KernelRows]:
        """Yield the leading arguments of all kernels, block by block."""
        hypothesis, n_classes = self.hypothesis, shard.state.n_classes
        for rows, own in shard.state.term_blocks(shard.starts):
            terms = self.terms(shard.state, rows, own)
            answers = terms.columns(hypothesis), terms.sizes(hypothesis, n_classes)
            yield *weighed(shard, rows), *answers, terms.u, terms.f


def weighed(shard: Shard, rows: slice) -> tuple[Floats, Int64, NDArray[np.uint16]]:
    """Return (weights, class starts, leaves) of some rows, as kernels take them."""
    starts = np.clip(shard.starts - rows.start, 0, rows.stop - rows.start)
    return shard.state.weights[rows], starts, shard.leaves[rows]


@message(reduce=total)
def sum_priced_cells(shard: Shard, *, hypothesis: Hypothesis, scale: float) -> Int64:
    """Add up weight * factor by leaf and class, (L, K, 2): units and remainders."""
    n_leaves = len(hypothesis.votes)
    out = np.zeros((n_leaves, shard.state.n_classes, 2), dtype=np.int64)
    for rows, terms in shard.state.term_blocks(shard.starts, margins=False):
        columns = terms.columns(hypothesis)
        kernels.sum_terms_by_leaf(*weighed(shard, rows), columns, terms.f, scale, out)
    return out


@message(reduce=largest)
def largest_priced_weight(shard: Shard, *, hypothesis: Hypothesis) -> float:
    """Return the largest weight * factor."""
    largest = 0.0
    # The product itself, where bounds of weights and of factors multiplied would be too coarse a
    # grid.
    for rows, terms in shard.state.term_blocks(shard.starts, margins=False):
        f = terms.factors(hypothesis, shard.leaves[rows])
        largest = np.max(shard.state.weights[rows] * f, initial=largest)
    return float(largest)


@message(reduce=largest)
def largest_vote_size(shard: Shard) -> float:
    """Return the strength of the strongest vote of an outside learner."""
    return float(np.max(shard.state.sizes, initial=0.0))


@message(reduce=totals)
def sum_outline(shard: Shard, *, view: View, reach: float, scale: float) -> tuple[Int64, Int64]:
    """Return moments of q by cell of u, (N_CELLS, 4); weight * factor by leaf and class, (L, K)."""
    blocks = np.empty(BLOCK), np.empty(BLOCK, dtype=np.int32)  # scratch of the kernel
    moments = np.zeros((N_CELLS, 4), dtype=np.int64)
    n_leaves = len(view.hypothesis.votes)
    sums = np.zeros((n_leaves, shard.state.n_classes), dtype=np.int64)
    for rows in view.blocks(shard):
        kernels.outline_rows(*rows, reach, scale, *blocks, moments, sums)
    return moments, sums


@message(reduce=total)
def sum_balance(shard: Shard, *, view: View, scale: float) -> Int64:
    """Add up q (1 + u) and q (1 - u), (2, 2)."""
    out = np.zeros((2, 2), dtype=np.int64)
    for rows in view.blocks(shard):
        kernels.balance_rows(*rows, scale, out)
    return out


@message(reduce=total)
def sum_z(shard: Shard, *, view: View, alpha: float, halvings: int, scale: float) -> Int64:
    """Add up q exp(-alpha u), times 1, u and u^2, (3, 2)."""
    block, out = np.empty(BLOCK), np.zeros((3, 2), dtype=np.int64)
    step = (alpha, halvings, scale)
    for rows in view.blocks(shard):
        kernels.normalizer_rows(*rows, *step, block, out)
    return out


# Long steps in logs: sums that floats do not hold, and weights that would underflow.

Side = Literal[0, 1, 2]  # all rows, those whose weight falls with a step, those whose rises


@dataclass(frozen=True)
class RowLogs:
    """How a shard computes ln(weight * factor) and the effective margin of its rows.

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
        # By cell where rows of a leaf and class are alike: a look-up in place of the rule.
        logs = state.log_weights()
        if self.factors is not None:
            logs += _logs(self.factors)[leaves, state.labels]
        if self.cells is not None:
            u = self.cells[leaves, state.labels]
            u = u * state.sizes if view.hypothesis.by_row else u
            if self.factors is not None or not view.factor:
                return logs, u
        # What cells do not say is evaluated block by block, so that temporaries stay in cache.
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


@message(reduce=totals, changes=True)
def make_tails(shard: Shard, *, how: RowLogs) -> tuple[int, int, int]:
    """Cache logs and margins of all rows, of those with u > 0 and with u < 0.

    Return their counts.
    """
    # One search for a long step asks for these sums many times: rows are evaluated once.
    logs, u = how.part(shard)
    tails = [(logs, u), _sized(logs, u, u > 0.0), _sized(logs, u, u < 0.0)]
    shard.state.tails = tails
    return len(tails[0][0]), len(tails[1][0]), len(tails[2][0])


@message(reduce=largest)
def largest_log(shard: Shard, *, side: Side, alpha: float) -> float:
    """Return the largest of logs - alpha u."""
    part: Part = shard.state.tails[side]
    return float(kernels.largest_log(*part, alpha))


@message(reduce=total)
def sum_logs(shard: Shard, *, side: Side, alpha: float, top: float, scale: float) -> Int64:
    """Add up exp(logs - alpha u - top), (1, 2)."""
    out = np.zeros((1, 2), dtype=np.int64)
    part: Part = shard.state.tails[side]
    kernels.sum_of_logs(*part, alpha, top, scale, out)
    return out


@message(reduce=largest, changes=True)
def step_logs(
    shard: Shard, *, how: RowLogs, alpha: float, round_factor: Floats | None, own_round_factor: bool
) -> float:
    """Take a step in logs, which replace the weights from now on; return the largest.

    `round_factor` has logarithms of the rule's factors before a round, by class; None: the rows'
    own if `own_round_factor`, else none.
    """
    logs, u = how.part(shard)
    logs -= alpha * u
    if own_round_factor:
        logs += _logs(shard.state.round_factor())
    elif round_factor is not None:
        logs += round_factor[shard.state.labels]
    shard.state.logs = logs
    return float(np.max(logs, initial=-np.inf))


@message(reduce=None, changes=True)
def settle_logs(shard: Shard, *, top: float) -> None:
    """Recompute weights from logs, the largest 1."""
    # The logs stay, and are the weights' truth from now on; tails belong to the weights before.
    state = shard.state
    state.logs -= top
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

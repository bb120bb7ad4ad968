"""Would a new model pay? A challenger learns from recent rows; later ones bill both models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from costboost.costs import Costs, as_costs
from costboost.fitting.time_split import LabelTimes
from costboost.inputs.arrays import missing_in
from costboost.inputs.checks import check_number
from costboost.metrics import DecisionSwap, compare_decisions
from costboost.metrics.policies import SumInterval
from costboost.typing import Indices

__all__ = ["Challenge", "challenge"]

# Of fewer differing rows an interval says little: the rare large mistake may not be among them.
FEW_CHANGES = 30


@dataclass(frozen=True, eq=False, repr=False)
class Challenge:
    """A challenger, and what replacing the old model by it would have saved.

    Attributes
    ----------
    model : classifier
        The challenger, trained on the rows ``learnt``.
    learnt, judged : int arrays
        Numbers of the rows that it learnt from, and of the later ones that judge both.
    saved : SumInterval
        What the change saves on the rows ``judged``, in total, with its paired interval.
    swap : DecisionSwap
        Which of them are decided differently, and what each exchange saves.
    rows_needed : int or None
        How many rows would have to be judged for a clear answer, see Notes; None if no number
        would do, as nothing is saved or lost.

    Notes
    -----
    In proportion to the sum, the interval of n rows narrows as ``1 / sqrt(n)``. If it is ``2 half``
    wide and later rows save as much each, it leaves 0 out from ``n * (half / saved) ** 2`` rows on.
    At least 30 rows must be decided differently, which takes ``n * 30 / changed`` rows. The larger
    number counts.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import GradientBoostClassifier
    >>> from costboost.monitoring import challenge
    >>> y = np.tile([0, 1], 200)
    >>> old = GradientBoostClassifier(n_estimators=5, random_state=0).fit(y[:, None], y)
    >>> found = challenge(old, 1 - y[:, None], y, time=np.arange(400), costs={"fp": 1, "fn": 1})
    >>> found.advice, len(found.learnt), found.swap.total.n_rows, found.saved.total
    ('replace', 300, 100, 100.0)
    """

    model: Any
    learnt: Indices
    judged: Indices
    saved: SumInterval
    swap: DecisionSwap
    rows_needed: int | None

    @property
    def advice(self) -> str:
        """One of ``"replace"``, ``"keep"`` (it would cost more) and ``"wait"`` (not clear yet)."""
        if self.swap.total.n_rows < FEW_CHANGES or self.saved.low <= 0 <= self.saved.high:
            return "wait"
        return "replace" if self.saved.low > 0 else "keep"


def challenge(
    old: Any,
    X: Any,
    y: ArrayLike,
    *,
    time: Any,
    costs: Any = None,
    challenger: Any = None,
    gap: Any = 0,
    label_delay: Any = 0,
    label_time: Any = None,
    holdout: float = 0.25,
    confidence: float = 0.95,
) -> Challenge:
    """Train a challenger on recent rows, and bill it and the old model on later ones.

    Parameters
    ----------
    old : fitted classifier
        One that decides by costs; it is not changed. Give rows that it has not learnt from.
    X : table of n_samples rows
        Recent rows, each with a known label (`costboost.known_labels` finds them).
    y : array-like of shape (n_samples,)
        Their labels.
    time : str, int or array-like of shape (n_samples,)
        When each row was decided, given as to `TimeSplit`. A column of X is still a feature.
    costs : None, dict, array-like or Costs, default=None
        What decisions cost, constant, by column or per row; None: the costs of the old model.
    challenger : classifier, default=None
        What to train; None: the old model's kind, with its parameters.
    gap, label_delay, label_time : default=0, 0, None
        As in `TimeSplit`: what was not known a gap before the first row that judges is not learnt.
    holdout : float, default=0.25
        The share of the rows, the latest, that judge.
    confidence : float, default=0.95
        Coverage of the intervals.

    Returns
    -------
    Challenge

    Raises
    ------
    ValueError
        If a label is missing, or no row is left to learn from or to judge by.

    Examples
    --------
    >>> from costboost import GradientBoostClassifier
    >>> from costboost.datasets import make_card_stream
    >>> from costboost.monitoring import challenge
    >>> stream = make_card_stream(120, 240, 40)
    >>> past, recent = stream.day < 15, stream.day >= 15
    >>> old = GradientBoostClassifier(n_estimators=10, random_state=0)
    >>> old = old.fit(stream.X[past], stream.y[past])
    >>> found = challenge(
    ...     old, stream.X[recent], stream.y[recent], time=stream.time[recent],
    ...     costs=stream.costs[recent], label_delay="7D",
    ... )
    >>> found.advice
    'wait'
    """
    check_number("holdout", holdout, low=0, high=0.9, open_low=True)
    if not hasattr(old, "_decision_costs") or not hasattr(old, "classes_"):
        raise ValueError(
            f"old={type(old).__name__} is no fitted classifier that decides by costs: fit it, or "
            "wrap it in MinimumCostClassifier"
        )
    labels = np.asarray(y)
    missing = missing_in(labels)
    if missing.any():
        raise ValueError(
            f"y is missing in row {int(np.argmax(missing))}: leave out rows whose label is not "
            "known yet (known_labels finds them)"
        )
    times = LabelTimes.read(time, gap=gap, label_delay=label_delay, label_time=label_time, X=X)
    if len(times.when.at) != len(labels):
        raise ValueError(f"time has {len(times.when.at)} rows and y {len(labels)}: give as many")
    learnt, judged = _split(times, holdout)
    for rows, what in ((learnt, "to learn from"), (judged, "to judge by")):
        lacking = [k for k in old.classes_.tolist() if not (labels[rows] == k).any()]
        if lacking:
            raise ValueError(
                f"no row {what} has the label {lacking[0]!r}: give more rows, or another holdout"
            )
    to_fit, to_pay = _priced(old, costs, X)
    new = clone(old) if challenger is None else clone(challenger)
    new.fit(_safe_indexing(X, learnt), labels[learnt], costs=_cut(to_fit, learnt))
    swap = compare_decisions(
        old,
        new,
        _safe_indexing(X, judged),
        labels[judged],
        costs=_cut(to_pay, judged),
        confidence=confidence,
        n_largest=0,
    )
    saved = swap.total.realised
    assert saved is not None  # there are labels
    needed = _rows_needed(saved, len(judged), swap.total.n_rows)
    return Challenge(new, learnt, judged, saved, swap, needed)


def _split(times: LabelTimes, holdout: float) -> tuple[Indices, Indices]:
    at = times.when.at
    n = len(at)
    start = int(np.sort(at)[min(n - 1, n - round(holdout * n))])
    learnt = np.flatnonzero(times.trainable(start))
    if not len(learnt):
        raise ValueError(
            "no row had a known label when the challenger would have been trained: give more rows, "
            "a shorter gap or label_delay, or a smaller holdout"
        )
    return learnt, np.flatnonzero(at >= start)


def _priced(old: Any, costs: Any, X: Any) -> tuple[Costs, Costs]:
    """Return the costs to fit with, by column if so given, and those to pay by."""
    if costs is None:
        if old.costs_per_row_:
            raise ValueError("the old model was fitted with costs of other rows: give costs")
        costs = old.costs_
    return as_costs(costs), as_costs(costs, table=X)


def _cut(costs: Costs, rows: Indices) -> Costs:
    return costs if costs.n_rows is None else costs[rows]


def _rows_needed(saved: SumInterval, n: int, n_changed: int) -> int | None:
    if saved.total == 0 or n_changed == 0:
        return None
    half = (saved.high - saved.low) / 2
    return math.ceil(max(n * (half / saved.total) ** 2, n * FEW_CHANGES / n_changed))

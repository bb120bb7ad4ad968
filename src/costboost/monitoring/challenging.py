"""Whether a change would pay: a new model, a new map to probabilities, or new prices.

What learns learns from recent rows, and later ones bill it and the old model.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from costboost.calibration import read_groups
from costboost.costs import Costs, as_costs
from costboost.fitting.time_split import LabelTimes
from costboost.inputs.arrays import missing_in
from costboost.inputs.checks import check_number
from costboost.metrics import DecisionSwap, compare_decisions
from costboost.metrics.policies import SumInterval
from costboost.typing import Indices

__all__ = ["Challenge", "challenge", "reprice"]

# Of fewer differing rows an interval says little: the rare large mistake may not be among them.
FEW_CHANGES = 30


@dataclass(frozen=True, eq=False, repr=False)
class Challenge:
    """A challenger, and what replacing the old model by it would have saved.

    `challenge` and `reprice` make it.

    Attributes
    ----------
    model : classifier
        The challenger, trained on the rows ``learnt``; or the old model with another map from
        scores to probabilities, or with other prices.
    learnt, judged : int arrays
        Numbers of the rows that it learnt from, and of the later ones that judge both.
    saved : SumInterval
        What the change saves on the rows ``judged``, in total, with its paired interval.
    swap : DecisionSwap
        Which of them are decided differently, and what each exchange saves.
    rows_needed : int or None
        How many rows would have to be judged for a clear answer, see Notes; None if no number
        would do, as nothing is saved or lost.
    saved_by_as_many : SumInterval or None
        What one saves that learnt from the latest rows only, as many as the old model did; None
        where the challenger had no more, or it is not known.

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
    saved_by_as_many: SumInterval | None = None

    @property
    def advice(self) -> str:
        """One of ``"replace"``, ``"keep"`` (it would cost more) and ``"wait"`` (not clear yet)."""
        if self.swap.total.n_rows < FEW_CHANGES or self.saved.low <= 0 <= self.saved.high:
            return "wait"
        return "replace" if self.saved.low > 0 else "keep"

    @property
    def pays_by_more_rows(self) -> bool:
        """Whether it pays, and most of what it saves comes from more rows to learn from.

        One that learnt from as many rows as the old model did saves less than half as much, or not
        significantly: nothing shows then that the rows have changed.
        """
        as_many = self.saved_by_as_many
        if self.advice != "replace" or as_many is None:
            return False
        return as_many.low <= 0 or 2 * as_many.total < self.saved.total


def challenge(
    old: Any,
    X: Any,
    y: ArrayLike,
    *,
    time: Any,
    costs: Any = None,
    challenger: Any = None,
    recalibrate: bool = False,
    gap: Any = 0,
    label_delay: Any = 0,
    label_time: Any = None,
    groups: ArrayLike | None = None,
    holdout: float = 0.25,
    n_old: int | None = None,
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
    recalibrate : bool, default=False
        Train nothing: fit only the map from the old model's scores to probabilities, of its own
        kind (a sigmoid where it has none). That takes fewer rows than a model does.
    gap, label_delay, label_time : default=0, 0, None
        As in `TimeSplit`: what was not known a gap before the first row that judges is not learnt.
    groups : array-like of shape (n_samples,), default=None
        Who each row belongs to: groups are independent, their rows are not. Intervals allow for it,
        and folds of the challenger keep groups whole.
    holdout : float, default=0.25
        The share of the rows, the latest, that judge.
    n_old : int, default=None
        How many rows the old model learnt from. Where the challenger pays and had more, another one
        learns from the latest `n_old` of its rows: it says whether more rows pay, or newer ones.
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
    if n_old is not None:
        check_number("n_old", n_old, low=1, whole=True)
    if recalibrate and challenger is not None:
        raise ValueError("recalibrate=True trains no challenger: give one of them")
    labels = _read_labels(old, y)
    times = LabelTimes.read(time, gap=gap, label_delay=label_delay, label_time=label_time, X=X)
    if len(times.when.at) != len(labels):
        raise ValueError(f"time has {len(times.when.at)} rows and y {len(labels)}: give as many")
    codes = None if groups is None else read_groups(groups, len(labels))
    learnt, judged = (np.flatnonzero(rows) for rows in times.latest(holdout))
    if not len(learnt):
        raise ValueError(
            "no row had a known label when the challenger would have been trained: give more rows, "
            "a shorter gap or label_delay, or a smaller holdout"
        )
    _check_classes(old, labels, learnt, "to learn from")
    _check_classes(old, labels, judged, "to judge by")
    to_fit, to_pay = _priced(old, costs, X)

    def learn(rows: Indices) -> Any:
        if recalibrate:
            return _recalibrated(old, _safe_indexing(X, rows), labels[rows])
        own = {} if codes is None else {"groups": codes[rows]}
        new = clone(old if challenger is None else challenger)
        return new.fit(_safe_indexing(X, rows), labels[rows], costs=_cut(to_fit, rows), **own)

    later = _safe_indexing(X, judged)

    def decides(model: Any) -> Any:
        # One that was trained on costs, and not calibrated, decides by its own rule.
        return model if model._decides_by_costs() else model.predict(later)

    def judge(new: Any) -> DecisionSwap:
        return compare_decisions(
            decides(old),
            decides(new),
            later,
            labels[judged],
            costs=_cut(to_pay, judged),
            clusters=None if codes is None else codes[judged],
            confidence=confidence,
            n_largest=0,
        )

    new = learn(learnt)
    found = _verdict(new, judge(new), learnt, judged)
    if recalibrate or found.advice != "replace" or n_old is None or n_old >= len(learnt):
        return found
    # What pays: rows that are newer, or more of them?
    latest = np.sort(learnt[np.argsort(-times.when.at[learnt], kind="stable")[:n_old]])
    if len(np.unique(labels[latest])) < len(old.classes_):
        return found
    return replace(found, saved_by_as_many=judge(learn(latest)).total.realised)


def reprice(
    old: Any,
    X: Any,
    y: ArrayLike,
    *,
    costs: Any,
    old_costs: Any = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Challenge:
    """Bill a model that decides by other prices than until now; nothing is trained.

    Parameters
    ----------
    old : fitted classifier
        One that decides by costs; it is not changed.
    X : table of n_samples rows
        Rows with a known label, all of which judge.
    y : array-like of shape (n_samples,)
        Their labels.
    costs : dict, array-like or Costs
        What decisions cost now: the new model decides by them, and both are billed by them.
    old_costs : dict, array-like or Costs, default=None
        What the old model decides by; None: its own costs.
    groups : array-like of shape (n_samples,), default=None
        Who each row belongs to, which intervals allow for.
    confidence : float, default=0.95
        Coverage of the intervals.

    Returns
    -------
    Challenge
        Its model is the old one, with the new costs as its own.

    Raises
    ------
    ValueError
        If a label is missing, or the model cannot decide by other costs.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import GradientBoostClassifier
    >>> from costboost.monitoring import reprice
    >>> X, y = np.tile([[0], [0], [1], [1], [1]], (100, 1)), np.tile([0, 0, 0, 0, 1], 100)
    >>> old = GradientBoostClassifier(n_estimators=20).fit(X, y)  # all mistakes cost 1
    >>> found = reprice(old, X, y, costs={"fp": 1, "fn": 9})
    >>> found.swap  # 100 are no longer missed, 200 are suspected for nothing
    300 rows of 500 decided differently; expected to save 652 (605 to 698), saved 700 (540 to 877)
      0 -> 1: 300 rows; expected to save 652 (605 to 698), saved 700 (540 to 877)
    >>> found.advice, found.model.costs_
    ('replace', Costs(fp=1, fn=9, positive=1))
    """
    labels = _read_labels(old, y)
    _check_classes(old, labels, np.arange(len(labels)), "to judge by")
    if costs is None:
        raise ValueError("costs=None: give the prices that hold now")
    if old_costs is None and old.costs_per_row_:
        raise ValueError("the old model was fitted with costs of other rows: give old_costs")
    new = copy(old)
    new._set_costs(costs, labels, None, X)
    swap = compare_decisions(
        old,
        new,
        X,
        labels,
        costs=as_costs(costs, table=X),
        old_costs=old.costs_ if old_costs is None else old_costs,
        clusters=groups,
        confidence=confidence,
        n_largest=0,
    )
    return _verdict(new, swap, np.arange(0), np.arange(len(labels)))


def _read_labels(old: Any, y: ArrayLike) -> NDArray[Any]:
    """Return labels, none of them missing, of rows that `old` can decide about."""
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
    return labels


def _check_classes(old: Any, labels: NDArray[Any], rows: Indices, what: str) -> None:
    lacking = [k for k in old.classes_.tolist() if not (labels[rows] == k).any()]
    if lacking:
        raise ValueError(
            f"no row {what} has the label {lacking[0]!r}: give more rows, or another holdout"
        )


def _recalibrated(old: Any, X: Any, labels: NDArray[Any]) -> Any:
    if not hasattr(old, "_recalibrated"):
        raise ValueError(
            f"a {type(old).__name__} has no map from scores to probabilities that could be fitted "
            "anew: challenge it by a new model"
        )
    return old._recalibrated(X, labels)


def _verdict(new: Any, swap: DecisionSwap, learnt: Indices, judged: Indices) -> Challenge:
    saved = swap.total.realised
    assert saved is not None  # there are labels
    needed = _rows_needed(saved, len(judged), swap.total.n_rows)
    return Challenge(new, learnt, judged, saved, swap, needed)


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

"""Folds in time, and which labels were known when: nothing of the future is trained on.

    ... rows trained on ... | label_delay | gap | test period, `horizon` long
                                          ^ the model is trained here, on labels known by then

Labels come late: whether a payment was a fraud is known weeks after it. A fold that trains on all
rows before its test period uses labels that nobody had, and its bill is too low.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator

from costboost.inputs.checks import check_number, warn_caller
from costboost.inputs.moments import (
    DAY,
    Moments,
    read_moments,
    read_span,
    show_moment,
    show_span,
)
from costboost.text import count, percent
from costboost.typing import Indices, Int64, Mask

__all__ = ["LabelTimes", "TimePeriod", "TimeSplit", "known_labels"]

_STEPS = (DAY, DAY // 24, DAY // 1440, 1_000_000, 1)  # a day, an hour, a minute, a second


class TimePeriod(NamedTuple):
    """One fold of a `TimeSplit`.

    Attributes
    ----------
    train_from, train_until, trained_at, test_from, test_until : datetime64 or float
        Rows of ``[train_from, train_until[`` are trained on, at the moment ``trained_at``, and
        those of ``[test_from, test_until[`` judge; floats where the times count days.
    n_train, n_test : int
        Rows of each.
    n_open : int
        Rows before ``trained_at`` that are not trained on, because their labels were not known.

    Examples
    --------
    >>> from costboost import TimeSplit
    >>> fold = TimeSplit(1, time=range(30), horizon="7D", gap="2D").periods()[0]
    >>> fold.train_until, fold.test_from, fold.test_until, fold.n_train
    (21.0, 23.0, 30.0, 21)
    """

    train_from: Any
    train_until: Any
    trained_at: Any
    test_from: Any
    test_until: Any
    n_train: int
    n_test: int
    n_open: int


class LabelTimes(NamedTuple):
    """When rows were decided, and when their labels became known.

    Attributes
    ----------
    when : Moments
        Of every row.
    gap, delay : int
        Microseconds from training to the first decision, and from a row to its label.
    reported : Moments or None
        When each label became known, where that is told by row.
    """

    when: Moments
    gap: int = 0
    delay: int = 0
    reported: Moments | None = None

    @classmethod
    def read(
        cls, time: Any, *, gap: Any = 0, label_delay: Any = 0, label_time: Any = None, X: Any = None
    ) -> LabelTimes:
        """Read times, which may be columns of X, and spans of time."""
        spans = read_span(gap, "gap"), read_span(label_delay, "label_delay")
        when = _column(X, time, "time")
        _refuse_missing(when, "time")
        if label_time is None:
            return cls(when, *spans)
        return cls(when, *spans, _labels_at(X, label_time, when, has_delay=spans[1] > 0))

    @classmethod
    def in_order(cls, ranks: Int64) -> LabelTimes:
        """Return the times of rows of which only the order is known, with labels known at once."""
        return cls(Moments(ranks, np.zeros(len(ranks), dtype=np.bool_), False))

    def known_by(self, moment: int) -> Mask:
        """Return which rows had a label that was known at a moment."""
        return (self.when.at + self.delay <= moment) & self._reported_by(moment)

    def known_now(self) -> Mask:
        """Return which rows have a known label just after the latest row."""
        return self.known_by(int(self.when.at.max()) + 1 if len(self.when.at) else 0)

    def trainable(self, start: int) -> Mask:
        """Return which rows a model that decides from `start` on can have been trained on."""
        trained_at = start - self.gap
        return (self.when.at < trained_at - self.delay) & self._reported_by(trained_at)

    def latest(self, share: float) -> tuple[Mask, Mask]:
        """Return the rows to learn from, and the latest share of all rows, from a moment on.

        What was not known when a model that decides about the latest was trained is not learnt.
        """
        at = self.when.at
        start = int(np.sort(at)[min(len(at) - 1, len(at) - round(share * len(at)))])
        return self.trainable(start), at >= start

    def until(self, rows: Indices) -> str:
        """Return the latest moment of some rows, as text."""
        last = int(self.when.at[rows].max())
        return str(np.datetime64(last, "us")) if self.when.dates else repr(last / DAY)

    def _reported_by(self, moment: int) -> Mask:
        if self.reported is None:
            return np.ones(len(self.when.at), dtype=np.bool_)
        in_time = ~self.reported.missing & (self.reported.at <= moment)
        # Once the delay has passed, a missing report means that there was nothing to report.
        return in_time | self.reported.missing if self.delay else in_time


class TimeSplit(BaseCrossValidator):  # type: ignore[misc]
    """Folds in time for `cross_validate`, searches and the like: train on the past, judge later.

    Test periods are of one length, follow each other, and end with the last row. Each fold trains
    on the rows that had a known label when its model was trained, which is ``gap`` before the test
    period begins.

    Parameters
    ----------
    n_splits : int, default=5
        Number of test periods.
    time : str, int or array-like of shape (n_samples,), default=None
        When each row was decided: the name of a column of X (its number, where X is an array), or
        the times themselves. None is the index of a pandas frame. Dates of any kind, or plain
        numbers, which count days. A search inside of another needs the name of a column.
    gap : str, number or timedelta, default=0
        Time between training and the first decision of the test period, such as "7D" or "12h": it
        takes so long to build, check and release a model. Numbers are days.
    horizon : str, number or timedelta, default=None
        Length of each test period; None divides the time there is into ``n_splits + 1`` parts.
    window : str, number or timedelta, default=None
        Length of the training period, which slides along; None trains on all of the past.
    label_delay : str, number or timedelta, default=0
        Labels are known so long after their row.
    label_time : str, int or array-like of shape (n_samples,), default=None
        When each label became known, given as ``time`` is; missing where it is still open. Such
        rows neither train nor judge. Where ``label_delay`` is given as well, a row counts as known
        once the delay has passed, unless its ``label_time`` is later; a missing one then means
        that nothing was reported.

    Notes
    -----
    Periods are whole: where the horizon is whole days, they begin and end at midnight (UTC), else
    at whole hours, minutes or seconds. A row is trained on if it lies before ``trained_at -
    label_delay``.

    A time that is a column of X is still a feature of the model: drop it in a pipeline, or give
    the times as an array.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import TimeSplit
    >>> day = np.arange(28)  # four weeks
    >>> folds = TimeSplit(2, time=day, horizon="7D", label_delay="7D")
    >>> [(train[-1].item(), test[0].item()) for train, test in folds.split(day)]
    [(6, 14), (13, 21)]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        time: Any = None,
        gap: Any = 0,
        horizon: Any = None,
        window: Any = None,
        label_delay: Any = 0,
        label_time: Any = None,
    ) -> None:
        self.n_splits = n_splits
        self.time = time
        self.gap = gap
        self.horizon = horizon
        self.window = window
        self.label_delay = label_delay
        self.label_time = label_time

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; all arguments are ignored."""
        check_number("n_splits", self.n_splits, low=1, whole=True)
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Indices, Indices]]:
        """Yield the rows to train on and those to judge by, in the order of time.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Where columns are read.
        y, groups : object
            Ignored.

        Yields
        ------
        train, test : int arrays

        Raises
        ------
        ValueError
            If a parameter is not what it can be, if a time is missing, or if a period has no row.
        """
        for _, train, test in self._cut(X):
            yield train, test

    def periods(self, X: Any = None) -> list[TimePeriod]:
        """Return when each fold trains and judges, and on how many rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            Where columns are read; not needed where the times are given as arrays.

        Returns
        -------
        list of TimePeriod
        """
        return [period for period, _, _ in self._cut(X)]

    def _cut(self, X: Any) -> list[tuple[TimePeriod, Indices, Indices]]:
        n_splits = self.get_n_splits()
        window = None if self.window is None else read_span(self.window, "window", positive=True)
        labels = LabelTimes.read(
            self.time, gap=self.gap, label_delay=self.label_delay, label_time=self.label_time, X=X
        )
        when, gap, delay = labels.when, labels.gap, labels.delay
        if not len(when.at):
            raise ValueError("there are no rows to split: give at least one in each period")
        first, last = int(when.at.min()), int(when.at.max())
        if self.horizon is None:
            horizon = _horizon(last - first, n_splits, gap + delay)
        else:
            horizon = read_span(self.horizon, "horizon", positive=True)
        # The end of the last test period: the next midnight, if the horizon is whole days.
        step = next(s for s in _STEPS if horizon % s == 0)
        end = (last // step + 1) * step
        judging = np.ones(len(when.at), dtype=np.bool_)
        if labels.reported is not None and delay == 0:
            judging = ~labels.reported.missing
            _warn_open(int(np.count_nonzero(~judging)), len(judging))
        folds = []
        for k in range(n_splits):
            start = end - (n_splits - k) * horizon
            trained_at = start - gap
            until = trained_at - delay
            begin = first if window is None else until - window
            past = (when.at >= begin) & (when.at < trained_at)
            known = past & labels.trainable(start)
            test = judging & (when.at >= start) & (when.at < start + horizon)
            ends = (begin, until, trained_at, start, start + horizon)
            _refuse_empty(known, past, test, ends, k, when.dates)
            train, held = np.flatnonzero(known), np.flatnonzero(test)
            n_open = int(np.count_nonzero(past & ~known))
            a, b, c, d, e = (_native(moment, when.dates) for moment in ends)
            period = TimePeriod(a, b, c, d, e, len(train), len(held), n_open)
            folds.append((period, train, held))
        return folds


def known_labels(
    time: Any,
    *,
    now: Any = None,
    label_delay: Any = 0,
    label_time: Any = None,
) -> Mask:
    """Return which rows have a label that is known, and warn of the share of those that have not.

    In a table of today the latest frauds are not reported yet and stand there as honest payments:
    a row is no negative until its label had the time to come.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        When each row was decided: dates, or numbers that count days.
    now : date or number, default=None
        The moment of training; None is just after the latest row.
    label_delay : str, number or timedelta, default=0
        Labels are known so long after their row, such as "30D".
    label_time : array-like of shape (n_samples,), default=None
        When each label became known; missing where it is still open. With ``label_delay`` a row
        counts as known once the delay has passed, unless its ``label_time`` is later.

    Returns
    -------
    bool array of shape (n_samples,)

    Examples
    --------
    >>> import warnings
    >>> from costboost import known_labels
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     known = known_labels([0, 10, 20, 30], now=35, label_delay="14D")
    >>> known.tolist(), str(said[0].message)[:41]
    ([True, True, True, False], '1 of 4 rows (25 %) have no known label ye')
    """
    labels = LabelTimes.read(time, label_delay=label_delay, label_time=label_time)
    if labels.delay == 0 and label_time is None:
        raise ValueError(
            "nothing says when labels are known: give label_delay=, such as '30D', or label_time=, "
            "one moment for each row"
        )
    known = labels.known_now() if now is None else labels.known_by(_read_now(now, labels.when))
    _warn_open(int(np.count_nonzero(~known)), len(known))
    return known


def _read_now(now: Any, when: Moments) -> int:
    given = [np.datetime64(now)] if isinstance(now, str) and when.dates else [now]
    moment = read_moments(np.asarray(given), "now")
    _refuse_missing(moment, "now")
    if moment.dates != when.dates:
        raise ValueError(f"now={now!r} and time must both be dates, or both count days")
    return int(moment.at[0])


# ---- Columns


def _column(X: Any, given: Any, name: str) -> Moments:
    """Return the moments of a column of X, or those that are given."""
    if given is None:
        index = getattr(X, "index", None)
        if index is None or getattr(getattr(index, "dtype", None), "kind", "") != "M":
            raise ValueError(
                f"{name} is not given, and the rows have no index of dates: name a column, "
                f"TimeSplit({name}='day'), or give the moments, TimeSplit({name}=days)"
            )
        return read_moments(index.to_series(), name)
    if isinstance(given, str):
        frame: Any = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise ValueError(
                f"{name}={given!r} names a column, but the rows are a {type(X).__name__}: give a "
                "table with names, or the moments themselves"
            )
        if given not in frame.columns:
            raise ValueError(
                f"{name}={given!r} is no column; there are {', '.join(map(str, frame.columns))}"
            )
        return read_moments(nw.to_native(frame[given]), f"the column {given!r}")
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        table = np.asarray(X)
        if table.ndim != 2 or not -table.shape[1] <= given < table.shape[1]:
            raise ValueError(f"{name}={given} is no column of rows of shape {table.shape}")
        return read_moments(table[:, given], f"column {given}")
    found = read_moments(given, name)
    n_rows = None if X is None else _count_rows(X)
    if n_rows is not None and len(found.at) != n_rows:
        raise ValueError(
            f"{name} has {len(found.at)} moments for {n_rows} rows: give one for each. In a search "
            f"within folds, name a column of X instead, TimeSplit({name}='day')"
        )
    return found


def _count_rows(X: Any) -> int | None:
    shape = getattr(X, "shape", None)
    if shape:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else None


def _labels_at(X: Any, given: ArrayLike, when: Moments, *, has_delay: bool) -> Moments:
    """Return when labels became known, checked against the rows' own times."""
    reported = _column(X, given, "label_time")
    if len(reported.at) != len(when.at):
        raise ValueError(
            f"label_time has {len(reported.at)} moments for {len(when.at)} rows: give one for each"
        )
    if reported.dates != when.dates and not reported.missing.all():
        raise ValueError("label_time and time must both be dates, or both count days")
    early = ~reported.missing & (reported.at < when.at)
    if early.any():
        row = int(np.argmax(early))
        raise ValueError(
            f"row {row}: label_time is {show_moment(int(reported.at[row]), dates=when.dates)}, "
            f"before the row itself, {show_moment(int(when.at[row]), dates=when.dates)}: labels "
            "come after decisions"
        )
    if not has_delay and reported.missing.all():
        raise ValueError(
            "label_time is missing in every row, so that no label is known: give label_delay= if a "
            "missing one means that nothing was reported"
        )
    return reported


# ---- Periods


def _horizon(span: int, n_splits: int, unused: int) -> int:
    """Return the length of `n_splits` test periods, as long as what is left to train on."""
    free = span - unused
    for step in _STEPS:
        parts = free // ((n_splits + 1) * step)
        if parts >= 1:
            return int(parts * step)
    raise ValueError(
        f"the rows span {show_span(span)}, too short for {count(n_splits, 'test period')} after a "
        f"gap and a delay of {show_span(unused)}: give fewer n_splits, or a shorter gap"
    )


def _native(moment: int, dates: bool) -> Any:
    return np.datetime64(moment, "us").astype("datetime64[s]") if dates else moment / DAY


def _refuse_missing(when: Moments, name: str) -> None:
    if when.missing.any():
        row = int(np.argmax(when.missing))
        raise ValueError(f"row {row}: {name} is missing; every row needs a moment")


def _refuse_empty(
    known: Mask, past: Mask, test: Mask, ends: tuple[int, ...], k: int, dates: bool
) -> None:
    begin, until, trained_at, start, stop = (show_moment(moment, dates=dates) for moment in ends)
    if not known.any():
        why = (
            f"{count(int(np.count_nonzero(past)), 'row')} before {trained_at} have no label yet"
            if past.any()
            else f"no row lies between {begin} and {until}"
        )
        raise ValueError(
            f"fold {k} has nothing to train on: {why}. Give fewer n_splits, a shorter horizon, gap "
            "or label_delay, or a longer window"
        )
    if not test.any():
        raise ValueError(
            f"fold {k} has nothing to judge by: no row with a known label lies between {start} and "
            f"{stop}. Give a longer horizon, or fewer n_splits"
        )


def _warn_open(n_open: int, n_rows: int) -> None:
    if n_open:
        warn_caller(
            f"{n_open:,} of {count(n_rows, 'row')} ({percent(n_open / n_rows)}) have no known "
            "label yet: they are left out, not taken for negatives."
        )

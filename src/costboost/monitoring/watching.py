"""`Monitor`: a model's bill, period after period, and alarms that hold their false-alarm rate.

A period is watched when its rows are decided, and billed when their labels are known, with the same
rows again; its rows are then forgotten. What is kept are sums: a page of numbers for each period, a
reference for each column, and the wealth of each bet (`betting.py`). The first periods are the
reference. What is asked afterwards is whether more happens than "as far off as then, and
`tolerance` more": no model is calibrated to the last digit, and nobody wants to be woken by a
difference that costs nothing.

    paid         the bill is larger than expected                          needs labels
    more, fewer  of a class there are more (fewer) rows than expected      needs labels
    prices       a price is not what it was                                at once

Each of these may ring falsely, ever, with a probability of ``alpha`` over their number.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.inputs.checks import check_number
from costboost.inputs.moments import DAY, read_moments, show_moment
from costboost.metrics.policies import SumInterval, sum_interval
from costboost.metrics.prices import take
from costboost.monitoring.betting import Bettor, Ratio, conformal_growth, log_growth
from costboost.monitoring.drift import Reference, add_period, column_names, columns_worth
from costboost.monitoring.periods import Alarm, Decided, Period, decide_rows, read_labels, texts
from costboost.persistence.writing import write_atomically
from costboost.typing import Floats, Indices, Mask

__all__ = ["Alarm", "Monitor", "Period"]

FORMAT = 1
_KEPT = 1000  # periods of which figures are kept


class Monitor:
    """Watch what the decisions of a fitted model are expected to cost, and what they cost.

    Parameters
    ----------
    model : fitted classifier
        One that decides by costs. It is never changed.
    reference : int, default=21
        So many periods, the first whose labels are known, say what is usual: at least 4.
    alpha : float, default=0.05
        The probability that any alarm ever rings while nothing is worse than `tolerance` allows.
    tolerance : float, default=0.25
        Ring for what is more than this share beyond the reference.
    capacity : dict, default=None
        How many rows of a period an action can be taken for, to report the share used.
    drift_rows : int, default=2000
        So many rows of a period, drawn at random, are decided again for each column; 0: columns are
        not looked at.
    key : str, default=""
        Kept with the state, such as the digest of the model file; `load` refuses another.

    Attributes
    ----------
    periods : list of Period
    alarms : list of Alarm
        Each signal rings once.

    Notes
    -----
    Alarms hold their rate under the assumption that a row's label is as likely as the reference
    says, given all that was known before, and that no more rows depend on each other than in the
    reference. Both are estimated from few periods: the more, the better.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.datasets import make_card_fraud
    >>> from costboost.monitoring import Monitor
    >>> data = make_card_fraud(4000)
    >>> model = CostBoostClassifier(n_estimators=20, random_state=0, costs=data.costs.mean())
    >>> model = model.fit(data.X[:2000], data.y[:2000])
    >>> monitor = Monitor(model, reference=4)
    >>> for day in range(10):
    ...     rows = slice(2000 + 200 * day, 2200 + 200 * day)
    ...     period = monitor.update(data.X[rows], data.y[rows], period=day, costs=data.costs[rows])
    >>> len(monitor.periods), period.rows, monitor.alarms
    (10, 200, [])
    """

    def __init__(
        self,
        model: Any,
        *,
        reference: int = 21,
        alpha: float = 0.05,
        tolerance: float = 0.25,
        capacity: Mapping[Any, int] | None = None,
        drift_rows: int = 2000,
        key: str = "",
    ) -> None:
        if not hasattr(model, "_decision_costs") or not hasattr(model, "classes_"):
            raise ValueError(
                f"a {type(model).__name__} cannot be watched: give a fitted classifier of this "
                "package that decides by costs (MinimumCostClassifier wraps any other)."
            )
        check_number("reference", reference, low=4, whole=True)
        check_number("alpha", alpha, low=0.0, high=0.5, open_low=True)
        check_number("tolerance", tolerance, low=0.0)
        check_number("drift_rows", drift_rows, low=0, whole=True)
        for action, limit in (capacity or {}).items():
            check_number(f"capacity[{action!r}]", limit, low=1)
        self.model = model
        self.reference = reference
        self.alpha = alpha
        self.tolerance = tolerance
        self.capacity = dict(capacity or {})
        self.drift_rows = drift_rows
        self.key = key
        self.periods: list[Period] = []
        self.alarms: list[Alarm] = []
        self._columns: dict[str, Reference | None] = {}
        self._bettors: dict[str, Bettor] = {}
        self._ratios: dict[str, Ratio] = {}
        self._n_billed = 0
        self._fixed: list[float] | None = None  # prices that were one number in all periods; nan
        self._n_watched = 0

    # --- one period

    def update(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        period: Any,
        costs: Any = None,
        decisions: ArrayLike | None = None,
    ) -> Period:
        """Watch a period, and bill it once its labels are known.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            All rows of the period, at both times.
        y : array-like of shape (n_samples,), default=None
            True labels, missing (None, NaN) where they never came; None: they are not known yet.
        period : date, datetime64 or number
            Later than that of the period before; periods are billed in their order, too.
        costs : as in ``predict``, default=None
            The prices of these rows; None: the model's own.
        decisions : array-like of shape (n_samples,), default=None
            What was decided; None: what the model decides.

        Returns
        -------
        Period

        Raises
        ------
        ValueError
            If the period was billed before, or comes out of order, or has other rows than when it
            was watched.
        """
        when = read_moments(np.asarray([period]), "period")
        if when.missing[0]:
            raise ValueError("period is missing: give the date or the number of the period.")
        at, name = int(when.at[0]), show_moment(int(when.at[0]), dates=when.dates)
        name = name if when.dates else f"{at / DAY:g}"
        known = next((p for p in reversed(self.periods) if p.at == at), None)
        rows = decide_rows(self.model, X, costs, decisions)
        if known is None:
            if self.periods and at < self.periods[-1].at:
                raise ValueError(
                    f"period {name} is before {self.periods[-1].name}, the last one watched: give "
                    "periods in the order of time."
                )
            labels = None if y is None else read_labels(self.model.classes_, y, rows)
            known = self._watch(rows, X, name, at)
        else:
            labels = self._check_again(known, y, rows)
        if labels is not None:
            self._bill(known, rows, *labels)
        return known

    def _check_again(self, known: Period, y: Any, rows: Decided) -> tuple[Mask, Indices]:
        """Return the labels of a period that was watched before."""
        if known.billed is not None or y is None:
            done = "billed" if known.billed is not None else "watched"
            raise ValueError(
                f"period {known.name} was {done} before: give each period once without labels and "
                "once with them."
            )
        if known.rows != len(rows.taken):
            raise ValueError(
                f"period {known.name} had {known.rows} rows when it was watched, and has "
                f"{len(rows.taken)} now: give all rows of the period both times, with missing "
                "labels where they never came."
            )
        before = next(p for p in self.periods if p.billed is None)
        if before is not known:
            raise ValueError(
                f"period {known.name} is to be billed before {before.name}: give the labels of "
                f"{before.name} first (missing ones where they never came)."
            )
        return read_labels(self.model.classes_, y, rows)

    def _watch(self, rows: Decided, X: Any, name: str, at: int) -> Period:
        actions, classes = rows.actions, rows.classes
        counts = np.bincount(rows.taken, minlength=len(actions)).tolist()
        decisions = dict(zip(actions, counts, strict=True))
        found = Period(
            name=name,
            at=at,
            rows=len(rows.taken),
            expected=float(rows.expected_taken.sum()),
            constant=dict(zip(rows.policies, rows.expected.sum(axis=0).tolist(), strict=True)),
            decisions=decisions,
            used={
                str(action): decisions.get(str(action), 0) / limit
                for action, limit in self.capacity.items()
            },
            classes=dict(zip(classes, rows.proba.sum(axis=0).tolist(), strict=True)),
            prices=rows.medians,
            columns=[],
        )
        if self._n_watched < self.reference:
            self._learn_columns(X)
        elif self.drift_rows:
            rng = np.random.default_rng([self._n_watched, 1])
            found.columns = columns_worth(
                self.model, X, rows.costs, rows.proba, self._columns, self.drift_rows, rng
            )
        self._n_watched += 1
        self.periods = [*self.periods, found][-_KEPT:]
        self._bet_on_prices(found, rows)
        return found

    # --- columns

    def _learn_columns(self, X: Any) -> None:
        if self.drift_rows:
            for j, name in enumerate(column_names(X)):
                self._columns[name] = add_period(self._columns.get(name), X, j)

    # --- prices

    def _bet_on_prices(self, period: Period, rows: Decided) -> None:
        """Ring where a price that never varied is another, or medians are unlike those before."""
        before = self._fixed
        self._fixed = [
            value if before is None or value == old else math.nan
            for value, old in zip(rows.fixed, before or rows.fixed, strict=True)
        ]
        changed = [i for i, old in enumerate(before or []) if old == old and rows.fixed[i] != old]
        if changed:
            old, new = (before or [])[changed[0]], rows.medians[changed[0]]
            text = f"{rows.cells[changed[0]]} was {old:g} in all periods before, and is {new:g}"
            self._ring("prices", period, math.inf, text)
        if not rows.costs.per_row:
            return
        rng = np.random.default_rng([self._n_watched, 2])
        moved: list[float] = []
        for i, cell in enumerate(rows.cells):
            past = np.array([p.prices[i] for p in self.periods])
            if np.ptp(past) == 0:
                continue
            score = np.abs(past - np.median(past))
            larger, ties = int(np.sum(score > score[-1])), int(np.sum(score == score[-1]))
            bettor = self._bettors.setdefault(f"price {cell}", Bettor())
            growth = conformal_growth(larger, ties, len(past), 1.0 - rng.random())
            moved.append(bettor.bet(growth))
        if moved:  # the mean of such bets is one, too
            wealth = float(np.logaddexp.reduce(moved)) - math.log(len(moved))
            self._ring_if("prices", period, wealth, "prices are unlike those of the periods before")

    # --- the bill

    def _bill(self, period: Period, rows: Decided, known: Mask, codes: Indices) -> None:
        prices = rows.costs.of_labels(np.where(known, codes, 0), encoded=True)[known]
        paid = take(prices, rows.taken[known])
        expected = rows.expected_taken[known]
        difference = sum_interval(paid - expected) if len(paid) else SumInterval(0.0, 0.0, 0.0)
        seen = np.bincount(codes[known], minlength=len(rows.classes)).tolist()
        period.billed = {
            "rows": len(paid),
            "open": int(np.count_nonzero(~known)),
            "paid": float(paid.sum()),
            "expected": float(expected.sum()),
            "difference": difference.total,
            "low": difference.low,
            "high": difference.high,
            "constant": dict(zip(rows.policies, prices.sum(axis=0).tolist(), strict=True)),
            "seen": dict(zip(rows.classes, seen, strict=True)),
            "classes": dict(zip(rows.classes, rows.proba[known].sum(axis=0).tolist(), strict=True)),
        }
        self._n_billed += 1
        sums = {"paid": rows.beyond_least(known, paid)}
        for k, name in rows.watched_classes:
            p = rows.proba[known, k]
            sums[name] = ((codes[known] == k).astype(np.float64), p, p * (1 - p))
        for name, (one, other, variance) in sums.items():
            ratio = self._ratios.setdefault(name, Ratio())
            if self._n_billed <= self.reference:
                ratio.add(one, other, variance)
            else:
                self._bet_on_labels(period, name, ratio, one, other)

    def _bet_on_labels(
        self, period: Period, name: str, ratio: Ratio, seen: Floats, expected: Floats
    ) -> None:
        most = (1 + self.tolerance) * ratio.limit(1)
        above = most * expected
        usual = most * ratio.largest
        if name == "paid":
            if usual > 0:
                stake = np.maximum(usual, above)
                self._step("paid", period, seen - above, stake, ratio.dependent,
                           "decisions cost more than expected")  # fmt: skip
            return
        least = ratio.limit(-1) / (1 + self.tolerance)
        one = np.ones(len(seen))
        self._step(f"more: {name}", period, seen - above, one * max(1.0, most), ratio.dependent,
                   f"there are more rows of {name} than expected")  # fmt: skip
        self._step(f"fewer: {name}", period, least * expected - seen, one, ratio.dependent,
                   f"there are fewer rows of {name} than expected")  # fmt: skip

    def _step(
        self, signal: str, period: Period, off: Floats, most: Floats, dependent: float, text: str
    ) -> None:
        bettor = self._bettors.setdefault(signal, Bettor())
        self._ring_if(signal, period, bettor.bet(log_growth(off, most, dependent)), text)

    def _ring_if(self, signal: str, period: Period, wealth: float, text: str) -> None:
        period.wealth[signal] = wealth
        if wealth >= self.limit:
            self._ring(signal, period, wealth, text)

    def _ring(self, signal: str, period: Period, wealth: float, text: str) -> None:
        if all(alarm.signal != signal for alarm in self.alarms):
            self.alarms.append(Alarm(signal, period.name, wealth, self.limit, text))

    @property
    def limit(self) -> float:
        """The logarithm of the wealth at which a bet rings."""
        n_classes = len(self.model.classes_)
        n_signals = 2 + 2 * (1 if n_classes == 2 else n_classes)
        return math.log(n_signals / self.alpha)

    # --- the state

    def save(self, path: str | PathLike[str]) -> None:
        """Write the state to a small JSON file, whole or not at all, in place of an older one."""
        state = {
            "format": FORMAT,
            "key": self.key,
            "classes": texts(self.model.classes_),
            "settings": self._settings(),
            "periods": [asdict(period) for period in self.periods],
            "alarms": [asdict(alarm) for alarm in self.alarms],
            "columns": self._columns,
            "bettors": {name: asdict(bettor) for name, bettor in self._bettors.items()},
            "ratios": {name: asdict(ratio) for name, ratio in self._ratios.items()},
            "n_billed": self._n_billed,
            "n_watched": self._n_watched,
            "fixed": self._fixed,
        }
        write_atomically(Path(path), [json.dumps(state).encode()], overwrite=True)

    def _settings(self) -> dict[str, Any]:
        return {
            "reference": self.reference,
            "alpha": self.alpha,
            "tolerance": self.tolerance,
            "drift_rows": self.drift_rows,
        }

    @classmethod
    def load(cls, path: str | PathLike[str], model: Any, **settings: Any) -> Monitor:
        """Read a state that `save` has written.

        Parameters
        ----------
        path : path-like
        model : fitted classifier
            The one that was watched.
        **settings
            Those of the constructor; what is given must be what the state was made with, but for
            `capacity`.

        Raises
        ------
        ValueError
            If the file is no state, or one of another model or other settings.
        """
        try:
            state = json.loads(Path(path).read_text(encoding="utf-8"))
            if not isinstance(state, dict) or "format" not in state:
                raise ValueError("no state")
        except ValueError:
            raise ValueError(
                f"{path} is no state of a monitor: name the file that it has written, or another "
                "one to begin anew."
            ) from None
        if state["format"] != FORMAT:
            raise ValueError(f"{path} was written by a newer version: upgrade costboost.")
        key = settings.get("key", "")
        if state["classes"] != texts(getattr(model, "classes_", [])) or state["key"] != key:
            raise ValueError(
                f"{path} is the state of another model: name another file to begin anew."
            )
        for name, value in state["settings"].items():
            if name in settings and settings[name] != value:
                raise ValueError(
                    f"{path} was begun with {name}={value!r}, and {name}={settings[name]!r} is "
                    "given: limits hold for one setting only. Name another file to begin anew."
                )
        try:
            made = cls(model, **{**state["settings"], **settings})
            made.periods = [Period(**period) for period in state["periods"]]
            made.alarms = [Alarm(**alarm) for alarm in state["alarms"]]
            made._columns = state["columns"]
            made._bettors = {name: Bettor(**kept) for name, kept in state["bettors"].items()}
            made._ratios = {name: Ratio(**kept) for name, kept in state["ratios"].items()}
            made._n_billed, made._n_watched = state["n_billed"], state["n_watched"]
            made._fixed = state["fixed"]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{path} is damaged ({error}): name another file to begin anew."
            ) from None
        return made

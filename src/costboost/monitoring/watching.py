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
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import Costs
from costboost.inputs.arrays import encode, missing_in
from costboost.inputs.checks import check_number
from costboost.inputs.moments import DAY, read_moments, show_moment
from costboost.metrics.policies import SumInterval, constant_names, sum_interval
from costboost.metrics.prices import take
from costboost.monitoring.betting import Bettor, conformal_growth, log_growth
from costboost.monitoring.drift import (
    Reference,
    add_period,
    column_names,
    describe_move,
    undo_shift,
)
from costboost.persistence.writing import write_atomically
from costboost.typing import Floats, Indices, Mask

__all__ = ["Alarm", "Monitor", "Period"]

FORMAT = 1
_SURE = 1.645  # standard errors by which the reference may have been lucky
_WINDOW = 7  # periods, over which rows that depend on each other are looked for
_KEPT = 1000  # periods of which figures are kept


@dataclass
class Period:
    """What is known of one period.

    Attributes
    ----------
    name : str
    at : int
        When it was, in microseconds; periods are in this order.
    rows : int
    expected : float
        What its decisions are expected to cost, by the model's probabilities.
    constant : dict of str to float
        What one action for all rows is expected to cost, by policy.
    decisions : dict of str to int
        Rows by action.
    used : dict of str to float
        Decisions as a share of the capacity, by action.
    classes : dict of str to float
        Expected rows by class.
    prices : list of float
        The median of each price.
    columns : list of dict
        For each column ``name``, ``worth`` (what its shift costs in this period, with ``low`` and
        ``high``), ``changed`` (the share of rows that are decided differently for it) and how it
        moved. Empty for reference periods.
    billed : dict or None
        Once labels are known: ``rows``, ``open`` (rows without a label), ``paid``, ``expected`` of
        these rows, ``difference`` with ``low`` and ``high``, ``constant`` and ``seen`` (rows by
        class).
    wealth : dict of str to float
        The wealth of each bet after it, as a logarithm.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.datasets import make_card_fraud
    >>> from costboost.monitoring import Monitor
    >>> data = make_card_fraud(3000)
    >>> model = CostBoostClassifier(n_estimators=10, random_state=0, costs=data.costs.mean())
    >>> monitor = Monitor(model.fit(data.X[:2000], data.y[:2000]))
    >>> period = monitor.update(data.X[2000:], period=1, costs=data.costs[2000:])
    >>> period.rows, sorted(period.constant), period.billed is None
    (1000, ['do everything', 'do nothing'], True)
    """

    name: str
    at: int
    rows: int
    expected: float
    constant: dict[str, float]
    decisions: dict[str, int]
    used: dict[str, float]
    classes: dict[str, float]
    prices: list[float]
    columns: list[dict[str, Any]]
    billed: dict[str, Any] | None = None
    wealth: dict[str, float] = field(default_factory=dict)

    @property
    def beyond_chance(self) -> bool:
        """Whether paid and expected differ by more than the 95 % interval of their difference."""
        found = self.billed
        return found is not None and (found["low"] > 0 or found["high"] < 0)

    @property
    def cheapest(self) -> str:
        """The constant policy that cost least, or is expected to until labels are known."""
        costs = self.constant if self.billed is None else self.billed["constant"]
        return min(costs, key=lambda name: costs[name])


@dataclass(frozen=True)
class Alarm:
    """An alarm: what rang, in which period, and how sure.

    Attributes
    ----------
    signal : str
        "paid", "more: fraud", "fewer: fraud", "prices".
    period : str
    log_wealth, limit : float
        The logarithm of the wealth of the bet, and what it had to reach.
    text : str

    Examples
    --------
    >>> from costboost.monitoring import Alarm
    >>> Alarm("paid", "2026-05-04", 5.1, 4.4, "decisions cost more than expected").signal
    'paid'
    """

    signal: str
    period: str
    log_wealth: float
    limit: float
    text: str


@dataclass
class _Ratio:
    """Seen against expected in the reference periods, and then the rate to bet against."""

    seen: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    variance: list[float] = field(default_factory=list)
    largest: float = 0.0

    def add(self, seen: Floats, expected: Floats, variance: Floats) -> None:
        self.seen.append(float(seen.sum()))
        self.expected.append(float(expected.sum()))
        self.variance.append(float(variance.sum()))
        self.largest = max(self.largest, float(np.max(expected, initial=0.0)))

    @property
    def ratio(self) -> float:
        total = sum(self.expected)
        return sum(self.seen) / total if total > 0 else 1.0

    @property
    def dependent(self) -> float:
        """How many rows depend on each other: the variance over that of independent rows.

        That of single periods, or the long-run one (Newey and West 1987), whichever is larger.
        """
        spread, n = sum(self.variance), len(self.seen)
        if n < 2 or spread <= 0:
            return 1.0
        off = np.array(self.seen) - self.ratio * np.array(self.expected)
        single = float(off @ off)
        lags = range(1, min(_WINDOW, n))
        together = sum((1 - k / _WINDOW) * float(off[k:] @ off[:-k]) for k in lags)
        return max(1.0, max(single, single + 2 * together) / spread * n / (n - 1))

    def limit(self, side: float) -> float:
        """Return the ratio, `_SURE` standard errors to one side of it."""
        total = sum(self.expected)
        if total <= 0:
            return 1.0
        error = math.sqrt(self.dependent * sum(self.variance)) / total
        return max(self.ratio + side * _SURE * error, 0.1 * self.ratio)


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
        self._ratios: dict[str, _Ratio] = {}
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
        rows = _decide(self.model, X, costs, decisions)
        if known is None:
            if self.periods and at < self.periods[-1].at:
                raise ValueError(
                    f"period {name} is before {self.periods[-1].name}, the last one watched: give "
                    "periods in the order of time."
                )
            labels = None if y is None else _read_labels(self.model.classes_, y, rows)
            known = self._watch(rows, X, name, at)
        else:
            labels = self._check_again(known, y, rows)
        if labels is not None:
            self._bill(known, rows, *labels)
        return known

    def _check_again(self, known: Period, y: Any, rows: _Decided) -> tuple[Mask, Indices]:
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
        return _read_labels(self.model.classes_, y, rows)

    def _watch(self, rows: _Decided, X: Any, name: str, at: int) -> Period:
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
            found.columns = self._columns_worth(rows, X)
        self._n_watched += 1
        self.periods = [*self.periods, found][-_KEPT:]
        self._bet_on_prices(found, rows)
        return found

    # --- columns

    def _learn_columns(self, X: Any) -> None:
        if self.drift_rows:
            for j, name in enumerate(column_names(X)):
                self._columns[name] = add_period(self._columns.get(name), X, j)

    def _columns_worth(self, rows: _Decided, X: Any) -> list[dict[str, Any]]:
        """Return what the shift of each column costs in this period, the largest first."""
        n = len(rows.taken)
        rng = np.random.default_rng([self._n_watched, 1])
        some = np.sort(rng.choice(n, min(n, self.drift_rows), replace=False))
        part, costs = _take(X, some), rows.costs[some] if rows.costs.per_row else rows.costs
        now = costs.expected(rows.proba[some])
        found = []
        for j, name in enumerate(column_names(X)):
            reference = self._columns.get(name)
            undone = None if reference is None else undo_shift(part, j, reference, rng)
            if reference is None or undone is None:
                continue
            then = costs.expected(self.model._decision_proba(undone, costs))
            difference = (now.min(axis=1) - then.min(axis=1)) * (n / len(some))
            worth = sum_interval(difference)
            changed = float(np.mean(now.argmin(axis=1) != then.argmin(axis=1)))
            found.append(
                {
                    "name": name,
                    "worth": worth.total,
                    "low": worth.low,
                    "high": worth.high,
                    "changed": changed,
                    **describe_move(part, j, reference),
                }
            )
        return sorted(found, key=lambda one: -abs(one["worth"]))

    # --- prices

    def _bet_on_prices(self, period: Period, rows: _Decided) -> None:
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

    def _bill(self, period: Period, rows: _Decided, known: Mask, codes: Indices) -> None:
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
            ratio = self._ratios.setdefault(name, _Ratio())
            if self._n_billed <= self.reference:
                ratio.add(one, other, variance)
            else:
                self._bet_on_labels(period, name, ratio, one, other)

    def _bet_on_labels(
        self, period: Period, name: str, ratio: _Ratio, seen: Floats, expected: Floats
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
            "classes": _texts(self.model.classes_),
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
        if state["classes"] != _texts(getattr(model, "classes_", [])) or state["key"] != key:
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
            made._ratios = {name: _Ratio(**kept) for name, kept in state["ratios"].items()}
            made._n_billed, made._n_watched = state["n_billed"], state["n_watched"]
            made._fixed = state["fixed"]
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{path} is damaged ({error}): name another file to begin anew."
            ) from None
        return made


# ---- Decisions and what they are expected to cost


@dataclass(frozen=True)
class _Decided:
    """Rows of a period with their probabilities, prices and decisions.

    Attributes
    ----------
    proba : ndarray of shape (n, K)
    costs : Costs
        Bound to the classes and the rows.
    expected : ndarray of shape (n, A)
    taken : ndarray of shape (n,)
        Numbers of actions.
    """

    proba: Floats
    costs: Costs
    expected: Floats
    taken: Indices

    @property
    def expected_taken(self) -> Floats:
        """What each decision is expected to cost, (n,)."""
        return take(self.expected, self.taken)

    @property
    def actions(self) -> list[str]:
        """The names of the actions."""
        return _texts(self.costs.actions)

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return _texts(self.costs.classes)

    @property
    def policies(self) -> list[str]:
        """The names of policies that take one action for all rows."""
        square = self.costs.is_square and len(self.classes) == 2
        return constant_names(self.actions, self.costs.positive_number if square else None)

    @property
    def watched_classes(self) -> list[tuple[int, str]]:
        """Numbers and names of the classes that are counted: of two, the positive one."""
        names = self.classes
        if len(names) > 2:
            return list(enumerate(names))
        k = self.costs.positive_number
        k = 1 if k is None else k
        return [(k, names[k])]

    def beyond_least(self, known: Mask, paid: Floats) -> tuple[Floats, Floats, Floats]:
        """Return paid, expected and variance of what a decision can cost beyond its least."""
        n = len(self.taken)
        each = np.stack(
            [
                take(self.costs.of_labels(np.full(n, k), encoded=True), self.taken)[known]
                for k in range(self.proba.shape[1])
            ],
            axis=1,
        )
        least, p = each.min(axis=1), self.proba[known]
        over = each - least[:, None]
        mean = np.sum(p * over, axis=1)
        return paid - least, mean, np.maximum(0.0, np.sum(p * over**2, axis=1) - mean**2)

    @property
    def _parts(self) -> list[tuple[str, Any]]:
        return [
            (f"the price of {action} where {label} is true", part)
            for k, label in enumerate(self.classes)
            for action, part in zip(self.actions, self.costs.of_class(k), strict=True)
        ]

    @property
    def cells(self) -> list[str]:
        """What each price is called."""
        return [name for name, _ in self._parts]

    @property
    def medians(self) -> list[float]:
        """The median of each price."""
        return [float(np.median(part)) for _, part in self._parts]

    @property
    def fixed(self) -> list[float]:
        """Each price that is the same in all rows; NaN for the others."""
        return [float(np.min(part)) if np.ptp(part) == 0 else math.nan for _, part in self._parts]


def _decide(model: Any, X: Any, costs: Any, decisions: Any) -> _Decided:
    """Return the decisions of the rows, those given or the cheapest."""
    if len(X) == 0:
        raise ValueError("the period has no rows: leave it out.")
    bound = model._decision_costs(costs, X)
    proba = np.asarray(model._decision_proba(X, costs))
    expected = bound.expected(proba)
    if decisions is None:
        return _Decided(proba, bound, expected, bound.decide(proba, encoded=True))
    given = np.asarray(decisions)
    if given.shape != (len(proba),):
        raise ValueError(
            f"decisions has shape {given.shape}: give one decision for each of the {len(proba)} "
            "rows."
        )
    return _Decided(proba, bound, expected, encode(bound.actions, given, "decisions"))


def _read_labels(classes: NDArray[Any], y: ArrayLike, rows: _Decided) -> tuple[Mask, Indices]:
    """Return which labels are known, and their numbers (0 for the others)."""
    given = np.asarray(y)
    if given.shape != (len(rows.taken),):
        raise ValueError(
            f"y has shape {given.shape}: give one label for each of the {len(rows.taken)} rows, "
            "missing where it is not known."
        )
    known = ~missing_in(given)
    codes = np.zeros(len(given), dtype=np.intp)
    codes[known] = encode(classes, np.array(given[known].tolist()), "y") if known.any() else 0
    return known, codes


def _texts(labels: Any) -> list[str]:
    return [str(label) for label in np.asarray(labels).tolist()]


def _take(X: Any, rows: Indices) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]

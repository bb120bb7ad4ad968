"""Folds in time: whole periods, nothing of the future, and labels only once they were known."""

import datetime
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate

from costboost import TimeSplit, known_labels

DAY = datetime.timedelta(days=1)
START = datetime.datetime(2026, 1, 1)


def naive(times, n_splits, horizon, *, gap=0, delay=0, window=None, reported=None):
    """Return the folds of whole days, row by row; everything in days since the first midnight."""
    end = int(np.floor(max(times))) + 1
    folds = []
    for k in range(n_splits):
        start = end - (n_splits - k) * horizon
        now = start - gap
        train = [
            i
            for i, t in enumerate(times)
            if t < now - delay
            and (window is None or t >= now - delay - window)
            and (reported is None or (reported[i] is not None and reported[i] <= now))
        ]
        test = [
            i
            for i, t in enumerate(times)
            if start <= t < start + horizon and (reported is None or reported[i] is not None)
        ]
        folds.append((train, test))
    return folds


def drawn(seed, n=400, days=60):
    rng = np.random.default_rng(seed)
    return np.concatenate([[0.25], rng.random(n) * days, [days - 0.01]])


def plain(folds):
    return [(train.tolist(), test.tolist()) for train, test in folds]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "how",
    [
        {"horizon": 7},
        {"horizon": 7, "gap": 7},
        {"horizon": 5, "gap": 2, "delay": 9},
        {"horizon": 4, "gap": 1, "window": 10},
        {"horizon": 4, "delay": 6, "window": 12, "gap": 3},
    ],
)
def test_folds_are_those_of_the_naive_twin(seed, how):
    times = drawn(seed)
    parts = {("label_delay" if k == "delay" else k): v for k, v in how.items()}
    got = list(TimeSplit(3, time=times, **parts).split(times))
    assert plain(got) == naive(times.tolist(), 3, **how)


def test_labels_that_are_reported_by_row():
    times = drawn(0)
    rng = np.random.default_rng(1)
    reported = times + rng.exponential(5, len(times))
    reported[rng.random(len(times)) < 0.1] = np.nan
    as_list = [None if np.isnan(r) else r for r in reported.tolist()]
    split = TimeSplit(3, time=times, horizon="7D", gap="1D", label_time=reported)
    with pytest.warns(UserWarning, match=r"of 402 rows \(.* %\) have no known label yet"):
        got = list(split.split(times))
    assert plain(got) == naive(times.tolist(), 3, 7, gap=1, reported=as_list)
    with pytest.warns(UserWarning, match="known label"):
        periods = split.periods()
    for period in periods:
        past = times < period.trained_at
        assert period.n_open == np.sum(past & ~(reported <= period.trained_at))
        assert period.n_train == np.sum(past & (reported <= period.trained_at))


def test_reports_with_a_delay_are_about_the_late_ones():
    # Only frauds are reported: a missing report of an old payment means that it was honest.
    times = np.arange(40.0)
    reported = np.full(40, np.nan)
    reported[3], reported[4] = 20.0, 9.0
    folds = TimeSplit(2, time=times, horizon=5, label_delay=10, label_time=reported).split(times)
    (first, _), (second, _) = folds
    assert first.tolist() == [*range(20)]  # trained on day 30
    assert second.tolist() == [*range(25)]
    early = TimeSplit(1, time=times[:20], horizon=5, label_delay=10, label_time=reported[:20])
    ((train, test),) = early.split(times[:20])  # trained on day 15: the fraud of day 3 is not known
    assert train.tolist() == [0, 1, 2, 4]
    assert test.tolist() == [15, 16, 17, 18, 19]


FORMS = {
    "numpy": lambda days: np.array([START + d * DAY for d in days], dtype="datetime64[us]"),
    "nanoseconds": lambda days: np.array([START + d * DAY for d in days], dtype="datetime64[ns]"),
    "pandas": lambda days: pd.Series([START + d * DAY for d in days]),
    "pandas index": lambda days: pd.DatetimeIndex([START + d * DAY for d in days]),
    "with a zone": lambda days: pd.Series(
        pd.to_datetime([START + d * DAY for d in days]).tz_localize("UTC").tz_convert("Asia/Tokyo")
    ),
    "polars": lambda days: pl.Series([START + d * DAY for d in days]),
    "python": lambda days: [START + d * DAY for d in days],
    "python with a zone": lambda days: [
        (START + d * DAY).replace(tzinfo=datetime.UTC) for d in days
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_dates_of_all_kinds_are_cut_as_days_are(form):
    days = drawn(2, n=100)
    times = FORMS[form](days.tolist())
    expected = list(TimeSplit(3, time=days, horizon="7D", gap="36h").split(days))
    got = list(TimeSplit(3, time=times, horizon="7D", gap="36h").split(days))
    assert plain(got) == plain(expected)


def test_dates_without_hours():
    days = [datetime.date(2026, 1, 1) + i * DAY for i in range(28)]
    for times in (days, pl.Series(days), np.array(days, dtype="datetime64[D]")):
        ((train, test),) = TimeSplit(1, time=times, horizon="1W", gap="1W").split(days)
        assert (train.tolist(), test.tolist()) == ([*range(14)], [*range(21, 28)])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_the_table(make):
    days = drawn(3)
    table = make({"x": days * 2, "day": FORMS["numpy"](days.tolist())})
    split = TimeSplit(3, time="day", horizon="7D", gap="7D")
    assert plain(split.split(table)) == naive(days.tolist(), 3, 7, gap=7)


def test_a_column_by_its_number_and_an_index_of_dates():
    days = drawn(4)
    expected = naive(days.tolist(), 3, 7)
    X = np.column_stack([days * 2, days])
    assert plain(TimeSplit(3, time=1, horizon=7).split(X)) == expected
    frame = pd.DataFrame({"x": days}, index=pd.DatetimeIndex(FORMS["numpy"](days.tolist())))
    assert plain(TimeSplit(3, horizon=7).split(frame)) == expected


@pytest.mark.parametrize("n_splits", [1, 2, 5])
def test_without_a_horizon_the_time_is_shared_out(n_splits):
    days = drawn(5)
    folds = TimeSplit(n_splits, time=days, gap="3D").periods()
    lengths = {fold.test_until - fold.test_from for fold in folds}
    assert lengths == {56 // (n_splits + 1)}
    assert folds[-1].test_until == 60
    assert all(a.test_until == b.test_from for a, b in pairwise(folds))


def test_hours_and_minutes_are_whole_as_well():
    hours = np.arange(0, 48 * 60, 7) / 1440
    fold = TimeSplit(1, time=hours, horizon="6h", gap="30min").periods()[0]
    assert fold.test_until * 1440 == pytest.approx(48 * 60)
    assert fold.trained_at * 24 == pytest.approx(41.5)


@pytest.mark.parametrize("seed", range(10))
def test_no_row_of_the_future_and_none_twice(seed):
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 90, 300).astype(float)
    gap, delay = rng.integers(0, 10, 2).tolist()
    tested = []
    for train, test in TimeSplit(3, time=times, gap=gap, label_delay=delay).split(times):
        assert times[train].max() + gap + delay < times[test].min()
        tested += test.tolist()
    assert len(set(tested)) == len(tested)
    # The order of the rows does not matter.
    order = rng.permutation(300)
    shuffled = TimeSplit(3, time=times[order], gap=gap, label_delay=delay).split(times)
    original = TimeSplit(3, time=times, gap=gap, label_delay=delay).split(times)
    for (train, test), (other, judged) in zip(original, shuffled, strict=True):
        assert set(order[other].tolist()) == set(train.tolist())
        assert set(order[judged].tolist()) == set(test.tolist())


def test_scikit_learn_takes_it():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=200), "day": np.arange(200) / 2})
    y = (table["x"] + rng.normal(size=200) > 0).astype(int)
    split = TimeSplit(3, time="day", horizon="14D", gap="7D")
    found = cross_validate(LogisticRegression(), table, y, cv=split)
    assert len(found["test_score"]) == 3
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=split).fit(table, y)
    assert search.n_splits_ == 3
    assert clone(search).cv.gap == "7D"
    inner = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=TimeSplit(2, time="day"))
    cross_validate(inner, table, y, cv=split, error_score="raise")
    assert "gap='7D'" in repr(split)


def test_known_labels_by_hand():
    times = [0, 10, 20, 30]
    with pytest.warns(UserWarning, match=r"2 of 4 rows \(50 %\)"):
        assert known_labels(times, now=30, label_delay="15D").tolist() == [True, True, False, False]
    with pytest.warns(UserWarning, match=r"1 of 4"):
        assert known_labels(times, label_time=[1, 11, 21, None]).sum() == 3
    # Just after the latest row, whose report has come, and that of another is later.
    with pytest.warns(UserWarning, match=r"1 of 4"):
        known = known_labels(times, label_time=[1, 11, 40, 30])
    assert known.tolist() == [True, True, False, True]
    assert known_labels(times, now=100, label_delay=1).all()
    dates = FORMS["pandas"](times)
    with pytest.warns(UserWarning, match=r"2 of 4"):
        known = known_labels(dates, now="2026-02-01", label_delay="14D")
    assert known.tolist() == [True, True, False, False]


DAYS = np.arange(60.0)
WRONG = {
    "a month": (lambda: TimeSplit(time=DAYS, gap="1M"), "'30D'"),
    "a word": (lambda: TimeSplit(time=DAYS, gap="week"), "no span of time"),
    "negative": (lambda: TimeSplit(time=DAYS, gap=-1), "at least 0"),
    "no horizon": (lambda: TimeSplit(time=DAYS, horizon=0), "above 0"),
    "no window": (lambda: TimeSplit(time=DAYS, window="0D"), "above 0"),
    "truth": (lambda: TimeSplit(time=DAYS, gap=True), "no span of time"),
    "n_splits": (lambda: TimeSplit(0, time=DAYS), "n_splits=0 must be a whole number"),
    "half": (lambda: TimeSplit(2.5, time=DAYS), "n_splits=2.5"),
    "no time": (lambda: TimeSplit(), "name a column"),
    "no column": (lambda: TimeSplit(time="when"), "names a column, but the rows are a ndarray"),
    "length": (lambda: TimeSplit(time=DAYS[:9]), "9 moments for 60 rows"),
    "text": (lambda: TimeSplit(time=["2026-01-01"] * 60), "pandas.to_datetime"),
    "objects": (
        lambda: TimeSplit(time=np.array([*DAYS[:-1], "late"], dtype=object)),
        "row 59: time is 'late'",
    ),
    "missing": (lambda: TimeSplit(time=[*DAYS[:-1], np.nan]), "row 59: time is missing"),
    "seconds": (lambda: TimeSplit(time=DAYS + 1.7e9), "unit='s'"),
    "table": (lambda: TimeSplit(time=DAYS[:, None]), r"shape \(60, 1\)"),
    "number of column": (lambda: TimeSplit(time=3), "time=3 is no column"),
    "too many": (lambda: TimeSplit(7, time=DAYS, horizon=10), "fold 0 has nothing to train on"),
    "too late": (
        lambda: TimeSplit(2, time=DAYS, horizon=10, label_delay=50),
        "40 rows before day 40 have no label yet",
    ),
    "holes": (lambda: TimeSplit(2, time=DAYS // 30 * 30, horizon=7), "nothing to judge by"),
    "too short": (lambda: TimeSplit(3, time=DAYS, gap=70), "too short for 3 test periods"),
    "label before": (lambda: TimeSplit(time=DAYS, label_time=DAYS - 1), "row 0: label_time is day"),
    "labels missing": (lambda: TimeSplit(time=DAYS, label_time=DAYS * np.nan), "label_delay="),
    "labels short": (lambda: TimeSplit(time=DAYS, label_time=DAYS[1:]), "59 moments for 60 rows"),
    "labels are dates": (
        lambda: TimeSplit(time=DAYS, label_time=FORMS["numpy"](DAYS.tolist())),
        "both be dates",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_say_what_to_do(name):
    make, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        list(make().split(DAYS[:, None]))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "give label_delay="),
        ({"label_delay": "30D", "now": "soon"}, "now is 'soon'|now holds"),
        ({"label_delay": "30D", "now": np.nan}, "now is missing"),
        ({"label_delay": "30D", "now": np.datetime64("2026-01-01")}, "both count days"),
        ({"label_time": [1, 2]}, "2 moments for 60 rows"),
    ],
)
def test_wrong_questions_about_known_labels(how, said):
    with pytest.raises(ValueError, match=said):
        known_labels(DAYS, **how)

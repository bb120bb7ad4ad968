"""The stream of card payments: the handbook's kind, the same everywhere, changed on a known day."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import TimeSplit
from costboost.datasets import make_card_stream

SMALL = {"n_customers": 60, "n_terminals": 120, "n_days": 70}
DAY = 86_400


@pytest.fixture(scope="module")
def stream():
    return make_card_stream(**SMALL)


@pytest.fixture(scope="module")
def half_year():
    return make_card_stream(800, 1600)


def test_it_looks_like_the_handbooks(half_year):
    # 10,000 payments a day of 5,000 customers, 0.84 % frauds, of which terminals make the most.
    per_day = len(half_year.y) / 183
    assert 1.8 * 800 < per_day < 2.2 * 800
    assert 0.006 < half_year.y.mean() < 0.011
    shares = np.bincount(half_year.scenario, minlength=4)[1:] / half_year.y.sum()
    assert 0.03 < shares[0] < 0.12
    assert 0.45 < shares[1] < 0.75
    assert 0.2 < shares[2] < 0.45
    assert (half_year.y == (half_year.scenario > 0)).all()
    assert (np.diff(half_year.time) >= np.timedelta64(0)).all()
    assert half_year.day[-1] == 182


def test_frauds_are_those_of_the_scenarios(half_year):
    plain = half_year.scenario == 1
    assert (half_year.amount[plain] > 220).all()
    assert half_year.amount[half_year.scenario == 0].max() <= 220
    # A terminal that is compromised stays so for 28 days at most, unless it is again.
    hit = pd.DataFrame({"terminal": half_year.terminal, "day": half_year.day})[
        half_year.scenario == 2
    ]
    spans = hit.groupby("terminal")["day"].agg(lambda days: days.max() - days.min())
    assert spans.median() < 28
    # Stolen cards pay far more than is usual for them.
    usual = pd.Series(half_year.amount[half_year.y == 0]).groupby(
        half_year.customer[half_year.y == 0]
    )
    means = usual.mean()
    stolen = half_year.scenario == 3
    ratio = half_year.amount[stolen] / means[half_year.customer[stolen]].to_numpy()
    assert 4 < np.median(ratio) < 6


def test_windows_are_those_of_the_naive_twin(stream):
    seconds = (stream.time - np.datetime64("2018-04-01")) // np.timedelta64(1, "s")
    X = stream.X.to_numpy()
    names = list(stream.feature_names)
    rows = np.random.default_rng(0).choice(len(seconds), 150, replace=False)
    for i in [0, len(seconds) - 1, *rows.tolist()]:
        for w in (1, 7, 30):
            mine = (
                (stream.customer == stream.customer[i])
                & (seconds > seconds[i] - w * DAY)
                & (seconds <= seconds[i])
            )
            there = (
                (stream.terminal == stream.terminal[i])
                & (seconds > seconds[i] - (w + 7) * DAY)
                & (seconds <= seconds[i] - 7 * DAY)
            )
            got = {name: X[i, names.index(f"{name}_{w}d")] for name in (
                "customer_payments", "customer_mean_amount", "terminal_payments",
                "terminal_fraud_share",
            )}  # fmt: skip
            assert got["customer_payments"] == mine.sum()
            assert got["customer_mean_amount"] == pytest.approx(stream.amount[mine].mean())
            assert got["terminal_payments"] == there.sum()
            share = stream.y[there].mean() if there.any() else 0.0
            assert got["terminal_fraud_share"] == pytest.approx(share)
    assert (X[:, names.index("hour")] == seconds % DAY // 3600).all()
    dates = pd.DatetimeIndex(stream.time)
    assert (X[:, names.index("weekend")] == (dates.day_of_week >= 5)).all()


def test_labels_come_late(stream):
    assert (stream.label_time - stream.time == np.timedelta64(7, "D")).all()
    at_once = make_card_stream(**SMALL, label_delay=0)
    assert (at_once.label_time == at_once.time).all()
    np.testing.assert_array_equal(at_once.amount, stream.amount)
    assert not np.array_equal(at_once.X, stream.X)


def test_the_same_everywhere(stream):
    again = make_card_stream(**SMALL)
    pd.testing.assert_frame_equal(stream.X, again.X)
    other = make_card_stream(**SMALL, random_state=1)
    assert len(other.y) != len(stream.y) or not np.array_equal(other.amount, stream.amount)
    # Legacy generators are frozen: these numbers hold on every version of numpy.
    assert stream.amount[:3].tolist() == [58.17, 64.93, 48.85]


@pytest.mark.parametrize("change", ["prevalence", "column", "prices", "adapt"])
def test_a_change_changes_nothing_before_its_day(half_year, change):
    changed = make_card_stream(800, 1600, change=change, change_day=120)
    before, after = changed.day < 120, changed.day >= 120
    pd.testing.assert_frame_equal(half_year.X[before], changed.X[before])
    np.testing.assert_array_equal(half_year.y[before], changed.y[before])
    np.testing.assert_array_equal(half_year.fee[before], changed.fee[before])
    np.testing.assert_array_equal(half_year.time, changed.time)
    if change == "prevalence":
        assert changed.y[after].mean() > 1.8 * half_year.y[after].mean()
    elif change == "column":
        pd.testing.assert_series_equal(
            changed.X["terminal_fraud_share_7d"][after],
            100 * half_year.X["terminal_fraud_share_7d"][after],
        )
        np.testing.assert_array_equal(half_year.y, changed.y)
    elif change == "prices":
        assert (changed.fee[after] == 20).all()
        np.testing.assert_array_equal(half_year.y, changed.y)
        assert changed.costs.of_labels(changed.y)[-1, 1] == 20
    else:
        assert (changed.scenario[after] != 1).all()
        assert changed.amount[after & (changed.y == 1)].mean() < 80
        share = changed.y[after].mean() / half_year.y[after].mean()
        assert 0.5 < share < 1.6  # as many, but less is known of them
        by_then = changed.X["terminal_fraud_share_7d"][after & (changed.scenario == 2)]
        then = half_year.X["terminal_fraud_share_7d"][after & (half_year.scenario == 2)]
        assert (by_then > 0).mean() < 0.5 * (then > 0).mean()


def test_prices_by_hand(stream):
    assert stream.costs.total(stream.y, np.zeros_like(stream.y)) == pytest.approx(
        stream.amount[stream.y == 1].sum()
    )
    assert stream.costs.total(stream.y, np.ones_like(stream.y)) == 5 * len(stream.y)


@pytest.mark.parametrize(("kind", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_one_table_of_everything(stream, kind, frame):
    table = stream.to_table(kind)
    assert isinstance(table, frame)
    assert list(table.columns) == [
        "time", "customer", "terminal", *stream.feature_names, "fee", "label_time", "fraud",
    ]  # fmt: skip
    folds = list(TimeSplit(2, time="time", gap="7D", horizon="7D").split(table))
    assert [len(np.unique(stream.day[test])) for _, test in folds] == [7, 7]


def test_days_of_one_payment():
    alone = make_card_stream(1, 1, 1, random_state=3)
    assert len(alone.y) >= 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"n_customers": 0}, "n_customers=0 must be a whole number at least 1"),
        ({"n_terminals": 2.5}, "n_terminals=2.5"),
        ({"n_days": -1}, "n_days=-1"),
        ({"fee": -1}, "fee=-1"),
        ({"label_delay": -7}, "label_delay=-7"),
        ({"change": "weather"}, "allowed: None, 'prevalence', 'column', 'prices', 'adapt'"),
        ({"change_day": 3}, "say what changes"),
        ({"change": "prices", "change_day": 70}, "at most 69"),
        ({"as_frame": "arrow"}, "as_frame='arrow' is not known"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_wrong_inputs(how, said):
    with pytest.raises(ValueError, match=said):
        make_card_stream(**{**SMALL, **how})

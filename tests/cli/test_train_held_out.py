"""Rows held out and folds: by time, by group, by class; none on both sides."""

import datetime

import numpy as np
import polars as pl
import pytest

from costboost.cli import InputError
from costboost.cli.compare import fold_rows
from costboost.cli.train import hold_out, time_codes

N = 1000
RNG = np.random.default_rng(1)
Y = np.where(RNG.uniform(size=N) < 0.1, "yes", "no")
DAY = pl.Series("day", RNG.integers(0, 50, N))
GROUPS = RNG.integers(0, 120, N)


def whole(split):
    return np.array_equal(np.sort(np.concatenate([split.train, split.held])), np.arange(N))


@pytest.mark.parametrize("part", [0.1, 0.2, 0.5])
def test_at_random_classes_keep_their_shares(part):
    split = hold_out(Y, part, 0)
    assert whole(split)
    assert len(split.held) == pytest.approx(part * N, abs=1)
    assert np.mean(Y[split.held] == "yes") == pytest.approx(np.mean(Y == "yes"), abs=0.01)
    assert np.array_equal(split.held, hold_out(Y, part, 0).held)
    assert not np.array_equal(split.held, hold_out(Y, part, 1).held)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: s,
        lambda s: s * 86400.5,
        lambda s: s.cast(pl.Date),
        lambda s: s.cast(pl.Date).cast(pl.Datetime("ms", "Europe/Zurich")),
    ],
)
def test_by_time_the_latest_and_no_moment_on_both_sides(make):
    split = hold_out(Y, 0.2, 0, time=make(DAY))
    days = DAY.to_numpy()
    assert whole(split)
    assert days[split.train].max() < days[split.held].min()
    assert len(split.held) == pytest.approx(0.2 * N, rel=0.2)
    assert "day >=" in split.how


def test_by_group_none_on_both_sides():
    split = hold_out(Y, 0.25, 0, groups=GROUPS)
    assert whole(split)
    assert not set(GROUPS[split.train]) & set(GROUPS[split.held])
    assert len(split.held) == pytest.approx(0.25 * N, rel=0.2)


def test_nothing_held_out():
    split = hold_out(Y, 0, 0)
    assert (len(split.train), len(split.held)) == (N, 0)


def test_a_class_on_one_side_only_is_refused():
    late = np.where(np.arange(N) > 900, "yes", "no")
    with pytest.raises(InputError, match="No row to learn from is yes"):
        hold_out(late, 0.2, 0, time=pl.Series("day", np.arange(N)))


def test_moments_are_ordered_as_dates_are():
    days = pl.Series("d", [datetime.date(2026, 3, 1), datetime.date(2025, 1, 1)])
    assert time_codes(days).tolist() == [1, 0]


@pytest.mark.parametrize("how", [{}, {"groups": GROUPS}])
def test_folds_test_every_row_once(how):
    folds = list(fold_rows(Y, 4, 0, **how))
    assert len(folds) == 4
    tested = np.concatenate([test for _, test in folds])
    assert np.array_equal(np.sort(tested), np.arange(N))
    for train, test in folds:
        assert not set(train) & set(test)
        if how:
            assert not set(GROUPS[train]) & set(GROUPS[test])


def test_folds_by_time_learn_from_earlier_rows_only():
    days = DAY.to_numpy()
    folds = list(fold_rows(Y, 4, 0, time=DAY))
    assert len(folds) == 4
    for train, test in folds:
        assert days[train].max() < days[test].min()
    tested = np.concatenate([test for _, test in folds])
    assert len(np.unique(tested)) == len(tested) == pytest.approx(0.8 * N, rel=0.1)

"""How sure means are, and what that says of published figures."""

import numpy as np
import pytest
from scipy import stats

from costboost.papers.intervals import Interval, mean_interval, order_verdict, place


def test_intervals_are_student_s():
    x = np.random.default_rng(0).normal(size=12)
    found = mean_interval(x)
    low, high = stats.t.interval(0.95, 11, x.mean(), stats.sem(x))
    assert found == pytest.approx((x.mean(), low, high))
    wide = mean_interval(x, test_to_train=1 / 9)
    assert (wide.high - wide.low) / (high - low) == pytest.approx(np.sqrt(1 + 12 / 9))
    assert mean_interval([1.0]) == (1.0, -np.inf, np.inf)


def test_corrected_intervals_cover_the_mean_over_overlapping_splits():
    # The uncorrected interval of 20 overlapping test halves forgets the rows that it never sees.
    rng = np.random.default_rng(1)
    hits = {0.0: 0, 1.0: 0}
    for _ in range(300):
        rows = rng.normal(size=60)
        means = [rng.permutation(rows)[:30].mean() for _ in range(20)]
        for ratio in hits:
            found = mean_interval(means, test_to_train=ratio)
            hits[ratio] += found.low <= 0 <= found.high
    assert hits[1.0] > 280
    assert hits[0.0] < 220


def test_places_and_orders_are_said_in_words():
    interval = Interval(2.0, 1.5, 2.5)
    assert place(2.504, interval) == "within"
    assert place(2.51, interval) == "published is above"
    assert place(1.49, interval) == "published is below"
    assert order_verdict({"a": 1, "b": 2}, {"a": 1, "b": 2}) == "same order"
    assert order_verdict({"a": 1, "b": 2}, {"a": 2, "b": 2}).startswith("0 of 1")
    assert order_verdict({"a": 1, "b": 1}, {"a": 2, "b": 1}) == "same order"


def test_ends_of_an_interval_follow_the_level_and_the_unit():
    x = np.array([1.0, 2.0, 4.0])
    narrow, wide = mean_interval(x, level=0.5), mean_interval(x, level=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    for size in (1e-150, 1e150):
        assert mean_interval(size * x) == pytest.approx(size * np.array(mean_interval(x)))
    assert mean_interval([3.0, 3.0, 3.0]) == (3.0, 3.0, 3.0)


def test_intervals_are_written_with_as_many_digits_as_asked_for():
    found = Interval(1.2345, -0.5, 2.0)
    assert str(found) == "1.23 [-0.50, 2.00]"
    assert found.text(1, "+") == "+1.2 [-0.5, +2.0]"
    assert mean_interval([7.0]).text(0) == "7 [-inf, inf]"


def test_a_figure_is_placed_as_it_was_printed():
    interval = Interval(2.0, 1.5, 2.5)
    assert place(2.54, interval, digits=1) == "within"  # it may have been 2.5
    assert place(2.56, interval, digits=1) == "published is above"
    assert place(1, interval, digits=0) == "within"
    assert place(0.9, interval, digits=0) == "published is below"

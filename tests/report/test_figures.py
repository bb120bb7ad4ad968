"""Intervals without draws against those with draws, and numbers as text."""

import numpy as np
import pytest

from costboost.metrics import bootstrap_interval
from costboost.report.figures import sum_interval
from costboost.report.text import esc, label, money, number, percent


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.gamma(2.0, 10.0, 2000),
        lambda rng: np.where(rng.random_sample(3000) < 0.02, rng.lognormal(4, 1, 3000), 0.0),
        lambda rng: rng.normal(-5.0, 40.0, 500),
    ],
)
def test_intervals_are_those_of_resampling(draw):
    paid = draw(np.random.RandomState(0))
    drawn = bootstrap_interval(np.sum, paid, n_resamples=4000, random_state=0)
    made = sum_interval(paid)
    width = drawn.high - drawn.low
    assert made.total == pytest.approx(paid.sum())
    # The ends of 4000 draws are themselves known to about 2% of the width.
    assert made.low == pytest.approx(drawn.low, abs=0.05 * width)
    assert made.high == pytest.approx(drawn.high, abs=0.05 * width)


def test_the_skew_side_is_the_longer_one():
    paid = np.zeros(1000)
    paid[:5] = 100.0
    made = sum_interval(paid)
    assert made.high - made.total > made.total - made.low > 0


def test_equal_rows_leave_no_doubt():
    assert sum_interval(np.full(7, 2.5)) == (17.5, 17.5, 17.5)
    assert sum_interval(np.array([3.0])) == (3.0, 3.0, 3.0)


def test_scaling_prices_scales_the_interval():
    paid = np.random.RandomState(0).gamma(1.0, 1.0, 300)
    for factor in (1e-6, 1e9):
        np.testing.assert_allclose(
            sum_interval(factor * paid), np.multiply(factor, sum_interval(paid))
        )


def test_numbers_are_english():
    assert number(1234567.891, 2) == "1,234,567.89"
    assert number(-0.004, 2) == "0.00"
    assert number(2.5) == "3"
    assert number(-1234.5) == "-1,235"
    assert money(-1234.567, "EUR") == "-EUR 1,234.57"
    assert money(5, "\u20ac") == "\u20ac5.00"
    assert money(-0.001, "$") == "$0.00"
    assert [percent(x) for x in (0, 0.0994, 0.0996, 1, -0.25, float("inf"))] == [
        "0.0%", "9.9%", "10%", "100%", "-25%", "-"
    ]  # fmt: skip


def test_texts_are_escaped():
    assert esc("<a href='x'>&\"") == "&lt;a href=&#x27;x&#x27;&gt;&amp;&quot;"
    assert [label(x) for x in (None, float("nan"), 2.0, "a", 3)] == [
        "missing",
        "missing",
        "2",
        "a",
        "3",
    ]

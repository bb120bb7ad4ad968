"""Intervals without draws against those with draws; figures against the metrics."""

import numpy as np
import pytest

from costboost import Costs
from costboost.metrics import bootstrap_interval, mean_cost
from costboost.report.figures import compute_figures, sum_interval
from report_cases import CASES, draw_values, two_class_rows


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


@pytest.mark.parametrize("power", [-1000, -664, -350, -299, 299, 350, 664, 1000])
def test_the_interval_is_as_wide_at_the_smallest_and_largest_prices(power):
    paid = np.random.RandomState(0).gamma(1.0, 1.0, 300)
    # In another power of two only the cube of the spread may round differently.
    wanted = np.ldexp(sum_interval(paid), power)
    np.testing.assert_allclose(sum_interval(np.ldexp(paid, power)), wanted, rtol=1e-15, atol=0)


@pytest.mark.parametrize("price", [1e-300, 1e-200, 1e103, 1e150, 1e299])
def test_figures_at_the_ends_of_what_costs_may_be(price):
    rng = np.random.RandomState(0)
    proba, y = rng.random_sample(200), rng.randint(2, size=200)
    unit, scaled = (
        compute_figures(two_class_rows(proba, y, Costs(fp=one, fn=3 * one))) for one in (1.0, price)
    )
    np.testing.assert_allclose(np.divide(scaled.bill, price), unit.bill, rtol=1e-12)
    for mine, theirs in zip(scaled.policies, unit.policies, strict=True):
        np.testing.assert_allclose(np.divide(mine.saved, price), theirs.saved, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_the_metrics(name):
    rows, rng = CASES[name]().page_rows, np.random.RandomState(0)
    for _ in range(5):
        values = draw_values(rows, rng)
        figures = compute_figures(rows, values)
        decided, costs = rows.decide(values), rows.costs(values)
        weight = rows.weight
        total = float(len(rows) if weight is None else weight.sum())
        mean = mean_cost(rows.labels, decided, costs=costs, sample_weight=weight)
        assert figures.bill.total == pytest.approx(mean * total, rel=1e-9, abs=1e-9)
        assert figures.money.sum() == pytest.approx(figures.bill.total, rel=1e-9, abs=1e-9)
        assert figures.counts.sum() == pytest.approx(total)
        assert figures.bill.low <= figures.bill.total <= figures.bill.high
        for policy in figures.policies:
            saved = policy.bill.total - figures.bill.total
            assert policy.saved.total == pytest.approx(saved, rel=1e-6, abs=1e-6)

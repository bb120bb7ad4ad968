"""Bills of policies: intervals that cover, the same cents wherever a bill is shown."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from costboost import demo
from costboost.costs import Costs
from costboost.metrics import paired_cost_test, savings_score
from costboost.metrics.policies import PERFECT, constant_names, price_policies, sum_interval


def frauds(rng, n=2000, n_frauds=30):
    """Return costs of a policy: rare ones, some of them large."""
    return np.where(rng.random_sample(n) < n_frauds / n, rng.lognormal(0, 1, n), 0.0)


def test_an_interval_is_hall_s_transformation_turned_round():
    terms = frauds(np.random.RandomState(0))
    n, mean = len(terms), terms.mean()
    error = math.sqrt(n) * terms.std(ddof=1)
    g = np.mean((terms - mean) ** 3) / terms.std() ** 3 / math.sqrt(n)

    def transformed(t):
        return t + g * t**2 / 3 + g**2 * t**3 / 27 + g / 6

    for confidence in (0.5, 0.95, 0.99):
        found = sum_interval(terms, confidence=confidence)
        z = norm.ppf((1 + confidence) / 2)
        ends = [terms.sum() - error * brentq(lambda t, q=q: transformed(t) - q, -50, 50)
                for q in (z, -z)]  # fmt: skip
        assert found == pytest.approx((terms.sum(), *ends), rel=1e-9)


@pytest.mark.parametrize("fee", [0.0, 0.1])
def test_intervals_cover_what_they_promise_where_few_rows_cost_much(fee):
    """Cornish and Fisher's expansion covers 0.90 here, BCa 0.92."""
    rng, covered, n_runs = np.random.RandomState(0), 0, 1500
    expected = 30 * (math.exp(0.5) - fee)
    for _ in range(n_runs):
        terms = frauds(rng)
        found = sum_interval(terms - fee * (terms > 0))
        covered += found.low <= expected <= found.high
    assert 0.93 <= covered / n_runs <= 0.97


def test_where_nothing_is_skewed_the_interval_is_the_usual_one():
    terms = np.concatenate([np.arange(100.0), -np.arange(100.0)]) + 3
    found = sum_interval(terms)
    reach = norm.ppf(0.975) * math.sqrt(200) * terms.std(ddof=1)
    assert found == pytest.approx((600, 600 - reach, 600 + reach))


def test_no_end_lies_beyond_what_rows_can_cost():
    found = sum_interval(np.array([0.0] * 99 + [5.0]))
    assert found.low == 0
    assert found.total < found.high <= 500
    assert sum_interval(-np.array([0.0] * 99 + [5.0])) == (-5, -found.high, 0)


def test_the_skewed_side_is_the_longer_one():
    terms = np.zeros(1000)
    terms[:5] = 100.0
    found = sum_interval(terms)
    assert found.high - found.total > found.total - found.low > 0


def test_equal_rows_leave_no_interval():
    assert sum_interval(np.full(7, 2.5)) == (17.5, 17.5, 17.5)
    assert sum_interval(np.array([3.0])) == (3.0, 3.0, 3.0)


@pytest.mark.parametrize("power", [-1000, -664, -350, -299, 299, 350, 664, 1000])
def test_the_interval_is_as_wide_at_the_smallest_and_largest_prices(power):
    terms = np.random.RandomState(0).gamma(1.0, 1.0, 300)
    wanted = np.ldexp(sum_interval(terms), power)
    np.testing.assert_allclose(sum_interval(np.ldexp(terms, power)), wanted, rtol=1e-14, atol=0)


def test_groups_are_independent_their_rows_are_not():
    terms, groups = np.random.RandomState(0).gamma(1.0, 1.0, 300), np.arange(300) // 10
    assert sum_interval(terms, groups) == pytest.approx(
        sum_interval(terms.reshape(30, 10).sum(axis=1))
    )
    twice = sum_interval(np.repeat(terms, 2), np.repeat(np.arange(300), 2))
    assert twice == pytest.approx(np.multiply(2, sum_interval(terms)))


def test_the_paired_test_has_the_interval_of_the_bill():
    rng = np.random.RandomState(0)
    y, first, second = (rng.random_sample(400) < p for p in (0.2, 0.3, 0.5))
    costs = Costs(fp=1, fn=rng.lognormal(1, 1, 400))
    test = paired_cost_test(y, first, second, costs=costs, n_resamples=99, random_state=0)
    bound = costs.bind([False, True])
    paid = [bound.of_decisions(y, d) for d in (first, second)]
    wanted = np.divide(sum_interval(paid[0] - paid[1]), 400)
    assert (test.difference, test.low, test.high) == pytest.approx(tuple(wanted))
    # A weight of 2 for all changes nothing.
    same = paired_cost_test(
        y, first, second, costs=costs, sample_weight=np.full(400, 2.0), n_resamples=99,
        random_state=0,
    )  # fmt: skip
    assert (same.low, same.high) == pytest.approx((test.low, test.high))


def test_savings_are_counted_from_the_cheapest_constant_policy():
    prices = np.array([[0.0, 3.0], [8.0, 3.0], [0.0, 3.0], [9.0, 3.0]])
    taken = {"model": np.array([0, 1, 1, 1])}
    found = price_policies(prices, taken, constant_names(["no", "yes"], 1))
    assert list(found.paid) == ["do nothing", "do everything", "model", PERFECT]
    assert found.cheapest == "do everything"
    assert [found.cost(name).total for name in found.paid] == [17, 12, 9, 6]
    assert found.saved("model").total == 3
    assert found.saved("model", "do nothing").total == 8
    assert found.share("model") == 0.25
    weighted = price_policies(
        prices, taken, constant_names(["a", "b"], None), weight=np.array([5.0, 1, 1, 1])
    )
    assert weighted.cheapest == "always a"
    assert weighted.cost("model").total == 9


@pytest.fixture(scope="module")
def story():
    return demo.tell(3000, n_resamples=20)


def test_command_line_page_demo_and_picture_agree_to_the_cent(story):
    pl, pytest_mpl = pytest.importorskip("polars"), pytest.importorskip("matplotlib")
    pytest.importorskip("typer")
    from costboost.cli.bill import MODEL, TODAY, make_bill
    from costboost.cli.recipe import TableRows
    from costboost.plots import PolicyDisplay
    from costboost.report.rows import compute_figures

    pytest_mpl.use("agg")
    costs = Costs(fp=story.fee, tp=story.fee, fn=story.amount)
    ours, tuned = (story[name].decisions for name in (demo.OURS, demo.TUNED))
    frame = pl.DataFrame({"amount": story.amount})
    rows = TableRows(
        frame=frame, X=frame, costs=costs.bind([0, 1]), positive=1, y=story.y, current=tuned
    )
    bill = make_bill(rows, {MODEL: ours})
    figures = compute_figures(demo.report(story).page_rows)
    constant = [np.zeros_like(ours), np.ones_like(ours)]
    decided = [*constant, tuned, ours]
    drawn = PolicyDisplay.from_decisions(
        story.y, {str(j): d for j, d in enumerate(decided)}, costs=costs
    )
    on_page = [*(policy.bill for policy in figures.policies), figures.bill]
    names = ["do nothing", "do everything", TODAY, MODEL]
    for j, name in enumerate(names):
        line = bill[name]
        cents = pytest.approx((line.cost, line.low, line.high), abs=0.004)
        assert on_page[j] == cents
        assert (drawn.costs[j], drawn.low[j], drawn.high[j]) == cents
        share = savings_score(story.y, decided[j], costs=costs)
        assert line.share == pytest.approx(share, abs=1e-12)
    for line, outcome in [
        (bill["do nothing"], story[demo.NOTHING]),
        (bill[TODAY], story[demo.TUNED]),
        (bill[MODEL], story[demo.OURS]),
        (bill[PERFECT], story[demo.PERFECT]),
    ]:
        assert (outcome.cost, outcome.low, outcome.high, outcome.saved) == pytest.approx(
            (line.cost, line.low, line.high, line.share), abs=0.004
        )
    against = names.index(bill.against)
    line = bill[MODEL]
    assert figures.policies[against].saved == pytest.approx(
        (line.saved, line.saved_low, line.saved_high), abs=0.004
    )
    assert figures.policies[against].share == pytest.approx(line.share, abs=1e-12)
    today = (line.saved_today, line.saved_today_low, line.saved_today_high)
    assert figures.policies[2].saved == pytest.approx(today, abs=0.004)
    test = story.versus_tuned
    told = tuple(-len(ours) * end for end in (test.difference, test.high, test.low))
    assert told == pytest.approx(today, abs=0.004)

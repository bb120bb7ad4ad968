"""A rule at the costs of a fit, as the loop knows it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import RULES, BoundRule, class_prices
from costboost.boosting.adaboost.weights import EffectiveRule, Setting, price_scale
from costboost.shards.layout import RowData, plan_layout

RNG = np.random.default_rng(0)
N = 80
Y = RNG.integers(0, 2, N)
FN = RNG.uniform(0.5, 4.0, N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
HYPOTHESIS = Hypothesis(np.array([0, 1, 1]), np.array([1.0, 0.5, 2.0]))


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)


def terms_of(method, fn=3.0, weights=None, n_shards=2, **setting):
    costs = Costs(fp=1.0, fn=fn).bind([0, 1], N)
    given = TrainingRows(RowData(Y, weights, costs), 2, Y, objective=setting.get("objective"))
    shards = plan_layout(Y, N, 2, n_shards).cut(np.zeros((N, 1), np.uint8), given.load)
    setting = Setting(**{"n_rounds": 10, **setting})
    return EffectiveRule(shards, RULES[method], given.by_class(), 2, setting)


PRICED = ["csb2", "adac1", "adac2", "adac3", "adacost", "csada", "asymada"]


@pytest.mark.parametrize("method", PRICED)
def test_cells_are_the_rule_at_the_prices_of_classes(method):
    terms = terms_of(method)
    assert terms.terms_by_class
    assert terms.by_cell(HYPOTHESIS)
    costs = Costs(fp=1.0, fn=3.0).bind([0, 1])
    prices = class_prices(costs, 2)
    scale = price_scale(prices.largest, prices.smallest, RULES[method], "auto")
    bound = BoundRule(RULES[method], 10, 2)
    u, f = bound.terms(prices.scaled(scale), np.arange(2))
    for leaf, (vote, size) in enumerate(zip(HYPOTHESIS.votes, HYPOTHESIS.sizes, strict=True)):
        assert_allclose(terms.cell_margins(HYPOTHESIS)[leaf], u[:, vote] * size)
        assert_allclose(terms.cell_factors(HYPOTHESIS)[leaf], f[:, vote])
    longest = np.abs(terms.cell_margins(HYPOTHESIS)).max()
    assert terms.longest_cell_margin(HYPOTHESIS) == longest
    assert terms.largest_price == pytest.approx(3.0 * scale)


@pytest.mark.parametrize("method", PRICED)
def test_prices_by_row_that_are_equal_are_prices_by_class(method):
    by_class = terms_of(method)
    by_row = terms_of(method, fn=np.where(Y == 1, 3.0, 9.0))  # of negatives nobody asks
    assert not by_row.constant
    cells = by_class.cell_margins(HYPOTHESIS)
    if by_row.by_cell(HYPOTHESIS):
        assert_allclose(by_row.cell_margins(HYPOTHESIS), cells, rtol=1e-14)
    assert by_row.link_slope() == pytest.approx(by_class.link_slope(), rel=1e-13)
    assert by_row.largest_price == pytest.approx(by_class.largest_price)
    if not by_row.terms_by_class:
        assert by_row.reach(HYPOTHESIS) >= np.abs(cells).max() * (1 - 1e-14)
        factors = by_class.cell_factors(HYPOTHESIS)
        assert by_row.largest(HYPOTHESIS, 0.5) >= 0.5 * factors.max() * (1 - 1e-14)


def test_margins_may_be_those_of_classes_where_factors_are_not():
    terms = terms_of("csb2", fn=FN)
    assert not terms.terms_by_class
    assert terms.by_cell(HYPOTHESIS)
    expected = np.array([[1.0, -1.0], [-0.5, 0.5], [-2.0, 2.0]])
    assert_array_equal(terms.cell_margins(HYPOTHESIS), expected)
    assert terms.has_factors
    strong = Hypothesis(HYPOTHESIS.votes, HYPOTHESIS.sizes, by_row=True)
    assert not terms.by_cell(strong)
    assert not terms_of("adac1", fn=FN).by_cell(HYPOTHESIS)
    assert terms_of("adaboost", fn=FN).terms_by_class  # costs do not enter its rounds


def test_another_scale_is_taken_from_the_first_prices():
    terms = terms_of("csada")
    before = terms.cell_margins(HYPOTHESIS).copy()
    for scale in (0.5, 0.25, 1.0):
        terms.evaluate(scale)
        assert_allclose(terms.cell_margins(HYPOTHESIS), scale * before)
        assert terms.prices.largest == pytest.approx(scale)
    rows = terms_of("csada", fn=FN)
    reach = rows.reach(HYPOTHESIS)
    rows.evaluate(0.5)
    assert rows.reach(HYPOTHESIS) == pytest.approx(0.5 * reach)


@pytest.mark.parametrize("n_shards", [1, 4])
def test_slopes_of_links_are_mean_rates_of_classes(n_shards):
    assert terms_of("adaboost", fn=FN).link_slope() == pytest.approx(2.0)
    assert terms_of("adac1").link_slope() == pytest.approx(1.0 + 1.0 / 3.0)
    terms = terms_of("adac1", fn=FN, weights=WEIGHTS, n_shards=n_shards)
    rates = np.where(Y == 1, FN, 1.0) / FN[Y == 1].max()
    means = [np.average(rates[k == Y], weights=WEIGHTS[k == Y]) for k in (0, 1)]
    assert terms.link_slope() == pytest.approx(sum(means), rel=1e-13)


@pytest.mark.parametrize("n_shards", [1, 4])
def test_adauboost_knows_the_ratio_of_mean_costs(n_shards):
    assert terms_of("adauboost").bound.ratio == 3.0
    terms = terms_of("adauboost", fn=FN, weights=WEIGHTS, n_shards=n_shards)
    expected = np.average(FN[Y == 1], weights=WEIGHTS[Y == 1])
    assert terms.bound.ratio == pytest.approx(expected, rel=1e-13)
    assert terms_of("adauboost", fn=np.zeros(N)).bound.ratio == 1.0


def test_factors_for_the_learner_and_before_a_round():
    assert_allclose(terms_of("csada").learner_factors_by_class(), [1 / 3, 1.0])
    assert terms_of("csada", fn=FN).learner_factors_by_class() is None
    assert terms_of("adaboost").learner_factors_by_class() is None
    assert_allclose(terms_of("asymada").round_factor_by_class(), [1.0, 3.0**0.1])
    by_row = terms_of("asymada", fn=FN)
    assert by_row.round_factor_by_row
    assert by_row.round_factor_by_class().tolist() == [1.0, 1.0]


def test_a_cost_scale_is_the_largest_price():
    assert terms_of("csada", cost_scale=0.2).prices.largest == pytest.approx(0.2)
    assert terms_of("csada", fn=FN, cost_scale=0.2).largest_price == pytest.approx(0.2)


@pytest.mark.parametrize("power", [-900, 900])
@pytest.mark.parametrize("method", PRICED)
def test_the_unit_of_prices_does_not_matter(method, power):
    """But to AdaC2, whose factors are the prices themselves, in range."""
    costs = Costs(fp=2.0**power, fn=FN * 2.0**power).bind([0, 1], N)
    given = TrainingRows(RowData(Y, None, costs), 2, Y)
    shards = plan_layout(Y, N, 2, 2).cut(np.zeros((N, 1), np.uint8), given.load)
    far = EffectiveRule(shards, RULES[method], None, 2, Setting(10))
    near = terms_of(method, fn=FN)
    if method not in ("adac2", "asymada"):
        assert far.largest_price == pytest.approx(near.largest_price)
        assert far.reach(HYPOTHESIS) == pytest.approx(near.reach(HYPOTHESIS))
    assert np.isfinite(far.largest(HYPOTHESIS, 1.0))

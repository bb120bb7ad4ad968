"""The part of the page on uncertain prices: there where they are, and in step with the metrics."""

import numpy as np
import pytest

from costboost import Costs, make_report
from costboost.costs import as_costs, uncertain
from costboost.metrics import price_sensitivity, scenario_costs
from report_cases import FRAUD, fraud_model, fraud_rows, text_of

COSTS = Costs(
    fp=uncertain(8, low=0.5, high=2, together="<b>"), tp=8, fn=uncertain("amount", low=0.6, high=1)
)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_section_says_what_the_metric_does(weighted):
    X, y = fraud_rows(900)
    w = np.random.RandomState(0).choice([1.0, 2.0], len(y)) if weighted else None
    report = make_report(fraud_model(), X, y, costs=COSTS, sample_weight=w, currency="EUR")
    proba = fraud_model().predict_proba(X)
    found = price_sensitivity(y, proba, costs=COSTS.bind_table(X), sample_weight=w)
    text = text_of(report)
    assert "If the prices are others" in text
    for amount in (found.rows.total, found.prices.low, found.prices.high, found.largest_regret):
        assert f"EUR {amount:,.2f}" in text
    assert f"the {found.larger} leave more open" in text
    assert "&lt;b&gt;" in report.html.split("ranges-section", 2)[2].split("</section>")[0]
    assert len(report.html) < 2e6


def test_certain_prices_and_fixed_decisions_have_none():
    X, y = fraud_rows(300)
    report = make_report(fraud_model(), X, y, costs=FRAUD)
    assert "ranges-section" not in report.html


def test_scenarios_that_no_slider_reaches():
    X, y = fraud_rows(300)
    twice = {"twice": {"fp": 8, "tp": 8, "fn": 3}}
    with pytest.raises(
        ValueError, match="prices that no slider reaches: the page opens with a col"
    ):
        make_report(fraud_model(), X, y, costs=FRAUD, scenarios=twice)
    column = {"own": Costs(fp="amount", tp=8, fn="amount")}
    with pytest.raises(ValueError, match="the page opens with one number for all rows"):
        make_report(fraud_model(), X, y, costs=FRAUD, scenarios=column)


def test_scenarios_stand_side_by_side():
    X, y = fraud_rows(600)
    other = Costs(fp=20, tp=8, fn=lambda table: 2 * table["amount"])
    report = make_report(fraud_model(), X, y, costs=FRAUD, scenarios={"<b>ad": other})
    prices = {"now": as_costs(FRAUD, [0, 1], 600, X), "then": as_costs(other, [0, 1], 600, X)}
    found = scenario_costs(y, fraud_model().predict_proba(X), scenarios=prices)
    for one in found:
        assert f"{one.cost.total:,.2f}" in text_of(report)
        assert f"{one.unchanged.total:,.2f}" in text_of(report)
    assert "<b>ad" not in report.html

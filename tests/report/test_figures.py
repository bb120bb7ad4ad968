"""Figures against the metrics."""

import re

import numpy as np
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from costboost import Costs
from costboost.cli.bill import make_bill
from costboost.cli.recipe import TableRows
from costboost.metrics import mean_cost, savings_score
from costboost.report import make_report
from costboost.report.rows import compute_figures
from report_cases import CASES, draw_values, two_class_rows


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


@pytest.mark.parametrize(("fn", "cheapest"), [(12, "negative"), (60, "positive")])
@pytest.mark.parametrize("names", [("bad", "good"), ("worse", "fine")])
def test_the_headline_counts_from_the_baseline_of_all_measures(fn, cheapest, names):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 4, 300)
    truth = (rng.uniform(size=300) < p).astype(int)
    bad, good = names
    y, costs = np.where(truth == 1, bad, good), Costs(fp=5, tp=2, fn=fn, positive=bad)
    decided = np.where(p * fn > (1 - p) * 5 + p * 2, bad, good)
    constant = {good: fn * truth.sum(), bad: 2 * truth.sum() + 5 * (1 - truth).sum()}
    wanted = min(constant, key=constant.get)
    assert wanted == (good if cheapest == "negative" else bad)
    paid = np.where(decided == bad, np.where(truth == 1, 2, 5), fn * truth).sum()
    by_hand = 1 - paid / constant[wanted]
    assert savings_score(y, decided, costs=costs) == pytest.approx(by_hand)
    model = Told(np.array(sorted(names)), bad)
    page = make_report(model, p[:, None], y, costs=costs)
    told = re.search(r'id="headline">(.*?)</p>', page.html)[1]
    assert f"always {wanted}" in told
    assert f"({100 * by_hand:.0f} %)" in told
    table = pl.DataFrame({"x": np.zeros(300)})
    rows = TableRows(frame=table, X=table, costs=costs.bind(sorted(names)), positive=bad, y=y)
    bill = make_bill(rows, {"the model": decided})
    assert bill["the model"].saved / bill[bill.against].cost == pytest.approx(by_hand)


class Told(ClassifierMixin, BaseEstimator):
    """A model whose table holds its probabilities."""

    def __init__(self, classes_, positive):
        self.classes_, self.positive = classes_, positive

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        p = np.asarray(X)[:, 0]
        both = np.column_stack([1 - p, p])
        return both if self.classes_[1] == self.positive else both[:, ::-1]

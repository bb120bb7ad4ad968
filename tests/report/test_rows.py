"""The rows of a page: decided and paid as the model and costboost.metrics do, at any prices."""

import dataclasses

import numpy as np
import pytest

from costboost import Costs, make_report
from costboost.metrics import total_cost
from costboost.report.rows import compute_figures, read_prices
from report_cases import CASES, FRAUD, fraud_model, fraud_rows, many


def test_rows_cost_what_the_model_costs_on_the_table():
    X, y = fraud_rows()
    model, rows = fraud_model(), make_report(fraud_model(), X, y, costs=FRAUD).page_rows
    for fee, factor in ((8, 1), (3, 1), (40, 0.5), (0.01, 7)):
        costs = Costs(fp=fee, tp=fee, fn=factor * np.asarray(X["amount"]))
        own = total_cost(y, model.predict(X, costs=costs), costs=costs)
        values = [[0, fee], [factor, fee]]
        page = total_cost(rows.labels, rows.decide(values), costs=rows.costs(values))
        assert page == pytest.approx(own, rel=1e-12)
        assert compute_figures(rows, values).bill.total == page


def test_rows_are_sorted_and_not_lost():
    X, y = fraud_rows()
    rows = make_report(fraud_model(), X, y, costs=FRAUD).page_rows
    proba = fraud_model().predict_proba(X)[:, 1]
    order = np.argsort(proba, kind="stable")
    np.testing.assert_array_equal(rows.proba[:, 1], proba[order])
    assert rows.rounding == "exact"
    assert sorted(rows.prices.columns[0]) == sorted(np.asarray(X["amount"]))


def test_limits_are_those_of_decide():
    X, y = fraud_rows()
    model, days = fraud_model(), np.arange(len(y)) // 150
    rows = make_report(model, X, y, costs=FRAUD, time=days).page_rows
    costs = Costs(fp=8, tp=8, fn=np.asarray(X["amount"]))
    for limit in (0, 1, 3, 1000):
        plan = model.decide(X, costs=costs, capacity={1: limit}, groups=days)
        own = total_cost(y, plan.decisions, costs=costs)
        taken = rows.decide(limit=limit)
        assert total_cost(rows.labels, taken, costs=rows.costs()) == pytest.approx(own, rel=1e-12)
        most = np.bincount(rows.period, weights=taken == 1).max()
        assert most <= limit


@pytest.mark.parametrize("name", CASES)
def test_opening_prices_are_the_ones_given(name):
    rows = CASES[name]().page_rows
    own = rows.costs()
    assert own.actions.tolist() == rows.bound.actions.tolist()
    assert own.positive == rows.bound.positive
    n = len(rows)
    for k, a in np.ndindex(rows.prices.values.shape):
        page = rows.prices.cell(k, a, rows.prices.values)
        given = np.broadcast_to(rows.bound._state.cell(k, a), (n,))
        np.testing.assert_array_equal(np.sort(np.broadcast_to(page, (n,))), np.sort(given))


def test_cells_that_share_prices_share_a_column():
    fee, amount = np.array([1.0, 2.0]), np.array([10.0, 20.0])
    prices = read_prices(Costs(fp=fee, tp=fee.copy(), fn=amount, tn=3).bind([0, 1], 2))
    assert prices.column_of.tolist() == [[-1, 0], [1, 0]]
    assert prices.values.tolist() == [[3, 1], [1, 1]]
    same = read_prices(Costs(fp=[5, 5], fn=[1, 2]).bind([0, 1], 2))
    assert same.column_of.tolist() == [[-1, -1], [0, -1]]
    assert same.values[0, 1] == 5


def test_values_of_another_shape_are_refused():
    rows = CASES["constant"]().page_rows
    with pytest.raises(ValueError, match=r"values have shape \(4,\); give one for each cell"):
        rows.costs([0, 1, 2, 0])


def test_sampled_rows_are_rows_of_the_table():
    rows = dataclasses.replace(many(400, 2), weight=np.arange(400.0))
    kept = rows.take(np.array([5, 3]))
    assert kept.weight.tolist() == [5, 3]
    np.testing.assert_array_equal(kept.prices.columns[0], rows.prices.columns[0][[5, 3]])

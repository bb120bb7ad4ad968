"""Models, tables and prices of all kinds become rows; wrong ones are refused by name."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs, PNormBoostClassifier, make_report
from costboost.metrics import total_cost
from costboost.report.subject import read_subject
from report_cases import FRAUD, data_of, fraud_model, fraud_rows, text_of


def test_costs_of_fit_are_the_default():
    X, y = fraud_rows(300)
    model = CostBoostClassifier("adamec", n_estimators=10, cv=2, random_state=0)
    model.fit(X, y, costs=Costs(fp=8, tp=8, fn="amount"))
    assert data_of(model.report(X, y))["columns"][0]["name"] == "amount"
    by_row = model.fit(X, y, costs=Costs(fp=8, tp=8, fn=np.asarray(X["amount"])))
    with pytest.warns(UserWarning, match="uses their mean"):
        mean = by_row.report(X, y)
    assert data_of(mean)["columns"] == []


def test_a_price_for_every_mistake():
    X, y = fraud_rows(300)
    data = data_of(make_report(fraud_model(), X, y, costs=Costs.of_rows(np.arange(300) + 1.0)))
    assert data["columnOf"] == [-1, 0, 0, -1]
    assert data["values"] == [0, 1, 1, 0]


def test_plain_classifiers_and_pipelines_are_taken_as_they_are():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])
    report = make_report(model, X[1::2], y[1::2], costs={"fp": 2, "fn": 1})
    decided = Costs(fp=2, fn=1).bind([0, 1]).decide(model.predict_proba(X[1::2]))
    total = total_cost(y[1::2], decided, costs={"fp": 2, "fn": 1})
    assert f'id="bill">{total:,.2f}<' in report.html
    assert "none: the model holds what costboost.save does not write" in report.html


def test_answers_that_contain_costs_stay():
    X, y = load_breast_cancer(return_X_y=True)
    model = CostBoostClassifier("csb2", n_estimators=10, calibration=None)
    model.fit(X[::2], y[::2], costs={"fp": 3, "fn": 1})
    report = model.report(X[1::2], y[1::2])
    np.testing.assert_array_equal(
        np.sort(report.page_rows.decide([[0, 9], [1, 0]])), np.sort(model.predict(X[1::2]))
    )
    assert "its decisions stay" in " ".join(text_of(report).split())
    assert data_of(report)["curves"] == []


def test_prices_of_answers_are_refused():
    X, y = load_breast_cancer(return_X_y=True)
    prices = Costs.of_rows(np.ones((len(y), 2)) - np.eye(2)[y])
    model = PNormBoostClassifier(n_estimators=3).fit(X, y, costs=prices)
    with pytest.raises(ValueError, match=r"give costs.mean\(y=y\)"):
        model.report(X, y, costs=prices)


def test_moments_become_days():
    X, y = fraud_rows(300)
    moments = pd.date_range("2026-01-01", periods=300, freq="h").to_numpy()
    report = make_report(fraud_model(), X, y, costs=FRAUD, time=moments)
    data = data_of(report)
    assert (data["period"], data["periods"]) == ("day", 13)
    assert "2026-01-05" not in report.html  # days are numbered, not named


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"current": "today"}, "current='today' is no column of X"),
        ({"current": [1, 0]}, r"current has shape \(2,\), but X has 300 rows"),
        ({"current": np.full(300, 7)}, "current"),
        ({"groups": ["city"]}, "groups name 'city', which is no column of X"),
        ({"time": [1]}, r"time has shape \(1,\)"),
        ({"sample_weight": np.full(300, -1.0)}, "weight"),
        ({"costs": Costs(fp=1, fn=[1, 2])}, "2 rows"),
        ({"costs": Costs(fp=1, fn="loss")}, "loss"),
    ],
)
def test_wrong_input_is_refused_by_name(given, message):
    X, y = fraud_rows(300)
    with pytest.raises(ValueError, match=message):
        make_report(fraud_model(), X, y, **{"costs": FRAUD, **given})


def test_rows_must_match():
    X, y = fraud_rows(300)
    with pytest.raises(ValueError, match="X has 300 rows and y has 299"):
        make_report(fraud_model(), X, y[1:], costs=FRAUD)
    with pytest.raises(ValueError, match="2"):
        make_report(fraud_model(), X, y + 2, costs=FRAUD)


def test_rows_stand_in_the_order_of_the_table_with_its_weights_and_decisions():
    X, y = fraud_rows(300)
    weight = np.arange(300) + 1.0
    found = read_subject(fraud_model(), X, y, FRAUD, weight, y[::-1], ["merchant"], X["hour"])
    rows = found.rows
    np.testing.assert_array_equal(rows.truth, y)
    np.testing.assert_array_equal(rows.weight, weight)
    np.testing.assert_array_equal(rows.current, y[::-1])
    np.testing.assert_array_equal(rows.proba, fraud_model().predict_proba(X))
    np.testing.assert_array_equal(rows.prices.columns[0], X["amount"])
    labels, codes = rows.groups["merchant"]
    named = [labels[k] for k in codes]
    pairs = zip(named, X["merchant"], strict=True)
    assert all(said == kind or "other" in said for said, kind in pairs)
    names = np.array([float(name) for name in rows.period_names])
    np.testing.assert_array_equal(names[rows.period], X["hour"])
    assert found.period == "period"
    assert read_subject(fraud_model(), X, y, FRAUD, None, None, None, "hour").period == "hour"


def test_pipelines_are_read_by_what_their_last_step_sees():
    X, y = fraud_rows(300)
    numbers = X[["amount", "hour"]]
    model = make_pipeline(StandardScaler(), CostBoostClassifier(n_estimators=3, random_state=0))
    model.fit(numbers, y)
    found = read_subject(model, numbers, y, FRAUD, None, None, None, None)
    assert found.model is model[-1]
    np.testing.assert_allclose(np.mean(found.X, axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(found.rows.prices.columns[0], X["amount"])  # not scaled


def test_decisions_of_a_model_that_contains_its_costs_are_kept_as_they_are():
    X, y = load_breast_cancer(return_X_y=True)
    model = CostBoostClassifier("csb2", n_estimators=5, calibration=None)
    model.fit(X, y, costs={"fp": 3, "fn": 1})
    found = read_subject(model, X, y, {"fp": 1, "fn": 99}, None, None, None, None)
    np.testing.assert_array_equal(found.rows.decide([[0, 5], [1, 0]]), model.predict(X))


def test_models_that_are_not_fitted_and_empty_tables_are_refused():
    X, y = fraud_rows(300)
    with pytest.raises(NotFittedError):
        make_report(CostBoostClassifier(), X, y, costs=FRAUD)
    with pytest.raises(ValueError, match=r"X has 0 rows and y has 0: .* at least one"):
        make_report(fraud_model(), X[:0], y[:0], costs=FRAUD)

"""What the page warns of: drift, few rows, probabilities that do not hold, no savings."""

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, make_report
from costboost.report.drift import drift_warnings, forests_of, training_rows
from costboost.report.figures import compute_figures
from costboost.report.rows import PageRows, read_prices
from costboost.report.warning import doubts
from report_cases import FRAUD, fraud_model, fraud_rows


def drift(X):
    return drift_warnings(forests_of(fraud_model()), X)


def test_rows_of_the_same_kind_do_not_drift():
    assert drift(fraud_rows(3000, 11)[0]) == []


def test_a_shifted_column_is_named_with_both_shares():
    X, _ = fraud_rows(3000, 11)
    X = X.copy()
    X["transactions_last_hour"] += 2
    found = [text for text in drift(X) if "transactions_last_hour" in text]
    assert len(found) == 1
    assert found[0].startswith("Drift: transactions_last_hour <= ")
    assert "of the training rows" in found[0]


def test_shares_of_the_training_table_are_the_true_ones():
    """What the forest says of its training rows is what a count of them gives."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(2000, 1))
    y = (X[:, 0] + rng.normal(size=2000) > 1).astype(int)
    model = GradientBoostClassifier(n_estimators=1, max_depth=1).fit(X, y)
    forest = forests_of(model)[0]
    assert training_rows([forest]) == 2000
    threshold = float(forest.tree(0).threshold[0])
    (text,) = drift_warnings([forest], X + 5)
    before = 100 * np.mean(X[:, 0] <= threshold)
    assert f"held for {before:.0f}% of the training rows" in text


def test_new_categories_and_new_gaps_are_named():
    X, _ = fraud_rows(1000, 11)
    X = X.copy()
    names = X["merchant"].astype(str).to_numpy().copy()
    names[:200] = "casino"
    X["merchant"] = pd.Categorical(names)
    X.loc[X.index[:300], "amount"] = np.nan
    found = " ".join(drift(X))
    assert "20% of these rows have a category of merchant that training never saw: casino" in found
    assert "amount is missing in 30% of these rows, and never was in training" in found


def test_models_without_trees_know_nothing_of_their_table():
    from sklearn.linear_model import LogisticRegression

    assert forests_of(LogisticRegression()) == []
    learner = CostBoostClassifier("adaboost", estimator=LogisticRegression(), n_estimators=2)
    X = np.random.RandomState(0).normal(size=(60, 2))
    learner.fit(X, X[:, 0] > 0)
    assert forests_of(learner) == []
    assert drift_warnings([], X) == []


def rows_with(proba, truth):
    costs = Costs(fp=1, fn=10).bind([0, 1])
    proba = np.column_stack([1 - proba, proba])
    return PageRows(bound=costs, prices=read_prices(costs), proba=proba, truth=truth)


def said(proba, truth):
    rows = rows_with(proba, truth)
    return doubts(rows, compute_figures(rows), {0: "good", 1: "bad"})


@pytest.fixture
def honest():
    rng = np.random.RandomState(0)
    p = rng.beta(0.5, 2.0, 20_000)
    return p, (rng.random_sample(len(p)) < p).astype(np.int64)


def test_honest_probabilities_raise_no_doubt(honest):
    assert said(*honest) == []


def test_probabilities_that_are_off_are_told_of(honest):
    p, truth = honest
    high = said(np.minimum(1.3 * p, 1.0), truth)
    assert "rows were expected to be bad" in high[0]
    low = said(p / 1.3, truth)
    assert f"and {truth.sum():,} are" in low[0]


def test_too_sure_and_too_timid_are_told_apart():
    rng = np.random.RandomState(1)
    real = np.where(rng.random_sample(20_000) < 0.5, 0.2, 0.8)
    truth = (rng.random_sample(20_000) < real).astype(np.int64)
    assert "too sure" in said(np.where(real < 0.5, 0.05, 0.95), truth)[0]
    assert "too timid" in said(np.where(real < 0.5, 0.4, 0.6), truth)[0]


def test_few_rows_of_a_class_are_told_of(honest):
    p, truth = honest
    kept = np.concatenate([np.flatnonzero(truth == 0), np.flatnonzero(truth == 1)[:12]])
    assert said(p[kept], truth[kept])[0].endswith(
        "only 12 are bad. Sums over so few are uncertain, and their interval is only a rough one."
    )


def test_a_model_that_saves_nothing_is_told_of():
    rng = np.random.RandomState(0)
    truth = (rng.random_sample(5000) < 0.3).astype(np.int64)
    found = said(np.full(5000, 0.3), truth)
    assert "saves too little to be sure against 'Everything: always 1'" in found[-1]


def test_warnings_are_on_the_page_and_on_the_report():
    X, y = fraud_rows(120, 3)
    report = make_report(fraud_model(), X, y, costs=FRAUD)
    assert report.warnings
    assert report.html.count("<li>") == len(report.warnings)

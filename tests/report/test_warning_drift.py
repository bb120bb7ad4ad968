"""Drift: what a forest still knows of its training table, held against new rows."""

import numpy as np
import pandas as pd

from costboost import CostBoostClassifier, GradientBoostClassifier
from costboost.report.warning import drift_warnings, forests_of, training_rows
from report_cases import fraud_model, fraud_rows


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
    assert f"held for {before:.0f} % of the training rows" in text


def test_new_categories_and_new_gaps_are_named():
    X, _ = fraud_rows(1000, 11)
    X = X.copy()
    names = X["merchant"].astype(str).to_numpy().copy()
    names[:200] = "casino"
    X["merchant"] = pd.Categorical(names)
    X.loc[X.index[:300], "amount"] = np.nan
    found = " ".join(drift(X))
    assert "20 % of these rows have a category of merchant that training never saw: casino" in found
    assert "amount is missing in 30 % of these rows, and never was in training" in found


def test_models_without_trees_know_nothing_of_their_table():
    from sklearn.linear_model import LogisticRegression

    assert forests_of(LogisticRegression()) == []
    learner = CostBoostClassifier("adaboost", estimator=LogisticRegression(), n_estimators=2)
    X = np.random.RandomState(0).normal(size=(60, 2))
    learner.fit(X, X[:, 0] > 0)
    assert forests_of(learner) == []
    assert drift_warnings([], X) == []

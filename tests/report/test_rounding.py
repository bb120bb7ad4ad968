"""Rows are rounded, or drawn, so that a page stays small, and the page says so."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from costboost import Costs, make_report
from costboost.metrics import total_cost
from costboost.report import rounding
from costboost.report.rounding import fit_budget, pack_rows, rounded
from report_cases import FRAUD, data_of, fraud_model, fraud_rows, many, text_of


def test_many_classes_with_prices_of_their_own_are_rounded_to_fit():
    class Said(ClassifierMixin, BaseEstimator):
        classes_ = np.arange(6)

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.random.RandomState(0).dirichlet(np.full(6, 0.4), len(X))

        def __sklearn_is_fitted__(self):
            return True

    n, rng = 100_000, np.random.RandomState(1)
    X, y = rng.normal(size=(n, 2)), rng.randint(6, size=n)
    report = make_report(Said(), X, y, costs=Costs.of_rows(rng.gamma(2, 50, n)))
    assert len(report.html.encode()) < 2_000_000
    words = " ".join(text_of(report).split())
    assert "rounded so that the page stays below two megabytes: probabilities to multiples" in words
    assert re.search(r"changes \d+ of 100,000 decisions", words)


def test_beyond_200_000_rows_a_part_is_drawn(monkeypatch):
    monkeypatch.setattr(rounding, "MOST_ROWS", 400)
    X, y = fraud_rows(1000)
    report = make_report(fraud_model(), X, y, costs=FRAUD)
    words = " ".join(text_of(report).split())
    assert len(report.page_rows) == data_of(report)["n"] == 400
    assert "judged on 400 rows, drawn at random from 1,000." in words
    costs = Costs(fp=8, tp=8, fn=np.asarray(X["amount"]))
    total = total_cost(y, fraud_model().predict(X, costs=costs), costs=costs)
    assert f"all 1,000 together cost {total:,.2f}." in words


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_rounded_probabilities_add_up_and_are_near(level, n_classes):
    rows = many(500, n_classes)
    bits_kept = int(rounded(rows, level).rounding.split("2**-")[1].split(",")[0])
    made = rounded(rows, level).proba
    assert (made.sum(axis=1) == 1.0).all()
    assert (made >= 0).all()
    assert np.abs(made - rows.proba).max() <= n_classes * 2.0**-bits_kept
    whole = made * 2.0**bits_kept
    np.testing.assert_array_equal(whole, np.rint(whole))


def test_levels_are_taken_as_the_budget_asks():
    rows = many(2000, 3)
    size = len(pack_rows(rounded(rows, 0).sorted())[0])
    assert fit_budget(rows, 0, budget=size).rounding == "exact"
    smaller = fit_budget(rows, 0, budget=size - 1)
    assert "2**-24" in smaller.rounding
    assert len(smaller) == 2000
    tiny = fit_budget(rows, 0, budget=size // 20)
    assert 20 < len(tiny) < 1000
    assert len(pack_rows(tiny)[0]) <= size // 20
    again = fit_budget(rows, 0, budget=size // 20)
    np.testing.assert_array_equal(tiny.proba, again.proba)


def test_rounding_moves_only_decisions_at_the_threshold():
    rows = many(3000, 2)
    exact, coarse = rounded(rows, 0), rounded(rows, 1)
    assert (exact.decide_codes() == coarse.decide_codes()).mean() > 0.999


def test_the_largest_remainders_go_up():
    made = rounding._on_grid(np.array([[0.3, 0.3, 0.4], [0.45, 0.35, 0.2], [0.0, 1.0, 0.0]]), 2)
    assert made.tolist() == [[0.25, 0.25, 0.5], [0.5, 0.25, 0.25], [0.0, 1.0, 0.0]]


def test_prices_are_kept_to_nine_digits_then_to_hundredths_in_any_unit():
    digits = np.array([123.456789876, 0.00049])
    for unit in (1e-280, 1.0, 1e290):
        kept = rounding._round_prices(digits * unit, 1)
        np.testing.assert_allclose(kept / unit, [123.456790, 0.00049], rtol=1e-9, atol=5.1e-7)
    assert rounding._round_prices(digits, 2).tolist() == [123.46, 0.0]
    assert rounding._round_prices(np.zeros(2), 1).tolist() == [0, 0]

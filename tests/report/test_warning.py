"""What the page warns of: few rows, probabilities that do not hold, no savings."""

import numpy as np
import pytest

from costboost import make_report
from costboost.report.rows import compute_figures
from costboost.report.warning import figure_warnings
from report_cases import FRAUD, fraud_model, fraud_rows, two_class_rows


def said(proba, truth):
    rows = two_class_rows(proba, truth)
    return figure_warnings(rows, compute_figures(rows), {0: "good", 1: "bad"})


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

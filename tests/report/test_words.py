"""What the page says in words is so."""

import re

from costboost import make_report
from costboost.report.packing import unpack
from report_cases import FRAUD, data_of, fraud_model, fraud_rows, text_of


def test_only_scores_truths_and_prices_leave_the_table():
    X, y = fraud_rows(600)
    report = make_report(fraud_model(), X, y, costs=FRAUD)
    heads = [head["name"] for head in data_of(report)["arrays"]]
    assert heads == ["p1", "truth", "c0"]
    packed = re.search(r'id="rows">(.*?)</script>', report.html)[1]
    arrays = unpack(packed, data_of(report)["arrays"], 600)
    assert set(arrays) == {"p1", "truth", "c0"}
    words = " ".join(text_of(report).split())
    assert "its probabilities, its true class, its prices (amount); as exact" in words
    assert "No other value of any row is in it." in words
    assert "Rows explained" not in words

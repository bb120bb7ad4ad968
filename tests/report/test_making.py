"""Pages are whole, the same for the same input, small, and saved with care."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer

from costboost import CostBoostClassifier, make_report
from costboost.metrics import total_cost
from report_cases import CASES, FRAUD, data_of, fraud_model, fraud_rows


@pytest.mark.parametrize("name", CASES)
def test_pages_are_whole_and_reach_for_nothing(name):
    html = CASES[name]().html
    assert "{{" not in html
    assert html.startswith("<!doctype html>")
    assert html.rstrip().endswith("</html>")
    outside = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert all(link.startswith("#") for link in outside)
    assert not re.search(r"url\(|@import|https?://", html)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, None])
def test_tables_of_all_kinds_give_the_same_page(make):
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{j}" for j in range(X.shape[1])]
    table = X if make is None else make({n: X[:, j] for j, n in enumerate(names)})
    model = CostBoostClassifier("adamec", n_estimators=10, cv=2, random_state=0)
    model.fit(table[:300], y[:300])
    report = model.report(table[300:], y[300:], costs={"fp": 3, "fn": 1})
    decided = model.predict(table[300:], costs={"fp": 3, "fn": 1})
    total = total_cost(y[300:], decided, costs={"fp": 3, "fn": 1})
    assert f'id="bill">{total:,.2f}<' in report.html


def test_the_same_input_gives_the_same_page():
    X, y = fraud_rows(300)
    first, second = (make_report(fraud_model(), X, y, costs=FRAUD) for _ in range(2))
    assert first.html == second.html


@pytest.mark.parametrize("n", [1, 2, 20])
def test_few_rows_are_enough(n):
    X, y = fraud_rows(300)
    report = make_report(fraud_model(), X[:n], y[:n], costs=FRAUD, groups=["merchant"], rows=True)
    assert any(text.startswith("Few rows") for text in report.warnings)
    assert data_of(report)["n"] == n


def test_save_replaces_only_when_told(tmp_path):
    report = CASES["constant"]()
    path = report.save(tmp_path / "a.html")
    assert path.read_text(encoding="utf-8") == report.html
    with pytest.raises(FileExistsError, match="overwrite=True"):
        report.save(path)
    path.write_text("old")
    assert report.save(str(path), overwrite=True) == path
    assert path.read_text(encoding="utf-8") == report.html
    assert [file.name for file in tmp_path.iterdir()] == ["a.html"]


def test_repr_says_what_it_is():
    report = CASES["constant"]()
    assert re.match(r"Report\('GradientBoostClassifier: .*', 284 rows, 0\.\d\d MB", repr(report))
    assert report._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert "</script>" not in report._repr_html_()


def test_size_of_a_hundred_thousand_rows():
    """Scores without ties and amounts in cents, with today's decisions and two columns by row."""
    n, rng = 100_000, np.random.RandomState(0)
    X, y = fraud_rows(n, 4)
    report = make_report(
        fraud_model(), X, y, costs=FRAUD, current=rng.randint(2, size=n), groups="all"
    )
    assert len(report.html.encode()) < 2_000_000
    assert report.page_rows.rounding == "exact"
    assert len(report.page_rows) == n


def test_prices_in_a_tiny_unit_of_money_still_make_a_page():
    X, y = fraud_rows(60)
    report = make_report(fraud_model(), X, y, costs={"fp": 8e27, "tp": 8e27, "fn": 9e28})
    assert re.search(r'id="bill">\d(\.\d+)?e\+\d\d<', report.html)

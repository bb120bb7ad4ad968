"""What a report says and keeps: for all kinds of tables, models and wrong input."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costboost
from costboost import CostBoostClassifier, Costs, PNormBoostClassifier, make_report
from costboost.metrics import total_cost
from costboost.report import card, rounding
from costboost.report.packing import unpack
from report_cases import CASES, FRAUD, fraud_model, fraud_rows


def data_of(report):
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', report.html)
    return json.loads(found[1])


def text_of(report):
    return re.sub(r"<[^>]+>", " ", report.html)


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


def test_explained_rows_are_told_of():
    words = " ".join(text_of(CASES["by_row"]()).split())
    assert "This page holds rows of the table : 10 of them" in words
    assert "the explained rows with all their values" in words
    assert CASES["by_row"]().html.count('<details class="row">') == 10


def test_rare_categories_are_not_told_of_by_name():
    X, y = fraud_rows(600)
    X = X.copy()
    names = X["merchant"].astype(str).to_numpy().copy()
    names[:3] = "the only baker in town"
    X["merchant"] = pd.Categorical(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = make_report(fraud_model(), X, y, costs=FRAUD)
    groups = json.dumps([who["labels"] for who in data_of(report)["who"]])
    assert "baker" not in groups
    assert "other" in groups


def test_groups_by_numbers_and_by_values_given():
    X, y = fraud_rows(600)
    region = np.array(["north", "south"])[np.arange(600) % 2]
    report = make_report(
        fraud_model(),
        X,
        y,
        costs=FRAUD,
        groups={"region": region, "size": "amount", "when": "hour"},
    )
    found = {who["name"]: who["labels"] for who in data_of(report)["who"]}
    assert found["region"] == ["north", "south"]
    assert len(found["size"]) == 5
    assert " to " in found["size"][0]
    assert {"merchant", "channel"} < set(found)
    for who in data_of(report)["who"]:
        assert sum(part["rows"] for part in who["opening"]) == 600


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


def test_digest_is_that_of_the_file(tmp_path):
    costboost.save(fraud_model(), tmp_path / "m.costboost")
    held = (tmp_path / "m.costboost").read_bytes()[48:80].hex()
    assert card.model_digest(fraud_model()) == held
    X, y = fraud_rows(300)
    assert held in make_report(fraud_model(), X, y, costs=FRAUD).html


def test_notes_and_versions_are_on_the_card():
    X, y = fraud_rows(300)
    notes = {"Held out": "the last thirty days"}
    html = make_report(fraud_model(), X, y, costs=FRAUD, notes=notes).html
    assert "<dt>Held out</dt><dd>the last thirty days</dd>" in html
    assert f"<dt>costboost</dt><dd>{costboost.__version__}</dd>" in html
    assert "<dt>scikit-learn</dt>" in html


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

"""Scenarios on the command line: bills side by side, and a menu on the page."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier, Costs, load
from payments import PRICES


@pytest.fixture
def recession(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text('fn = "2 * amount"\n')  # the others stay
    return path


def test_bills_side_by_side(run, folder, recession):
    asked = "evaluate", folder / "model.cb", folder / "later.csv"
    ran = run(*asked, "--scenario", f"recession={recession}", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    now, then = found["scenarios"]
    later = pl.read_csv(folder / "later.csv")
    model = load(folder / "model.cb")
    amount, fraud = later["amount"].to_numpy(), (later["fraud"] == "yes").to_numpy()
    p = model.predict_proba(later.select(list(model.feature_names_in_)))[:, 1]
    acted, today = 2 * p * amount > 8, p * amount > 8
    assert now["name"] == "these prices"
    assert now["cost"] == found["bill"][0]["cost"] or now["cost"] == pytest.approx(
        8 * today.sum() + amount[fraud & ~today].sum()
    )
    assert then["cost"] == pytest.approx(8 * acted.sum() + 2 * amount[fraud & ~acted].sum())
    assert then["decided_as_now"] == pytest.approx(
        8 * today.sum() + 2 * amount[fraud & ~today].sum()
    )
    assert then["differ"] == pytest.approx(np.mean(acted != today))
    printed = run(*asked, "--scenario", f"recession={recession}").out
    assert "decided as now" in printed
    assert "recession" in printed
    assert "scenarios" not in json.loads(run(*asked, "--json").out)


def test_the_page_has_a_menu(run, folder, recession, tmp_path):
    page = tmp_path / "r.html"
    asked = "report", folder / "model.cb", folder / "later.csv", "-o", page
    ran = run(*asked, "--scenario", f"recession={recession}")
    assert ran.code == 0, ran.err
    assert '"scenarios":[{"name":"Opening prices"' in page.read_text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["bad.toml"], "write NAME=FILE"),
        (["=bad.toml"], "write NAME=FILE"),
        (["bad=missing.toml"], "does not exist"),
    ],
)
def test_refused(run, folder, given, message):
    args = [part for text in given for part in ("--scenario", text)]
    ran = run("evaluate", folder / "model.cb", folder / "later.csv", *args)
    assert ran.code != 0
    assert message in " ".join((ran.out + ran.err).split())


def test_given_twice(run, folder, recession):
    args = ["--scenario", f"a={recession}", "--scenario", f"a={recession}"]
    ran = run("evaluate", folder / "model.cb", folder / "later.csv", *args)
    assert "given twice" in " ".join((ran.out + ran.err).split())


def test_methods_and_models_are_compared_in_each(run, folder, recession):
    asked = (
        "compare", folder / "later.csv", "--target", "fraud", *PRICES, "--folds", "3",
        "--method", "adamec", "--method", "csb2", "--model", folder / "model.cb",
        "--rounds", "5", "--calibration", "none", "--drop", "blocked",
    )  # fmt: skip
    ran = run(*asked, "--scenario", f"recession={recession}", "--json")
    assert ran.code == 0, ran.err
    found, plain = json.loads(ran.out), json.loads(run(*asked, "--json").out)
    (then,) = found.pop("scenarios")
    assert found == plain
    assert then["name"] == "recession"
    bill = {line["policy"]: line["cost"] for line in then["bill"]}
    later = pl.read_csv(folder / "later.csv")
    amount, y = later["amount"].to_numpy(), later["fraud"].to_numpy()
    fraud = y == "yes"
    model = load(folder / "model.cb")
    p = model.predict_proba(later.select(list(model.feature_names_in_)))[:, 1]
    acted = 2 * p * amount > 8
    paid = 8 * acted.sum() + 2 * amount[fraud & ~acted].sum()
    assert bill[str(folder / "model.cb")] == pytest.approx(paid)
    # Methods are trained at the prices that were given; some decide by others, some cannot.
    X = later.drop("transaction_id", "day", "currency", "blocked", "fraud")
    total = dict.fromkeys(("adamec", "csb2"), 0.0)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(y, y):
        for method in total:
            made = CostBoostClassifier(method, 5, calibration=None, random_state=0)
            made.fit(X[train], y[train], costs=Costs(fp=8, tp=8, fn=amount[train], positive="yes"))
            if method == "adamec":
                then = Costs(fp=8, tp=8, fn=2 * amount[test], positive="yes")
                acted = made.predict(X[test], costs=then) == "yes"
            else:
                acted = made.predict(X[test]) == "yes"
            total[method] += 8 * acted.sum() + 2 * amount[test][fraud[test] & ~acted].sum()
    assert {method: bill[method] for method in total} == pytest.approx(total)
    said = " ".join(run(*asked, "--scenario", f"recession={recession}").out.split())
    assert "recession adamec" in said
    assert "recession csb2" in said


def test_compare_refuses_other_decisions(run, folder, tmp_path):
    (tmp_path / "other.toml").write_text("[actions]\nyes = 3\nno = 2\nwait = 1\n")
    (tmp_path / "away.toml").write_text('fn = "nowhere"\n')
    start = ("compare", folder / "later.csv", "--target", "fraud", *PRICES, "--rounds", "2")
    methods = ("--method", "adamec", "--method", "adaboost")
    for given, said in [
        (f"other={tmp_path / 'other.toml'}", "The scenario 'other' has other decisions"),
        (f"away={tmp_path / 'away.toml'}", "nowhere"),
        ("other.toml", "write NAME=FILE"),
    ]:
        ran = run(*start, *methods, "--scenario", given)
        assert ran.code in (1, 2)
        assert said in " ".join((ran.out + ran.err).split())

"""Scenarios on the command line: bills side by side, and a menu on the page."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import load


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

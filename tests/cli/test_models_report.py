"""`costboost report`: hands the report what it needs, and writes where it may."""

import numpy as np
import polars as pl
import pytest

from costboost import load
from costboost.cli import models as command


@pytest.fixture
def asked(monkeypatch):
    """What the report was asked for; it is made all the same."""
    given = {}

    def make_report(model, X, y, **rest):
        given.update(model=model, X=X, y=y, **rest)
        return made(model, X, y, **rest)

    made = command.make_report
    monkeypatch.setattr(command, "make_report", make_report)
    return given


def test_the_report_gets_rows_truth_prices_and_todays_decisions(run, asked, folder, tmp_path):
    page = tmp_path / "r.html"
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", page, "--rows")
    assert ran.code == 0, ran.err
    assert asked["X"].columns == list(asked["model"].feature_names_in_)
    assert set(asked["y"]) == set(asked["current"]) == {"no", "yes"}
    assert asked["costs"].n_rows == 400
    assert (asked["currency"], asked["rows"]) == ("EUR", True)
    assert asked["title"] == "model.cb on later.csv"
    assert len(np.unique(asked["time"])) == pl.read_csv(folder / "later.csv")["day"].n_unique()
    assert "payments.csv" in asked["notes"]["Trained"]
    np.testing.assert_array_equal(asked["costs"].fn, asked["X"]["amount"])
    assert "holds the values of some rows" in ran.out
    text = page.read_text(encoding="utf-8")
    assert "</html>" in text
    assert "model.cb on later.csv" in text
    assert "prices given for this row stay as they are" in text  # they are not read again


def test_by_default_no_row_leaves_the_table(run, asked, folder, tmp_path):
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.html")
    assert ran.code == 0, ran.err
    assert asked["rows"] is False
    assert "tx000017" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_the_page_is_not_overwritten_and_is_a_page(run, asked, folder, tmp_path):
    (tmp_path / "r.html").write_text("precious")
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.html")
    assert (ran.code, "--force" in ran.err) == (1, True)
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.pdf")
    assert (ran.code, ".html" in ran.err) == (1, True)
    assert not asked
    start = ("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.html")
    assert run(*start, "--force").code == 0


def test_the_real_page(run, folder, tmp_path):
    page = tmp_path / "r.html"
    page.write_text("old")
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", page, "--force")
    assert ran.code == 0, ran.err
    written = page.read_text(encoding="utf-8")
    assert "</html>" in written
    assert "on payments.csv</dd>" in written  # the card says what the model was trained on
    assert "Today&#x27;s decisions" in written


def test_questions_of_whoever_signs(run, asked, folder, tmp_path):
    """A promise, parity, and swaps with a model, prices and a column; wrong ones are named."""
    prices, other, page = tmp_path / "dear.toml", tmp_path / "old.cb", tmp_path / "r.html"
    prices.write_text("fp = 30\n")
    made = ("--target", "fraud", "--positive", "yes", "--fp", 9, "--fn", 60, "--rounds", 2)
    made += ("--method", "adamec", "--current", "blocked", "--time", "day")
    assert run("train", folder / "payments.csv", "-o", other, *made).code == 0
    base = "report", folder / "model.cb", folder / "later.csv", "-o", page
    swaps = [part for what in (prices, other, "blocked") for part in ("--swap-with", what)]
    parity = ("--parity", "channel", "--parity-of", "blocked", "--parity-within", 0.03)
    ran = run(*base, "--promise", 0.9, "--cap", 5000, *parity, *swaps)
    assert ran.code == 0, ran.err
    text = page.read_text(encoding="utf-8")
    for key in ("promise", "parity", "swap"):
        assert f'<section id="{key}-section"' in text
    assert list(asked["swap"]) == ["dear.toml", "old.cb", "blocked"]
    np.testing.assert_array_equal(asked["swap"]["blocked"], asked["current"])
    proba = load(other).predict_proba(asked["X"].select(load(other).feature_names_in_.tolist()))
    decided = asked["costs"].decide(proba)  # at the prices of the page, not at its own
    np.testing.assert_array_equal(asked["swap"]["old.cb"], decided)
    assert asked["swap"]["dear.toml"].fp == 30
    assert (asked["parity"].within, asked["promise"], asked["cap"]) == (0.03, 0.9, 5000)
    for wrong, message in (
        (("--promise", 0.9), "--cap"),
        (("--cap", 3), "for --promise: give that, too"),
        (("--promise", 0.9, "--cap", 1), "above --cap 1"),
        (("--parity", "chanel"), "did you mean 'channel'"),
        (("--parity-of", "rate"), "says more of --parity COLUMN"),
        (("--swap-with", "nothing"), "is no column of the table and no file"),
        (("--swap-with", "amount"), "which is no decision"),
        (("--swap-with", folder / "later.csv"), "is no costboost model"),
    ):
        ran = run(*base, "--force", *wrong)
        assert ran.code in (1, 2)
        assert message in " ".join(ran.err.split())

"""`costboost report`: hands the report what it needs, and writes where it may."""

import numpy as np
import polars as pl
import pytest

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

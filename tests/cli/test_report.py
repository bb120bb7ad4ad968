"""`costboost report`: hands the report what it needs, and writes where it may."""

import importlib.util
import sys
import types

import numpy as np
import pytest


class Made:
    html = "<html></html>"

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)


@pytest.fixture
def asked(monkeypatch):
    """A stand-in for the report, which remembers what it was asked for."""
    given = {}

    def make_report(model, X, y, **rest):
        given.update(model=model, X=X, y=y, **rest)
        return Made()

    module = types.ModuleType("costboost.report")
    module.make_report = make_report
    module.__spec__ = importlib.util.spec_from_loader("costboost.report", None)
    monkeypatch.setitem(sys.modules, "costboost.report", module)
    return given


def test_the_report_gets_rows_truth_prices_and_todays_decisions(run, asked, folder, tmp_path):
    page = tmp_path / "r.html"
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", page, "--rows")
    assert ran.code == 0, ran.err
    assert page.read_text() == Made.html
    assert asked["X"].columns == list(asked["model"].feature_names_in_)
    assert set(asked["y"]) == set(asked["current"]) == {"no", "yes"}
    assert asked["costs"].n_rows == 400
    assert (asked["currency"], asked["rows"]) == ("EUR", True)
    assert asked["title"] == "model.cb on later.csv"
    np.testing.assert_array_equal(asked["costs"].fn, asked["X"]["amount"])
    assert "holds the values of some rows" in ran.out


def test_the_page_is_not_overwritten_and_is_a_page(run, asked, folder, tmp_path):
    (tmp_path / "r.html").write_text("precious")
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.html")
    assert (ran.code, "--force" in ran.err) == (1, True)
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", tmp_path / "r.pdf")
    assert (ran.code, ".html" in ran.err) == (1, True)
    assert not asked


@pytest.mark.skipif(importlib.util.find_spec("costboost.report") is None, reason="no report yet")
def test_the_real_page(run, folder, tmp_path):
    page = tmp_path / "r.html"
    ran = run("report", folder / "model.cb", folder / "later.csv", "-o", page)
    assert ran.code == 0, ran.err
    assert "</html>" in page.read_text(encoding="utf-8")

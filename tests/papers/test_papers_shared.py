"""The ground that the papers' commands share: cells, intervals, options, the registry."""

import io
import sys

import numpy as np
import pytest
from scipy import stats

from costboost import papers
from costboost.papers import cells
from costboost.papers.intervals import Interval, mean_interval, order_verdict, place
from costboost.papers.options import Options, load_set, read_options
from costboost.papers.report import Report, new_figure

CELLS = {f"cell-{i}": (i,) for i in range(5)}
PROTOCOL = {"rounds": 3}


def draw(i):
    rng = np.random.default_rng(cells.seed_of("draw", i))
    return [
        {"i": i, "word": "a, b", "value": float(value), "none": None} for value in rng.random(2)
    ]


def test_cells_are_the_same_on_one_process_and_on_two(tmp_path):
    one = cells.compute(draw, CELLS, Options(tmp_path / "1"), PROTOCOL)
    two = cells.compute(draw, CELLS, Options(tmp_path / "2", jobs=2), PROTOCOL)
    assert one == two == [row for i in range(5) for row in draw(i)]


def test_finished_cells_are_not_computed_again(tmp_path):
    def failing(i):
        if i == 3:
            raise RuntimeError("stopped")
        return draw(i)

    with pytest.raises(RuntimeError, match="stopped"):
        cells.compute(failing, CELLS, Options(tmp_path), PROTOCOL)
    seen = []

    def watched(i):
        seen.append(i)
        return draw(i)

    rows = cells.compute(watched, CELLS, Options(tmp_path), PROTOCOL)
    assert seen == [3, 4]
    assert rows == [row for i in range(5) for row in draw(i)]
    assert not list((tmp_path / "cells").glob("*.part"))


def test_another_experiment_is_refused_in_the_same_folder(tmp_path):
    cells.compute(draw, CELLS, Options(tmp_path), PROTOCOL)
    with pytest.raises(ValueError, match=r"another experiment \(rounds differ\).*--out"):
        cells.compute(draw, CELLS, Options(tmp_path), {"rounds": 4})


def test_the_bar_tells_how_far_and_is_silent_without_a_terminal(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown, silent = Terminal(), io.StringIO()
    for stream in (shown, silent):
        monkeypatch.setattr(sys, "stderr", stream)
        cells.compute(draw, CELLS, Options(tmp_path / str(id(stream))), PROTOCOL)
    assert "5/5" in shown.getvalue()
    assert silent.getvalue() == ""


def test_intervals_are_student_s():
    x = np.random.default_rng(0).normal(size=12)
    found = mean_interval(x)
    low, high = stats.t.interval(0.95, 11, x.mean(), stats.sem(x))
    assert found == pytest.approx((x.mean(), low, high))
    wide = mean_interval(x, test_to_train=1 / 9)
    assert (wide.high - wide.low) / (high - low) == pytest.approx(np.sqrt(1 + 12 / 9))
    assert mean_interval([1.0]) == (1.0, -np.inf, np.inf)


def test_corrected_intervals_cover_the_mean_over_overlapping_splits():
    # The uncorrected interval of 20 overlapping test halves forgets the rows that it never sees.
    rng = np.random.default_rng(1)
    hits = {0.0: 0, 1.0: 0}
    for _ in range(300):
        rows = rng.normal(size=60)
        means = [rng.permutation(rows)[:30].mean() for _ in range(20)]
        for ratio in hits:
            found = mean_interval(means, test_to_train=ratio)
            hits[ratio] += found.low <= 0 <= found.high
    assert hits[1.0] > 280
    assert hits[0.0] < 220


def test_places_and_orders_are_said_in_words():
    interval = Interval(2.0, 1.5, 2.5)
    assert place(2.504, interval) == "within"
    assert place(2.51, interval) == "published is above"
    assert place(1.49, interval) == "published is below"
    assert order_verdict({"a": 1, "b": 2}, {"a": 1, "b": 2}) == "same order"
    assert order_verdict({"a": 1, "b": 2}, {"a": 2, "b": 2}).startswith("0 of 1")
    assert order_verdict({"a": 1, "b": 1}, {"a": 2, "b": 1}) == "same order"


def test_options_are_read(tmp_path, capsys):
    found = read_options("cai", "", ["--quick", "--out", str(tmp_path), "--jobs", "3"])
    assert found == Options(tmp_path, quick=True, jobs=3)
    with pytest.raises(SystemExit):
        read_options("cai", "", ["--jobs", "0"])
    assert "give 1 or more" in capsys.readouterr().err


def test_reports_are_text_tables_and_pictures(tmp_path, capsys):
    report = Report("A title", Options(tmp_path))
    report.table("found", [{"set": "pima", "ours": 1.234, "published": None}], "Table 1")
    figure, axes = new_figure(1, 1, 2, 2)
    axes[0, 0].plot([0, 1])
    report.picture("line", figure, "A line")
    report.close()
    assert "pima  1.23" in capsys.readouterr().out
    text = (tmp_path / "results.md").read_text()
    assert "| pima | 1.23 |  |" in text
    assert "![A line](line.png)" in text
    assert (tmp_path / "line.png").stat().st_size > 1000
    assert cells.read_rows(tmp_path / "found.csv")[0]["ours"] == 1.234


def test_rows_of_a_table_may_lack_columns(tmp_path, capsys):
    report = Report("A title", Options(tmp_path))
    report.table("found", [{"a": 1}, {"a": 2, "b": 0.5}])
    assert capsys.readouterr().out.split()[-5:] == ["a", "b", "1", "2", "0.50"]


def test_names_have_hyphens_and_modules_have_underscores():
    known = papers.names()
    assert all("_" not in name for name in known)
    assert not {"cells", "options", "report", "intervals"} & set(known)
    with pytest.raises(ValueError, match="no 'nobody' among the papers"):
        papers.run("nobody")


def test_a_set_that_needs_no_folder():
    data = load_set("breast_cancer")
    assert isinstance(data.X, np.ndarray)
    assert data.positive in data.y


def test_sets_are_chosen_by_name(tmp_path):
    known = {"pima": 1, "sick": 2}
    assert Options(tmp_path).choose(known) == ("pima", "sick")
    assert read_options("cai", "", ["--sets", "sick"]).choose(known) == ("sick",)
    with pytest.raises(ValueError, match="--sets iris: allowed are pima, sick"):
        read_options("cai", "", ["--sets", "iris"]).choose(known)

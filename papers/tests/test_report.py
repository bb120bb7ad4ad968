"""What a command leaves behind: text, Markdown, CSV files, pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from papers import experiment
from papers.experiment import Options
from papers.report import (
    TABLES,
    Interval,
    Report,
    mean_interval,
    new_figure,
    order_verdict,
    place,
    published,
    with_legend,
)


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
    assert experiment.read_rows(tmp_path / "found.csv")[0]["ours"] == 1.234


def test_rows_of_a_table_may_lack_columns(tmp_path, capsys):
    report = Report("A title", Options(tmp_path))
    report.table("found", [{"a": 1}, {"a": 2, "b": 0.5}])
    assert capsys.readouterr().out.split()[-5:] == ["a", "b", "1", "2", "0.50"]


def test_a_bar_in_a_cell_does_not_end_it(tmp_path, capsys):
    report = Report("A title", Options(tmp_path))
    report.table("t", [{"loss": "|y - F|", "least |r|": 1}])
    report.close()
    assert "|y - F|  1" in capsys.readouterr().out
    lines = (tmp_path / "results.md").read_text().splitlines()
    assert lines[2:] == ["| loss | least \\|r\\| |", "| --- | --- |", "| \\|y - F\\| | 1 |"]


def test_what_is_said_is_written_in_the_same_order(tmp_path, capsys):
    report = Report("A title", Options(tmp_path / "new" / "folder"))
    report.say("First.")
    report.table("t", [{"name": "a", "x": 1.26}, {"name": "longer", "x": 10}], "Then.", digits=1)
    report.say("Last.")
    report.close()
    printed = capsys.readouterr().out
    assert "name    x\na       1.3\nlonger  10\n" in printed
    written = (tmp_path / "new" / "folder" / "results.md").read_text()
    assert written == (
        "# A title\n\nFirst.\n\nThen.\n\n| name | x |\n| --- | --- |\n| a | 1.3 |\n"
        "| longer | 10 |\n\nLast.\n"
    )


def test_pictures_are_closed_when_they_are_saved(tmp_path):
    figure, axes = new_figure(2, 3, 4, 2)
    assert axes.shape == (2, 3)
    assert new_figure(1, 1, 1, 1)[1].shape == (1, 1)
    plt.close()
    Report("A title", Options(tmp_path)).picture("p", figure, "A picture")
    assert figure.number not in plt.get_fignums()


def test_one_legend_stands_for_all_axes():
    figure, axes = new_figure(1, 2, 4, 2)
    axes[0, 0].plot([0, 1], label="one")
    axes[0, 0].plot([1, 0], label="two")
    axes[0, 1].plot([1, 0], label="elsewhere")
    assert with_legend(figure, axes[0, 0]) is figure
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]


@pytest.mark.parametrize("path", sorted(TABLES.glob("*.csv")), ids=lambda path: path.stem)
def test_published_tables_have_no_hole_and_no_row_twice(path):
    rows = published(path.stem)
    assert rows
    keys = [tuple(row.items()) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(value is not None for row in rows for value in row.values())


# -------------------- How sure means are, and what that says of published figures.


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


def test_ends_of_an_interval_follow_the_level_and_the_unit():
    x = np.array([1.0, 2.0, 4.0])
    narrow, wide = mean_interval(x, level=0.5), mean_interval(x, level=0.99)
    assert wide.low < narrow.low < narrow.mean < narrow.high < wide.high
    for size in (1e-150, 1e150):
        assert mean_interval(size * x) == pytest.approx(size * np.array(mean_interval(x)))
    assert mean_interval([3.0, 3.0, 3.0]) == (3.0, 3.0, 3.0)


def test_intervals_are_written_with_as_many_digits_as_asked_for():
    found = Interval(1.2345, -0.5, 2.0)
    assert str(found) == "1.23 [-0.50, 2.00]"
    assert found.text(1, "+") == "+1.2 [-0.5, +2.0]"
    assert mean_interval([7.0]).text(0) == "7"


def test_a_figure_is_placed_as_it_was_printed():
    interval = Interval(2.0, 1.5, 2.5)
    assert place(2.54, interval, digits=1) == "within"  # it may have been 2.5
    assert place(2.56, interval, digits=1) == "published is above"
    assert place(1, interval, digits=0) == "within"
    assert place(0.9, interval, digits=0) == "published is below"


def test_the_mean_of_one_value_is_printed_without_limits():
    one = mean_interval([2.0])
    assert (one.low, one.high) == (-np.inf, np.inf)
    assert one.text(1, "+") == "+2.0"

"""What a command leaves behind: text, Markdown, CSV files, pictures."""

import matplotlib.pyplot as plt
import pytest

from costboost.papers import cells
from costboost.papers.options import Options
from costboost.papers.report import TABLES, Report, new_figure, published, with_legend


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

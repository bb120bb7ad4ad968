"""Lozano and Abe: the tables, and the command on tiny data."""

import numpy as np
import pytest

from costboost.papers import lozano_abe
from costboost.papers import lozano_abe_work as work
from costboost.papers.cells import read_rows
from costboost.papers.intervals import Interval
from costboost.papers.options import Options

pytestmark = pytest.mark.usefixtures("iris")


def test_all_methods_and_readings_are_there():
    rows = [
        r for learner in ("trees", "C4.5") for r in work.lozano_abe_cell("iris", 0, learner, None)
    ]
    names = {row["method"] for row in rows}
    assert {*lozano_abe.FIRST, *lozano_abe.SECOND, *lozano_abe.OTHERS} <= names
    assert {"p2, small leaves", "p2, large leaves", "adaboost, small leaves", "p2, C4.5"} <= names
    assert all(np.isfinite(row["cost"]) and row["cost"] >= 0 for row in rows)


def test_trees_stand_beside_c45_in_the_same_draws():
    def row(draw, method, cost):
        return {"dataset": "segment", "draw": draw, "method": method, "cost": cost}

    rows = [
        row(k, f"{method}{tail}", 10.0 * k)
        for k in range(3)
        for method in lozano_abe.THREE
        for tail in ("", ", small leaves", *([", C4.5"] if k < 2 else []))
    ]
    (found,) = lozano_abe.c45_rows(rows)
    assert found["draws"] == 2
    assert found["p2"] == found["p2, C4.5"] == 5.0


def test_verdicts_count_sets():
    def of_set(**means):
        return {m: Interval(v, v, v) for m, v in means.items()}

    good = of_set(adaboost=9, adacost=9, csb2=9, p1=5, p2=2, p5=1)
    bad = of_set(adaboost=1, adacost=9, csb2=9, p1=2, p2=5, p5=9)
    lines = lozano_abe.verdicts({"segment": good, "anneal": bad})
    assert "on 1 of 2 sets (published: all)" in lines[0]
    assert "p = 5 cheaper than p = 2 on 1 of 2 (published: 1)" in lines[1]


def test_the_command_leaves_tables_and_pictures(tmp_path):
    lozano_abe.run(Options(tmp_path), {"segment": "iris"}, 2)
    (row,) = read_rows(tmp_path / "table1.csv")
    assert row["p2, published"] == "16.1 +- 1.6"
    assert "order" in row
    assert {row["leaves"] for row in read_rows(tmp_path / "leaves.csv")} == {
        "default", "2 rows", "80 rows",
    }  # fmt: skip
    assert read_rows(tmp_path / "c45.csv")[0]["draws"] == 2
    for name in ("powers", "bound"):
        assert (tmp_path / f"{name}.png").exists()

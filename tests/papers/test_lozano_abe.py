"""Lozano and Abe: the draws, the bound, and the command on tiny data."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from costboost.datasets._bunch import make_dataset
from costboost.papers import lozano_abe
from costboost.papers import lozano_abe_work as work
from costboost.papers.cells import read_rows
from costboost.papers.intervals import Interval
from costboost.papers.options import Options

mpl.use("Agg")


@pytest.fixture(autouse=True)
def iris(monkeypatch):
    X, y = load_iris(return_X_y=True)
    X, y = X[:125], np.array(["a", "b", "c"])[y[:125]]  # 50, 50, 25
    columns = {f"x{j}": X[:, j] for j in range(4)}
    data = make_dataset("iris", columns, y, "numpy", positive=None, costs=None)
    monkeypatch.setattr(work, "load_set", lambda name, folder: data)
    monkeypatch.setattr(work, "ROUNDS", 3)


def test_draws_keep_every_class_and_price_by_frequency():
    drawn = work.cut("iris", 0, None)
    assert len(drawn.y) + len(drawn.y_test) == 125
    assert len(drawn.y_test) == 41
    assert set(drawn.y) == {"a", "b", "c"}
    again, other = work.cut("iris", 0, None), work.cut("iris", 1, None)
    prices = [np.asarray(d.costs.of_labels(["a", "b", "c"])) for d in (drawn, again, other)]
    assert np.array_equal(prices[0], prices[1])
    assert not np.array_equal(prices[0], prices[2])
    assert np.array_equal(drawn.X, again.X)


def test_all_methods_and_readings_are_there():
    rows = [
        r for learner in ("trees", "C4.5") for r in work.lozano_abe_cell("iris", 0, learner, None)
    ]
    names = {row["method"] for row in rows}
    assert {*lozano_abe.FIRST, *lozano_abe.SECOND, *lozano_abe.OTHERS} <= names
    assert {"p2, small leaves", "p2, large leaves", "adaboost, small leaves", "p2, C4.5"} <= names
    assert all(np.isfinite(row["cost"]) and row["cost"] >= 0 for row in rows)


def test_c45_stands_beside_small_tables_only(monkeypatch):
    monkeypatch.setattr(work, "MAX_PAIRS", 251)  # 84 rows of three classes
    assert work.lozano_abe_cell("iris", 0, "C4.5", None) == []


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


def test_the_objective_stays_below_its_bound_and_falls():
    path = work.bound_path("iris", None)
    objective = np.array([row["objective"] for row in path])
    bound = np.array([row["bound"] for row in path])
    assert np.all(objective <= bound)
    assert np.all(np.diff(objective) <= 1e-9)


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

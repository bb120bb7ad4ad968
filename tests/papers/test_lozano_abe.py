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
    rows = work.lozano_abe_cell("iris", 0, None)
    names = {row["method"] for row in rows}
    assert {*lozano_abe.FIRST, *lozano_abe.SECOND} <= names
    assert {"p2, step 1/t", "p2, small leaves", "average cost", "max cost", "p2, C4.5"} <= names
    assert all(np.isfinite(row["cost"]) and row["cost"] >= 0 for row in rows)


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
    for name in ("powers", "bound"):
        assert (tmp_path / f"{name}.png").exists()

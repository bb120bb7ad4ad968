"""Cai, Song and Zhang: the table's rows, and the command on tiny data."""

import numpy as np
import pytest

from drawn import curves, legend_of
from papers import cai
from papers.cai import prices_figure
from papers.experiment import Options, load_set, read_rows
from papers.report import mean_interval, published


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cai")
    cai.run(Options(folder), {"Tumour": "breast_cancer"}, 2, (0.5,))
    return folder


def test_the_command_leaves_tables_and_pictures(out):
    rows = read_rows(out / "table3.csv")
    assert {row["method"] for row in rows} == {"c45", "adaboost", *cai.PRICED}
    best = {row["method"]: float(row["best of the means"].split()[0]) for row in rows}
    assert best["adaboost"] > 85  # the set is easy
    assert (out / "prices.png").exists()
    assert "Objective (17)" in (out / "results.md").read_text()


def test_the_best_price_is_chosen_by_means_over_splits():
    found = {0.1: [50.0, 60.0], 0.9: [80.0, 40.0], 0.5: [10.0, 90.0]}
    assert cai.best_of_means(found).mean == 60
    rows = [
        {"dataset": "Pima", "split": k, "method": "gradient", "price": p, "f": v, "rounds": 1}
        for p, values in found.items()
        for k, v in enumerate(values)
    ]
    (row,) = cai.table_rows(rows)
    assert row["published"] == 69.84
    assert row["mean of the bests"] == 85
    assert row["at 0.5"] == 50


def test_splits_differ_and_repeat():
    a, b, c = (
        [row["f"] for row in cai.split_cell("breast_cancer", "x", k, (), None)] for k in (0, 1, 0)
    )
    assert a == c
    assert not np.allclose(a, b)


# -------------------- Objective (17) has the cases that it claims.


def test_the_objective_recovers_the_methods_that_are_cases_of_it():
    rows = cai.objective_rows(load_set("breast_cancer"), (0.2, 0.7))
    assert len(rows) == len(cai.CASES)
    for row, case in zip(rows, cai.CASES, strict=True):
        assert row["verdict"].endswith("as it must be"), row
        assert (row["scores apart"] <= 1e-9) == case.equal
        assert row["rounds"] == cai.ROUNDS


def test_a_case_that_is_none_is_told(monkeypatch):
    claims = cai.CASES[0]._replace(objective="adac1")
    monkeypatch.setattr(cai, "CASES", (claims,))
    (row,) = cai.objective_rows(load_set("breast_cancer"), (0.2,))
    assert row["verdict"] == "another run, NOT as expected"
    assert row["steps apart"] > cai.EQUAL


def test_runs_are_compared_relatively_and_at_their_worst(monkeypatch):
    assert cai._apart(np.array([1.0, -4.0]), np.array([1.5, -4.0])) == 0.125
    gaps = {0.2: (3, 0.1, 0.0), 0.7: (2, 0.0, 0.7)}
    monkeypatch.setattr(cai, "_gap", lambda case, X, y, price: gaps[price])
    row, *_ = cai.objective_rows(load_set("breast_cancer"), (0.2, 0.7))
    assert (row["rounds"], row["steps apart"], row["scores apart"]) == (2, 0.1, 0.7)


# -------------------- F-measures by price, as they are drawn.

F = {
    ("adacost", 0.1): [40.0, 44.0],
    ("adacost", 0.9): [50.0, 58.0],
    ("gradient", 0.1): [30.0, 32.0],
    ("gradient", 0.9): [60.0, 61.0],
    ("c45", None): [20.0, 30.0],
    ("adaboost", None): [33.0, 35.0],
}


def rows_of(dataset):
    return [
        {"dataset": dataset, "split": k, "method": method, "price": price, "f": f}
        for (method, price), found in F.items()
        for k, f in enumerate(found)
    ]


def test_means_lie_at_their_prices_and_methods_without_prices_are_flat():
    rows = [*rows_of("Pima"), *rows_of("mine")]
    figure = prices_figure(rows, ("adacost", "gradient"))
    for ax, name in zip(figure.axes, ("Pima", "mine"), strict=True):
        found = curves(ax)
        assert found["adacost"] == ([0.1, 0.9], [42.0, 54.0])
        assert found["gradient"] == ([0.1, 0.9], [31.0, 60.5])
        assert found["c45"][1] == [25.0, 25.0]
        assert found["adaboost"][1] == [34.0, 34.0]
        assert ax.get_title().startswith(name)
    assert legend_of(figure) == ["adacost", "gradient", "c45", "adaboost"]


def test_intervals_are_those_of_overlapping_splits():
    (ax,) = prices_figure(rows_of("mine"), ("adacost",)).axes
    (band,) = ax.collections
    at = band.get_paths()[0].vertices
    expected = mean_interval([40.0, 44.0], 1 / 9)
    heights = at[at[:, 0] == 0.1][:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [expected.low, expected.high])


def test_stars_are_what_was_published_of_this_set():
    printed = {row["dataset"]: row for row in published("cai_table3")}["Pima"]
    known, unknown = prices_figure([*rows_of("Pima"), *rows_of("mine")], ("adacost",)).axes

    def stars(ax):
        return [float(line.get_ydata()[0]) for line in ax.get_lines() if line.get_marker() == "*"]

    assert stars(known) == [printed["adacost"], printed["gradient"]]
    assert stars(unknown) == []

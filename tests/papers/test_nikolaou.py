"""Nikolaou et al.: the protocol, the verdicts, and the command on tiny data."""

import numpy as np
import pytest

from costboost.papers import nikolaou
from costboost.papers import nikolaou_work as work
from costboost.papers.cells import read_rows
from costboost.papers.options import Options


def test_ratios_are_twenty_one_and_prices_at_least_one():
    assert len(nikolaou.RATIOS) == 21
    for ratio in nikolaou.RATIOS:
        costs = work.prices(ratio)
        assert min(costs.fp, costs.fn) == 1
        assert costs.fn / costs.fp == pytest.approx(ratio)
    assert len(work.METHODS) == 15
    assert len(nikolaou.SETS) == 18


def test_verdicts_follow_the_costs():
    names = ["adaboost", "adamec", "cgada", "asymada"]
    names += [f"{m}, calibrated" for m in ("adamec", "cgada", "asymada")]
    costs = np.array([[0.4, 0.3, 0.3, 0.3, 0.2, 0.2, 0.35]] * 3)
    lines = nikolaou.verdicts(names, costs, np.full((7, 7), 0.01))
    assert "every other: yes" in lines[0]
    assert "2 of 3, significantly 3 of 3" in lines[1]
    costs[:, 0] = 0.1
    assert "every other: no" in nikolaou.verdicts(names, costs, np.ones((7, 7)))[0]


def test_the_command_leaves_tables_and_pictures(tmp_path, monkeypatch):
    short = ("adaboost", "csb2", "cgada", "asymada", "adamec")
    monkeypatch.setattr(work, "METHODS", short)
    halves = ("breast_cancer", "breast_cancer_copy")
    real = work.load_two_classes
    monkeypatch.setattr(
        work, "load_two_classes", lambda name, folder: real("breast_cancer", folder)
    )
    nikolaou.run(Options(tmp_path), halves, (0.2, 1.0, 5.0), 1, rounds=4)
    rows = read_rows(tmp_path / "ranks-stump.csv")
    assert {row["method"] for row in rows} == {
        "default recipe", *short, *(f"{method}, calibrated" for method in short),
    }  # fmt: skip
    assert len(read_rows(tmp_path / "ranks-logistic.csv")) == len(rows)
    for name in ("ranks-stump", "ranks-logistic", "curves", "brier", "distortion"):
        assert (tmp_path / f"{name}.png").exists()

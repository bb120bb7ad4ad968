"""Nikolaou et al.: the weak learner, the protocol, and the command on tiny data."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.papers import nikolaou
from costboost.papers import nikolaou_work as work
from costboost.papers.cells import read_rows
from costboost.papers.options import Options
from costboost.papers.univariate import RIDGE, UnivariateLogistic

mpl.use("Agg")


@pytest.mark.parametrize("seed", range(4))
def test_the_column_and_its_line_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, -3]
    y = (X[:, 1] / 10 + rng.normal(size=150) > 0.6).astype(int)
    w = rng.uniform(0.2, 2, 150)
    model = UnivariateLogistic().fit(X, y, w)
    errors = []
    for j in range(4):
        mean = np.average(X[:, j], weights=w)
        x = (X[:, [j]] - mean) / np.sqrt(np.average((X[:, j] - mean) ** 2, weights=w))
        line = LogisticRegression(C=1 / RIDGE, tol=1e-10).fit(x, y, sample_weight=w / w.sum())
        errors.append(np.average(line.predict(x) != y, weights=w))
        if j == model.column_:
            np.testing.assert_allclose(
                model.predict_proba(X), line.predict_proba(x), rtol=1e-4, atol=1e-6
            )
    assert model.column_ == int(np.argmin(errors))


@parametrize_with_checks([UnivariateLogistic()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_splits_are_balanced_halves():
    split = work.cut("breast_cancer", 0, None)
    assert split.y.mean() == split.y_test.mean() == 0.5
    assert len(split.y) == len(split.y_test) == 212


def test_ratios_are_twenty_one_and_prices_at_least_one():
    assert len(nikolaou.RATIOS) == 21
    for ratio in nikolaou.RATIOS:
        costs = work.prices(ratio)
        assert min(costs.fp, costs.fn) == 1
        assert costs.fn / costs.fp == pytest.approx(ratio)
    assert len(work.METHODS) == 15
    assert len(nikolaou.SETS) == 18


def test_bins_count_every_row():
    p = np.array([0.0, 0.05, 0.55, 1.0])
    score, positive, count = np.array(
        work._bins(np.array([0, 1, 1, 1]), p).split(), dtype=float
    ).reshape(3, 10)
    assert count.tolist() == [2, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert positive.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert score.sum() == pytest.approx(1.6)


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
    real = work.load_set
    monkeypatch.setattr(work, "load_set", lambda name, folder: real("breast_cancer", folder))
    nikolaou.run(Options(tmp_path), halves, (0.2, 1.0, 5.0), 1, rounds=4)
    rows = read_rows(tmp_path / "ranks-stump.csv")
    assert {row["method"] for row in rows} == {
        "default recipe", *short, *(f"{method}, calibrated" for method in short),
    }  # fmt: skip
    assert len(read_rows(tmp_path / "ranks-logistic.csv")) == 2 * len(short)
    for name in ("ranks-stump", "ranks-logistic", "curves", "distortion"):
        assert (tmp_path / f"{name}.png").exists()

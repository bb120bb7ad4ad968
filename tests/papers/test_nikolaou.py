"""Nikolaou et al.: the weak learner, the protocol, and the command on tiny data."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier
from costboost.papers import nikolaou
from costboost.papers import nikolaou_work as work
from costboost.papers.cells import read_rows
from costboost.papers.options import Options
from costboost.papers.univariate import RIDGE, CheckedLogistic, UnivariateLogistic, blocks_of

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


@pytest.fixture
def mixed():
    """Columns of two, of some and of many values."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 6))
    X[:, 1], X[:, 3], X[:, 4] = X[:, 1] > 0.3, np.round(X[:, 3], 1), 5.0
    y = (X[:, 1] + X[:, 3] + X[:, 5] + rng.logistic(size=3000) > 0.4).astype(int)
    return X, y


def test_columns_of_few_values_are_fitted_as_the_others_are(mixed, monkeypatch):
    X, y = mixed
    assert [block.columns.tolist() for block in blocks_of(X)] == [[0, 2, 5], [1, 3, 4]]
    rng = np.random.default_rng(8)
    for column in (1, 3, 5):
        w = rng.exponential(size=3000)
        told = np.delete(np.arange(6), [j for j in (1, 3, 5) if j != column])
        few = UnivariateLogistic().fit(X[:, told], y, w)
        with monkeypatch.context() as patch:
            patch.setattr("costboost.papers.univariate.WORTH", np.inf)
            whole = UnivariateLogistic().fit(X[:, told], y, w)
        assert told[few.column_] == told[whole.column_] == column
        line = few.decision_function(X[:, told])
        np.testing.assert_allclose(line, whole.decision_function(X[:, told]), rtol=1e-9)


@pytest.mark.parametrize("method", ["cgada", "rareboost", "csada"])
def test_a_loop_gets_the_same_model_from_the_checked_learner(mixed, method):
    X, y = mixed
    told = [
        CostBoostClassifier(method, 8, estimator=learner, calibration="sigmoid", cv=0.5)
        .set_params(random_state=0)
        .fit(X, y, costs=work.prices(5.0))
        .predict_proba(X)
        for learner in (UnivariateLogistic(), CheckedLogistic())
    ]
    np.testing.assert_array_equal(*told)


def test_twins_are_one_model_on_other_learners_than_stumps():
    split = work.cut("breast_cancer", 0, None)
    for method, twin in work.TWINS.items():
        for calibrated in (False, True):
            rows = [
                list(work._method_rows(split, m, calibrated, "logistic", (0.2, 5.0), 5))
                for m in (method, twin)
            ]
            assert rows[0] == rows[1]


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
    assert len(read_rows(tmp_path / "ranks-logistic.csv")) == len(rows)
    for name in ("ranks-stump", "ranks-logistic", "curves", "brier", "distortion"):
        assert (tmp_path / f"{name}.png").exists()

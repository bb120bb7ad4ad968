"""One split of Nikolaou et al.'s experiments: its halves, its prices, what each method costs."""

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.papers import nikolaou_work as work


def test_twins_are_one_model_on_other_learners_than_stumps():
    split = work.cut("breast_cancer", 0, None)
    for method, twin in work.TWINS.items():
        for calibrated in (False, True):
            rows = [
                list(work._method_rows(split, m, calibrated, "logistic", (0.2, 5.0), 5))
                for m in (method, twin)
            ]
            assert rows[0] == rows[1]


def test_splits_are_balanced_halves():
    split = work.cut("breast_cancer", 0, None)
    assert split.y.mean() == split.y_test.mean() == 0.5
    assert len(split.y) == len(split.y_test) == 212


def test_bins_count_every_row():
    p = np.array([0.0, 0.05, 0.55, 1.0])
    score, positive, count = np.array(
        work._bins(np.array([0, 1, 1, 1]), p).split(), dtype=float
    ).reshape(3, 10)
    assert count.tolist() == [2, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert positive.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert score.sum() == pytest.approx(1.6)


def test_splits_hold_no_row_twice_and_differ_by_their_number():
    split = work.cut("breast_cancer", 0, None)
    rows = {tuple(row) for row in np.vstack([split.X, split.X_test])}
    assert len(rows) == 424
    assert not np.array_equal(work.cut("breast_cancer", 1, None).X, split.X)
    np.testing.assert_array_equal(work.cut("breast_cancer", 0, None).X, split.X)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(work, "METHODS", ("adaboost", "csada", "adaboostdb", "adamec"))


def test_a_cell_has_every_method_calibrated_and_not_at_every_ratio(few):
    rows = work.nikolaou_cell("breast_cancer", 0, "stump", (0.5, 1.0), 3, None)
    found = [(row["method"], row["calibrated"], row["ratio"]) for row in rows]
    assert found == [(m, c, r) for m in work.METHODS for c in (0, 1) for r in (0.5, 1.0)]
    # Scores are counted once, where the poster shows them.
    assert [f for f, row in zip(found, rows, strict=True) if row["bins"]] == [
        ("adamec", 0, 1.0), ("adamec", 1, 1.0),
    ]  # fmt: skip
    (recipe,) = work.nikolaou_cell("breast_cancer", 0, "auto", (2.0,), 3, None)
    assert (recipe["method"], recipe["calibrated"], recipe["learner"]) == ("auto", 1, "auto")


def test_costs_are_normalised_by_the_dearest_answers():
    split = work.cut("breast_cancer", 0, None)
    (row,) = work._method_rows(split, "csb2", False, "stump", (4.0,), 3)
    model = CostBoostClassifier("csb2", 3, max_depth=1, calibration=None, random_state=0)
    model.fit(split.X, split.y, costs={"fp": 1, "fn": 4})
    prices = np.where(split.y_test == 1, 4.0, 1.0)
    wrong = model.predict(split.X_test) != split.y_test
    assert row["q"] == pytest.approx(prices[wrong].sum() / prices.sum())


def test_what_knows_no_costs_is_fitted_once(monkeypatch):
    split = work.cut("breast_cancer", 0, None)
    fitted = []
    real = work._fit

    def fit(split, method, *rest):
        fitted.append(method)
        return real(split, method, *rest)

    monkeypatch.setattr(work, "_fit", fit)
    for method in ("adamec", "csb2"):
        list(work._method_rows(split, method, True, "stump", (0.2, 1.0, 5.0), 2))
    assert fitted == ["adamec", "csb2", "csb2", "csb2"]


def test_scores_are_shares_of_the_votes():
    class Voted:
        estimator_weights_ = np.array([1.0, 3.0])

        def decision_function(self, X):
            return np.array([-4.0, -2.0, 0.0, 4.0, 4.0 + 1e-9])

    split = work.Split(None, None, None, None)
    p = np.full(5, 0.3)
    assert work._scores(Voted(), False, split, p).tolist() == [0, 0.25, 0.5, 1, 1]
    assert work._scores(Voted(), True, split, p) is p

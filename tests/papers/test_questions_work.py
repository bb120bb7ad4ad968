"""One split of the three questions: shares of costs, stages, wrong prices."""

import types

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.papers import questions_work as work


def test_shares_are_of_the_cheapest_constant_answer():
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    split = work.Split(np.zeros((1, 1)), np.zeros(1, dtype=int), np.zeros((10, 1)), y)
    # All negative: 2 misses of 5; all positive: 8 false alarms.
    assert work.share(split, np.ones(10), 5) == 1.0
    assert work.share(split, np.zeros(10), 5) == 10 / 8
    assert work.share(split, y, 5) == 0.0
    assert work.share(split, np.zeros(10), 2) == 1.0


def test_wrong_prices_are_wrong_by_the_factor_that_is_said():
    draws = {5.0: np.random.default_rng(0).normal(size=20_000)}
    found = {(kind, size): prices for kind, size, prices in work._wrong(draws)}
    assert found["bias", 1.0] == work.RATIO
    assert found["bias", 0.2] == pytest.approx(work.RATIO / 5)
    logs = np.log(found["noise", 5.0] / work.RATIO)
    assert logs.mean() == pytest.approx(0, abs=0.03)
    assert logs.std() == pytest.approx(np.log(5), rel=0.02)


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(work, "ROUNDS", 3)
    monkeypatch.setattr(work, "STAGES", (1, 3))
    monkeypatch.setattr(work, "RATIOS", (2, 50))
    monkeypatch.setattr(work, "AGAIN", ("adacost",))
    monkeypatch.setattr(work, "IN_TRAINING", (work.ONCE, "adac2"))


def test_a_cell_has_a_row_for_every_setting(short):
    rows = work.question_cell("breast_cancer", 1, None)
    count = {q: sum(row["question"] == q for row in rows) for q in ("ratio", "bias", "noise")}
    n_wrong = len(work.IN_TRAINING) + 1
    assert count == {
        "ratio": 2 * 2 * (1 + len(work.AGAIN)) + 2 * 2,
        "bias": n_wrong * (1 + len(work.FACTORS)),
        "noise": n_wrong * len(work.NOISES),
    }
    assert {(row["dataset"], row["split"]) for row in rows} == {("breast_cancer", 1)}
    again = work.question_cell("breast_cancer", 1, None)
    assert [row["cost"] for row in again] == [row["cost"] for row in rows]


def test_prices_that_are_right_cost_what_they_cost_in_training(short):
    split = work.cut("breast_cancer", 0, None)
    rows = {
        (row["question"], row["method"], row["setting"]): row["cost"]
        for row in work._wrong_rows(split, seed=0)
    }
    model = CostBoostClassifier("adac2", 3, max_depth=work.DEPTH, calibration=None, random_state=0)
    model.fit(split.X, split.y, costs={"fp": 1, "fn": work.RATIO})
    y, h = split.y_test, model.predict(split.X_test)
    paid = np.sum((y == 0) & (h == 1)) + work.RATIO * np.sum((y == 1) & (h == 0))
    constant = min((y == 0).sum(), work.RATIO * (y == 1).sum())
    assert rows["bias", "adac2", 1.0] == pytest.approx(paid / constant)
    assert len(set(rows.values())) > 3  # wrong prices change answers


def test_a_method_that_ended_stays_as_it_is(monkeypatch):
    split = work.cut("breast_cancer", 0, None)
    monkeypatch.setattr(work, "STAGES", (1, 2, 5))
    ended = types.SimpleNamespace(staged_predict=lambda X: iter("ab"))
    assert list(work._staged(ended, split)) == [(1, "a"), (2, "b"), (5, "b")]
    none = types.SimpleNamespace(staged_predict=lambda X: iter(""), predict=lambda X: "constant")
    assert [answers for _, answers in work._staged(none, split)] == ["constant"] * 3


def test_splits_keep_the_share_of_the_positives():
    split = work.cut("breast_cancer", 0, None)
    assert len(split.y_test) == pytest.approx(0.3 * 569, abs=1)
    assert split.y.mean() == pytest.approx(split.y_test.mean(), abs=0.005)
    assert not np.array_equal(split.y_test, work.cut("breast_cancer", 1, None).y_test)

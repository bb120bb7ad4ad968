"""One split of the three questions: shares of costs, stages, wrong prices."""

import types

import numpy as np
import pytest

from costboost import CostBoostClassifier
from papers import questions_work as work


def test_shares_are_of_the_cheapest_constant_answer():
    y = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    # All negative: 2 misses of 5; all positive: 8 false alarms.
    assert work.share(y, np.ones(10), 5) == 1.0
    assert work.share(y, np.zeros(10), 5) == 10 / 8
    assert work.share(y, y, 5) == 0.0
    assert work.share(y, np.zeros(10), 2) == 1.0


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


def test_adacost_of_small_costs_is_cgada_and_of_large_ones_ends(monkeypatch):
    monkeypatch.setattr(work, "ROUNDS", 4)
    monkeypatch.setattr(work, "SCALES", (1e-9, 1.0))
    rows = work.scale_cell("breast_cancer", 0, None)
    assert [(row["ratio"], row["scale"]) for row in rows] == [
        (ratio, scale) for ratio in work.SCALE_RATIOS for scale in (None, 1e-9, 1.0)
    ]
    for once, small, large in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        for name in ("training", "misses", "false alarms"):
            assert small[name] == pytest.approx(once[name], abs=0.02)
        assert large["rounds"] <= once["rounds"]
    y = work.cut("breast_cancer", 0, None).y_test
    row = rows[0]
    paid = 2 * row["misses"] * y.sum() + row["false alarms"] * (len(y) - y.sum())
    assert row["cost"] == pytest.approx(paid / min(2 * y.sum(), len(y) - y.sum()))


def test_nobody_is_cheaper_than_who_knows_the_chances():
    _, chance, y = work.draw_world(5000, 3)
    assert abs(y.mean() - chance.mean()) < 0.02
    rng = np.random.default_rng(0)
    for ratio in work.WORLD_RATIOS:
        least = work.expected_cost(chance * ratio > 1 - chance, chance, ratio)
        assert least == pytest.approx(np.minimum(ratio * chance, 1 - chance).mean())
        for share in (0.0, 0.3, 1.0):
            assert work.expected_cost(rng.uniform(size=5000) < share, chance, ratio) >= least


def test_shares_of_the_possible_are_at_most_one(monkeypatch):
    monkeypatch.setattr(work, "ROUNDS", 3)
    monkeypatch.setattr(work, "N_TRAIN", 400)
    monkeypatch.setattr(work, "WORLD_RATIOS", (2, 100))
    monkeypatch.setattr(work, "WORLD_METHODS", (work.ONCE, work.AT_DECISION, "adaboost"))
    rows = work.world_cell(0)
    assert [(r["method"], r["ratio"]) for r in rows] == [
        (method, ratio) for method in work.WORLD_METHODS for ratio in (2, 100)
    ]
    assert max(row["reached"] for row in rows) < 1
    by = {(row["method"], row["ratio"]): row["reached"] for row in rows}
    assert by["adaboost", 2] > 0.2  # it learns something
    assert by["adaboost", 100] < 0  # but knows no prices
    assert by[work.AT_DECISION, 100] > by["adaboost", 100]


def test_dear_misses_are_voted_for_more_often_by_price(monkeypatch):
    monkeypatch.setattr(work, "ROUNDS", 5)
    monkeypatch.setattr(work, "VOTING_RATIOS", (1, 50))
    rows = work.voting_cell("breast_cancer", 0, None)
    assert len(rows) == 3 * 2 * 2
    split = work.cut("breast_cancer", 0, None)
    for sign, price in zip(rows[::2], rows[1::2], strict=True):
        assert (sign["votes"], price["votes"]) == ("sign", "price")
        if sign["ratio"] == 1:  # then both ask for more than half of the votes
            assert price["cost"] == pytest.approx(sign["cost"])
    # At a price of 50 one vote in 51 is enough: counted again, from the forest's own stages.
    model, _ = work._fit("csb2", split, work.Costs(fp=1.0, fn=50.0))
    stages = np.array([np.zeros(len(split.y_test)), *model.staged_decision_function(split.X_test)])
    votes = np.diff(stages, axis=0)  # alpha h
    for_positive = np.where(votes > 0, votes, 0).sum(axis=0)
    against = -np.where(votes < 0, votes, 0).sum(axis=0)
    answers = (50 * for_positive > against).astype(int)
    assert rows[-1]["cost"] == pytest.approx(work.share(split.y_test, answers, 50))

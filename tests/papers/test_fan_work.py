"""One fold of Fan et al.'s experiments: its rows, its prices, and what each method loses."""

import numpy as np
import pytest

from costboost.datasets import make_card_fraud
from costboost.papers import fan_work


def test_losses_are_shares_of_all_prices():
    y, prices = np.array([1, 1, 0, 0]), np.array([4.0, 4.0, 1.0, 1.0])
    assert fan_work.loss(y, y, prices) == 0
    assert fan_work.loss(1 - y, y, prices) == 100
    assert fan_work.loss(np.array([0, 1, 1, 0]), y, prices) == 50


def test_folds_are_apart_and_cover_all_rows():
    folds = [fan_work.cut("breast_cancer", k, None) for k in range(fan_work.FOLDS)]
    assert sum(len(fold.y_test) for fold in folds) == 569
    assert all(len(fold.y) + len(fold.y_test) == 569 for fold in folds)


@pytest.fixture
def short(monkeypatch):
    """Let every method boost for three rounds at most."""
    few = {name: {**given, "n_estimators": 3} for name, given in fan_work.METHODS.items()}
    monkeypatch.setattr(fan_work, "METHODS", few)


def test_a_cell_has_every_method_at_every_ratio(short):
    rows = fan_work.fan_cell("breast_cancer", 2, (2, 9), None)
    assert [(row["ratio"], row["method"]) for row in rows] == [
        (ratio, method) for ratio in (2, 9) for method in fan_work.METHODS
    ]
    fold = fan_work.cut("breast_cancer", 2, None)
    for row in rows:
        path = [float(text) for text in row["path"].split()]
        assert path[-1] == pytest.approx(row["loss"], abs=5e-4)
        assert len(path) == max(row["rounds"], 1)
    model = fan_work.fit("adaboost", fold.X, fold.y, fan_work.Costs(fp=1.0, fn=9.0))
    prices = np.where(fold.y_test == 1, 9.0, 1.0)
    wrong = model.predict(fold.X_test) != fold.y_test
    assert rows[7]["loss"] == pytest.approx(100 * prices[wrong].sum() / prices.sum())


def test_a_fraud_of_little_worth_still_has_a_price(short, monkeypatch):
    monkeypatch.setattr(fan_work, "N_CARDS", 300)
    seen = []

    def fit(method, X, y, costs):
        seen.append(costs)
        return real(method, X, y, costs)

    real = fan_work.fit
    monkeypatch.setattr(fan_work, "fit", fit)
    rows = fan_work.chase_cell(0)
    assert len(rows) == len(fan_work.OVERHEADS) * len(fan_work.METHODS)
    assert all(0 <= row["loss"] <= 100 for row in rows)
    amount = make_card_fraud(300, fraud_rate=0.2, random_state=0, as_frame="numpy").amount
    assert amount.min() < 60
    np.testing.assert_array_equal(seen[0].fn, np.where(amount > 60.01, amount - 60, 0.01))
    assert seen[0].fp == 60


def test_a_set_with_a_test_part_of_its_own_is_tested_there(monkeypatch):
    class Parted:
        n_train, positive = 30, 1
        y = np.arange(50) % 2

        def to_numpy(self):
            return np.arange(50.0)[:, None], np.array([False])

    monkeypatch.setattr(fan_work, "load_set", lambda path, folder: Parted())
    folds = [fan_work.cut("dis", k, None) for k in range(10)]
    assert all(fold.X[:, 0].tolist() == list(range(30)) for fold in folds)
    tested = np.concatenate([fold.X_test[:, 0] for fold in folds])
    assert sorted(tested.tolist()) == list(range(30, 50))
    assert len(fan_work.cut("other", 0, None).y_test) == 5

"""One fold of Fan et al.'s experiments: its rows, its prices, and what each method loses."""

import numpy as np
import pytest

from costboost.datasets import make_card_fraud
from papers import fan_work
from papers.ripper import RuleClassifier


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
    assert len(rows) == len(fan_work.OVERHEADS) * len(fan_work.METHODS) * len(fan_work.MONTHS)
    assert all(0 <= row["loss"] <= 100 for row in rows)
    amount = make_card_fraud(300, fraud_rate=0.2, random_state=0, as_frame="numpy").amount
    assert amount.min() < 60
    np.testing.assert_array_equal(seen[0].fn, np.where(amount > 60.01, amount - 60, 0.01))
    assert seen[0].fp == 60


def test_later_months_have_fewer_frauds_where_most_was_spent(monkeypatch):
    monkeypatch.setattr(fan_work, "N_CARDS", 4000)
    data = make_card_fraud(4000, fraud_rate=0.2, random_state=7, as_frame="numpy")
    first, later = fan_work.draw_month(0, 7), fan_work.draw_month(2, 7)
    np.testing.assert_array_equal(first.amount, data.amount)
    np.testing.assert_array_equal(first.y, data.y)
    spent = np.isin(data.X[:, 3], ("electronics", "gift cards", "travel")) & (data.y == 1)
    assert (later.y == 0).sum() == (data.y == 0).sum()
    lost = (data.y == 1).sum() - (later.y == 1).sum()
    assert lost / spent.sum() == pytest.approx(1 - 0.7**2, abs=0.1)


def test_rules_alone_and_boosted_are_priced(monkeypatch):
    short = {
        name: given and {**given, "n_estimators": 3} for name, given in fan_work.ON_RULES.items()
    }
    monkeypatch.setattr(fan_work, "ON_RULES", short)
    rows = fan_work.rules_cell("breast_cancer", 1, (4,), None)
    assert [row["method"] for row in rows] == list(short)
    fold = fan_work.cut("breast_cancer", 1, None)
    weights = np.where(fold.y == 1, 4.0, 1.0)
    model = RuleClassifier(random_state=0).fit(fold.X, fold.y, weights)
    wrong = model.predict(fold.X_test) != fold.y_test
    prices = np.where(fold.y_test == 1, 4.0, 1.0)
    assert rows[0]["loss"] == pytest.approx(100 * prices[wrong].sum() / prices.sum())
    assert 0 < rows[0]["loss"] < 25
    assert all(1 <= row["rounds"] <= 3 for row in rows)


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


# -------------------- AdaCost's theory along the rounds: Lemma 1, the identity and the bound.


@pytest.mark.parametrize(
    "method", ["adaboost", "adacost", "adaboost, estimate", "adacost, estimate"]
)
@pytest.mark.parametrize("ratio", [2.0, 9.0])
def test_lemma_identity_and_bound_hold_in_every_round(method, ratio):
    fold = fan_work.cut("breast_cancer", 0, None)
    rows = fan_work.bound_path(fold, method, ratio)
    assert len(rows) > 3
    for row in rows:
        assert row["against Lemma 1"] == 0
        assert row["identity"] == pytest.approx(row["bound"], rel=1e-9)
        assert row["cost"] <= row["bound"] * (1 + 1e-12)


def test_the_refined_step_has_the_lower_bound_in_the_first_round():
    fold = fan_work.cut("breast_cancer", 0, None)
    refined, estimate = (
        fan_work.bound_path(fold, m, 5.0)[0]["bound"] for m in ("adacost", "adacost, estimate")
    )
    assert refined < estimate


def line(cost, bound, identity, against=0):
    return {
        "cost": cost, "bound": bound, "identity": identity, "against Lemma 1": against,
        "fresh rows": 5.0,
    }  # fmt: skip


def test_the_summary_counts_every_round_that_breaks_the_theory():
    good = [line(50.0, 60.0, 60.0), line(20.0, 20.0, 20.0 * (1 + 2e-12))]
    bad = [line(61.0, 60.0, 63.0, 3), line(10.0, 40.0, 30.0, 4)]
    first, second = fan_work.summary({"good": good, "bad": bad})
    assert (first["rows against Lemma 1"], first["cost above bound"]) == (0, 0)
    assert first["identity off by"] == "2.0e-12"
    assert (first["cost"], first["bound"], first["rounds"]) == (20.0, 20.0, 2)
    assert (second["rows against Lemma 1"], second["cost above bound"]) == (7, 1)
    assert second["identity off by"] == "2.5e-01"  # the largest, on either side


def test_costs_are_those_of_the_model_s_own_answers():
    fold = fan_work.cut("breast_cancer", 1, None)
    rows = fan_work.bound_path(fold, "adacost", 4.0)
    model = fan_work.fit("adacost", fold.X, fold.y, fan_work.Costs(fp=1.0, fn=4.0))
    for X, y, name in ((fold.X, fold.y, "cost"), (fold.X_test, fold.y_test, "fresh rows")):
        prices = 1.0 + 3.0 * (y == 1)
        paid = [100 * prices[h != y].sum() / prices.sum() for h in model.staged_predict(X)]
        assert [row[name] for row in rows] == pytest.approx(paid)

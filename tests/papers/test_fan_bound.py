"""AdaCost's theory along the rounds: Lemma 1, the identity and the bound."""

import pytest

from costboost.papers import fan_bound, fan_work


@pytest.mark.parametrize(
    "method", ["adaboost", "adacost", "adaboost, estimate", "adacost, estimate"]
)
@pytest.mark.parametrize("ratio", [2.0, 9.0])
def test_lemma_identity_and_bound_hold_in_every_round(method, ratio):
    fold = fan_work.cut("breast_cancer", 0, None)
    rows = fan_bound.bound_path(fold, method, ratio)
    assert len(rows) > 3
    for row in rows:
        assert row["against Lemma 1"] == 0
        assert row["identity"] == pytest.approx(row["bound"], rel=1e-9)
        assert row["cost"] <= row["bound"] * (1 + 1e-12)


def test_the_refined_step_has_the_lower_bound_in_the_first_round():
    fold = fan_work.cut("breast_cancer", 0, None)
    refined, estimate = (
        fan_bound.bound_path(fold, m, 5.0)[0]["bound"] for m in ("adacost", "adacost, estimate")
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
    first, second = fan_bound.summary({"good": good, "bad": bad})
    assert (first["rows against Lemma 1"], first["cost above bound"]) == (0, 0)
    assert first["identity off by"] == "2.0e-12"
    assert (first["cost"], first["bound"], first["rounds"]) == (20.0, 20.0, 2)
    assert (second["rows against Lemma 1"], second["cost above bound"]) == (7, 1)
    assert second["identity off by"] == "2.5e-01"  # the largest, on either side


def test_costs_are_those_of_the_model_s_own_answers():
    fold = fan_work.cut("breast_cancer", 1, None)
    rows = fan_bound.bound_path(fold, "adacost", 4.0)
    model = fan_work.fit("adacost", fold.X, fold.y, fan_work.Costs(fp=1.0, fn=4.0))
    for X, y, name in ((fold.X, fold.y, "cost"), (fold.X_test, fold.y_test, "fresh rows")):
        prices = 1.0 + 3.0 * (y == 1)
        paid = [100 * prices[h != y].sum() / prices.sum() for h in model.staged_predict(X)]
        assert [row[name] for row in rows] == pytest.approx(paid)

"""Costs as people look at them: prices by name, tables, words, arithmetic, doubts."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud

FRAUD = pd.DataFrame({"amount": [0.71, 1797.0, 12.5]}, index=[4, 8, 2])
PLAIN = {"fp": 8, "tp": 8, "positive": "fraud"}


def test_the_four_prices():
    costs = Costs(fp=8, fn=[1, 2], tp=3, tn="fee", positive="a")
    for view in (costs, costs.bind(["a", "b"]), costs.bind(["b", "a"])):
        assert view.fp == 8
        assert view.tp == 3
        assert view.tn == "fee"
        assert_array_equal(view.fn, [1, 2])
    with pytest.raises(AttributeError, match="two classes"):
        _ = Costs.from_matrix(1 - np.eye(3)).fp
    with pytest.raises(ValueError, match="read-only"):
        view.fn[0] = 9


def test_frames_read_back_as_the_same_costs():
    loan = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["yes", "ask", "no"]
    )
    assert Costs.from_matrix(loan.to_frame()) == loan
    answers = Costs.of_rows([[0, 1], [5, 0]], classes=["a", "b"])
    assert Costs.of_rows(answers.to_frame()) == answers
    costs = Costs(fn=FRAUD["amount"], **PLAIN).bind(["fraud", "legit"])
    frame = costs.to_frame()
    assert frame.index.tolist() == [4, 8, 2]
    assert Costs(**frame, positive="fraud").bind(["fraud", "legit"]) == costs
    rows = Costs.of_rows(FRAUD["amount"])
    assert Costs.of_rows(rows.to_frame()["cost"]) == rows
    many = Costs.from_matrix(np.arange(12.0).reshape(2, 2, 3), classes=["a", "b"])
    assert many.to_frame().columns.names == ["true", "action"]
    assert_array_equal(many.to_frame().to_numpy(), np.arange(12.0).reshape(2, 6))


def test_words():
    costs = Costs(fn=FRAUD["amount"], **PLAIN).bind(["fraud", "legit"])
    said = costs.describe().split("\n")
    assert "calling a fraud legit costs its amount, 0.71 to 1,797 (mean 603)" in said
    assert "calling a legit fraud costs 8" in said
    assert "recognising a fraud costs 8" in said
    assert said[-1] == "everything else is free"
    by_column = Costs(fn="amount", **PLAIN)
    assert "a false negative costs its amount" in by_column.describe().split("\n")
    assert "a false negative costs its amount, 0.71 to 1,797 (mean 603)" in by_column.describe(
        FRAUD
    )
    assert "answering 0 where 1 is true costs 10" in Costs(1, 10).bind([0, 1]).describe()
    assert (
        "getting a row wrong costs a price of its own, 1 to 9" in Costs.of_rows([1, 9]).describe()
    )
    assert "its amount times 0.75 plus 2" in (by_column * 0.75 + 2).describe()
    loans = Costs.of_actions({"approve": {"bad": "amount", "good": 0}, "decline": 5})
    assert "'approve' where 'bad' is true costs its amount" in loans.describe()
    assert "note: for 1 the right answer is dearer" in Costs(1, 2, tp=5).bind([0, 1]).describe()


def test_arithmetic_with_numbers():
    costs = Costs(fp=8, fn=[10.0, 3.3], tn=1)
    scaled = 1.1 * costs + 2
    assert scaled == Costs(fp=8 * 1.1 + 2, fn=np.array([10.0, 3.3]) * 1.1 + 2, tn=3.1, tp=2)
    assert np.float64(2) * costs == costs * 2 == Costs(fp=16, fn=[20, 6.6], tn=2)
    table = pd.DataFrame({"amount": [10.0, 3.3]})
    by_column = Costs(fp=8, fn="amount", tn=1)
    assert (1.1 * by_column + 2).bind_table(table) == scaled
    assert repr(2 * by_column) == "Costs(fp=16, fn='amount' * 2, tn=2)"
    earned = Costs(fp=1, fn=2, tp=-5, benefits=True)
    assert earned + -1 == Costs(fp=0, fn=1, tp=-6, tn=-1, benefits=True)
    assert Costs.of_rows([1, 2]) + 3 == Costs.of_rows([4, 5])


@pytest.mark.parametrize("factor", [0, -1, np.inf, np.nan])
def test_costs_are_not_turned_round_by_a_factor(factor):
    with pytest.raises(ValueError, match="positive numbers"):
        Costs(1, 2) * factor


def test_what_arithmetic_refuses():
    with pytest.raises(ValueError, match="negative"):
        Costs(1, 2) + -3
    for other in ([1, 2], "2", np.ones(2), True, Costs(1, 2)):
        with pytest.raises(TypeError):
            Costs(1, 2) * other


def test_concat():
    one, two = Costs(8, FRAUD["amount"]), Costs(8, FRAUD["amount"] * 2)
    both = Costs.concat([one, two])
    assert both == Costs(8, [0.71, 1797.0, 12.5, 1.42, 3594.0, 25.0])
    assert both.index.tolist() == [4, 8, 2, 4, 8, 2]
    assert both[:3] == one
    assert sum(column.ndim for column in both._state.columns) == 1  # the shared price stays one
    assert Costs.concat([one, Costs(9, [1.0])]).fp.tolist() == [8, 8, 8, 9]
    assert Costs.concat([one, Costs(8, [1.0])]).index is None
    assert Costs.concat([Costs(1, 2)] * 2) == Costs(1, 2)
    by_column = Costs(8, "amount")
    assert Costs.concat([by_column, by_column]) == by_column
    for parts, message in (
        ([], "nothing"),
        ([one, Costs(8, 5)], "no number of rows"),
        ([one, by_column], "bind_table"),
        ([one, one.bind([0, 1])], "bind"),
        ([one, Costs.of_rows([1.0])], "same form"),
    ):
        with pytest.raises(ValueError, match=message):
            Costs.concat(parts)


# Doubts


@pytest.mark.parametrize(
    "make",
    [
        lambda: Costs(fp=0, fn=0, tp=10, tn=1),
        lambda: Costs.from_matrix([[5, 0], [0, 5]]),
        lambda: Costs.from_matrix(np.eye(3), classes=list("abc")),
    ],
)
def test_benefits_given_as_costs_are_doubted_at_once(make):
    with pytest.warns(UserWarning, match=r"In these costs the right answer.*benefits=True"):
        make()


def test_a_class_that_would_never_be_answered_is_doubted_at_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.tile([0, 1], 20)
    model = CostBoostClassifier("adamec", n_estimators=2, random_state=0)
    for costs in (Costs(fp=8, tp=8, fn=5), Costs(fp=8, tp=8, fn=rng.uniform(1, 7, 40))):
        with pytest.warns(UserWarning, match="for the class 1 is dearer than any wrong one"):
            model.fit(X, y, costs=costs)


def test_dear_right_answers_that_are_meant_are_not_doubted():
    data = make_card_fraud(600, random_state=0)
    amount = data.X["amount"]
    assert (amount < 8).any()
    costs = Costs(fp=8, tp=8, fn=amount)  # an investigation may cost more than the fraud
    model = CostBoostClassifier("adamec", n_estimators=2, random_state=0)
    model.fit(data.X, data.y, costs=costs)
    model.predict(data.X[:1], costs=Costs(fp=8, tp=8, fn=2.0))  # one small payment
    by_column = Costs(fp=8, tp=8, fn="amount")
    MinimumCostClassifier(model, costs=by_column, calibration=None).fit(data.X, data.y)

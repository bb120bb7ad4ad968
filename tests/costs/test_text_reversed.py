"""Costs that look turned round are doubted, those that may be meant are not."""

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.costs.reading import read_actions, read_binary, read_matrix, read_rows
from costboost.costs.text import (
    costly_right_answers,
    looks_reversed,
    reversed_warning,
)
from costboost.datasets import make_card_fraud


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
        with pytest.warns(UserWarning, match="for the class 1 costs more than any wrong one"):
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


def test_a_class_is_dearer_when_right_only_if_all_rows_and_all_answers_say_so():
    assert costly_right_answers(read_binary(fp=1, fn=2, tp=3)) == [1]
    assert costly_right_answers(read_binary(fp=1, fn=2, tp=2)) == []  # as costly is not more costly
    assert costly_right_answers(read_binary(fp=1, fn=[2, 2], tp=[3, 2])) == []
    assert costly_right_answers(read_binary(fp=1, fn=[2, 2], tp=[3, 2.5])) == [1]
    three = [[5, 1, 2], [1, 5, 9], [1, 1, 0]]
    assert costly_right_answers(read_matrix(three, classes=list("abc"))) == ["a"]


def test_what_cannot_be_judged_is_not_doubted():
    for state in (
        read_binary(fp=1, fn="amount", tp=3),
        read_rows([1.0, 2.0]),
        read_rows([[3.0, 1.0], [1.0, 3.0]]),
        read_actions({"ask": {"a": 9, "b": 9}, "go": 1, "stop": 0}),
        Costs(1, [2], tp=[3])[:0]._state,
    ):
        assert costly_right_answers(state) == []
        assert not looks_reversed(state)


def test_constants_look_reversed_where_every_class_does():
    assert looks_reversed(read_binary(fp=0, fn=0, tp=1, tn=1))
    assert not looks_reversed(read_binary(fp=0, fn=0, tp=1, tn=0))
    assert not looks_reversed(read_binary(fp=0, fn=[0, 0], tp=1, tn=1))  # rows may be meant
    assert "for the class 'a', 1 costs more than any wrong one" in reversed_warning(["a", 1])
    assert "4 costs more" in reversed_warning(list(range(9)))  # five classes are enough

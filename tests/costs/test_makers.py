"""Other ways to make costs: by action, one after the other."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs

PRICES = {
    "approve": {"default": "amount", "paid": 0},
    "review": {"default": 25, "paid": 25},
    "decline": {"default": 0, "paid": lambda X: 0.1 * X["amount"]},
}


LOANS = pd.DataFrame({"amount": [100.0, 5000.0, 40.0]})


def test_actions_mix_numbers_columns_functions_and_arrays():
    costs = Costs.of_actions({**PRICES, "insure": {"default": np.array([5.0, 6, 7]), "paid": 3}})
    assert costs.actions.tolist() == ["approve", "review", "decline", "insure"]
    assert costs.classes.tolist() == ["default", "paid"]
    bound = costs.bind_table(LOANS)
    assert bound.shape == (3, 2, 4)
    assert_array_equal(np.asarray(bound)[1], [[5000, 25, 0, 6], [0, 25, 500, 3]])
    turned = bound.bind(["paid", "default"])
    assert_array_equal(np.asarray(turned)[1], [[0, 25, 500, 3], [5000, 25, 0, 6]])


def test_one_price_for_every_class_may_stand_alone():
    costs = Costs.of_actions({**PRICES, "review": 25})
    assert_array_equal(
        np.asarray(costs.bind_table(LOANS)), np.asarray(Costs.of_actions(PRICES).bind_table(LOANS))
    )


def test_actions_that_are_the_classes_are_decisions_about_them():
    costs = Costs.of_actions({"b": {"a": 1, "b": 0}, "a": {"a": 0, "b": 10}})
    assert costs.is_square
    assert costs == Costs.from_matrix([[0, 1], [10, 0]], classes=["a", "b"])


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ({"a": {"x": 1, "y": 0}}, "at least two actions"),
        ([1, 2], "takes a dict"),
        ({"a": 1, "b": 2}, "No action says"),
        ({"a": {"x": 1, "y": 0}, "b": {"x": 1}}, "'b' has prices for"),
        ({"a": {"x": 1, "y": 0}, "b": {"x": 1, "z": 1}}, "each class"),
        ({"a": {"x": -1, "y": 0}, "b": 1}, "'a' given 'x' is -1, which is negative"),
        ({"a": {"x": [1, 2], "y": [1, 2, 3]}, "b": 1}, "has 2 rows, but"),
        ({"a": {"x": 0, "y": 0}, "b": 0}, "Every cost is zero"),
    ],
)
def test_actions_that_are_not_priced(prices, message):
    with pytest.raises(ValueError, match=message):
        Costs.of_actions(prices)


def test_benefits_of_actions():
    costs = Costs.of_actions({"sell": {"x": -5, "y": 1}, "keep": 0}, benefits=True)
    assert_array_equal(np.asarray(costs)[0], [[-5, 0], [1, 0]])

"""Other ways to make costs: by action, one after the other."""

import pickle

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
        ({"a": {"x": 1}, "b": {"y": 2}}, r"'b' has prices for \['y'\], and 'a' for \['x'\]"),
        ({"a": {"x": 1}, "b": {"x": 2}}, r"prices for \['x'\]: .* two classes at least"),
        ({"a": {}, "b": 2}, r"prices for \[\]: .* two classes at least"),
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


def test_costs_of_every_maker_are_of_the_class_that_was_asked():
    class Mine(Costs):
        __slots__ = ()

    made = [
        Mine.from_matrix([[0, 1], [5, 0]]),
        Mine.of_actions({"a": {"x": 1, "y": 0}, "b": 2}),
        Mine.of_rows([1.0, 2.0]),
        Mine.concat([Mine(1, [2]), Mine(1, [3])]),
    ]
    assert all(type(costs) is Mine for costs in made)


def test_a_matrix_by_row_is_the_matrix_of_each_row():
    rng = np.random.default_rng(0)
    C = rng.uniform(1, 9, (5, 3, 2))
    costs = Costs.from_matrix(C, classes=list("abc"), actions=["x", "y"])
    assert_array_equal(np.asarray(costs), C)
    for i in range(5):
        alone = Costs.from_matrix(C[i], classes=list("abc"), actions=["x", "y"])
        assert_array_equal(np.asarray(costs[i]), np.asarray(alone))


def test_prices_of_answers_are_kept_by_class():
    C = np.arange(1.0, 7.0).reshape(2, 3)
    costs = Costs.of_rows(C, classes=["b", "c", "a"])
    assert_array_equal(costs.bind(["a", "b", "c"]).of_labels(["a", "a"]), C[:, [2, 0, 1]])
    assert costs.contain_truth
    twin = pickle.loads(pickle.dumps(costs))
    assert twin == costs


def test_makers_doubt_what_looks_like_benefits_and_keep_it():
    with pytest.warns(UserWarning, match="if benefits were meant") as caught:
        costs = Costs.from_matrix(np.eye(2), classes=["x", "y"])
    assert {warning.filename for warning in caught} == {__file__}
    assert_array_equal(np.asarray(costs)[0], np.eye(2))

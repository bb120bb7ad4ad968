"""Labels, decisions and costs become prices, and prices become sums."""

import numpy as np
import pytest

from costboost import Costs
from costboost.metrics.prices import (
    bind_costs,
    cheapest_constant_of,
    normalized_of,
    realise,
    savings_of,
    take,
    total_of,
)


def array(*values):
    return np.array(values)


def test_costs_are_bound_to_labels_then_to_their_own_classes_then_to_those_that_occur():
    matrix = [[0, 1], [2, 0]]
    named = Costs.from_matrix(matrix, classes=["b", "a"])
    assert bind_costs(named, array("a", "a")).classes.tolist() == ["b", "a"]
    alike = [[0, 2], [2, 0]]
    assert bind_costs(alike, array("b", "a")).classes.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="alphabet would be a guess"):
        bind_costs(matrix, array("b", "a"))
    with pytest.raises(ValueError, match="alphabet would be a guess"):
        bind_costs(matrix, array("b", "a"), classes=["a", "b"])
    assert bind_costs(matrix, array("b", "b"), labels=["c", "b"]).classes.tolist() == ["c", "b"]
    # Decisions name classes too.
    assert bind_costs(alike, array("b", "b"), array("b", "z")).classes.tolist() == ["b", "z"]


def test_decisions_that_are_actions_name_no_classes():
    costs = Costs.from_matrix([[[0, 1, 6], [30, 2, 0]]] * 2, actions=["yes", "look", "no"])
    bound = bind_costs(costs, array(1, 0), array("look", "no"))
    assert bound.classes.tolist() == [0, 1]
    assert bound.actions.tolist() == ["yes", "look", "no"]


@pytest.mark.parametrize(
    ("label", "positive", "both"),
    [
        (0, None, [0, 1]),
        (1, None, [0, 1]),
        (-1, None, [-1, 1]),
        (False, None, [False, True]),
        (True, None, [False, True]),
        ("no", "yes", ["no", "yes"]),
        ("z", "a", ["a", "z"]),
    ],
)
def test_one_class_alone_is_given_its_pair(label, positive, both):
    costs = Costs(fp=1, fn=2, positive=positive)
    assert sorted(bind_costs(costs, array(label, label)).classes.tolist()) == both


def test_one_class_without_a_natural_pair_is_refused():
    with pytest.raises(ValueError, match=r"'no' is the only class that occurs.*labels="):
        bind_costs({"fp": 1, "fn": 2}, array("no"))
    with pytest.raises(ValueError, match="7 is the only class"):
        bind_costs(None, array(7), n_classes=2)


def test_prices_are_those_of_the_true_class_and_paid_are_those_of_the_decision():
    costs = Costs(fp=array(1, 2, 3), fn=array(10, 20, 30), tp=5)
    found = realise([0, 1, 1], [1, 0, 1], [0, 0, 0], costs=costs)
    assert found.prices.tolist() == [[0, 1], [20, 5], [30, 5]]
    assert [paid.tolist() for paid in found.paid] == [[1, 20, 5], [0, 20, 30]]
    assert [part.tolist() for part in found.numbers] == [[1, 0, 1], [0, 0, 0]]
    assert take(found.prices, array(1, 1, 0)).tolist() == [1, 5, 30]


def test_decisions_that_cannot_be_priced_are_refused():
    with pytest.raises(ValueError, match="y_true is empty"):
        realise([], [], costs=None)
    with pytest.raises(ValueError, match="y_pred has 1 rows, but y_true has 2"):
        realise([0, 1], [0, 1], [0], costs=None)
    with pytest.raises(ValueError, match="y_pred holds missing values"):
        realise([0, 1], [0, np.nan], costs=None)
    actions = Costs.from_matrix([[0, 1], [2, 0]], actions=["stay", "go"])
    with pytest.raises(ValueError, match="run"):
        realise([0, 1], ["stay", "run"], costs=actions)


def test_totals_keep_the_size_of_weights():
    paid = array(1.0, 10.0, 100.0)
    assert total_of(paid, None) == 111
    assert total_of(paid, [3, 0, 0.5]) == 53
    with pytest.raises(ValueError, match="weight"):
        total_of(paid, [1, 1, -1])


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e299])
def test_where_a_cost_lies_between_least_and_most(unit):
    prices = array([1.0, 5.0], [7.0, 3.0], [2.0, 2.0]) * unit
    weight = array(1.0, 2.0, 1.0)
    for codes, share in (([0, 1, 0], 0), ([1, 0, 1], 1), ([1, 1, 0], 1 / 3), ([0, 0, 0], 2 / 3)):
        found = normalized_of(take(prices, array(*codes)), prices, weight)
        assert found == pytest.approx(share, abs=1e-15)
    assert normalized_of(array(2.0), array([2.0, 2.0]), array(1.0)) == 0  # nothing to choose


def test_savings_are_a_share_of_the_size_of_what_was_paid_before():
    one = array(1.0)
    assert savings_of(array(2.0), array(8.0), one) == 0.75
    assert savings_of(array(-2.0), array(-8.0), one) == -0.75  # earned less than before
    assert savings_of(array(0.0), array(0.0), one) == 0
    assert savings_of(array(1e-300), array(0.0), one) == -np.inf
    assert savings_of(array(-1.0), array(0.0), one) == np.inf
    assert savings_of(array(1.0, 1e300), array(4.0, -1e300), array(1.0, 0.0)) == 0.75


def test_the_cheapest_constant_is_so_by_weight_and_the_first_of_equals():
    prices = array([0.0, 1.0], [5.0, 0.0])
    assert cheapest_constant_of(prices, array(1.0, 1.0)).tolist() == [1, 0]
    assert cheapest_constant_of(prices, array(6.0, 1.0)).tolist() == [0, 5]
    assert cheapest_constant_of(prices, array(5.0, 1.0)).tolist() == [0, 5]
    # A row without weight has no say, but pays all the same.
    assert cheapest_constant_of(prices, array(1.0, 0.0)).tolist() == [0, 5]

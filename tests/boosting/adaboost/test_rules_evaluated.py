"""A rule at costs: margins and factors by hand, and what users' functions may not answer."""

from dataclasses import replace

import numpy as np
import pytest

from costboost.boosting.adaboost.rules import RULES, BoundRule, MistakePrices
from costboost.boosting.adaboost.weights import in_range
from odd import odd_function

COST = np.array([0.2, 0.5, 1.0])
LABELS = np.array([0, 1, 1])


def by_row(cost, n_classes):
    """Prices of rows: the answers of row i cost cost[i] times 1, 2, ... ; the mean at the label."""
    answers = cost[:, None] * np.arange(1.0, n_classes + 1)
    return MistakePrices(cost, answers, constant=False)


@pytest.mark.parametrize(
    ("name", "right", "wrong", "right_factor", "wrong_factor"),
    [
        ("adaboost", 1.0, 1.0, 1.0, 1.0),
        ("adacost", 0.5 - COST / 2, 0.5 + COST / 2, 1.0, 1.0),
        ("csb2", 1.0, 1.0, 1.0, COST),
        ("csb0", 0.0, 0.0, 1.0, COST),
        ("adac1", COST, COST, 1.0, 1.0),
        ("adac2", 1.0, 1.0, COST, COST),
        ("adac3", COST, COST, COST, COST),
    ],
)
def test_margins_and_factors_of_two_classes(name, right, wrong, right_factor, wrong_factor):
    u, f = BoundRule(RULES[name], 10, 2).terms(by_row(COST, 2), LABELS)
    own, rows = LABELS[:, None] == np.arange(2), np.ones(3)
    np.testing.assert_allclose(u, np.where(own, (right * rows)[:, None], -(wrong * rows)[:, None]))
    expected = np.where(own, (right_factor * rows)[:, None], (wrong_factor * rows)[:, None])
    np.testing.assert_allclose(f, expected)


def test_mistakes_of_many_classes_have_the_price_of_their_answer():
    prices, labels = by_row(COST, 3), np.array([0, 1, 2])
    own = labels[:, None] == np.arange(3)
    u, f = BoundRule(RULES["csb2"], 10, 3).terms(prices, labels)
    np.testing.assert_array_equal(u, np.where(own, 1.0, -1.0))
    np.testing.assert_array_equal(f, np.where(own, 1.0, prices.answer_price))
    u, f = BoundRule(RULES["adacost"], 10, 3).terms(prices, labels)
    wrong = (0.5 + prices.answer_price / 2) / 2  # as SAMME codes a wrong vote
    np.testing.assert_allclose(u, np.where(own, (0.5 - COST / 2)[:, None], -wrong))
    # AdaC2 multiplies by the price of the row, whatever was answered.
    _, f = BoundRule(RULES["adac2"], 10, 3).terms(prices, labels)
    np.testing.assert_array_equal(f, np.tile(COST[:, None], 3))


def test_rules_see_signs_rounds_and_ratios():
    bound = BoundRule(RULES["adauboost"], 4, 2, ratio=16.0)
    at = bound.at(COST, LABELS)
    assert at.sign.tolist() == [-1.0, 1.0, 1.0]
    np.testing.assert_allclose(bound.factor("first", at), [1.0, 16.0, 16.0])
    np.testing.assert_allclose(bound.exponents("right", at), [1.0, 0.5, 0.5])
    asymada = BoundRule(RULES["asymada"], 2, 2)
    np.testing.assert_allclose(asymada.round_factor(asymada.at(COST, LABELS)), COST**0.5)
    assert BoundRule(RULES["adaboost"], 2, 2).round_factor(at).tolist() == [1.0] * 3
    assert BoundRule(RULES["adac2"], 2, 3).at(COST, LABELS).sign.tolist() == [1.0] * 3


def test_an_objective_is_evaluated_where_the_rule_is():
    def objective(at):
        return at.sign * at.cost, 0.1 * at.cost, 2.0 * at.cost

    bound = BoundRule(RULES["gradient-csb"], 10, 2)
    u, _ = bound.terms(by_row(COST, 2), LABELS, objective)
    own = LABELS[:, None] == np.arange(2)
    np.testing.assert_allclose(u, np.where(own, 1.1 * COST[:, None], -0.9 * COST[:, None]))
    first = bound.factor("first", bound.at(COST, LABELS, objective))
    np.testing.assert_allclose(first, 2.0 * COST)


def test_a_beta_of_ones_own_is_taken_and_named():
    bound = BoundRule(RULES["adacost"], 10, 2, beta=lambda sign, c: 0.4 + 0 * c - 0.1 * sign)
    at = bound.at(COST, LABELS)
    np.testing.assert_allclose(bound.both_exponents(at), [[0.3] * 3, [0.5] * 3])
    odd = replace(bound, beta=lambda sign, c: np.nan * c)
    with pytest.raises(ValueError, match="right of method='adacost' with your beta"):
        odd.both_exponents(odd.at(COST, LABELS))


ODD = ["one nan", "one inf", "too short", "nothing", "a scalar", "words", "one 1e+308"]


@pytest.mark.parametrize("change", ODD)
@pytest.mark.parametrize("name", ["first", "right", "wrong_factor"])
def test_odd_answers_of_rules_are_refused_by_name(change, name):
    rule = replace(RULES["csb2"], name="odd", **{name: odd_function(change)})
    bound = BoundRule(rule, 10, 2)
    ask = bound.exponents if name == "right" else bound.factor
    with pytest.raises(ValueError, match=f"{name} of method='odd'"):
        ask(name, bound.at(COST, LABELS))


def test_factors_are_not_negative_but_exponents_may_be():
    odd = {"first": odd_function("negated"), "right": lambda at: -at.cost}
    rule = replace(RULES["csb2"], name="odd", **odd)
    bound = BoundRule(rule, 10, 2)
    at = bound.at(COST, LABELS)
    assert bound.exponents("right", at).tolist() == (-COST).tolist()
    with pytest.raises(ValueError, match="first of method='odd'"):
        bound.factor("first", at)


def test_what_is_alike_is_evaluated_once():
    at = BoundRule(RULES["adac3"], 10, 2).at(COST, LABELS)
    right, wrong = BoundRule(RULES["adac3"], 10, 2).both_exponents(at)
    assert right is wrong
    right, wrong = BoundRule(RULES["adaboost"], 10, 2).both_factors(at)
    assert right is wrong
    assert not any(right.strides)  # a view of one number
    right, wrong = BoundRule(RULES["csb2"], 10, 2).both_factors(at)
    assert (right.tolist(), wrong.tolist()) == ([1.0] * 3, COST.tolist())


@pytest.mark.parametrize("largest", [1e-300, 5e-324, 1e-101, 1e101, 1e300])
def test_factors_out_of_range_are_brought_to_one(largest):
    assert 0.5 <= np.ldexp(largest, in_range(largest)) < 1.0
    for near in (0.0, 1e-100, 1e-50, 1.0, 1e100):
        assert in_range(near) == 0

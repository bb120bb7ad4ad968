"""Cai, Song and Zhang's objectives: each is the algorithm that it is named after."""

import numpy as np
import pytest

from costboost.boosting.formulas import OBJECTIVES, RuleInput, cost_or_one, one, row_cost, zero

COST, SIGN = np.array([0.2, 1.0, 0.0]), np.array([1.0, -1.0, 1.0])
AT = RuleInput(cost=COST, sign=SIGN)
VOTES, ALPHA = np.array([1.0, 1.0, -1.0]), 0.7


def loss(name, at=AT):
    """Return w0 exp(-alpha (a f + b)) of every row."""
    a, b, w0 = OBJECTIVES[name](at)
    return w0 * np.exp(-ALPHA * (a * VOTES + b))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("adaboost", np.exp(-ALPHA * SIGN * VOTES)),
        ("asymboost", np.exp(-ALPHA * COST * SIGN * VOTES)),
        ("adac1", np.exp(-ALPHA * COST * SIGN * VOTES)),
        # AdaCost: a right row has the exponent 1/2 - c/2, a wrong one 1/2 + c/2.
        ("adacost", COST * np.exp(-ALPHA * (SIGN * VOTES - COST) / 2)),
    ],
)
def test_objectives_are_the_losses_of_algorithms(name, expected):
    np.testing.assert_allclose(loss(name), expected, rtol=1e-15)


def test_a_right_row_of_adacost_has_a_smaller_exponent_than_a_wrong_one():
    a, b, _ = OBJECTIVES["adacost"](AT)
    right, wrong = np.abs(a) + b, np.abs(a) - b
    np.testing.assert_array_equal(right, 0.5 - COST / 2)
    np.testing.assert_array_equal(wrong, 0.5 + COST / 2)


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("shape", [(0,), (4,), (3, 5)])
def test_objectives_answer_in_the_shape_of_costs(name, shape):
    at = RuleInput(cost=np.full(shape, 0.5), sign=np.ones(shape))
    assert [part.shape for part in OBJECTIVES[name](at)] == [shape] * 3


def test_rows_are_alike_where_nothing_costs_anything():
    free = RuleInput(cost=np.zeros(3), sign=SIGN, free=True)
    assert cost_or_one(free).tolist() == [1.0, 1.0, 1.0]
    assert cost_or_one(AT) is COST
    some = RuleInput(cost=np.zeros(3), sign=SIGN)  # other rows cost something
    assert cost_or_one(some).tolist() == [0.0, 0.0, 0.0]
    assert loss("adacost", free).tolist() == np.exp(-ALPHA * SIGN * VOTES / 2).tolist()


def test_the_price_of_a_row_is_not_that_of_its_answer():
    assert row_cost(AT) is COST
    given = np.array([3.0, 3.0, 3.0])
    assert row_cost(RuleInput(cost=COST, sign=SIGN, row_cost=given)) is given
    assert (one(AT).tolist(), zero(AT).tolist()) == ([1.0] * 3, [0.0] * 3)

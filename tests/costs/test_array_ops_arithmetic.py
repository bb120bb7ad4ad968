"""Costs times a number, plus a number, and one after the other."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costs_cases import FRAUD


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


@pytest.mark.parametrize("unit", [1e-290, 1.0, 1e290])
def test_a_column_is_scaled_to_the_same_bits_as_an_array(unit):
    amounts = np.random.default_rng(0).uniform(1, 9, 50) * unit
    table = pd.DataFrame({"amount": amounts})
    for change in (lambda c: 0.1 * c + 0.3 * unit, lambda c: (c + 0.7 * unit) * (1 / 3) * 7):
        later = change(Costs(fp=unit, fn="amount")).bind_table(table)
        now = change(Costs(fp=unit, fn=amounts))
        assert_array_equal(np.asarray(later), np.asarray(now))


def test_prices_may_not_leave_the_range_of_prices():
    with pytest.raises(ValueError, match=r"the cost is 1e\+301; values beyond 1e\+300"):
        Costs(1e299, 1) * 100
    with pytest.raises(ValueError, match="between 0 and 1e-305"):
        Costs(1e-300, 1) * 1e-9
    by_column = Costs(fp=8, fn="amount", tp=8, tn=8) + -5
    with pytest.raises(ValueError, match="row 1: the column 'amount' is -4, which is negative"):
        by_column.bind_table(pd.DataFrame({"amount": [6.0, 1.0]}))


def test_rows_that_follow_each_other_keep_their_labels_apart():
    one = Costs.from_matrix([[0, 1], [5, 0]], classes=["a", "b"])
    other = Costs.from_matrix([[0, 1], [5, 0]], classes=["b", "a"])
    with pytest.raises(ValueError, match="Only costs of the same form, classes, actions"):
        Costs.concat([one, other])
    with pytest.raises(ValueError, match="positive class"):
        Costs.concat([Costs(1, [2], positive="a"), Costs(1, [2], positive="b")])
    actions = Costs.of_actions({"x": {"a": [1.0, 2.0], "b": 0}, "y": 3})
    both = Costs.concat([actions, actions[:1]])
    assert_array_equal(np.asarray(both)[:, 0, 0], [1, 2, 1])
    assert both.actions.tolist() == ["x", "y"]

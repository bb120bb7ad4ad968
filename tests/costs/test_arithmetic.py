"""Costs times a number, plus a number, and one after the other."""

import numpy as np
import pandas as pd
import pytest

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

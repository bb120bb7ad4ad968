"""Costs are shown as the call that makes them."""

import numpy as np
import pytest

from costboost.costs import Costs, as_costs
from costs_cases import LOAN


@pytest.mark.parametrize(
    ("costs", "expected"),
    [
        (Costs(1, 10), "Costs(fp=1, fn=10)"),
        (Costs(1, 10, tp=2, tn=0.5), "Costs(fp=1, fn=10, tp=2, tn=0.5)"),
        (
            Costs(1, [2, 300], positive="a").bind(["a", "b"]),
            "Costs(fp=1, fn=<2 values from 2 to 300>, positive='a')",
        ),
        (Costs(1, [2])[:0], "Costs(fp=1, fn=<0 values of no rows>)"),
        (
            Costs.from_matrix(LOAN, classes=["g", "b"], actions=["y", "ask", "n"]),
            "Costs.from_matrix([[0, 1, 6], [30, 2, 0]], classes=['g', 'b'], "
            "actions=['y', 'ask', 'n'])",
        ),
        (
            Costs.from_matrix(np.arange(100.0).reshape(10, 10), classes=range(10)),
            "Costs.from_matrix(<10 x 10 values from 0 to 99>, classes=[0, 1, 2, 3, 4, ...])",
        ),
        (
            Costs.from_matrix(np.ones((4, 3, 3))),
            "Costs.from_matrix(<4 x 3 x 3 values from 1 to 1>)",
        ),
        (Costs.of_rows([1, 2]), "Costs.of_rows(<2 values from 1 to 2>)"),
        (Costs.of_rows([[1, 2]]), "Costs.of_rows(<1 x 2 values from 1 to 2>)"),
        (as_costs(None), "Costs(every mistake costs 1)"),
    ],
)
def test_repr(costs, expected):
    assert repr(costs) == expected

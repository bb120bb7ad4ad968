"""Costs are shown as the call that makes them."""

import numpy as np
import pytest

from costboost.costs import Costs, as_costs, expression
from costboost.costs.reading import read_binary
from costboost.costs.text import as_number, short, signs
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


def test_what_is_still_to_be_read_is_shown_by_its_name():
    def fee(X):
        return X["fee"]

    costs = Costs(fp=fee, fn="amount", tp=expression("max(a, 1)"), tn=0) * 2 + 0.5
    assert repr(costs) == (
        "Costs(fp=<fee of the table> * 2 + 0.5, fn='amount' * 2 + 0.5, "
        "tp=expression('max(a, 1)') * 2 + 0.5, tn=0.5)"
    )
    assert repr(Costs.of_rows("amount")) == "Costs.of_rows('amount')"
    assert repr(Costs.from_matrix([[0, "fee"], [[1, 9][0], 0]], classes=["a", "b"])) == (
        "Costs.from_matrix([[0, 'fee'], [1, 0]], classes=['a', 'b'])"
    )


def test_cells_of_a_mixed_matrix_are_shown_one_by_one():
    costs = Costs.from_matrix([[0, np.array([1.0, 4.0])], [3, 0]], classes=["x", "y"])
    assert repr(costs) == (
        "Costs.from_matrix([[0, <2 values from 1 to 4>], [3, 0]], classes=['x', 'y'])"
    )


@pytest.mark.parametrize(
    ("price", "expected"),
    [(1e300, "1e+300"), (1e-300, "1e-300"), (1234567, "1.23457e+06"), (0.1, "0.1")],
)
def test_numbers_of_any_size_are_short(price, expected):
    assert as_number(read_binary(price, 1).cells[1]) == expected


def test_many_labels_are_cut_and_none_are_an_empty_list():
    assert short(None) == "[]"
    assert short(np.array(["a", "b"])) == "['a', 'b']"
    assert short(np.arange(5)) == "[0, 1, 2, 3, 4]"
    assert short(np.arange(6)) == "[0, 1, 2, 3, 4, ...]"


def test_the_four_prices_turn_with_the_positive_class():
    second = Costs(1, 2, positive="b").bind(["a", "b"])
    first = Costs(1, 2, positive="a").bind(["a", "b"])
    assert signs(second._state)["fp"] == signs(first._state)["fn"] == (0, 1)
    assert repr(first) == "Costs(fp=1, fn=2, positive='a')"

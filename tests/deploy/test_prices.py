"""Columns that prices are read from have the kind that their use gives them."""

import numpy as np
import pytest

import costboost as cb
from costboost.costs import ExpressionError, expression
from costboost.deploy.exported import export
from deploy_prices import trained, with_prices


@pytest.fixture(scope="module")
def model():
    return trained()


def read(model, text):
    costs = {"fp": 1, "fn": expression(text), "positive": "bad"}
    return export(with_prices(model, costs)).prices.columns


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a * 2", {"a": "number"}),
        ("if(segment == 'vip', x, 1)", {"segment": "text", "x": "number"}),
        ("if(flag and not other, 1, 2)", {"flag": "truth", "other": "truth"}),
        ("if(one == two, 1, 2)", {"one": "number", "two": "number"}),  # no column of the model
        ("if(t == two, 1, 2)", {"t": "text", "two": "text"}),  # one that holds text there
        ("if(one == two and two == three and three == 'x', 1, 2)",
         {"one": "text", "two": "text", "three": "text"}),
        ("if(if(flag, one, 'x') == two, 1, 2)", {"flag": "truth", "one": "text", "two": "text"}),
        ("if(missing(a), 1, 2)", {"a": "number"}),
        ("if(missing(t), 1, 2)", {"t": "text"}),
    ],
)  # fmt: skip
def test_a_column_is_what_it_is_used_as(model, text, kinds):
    assert read(model, text) == kinds


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("if(a == 'x', a, 1)", "'a' is a text elsewhere, and here a number"),
        ("if(a > 1, 'x', 'y')", "where a number is expected"),
        ("if(a > 1, flag, 1) + if(flag, 1, 2)", "'flag' is a number elsewhere"),
        ("if((a > 1) == (a > 2), 1, 2)", "true and false are not compared"),
        ("round(a, b)", "digits are a whole number"),
        ("if(missing(a + 1), 1, 2)", "missing asks about a column"),
    ],
)
def test_what_no_table_could_answer_is_refused(model, text, problem):
    with pytest.raises(ExpressionError, match=problem):
        read(model, text)


def test_cells_stand_in_the_order_of_the_classes(model):
    costs = cb.Costs(fp="x", fn=7, tn=expression("2 * 2"), positive="bad")
    prices = export(with_prices(model, costs)).prices
    assert [str(formula) for formula in prices.formulas] == ["the column 'x'"]
    assert prices.cells == (0.0, 7.0, prices.formulas[0], 4.0)
    np.testing.assert_array_equal(prices.constants, [0.0, 7.0, np.nan, 4.0])


def test_a_constant_expression_is_checked_as_any_price(model):
    with pytest.raises(ValueError, match="negative"):
        read(model, "1 - 2")

"""Prices as expressions: against Python itself, row by row; and where errors point."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import CostBoostClassifier, CostColumns, Costs, load, save
from costboost.costs import Expression, ExpressionError, expression
from costboost.costs.grammar import Span

TABLE = {
    "amount": [100.0, 40.0, 0.0, 2.5],
    "deductible": [30, 50, 0, 1],
    "segment": ["vip", "other", "vip", "it's"],
    "member": [True, False, True, False],
    "net margin": [1.0, 2.0, 3.0, 4.0],
}
LIBRARIES = {
    "dict": dict,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "pandas objects": lambda t: pd.DataFrame(t).astype(object),
    "pandas categories": lambda t: pd.DataFrame(t).astype({"segment": "category"}),
    "polars categories": lambda t: pl.DataFrame(t, schema_overrides={"segment": pl.Categorical}),
}


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8", [8, 8, 8, 8]),
        ("0.75 * amount + 20", [95, 50, 20, 21.875]),
        ("max(amount - deductible, 0)", [70, 0, 0, 1.5]),
        ("if(segment == 'vip', 3, 1) * `net margin`", [3, 2, 9, 4]),
        ('if(segment != "it\'s", 1, 2)', [1, 1, 1, 2]),
        ("if(segment == 'it''s', [net margin], -1)", [-1, -1, -1, 4]),
        ("if(member, 5, 6)", [5, 6, 5, 6]),
        ("if(not member and amount >= 2.5, 1, 0)", [0, 1, 0, 1]),
        ("if(deductible == 0, 7, amount / deductible)", [100 / 30, 0.8, 7, 2.5]),
        ("if(deductible != 0 and amount / deductible > 1, 1, 0)", [1, 0, 0, 1]),
        ("if(deductible == 0 or amount / deductible > 1, 1, 0)", [1, 0, 1, 1]),
        ("min(amount, deductible, 10)", [10, 10, 0, 1]),
        ("abs(deductible - amount)", [70, 10, 0, 1.5]),
        ("round(amount / 3, 2) - - 1", [34.33, 14.33, 1, 1.83]),
        ("round(deductible, -1)", [30, 50, 0, 0]),
        ("2 - 1 - 1", [0] * 4),
        ("8 / 4 / 2", [1] * 4),
        ("-2 * -3 + 1e1", [16] * 4),
        (" ( 1 + 2 ) * 3 ", [9] * 4),
    ],
)
def test_prices_of_every_library(make, text, expected):
    assert expression(text)(make(TABLE)).tolist() == pytest.approx(expected)


def nodes():
    """Draw expressions in our words and in Python's: none of them divides."""
    leaves = st.one_of(
        st.floats(0, 1e3).map(lambda x: (repr(round(x, 3)), repr(round(x, 3)))),
        st.sampled_from([("amount", "amount"), ("deductible", "deductible")]),
    )

    def grow(part):
        pair = st.tuples(part, part)
        signs = st.sampled_from("+-*")
        compared = st.tuples(part, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), part)
        return st.one_of(
            st.tuples(part, signs, part).map(
                lambda t: tuple(f"({a} {t[1]} {b})" for a, b in zip(t[0], t[2], strict=True))
            ),
            part.map(lambda t: (f"-{t[0]}", f"(-{t[1]})")),
            pair.map(lambda t: tuple(f"max({a}, {b})" for a, b in zip(*t, strict=True))),
            part.map(lambda t: (f"abs({t[0]})", f"abs({t[1]})")),
            st.tuples(compared, part, part).map(
                lambda t: (
                    f"if({t[0][0][0]} {t[0][1]} {t[0][2][0]}, {t[1][0]}, {t[2][0]})",
                    f"({t[1][1]} if {t[0][0][1]} {t[0][1]} {t[0][2][1]} else {t[2][1]})",
                )
            ),
        )

    return st.recursive(leaves, grow, max_leaves=12)


@settings(max_examples=200, deadline=None)
@given(nodes())
def test_the_same_as_python_row_by_row(pair):
    ours, theirs = pair
    got = expression(ours)(TABLE)
    for i, price in enumerate(got.tolist()):
        names = {"amount": TABLE["amount"][i], "deductible": float(TABLE["deductible"][i])}
        assert price == eval(theirs, {"max": max, "abs": abs}, names)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1.+-*/()<>=!,'\"`[] ifmaxandotr_%e\n", max_size=40))
def test_any_text_is_a_price_or_one_error(text):
    found = None
    try:
        expression(text)({"a": [1.0], "b": ["x"]})
    except ExpressionError as error:
        found = error
    assert found is None or 0 <= found.span.start <= max(len(text), 1)


@pytest.mark.parametrize(
    ("text", "pointed", "says"),
    [
        ("0.75 * amuont + 20", "amuont", "did you mean 'amount'"),
        ("zzz", "zzz", "the columns are 'amount'"),
        ("amount +", "", "missing here"),
        ("amount = 3", "=", "compare with =="),
        ("75% * amount", "%", "0.75 for 75 %"),
        ("amount ** 2", "*", "missing here"),
        ("amount ^ 2", "^", "no powers"),
        ("1,000 + amount", ",", "write 1000"),
        ("(amount", "(", "never closed"),
        ("amount)", ")", "never opened"),
        ("max(amount", "(", "never closed"),
        ("max(amount)", "max(amount)", "at least 2 parts, not 1"),
        ("abs(1, 2)", "abs(1, 2)", "takes 1 part, not 2"),
        ("round()", "round()", "1 or 2 parts, not 0"),
        ("sqrt(amount)", "sqrt", "no function 'sqrt': use if, min"),
        ("net margin", "margin", "`backticks` or [brackets]"),
        ("if amount > 3", "amount", "if(condition"),
        ("1 < amount < 3", "<", "two things at a time"),
        ("if(amount > 'x', 1, 2)", "amount > 'x'", "numbers compare with numbers"),
        ("if(segment < 'x', 1, 2)", "segment < 'x'", "by == and != only"),
        ("segment * 2", "segment", "text where a number"),
        ("member * 2", "member", "if(..., 1, 0)"),
        ("amount > 3", "amount > 3", "true or false"),
        ("if(amount, 1, 2)", "amount", "a condition is expected"),
        ("if(member, 1, 'x')", "'x'", "this is a text, the part before it a number"),
        ("'vip'", "'vip'", "text where a number"),
        ("amount / deductible", "deductible", "row 2: division by zero"),
        ("'vip", "'", "has no end"),
        ("`net margin", "`", "has no end"),
        ("[net margin", "[", "has no end"),
        ("round(amount, deductible)", "deductible", "whole number"),
        ("if(missing(3), 1, 2)", "3", "about a column"),
        ("1e301", "1e301", "beyond 1e300"),
        ("amount ? 3", "?", "no meaning"),
        ("(" * 80 + "1" + ")" * 80, "(", "more than 60 steps"),
        ("-" * 90 + "1", "-", "more than 60 steps"),
        ("+".join(["(1+1)"] * 100), ")", "more than 250 pieces"),
    ],
)
def test_what_is_wrong_is_pointed_at(text, pointed, says):
    with pytest.raises(ExpressionError) as raised:
        expression(text)(TABLE)
    message = str(raised.value)
    assert says in message
    *_, shown, carets = message.split("\n")
    assert shown == f"  {text}"
    start = carets.index("^")
    assert shown[start : len(carets)] == pointed or (not pointed and carets.endswith("^"))


def test_missing_prices_name_their_row_and_what_to_do():
    table = {"amount": [1.0, None, np.nan], "odd name": ["a", None, "b"]}
    with pytest.raises(ExpressionError, match=re.escape("row 1: 'amount' is missing, in 2 of 3")):
        expression("2 * amount")(table)
    with pytest.raises(ExpressionError, match=re.escape("if(missing(`odd name`), 0")):
        expression("if([odd name] == 'a', 1, 2)")(table)
    for make in (dict, pd.DataFrame, pl.DataFrame):
        clean = {"amount": [1.0, None, 2.0], "n": [1, 1, 1]}
        assert expression("if(missing(amount), 50, amount)")(make(clean)).tolist() == [1, 50, 2]


def test_missing_truths():
    table = pl.DataFrame({"vip": [True, None]})
    with pytest.raises(ExpressionError, match="row 1: 'vip' is missing"):
        expression("if(vip, 1, 2)")(table)
    assert expression("if(missing(vip), 9, if(vip, 1, 2))")(table).tolist() == [1, 9]


def test_dates_and_lists_are_no_prices():
    table = pl.select(day=pl.date(2026, 1, 1), many=pl.lit([1, 2]))
    with pytest.raises(ExpressionError, match="holds dates"):
        expression("day")(table)
    with pytest.raises(ExpressionError, match="numbers, strings or booleans"):
        expression("many * 2")(table)


def test_arrays_without_names_are_refused():
    with pytest.raises(ValueError, match="give a DataFrame"):
        expression("amount")(np.ones((2, 2)))
    with pytest.raises(ValueError, match="different lengths"):
        expression("a")({"a": [1], "b": [1, 2]})


def test_no_rows_and_one_row():
    assert expression("2 * a")(pl.DataFrame({"a": []}, schema={"a": pl.Float64})).shape == (0,)
    assert expression("2 * a")(pd.DataFrame({"a": [4]})).tolist() == [8]


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1.0, 1e6, 1e200])
def test_prices_scale_with_their_column(size):
    table = {"amount": [size * x for x in (1.0, 3.0, 7.0)]}
    got = expression("0.5 * amount")(table)
    assert got.tolist() == [0.5 * x for x in table["amount"]]


def test_prices_beyond_floats_are_refused():
    with pytest.raises(ExpressionError, match="row 1: the price is beyond"):
        expression("amount * amount")({"amount": [1.0, 1e200]})


def test_what_an_expression_says_of_itself():
    made = expression(" 0.75 * amount + `net margin` - amount ")
    assert made.columns == ("amount", "net margin")
    assert (made.text, made.constant, made.column) == (made.text.strip(), None, None)
    assert expression("-2.5").constant == -2.5
    assert expression("`net margin`").column == "net margin"
    assert made == expression(made.text)
    assert hash(made) == hash(expression(made.text))
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again({"amount": [4.0], "net margin": [1.0]}).tolist() == [0.0]
    error = pickle.loads(pickle.dumps(ExpressionError("a b", Span(2, 3), "what")))
    assert str(error).endswith("  ^")


def test_errors_reach_the_user_as_they_are():
    with pytest.raises(ExpressionError, match="did you mean 'amount'"):
        Costs(fp=1, fn=expression("amuont")).bind_table(pd.DataFrame(TABLE))


def test_costs_by_expression():
    costs = Costs(fp=8, fn=expression("0.75 * amount + 20"), positive="yes")
    assert repr(costs) == "Costs(fp=8, fn=expression('0.75 * amount + 20'), positive='yes')"
    assert "a false negative costs 0.75 * amount + 20" in costs.describe()
    assert costs.column_names == ["amount"]
    assert costs.names_every_column
    assert costs == pickle.loads(pickle.dumps(costs))
    doubled = (2 * costs).bind_table(pd.DataFrame(TABLE))
    assert doubled.fn.tolist() == [190, 100, 40, 43.75]
    with pytest.raises(ValueError, match="row 0: the expression '0 - amount'"):
        Costs(fp=8, fn=expression("0 - amount")).bind_table(pd.DataFrame(TABLE))


def test_models_by_expression_decide_and_are_saved(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.lognormal(3, 1, 400), "b": rng.normal(size=400)})
    y = (X["b"] + rng.normal(size=400) > 1).to_numpy()
    costs = Costs(fp=8, fn=expression("max(2 * amount - 5, 1)"))
    by_row = Costs(fp=8, fn=np.maximum(2 * X["amount"].to_numpy() - 5, 1))
    model = CostBoostClassifier("adamec", 5, costs=costs, random_state=0).fit(X, y)
    assert np.array_equal(model.predict(X), model.predict(X, costs=by_row))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.costs == costs
    assert isinstance(again.costs_.fn, Expression)
    assert np.array_equal(again.predict(X), model.predict(X))
    inside = CostColumns(CostBoostClassifier("adamec", 5), costs=costs, drop=True).fit(X, y)
    assert inside.dropped_ == ["amount"]


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("if(missing(segment), 1, if(segment == 'vip', 3, 2))", 1),
        ("if(missing(member), 1, if(member, 3, 2))", 1),
        ("if(missing(segment), 1, if(segment == if(member, 'a', segment), 3, 2))", 1),
        ("if(missing(amount), 1, amount * 2)", 1),
        ("if(missing(amount) and missing(segment), 4, if(amount == segment, 1, 2))", 4),
    ],
)
def test_one_row_whose_columns_are_all_missing(make, text, price):
    row = {"segment": [None], "member": [None], "amount": [None]}
    assert expression(text)(make(row)).tolist() == [price]
    beside = {name: [*cells, known] for (name, cells), known in zip(
        row.items(), ("vip", True, 2.0), strict=True)}  # fmt: skip
    if "amount == segment" not in text:
        assert expression(text)(pd.DataFrame(beside))[0] == price
    for asked in ("segment == 'vip'", "member", "amount > 1"):
        with pytest.raises(ExpressionError, match="is missing"):
            expression(f"if({asked}, 1, 2)")(make(row))

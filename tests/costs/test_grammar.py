"""The text of a price becomes a tree, or an error that points into it."""

import pytest

from costboost.costs import ExpressionError, expression
from costboost.costs.grammar import (
    MAX_LENGTH,
    Call,
    Name,
    Number,
    Operation,
    Span,
    Text,
    columns_of,
    parse,
)


@pytest.mark.parametrize("text", ["", "   ", None, 3, "1+" * 2000])
def test_what_is_no_expression_at_all(text):
    with pytest.raises(ExpressionError):
        expression(text)


def shown(node):
    """The tree with all its brackets."""
    if isinstance(node, Number):
        return f"{node.value:g}"
    if isinstance(node, Name | Text):
        return node.name if isinstance(node, Name) else repr(node.value)
    parts = [shown(part) for part in node.parts]
    if isinstance(node, Call):
        return f"{node.function}({', '.join(parts)})"
    return f"({f' {node.sign} '.join(parts)})" if len(parts) > 1 else f"({node.sign} {parts[0]})"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c - d", "((a + (b * c)) - d)"),
        ("a - b - c", "((a - b) - c)"),
        ("a / b * c", "((a / b) * c)"),
        ("-a * b", "((- a) * b)"),
        ("- -a + +b", "((- (- a)) + b)"),
        ("not a == b or c and d", "((not (a == b)) or (c and d))"),
        ("a + 1 < b * 2 and not not c", "(((a + 1) < (b * 2)) and (not (not c)))"),
        ("(a or b) and c", "((a or b) and c)"),
        ("max(a, min(b, 1), if(c, 2, 3))", "max(a, min(b, 1), if(c, 2, 3))"),
        (".5 + 1. + 1e-3", "((0.5 + 1) + 0.001)"),
        ("`a``b` + [c d] + `if`", "((a`b + c d) + if)"),
        ("x == 'it''s' ", '(x == "it\'s")'),
        ('x != "say ""no"""', "(x != 'say \"no\"')"),
        ("min + max", "(min + max)"),
    ],
)
def test_operators_bind_as_the_page_says(text, expected):
    assert shown(parse(text)) == expected


def test_every_node_knows_its_characters():
    text = " max(amount - `own share`, 0)/2"
    tree = parse(text)
    assert isinstance(tree, Operation)

    def pieces(node):
        own = text[node.span.start : node.span.stop]
        return [own, *(p for part in getattr(node, "parts", ()) for p in pieces(part))]

    assert pieces(tree) == [
        "max(amount - `own share`, 0)/2",
        "max(amount - `own share`, 0)",
        "amount - `own share`",
        "amount",
        "`own share`",
        "0",
        "2",
    ]


def test_columns_are_named_once_in_the_order_they_come():
    assert columns_of(parse("b + if(a == 'c', b, [a b])")) == ("b", "a", "a b")
    assert columns_of(parse("max(1, 2)")) == ()


def test_errors_point_at_one_line_whatever_was_typed():
    error = ExpressionError("a\n\tb", Span(3, 4), "what")
    assert str(error) == "what\n  a  b\n     ^"
    with pytest.raises(ExpressionError) as caught:
        parse("1 +\n*")
    assert caught.value.span == (4, 5)
    with pytest.raises(ExpressionError, match="has 2,001 characters, more than 2,000"):
        parse("1" * (MAX_LENGTH + 1))
    with pytest.raises(ExpressionError, match="beyond 1e300"):
        parse("1" * MAX_LENGTH)


def test_deep_trees_are_refused_however_they_are_deep():
    for deep in ("(" * 61 + "1" + ")" * 61, "-" * 61 + "1", "+".join("1" * 62), "not " * 61 + "a"):
        with pytest.raises(ExpressionError, match="more than 60 steps"):
            parse(deep)
    parse("+".join("1" * 61))

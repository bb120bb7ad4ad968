"""Literals of C mean what Python means."""

import re

import numpy as np
import pytest

from costboost.deploy.c_trees import array, number, string


@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_are_exact_at_every_size(sign):
    rng = np.random.default_rng(0)
    odd = [0.0, 1.0, 0.1, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 / 3, 2.0**60]
    for value in [*odd, *10.0 ** rng.uniform(-300, 300, 200)]:
        text = number(sign * value)
        assert float.fromhex(text) == sign * value
        assert np.signbit(float.fromhex(text)) == (sign < 0)
        assert re.fullmatch(r"-?0x[01](\.[0-9a-f]*[1-9a-f])?p[+-]\d+", text), text  # no lone point
    assert (number(np.inf), number(-np.inf)) == ("INFINITY", "-INFINITY")


def read_back(literal):
    """Return the text of a string literal, as a compiler of C reads it."""
    assert re.fullmatch(r'"([ -!#-\[\]-~]|\\[0-7]{3})*"', literal)
    assert "??" not in literal
    data = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), literal[1:-1].encode())
    return data.decode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        'a "b" ??/ \\n',
        "\n1",
        "\t\r\x01\x7f",
        "%d */ //",
        "\N{SNOWMAN}9",
        "\udc80",
        "\xe9",
    ],
)
def test_texts_are_what_they_were(text):
    assert read_back(string(text)) == text


def test_a_text_that_would_end_early_is_refused():
    with pytest.raises(ValueError, match="zero character"):
        string("a\0b")


def test_arrays_have_all_their_items_and_no_long_lines():
    items = [str(7**k) for k in range(40)]
    text = array("double", "sizes", iter(items))
    head, *lines, end = text.splitlines()
    assert head == "static const double sizes[40] = {"
    assert end == "};"
    assert [item.strip() for item in "".join(lines).split(",")] == items
    assert len(lines) > 3
    assert max(map(len, lines)) <= 100
    wide = array("char *const", "words", ["x" * 150, "y"])
    assert wide.splitlines()[1:3] == [f"    {'x' * 150},", "    y"]

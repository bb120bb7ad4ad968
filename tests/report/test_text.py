"""Numbers and labels as text."""

import numpy as np

from costboost.report.text import esc, label, money, number, percent


def test_numbers_are_english():
    assert number(1234567.891, 2) == "1,234,567.89"
    assert number(-0.004, 2) == "0.00"
    assert number(2.5) == "3"
    assert number(-1234.5) == "-1,235"
    assert money(-1234.567, "EUR") == "-EUR 1,234.57"
    assert money(5, "\u20ac") == "\u20ac5.00"
    assert money(-0.001, "$") == "$0.00"
    assert [percent(x) for x in (0, 0.0994, 0.0996, 1, -0.25, float("inf"))] == [
        "0.0%", "9.9%", "10%", "100%", "-25%", "-"
    ]  # fmt: skip


def test_texts_are_escaped():
    assert esc("<a href='x'>&\"") == "&lt;a href=&#x27;x&#x27;&gt;&amp;&quot;"
    assert [label(x) for x in (None, float("nan"), 2.0, "a", 3)] == [
        "missing",
        "missing",
        "2",
        "a",
        "3",
    ]


def test_huge_numbers_are_written_with_a_power_of_ten():
    assert number(999999999999999868928.0, 2) == "999,999,999,999,999,868,928.00"
    assert number(1e21, 2) == "1e+21"
    assert number(-1.5e27) == "-1.5e+27"
    assert number(np.float64(2e300)) == "2e+300"
    assert money(-1.5e27, "EUR") == "-EUR 1.5e+27"
    assert money(1e26, "$") == "$1e+26"

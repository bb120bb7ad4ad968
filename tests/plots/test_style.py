"""Numbers as text, legends, styles of curves."""

from costboost.plots import SavingsCurveDisplay
from costboost.plots.style import amount, number, tick_texts
from pictures import legend_texts


def test_a_dollar_is_no_formula(scores):
    y, p = scores
    display = SavingsCurveDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 9}, currency="$", name="costs $5 or $6"
    )
    display.figure_.canvas.draw()
    assert legend_texts(display)[0].startswith(r"costs \$5 or \$6: saves \$")
    assert display.ax_.get_ylabel() == r"Saved (\$)"


def test_numbers_as_text():
    assert [number(v) for v in (0, 0.5, 12.345, 1234.5, 0.00012345, 99.96)] == [
        "0",
        "0.5",
        "12.3",
        "1,234",
        "0.000123",
        "100.0",
    ]
    assert [amount(v, "EUR") for v in (0, 12.345, -1234.4)] == [
        "0.00 EUR",
        "12.35 EUR",
        "-1,234 EUR",
    ]
    assert [amount(v, "$") for v in (12.5, -3)] == ["$12.50", "-$3.00"]
    assert amount(0.25, None) == "0.25"
    assert tick_texts([-1.0, -0.0, 1.0]) == ["-1", "0", "1"]
    assert tick_texts([1e15, 2e15]) == ["1e+15", "2e+15"]
    assert tick_texts([1e-7, 2e-7]) == ["1e-07", "2e-07"]
    assert tick_texts([]) == []

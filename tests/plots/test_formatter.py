"""Ticks as people write numbers, on linear and on logarithmic axes."""

import matplotlib.pyplot as plt
import pytest

from costboost.plots._formatter import FullNumbers
from costboost.plots.style import plain_ticks


def formatter_on(scale):
    _, ax = plt.subplots()
    ax.set_yscale(scale)
    plain_ticks(ax.yaxis)
    return ax.yaxis.get_major_formatter()


def test_linear_ticks_have_equally_many_decimals():
    on = formatter_on("linear")
    assert on.format_ticks([0, 2500, 12_500]) == ["0", "2,500", "12,500"]
    assert on.format_ticks([0, 0.5, 1]) == ["0.0", "0.5", "1.0"]
    assert on.format_ticks([]) == []


@pytest.mark.parametrize("scale", ["log", "logit"])
def test_logarithmic_ticks_have_as_many_digits_as_each_needs(scale):
    texts = formatter_on(scale).format_ticks([1e-300, 0.0001, 0.05, 0.999, 1, 1e4, 1e11, 1e12])
    assert texts == [
        "1e-300", "0.0001", "0.05", "0.999", "1", "10,000", "100,000,000,000", "1e+12",
    ]  # fmt: skip


def test_the_value_under_the_pointer_has_three_digits():
    assert [FullNumbers()(v) for v in (0, 12_345.6, 0.12345)] == ["0", "12,346", "0.123"]


def test_an_axis_of_ticks_alone_has_no_scale():
    alone = FullNumbers()
    alone.create_dummy_axis()
    assert alone.format_ticks([0, 1000]) == ["0", "1,000"]

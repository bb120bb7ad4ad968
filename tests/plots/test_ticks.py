"""Ticks as people write numbers, and no more than fit."""

import re
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costboost.costs import Costs
from costboost.plots import SavingsCurveDisplay, ThresholdCostDisplay
from costboost.plots.style import few_ticks, plain_ticks


def test_money_is_written_out_on_the_axis(scores):
    y, p = scores
    costs = Costs(fp=1e5, fn=np.full(len(y), 4e5))
    for cls in (ThresholdCostDisplay, SavingsCurveDisplay):
        display = cls.from_predictions(y, p, costs=costs, normalize=False, currency="EUR")
        display.figure_.canvas.draw()
        ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert any(re.fullmatch(r"\d{1,3}(,\d{3})+", tick) for tick in ticks)
        assert display.ax_.yaxis.get_offset_text().get_text() == ""
        assert display.ax_.get_ylabel().endswith("(EUR)")


@pytest.mark.parametrize("width", [1.5, 3, 6.8, 14])
@pytest.mark.parametrize("limits", [(0, 1), (0, 25_000), (-1e6, 1e6), (0.001, 0.0017), (5, 0)])
def test_ticks_along_x_stand_apart_and_there_are_some(width, limits):
    figure, ax = plt.subplots(figsize=(width, 3))
    ax.set_xlim(limits)
    plain_ticks(ax.xaxis)
    few_ticks(ax)
    figure.canvas.draw()
    low, high = sorted(limits)
    shown = [t for t in ax.xaxis.get_major_ticks() if low <= t.get_loc() <= high]
    boxes = sorted((t.label1.get_window_extent() for t in shown), key=lambda box: box.x0)
    assert 1 <= len(boxes) <= 9
    for one, other in pairwise(boxes):
        assert one.x1 < other.x0
    if width == 14:
        assert len(boxes) >= 4


def test_minor_ticks_of_a_logarithmic_axis_are_not_written():
    figure, ax = plt.subplots()
    ax.set_yscale("log")
    ax.set_ylim(2, 9)  # no power of ten: matplotlib would label the minor ticks
    plain_ticks(ax.yaxis)
    figure.canvas.draw()
    assert {tick.label1.get_text() for tick in ax.yaxis.get_minor_ticks()} <= {""}

"""Ticks as people write numbers, and no more than fit."""

import re

import numpy as np

from costboost.costs import Costs
from costboost.plots import SavingsCurveDisplay, ThresholdCostDisplay


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

"""One decision as a waterfall: bars that add up from base to total."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier, Costs, GradientBoostRegressor
from costboost.plots import DecisionDisplay
from pictures import mixed_table


def test_a_waterfall_goes_from_base_to_total():
    X, y = mixed_table()
    model = CostBoostClassifier("adamec", 8, cv=3, random_state=0).fit(X, y)
    costs = Costs(fp=1, fn=5, positive=True)
    display = DecisionDisplay.from_estimator(model, X[3:4], costs=costs, n_columns=3)
    seen = display.explanation
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_]
    assert ends[0][0] == pytest.approx(seen.base)
    assert ends[-1][1] == pytest.approx(seen.total)
    for (_, stop), (start, _) in pairwise(ends):
        assert stop == pytest.approx(start)
    assert len(ends) <= 4
    widths = [stop - start for start, stop in ends]
    assert widths[::-1][:3] == pytest.approx([part.added for part in seen.parts[:3]])
    assert "expected cost" in display.ax_.get_title(loc="left")
    display.figure_.canvas.draw()


def test_a_waterfall_of_a_regressor_and_of_nothing():
    X, _ = mixed_table()
    model = GradientBoostRegressor(n_estimators=3).fit(X, X["c0"])
    assert "predicts" in DecisionDisplay.from_estimator(model, X[:1]).ax_.get_title(loc="left")
    flat = pd.DataFrame({"x": np.ones(30)})
    with pytest.warns(UserWarning, match="took no step"):
        model = GradientBoostRegressor(n_estimators=3).fit(flat, np.arange(30.0))
    display = DecisionDisplay.from_estimator(model, flat[:1])
    assert len(display.bars_) == 0
    display.figure_.canvas.draw()

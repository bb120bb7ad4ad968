"""The tornado: bars from the bill at the means, the widest on top, both intervals below."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.costs import uncertain
from costboost.decisions import Parity
from costboost.plots import PriceSensitivityDisplay

COSTS = Costs(fp=uncertain(2, low=0.5, high=2), fn=uncertain(10, low=0.6, high=1.2))


def test_bars_are_the_bills():
    y, proba = [0, 1, 0, 1], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.9, 0.1]]
    display = PriceSensitivityDisplay.from_predictions(y, proba, costs=COSTS, currency="EUR")
    found = display.sensitivity
    low, high = ([bar.get_width() for bar in bars] for bars in display.bars_)
    for j, one in enumerate(found.effects):
        assert found.rows.total + low[j] == pytest.approx(one.cost_low)
        assert found.rows.total + high[j] == pytest.approx(one.cost_high)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[-2:] == ["all prices together", "the rows"]
    assert len(names) == 4
    assert "EUR" in display.ax_.get_xlabel()
    again = display.plot(ax=plt.figure().gca())
    assert again is display
    plt.close("all")


def test_of_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    model = CostBoostClassifier("adamec", n_estimators=5, random_state=0).fit(X, y, costs=COSTS)
    display = PriceSensitivityDisplay.from_estimator(model, X, y)
    other = PriceSensitivityDisplay.from_predictions(y, model.predict_proba(X), costs=COSTS)
    assert display.sensitivity.rows == other.sensitivity.rows
    taken = model.decide(X, regret="minimax").codes
    expected = COSTS.bind([0, 1]).decide(model.predict_proba(X), regret="minimax")
    np.testing.assert_array_equal(taken, expected)
    with pytest.raises(ValueError, match="leave out capacity="):
        model.decide(X, regret="minimax", capacity={1: 3})
    with pytest.raises(ValueError, match="leave out parity="):
        model.decide(X, regret="minimax", parity=Parity(np.arange(300) % 2))
    plt.close("all")

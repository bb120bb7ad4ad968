"""What parity costs, as drawn."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from costboost import Costs, MinimumCostClassifier
from costboost.decisions import Parity
from costboost.plots import FairnessFrontierDisplay


def test_curves_are_those_of_the_decisions_at_each_difference():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(900, 3)), columns=list("abc"))
    X["region"] = np.where(generator.random(900) < 0.04, 2, (X["a"] > 0.4).astype(int))
    y = np.where(X["a"] + generator.normal(size=900) > 1, "bad", "good")
    costs = Costs(fp=3, fn=10, positive="bad")
    model = MinimumCostClassifier(LogisticRegression(), costs=costs, random_state=0).fit(X, y)
    display = FairnessFrontierDisplay.from_estimator(
        model, X, Parity("region"), n_points=4, currency="EUR"
    )
    found = display.frontier
    assert found.within[-1] == 0
    assert (np.diff(found.cost) >= -1e-9).all()
    np.testing.assert_allclose(found.group_costs.sum(axis=1), found.cost)
    np.testing.assert_allclose(np.ptp(found.rates, axis=1), found.within, atol=1e-6)
    for k in (0, 1, 2):
        plan = model.decide(X, parity=Parity("region", within=float(found.within[k]) + 1e-9))
        assert 0 <= plan.expected_cost - found.cost[k] + 1e-6 < 4 * 10  # a few rows at most
    free = model.decide(X)
    assert np.isclose(found.cost[0], free.expected_cost)
    np.testing.assert_allclose(display.lines_[0].get_ydata(), found.cost - found.cost[0])
    assert display.ax_.get_xlim()[1] == 0
    labels = [text.get_text() for text in display.legend_.get_texts()]
    assert any(", few" in label for label in labels)

"""Price lists with names, against loops: on the metric, the command line, the page, the picture."""

import json

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costboost import Costs
from costboost.metrics import scenario_costs, total_cost
from costboost.plots import ScenarioDisplay


def problem(labels=("a", "b"), n=200, scale=1.0):
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, n)
    y = np.where(rng.random(n) < p, labels[1], labels[0])
    amount = rng.lognormal(3, 1, n) * scale
    scenarios = {
        "today": Costs(fp=5 * scale, fn=amount, positive=labels[1]),
        "dear": Costs(fp=25 * scale, fn=amount, positive=labels[1]),
        "same": Costs(fp=5 * scale, fn=amount, positive=labels[1]),
    }
    order = sorted(labels)
    proba = np.stack([p if label == labels[1] else 1 - p for label in order], axis=1)
    return y, proba, scenarios, order


@pytest.mark.parametrize("labels", [("a", "b"), ("good", "bad"), (0, 1)])
@pytest.mark.parametrize("scale", [1e-3, 1e5])
@pytest.mark.parametrize("weighted", [False, True])
def test_bills_of_scenarios(labels, scale, weighted):
    y, proba, scenarios, order = problem(labels, scale=scale)
    w = np.random.default_rng(1).random(200) if weighted else np.ones(200)
    given = w if weighted else None
    found = scenario_costs(y, proba, scenarios=scenarios, sample_weight=given)
    today = scenarios["today"].bind(order).decide(proba)
    for one in found:
        costs = scenarios[one.name].bind(order)
        own = costs.decide(proba)
        assert one.cost.total == pytest.approx(total_cost(y, own, costs=costs, sample_weight=w))
        kept = total_cost(y, today, costs=costs, sample_weight=w)
        assert one.unchanged.total == pytest.approx(kept)
        assert one.saved.total == pytest.approx(kept - one.cost.total, abs=1e-9 * scale)
        assert one.differ == pytest.approx(w[own != today].sum() / w.sum())
        assert one.constant == pytest.approx(costs.cheapest_constant(y, w)[1])
    assert found[1].differ > 0
    assert found[2].saved == (0, 0, 0)


def test_wrong_scenarios():
    y, proba, scenarios, _ = problem()
    with pytest.raises(ValueError, match="at least two price lists by name"):
        scenario_costs(y, proba, scenarios={"today": scenarios["today"]})
    with pytest.raises(ValueError, match="at least two price lists by name"):
        scenario_costs(y, proba, scenarios=list(scenarios.values()))
    other = Costs.from_matrix(np.ones((2, 3)), classes=["a", "b"], actions=["x", "y", "z"])
    with pytest.raises(ValueError, match="'odd' has the actions"):
        scenario_costs(y, proba, scenarios={**scenarios, "odd": other})


def test_picture():
    y, proba, scenarios, _ = problem()
    display = ScenarioDisplay.from_predictions(y, proba, scenarios=scenarios, currency="EUR")
    kept, own = ([float(bar.get_width()) for bar in bars] for bars in display.bars_)
    assert kept == pytest.approx([one.unchanged.total for one in display.scenarios])
    assert own == pytest.approx([one.cost.total for one in display.scenarios])
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[0] == "today"
    assert "decided differently" in names[1]
    json.dumps([one._asdict() for one in display.scenarios])
    plt.close("all")

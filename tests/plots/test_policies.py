"""Policies as bars of what they cost."""

import numpy as np
import pytest

from costboost import Costs
from costboost.metrics import total_cost
from costboost.plots import PolicyDisplay
from pictures import legend_sentences


def test_policies_are_bars_of_what_they_cost(lending):
    model, X, y, costs = lending
    policies = {
        "approve all": np.repeat("approve", 800),
        "model": model.predict(X, costs=costs),
        "20 reviews": model.decide(X, costs=costs, capacity={"review": 20}).decisions,
    }
    display = PolicyDisplay.from_decisions(
        y, policies, costs=costs, baseline="approve all", currency="EUR"
    )
    paid = [total_cost(y, decided, costs=costs) for decided in policies.values()]
    np.testing.assert_allclose(display.costs, paid)
    assert np.all((display.low < paid) & (paid < display.high))
    ends = [bar.get_x() + bar.get_width() for bar in display.bars_[-1]]
    np.testing.assert_allclose(ends, paid)
    assert legend_sentences(display) == [
        "rows answered approve",
        "rows answered review",
        "95 % interval",
    ] or legend_sentences(display)[2].startswith("rows answered decline")
    notes = [text.get_text() for text in display.ax_.texts]
    assert "saves" in notes[1]
    assert "saves" not in notes[0]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == list(policies)
    weighted = PolicyDisplay.from_decisions(
        y, policies, costs=costs, sample_weight=np.full(800, 2.0)
    )
    np.testing.assert_allclose(weighted.costs, 2 * np.array(paid))


def test_policies_that_earn_are_one_bar_each():
    loan = Costs(fp=0, fn=300, tn=-40, benefits=True)
    y = [0, 0, 0, 1, 1, 0]
    display = PolicyDisplay.from_decisions(
        y, {"grant": [0] * 6, "model": [0, 0, 1, 1, 0, 0]}, costs=loan
    )
    assert display.costs.tolist() == [440.0, 180.0]
    assert len(display.bars_) == 1
    assert display.ax_.get_xlim()[0] < 0


def test_wrong_policies_are_refused():
    with pytest.raises(ValueError, match="policies is empty"):
        PolicyDisplay.from_decisions([0, 1], {})
    with pytest.raises(ValueError, match="baseline='b' is not one of"):
        PolicyDisplay.from_decisions([0, 1], {"a": [0, 1]}, baseline="b")

"""Exchanges of decisions as drawn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from costboost.metrics import compare_decisions
from costboost.plots import SwapDisplay


def test_bars_are_what_was_found():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(300, 2))
    y = (X[:, 0] + generator.normal(size=300) > 1).astype(int)
    model = LogisticRegression().fit(X, y)
    prices = {"fp": 5, "fn": 40}
    old = generator.integers(0, 2, 300)
    swap = compare_decisions(old, model, X, y, costs=prices)
    display = SwapDisplay.from_swap(swap, currency="EUR")
    lines = [*reversed(swap.exchanges), swap.total]
    for name in ("expected", "realised"):
        drawn = [bar.get_width() for bar in display.bars_[name]]
        np.testing.assert_allclose(drawn, [getattr(line, name).total for line in lines])
    assert [text.get_text().split("\n")[0] for text in display.ax_.get_yticklabels()][-1] == "all"
    assert "EUR" in display.ax_.get_xlabel()


def test_nothing_known_is_refused():
    swap = compare_decisions([0, 1], [1, 0], np.zeros((2, 1)), costs={"fp": 1, "fn": 1})
    with pytest.raises(ValueError, match="nothing to draw"):
        SwapDisplay.from_swap(swap)

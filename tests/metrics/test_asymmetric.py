"""Prices of predicted numbers, by hand and against the pinball loss."""

import numpy as np
import pytest
from sklearn.metrics import mean_pinball_loss

from costboost.metrics import asymmetric_cost


def test_asymmetric_cost():
    rng = np.random.default_rng(0)
    y, answer, weight = rng.normal(size=(3, 100))
    weight = np.abs(weight)
    ours = asymmetric_cost(y, answer, over=2, under=6, sample_weight=weight)
    theirs = 8 * mean_pinball_loss(y, answer, alpha=0.75, sample_weight=weight)
    assert ours == pytest.approx(theirs, rel=1e-12)
    over, under = rng.uniform(size=(2, 100))
    by_hand = sum(
        o * (p - t) if p > t else u * (t - p)
        for t, p, o, u in zip(y, answer, over, under, strict=True)
    )
    total = asymmetric_cost(y, answer, over=over, under=under, normalize=False)
    assert total == pytest.approx(by_hand)
    with pytest.raises(ValueError, match="over has shape"):
        asymmetric_cost(y, answer, over=[1, 2])
    with pytest.raises(ValueError, match="negative"):
        asymmetric_cost(y, answer, under=-1)
    with pytest.raises(ValueError, match="rows"):
        asymmetric_cost(y, answer[:-1])

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


def test_rows_without_weight_and_extreme_prices():
    y, answer = [1.0, 1.0, 1.0], [3.0, 0.0, 1.0]
    assert asymmetric_cost(y, answer, over=2, under=[0, 9, 0]) == pytest.approx((4 + 9) / 3)
    assert asymmetric_cost(y, answer, over=2, under=9, sample_weight=[1, 0, 1]) == 2
    assert asymmetric_cost(y, answer, over=1e-300, under=1e300, sample_weight=[1, 0, 0]) == 2e-300
    huge = asymmetric_cost([0.0] * 1000, [1.0] * 1000, over=1e300)
    assert huge == pytest.approx(1e300)


def test_totals_keep_the_size_of_weights_and_means_do_not():
    given = {"over": 1, "under": 3, "sample_weight": [10, 20]}
    assert asymmetric_cost([100, 120], [110, 115], normalize=False, **given) == 100 + 300
    assert asymmetric_cost([100, 120], [110, 115], **given) == pytest.approx(400 / 30)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="y_true"):
        asymmetric_cost([1.0, bad], [1.0, 1.0])
    with pytest.raises(ValueError, match="y_pred"):
        asymmetric_cost([1.0, 1.0], [1.0, bad])
    with pytest.raises(ValueError, match="at least one row"):
        asymmetric_cost([], [])

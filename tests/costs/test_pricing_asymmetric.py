"""What a number costs that is too large or too small."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost.costs.pricing import price_errors
from costboost.metrics import asymmetric_cost


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("by_row", [False, True])
def test_units_above_and_below_have_their_prices(scale, by_row):
    rng = np.random.default_rng(0)
    target, answer = scale * rng.normal(size=(2, 40))
    answer[:5] = target[:5]
    over, under = rng.uniform(1, 9, (2, 40)) if by_row else (2.0, 7.0)
    expected = [
        o * max(a - t, 0) + u * max(t - a, 0)
        for t, a, o, u in np.broadcast(target, answer, over, under)
    ]
    paid = price_errors(target, answer, over, under)
    assert_allclose(paid, expected, rtol=1e-14)
    assert_array_equal(paid[:5], 0)


def test_the_price_of_the_other_side_is_not_asked_for():
    target, answer = np.array([1e10, 0.0, 3.0]), np.array([0.0, 1e10, 3.0])
    paid = price_errors(target, answer, [1e300, 2.0, 1e300], [5.0, 1e300, 1e300])
    assert_array_equal(paid, [5e10, 2e10, 0])


def test_answers_that_are_right_cost_nothing_rather_than_minus_nothing():
    assert not np.signbit(price_errors(np.ones(3), np.ones(3), 2, 3)).any()
    assert str(asymmetric_cost([1, 2], [1, 2], over=2, under=3)) == "0.0"


@pytest.mark.parametrize(
    ("over", "under", "message"),
    [
        (-1, 1, "over is -1, which is negative"),
        (1, [1, np.nan], "row 1: under is nan"),
        ([1, 2, 3], 1, r"over has shape \(3,\); it must be a number, or one for each of 2 rows"),
        (1, [[1, 2]], r"under has shape \(1, 2\)"),
        ("much", 1, "over must be numbers, but they are strings"),
    ],
)
def test_prices_that_are_refused(over, under, message):
    with pytest.raises(ValueError, match=message):
        price_errors(np.zeros(2), np.ones(2), over, under)


def test_no_rows_cost_nothing():
    assert price_errors(np.empty(0), np.empty(0), 1, [1][:0]).shape == (0,)

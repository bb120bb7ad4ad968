"""The nearest value that turns a decision, on costs that are known by hand."""

import numpy as np
import pytest

from costboost.explain.nearest import REFUSED, Axis, Seen, nearest, stretch


def asking(*costs, refused=lambda x: np.zeros(len(x), dtype=bool)):
    """Decide for the cheapest of some actions, each a function of the column."""

    @np.errstate(over="ignore")
    def ask(values):
        expected = np.column_stack([np.broadcast_to(cost(values), len(values)) for cost in costs])
        decided = np.where(refused(values), REFUSED, expected.argmin(axis=1))
        return Seen(decided, np.where(refused(values)[:, None], np.nan, expected.astype(float)))

    return ask


BINS = Axis(np.array([10.0, 20.0, 30.0]))


def test_a_straight_price_turns_at_its_crossing_to_the_last_bit():
    ask = asking(lambda x: x, lambda x: 12.3 + 0 * x)  # the second is cheaper above 12.3
    value, before = nearest(ask, BINS, 3.0, 0)
    assert (before, value) == (12.3, np.nextafter(12.3, np.inf))
    value, before = nearest(ask, BINS, 15.0, 1)
    assert (value, before) == (12.3, np.nextafter(12.3, np.inf))
    assert nearest(ask, Axis(BINS.edges, True), 3.0, 0) == (13.0, 12.0)
    assert nearest(ask, Axis(np.empty(0)), 3.0, 0)[0] == np.nextafter(12.3, np.inf)


def test_the_bins_passed_count_before_the_numbers_between():
    # 12 numbers down, in the same bin; 4 up, in the next.
    ask = asking(lambda x: 0 * x, lambda x: np.where((x <= 24) & (x >= 11), 1.0, -1.0))
    assert nearest(ask, Axis(np.array([0.0, 22.0, 100.0])), 20.0, 0)[0] < 11.0


def test_a_jump_at_an_edge_is_told_from_the_numbers_on_both_sides():
    ask = asking(lambda x: 0 * x, lambda x: np.where(x > 20.0, -1.0, 1.0))
    assert nearest(ask, BINS, 12.0, 0) == (np.nextafter(20.0, np.inf), 20.0)


@pytest.mark.parametrize(
    ("cost", "low", "high"),
    [
        (lambda x: np.abs(x - 14.5) - 1e-6, 14.5 - 1e-6, 14.5),  # a bend between two points
        (lambda x: (x - 17.3) ** 2 - 1e-9, 17.29996, 17.3),
        (lambda x: np.maximum(x, 30.0) - np.maximum(x - 31.0, 0) * 5 - 26.0, 32.24, 32.26),
    ],
)
def test_bends_are_followed_to_where_they_turn(cost, low, high):
    value, _ = nearest(asking(lambda x: 0 * x, cost), BINS, 12.0, 0)
    assert low <= value <= high


def test_prices_that_are_refused_turn_nothing_and_are_searched_up_to():
    refused = lambda x: (x < 7.7) | (x > 1e6)  # noqa: E731
    ask = asking(lambda x: 0 * x, lambda x: x - 7.75, refused=refused)
    value, before = nearest(ask, BINS, 25.0, 0)
    assert value == pytest.approx(7.75, rel=1e-14)
    assert value < before
    never = asking(lambda x: 0 * x, lambda x: x - 7.65, refused=refused)
    assert nearest(never, BINS, 25.0, 0) is None


def test_far_away_is_found_too():
    ask = asking(lambda x: 0 * x, lambda x: 1e40 - x)
    value, _ = nearest(ask, BINS, 15.0, 0)
    assert value == pytest.approx(1e40)
    assert nearest(ask, BINS, np.inf, 1)[0] == pytest.approx(1e40)
    assert nearest(asking(lambda x: 0 * x, lambda x: 1.0 + 0 * x), BINS, 15.0, 0) is None


def test_a_missing_value_is_told_the_lowest_stretch():
    ask = asking(lambda x: 0 * x, lambda x: np.where((x >= 12) & (x <= 14), -1.0, 1.0))
    value, same = nearest(ask, BINS, np.nan, 0)
    assert value == same == 12.0
    assert stretch(ask, BINS, 12.0, 1) == 14.0
    whole = asking(lambda x: 0 * x, lambda x: np.where(x > 11, -1.0, 1.0))
    assert stretch(whole, BINS, 12.0, 1) == 20.0  # its bin ends there


def test_truths_are_two_values():
    ask = asking(lambda x: 0 * x, lambda x: 0.5 - x)
    axis = Axis(np.array([0.5]), True, 0.0, 1.0)
    assert axis.points().tolist() == [0.0, 1.0]
    assert nearest(ask, axis, 0.0, 0) == (1.0, 0.0)


def test_what_is_dearer_near_zero_alone_is_found_in_a_wide_bin():
    # Between 0.0005 and 0.002, of a bin from -1 to a million.
    ask = asking(lambda x: 1.0 * ((x >= 5e-4) & (x <= 2e-3)), lambda x: 0.5 + 0 * x)
    assert nearest(ask, Axis(np.array([-1.0, 1e6])), 5.0, 0) == (2e-3, np.nextafter(2e-3, 1.0))

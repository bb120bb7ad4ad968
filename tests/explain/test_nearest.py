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


def turning_between(low, high):
    """The first action everywhere but from `low` to `high`: flat costs, which bend nowhere."""
    return asking(
        lambda x: 0 * x, lambda x: np.where((np.abs(x) >= low) & (np.abs(x) <= high), -1.0, 1.0)
    )


@pytest.mark.parametrize("width", [1.01 / 16, 0.2, 0.7])
def test_a_turn_as_wide_as_a_sixteenth_of_a_bin_is_found(width):
    # Seven points within each bin, and the middles between them.
    axis = Axis(np.array([1000.0, 1100.0]))
    for start in np.linspace(0.0, 1.0 - width, 101):
        low, high = 1000.0 + 100.0 * start, min(1000.0 + 100.0 * (start + width), 1100.0)
        found = nearest(turning_between(low, high), axis, 1150.0, 0)
        assert found == (high, np.nextafter(high, np.inf)), start


@pytest.mark.parametrize("power", range(-10, 20))
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_turn_between_two_powers_of_ten_is_found_where_no_edge_is_near(power, sign):
    # From half of a power of ten to five times as much: one value of the two signs is nearer.
    ask = turning_between(0.5 * 10.0**power, 5.0 * 10.0**power)
    found = nearest(ask, Axis(np.empty(0)), sign * 10.0 ** (power + 2), 0)
    assert found == (sign * 5.0 * 10.0**power, np.nextafter(sign * 5.0 * 10.0**power, sign * 1e300))


def test_first_looks_are_at_powers_of_ten_and_at_both_ends():
    powers = [float(f"1e{p}") for p in [*range(-10, 21), 50, 100, 200, 300]]
    wanted = sorted([0.0, *powers, *[-p for p in powers]])
    np.testing.assert_allclose(Axis(np.empty(0)).points(), wanted, rtol=1e-15)
    near = Axis(np.array([2.0, 4.0]), lowest=0.0, highest=8.0).points()
    for value in [0.0, 8.0, *np.linspace(2.0, 4.0, 9)]:
        assert np.abs(near - value).min() < 1e-12, value

"""Newton's method in a bracket: one function or many, what ends it, and where it is left."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.formulas import NEVER, Bracket, Tolerance

SHORT = Tolerance(1e-13, 1e-16)
WARY = {"shut": SHORT, "still": SHORT, "takes_last": False, "wary": True}


def cosh(weight):
    """weight e^x + e^-x, least at -ln(weight) / 2."""
    return lambda x: (weight * np.exp(x) - np.exp(-x), weight * np.exp(x) + np.exp(-x))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-18, 18), min_size=1, max_size=6), st.booleans())
def test_many_functions_go_the_way_that_each_goes_alone(logs, wary):
    weights, ways = np.exp(logs), WARY if wary else {"shut": SHORT}
    low, high = np.full(len(weights), -20.0), np.full(len(weights), 20.0)
    together = Bracket(np.zeros(len(weights)), low, high, SHORT, **ways)
    alone = [Bracket(0.0, -20.0, 20.0, SHORT, **ways) for _ in logs]
    together.minimise(cosh(weights))
    found = [part.minimise(cosh(weight)) for part, weight in zip(alone, weights, strict=True)]
    np.testing.assert_array_equal(together.at, found)
    np.testing.assert_allclose(together.at, -0.5 * np.log(weights), rtol=1e-9, atol=1e-9)
    assert np.all(together.done)


def test_steps_that_lead_out_are_halves():
    bracket = Bracket(1.0, 0.0, 8.0, Tolerance(1e-7, 0.0))
    bracket.update(-1.0, 0.1)  # Newton's step would be 10
    assert (bracket.low, bracket.high, bracket.at, bracket.inside) == (1.0, 8.0, 4.5, False)
    bracket.update(1.0, 0.5)
    assert (bracket.low, bracket.high, bracket.at, bracket.inside) == (1.0, 4.5, 2.5, True)


def test_a_wary_search_grows_its_steps_until_the_other_side_is_known():
    def steps(**ways):
        bracket, places = Bracket(0.0, -100.0, 100.0, SHORT, **ways), []
        while len(places) < 5:
            places.append(bracket.at)
            bracket.update(math.copysign(1.0, bracket.at - 30.0), 0.0)
        return places

    assert steps(**WARY) == [0.0, 1.0, 5.0, 21.0, 85.0]
    assert steps() == [0.0, 50.0, 25.0, 37.5, 31.25]


def test_newton_needs_curvature():
    """A slope of 1e-17 that does not bend is not 1e291 wide."""
    for ways, following in (({}, 5e299), (WARY, 1.0)):
        bracket = Bracket(0.0, -1e300, 1e300, SHORT, **ways)
        bracket.update(-1e-17, 0.0)
        assert (bracket.at, bracket.inside) == (following, False)


def test_a_wary_search_leaves_newton_where_the_slope_is_not_halved():
    for wary, following in ((False, 0.2), (True, 1.0)):
        bracket = Bracket(0.0, -1.0, 1.0, SHORT, wary=wary)
        bracket.update(-1.0, 10.0)
        assert bracket.at == pytest.approx(0.1)
        bracket.update(-0.9, 9.0)
        assert bracket.at == pytest.approx(following)


@pytest.mark.parametrize(("takes_last", "at"), [(True, 1.0 + 1e-9), (False, 1.0)])
def test_the_last_step_is_taken_or_not(takes_last, at):
    bracket = Bracket(1.0, 0.0, 2.0, Tolerance(1e-7, 0.0), takes_last=takes_last)
    bracket.update(-1e-9, 1.0)
    assert bracket.done
    assert bracket.at == at


def test_where_the_slope_is_nothing_a_still_search_ends():
    still, restless = (Bracket(1.0, 0.0, 4.0, SHORT, still=how) for how in (SHORT, NEVER))
    for bracket in (still, restless):
        bracket.update(0.0, 1.0)
    assert (still.done, still.at) == (True, 1.0)
    assert (restless.done, restless.at) == (False, 0.5)


@pytest.mark.parametrize("slope", [-1.0, 1.0])
def test_a_function_that_falls_outwards_is_least_at_the_end(slope):
    bracket = Bracket(np.zeros(1), np.array([-7.0]), np.array([7.0]), SHORT, **WARY)
    assert bracket.minimise(lambda x: (np.full_like(x, slope), np.zeros_like(x))) == -7.0 * slope
    assert bracket.done


def test_who_has_arrived_stays_or_goes_on_with_the_others():
    for freezes, at in ((True, 1.0), (False, 1.5)):
        start = np.array([1.0, 1.0])
        bracket = Bracket(start, 0.0, 4.0, Tolerance(1e-7, 0.0), still=SHORT, freezes=freezes)
        bracket.update(np.array([0.0, -1.0]), np.ones(2))
        assert bracket.done.tolist() == [True, False]
        bracket.low = np.zeros(2)
        bracket.high = np.full(2, 4.0)
        bracket.update(np.array([-0.5, 0.0]), np.ones(2))
        assert bracket.at[0] == at


def test_tolerances_are_relative_above_their_absolute_part():
    tolerance = Tolerance(1e-3, 1e-2)
    assert tolerance.holds(0.01, 1.0)
    assert not tolerance.holds(0.011, 10.0)
    assert tolerance.holds(0.011, -11.0)
    assert not NEVER.holds(0.0, 0.0)
    np.testing.assert_array_equal(
        tolerance.holds(np.array([-0.01, 0.02]), np.array([0.0, 5.0])), [True, False]
    )


@pytest.mark.parametrize("log", [-240.0, -150.0, 150.0, 240.0])
def test_a_wary_search_does_not_crawl_along_a_tail(log):
    """Where exponentials fall, each Newton step is one unit long, however far the minimum is."""
    bracket = Bracket(0.0, -1e6, 1e6, close=SHORT, **WARY)
    asked = []

    def derivatives(x):
        asked.append(x)
        return cosh(math.exp(log))(np.clip(x, -500, 500))

    assert bracket.minimise(derivatives) == pytest.approx(-0.5 * log, abs=1e-9)
    assert len(asked) <= 64

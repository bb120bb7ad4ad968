"""Where decisions turn, against every probability and price around."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import Costs
from costboost.explain.turning import stays_within, turning_prices
from explained_decisions import fitted


def test_the_decision_turns_where_it_is_said_to():
    model, X, _ = fitted()
    for i in range(0, 300, 30):
        row = X.iloc[[i]]
        seen = model.explain(row)
        p = seen.probabilities["fraud"]
        within = seen.stays_within
        assert within.label == "fraud"
        assert within.low <= p <= within.high
        costs = model.costs_
        for at, side, other in (
            (within.low, -1e-6, within.below),
            (within.high, 1e-6, within.above),
        ):
            if other is not None:
                shifted = np.array([[1 - at - side, at + side]])
                assert model.classes_[costs.decide(shifted, encoded=True)][0] == other
        for price in seen.turning_prices:
            cells = {"fp": 5.0, "fn": 40.0}
            name = "fp" if price.action == "fraud" else "fn"
            assert cells[name] == price.now
            for factor in (0.999, 1.001):
                cells[name] = price.turns_at * factor
                turned = model.predict(row, costs=Costs(**cells, positive="fraud"))[0] == price.to
                rises = price.turns_at > price.now
                assert turned == (rises == (factor > 1))


@given(seed=st.integers(0, 10**6), n_actions=st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_intervals_hold_every_probability_at_which_the_action_is_cheapest(seed, n_actions):
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 50, size=(2, n_actions)).astype(float)
    grid = np.linspace(0, 1, 401)
    cheapest = np.argmin((1 - grid)[:, None] * C[0] + grid[:, None] * C[1], axis=1)
    for a in np.unique(cheapest):
        within = stays_within(C, int(a), ["no", "yes"], list(range(n_actions)))
        inside = (grid >= within.low - 1e-12) & (grid <= within.high + 1e-12)
        assert np.all(inside[cheapest == a])
        expected = (1 - grid)[:, None] * C[0] + grid[:, None] * C[1]
        assert np.all(expected[inside, a] <= expected[inside].min(axis=1) + 1e-9)


def test_one_action_never_turns():
    C = np.array([[1.0], [2.0]])
    assert turning_prices(C, np.array([0.5, 0.5]), 0, ["a", "b"], ["only"]) == []
    assert stays_within(C, 0, ["a", "b"], ["only"]).below is None


def test_prices_far_apart_turn_at_their_ratio():
    for scale in (1e-300, 1.0, 1e300):
        C = scale * np.array([[0.0, 1.0], [9.0, 0.0]])
        within = stays_within(C, 1, ["ok", "fraud"], ["pay", "check"])
        assert within.low == pytest.approx(0.1)
        assert (within.high, within.below, within.above) == (1.0, "pay", None)


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), n_actions=st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_a_price_just_beyond_the_turning_price_turns_the_decision(seed, n_classes, n_actions):
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 30, size=(n_classes, n_actions)).astype(float)
    p = rng.dirichlet(np.ones(n_classes))
    chosen = int(np.argmin(p @ C))
    found = turning_prices(C, p, chosen, range(n_classes), range(n_actions))
    moves = [abs(price.turns_at - price.now) / price.now for price in found]
    assert moves == sorted(moves)
    for price in found:
        assert C[price.truth, price.action] == price.now
        way = np.sign(price.turns_at - price.now)
        for side in (-1, 1):
            other = C.copy()
            other[price.truth, price.action] = price.turns_at + side * way * 1e-6
            cheapest = np.argsort(p @ other, kind="stable")[0]
            assert cheapest == (price.to if side > 0 else chosen)


def test_classes_that_cannot_be_and_free_answers_turn_nothing():
    C = np.array([[0.0, 5.0], [100.0, 0.0]])
    found = turning_prices(C, np.array([1.0, 0.0]), 0, ["no", "yes"], ["no", "yes"])
    # Class "yes" has no chance, the right answer to "no" is free: only the false alarm is left.
    assert [(price.action, price.truth, price.turns_at) for price in found] == [("yes", "no", 0.0)]


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), n_actions=st.integers(2, 5))
@settings(max_examples=60, deadline=None)
def test_every_price_that_turns_the_decision_is_listed_the_nearest_first(
    seed, n_classes, n_actions
):
    """Scan every price of a mistake, from 0 up to far above all others."""
    rng = np.random.default_rng(seed)
    C = rng.integers(0, 30, size=(n_classes, n_actions)).astype(float)
    p = rng.dirichlet(np.ones(n_classes))
    chosen = int(np.argmin(p @ C))
    found = turning_prices(C, p, chosen, range(n_classes), range(n_actions))
    listed = {(price.truth, price.action): price for price in found}
    assert len(listed) == len(found)
    grid = np.linspace(0.0, 600.0, 6001)  # 0.1 apart
    nearest = {}
    for k, a in np.argwhere(C.min(axis=1, keepdims=True) < C).tolist():
        expected = np.repeat((p @ C)[None, :], len(grid), axis=0)
        expected[:, a] += p[k] * (grid - C[k, a])
        turned = np.flatnonzero(np.argmin(expected, axis=1) != chosen)
        if len(turned):
            at = turned[np.argmin(np.abs(grid[turned] - C[k, a]))]
            nearest[k, a] = grid[at]
            price = listed[k, a]
            assert abs(price.turns_at - grid[at]) <= 0.1 + 1e-9
            assert price.to == np.argmin(expected[at])
    for cell, price in listed.items():  # and no other, within the grid
        assert cell in nearest or not 0.1 < price.turns_at < 599.9
    if nearest:
        moves = {cell: abs(at - C[cell]) / C[cell] for cell, at in nearest.items()}
        first = found[0]
        assert abs(first.turns_at - first.now) / first.now <= min(moves.values()) + 1e-9


def test_prices_beyond_all_numbers_turn_nothing():
    C = np.array([[0.0, 1e300], [1e308, 0.0]])
    found = turning_prices(C, np.array([1.0 - 1e-11, 1e-11]), 0, [0, 1], [0, 1])
    assert [(price.truth, price.action) for price in found] == [(0, 1)]

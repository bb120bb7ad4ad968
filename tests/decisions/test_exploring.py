"""Decisions drawn at random: as often as is logged, within limits, and never a forbidden one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import Costs, GradientBoostClassifier
from costboost.decisions import allocate, explore_decisions
from costboost.metrics import policy_cost

RNG = np.random.default_rng(0)
EXPECTED = RNG.exponential(5, (60, 3))
GROUPS = np.repeat(["a", "b"], 30)


def frequencies(draws, **how):
    """Return how often each row took each action, and the probabilities that were logged."""
    seen, logged = None, None
    rng = np.random.RandomState(1)
    for _ in range(draws):
        plan = explore_decisions(random_state=rng, **how)
        taken = np.eye(len(plan.actions))[plan.codes]
        seen = taken if seen is None else seen + taken
        assert logged is None or np.array_equal(logged, plan.propensities)
        logged = plan.propensities
    return seen / draws, logged


CASES = {
    "three actions": {"expected": EXPECTED, "explore": 0.1},
    "two": {"expected": EXPECTED[:, :2], "explore": 0.3},
    "limited": {"expected": EXPECTED[:, :2], "explore": 0.1, "capacity": {1: 12}},
    "limited by group": {
        "expected": EXPECTED[:, :2], "explore": 0.1, "capacity": {1: 9}, "groups": GROUPS,
    },
    "one of three limited": {"expected": EXPECTED, "explore": 0.1, "capacity": {2: 5}},
    "forbidden": {"expected": EXPECTED, "explore": 0.1, "never": {0: np.arange(60) % 2 == 0}},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_probabilities_are_those_logged(name):
    seen, logged = frequencies(3000, **CASES[name])
    np.testing.assert_allclose(logged.sum(axis=1), 1.0, atol=1e-12)
    error = np.sqrt(logged * (1 - logged) / 3000)
    assert (np.abs(seen - logged) <= 4.5 * error + 1e-12).all()
    share = 1 - np.max(logged, axis=1)
    assert share.mean() == pytest.approx(CASES[name]["explore"])


@pytest.mark.parametrize("name", CASES)
def test_the_number_drawn_is_the_share_and_limits_hold(name):
    how = CASES[name]
    for seed in range(50):
        plan = explore_decisions(**how, random_state=seed)
        assert plan.explored.sum() == round(60 * how["explore"])
        for action, limit in how.get("capacity", {}).items():
            for group in np.unique(GROUPS):
                rows = group == GROUPS if "groups" in how else np.ones(60, dtype=bool)
                assert np.sum(plan.codes[rows] == action) <= limit
        assert (plan.used <= plan.limits).all()
        for action, mask in how.get("never", {}).items():
            assert not (plan.codes[mask] == action).any()
            assert (plan.propensities[mask, action] == 0).all()


def test_nothing_explored_is_the_plan():
    plan = explore_decisions(EXPECTED, {2: 5}, explore=0.0)
    plain = allocate(EXPECTED, {2: 5})
    np.testing.assert_array_equal(plan.codes, plain.codes)
    assert plan.exploration_cost == 0.0
    assert not plan.explored.any()


def test_what_exploring_costs():
    # Over many draws, the plans cost as much more than the cheapest as was expected.
    rng = np.random.RandomState(3)
    plain = allocate(EXPECTED[:, :2], {1: 12}).expected_cost
    plans = [
        explore_decisions(EXPECTED[:, :2], {1: 12}, explore=0.1, random_state=rng)
        for _ in range(2000)
    ]
    more = np.array([plan.expected_cost - plain for plan in plans])
    assert abs(more.mean() - plans[0].exploration_cost) < 4 * more.std() / np.sqrt(2000)
    assert plans[0].exploration_cost > 0


def test_cheaper_rows_are_drawn_more_often_and_none_never():
    gap = np.array([0.0, 1.0, 4.0, 100.0])
    plan = explore_decisions(np.column_stack([np.zeros(4), gap]), explore=0.1)
    chance = plan.propensities[:, 1]
    assert (np.diff(chance) < 0).all()
    assert (chance > 0).all()
    # By hand: in proportion to 1 / sqrt(r + mean r).
    weight = 1 / np.sqrt(gap + gap.mean())
    np.testing.assert_allclose(chance, 0.4 * weight / weight.sum())


def test_least_variance_of_all_that_cost_as_much():
    # Any other way to spend the same share and expected cost has a larger sum of 1 / probability.
    gap = np.random.default_rng(5).exponential(3, 40)
    plan = explore_decisions(np.column_stack([np.zeros(40), gap]), explore=0.05)
    chance = plan.propensities[:, 1]
    rng = np.random.default_rng(6)
    for _ in range(200):
        move = rng.normal(size=40)
        for basis in (np.ones(40), gap - gap.mean()):
            move -= basis * (move @ basis) / (basis @ basis)
        other = chance + 0.2 * chance.min() * move / np.abs(move).max()
        assert other.sum() == pytest.approx(chance.sum())
        assert other @ gap == pytest.approx(chance @ gap)
        assert (1 / other).sum() > (1 / chance).sum()


def test_chances_have_an_end():
    # Most rows have no other action: those that have one are drawn as often as can be.
    never = {1: np.arange(40) >= 10}
    plan = explore_decisions([[0.0, 1.0]] * 40, explore=0.125, never=never)
    np.testing.assert_allclose(plan.propensities[:10], 0.5)
    with pytest.raises(ValueError, match="only 10 have another action"):
        explore_decisions([[0.0, 1.0]] * 40, explore=0.2, never=never)


# ---- What must never be


@pytest.mark.parametrize("limit", [None, {0: 20}])
def test_allocate_never_takes_what_is_forbidden(limit):
    mask = np.arange(60) % 3 == 0
    plan = allocate(EXPECTED, limit, never={0: mask, 1: ~mask})
    # A naive twin: a price that nobody pays.
    priced = EXPECTED.copy()
    priced[mask, 0] = priced[~mask, 1] = 1e6
    assert plan.expected_cost == pytest.approx(allocate(priced, limit).expected_cost)
    assert not (plan.codes[mask] == 0).any()
    assert not (plan.codes[~mask] == 1).any()
    assert plan.unlimited_cost == pytest.approx(priced.min(axis=1).sum())


def test_what_is_forbidden_is_not_for_sale():
    # The second row would save a hundred by the only place, which the first one must have.
    plan = allocate([[0, 1], [100, 0]], {1: 1}, never={0: [True, False]})
    assert plan.codes.tolist() == [1, 0]
    assert plan.expected_cost == 101


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_forbidden_is_not_taken_to_save_all_others_the_most(n, turned):
    # One place in the action that is free for all but the last row, which may take no other.
    expected = np.array([[0.0, 1.0]] * (n - 1) + [[1.0, 0.0]])
    mask = np.arange(n) == n - 1
    if turned:
        expected, mask = expected[::-1], mask[::-1]
    plan = allocate(expected, {0: 1}, never={1: mask})
    assert plan.codes.tolist() == np.where(mask, 0, 1).tolist()
    assert plan.expected_cost == n


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_models_explore_and_read_columns(make):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    vip = rng.uniform(size=600) < 0.2
    table = make({"x": x, "vip": vip})
    y = (x + rng.normal(size=600) > 0).astype(int)
    model = GradientBoostClassifier(n_estimators=5, random_state=0).fit(table, y)
    costs = Costs.of_actions({"pay": {0: 0, 1: 5}, "decline": {0: 1, 1: 0}})
    plan = model.decide(table, costs=costs, explore=0.05, never={"decline": "vip"}, random_state=0)
    assert plan.explored.sum() == 30
    assert not (np.asarray(plan)[vip] == "decline").any()
    strict = model.decide(table, costs=costs, never={"decline": vip})
    np.testing.assert_array_equal(
        np.asarray(plan)[~plan.explored], strict.decisions[~plan.explored]
    )
    again = model.decide(table, costs=costs, explore=0.05, never={"decline": "vip"}, random_state=0)
    np.testing.assert_array_equal(plan.codes, again.codes)
    assert repr(plan).splitlines()[0].startswith("Exploration of 600 rows")
    # Paid ones show their truth; those who are never declined had no other chance.
    seen = np.where(np.asarray(plan) == "pay", y, np.nan)
    with pytest.warns(UserWarning, match="effective rows"):
        found = policy_cost(
            seen, np.full(600, "pay"), costs=costs, log=plan, reveals="pay", labels=[0, 1]
        )
    assert found.known.rows == np.sum(np.asarray(plan) == "pay")
    assert make(plan.log).shape == (600, 5)


def test_a_log_judges_new_policies_without_bias():
    rng = np.random.default_rng(2)
    costs = Costs.of_actions({"pay": {0: 0, 1: 5}, "decline": {0: 1, 1: 0}})
    off = []
    for seed in range(40):
        risk = rng.uniform(0, 0.5, 1500)
        y = (rng.uniform(size=1500) < risk).astype(float)
        proba = np.column_stack([1 - risk, risk])
        plan = explore_decisions(
            costs.bind([0, 1]).expected(proba), explore=0.2, actions=["pay", "decline"],
            random_state=seed,
        )  # fmt: skip
        seen = np.where(plan.decisions == "pay", y, np.nan)
        new = np.where(risk < 0.35, "pay", "decline")
        found = policy_cost(seen, new, costs=costs, log=plan, reveals="pay", labels=[0, 1])
        off.append(found.total - costs.bind([0, 1]).of_decisions(y.astype(int), new).sum())
    assert abs(np.mean(off)) < 3.5 * np.std(off) / np.sqrt(40)


WRONG = {
    "share": ({"explore": 0.7}, "explore=0.7 must be a number at least 0 and at most 0.5"),
    "negative": ({"explore": -0.1}, "explore=-0.1"),
    "word": ({"explore": "1%"}, "explore='1%'"),
    "never": ({"never": "vip"}, r"give a dict of actions, like \{'decline': 'vip'\}"),
    "unknown action": ({"never": {"decline": [True] * 60}}, "the actions are"),
    "column": ({"never": {1: "vip"}}, r"never\[1\]"),
    "mask length": ({"never": {1: [True]}}, "yes or no for each of the 60 rows"),
    "mask values": ({"never": {1: [2] * 60}}, "True and False"),
    "mask missing": ({"never": {1: [np.nan] * 60}}, "True and False"),
    "everything": ({"never": {0: [1] * 60, 1: [1] * 60}}, "row 0: never forbids every action"),
    "places": ({"capacity": {1: 2}}, r"may draw 6 for 1, which is limited to 2"),
    "places by group": ({"capacity": {1: 1}, "groups": GROUPS}, "30 rows in 'a' may draw 3"),
    "forced": (
        {"capacity": {0: 40}, "never": {1: [True] * 60}},
        "must not take 1, but the capacities leave no other action",
    ),
    "all limited": (
        {"expected": EXPECTED, "capacity": {0: 40, 1: 40, 2: 40}},
        "neither forbidden nor limited",
    ),
    "seed": ({"random_state": "now"}, "random_state='now'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_inputs_say_what_to_do(name):
    how, said = WRONG[name]
    with pytest.raises(ValueError, match=said):
        explore_decisions(**{"expected": EXPECTED[:, :2], "explore": 0.1, **how})

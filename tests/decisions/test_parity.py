"""Rates that may differ only so much: against every possible plan of small tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from costboost import Costs, MinimumCostClassifier
from costboost.decisions import Parity, allocate, allocate_parity
from costboost.decisions.parity import read_problem
from costboost.decisions.parity_program import solve_relaxed


def rate_of(plan, rows, of, p):
    """Return a group's rate by the definition; action 1 is the positive class."""
    if of == "rate":
        return sum(plan[i] == 1 for i in rows) / len(rows)
    weight = {i: (p[i] if of == "missed" else 1 - p[i]) for i in rows}
    action = 0 if of == "missed" else 1
    return sum(weight[i] for i in rows if plan[i] == action) / sum(weight.values())


def brute_force(table, groups, within, of, p, capacity):
    """Return the least cost over all plans, or None."""
    n, n_actions = table.shape
    least = None
    members = [np.flatnonzero(groups == g).tolist() for g in np.unique(groups)]
    for plan in product(range(n_actions), repeat=n):
        if any(plan.count(a) > limit for a, limit in capacity.items()):
            continue
        rates = [rate_of(plan, rows, of, p) for rows in members]
        if max(rates) - min(rates) > within + 1e-9:
            continue
        cost = sum(table[i, a] for i, a in enumerate(plan))
        least = cost if least is None or cost < least else least
    return least


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["rate", "missed", "blocked"]),
    st.sampled_from([0.0, 0.1, 0.35, 0.5, 1.0]),
    st.sampled_from([2, 3]),
    st.booleans(),
)
def test_the_cheapest_of_all_plans(seed, of, within, n_actions, limited):
    generator = np.random.default_rng(seed)
    n = 8 if n_actions == 2 else 6
    groups = np.array(["b", "a", "c"])[np.arange(n) % (3 if n_actions == 2 else 2)]
    table = np.round(generator.normal(size=(n, n_actions)) * 10 ** generator.integers(0, 3), 3)
    p = generator.uniform(0.05, 0.95, n)
    capacity = {1: 2} if limited else {}
    least = brute_force(table, groups, within, of, p, capacity)
    parity = Parity(groups, of=of, within=within)
    how = {"proba": np.stack([1 - p, p], axis=1), "classes": [0, 1], "positive": 1}
    if least is None:
        with pytest.raises(ValueError, match="keep the parity and the capacities"):
            allocate_parity(table, capacity or None, parity, **how)
        return
    plan = allocate_parity(table, capacity or None, parity, **how)
    assert plan.expected_cost == pytest.approx(least, abs=1e-4 * np.ptp(table) + 1e-6)
    assert plan.lower_bound <= plan.expected_cost + 1e-6 * np.ptp(table)
    assert plan.difference <= within + 1e-6
    for group, rate in plan.rates.items():
        rows = np.flatnonzero(groups == group)
        assert rate == pytest.approx(rate_of(plan.codes, rows, of, p))
    if limited:
        assert plan.counts[1] <= 2
    free = allocate(table, capacity or None)
    assert plan.parity_cost == pytest.approx(plan.expected_cost - free.expected_cost)
    assert sum(plan.group_costs.values()) == pytest.approx(plan.expected_cost)


def many(n=1500, seed=0):
    generator = np.random.default_rng(seed)
    groups = generator.choice(["north", "south", "west"], n, p=[0.6, 0.37, 0.03])
    p = generator.beta(0.7, 4, n) * np.where(groups == "south", 1.6, 1.0)
    amount = generator.lognormal(4, 1, n)
    return groups, np.clip(p, 0, 1), np.stack([p * amount, np.full(n, 8.0)], axis=1)


def test_the_shadow_price_is_the_slope_of_the_bill():
    groups, p, table = many()
    how = {"proba": np.stack([1 - p, p], axis=1), "classes": [0, 1], "positive": 1}
    bounds = {
        w: allocate_parity(table, None, Parity(groups, of="blocked", within=w), **how)
        for w in (0.019, 0.02, 0.021)
    }
    slope = (bounds[0.019].lower_bound - bounds[0.021].lower_bound) / 0.002
    assert bounds[0.02].shadow_price == pytest.approx(0.01 * slope, rel=0.15)
    assert bounds[0.02].expected_cost - bounds[0.02].lower_bound < 0.01 * table.max()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(["rate", "missed", "blocked"]),
    st.sampled_from([0.0, 0.003, 0.1, 0.5]),
    st.sampled_from([2, 3]),
    st.booleans(),
)
@example(228, "rate", 0.1, 3, False)  # kinks that are one but for rounding
@example(262142, "rate", 0.1, 2, True)
def test_split_rows_cost_what_the_linear_program_does(seed, of, within, n_actions, forbids):
    """The optimum on convex curves is that of HiGHS, and its duals prove it."""
    generator = np.random.default_rng(seed)
    n = 60
    groups = generator.choice(["b", "a", "c"], n, p=[0.6, 0.3, 0.1])
    groups[:6] = ["a", "a", "b", "b", "c", "c"]
    table = generator.normal(size=(n, n_actions)) * 10.0 ** generator.integers(-6, 7, (n, 1))
    p = np.clip(generator.uniform(-0.1, 1.1, n), 0, 1)  # some are certain
    p[:6] = 0.5
    never = {1: generator.uniform(size=n) < 0.2} if forbids else None
    problem = read_problem(
        table, None, Parity(groups, of=of, within=within), never=never,
        proba=np.stack([1 - p, p], axis=1), classes=[0, 1], positive=1,
    )  # fmt: skip
    scale = float(np.abs(table).max())
    try:
        slow = solve_relaxed(problem.program(), 1)
    except ValueError as refused:
        with pytest.raises(ValueError, match=str(refused)[:30]):
            problem.relaxed()
        return
    found = problem.relaxed()
    assert found.cost == pytest.approx(slow.cost, rel=1e-6, abs=1e-9 * scale)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    rates = problem.rates(found.shares)
    assert np.ptp(rates) <= within + 1e-9
    paid = float(np.sum(found.shares * table) - table[np.arange(n), problem.free].sum())
    assert paid == pytest.approx(found.cost, abs=1e-9 * scale)
    # Weak duality: rows decided one by one at the duals, less what the window is worth.
    # Prices are differences of costs of up to `scale`, whose last digit is what is left of them.
    rounding = 4 * np.finfo(float).eps * scale
    assert abs(found.prices.sum()) <= 1e-9 * np.abs(found.prices).max(initial=0.0) + rounding
    assert np.maximum(-found.prices, 0).sum() == pytest.approx(found.slope)
    priced = table + np.where(problem.forbidden, np.inf, 0.0)
    priced[:, problem.target] += problem.shares * found.prices[problem.cut.codes]
    bound = priced.min(axis=1).sum() - found.slope * within
    assert bound - table[np.arange(n), problem.free].sum() == pytest.approx(
        found.cost, rel=1e-6, abs=1e-9 * scale
    )


def test_rates_of_many_rows_are_proved_at_once():
    """Every plan has its rates on the steps of the curves, so no search is needed."""
    groups, _, table = many(20000)
    for within in (0.0, 0.0005, 0.02):
        plan = allocate_parity(table, None, Parity(groups, within=within, action=1))
        assert plan.lower_bound == pytest.approx(plan.expected_cost, rel=1e-12)
        assert plan.difference <= within + 1e-9
    coarse = allocate_parity(table, None, Parity(groups, within=0.02, action=1))
    relaxed = read_problem(table, None, coarse.parity).relaxed()
    assert coarse.parity_cost - relaxed.cost < 3 * np.ptp(table, axis=1).max()
    sixth = allocate_parity([[0, 9], [0, 7], [0, -5], [0, -1]] * 3, None,
                            Parity(["a", "a", "b", "b"] * 3, within=1 / 6, action=1))  # fmt: skip
    assert (sixth.rates, sixth.expected_cost) == ({"a": 0, "b": 1 / 6}, -5)


def test_prices_of_groups_decide_nearly_the_same_row_by_row():
    groups, _, table = many()
    plan = allocate_parity(table, None, Parity(groups, within=0.03, action=1))
    added = np.array([plan.group_prices[g] for g in groups])
    alone = (table[:, 1] + added < table[:, 0]).astype(int)
    assert np.mean(alone != plan.codes) < 0.01
    assert min(plan.group_prices.values()) < 0 < max(plan.group_prices.values())


def test_small_groups_are_named_and_a_wide_parity_changes_nothing():
    groups, _, table = many()
    plan = allocate_parity(table, None, Parity(groups, within=1.0, action=1))
    np.testing.assert_array_equal(plan.codes, allocate(table, None).codes)
    assert (plan.parity_cost, plan.shadow_price) == (0, 0)
    assert plan.few_rows == ["west"]
    assert "fewer than 50 rows: west" in repr(plan)


@pytest.mark.parametrize("names", [(0, 1), ("good", "bad")])
def test_decide_reads_the_column_and_the_positive_class(names):
    X, y = make_classification(800, weights=[0.8], random_state=0)
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    frame["region"] = (X[:, 5] > 0).astype(int)
    positive = None if names == (0, 1) else names[1]
    costs = Costs(fp=2, fn=9, positive=positive)
    model = MinimumCostClassifier(LogisticRegression(), costs=costs, random_state=0)
    model.fit(frame, np.array(names)[y])
    by_column = model.decide(frame, parity=Parity("region", of="blocked", within=0.01), defer=1.5)
    by_row = model.decide(
        frame, parity=Parity(frame["region"], of="blocked", within=0.01), defer=1.5
    )
    np.testing.assert_array_equal(by_column.decisions, by_row.decisions)
    proba = model.predict_proba(frame)
    honest = proba[:, model.classes_.tolist().index(names[0])]
    for group, rate in by_column.rates.items():
        mine = (frame["region"] == group).to_numpy()
        blocked = by_column.decisions == names[1]
        assert rate == pytest.approx(honest[mine & blocked].sum() / honest[mine].sum())
    assert by_column.difference <= 0.01 + 1e-6
    assert "defer" in by_column.counts
    with pytest.raises(ValueError, match="give one"):
        model.decide(frame, parity=Parity("region"), explore=0.1)


def test_what_is_forbidden_stays_forbidden():
    groups, _, table = many(200)
    forbidden = np.arange(200) % 3 == 0
    plan = allocate_parity(table, None, Parity(groups, within=0.1, action=1), never={1: forbidden})
    assert not (plan.codes[forbidden] == 1).any()
    assert plan.difference <= 0.1 + 1e-6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"groups": ["a"] * 6}, "All rows are in one group"),
        ({"groups": ["a"] * 5 + ["b"]}, "Groups of one row have no rate: 'b'"),
        ({"groups": ["a"] * 3 + ["b", "b", None]}, "row 5 has no group"),
        ({"groups": ["a", "b"]}, "groups has shape"),
        ({"action": "no"}, "name the action whose rate"),
        ({"of": "missed", "action": None}, "two classes that are decisions too"),
        ({"of": "wrong"}, "of"),
        ({"within": 2}, "within=2"),
        ({"of": "blocked", "action": 1}, "is for of='rate'"),
    ],
)
def test_what_makes_no_sense_is_refused(given, message):
    said = {"groups": ["a", "b"] * 3, "action": 1, **given}
    with pytest.raises(ValueError, match=message):
        allocate_parity(np.eye(2)[[0, 1] * 3], None, Parity(**said))


def test_a_column_that_is_not_there_is_named():
    model = MinimumCostClassifier(LogisticRegression()).fit([[0.0], [1]] * 9, [0, 1] * 9)
    with pytest.raises(ValueError, match="'region' is no column"):
        model.decide([[0.0], [1]], parity=Parity("region"))

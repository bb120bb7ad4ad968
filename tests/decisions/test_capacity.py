"""Joint decisions: against all assignments, against linear programming, and by invariants."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import linprog
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier, CostingClassifier, Costs, MinimumCostClassifier
from costboost.decisions import allocate

ACTIONS = ["approve", "review", "decline"]


def brute_force(expected, limits):
    """The least cost over all assignments that keep the limits; inf if there is none."""
    best = np.inf
    for taken in itertools.product(range(expected.shape[1]), repeat=len(expected)):
        if all(taken.count(a) <= limit for a, limit in limits.items()):
            best = min(best, sum(row[a] for row, a in zip(expected, taken, strict=True)))
    return best


def by_linear_program(expected, limits):
    """The optimum of the relaxation, which a transportation problem attains at whole numbers."""
    n, m = expected.shape
    one_each = np.kron(np.eye(n), np.ones(m))
    places = np.kron(np.ones(n), np.eye(m))[list(limits)]
    found = linprog(
        expected.ravel(),
        A_ub=places,
        b_ub=list(limits.values()),
        A_eq=one_each,
        b_eq=np.ones(n),
        method="highs",
    )
    assert found.status == 0
    return found.fun


def tables(rng, n, m, kind):
    if kind == "ties":
        return rng.integers(0, 4, size=(n, m)).astype(float)
    if kind == "decades":
        return 10.0 ** rng.uniform(-6, 6, size=(n, m))
    if kind == "benefits":
        return rng.normal(size=(n, m)) * 100
    return rng.uniform(0, 50, size=(n, m))


@pytest.mark.parametrize("kind", ["plain", "ties", "decades", "benefits"])
@pytest.mark.parametrize("limited", [[1], [0, 1], [0, 1, 2]])
def test_least_cost_and_shadow_prices_against_all_assignments(kind, limited):
    rng = np.random.default_rng(len(limited))
    for _ in range(12):
        table = tables(rng, 6, 3, kind)
        limits = {a: int(rng.integers(0, 4)) for a in limited}
        if len(limited) == 3:
            limits[2] = max(limits[2], 6 - limits[0] - limits[1])
        result = allocate(table, limits)
        scale = np.abs(table).max()
        assert result.expected_cost == pytest.approx(brute_force(table, limits), abs=1e-12 * scale)
        assert all(result.counts[a] <= limit for a, limit in limits.items())
        for a in limited:
            more = brute_force(table, {**limits, a: limits[a] + 1})
            assert result.shadow_prices[a] == pytest.approx(
                result.expected_cost - more, abs=1e-12 * scale
            )


@pytest.mark.parametrize("kind", ["plain", "ties", "decades", "benefits"])
@pytest.mark.parametrize(("n", "m"), [(20, 2), (60, 4), (150, 6)])
def test_least_cost_against_linear_programming(kind, n, m):
    rng = np.random.default_rng(n)
    for n_limited in range(1, m + 1):
        table = tables(rng, n, m, kind)
        limits = {int(a): int(rng.integers(0, n // 2)) for a in rng.permutation(m)[:n_limited]}
        if n_limited == m:
            limits[0] += max(0, n - sum(limits.values()))
        scale = np.abs(table).max()
        result = allocate(table, limits)
        assert result.expected_cost == pytest.approx(
            by_linear_program(table, limits), rel=1e-9, abs=1e-9 * scale
        )


def test_long_chains_of_moves_do_not_overflow():
    """Row i is at home in action i, and next best in i + 1: one place moves all of them."""
    m = 30
    table = np.full((m, m), 1e300)
    table[np.arange(m), np.arange(m)] = 0.0
    table[np.arange(m - 1), np.arange(1, m)] = 1e298
    table[0, 0] = 1e300
    limits = dict.fromkeys(range(m), 1)
    limits[m - 1] = 2
    result = allocate(table, {**limits, 0: 0})
    assert result.expected_cost == pytest.approx(1e298 * (m - 1), rel=1e-12)
    assert result.shadow_prices[1] == pytest.approx(1e298 * (m - 2), rel=1e-12)


def test_costs_of_any_unit_give_the_same_decisions():
    rng = np.random.default_rng(3)
    table = rng.uniform(size=(50, 3))
    limits = {0: 10, 1: 5}
    ours = allocate(table, limits).codes
    for unit in (2.0**-900, 1e-6, 1e6, 2.0**900):
        assert np.array_equal(allocate(table * unit, limits).codes, ours)


@pytest.mark.parametrize("limits", [{1: 3}, {0: 6, 1: 2}])
def test_groups_are_solved_one_by_one(limits):
    rng = np.random.default_rng(1)
    table = rng.uniform(size=(60, 3))
    days = rng.permutation(np.repeat(["mon", "tue", "wed"], [30, 20, 10]))
    joint = allocate(table, limits, groups=days)
    for day in ("mon", "tue", "wed"):
        alone = allocate(table[days == day], limits)
        assert np.array_equal(joint.codes[days == day], alone.codes)
        for a in limits:
            assert joint.shadow_prices[a][day] == pytest.approx(alone.shadow_prices[a], rel=1e-12)


def test_capacities_by_group_and_shares():
    table = np.column_stack([np.arange(1.0, 11), np.zeros(10)])
    groups = pd.Series(["a"] * 6 + ["b"] * 4)
    by_group = allocate(table, {1: {"a": 2, "b": 0.5}}, groups=groups)
    assert by_group.codes.tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 1, 1]
    assert by_group.shadow_prices == {1: {"a": 4.0, "b": 8.0}}
    assert by_group.capacities == {1: {"a": 2, "b": 2}}
    assert allocate(table, {1: 0.3}).codes.sum() == 3  # 0.3 * 10 is 2.9999999999999996 + eps
    assert allocate(table, {1: 3.0}).codes.sum() == 3
    assert allocate(table, {1: 1.0}).codes.sum() == 10


def test_ties_go_to_the_first_rows():
    table = np.column_stack([np.ones(6), np.zeros(6)])
    assert allocate(table, {1: 2}).codes.tolist() == [1, 1, 0, 0, 0, 0]
    with_idle_limit = np.column_stack([table, np.full(6, 9.0)])
    assert allocate(with_idle_limit, {1: 2, 2: 6}).codes.tolist() == [1, 1, 0, 0, 0, 0]


def test_more_capacity_never_costs_more_and_savings_shrink():
    rng = np.random.default_rng(5)
    table = rng.uniform(size=(200, 3))
    results = [allocate(table, {0: 30, 1: c}) for c in range(0, 120, 7)]
    costs = [r.expected_cost for r in results]
    prices = [r.shadow_prices[1] for r in results]
    assert np.all(np.diff(costs) <= 1e-9)
    assert np.all(np.diff(prices) <= 1e-12)
    assert results[-1].shadow_prices[1] == 0.0


def test_one_row_one_action_and_no_capacity():
    assert allocate([[3.0]], None).expected_cost == 3.0
    assert allocate([[3.0, 1.0]], {1: 0}).codes.tolist() == [0]
    assert allocate([[3.0, 1.0]], {}).codes.tolist() == [1]


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        ({"call": 3}, "names 'call', but the actions are"),
        ({"review": -1}, "give a whole number of rows, or a share"),
        ({"review": 2.5}, "give a whole number of rows, or a share"),
        ({"review": True}, "give a whole number of rows, or a share"),
        ({"review": float("nan")}, "give a whole number of rows, or a share"),
        ({"review": "all"}, "give a whole number of rows, or a share"),
        ({"review": {"mon": 2}}, "no groups= were given"),
        ({"approve": 1, "review": 1, "decline": 1}, "allow 3 decisions, but there are 5 rows"),
        (200, "give a dict of actions"),
    ],
)
def test_wrong_capacities_are_refused(capacity, message):
    with pytest.raises(ValueError, match=message):
        allocate(np.ones((5, 3)), capacity, actions=ACTIONS)


def test_wrong_tables_are_refused():
    with pytest.raises(ValueError, match="finite"):
        allocate([[1.0, np.nan]], {1: 1})
    with pytest.raises(ValueError, match=r"row 1: expected\[0\] is 1.01e\+300; values beyond"):
        allocate([[1.0, 2.0], [1.01e300, 1.0]], {1: 1})
    assert allocate([[1e300 * (1 + 1e-15), 1.0]], {}).expected_cost == 1.0
    with pytest.raises(ValueError, match="shape"):
        allocate([1.0, 2.0], {1: 1})
    with pytest.raises(ValueError, match="2 actions were named"):
        allocate(np.ones((4, 3)), {}, actions=["a", "b"])
    with pytest.raises(ValueError, match="groups has shape"):
        allocate(np.ones((4, 3)), {1: 1}, groups=[1, 2])


@pytest.fixture(scope="module")
def lending():
    X, y = make_classification(600, weights=[0.8], random_state=0)
    labels = np.where(y == 1, "default", "paid")
    amount = np.random.default_rng(0).lognormal(5, 1, 600)
    costs = Costs.from_matrix(
        np.stack(
            [
                np.column_stack([amount, np.full(600, 25.0), np.zeros(600)]),
                np.column_stack([np.zeros(600), np.full(600, 25.0), 0.1 * amount]),
            ],
            axis=1,
        ),
        classes=["default", "paid"],
        actions=ACTIONS,
    )
    model = CostBoostClassifier(random_state=0, costs={"fp": 1, "fn": 5, "positive": "default"})
    return model.fit(X, labels), X, costs


def test_model_decides_jointly(lending):
    model, X, costs = lending
    free = model.predict(X, costs=costs)
    wanted = int(np.sum(free == "review"))
    assert wanted > 6
    assert np.array_equal(model.decide(X, costs=costs).decisions, free)
    assert np.array_equal(model.decide(X, costs=costs, capacity={"review": wanted}).decisions, free)
    plan = model.decide(X, costs=costs, capacity={"review": 6})
    expected = model.expected_cost(X, costs=costs)
    assert plan.counts["review"] == 6
    assert plan.expected_cost == pytest.approx(by_linear_program(expected, {1: 6}), rel=1e-9)
    more = model.decide(X, costs=costs, capacity={"review": 7})
    assert plan.shadow_prices["review"] == pytest.approx(
        plan.expected_cost - more.expected_cost, rel=1e-6
    )


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_frames_one_row_and_wrapped_models(lending):
    model, X, costs = lending
    plan = model.decide(X, costs=costs, capacity={"review": 0.05}, groups=np.arange(600) % 2)
    for frame in (pd.DataFrame(X), pl.DataFrame(X)):
        days = pl.Series(np.arange(600) % 2)
        again = model.decide(frame, costs=costs, capacity={"review": 0.05}, groups=days)
        assert np.array_equal(again.decisions, plan.decisions)
    alone = model.decide(X[:1], costs=costs[:1], capacity={"review": 0, "decline": 0})
    assert alone.decisions.tolist() == ["approve"]


def test_plain_classes_are_actions_too(lending):
    model, X, _ = lending
    plan = model.decide(X, capacity={"default": 7})
    assert plan.counts["default"] == 7
    wrapped = MinimumCostClassifier(model, cv="prefit").fit(X, model.predict(X))
    assert wrapped.decide(X, capacity={"default": 3}).counts["default"] == 3


def test_models_without_probabilities_refuse(lending):
    model, X, _ = lending
    trained = CostingClassifier(CostBoostClassifier(n_estimators=3), n_estimators=2, random_state=0)
    trained.fit(X, model.predict(X))
    with pytest.raises(ValueError, match="cannot price decisions"):
        trained.decide(X, capacity={"default": 3})


def test_a_frame_in_another_order_is_read_by_its_names():
    expected = pd.DataFrame({"review": [1.0, 2.0, 0.0], "pass": [9.0, 7.0, 3.0]})
    result = allocate(expected, {"review": 1}, actions=["pass", "review"])
    assert result.decisions.tolist() == ["review", "pass", "pass"]
    assert result.expected_cost == 11.0

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import Costs
from costboost.decisions import allocate
from costboost.metrics import capacity_curve, coverage_curve, mean_cost, total_cost

ACTIONS = ["pass", "review", "stop"]


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    n = 120
    p = rng.beta(0.6, 3, n)
    y = (rng.uniform(size=n) < p).astype(int)
    matrix = np.zeros((n, 2, 3))
    matrix[:, 0] = [0, 3, 8]
    matrix[:, 1] = np.column_stack([rng.lognormal(3, 1, n), np.full(n, 3.0), np.ones(n)])
    costs = Costs.from_matrix(matrix, classes=[0, 1], actions=ACTIONS)
    return y, costs.expected(np.column_stack([1 - p, p])), costs


@pytest.mark.parametrize("action", ACTIONS)
def test_every_point_is_a_joint_decision(case, action):
    y, expected, costs = case
    curve = capacity_curve(y, expected, action=action, costs=costs)
    assert curve.capacity.tolist() == list(range(len(curve.capacity)))
    for k in (*range(0, len(curve.capacity), 5), len(curve.capacity) - 1):
        plan = allocate(expected, {action: k}, actions=ACTIONS)
        assert curve.expected[k] == pytest.approx(plan.expected_cost)
        paid = total_cost(y, plan.decisions, costs=costs)
        assert curve.realised[k] == pytest.approx(paid)
        if k + 1 < len(curve.capacity):
            step = curve.expected[k] - curve.expected[k + 1]
            assert step == pytest.approx(plan.shadow_prices[action], abs=1e-9)
    assert plan.expected_cost == pytest.approx(plan.unlimited_cost)


def test_coverage_against_deciding_again(case):
    y, expected, costs = case
    price = np.random.default_rng(1).uniform(0.5, 3, len(y))
    weight = np.random.default_rng(2).uniform(size=len(y))
    curve = coverage_curve(y, expected, costs=costs, price=price, sample_weight=weight)
    decided = np.array(ACTIONS)[expected.argmin(axis=1)]
    doubt = expected.min(axis=1) - price
    for j, t in enumerate(np.append(-np.inf, np.sort(doubt))):
        kept = doubt <= t
        assert curve.coverage[j] == pytest.approx(weight[kept].sum() / weight.sum())
        if kept.any():
            mean = mean_cost(y[kept], decided[kept], costs=costs[kept], sample_weight=weight[kept])
            assert curve.decided[j] == pytest.approx(mean)
        paid = costs.of_decisions(y, decided)
        total = np.average(np.where(kept, paid, price), weights=weight)
        assert curve.total[j] == pytest.approx(total)
    own = weight[doubt <= 0].sum() / weight.sum()
    assert curve.own == pytest.approx(own)


def test_the_models_own_coverage_is_that_of_the_deferring_action(case):
    y, expected, costs = case
    with_defer = np.column_stack([expected, np.full(len(y), 1.5)])
    curve = coverage_curve(y, expected, costs=costs, price=1.5)
    decided = np.array([*ACTIONS, "defer"])[with_defer.argmin(axis=1)]
    assert curve.own == pytest.approx(np.mean(decided != "defer"))
    at = np.searchsorted(curve.coverage, curve.own - 1e-9)
    cost = mean_cost(y, decided, costs=costs.with_defer(1.5))
    assert curve.total[at] == pytest.approx(cost)


def test_ties_are_decided_together_and_no_price_is_nan():
    curve = coverage_curve([0, 1, 1], [[1, 2]] * 3, costs={"fp": 1, "fn": 1})
    assert curve.coverage.tolist() == [0.0, 1.0]
    assert np.isnan(curve.total).all()
    assert np.isnan(curve.own)


def test_what_does_not_fit_is_refused(case):
    y, expected, costs = case
    with pytest.raises(ValueError, match="give one of"):
        capacity_curve(y, expected, action="call", costs=costs)
    with pytest.raises(ValueError, match="expected has shape"):
        capacity_curve(y, expected[:, :2], action="review", costs=costs)
    with pytest.raises(ValueError, match="price has shape"):
        coverage_curve(y, expected, costs=costs, price=[1, 2])


def drawn_case(k, seed=3):
    """Return labels, probabilities in sorted order, and prices of k classes that differ widely."""
    rng = np.random.default_rng(seed)
    classes = np.array(["a", "b", "c", "d", "e"][:k])
    proba = rng.dirichlet(np.full(k, 0.5), 90)
    y = classes[[rng.choice(k, p=p) for p in proba]]
    C = rng.uniform(1, 60, (k, k))
    np.fill_diagonal(C, rng.uniform(0, 1, k))
    return y, proba, C, classes


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_order_in_which_costs_name_their_classes_does_not_matter(k, per_row):
    y, proba, C, classes = drawn_case(k)
    matrix = C if not per_row else C * np.random.default_rng(4).uniform(1, 2, (len(y), 1, 1))
    by_row = np.broadcast_to(matrix, (len(y), k, k))
    expected = np.einsum("nk,nka->na", proba, by_row)  # by hand, columns as of predict_proba
    decided = expected.argmin(axis=1)
    truth = np.searchsorted(classes, y)
    paid = by_row[np.arange(len(y)), truth, decided]
    at = np.arange(k)
    for order in (at, at[::-1], np.roll(at, 1), np.random.default_rng(5).permutation(k)):
        given = matrix[..., order, :][..., :, order]
        costs = Costs.from_matrix(given, classes=classes[order])
        curve = coverage_curve(y, expected, costs=costs)
        assert curve.decided[-1] == pytest.approx(paid.mean(), rel=1e-12)
        for labels in (classes, classes[::-1]):
            same = coverage_curve(y, expected, costs=costs, labels=labels)
            assert same.decided[-1] == pytest.approx(paid.mean(), rel=1e-12)
        frame = pd.DataFrame(expected, columns=classes)[classes[order]]
        for table in (frame, pl.from_pandas(frame)):
            np.testing.assert_array_equal(coverage_curve(y, table, costs=costs)[1], curve.decided)
        for a, action in enumerate(classes.tolist()):
            ends = capacity_curve(y, expected, action=action, costs=costs)
            assert ends.capacity[-1] == np.sum(decided == a)
            assert ends.expected[-1] == pytest.approx(expected.min(axis=1).sum(), rel=1e-12)
            assert ends.realised[-1] == pytest.approx(paid.sum(), rel=1e-12)


def test_columns_of_a_table_that_are_no_actions_are_refused():
    y, proba, C, classes = drawn_case(3)
    table = pd.DataFrame(proba @ C, columns=["a", "b", "x"])
    with pytest.raises(ValueError, match="columns of expected are labelled"):
        coverage_curve(y, table, costs=Costs.from_matrix(C, classes=classes))

"""What AdaBoost's family holds of rows: their aims, prices, and the rule at them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TrainingRows, aimed_labels, margins_of, row_prices
from costboost.boosting.adaboost.rules import RULES, BoundRule
from costboost.boosting.adaboost.sums import (
    View,
    largest_priced_weight,
    sum_balance,
    sum_priced_cells,
    sum_z,
)
from costboost.boosting.adaboost.updates import bind_rule, evaluate_terms
from costboost.shards.layout import RowData
from costboost.shards.rows import Shard

RNG = np.random.default_rng(0)
N = 60
Y = np.sort(RNG.integers(0, 2, N))
FN, TP = RNG.uniform(1.0, 3.0, N), np.where(RNG.uniform(size=N) < 0.2, 5.0, 0.0)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
LEAVES = RNG.integers(0, 3, N)
HYPOTHESIS = Hypothesis(np.array([0, 1, 1]), np.array([1.0, 0.5, 2.0]))
CHOSEN = np.array([50, 3, 17], dtype=np.uint32)


def given_of(costs, y=Y, weights=None, n_classes=2):
    labels = aimed_labels(costs, y, n_classes)
    return TrainingRows(RowData(y, weights, costs), n_classes, labels)


def by_row(**cells):
    return Costs(fp=1.0, fn=FN, **cells).bind([0, 1], N)


def shard_of(given, rows, method, scale=0.25):
    """Return a shard of some rows, bound to a rule at prices times a scale."""
    state = given.load(rows)
    starts = np.searchsorted(state.labels, np.arange(given.n_classes + 1))
    n_rows = len(state.labels)
    codes, numbers = np.zeros((n_rows, 1), np.uint8), np.arange(n_rows, dtype=np.uint32)
    shard = Shard(codes, numbers, starts, state)
    bind_rule(bound=BoundRule(RULES[method], 10, given.n_classes), scales=(scale,)).answer(shard)
    shard.leaves[:] = LEAVES[:n_rows]
    state.weights = np.linspace(0.1, 1.0, n_rows)
    return shard


def test_rows_hold_what_was_said_of_them():
    state = given_of(by_row(), weights=WEIGHTS).load(CHOSEN)
    assert_array_equal(state.labels, Y[CHOSEN])
    assert_array_equal(state.sample_weights, WEIGHTS[CHOSEN])
    assert_array_equal(state.margins, np.zeros((3, 1)))
    assert_array_equal(state.weights_of(slice(1, 3)), WEIGHTS[CHOSEN[1:]])
    plain = given_of(by_row()).load(CHOSEN)
    assert_array_equal(plain.weights_of(slice(1, 3)), [1.0, 1.0])


@pytest.mark.parametrize("rows", [CHOSEN, slice(None)])
def test_rows_aim_at_their_cheapest_answer_at_its_price(rows):
    costs = by_row(tp=TP)
    given = given_of(costs)
    assert not given.aims_at_truth
    state = given.load(rows)
    cheap = np.where(np.where(Y == 1, TP > FN, False), 0, Y)[rows]
    assert_array_equal(state.labels, cheap)
    expected = row_prices(costs[rows], Y[rows], cheap)
    assert_array_equal(state.prices().row_price, expected.row_price)
    assert_array_equal(state.prices(slice(1, 3)).answer_price, expected.answer_price[1:3])


def test_prices_by_class_are_those_of_rows():
    costs = Costs(fp=1.0, fn=4.0).bind([0, 1])
    given = given_of(costs)
    assert given.by_class().row_price.tolist() == [1.0, 4.0]
    assert given_of(by_row()).by_class() is None
    state = given.load(CHOSEN)
    assert_array_equal(state.prices().row_price, np.where(Y[CHOSEN] == 1, 4.0, 1.0))


@pytest.mark.parametrize("method", ["csb2", "adac2", "adac3", "adacost", "csada", "asymada"])
@pytest.mark.parametrize("costs", [by_row(), by_row(tp=TP)], ids=["at the truth", "cheapest"])
def test_a_rule_at_rows_is_the_rule_at_their_prices(method, costs):
    given = given_of(costs)
    order = np.argsort(given.labels, kind="stable")
    shard = shard_of(given, order, method)
    bound, state = BoundRule(RULES[method], 10, 2), shard.state
    prices = row_prices(costs[order], Y[order], given.labels[order]).scaled(0.25)
    u, f = bound.terms(prices, given.labels[order])
    votes = HYPOTHESIS.votes[LEAVES]
    found = np.empty(N)
    for rows, terms in state.term_blocks(shard.starts):
        terms = terms.spread(state.labels[rows])
        own = (HYPOTHESIS, LEAVES[rows], state.labels[rows], 2)
        found[rows] = margins_of(terms, *own)
        factors = terms.factors(HYPOTHESIS, LEAVES[rows])
        assert_allclose(factors, f[np.arange(N), votes][rows], rtol=1e-14)
    assert_allclose(found, u[np.arange(N), votes] * HYPOTHESIS.sizes[LEAVES], rtol=1e-14)
    at = bound.at(prices.row_price, given.labels[order])
    assert_allclose(state.evaluate("first"), bound.factor("first", at), rtol=1e-14)


@pytest.mark.parametrize("method", ["adaboost", "csb2", "adac1", "adac2", "adac3", "adacost"])
@pytest.mark.parametrize("costs", [by_row(), by_row(tp=TP)], ids=["at the truth", "cheapest"])
def test_rows_that_hold_little_say_what_those_do_that_hold_all(method, costs, monkeypatch):
    monkeypatch.setattr("costboost.boosting.adaboost.rows._BLOCK", 7)
    given = given_of(costs)
    order = np.argsort(given.labels, kind="stable")
    sorted_costs = costs[order]
    sorted_given = TrainingRows(RowData(Y[order], None, sorted_costs), 2, given.labels[order])
    found = []
    for rows in (slice(None), np.arange(N)):  # a part of a table elsewhere, or one in memory
        shard = shard_of(sorted_given, rows, method)
        facts = evaluate_terms().answer(shard)
        sums = [
            sum_priced_cells(hypothesis=HYPOTHESIS, scale=2.0**40).answer(shard).tolist(),
            sum_balance(view=View(HYPOTHESIS), scale=2.0**40).answer(shard).tolist(),
            sum_z(view=View(HYPOTHESIS), alpha=0.7, halvings=5, scale=2.0**40)
            .answer(shard)
            .tolist(),
            largest_priced_weight(hypothesis=HYPOTHESIS).answer(shard),
        ]
        told = (facts.farthest, facts.largest_factor, facts.has_factors, facts.margins_by_class)
        found.append((told, sums))
    assert found[0] == found[1]


def test_logarithms_of_weights_are_a_copy_and_nothing_comes_from_absent_rows():
    shard = shard_of(given_of(by_row()), np.arange(N), "adac1")
    state = shard.state
    assert_allclose(state.log_weights(), np.log(state.weights), rtol=1e-14)
    state.absent = np.arange(N) < 2
    assert state.log_weights()[:2].tolist() == [-np.inf, -np.inf]
    state.logs = np.arange(float(N))
    state.log_weights()[:] = 7.0
    assert_array_equal(state.logs, np.arange(float(N)))


@pytest.mark.filterwarnings("ignore:In these costs the right answer")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("per_row", [False, True])
def test_rows_made_elsewhere_are_those_made_here(n_classes, per_row):
    rng = np.random.default_rng(1)
    y = rng.integers(0, n_classes, N)
    C = rng.uniform(0.0, 3.0, (N, n_classes, n_classes) if per_row else (n_classes, n_classes))
    costs = Costs.from_matrix(C, classes=np.arange(n_classes)).bind(np.arange(n_classes), N)
    here = given_of(costs, y, WEIGHTS, n_classes)
    own = RowData(y.astype(np.uint8), WEIGHTS, costs if per_row else None)
    there = here.blank().on(own)
    assert_array_equal(there.labels, here.labels)
    assert there.n_segments == n_classes
    one, other = here.load(CHOSEN), there.load(CHOSEN)
    assert_array_equal(one.labels, other.labels)
    assert_array_equal(one.sample_weights, other.sample_weights)
    assert_array_equal(one.prices().answer_price, other.prices().answer_price)
    assert_array_equal(one.pricing.paid(slice(None)), other.pricing.paid(slice(None)))


def test_a_users_objective_gets_the_numbers_of_its_rows():
    a = np.linspace(-1.0, 1.0, N)

    def objective(at, rows):
        return np.abs(a[rows]) * at.sign, np.zeros(len(rows)), 1.0 + np.arange(N)[rows]

    given = TrainingRows(RowData(Y, None, by_row()), 2, Y, objective=objective, own_prices=True)
    order = np.argsort(Y[::-1], kind="stable")
    shard = shard_of(
        TrainingRows(RowData(Y, None, by_row()), 2, Y, objective=objective), order, "gradient-csb"
    )
    assert_array_equal(shard.state.evaluate("first"), 1.0 + order)
    assert given.by_class() is None

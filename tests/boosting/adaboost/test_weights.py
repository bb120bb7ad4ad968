"""The weights of rows, round after round, against a plain computation."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis, WeakModel
from costboost.boosting.adaboost.rows import TrainingRows, row_prices
from costboost.boosting.adaboost.rules import RULES, BoundRule
from costboost.boosting.adaboost.weights import LONG, EffectiveRule, Setting, Weights, price_scale
from costboost.shards.layout import RowData, plan_layout

RNG = np.random.default_rng(0)
N = 90
Y = RNG.integers(0, 2, N)
FN = RNG.uniform(0.5, 4.0, N)
SAMPLE = RNG.uniform(0.1, 2.0, N)
LEAVES = RNG.integers(0, 3, N)
HYPOTHESIS = Hypothesis(np.array([0, 1, 1]), np.array([1.0, 0.5, 2.0]))
METHODS = ["adaboost", "csb2", "adac1", "adac2", "adac3", "csada", "asymada", "cgada"]


@pytest.fixture(autouse=True)
def small_deals(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)


class Held:
    """Weights on shards, and the rule at every row by a plain computation."""

    def __init__(self, method, fn=3.0, sample=None, n_shards=2, fp=1.0):
        costs = Costs(fp=fp, fn=fn).bind([0, 1], N)
        given = TrainingRows(RowData(Y, sample, costs), 2, Y)
        layout = plan_layout(Y, N, 2, n_shards)
        self.shards = layout.cut(np.zeros((N, 1), np.uint8), given.load)
        for shard in self.shards.shards:
            shard.leaves[:] = LEAVES[shard.rows]
        self.rule = RULES[method]
        terms = EffectiveRule(self.shards, self.rule, given.by_class(), 2, Setting(10))
        self.weights = Weights(self.shards, terms, weighted=sample is not None)
        prices = row_prices(costs, Y, Y)
        scale = price_scale(prices.largest, prices.smallest, self.rule, "auto")
        self.bound, self.prices = BoundRule(self.rule, 10, 2), prices.scaled(scale)
        self.at = self.bound.at(self.prices.row_price, Y)

    def now(self):
        return self.shards.fetch(lambda shard: shard.state.weights.copy())

    def first(self, sample=None):
        first = self.bound.factor("first", self.at) * self.bound.round_factor(self.at)
        return first if sample is None else first * sample

    def model(self):
        return WeakModel(HYPOTHESIS, self.weights.of_cells(HYPOTHESIS))

    def terms(self):
        """Return the effective margins and the factors of all rows."""
        u, f = self.bound.terms(self.prices, Y)
        votes, rows = HYPOTHESIS.votes[LEAVES], np.arange(N)
        return u[rows, votes] * HYPOTHESIS.sizes[LEAVES], f[rows, votes]

    def step(self, alpha):
        model = self.model()
        u, f = self.terms()
        terms = self.now() * f * np.exp(np.minimum(-alpha * u, 500.0))
        change = self.weights.change(model, alpha, float(terms.sum() / model.total))
        (largest,) = self.shards.call([change])
        self.weights.settle(change, largest)


def alike(found, expected, **how):
    """Weights are of any sum."""
    assert_allclose(found / found.max(), expected / expected.max(), **{"rtol": 1e-11, **how})


def by_cell(values):
    out = np.zeros((3, 2))
    np.add.at(out, (LEAVES, Y), values)
    return out


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fn", [3.0, FN], ids=["constant", "rows"])
@pytest.mark.parametrize("weighted", [False, True])
def test_first_weights_are_those_of_the_rule_times_the_users(method, fn, weighted):
    held = Held(method, fn, SAMPLE if weighted else None)
    with held.shards:
        alike(held.now(), held.first(SAMPLE if weighted else None))
        assert held.weights.largest == held.now().max()
        assert 0.5 <= held.weights.largest <= 1.0


@pytest.mark.parametrize("fp", [1e-300, 1e299])
@pytest.mark.parametrize("unit", [1e-300, 1e299])
def test_products_of_the_largest_and_the_smallest_numbers_stay_in_range(fp, unit):
    held = Held("cgada", FN * fp, SAMPLE * unit, fp=fp)
    with held.shards:
        alike(held.now(), np.where(Y == 1, FN, 1.0) * SAMPLE, rtol=1e-9)


def test_weights_that_are_copies_are_counted():
    copies = np.arange(N) % 4 + 1.0
    found = []
    for unit in (1.0, 0.1, 3e-17):
        held = Held("adaboost", sample=copies * unit)
        with held.shards:
            found.append(held.now())
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])
    assert_array_equal(found[0] / found[0].max(), copies / copies.max())


def test_rows_without_any_weight_are_all_alike():
    held = Held("csb2", fn=FN, sample=np.zeros(N))
    with held.shards:
        assert len(set(held.now().tolist())) == 1
        assert held.weights.largest == held.now()[0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fn", [3.0, FN], ids=["constant", "rows"])
def test_a_step_multiplies_by_factors_and_exponentials(method, fn):
    held = Held(method, fn, SAMPLE)
    with held.shards:
        u, f = held.terms()
        expected = held.first(SAMPLE)
        for alpha in (0.7, 0.3, 1.1):
            held.step(alpha)
            expected = expected * f * np.exp(-alpha * u) * held.bound.round_factor(held.at)
            alike(held.now(), expected)
            assert held.weights.largest == pytest.approx(held.now().max(), rel=1e-14)


@pytest.mark.parametrize("fn", [3.0, FN], ids=["constant", "rows"])
def test_weights_are_added_up_by_leaf_and_class(fn):
    for method in ("adaboost", "csb2", "adac1", "adac3"):
        held = Held(method, fn, SAMPLE)
        with held.shards:
            model = held.model()
            assert_allclose(model.cells, by_cell(held.now()), rtol=1e-9)
            _, f = held.terms()
            priced = held.weights.of_priced_cells(model)
            assert_allclose(priced, by_cell(held.now() * f), rtol=1e-9)


def test_priced_cells_are_those_of_the_hypothesis_asked_about():
    held, other = Held("csb2", FN, SAMPLE), Held("csb2", FN, SAMPLE)
    turned = replace(HYPOTHESIS, votes=1 - HYPOTHESIS.votes)
    with held.shards, other.shards:
        model = held.model()
        first = held.weights.of_priced_cells(model)
        assert held.weights.of_priced_cells(model) is first
        model = replace(model, hypothesis=turned)
        found = held.weights.of_priced_cells(model)
        assert_array_equal(found, other.weights.of_priced_cells(model))
        assert not np.array_equal(found, first)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fn", [3.0, FN], ids=["constant", "rows"])
def test_shards_change_no_bit(method, fn):
    found = []
    for n_shards in (1, 2, 5):
        held = Held(method, fn, SAMPLE, n_shards)
        with held.shards:
            before = held.weights.of_cells(HYPOTHESIS).tolist()
            for alpha in (0.7, 60.0, -50.0):  # the last two by logarithms
                held.step(alpha)
            found.append((before, held.now().tolist(), held.weights.largest))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("fn", [3.0, FN], ids=["constant", "rows"])
def test_a_long_step_is_taken_back(fn):
    held = Held("adac1", fn, SAMPLE)
    with held.shards:
        longest = LONG / np.abs(held.terms()[0]).max()
        assert held.weights.is_long(HYPOTHESIS, -1.001 * longest)
        assert fn is FN or not held.weights.is_long(HYPOTHESIS, 0.999 * longest)
        before = held.now()
        for alpha in (1e4, -1e4):
            held.step(alpha)
            assert held.weights.largest == 1.0
        alike(held.now(), before, rtol=1e-8)


@pytest.mark.parametrize("fn", [3.0, 900.0, FN], ids=["near", "far", "rows"])
def test_the_learner_gets_weights_times_what_the_rule_hands_over(fn):
    held = Held("csada", fn, SAMPLE)
    with held.shards:
        learner_weights = held.weights.learner_weights()
        factors = held.bound.factor("learner_factor", held.at)
        if learner_weights.by_row:
            found = held.shards.fetch(lambda shard: shard.state.learner_factors)
        else:
            found = learner_weights.by_class[Y]
        alike(found, factors)
        products = held.now() * found
        assert learner_weights.largest >= products.max() * (1 - 1e-15)
        assert learner_weights.largest < 2**17 * products.max()
        assert_allclose(learner_weights.weigh(HYPOTHESIS), by_cell(held.now()), rtol=1e-9)
        joint = held.weights.learner_weights(joint=True)  # chooses alpha too: weights as they are
        assert joint.by_class is None
        weights, tops = held.now(), [held.now()[k == Y].max() for k in (0, 1)]
        assert joint.by_row == (joint.units is not None) == (min(tops) < max(tops) / 64)
        if joint.by_row:  # each class relative to its largest
            alike(
                weights * held.shards.fetch(lambda shard: shard.state.learner_factors),
                weights / np.take(tops, Y),
            )
            assert_allclose(np.diff(joint.units), np.diff(np.log(tops)), rtol=1e-9)


def test_other_prices_change_the_factors_that_are_handed_over():
    held = Held("csada", FN, SAMPLE)
    with held.shards:
        held.weights.learner_weights()
        before = held.shards.fetch(lambda shard: shard.state.learner_factors.copy())
        held.weights.rescale(0.5)
        held.weights.learner_weights()
        after = held.shards.fetch(lambda shard: shard.state.learner_factors)
        assert_allclose(after, 0.5 * before, rtol=1e-14)
        sums = held.weights.sums(HYPOTHESIS, None)
        u, _ = held.terms()
        q = held.now() / held.now().sum()
        assert sums.z_alone(0.8) == pytest.approx(np.sum(q * np.exp(-0.4 * u)), rel=1e-9)


@pytest.mark.parametrize("factor", [False, True])
def test_tails_of_cells_are_those_of_rows(factor):
    held = Held("csb2", FN, SAMPLE)
    with held.shards:
        u = np.array([[1.0, -1.0], [-0.5, 0.5], [-2.0, 2.0]])
        tails = held.weights.cell_tails(HYPOTHESIS, u, factor=factor)
        _, f = held.terms()
        q = held.now() * (f if factor else 1.0)
        expected = math.log(np.sum(q * np.exp(-3.0 * u[LEAVES, Y])))
        assert tails.log_z(3.0) == pytest.approx(expected, rel=1e-12)


def test_a_joint_search_gets_classes_far_apart_each_relative_to_its_largest():
    held = Held("csada", 3.0, SAMPLE)
    with held.shards:
        for alpha in (5.0, 1e4):  # within numbers, and beyond
            held.step(alpha)
            learner_weights = held.weights.learner_weights(joint=True)
            assert learner_weights.by_row == (learner_weights.units is not None)
            if learner_weights.by_row:
                factors = held.shards.fetch(lambda shard: shard.state.learner_factors)
                products = held.shards.fetch(lambda shard: shard.state.weights) * factors
                assert [products[k == Y].max() for k in (0, 1)] == pytest.approx([1.0, 1.0])
        assert learner_weights.by_row

"""Long steps by logarithms: weights that numbers do not hold come back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import RULES, BoundRule
from costboost.boosting.adaboost.sums import (
    RowLogs,
    View,
    largest_log,
    make_tails,
    settle_logs,
    step_logs,
    sum_logs,
)
from costboost.boosting.adaboost.updates import bind_rule
from costboost.shards.layout import RowData, plan_layout

N = 40
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, N)
FN = RNG.uniform(0.1, 1.0, N)
LEAVES = RNG.integers(0, 3, N)
SIZES = RNG.uniform(size=N)
D = RNG.uniform(size=N)
HYPOTHESIS = Hypothesis(np.array([0, 1, 1]), np.array([1.0, 0.5, 2.0]))
PRICE = np.where(Y == 1, FN, 1.0)
VOTES, STRENGTH = HYPOTHESIS.votes[LEAVES], HYPOTHESIS.sizes[LEAVES]
RIGHT = VOTES == Y


def shards_of(method, n_shards=2):
    costs = Costs(fp=1.0, fn=FN).bind([0, 1], N)
    layout = plan_layout(Y, N, 2, n_shards)
    given = TrainingRows(RowData(Y, None, costs), 2, Y)
    shards = layout.cut(np.zeros((N, 1), np.uint8), given.load)
    shards.call([bind_rule(bound=BoundRule(RULES[method], 4, 2), scales=(1.0,))])
    for shard in shards.shards:
        shard.leaves[:] = LEAVES[shard.rows]
        shard.state.weights, shard.state.sizes = D[shard.rows], SIZES[shard.rows]
    return shards


def parts(shards, how):
    """Return ln(weight * factor) and the margins of all rows."""
    logs = shards.fetch(lambda shard: how.part(shard)[0])
    return logs, shards.fetch(lambda shard: how.part(shard)[1])


@pytest.mark.parametrize("n_shards", [1, 3])
def test_logs_and_margins_of_rows_are_those_of_the_rule(n_shards, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)
    with shards_of("adac3", n_shards) as shards:
        logs, u = parts(shards, RowLogs(View(HYPOTHESIS)))
        assert_allclose(logs, np.log(D * PRICE), rtol=1e-13)
        assert_allclose(u, np.where(RIGHT, PRICE, -PRICE) * STRENGTH, rtol=1e-13)
        logs, u = parts(shards, RowLogs(View(HYPOTHESIS, exponent=False, factor=False)))
        assert_allclose(logs, np.log(D), rtol=1e-13)
        assert_allclose(u, np.where(RIGHT, 1.0, -1.0) * STRENGTH, rtol=1e-13)


def test_margins_and_factors_of_cells_are_read_by_leaf_and_class():
    cells, factors = np.arange(6.0).reshape(3, 2), np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 5.0]])
    with shards_of("csb2") as shards:
        logs, u = parts(shards, RowLogs(View(HYPOTHESIS), cells, factors))
        with np.errstate(divide="ignore"):
            expected = np.log(D * factors[LEAVES, Y])
        assert_allclose(logs, expected, rtol=1e-13)  # a factor of 0 leaves no weight
        assert_array_equal(u, cells[LEAVES, Y])
        strong = Hypothesis(HYPOTHESIS.votes, HYPOTHESIS.sizes, by_row=True)
        _, u = parts(shards, RowLogs(View(strong), cells, factors))
        assert_allclose(u, cells[LEAVES, Y] * SIZES)
        logs, _ = parts(shards, RowLogs(View(HYPOTHESIS), cells))  # the rows' own factors
        assert_allclose(logs, np.log(D * np.where(RIGHT, 1.0, PRICE)), rtol=1e-12)


def test_rows_that_gain_and_rows_that_lose_are_summed_apart():
    with shards_of("adac1") as shards:
        (sizes,) = shards.call([make_tails(how=RowLogs(View(HYPOTHESIS)))])
        assert sizes == (N, RIGHT.sum(), N - RIGHT.sum())
        u = np.where(RIGHT, PRICE, -PRICE) * STRENGTH
        for side, chosen in ((1, u > 0), (2, u < 0)):
            terms = np.log(D[chosen] * np.abs(u[chosen])) - 3.0 * u[chosen]
            (top,) = shards.call([largest_log(side=side, alpha=3.0)])
            assert top == pytest.approx(terms.max(), rel=1e-13)
            (sums,) = shards.call([sum_logs(side=side, alpha=3.0, top=float(top), scale=2.0**40)])
            total = (sums[0, 0] + sums[0, 1] / 2**40) / 2.0**40
            assert_allclose(total, np.sum(np.exp(terms - top)), rtol=1e-11)


@pytest.mark.parametrize("alpha", [0.5, 3e3])
def test_a_long_step_forth_and_back_leaves_the_weights(alpha):
    with shards_of("adac1") as shards:
        how = RowLogs(View(HYPOTHESIS))
        for step in (alpha, -alpha):
            (top,) = shards.call(
                [step_logs(how=how, alpha=step, round_factor=None, own_round_factor=False)]
            )
            shards.call([settle_logs(top=float(top))])
            weights = shards.fetch(lambda shard: shard.state.weights)
            assert weights.max() == 1.0
            assert weights.min() > 0.0  # held above 0, so that kernels may go on
        assert_allclose(weights, D / D.max(), rtol=1e-12 * alpha)


@pytest.mark.parametrize("by_row", [False, True])
def test_factors_of_a_round_are_part_of_the_step(by_row):
    with shards_of("asymada") as shards:
        by_class = None if by_row else np.log([2.0, 3.0])
        (top,) = shards.call(
            [
                step_logs(
                    how=RowLogs(View(HYPOTHESIS)),
                    alpha=0.5,
                    round_factor=by_class,
                    own_round_factor=by_row,
                )
            ]
        )
        own = PRICE**0.25 if by_row else np.where(Y == 1, 3.0, 2.0)
        expected = D * np.exp(-0.5 * np.where(RIGHT, STRENGTH, -STRENGTH)) * own
        assert top == pytest.approx(np.log(expected.max()), rel=1e-12)
        shards.call([settle_logs(top=float(top))])
        weights = shards.fetch(lambda shard: shard.state.weights)
        assert_allclose(weights, expected / expected.max(), rtol=1e-12)


def test_rows_without_weight_do_not_come_back():
    with shards_of("adac1", 1) as shards:
        (shard,) = shards.shards
        shard.state.absent = np.arange(N) % 5 == 0
        for alpha in (2e3, -2e3):
            (top,) = shards.call(
                [
                    step_logs(
                        how=RowLogs(View(HYPOTHESIS)),
                        alpha=alpha,
                        round_factor=None,
                        own_round_factor=False,
                    )
                ]
            )
            shards.call([settle_logs(top=float(top))])
        assert np.all(shard.state.weights[shard.state.absent] <= 1e-280)
        assert np.all(shard.state.weights[~shard.state.absent] > 1e-6)

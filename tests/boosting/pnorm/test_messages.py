"""What shards answer to the L_p family, against NumPy; alike whatever the shards."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.pnorm.methods import METHODS, make_stochastic
from costboost.boosting.pnorm.rows import (
    TINY,
    PNormLoader,
    largest_signed_weight,
    mix_in,
    rescale_mislabel,
    reweigh,
    set_vectors,
    sum_reward,
    weight_range,
)
from costboost.shards.layout import RowData
from naive import pnorm as naive
from pnorm_problems import fetch, matrix, problem, row_costs, run

N, K = 80, 4
X, Y = problem(5, n=N, K=K)
C = row_costs(5, Y, K)
ANSWERS = np.random.default_rng(0).integers(0, 2, (3, K)).astype(np.uint8)
LEAVES = np.random.default_rng(1).integers(0, 3, N)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 7)
    monkeypatch.setattr("costboost.boosting.pnorm.rows._BLOCK", 30)


def bound(method="lp-csb", n_shards=1, T=0, weights=None, p=2.0):
    """Return a loop after some rounds, its rows in `LEAVES`."""
    loop = run(X, Y, C, method, T=T, n_shards=n_shards, weights=weights, p=p)[1]
    for shard in loop.shards.shards:
        shard.leaves[:] = LEAVES[shard.rows]
    return loop


def told(loop, message):
    return message.reduce([message.answer(shard) for shard in loop.shards.shards])


def signed(loop, method, p=2.0):
    rule = METHODS[method]
    return loop.shards.fetch(lambda shard: shard.state.signed(slice(0, len(shard.rows)), rule, p))


@pytest.mark.parametrize("method", ["lp-csb", "lp-csb-a", "gbse", "adaboost.m2"])
def test_signed_weights_are_put_on_the_grid(method):
    found = []
    for n_shards in (1, 3):
        loop = bound(method, n_shards, T=2)
        expected = signed(loop, method)
        assert (
            told(loop, largest_signed_weight(method=METHODS[method], p=2.0))
            == np.abs(expected).max()
        )
        sums = told(loop, set_vectors(method=METHODS[method], p=2.0, scale=2.0**20, draw=None))
        vectors = fetch(loop, "vectors")
        assert_array_equal(vectors, np.rint(expected * 2.0**20))
        assert sums.tolist() == [np.maximum(vectors, 0).sum(), vectors.sum()]
        found.append(vectors.tolist())
        reward = told(loop, sum_reward(answers=ANSWERS))
        assert reward == np.sum(vectors.astype(np.int64) * ANSWERS[LEAVES])
    assert found[0] == found[1]


def test_copies_multiply_what_is_on_the_grid():
    copies = np.arange(N) % 4 * 1.0
    plain, copied = bound(), bound(weights=copies)
    message = set_vectors(method=METHODS["lp-csb"], p=2.0, scale=2.0**20, draw=None)
    told(plain, message)
    told(copied, message)
    expected = fetch(plain, "vectors") * copies[:, None].astype(int)
    assert_array_equal(fetch(copied, "vectors"), expected)


def test_examples_are_drawn_in_proportion_by_the_numbers_of_rows():
    found, rule = [], METHODS["lp-csb"]
    for n_shards in (1, 3):
        loop = bound(n_shards=n_shards, p=1.0)
        weights = signed(loop, "lp-csb", 1.0)
        largest = np.abs(weights).max()
        drawn = []
        for number in range(300):
            told(loop, set_vectors(method=rule, p=1.0, scale=largest, draw=(7, number)))
            drawn.append(fetch(loop, "vectors"))
        found.append(np.array(drawn))
    assert_array_equal(*found)
    assert set(np.unique(found[0])) == {-1, 0, 1}
    mean = found[0].mean(axis=0)
    assert np.all(np.abs(mean - weights / largest) < 5 * np.sqrt(0.25 / 300))
    assert abs(np.mean(mean - weights / largest)) < 0.01


@pytest.mark.parametrize("stochastic", [False, True])
def test_answers_are_mixed_in(stochastic):
    loop = bound(n_shards=3, T=1)
    before = fetch(loop, "mixture")
    told(loop, mix_in(answers=ANSWERS, stochastic=stochastic, keep=0.7, alpha=0.3))
    hypothesis_answers = ANSWERS[LEAVES].astype(float)
    hypothesis_answers = make_stochastic(hypothesis_answers) if stochastic else hypothesis_answers
    assert_allclose(fetch(loop, "mixture"), 0.7 * before + 0.3 * hypothesis_answers, rtol=1e-14)


def mislabels(loop):
    """Return D, (n, K): what AdaBoost.M2's examples weigh but for the labels, twice."""
    return np.where(Y[:, None] == np.arange(K), 0.0, -2.0 * signed(loop, "adaboost.m2"))


def test_mislabel_weights_follow_adaboost_m2():
    loop = bound("adaboost.m2", n_shards=3)
    before, h = mislabels(loop), ANSWERS[LEAVES].astype(float)
    own = h[np.arange(N), Y][:, None]
    largest = told(loop, reweigh(answers=ANSWERS, beta=0.25))
    expected = before * 0.25 ** (0.5 * (1 + own - h))
    assert_allclose(mislabels(loop), expected, rtol=1e-14)
    assert largest == mislabels(loop).max()
    told(loop, rescale_mislabel(exponent=-3))
    assert_allclose(mislabels(loop), 8.0 * expected, rtol=1e-14)


def test_mislabel_weights_do_not_vanish_and_none_comes_from_nothing():
    prices = np.where(np.arange(N)[:, None] % 5 == np.arange(K), 0.0, C)  # some are free
    loop = run(X, Y, prices, "adaboost.m2", T=0)[1]
    loop.shards.shards[0].leaves[:] = LEAVES
    none = mislabels(loop) == 0.0
    assert none.sum() > N  # not the labels alone
    for _ in range(4):
        told(loop, reweigh(answers=ANSWERS, beta=1e-200))
    after = mislabels(loop)
    assert np.all(after[none] == 0.0)
    assert np.all(after[~none] >= TINY)


@pytest.mark.parametrize(
    ("weights", "least"), [([0.75, 2.0, 0.0], -2), ([3.0, 6.0, 12.0], 0), ([2.0**-300, 0, 4], -300)]
)
def test_the_finest_bit_of_weights_is_told(weights, least):
    costs = Costs.from_matrix(1 - np.eye(3)).bind(np.arange(3))
    load = PNormLoader(RowData(np.arange(3), np.array(weights), costs), 3).load
    shard = SimpleNamespace(state=load(np.arange(3)))
    assert weight_range().answer(shard).tolist() == [max(weights), -least]


@pytest.mark.parametrize("p", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("constant", [False, True])
def test_objective_and_cost_of_a_round_are_those_of_its_mixture(p, constant):
    prices = matrix(6, K) if constant else C
    weights = np.random.default_rng(2).uniform(0.0, 3.0, N)
    paid, found = prices[Y] if constant else prices, []
    for n_shards in (1, 4):
        rounds, loop = run(
            X, Y, prices, p=p, T=3, n_shards=n_shards, weights=weights, step="search"
        )
        H = fetch(loop, "mixture")
        last = rounds[-1]
        assert last.objective == pytest.approx(naive.objective(H, paid, p, weights), rel=1e-12)
        decided = np.argmax(H, axis=1)
        expected = np.sum(weights * paid[np.arange(N), decided])
        assert last.train_cost == pytest.approx(expected, rel=1e-12)
        found.append([(done.alpha, done.objective, done.train_cost) for done in rounds])
    assert found[0] == found[1]

"""What the L_p family reads of its rows, some at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.pnorm import rows as module
from costboost.boosting.pnorm.methods import METHODS
from costboost.boosting.pnorm.rows import PNormLoader, hypothesis_answers, mixed_in, price_unit
from costboost.shards.layout import RowData
from pnorm_problems import matrix, problem, row_costs, run

N, K = 50, 3
X, Y = problem(2, n=N, K=K)
ALL = slice(0, N)


def bound(C, method="lp-csb", weights=None):
    """Return the state of a shard of all rows before the first round."""
    return run(X, Y, C, method, T=0, weights=weights)[1].shards.shards[0].state


@pytest.mark.parametrize("kind", ["by class", "by row"])
def test_a_method_sees_what_answers_cost_over_the_cheapest(kind):
    C = (matrix(2, K) if kind == "by class" else row_costs(2, Y, K)) * 1e-5
    C = C + 2e-5  # right answers cost something too
    paid = C[Y] if kind == "by class" else C
    state = bound(C)
    seen = state.seen(ALL, 2.0, adaptive=False)
    excess = paid - paid.min(axis=1, keepdims=True)
    unit = price_unit(excess.max())
    assert_allclose(seen.costs, excess / unit, rtol=1e-12)
    assert 0.5 <= seen.costs.max() < 1.0
    assert_array_equal(seen.labels, Y)
    assert_array_equal(seen.mixture, np.full((N, K), 1 / K))
    some = slice(7, 20)
    assert_array_equal(state.seen(some, 2.0, adaptive=False).costs, seen.costs[some])


def test_rows_aim_at_their_cheapest_answer():
    C = row_costs(3, Y, K)
    C[::4] = C[::4, [1, 2, 0]]  # something else is free
    seen = bound(C).seen(ALL, 2.0, adaptive=False)
    assert_array_equal(seen.labels, np.argmin(C, axis=1))
    assert_array_equal(seen.costs[np.arange(N), seen.labels], np.zeros(N))


@pytest.mark.parametrize("method", ["lp-csb", "gbse", "adaboost.m2"])
def test_signed_weights_are_those_of_the_method_times_the_rows(method):
    C, rule = row_costs(4, Y, K), METHODS[method]
    plain = bound(C, method)
    seen = plain.seen(ALL, 2.0, adaptive=rule.adaptive)
    signed = plain.signed(ALL, rule, 2.0)
    assert_array_equal(signed, rule.examples(seen))
    weights = np.random.default_rng(0).uniform(0.1, 1.0, N)
    weights[5] = 0.0
    heavy = bound(C, method, weights)
    ratio = heavy.signed(ALL, rule, 2.0)[np.abs(signed) > 0] / signed[np.abs(signed) > 0]
    expected = np.broadcast_to(weights[:, None], signed.shape)[np.abs(signed) > 0]
    assert_allclose(ratio / ratio.max(), expected / weights.max(), rtol=1e-12)
    # Whole numbers are copies: they multiply what is put on the grid, not the weights.
    copied = bound(C, method, np.arange(N) % 4 * 1.0)
    kept = (np.arange(N) % 4 > 0)[:, None]
    assert_allclose(copied.signed(ALL, rule, 2.0), signed * kept, rtol=1e-12)


@pytest.mark.parametrize("numbers", [1, K, 10, 1 << 14])
def test_blocks_are_all_rows_in_turn(numbers, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", numbers)
    state = bound(row_costs(5, Y, K))
    blocks = list(state.blocks())
    assert [i for rows in blocks for i in range(N)[rows]] == list(range(N))
    assert all((rows.stop - rows.start) * K <= max(numbers, K) for rows in blocks)


@pytest.mark.parametrize("largest", [1e-300, 0.3, 0.5, 1.0, 7.0, 1e300])
def test_the_unit_of_prices_is_a_power_of_two(largest):
    unit = price_unit(largest)
    assert 0.5 <= largest / unit <= 1.0
    assert np.frexp(unit)[0] == 0.5
    assert price_unit(0.0) == 1.0


@pytest.mark.parametrize("per_row", [False, True])
def test_rows_made_elsewhere_are_those_made_here(per_row):
    C = row_costs(6, Y, K) if per_row else matrix(6, K)
    costs = (Costs.of_rows(C) if per_row else Costs.from_matrix(C)).bind(np.arange(K))
    weights, chosen = np.linspace(0.0, 1.0, N), np.array([3, 40, 7])
    here = PNormLoader(RowData(Y, weights, costs), K)
    own = RowData(Y.astype(np.uint8), weights, costs if per_row else None)
    there = here.blank().on(own)
    assert (there.labels, there.n_segments) == (None, 1)
    for loader in (here, there):
        state = loader.load(chosen)
        assert_array_equal(state.sample_weights, weights[chosen])
        assert_array_equal(state.weights_of(slice(1, 3)), weights[chosen[1:], None])
        assert list(state.blocks()) == [slice(0, 3)]
    assert PNormLoader(RowData(Y, None, costs), K).load(chosen).weights_of(slice(0, 3)) is None


def test_answers_are_those_of_leaves_or_of_rows():
    answers, leaves = np.array([[1, 0], [0, 1], [1, 1]], np.uint8), np.array([2, 0, 0, 1])
    state = bound(row_costs(7, Y, K))
    assert hypothesis_answers(answers, state, leaves, slice(1, 4)).tolist() == [
        [1, 0],
        [1, 0],
        [0, 1],
    ]
    state.answers = np.arange(N * 2, dtype=np.uint8).reshape(N, 2) % 2
    assert_array_equal(hypothesis_answers(None, state, leaves, slice(1, 4)), state.answers[1:4])
    assert mixed_in(answers, stochastic=False).tolist() == answers.tolist()
    assert mixed_in(answers, stochastic=True).tolist() == [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]


def test_mislabel_weights_of_adaboost_m2_are_costs_at_first():
    state = bound(row_costs(8, Y, K), "adaboost.m2")
    costs = state.seen(ALL, 2.0, adaptive=False).costs
    signed = state.signed(ALL, METHODS["adaboost.m2"], 2.0)
    own = Y[:, None] == np.arange(K)
    expected = np.where(own, costs.sum(axis=1, keepdims=True), -costs) / 2
    assert_allclose(signed, expected, rtol=1e-14)

"""The loop of the L_p family against its twin, over shards and weights, and its theorems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.binning.binner import fit_binner
from costboost.boosting.formulas import MAX_ALPHA
from costboost.boosting.pnorm import rows as priced_rows
from costboost.boosting.pnorm.learner import PairClassifier
from costboost.boosting.pnorm.loop import PNormBoosting, PNormSetting
from costboost.boosting.pnorm.methods import METHODS, rate_bound
from costboost.boosting.pnorm.rows import cost_over_cheapest, price_unit
from costboost.estimators.pnorm.family import assemble_mixture
from costboost.shards import layout as layout_module
from costboost.shards.layout import plan_layout
from costboost.shards.rows import round_key, uniform
from costboost.trees.forest import ForestBuilder
from naive import pnorm as naive
from pnorm_problems import NAMES, fetch, loader, matrix, problem, row_costs, run, seeds


def assert_same_rounds(found, expected, label=None):
    assert len(found) == len(expected)
    for name in ("alpha", "error", "objective"):
        assert_allclose(
            [getattr(r, name) for r in found], [r[name] for r in expected], rtol=1e-6, atol=1e-9
        )
    assert_allclose([r.train_cost for r in found], [r["cost"] for r in expected], rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "average-cost"])
@settings(deadline=None, max_examples=6)
@given(seed=seeds, K=st.integers(2, 5))
def test_loop_equals_its_twin(name, seed, K):
    X, y = problem(seed, K=K)
    C = row_costs(seed, y, K)
    found, loop = run(X, y, C, name)
    expected = naive.run(X, C, y, name)
    assert_same_rounds(found, expected)
    if found:
        assert_allclose(fetch(loop, "mixture"), expected[-1]["H"], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("step", ["average", "bound", "search"])
@pytest.mark.parametrize("name", ["lp-csb", "lp-csb-a", "lp-csb-pa"])
@pytest.mark.parametrize("p", [2.0, 3.5])
def test_steps_equal_their_twin(name, step, p):
    X, y = problem(7, K=4)
    C, weights = row_costs(7, y, 4), np.random.default_rng(7).uniform(0.5, 2.0, len(y))
    found, _ = run(X, y, C, name, p=p, step=step, weights=weights, T=4)
    expected = naive.run(X, C, y, name, p, step, T=4, s=weights)
    for name in ("alpha", "objective"):
        # Where the objective is flat its minimiser is found to half the digits.
        assert_allclose([getattr(r, name) for r in found], [r[name] for r in expected], rtol=2e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("constant", [True, False])
def test_model_does_not_depend_on_shards(name, constant, monkeypatch):
    monkeypatch.setattr(layout_module, "_DEAL", 7)
    monkeypatch.setattr(priced_rows, "_BLOCK", 30)
    X, y = problem(3, n=200, K=4)
    C = matrix(3, 4) if constant else row_costs(3, y, 4)
    weights = np.random.default_rng(3).uniform(0.1, 1.0, len(y))
    p, step = (2.5, "search") if METHODS[name].uses_p else (2.0, "harmonic")
    one, loop_one = run(
        X, y, C, name, p=p, step=step, weights=weights, max_depth=None, max_leaf_nodes=6
    )
    many, loop_many = run(
        X, y, C, name, p=p, step=step, weights=weights, n_shards=5, max_depth=None, max_leaf_nodes=6
    )
    assert [r.alpha for r in one] == [r.alpha for r in many]
    assert [(r.objective, r.train_cost, r.error) for r in one] == [
        (r.objective, r.train_cost, r.error) for r in many
    ]
    assert_array_equal(fetch(loop_one, "mixture"), fetch(loop_many, "mixture"))


@pytest.mark.parametrize("name", ["lp-csb", "lp-csb-a", "gbse", "adaboost.m2"])
def test_a_weight_of_two_is_a_row_given_twice(name):
    X, y = problem(5, n=80, K=3)
    C, copies = row_costs(5, y, 3), np.random.default_rng(5).integers(0, 4, 80)
    copies[:3] = 2
    again = np.repeat(np.arange(80), copies)
    weighted, _ = run(X, y, C, name, weights=copies.astype(float), T=8)
    repeated, _ = run(X[again], y[again], C[again], name, T=8)
    assert_allclose([r.error for r in weighted], [r.error for r in repeated], rtol=1e-12)
    assert_allclose([r.train_cost for r in weighted], [r.train_cost for r in repeated])
    assert_allclose([r.objective for r in weighted], [r.objective for r in repeated], rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_constant_costs_are_costs_per_row(name):
    X, y = problem(11, n=90, K=3)
    C = matrix(11, 3)
    by_class, _ = run(X, y, C, name)
    by_row, _ = run(X, y, C[y], name)
    assert [(r.alpha, r.error, r.objective) for r in by_class] == [
        (r.alpha, r.error, r.objective) for r in by_row
    ]


def test_one_label_methods_are_one_algorithm():  # Proposition 3.1, and Abe et al.'s expansion
    X, y = problem(13, n=150, K=4)
    C = row_costs(13, y, 4)
    costs = {}
    for name in ("lp-csb-a", "lp-csb-pa", "dse"):
        rounds, _ = run(X, y, C, name, p=3.0, max_depth=3, T=10)
        costs[name] = [r.train_cost for r in rounds]
    assert costs["lp-csb-a"] == costs["lp-csb-pa"] == costs["dse"]


def test_mixtures_of_stochastic_hypotheses_sum_to_one():  # invariant 42
    X, y = problem(17, K=4)
    for name in ("gbse", "gbse-t", "lp-csb-a", "lp-csb-pa", "dse", "average-cost"):
        _, loop = run(X, y, row_costs(17, y, 4), name, T=9)
        assert_allclose(fetch(loop, "mixture").sum(axis=1), 1.0)


def test_rounds_at_p_one_differ_and_are_drawn_in_proportion():  # invariant 40
    X, y = problem(19, n=400, K=3)
    rounds, loop = run(X, y, row_costs(19, y, 3), "lp-csb", p=1.0, T=6, max_depth=3)
    assert len({r.error for r in rounds}) == 6
    assert set(np.unique(fetch(loop, "vectors"))) <= {-1, 0, 1}
    u = np.concatenate([uniform(round_key(1, t), np.arange(20_000)) for t in range(3)])
    assert abs(np.mean(u < 0.3) - 0.3) < 0.01
    assert abs(np.corrcoef(u[:20_000], u[20_000:40_000])[0, 1]) < 0.02


class Pool:
    """The exact learner over a pool of functional hypotheses, (m, n, K)."""

    def __init__(self, pool, C):
        self.pool, self.C = pool, C

    def learn(self, shards, number):
        w = shards.fetch(lambda shard: shard.state.vectors)
        best = self.pool[np.argmax(np.sum(self.pool * w, axis=(1, 2)))]
        for shard in shards.shards:
            shard.state.answers = best[shard.rows].astype(np.uint8)
        return PairClassifier(None)


@pytest.mark.parametrize("p", [2.0, 3.0, 4.0])
@pytest.mark.parametrize("step", ["bound", "search"])
def test_theorem_42_holds_for_the_mean(p, step):  # invariant 39
    rng = np.random.default_rng(23)
    n, K = 60, 4
    y = rng.integers(0, K, n)
    C = row_costs(23, y, K)
    pool = np.eye(K)[rng.integers(0, K, (15, n))]
    layout = plan_layout(None, n, 1, 1)
    costs = Costs.of_rows(C).bind(np.arange(K))
    with layout.cut(np.zeros((n, 0), dtype=np.uint8), loader(y, costs, None, K)) as shards:
        setting = PNormSetting(60, p, step)
        choices = (METHODS["lp-csb-a"], Pool(pool, C), costs, K, setting)
        rounds = list(PNormBoosting(shards, *choices).rounds())
    L = np.array([r.objective for r in rounds])
    H, least = np.full((n, K), 1 / K), 0.0
    for _ in range(400):  # Frank and Wolfe's lower bound of the infimum
        gradient = p * H ** (p - 1) * C / n
        f = pool[np.argmin(np.sum(pool * gradient, axis=(1, 2)))]
        least = max(least, naive.objective(H, C, p) + np.sum(gradient * (f - H)))
        alpha = naive.searched(H, f, C, y, p, np.ones(n), False)
        H = (1 - alpha) * H + alpha * f
    assert np.all(L - least <= rate_bound(C.max(), p, len(L)))
    start = naive.objective(np.full((n, K), 1 / K), C, p)
    assert np.all(np.diff(np.append(start, L)) <= 1e-12)
    assert all(0 <= r.alpha <= 1 for r in rounds)


def test_a_solved_problem_ends():
    X = np.arange(6.0)[:, None]
    y = np.repeat([0, 1, 2], 2)
    rounds, loop = run(X, y, matrix(0, 3), step="average", max_depth=None)
    assert len(rounds) == 1
    assert loop.stop == "perfect"
    assert rounds[0].objective == rounds[0].train_cost == 0.0
    found, loop = run(X, y, matrix(0, 3), "adaboost.m2", max_depth=None)
    assert (len(found), loop.stop, found[0].error) == (1, "perfect", 0.0)


def test_unrolled_mixture_is_the_last_stage():
    X, y = problem(29, n=120, K=4)
    for name, step in [("lp-csb", "search"), ("gbse", "average"), ("adaboost.m2", "harmonic")]:
        rounds, loop = run(X, y, matrix(29, 4), name, step=step, T=7)
        model = assemble_mixture(rounds, METHODS[name], loop.learner.binner, 4)
        stages = list(model.staged_margins(X))
        assert_allclose(model.margins(X), stages[-1], atol=1e-14)
        assert_allclose(stages[-1], fetch(loop, "mixture"), atol=1e-14)
        base, shares = model.shares
        if name != "adaboost.m2":
            assert_allclose(base + shares.sum(), 1.0)


def test_excess_is_what_answers_cost_over_the_cheapest():
    costs = Costs.from_matrix([[2.0, 1.0], [8.0, 0.5]]).bind([0, 1])
    labels, excess = cost_over_cheapest(costs, np.array([0, 1]))
    assert labels.tolist() == [1, 1]
    assert excess.tolist() == [[1.0, 0.0], [7.5, 0.0]]
    assert price_unit(7.5) == 8.0


@pytest.mark.parametrize("constant", [True, False])
def test_cost_of_decisions_is_alike_on_any_shards(constant, monkeypatch):
    """Decisions are counted, or their prices added up, exactly: a weight of 2 is a row twice."""
    monkeypatch.setattr(layout_module, "_DEAL", 7)
    X, y = problem(31, n=150, K=3)
    C, copies = matrix(31, 3) if constant else row_costs(31, y, 3), np.arange(150) % 3 + 1
    one, two, seven = (
        [r.train_cost for r in run(X, y, C, weights=copies * 0.25, n_shards=n, max_depth=3)[0]]
        for n in (1, 2, 7)
    )
    assert one == two == seven
    again = np.repeat(np.arange(150), copies)
    repeated, _ = run(X[again], y[again], C if constant else C[again], max_depth=3)
    # What has the price of its row is rounded once more, a product of weight and price.
    rtol = 0.0 if constant else 1e-15
    assert_allclose(4.0 * np.array(one), [r.train_cost for r in repeated], rtol=rtol)


def test_more_classes_than_a_byte_can_number():
    X = np.arange(600.0)[:, None]
    y, C = np.arange(600) // 2, np.tile(np.random.default_rng(33).uniform(0.5, 1.0, 300), (300, 1))
    np.fill_diagonal(C, 0.0)
    by_class, loop = run(X, y, C, T=2, max_depth=2)
    by_row, _ = run(X, y, C[y], T=2, max_depth=2)
    decided = np.argmax(fetch(loop, "mixture"), axis=1)
    assert_allclose(by_class[-1].train_cost, C[y, decided].sum())
    assert_allclose([r.train_cost for r in by_row], [r.train_cost for r in by_class])


@pytest.mark.parametrize("kind", ["rows", "classes", "fractions", "copies"])
def test_votes_of_adaboost_m2_follow_from_its_weights_over_twelve_decades(kind):
    """D in long double, from the model's own answers: prices may leave an error of 1e-15."""
    longest = 0.0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        K, n = int(rng.integers(2, 5)), int(rng.choice([12, 60, 200]))
        X, y = problem(seed, n=n, K=K, levels=int(rng.choice([4, 16])))
        spread = 10.0 ** rng.uniform(-6, 6, (K if kind == "classes" else n, K))
        C, weights = np.where(np.arange(K) == y[:, None], 0.0, 1.0), None
        if kind == "rows":
            C = C * spread
        elif kind == "classes":
            C = np.where(np.eye(K) > 0, 0.0, spread)
        else:
            weights = spread[:, 0] if kind == "fractions" else rng.integers(1, 9, n).astype(float)
            C = C * 10.0 ** rng.uniform(-6, 6, (n, 1))
        found, _ = run(
            X, y, C, "adaboost.m2", T=6, weights=weights, max_depth=None, max_leaf_nodes=8
        )
        D = (C[y] if kind == "classes" else C).astype(np.longdouble)
        D *= 1.0 if weights is None else weights[:, None]
        codes = fit_binner(X, weights).encode(X)
        for number, done in enumerate(found):
            builder = ForestBuilder(K)
            done.add_to(builder, stochastic=False)
            h = builder.build(fit_binner(X, weights)).margins_of_codes(codes)
            halves = 1 + h[np.arange(n), y][:, None] - h
            lost, kept = np.sum(D * (2 - halves)), np.sum(D * halves)
            if lost == 0:
                assert number == len(found) - 1
                assert done.alpha == 2.0 * MAX_ALPHA
                continue
            assert_allclose(done.alpha, float(np.log(kept / lost)), rtol=1e-9)
            longest = max(longest, done.alpha)
            D *= np.exp(-np.longdouble(done.alpha)) ** (halves / 2)
    assert longest > 15.0

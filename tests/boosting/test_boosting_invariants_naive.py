"""Invariants 1 to 34 of docs/algorithms.md, checked on the naive twins themselves.

The twins referee the library, so they are refereed here first: one test per number, on random
problems with every stump as a candidate learner. Non-reductions are asserted as well.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from naive import rules
from naive.rules import boost, half_log, mec_decision, minimise_z, stump_pool

SEEDS = range(4)
SAME = {"rtol": 1e-10, "atol": 1e-12}
CRISP = [m for m in rules.METHODS if m != "gradient-csb"]


def problem(seed, n=40, d=3, noise=1.0):
    """(y, pool): n distinct rows, both classes present, not separable by stumps."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.3, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return y, stump_pool(X)


def class_costs(y, fp, fn):
    return np.where(y > 0, fn, fp).astype(float)


def small_costs(y, seed, top=0.12):
    """Costs per row at which AdaCost takes positive steps."""
    return top * np.random.default_rng(seed).uniform(0.1, 1, len(y))


def same_run(one, other, scale=1.0):
    """The same votes, weights and decisions; alphas of `one` are `scale` times the other's."""
    assert one.n_rounds == other.n_rounds > 2
    assert_array_equal(one.votes, other.votes)
    assert_allclose(one.weights, other.weights, rtol=1e-8, atol=1e-13)
    assert_allclose(one.alphas, scale * other.alphas, rtol=1e-8)
    assert_allclose(one.margins, scale * other.margins, rtol=1e-7, atol=1e-9)


def differ(one, other):
    """Whether the weights of two runs part company."""
    rounds = min(len(one.weights), len(other.weights))
    return not np.allclose(one.weights[:rounds], other.weights[:rounds], rtol=1e-6)


def normalised(w):
    return w / w.sum()


def errors_so_far(result, y):
    return np.cumsum(result.votes * y < 0, axis=0)


# ---------------------------------------------------------------- AdaBoost family


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_01_exponential_loss_is_the_product_of_normalizers(seed):
    y, pool = problem(seed)
    r = boost("adaboost", y, np.ones_like(y), pool=pool)
    loss = np.exp(-y * r.margins).mean(axis=1)
    assert_allclose(loss, np.cumprod(r.normalizers), **SAME)
    assert_allclose(r.normalizers, 2 * np.sqrt(r.errors * (1 - r.errors)), **SAME)
    assert (np.mean(y * r.margins <= 0, axis=1) <= loss).all()
    assert (r.train_cost / len(y) <= loss + 1e-12).all()


@pytest.mark.parametrize("method", ["adaboost", "adamec", "cgada", "asymada"])
def test_invariant_02_the_last_learner_is_a_coin_toss_afterwards(method):
    y, pool = problem(1)
    r = boost(method, y, class_costs(y, 1, 3), pool=pool)
    ahead = class_costs(y, 1, 3) ** 0.1 if method == "asymada" else 1.0
    for t, h in enumerate(r.votes, start=1):
        next_factor = ahead if t < r.n_rounds else 1.0  # AsymAda's D_{t+1} contains it already
        after = normalised(r.weights[t] / next_factor)
        assert_allclose(after[y * h < 0].sum(), 0.5, **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_03_samme_of_two_classes_is_adaboost_with_alpha_doubled(seed):
    y, pool = problem(seed)
    best = rules.pool_learner(pool)
    r = boost("adaboost", y, np.ones_like(y), pool=pool)
    k = rules.samme((y > 0).astype(int), 2, learner=lambda w, t: best(w, 2 * t - 1) > 0)
    assert_array_equal(k.votes, r.votes > 0)
    assert_allclose(k.alphas, 2 * r.alphas, **SAME)
    assert_allclose(k.weights, r.weights, **SAME)
    assert_allclose(k.margins[..., 1] - k.margins[..., 0], 2 * r.margins, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_04_adaboost_m2_of_two_classes_is_adaboost(seed):
    y, pool = problem(seed)
    r = boost("adaboost", y, np.ones_like(y), pool=pool)
    h = np.stack([r.votes < 0, r.votes > 0], axis=2).astype(float)
    m2 = rules.adaboost_m2((y > 0).astype(int), 2, h)
    assert_allclose(m2.errors, r.errors, **SAME)
    assert_allclose(m2.weights, r.weights, **SAME)
    assert_allclose(m2.alphas, 2 * r.alphas, **SAME)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.booleans())
@settings(max_examples=60, deadline=None)
def test_invariant_05_schapire_singer_estimate(seed, n, crisp):
    rng = np.random.default_rng(seed)
    D, u = rng.dirichlet(np.ones(n)), rng.uniform(-1, 1, n)
    u[:2] = abs(u[0]), -abs(u[1])  # both signs: a finite minimiser exists
    u = np.where(u > 0, 1.0, -1.0) if crisp else u
    r, estimate, exact = D @ u, half_log(D, u), minimise_z(D, u, 1e6)
    if abs(r) > 1e-12:  # below, the sign is rounding's
        assert np.sign(estimate) == np.sign(exact) == np.sign(r)
    assert abs(estimate) <= abs(exact) * (1 + 1e-9) + 1e-14
    assert D @ np.exp(-estimate * u) <= np.sqrt(1 - r**2) * (1 + 1e-12)
    if crisp:
        assert_allclose(estimate, exact, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("method", rules.METHODS)
def test_invariant_06_weights_may_be_scaled_permuted_and_replicated(method):
    y, pool = problem(2, n=24, d=2)
    rng = np.random.default_rng(2)
    c = class_costs(y, 0.05, 0.1) if method == "adamec" else small_costs(y, 2)
    s = rng.integers(1, 4, len(y))

    def run(index, weight):
        return boost(method, y[index], c[index], pool=pool[:, index], sample_weight=weight)

    everything, order = np.arange(len(y)), rng.permutation(len(y))
    reference = run(everything, s)
    assert reference.n_rounds >= 1
    copies = np.repeat(everything, s)
    for index, weight in ((everything, 7.3 * s), (order, s[order]), (copies, None)):
        other = run(index, weight)
        assert other.stop == reference.stop
        assert_array_equal(other.votes, reference.votes[:, index])
        assert_allclose(other.alphas, reference.alphas, rtol=1e-8)
        assert_allclose(other.normalizers, reference.normalizers, rtol=1e-9)
        assert_allclose(other.margins, reference.margins[:, index], rtol=1e-7, atol=1e-9)
        scale = 7.3 if index is everything else 1.0
        assert_allclose(other.train_cost, scale * reference.train_cost, rtol=1e-9)


# ---------------------------------------------------------------- AdaCost


def adacost(seed, n_rounds=10, **options):
    y, pool = problem(seed)
    c = small_costs(y, seed)
    r = boost("adacost", y, c, pool=pool, n_rounds=n_rounds, **options)
    assert r.n_rounds >= 3
    assert (r.alphas > 0).all()
    return y, c, r


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_07_adacost_bound(seed):
    y, c, r = adacost(seed)
    cost = (c * (y * r.margins <= 0)).sum(axis=1)
    assert (r.train_cost <= cost + 1e-15).all()
    assert (cost <= r.bound * (1 + 1e-12)).all()
    assert_allclose(r.bound, c.sum() * np.cumprod(r.normalizers), **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_08_adacost_identity(seed):
    _, c, r = adacost(seed)
    loss = (c * np.exp(-r.exponents)).sum(axis=1)
    assert_allclose(loss, c.sum() * np.cumprod(r.normalizers), **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_09_adacost_lemma_and_its_failure_at_negative_alphas(seed):
    y, _, r = adacost(seed)
    assert (y * r.margins > 0)[r.exponents > 0].all()
    # A witness: c = .5, alpha = (-1, -.9), m = (+, -).
    alpha, m = np.array([-1.0, -0.9]), np.array([1.0, -1.0])
    beta = rules.fan_beta(np.sign(m), 0.5)
    assert_allclose([alpha @ (m * beta), alpha @ m], [0.425, -0.1])


@pytest.mark.parametrize("seed", range(20))
def test_invariant_10_when_adacost_steps_forward(seed):
    y, pool = problem(seed)
    rng = np.random.default_rng(seed)
    c = rng.uniform(0, rng.uniform(0.05, 1), len(y))
    h = pool[rng.integers(len(pool))] if seed % 2 else rules.pool_learner(pool)(c, y)
    D = normalised(c)
    eps, mean_cost = D[y * h < 0].sum(), D @ c
    r = D @ (y * h * rules.fan_beta(np.sign(y * h), c))
    assert_allclose(r, (1 - 2 * eps - mean_cost) / 2, **SAME)
    run = boost("adacost", y, c, votes=[h])
    assert (run.n_rounds == 1) == (mean_cost < 1 - 2 * eps)
    assert run.stop == ("votes" if run.n_rounds else "alpha")
    assert run.n_rounds or run.constant in (-1, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_11_adacost_without_costs_is_adaboost_with_alpha_doubled(seed):
    y, pool = problem(seed)
    plain = boost("adaboost", y, np.ones_like(y), pool=pool)
    same_run(boost("adacost", y, np.zeros_like(y), pool=pool), plain, scale=2)


@pytest.mark.parametrize("c", [0.02, 0.1, 0.2])
def test_invariant_12_adacost_with_equal_costs(c):
    y, pool = problem(3, noise=0.3)
    r = boost("adacost", y, np.full_like(y, c), pool=pool)
    expected = np.log((1 - r.errors) * (1 - c) / (r.errors * (1 + c)))
    assert r.n_rounds >= 1
    assert_allclose(r.alphas, expected, rtol=1e-9)
    assert differ(r, boost("adaboost", y, np.ones_like(y), pool=pool))


def test_invariant_13_adacost_wants_costs_within_zero_and_one():
    y, pool = problem(0)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        boost("adacost", y, class_costs(y, 1, 5), pool=pool)
    with pytest.raises(ValueError, match="not negative"):
        boost("adacost", y, class_costs(y, 1, -0.5), pool=pool)
    scaled = boost("adacost", y, class_costs(y, 1, 5), pool=pool, cost_scale=0.1)
    assert_allclose(scaled.costs.max(), 0.1)
    auto = boost("adacost", y, class_costs(y, 1, 5), pool=pool, cost_scale="auto")
    assert auto.n_rounds >= 1
    assert 0 < auto.costs.max() <= 1
    with pytest.raises(ValueError, match="beta_- >= beta_"):
        boost("adacost", y, small_costs(y, 0), pool=pool, beta=lambda sign, c: 0.5 + sign * c / 2)


def test_invariant_13_the_limit_of_the_cost_scale():
    y, pool = problem(0)
    c = class_costs(y, 1, 5)
    D = normalised(c)
    m = y * rules.pool_learner(pool)(D, y)
    limit = rules.cost_scale_limit(D, m, c)
    assert_allclose(limit, (D @ m) / (D @ (c / c.max())), rtol=1e-9)  # E_D[c] = 1 - 2 eps
    assert boost("adacost", y, c, pool=pool, cost_scale=limit * 0.999).n_rounds >= 1
    assert boost("adacost", y, c, pool=pool, cost_scale=limit * 1.001).n_rounds == 0


def test_invariant_14_adacost_weight_ratio_at_equal_margin():
    y, _ = problem(0)
    y[:2], c = (1, -1), class_costs(y, 0.03, 0.12)
    rng = np.random.default_rng(0)
    m = np.where(rng.uniform(size=(12, len(y))) < 0.2, -1.0, 1.0)
    m[:, 1] = m[:, 0]  # a positive and a negative that share their margin in every round
    r = boost("adacost", y, c, votes=m * y, n_rounds=12)
    assert r.n_rounds >= 3
    A = np.cumsum(r.alphas)
    expected = 0.12 / 0.03 * np.exp((0.12 - 0.03) * A / 2)
    assert_allclose(r.weights[1:, 0] / r.weights[1:, 1], expected, rtol=1e-9)


# ---------------------------------------------------------------- AdaC, CSB


@pytest.mark.parametrize(
    "method", ["adac1", "adac2", "adac3", "csb2", "adacost-beta1", "adacost-beta2"]
)
@pytest.mark.parametrize("alpha", ["published", "search"])
def test_invariant_15_unit_costs_give_adaboost(method, alpha):
    y, pool = problem(1)
    one = np.ones_like(y)
    same_run(boost(method, y, one, pool=pool, alpha=alpha), boost("adaboost", y, one, pool=pool))


def test_invariant_15_csb0_and_csb1_are_not_adaboost():
    y, pool = problem(1)
    one = np.ones_like(y)
    plain = boost("adaboost", y, one, pool=pool)
    csb0, csb1 = (boost(m, y, one, pool=pool) for m in ("csb0", "csb1"))
    assert_allclose(csb0.weights, 1 / len(y))  # never change, so every learner is the same
    assert (csb0.votes == csb0.votes[0]).all()
    assert differ(csb1, plain)
    fixed = boost("adaboost", y, one, votes=csb1.votes)  # step 1 instead of alpha
    assert_allclose(csb1.weights[1], normalised(np.exp(-y * csb1.votes[0])), **SAME)
    assert not np.allclose(csb1.weights[1], fixed.weights[1])


@pytest.mark.parametrize("k", [0.5, 3.0])
def test_invariant_16_equal_costs(k):
    y, pool = problem(2)
    plain = boost("adaboost", y, np.ones_like(y), pool=pool)
    equal = np.full_like(y, k)
    for method in ("adac2", "cgada", "asymada", "adamec"):
        same_run(boost(method, y, equal, pool=pool), plain)
    assert differ(boost("csb2", y, equal, pool=pool), plain)
    for method in ("adac1", "adac3"):
        if k <= 1:
            assert differ(boost(method, y, equal, pool=pool), plain)
        else:
            with pytest.raises(ValueError, match=r"\[0, 1\]"):
                boost(method, y, equal, pool=pool)


CLOSED_WEIGHTS = {
    "adaboost": lambda c, yF, errors, t: np.exp(-yF),
    "adac1": lambda c, yF, errors, t: np.exp(-c * yF),
    "adac2": lambda c, yF, errors, t: c**t * np.exp(-yF),
    "adac3": lambda c, yF, errors, t: c**t * np.exp(-c * yF),
    "adacost-beta1": lambda c, yF, errors, t: np.exp(-c * yF),
    "adacost-beta2": lambda c, yF, errors, t: np.exp(-c * yF),
    "csada": lambda c, yF, errors, t: np.exp(-c * yF),
    "csb0": lambda c, yF, errors, t: c * c**errors,  # the first weights are c
    "csb1": lambda c, yF, errors, t: c * c**errors * np.exp(2 * errors - t),
    "csb2": lambda c, yF, errors, t: c * c**errors * np.exp(-yF),
}


@pytest.mark.parametrize("method", CLOSED_WEIGHTS)
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_17_closed_form_weights(method, seed):
    y, pool = problem(seed)
    c = np.random.default_rng(seed).uniform(0.6, 1.0, len(y))
    c = c / c.min() if method.startswith("csb") else c
    r = boost(method, y, c, pool=pool)
    assert r.n_rounds >= 1
    errors = errors_so_far(r, y)
    for t, (F, wrong) in enumerate(zip(r.margins, errors, strict=True), start=1):
        expected = normalised(CLOSED_WEIGHTS[method](c, y * F, wrong, t))
        assert_allclose(r.weights[t], expected, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_invariant_18_alphas_of_adac(seed):
    y, pool = problem(seed)
    rng = np.random.default_rng(seed)
    D, c, h = rng.dirichlet(np.ones(len(y))), rng.uniform(0, 1, len(y)), pool[seed]
    h = h if np.sum(c * D * y * h) > 0 else -h
    m = y * h

    def alpha(method, **options):
        return boost(method, y, c, votes=[h], sample_weight=D, **options).alphas

    right = m > 0
    S, Q = c * D, c**2 * D
    assert_allclose(alpha("adac2"), 0.5 * np.log(S[right].sum() / S[~right].sum()), rtol=1e-9)
    assert_allclose(alpha("adac2"), minimise_z(c * D, m), rtol=1e-9)
    r = (c * D) @ m
    assert_allclose(alpha("adac1"), 0.5 * np.log((1 + r) / (1 - r)), rtol=1e-9)
    plus, minus = Q[right].sum(), Q[~right].sum()
    if plus > minus:
        expected = 0.5 * np.log((S.sum() + plus - minus) / (S.sum() - plus + minus))
        assert_allclose(alpha("adac3"), expected, rtol=1e-9)
        exact = alpha("adac3", alpha="search")
        assert_allclose(((c**2 * D * m) * np.exp(-exact * c * m)).sum(), 0, atol=1e-12)
        assert exact >= alpha("adac3") - 1e-12  # only an upper bound's minimiser
    exact = alpha("adac1", alpha="search")
    assert_allclose(((c * D * m) * np.exp(-exact * c * m)).sum(), 0, atol=1e-12)
    assert exact >= alpha("adac1") - 1e-12


@pytest.mark.parametrize("seed", range(30))
def test_invariant_19_when_adac_steps_forward(seed):
    y, pool = problem(seed)
    rng = np.random.default_rng(seed)
    D, c = rng.dirichlet(np.ones(len(y))), rng.uniform(0, 1, len(y))
    h = pool[rng.integers(len(pool))]
    for method, power in (("adac1", 1), ("adac2", 1), ("adac3", 2)):
        run = boost(method, y, c, votes=[h], sample_weight=D, n_rounds=1)
        forward = (c**power * D) @ (y * h) > 0
        assert (run.n_rounds == 1) == forward
        assert run.stop == ("rounds" if forward else "alpha")


@pytest.mark.parametrize("method", ["adac1", "adac3", "adacost-beta1"])
def test_invariant_20_costs_above_one_are_rejected_or_rescaled(method):
    y, pool = problem(0)
    c = class_costs(y, 1, 3)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        boost(method, y, c, pool=pool)
    auto = boost(method, y, c, pool=pool, cost_scale="auto")
    assert_allclose(auto.costs.max(), 1)
    same = boost(method, y, c / 3, pool=pool)
    assert_allclose(auto.alphas, same.alphas, **SAME)
    assert_allclose(auto.train_cost, 3 * same.train_cost, **SAME)  # in the caller's units
    assert boost(method, y, c, pool=pool, alpha="search").n_rounds >= 1  # any scale has an argmin


# ---------------------------------------------------------------- CSAda, CGAda, AsymAda, AdaMEC


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_21_csada_is_stationary_and_descends(seed):
    y, pool = problem(seed, n=24, d=2)
    c = class_costs(y, 0.3, 1)
    r = boost("csada", y, c, pool=pool, n_rounds=5)
    for w, alpha, h, Z in zip(r.weights, r.alphas, r.votes, r.normalizers, strict=False):
        assert_allclose(rules.hyperbolic_residual(alpha, h, w, y, 0.3, 1), 0, atol=1e-12)
        losses = [np.sum(w * np.exp(-c * a * y * g)) for g in pool for a in (0.5 * alpha, alpha)]
        assert min(losses) >= Z - 1e-12  # the joint search is the best of the whole pool
    loss = np.exp(-c * y * r.margins).mean(axis=1)
    assert_allclose(loss, np.cumprod(r.normalizers), **SAME)
    assert (np.diff(loss) <= 0).all()
    assert loss[0] <= 1


def test_invariant_21_csada_may_step_with_error_above_one_half():
    y = np.array([1.0, -1, -1, -1])
    h = np.ones(4)  # the positive right, three cheap negatives wrong
    r = boost("csada", y, class_costs(y, 0.1, 1), votes=[h])
    assert r.n_rounds == 1
    assert r.errors[0] == 0.75


@pytest.mark.parametrize("k", [0.5, 4.0])
def test_invariant_22_csada_with_equal_costs_is_adaboost(k):
    y, pool = problem(1, n=24, d=2)
    plain = boost("adaboost", y, np.ones_like(y), pool=pool, n_rounds=6)
    joint = boost("csada", y, np.full_like(y, k), pool=pool, n_rounds=6)
    handed = boost("csada", y, np.full_like(y, k), learner=rules.pool_learner(pool), n_rounds=6)
    for r in (joint, handed):
        same_run(r, plain, scale=1 / k)
    balanced = boost("csada", y, np.ones_like(y), pool=pool, n_rounds=6, init="balanced")
    assert differ(balanced, plain)  # the papers' first weights are not plain AdaBoost's


def test_invariant_23_adaboostdb_is_csada():
    y, pool = problem(2, n=24, d=2)
    c = class_costs(y, 1, 2.5)
    one, other = (boost(m, y, c, pool=pool, n_rounds=4) for m in ("csada", "adaboostdb"))
    same_run(one, other)
    same_run(boost("csada", y, c, votes=one.votes, n_rounds=4), one)  # replay finds the alphas


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_24_cgada_is_adaboost_from_cost_weights(seed):
    y, pool = problem(seed)
    c = np.random.default_rng(seed).uniform(0.2, 5, len(y))
    one = boost("cgada", y, c, pool=pool)
    other = boost("adaboost", y, np.ones_like(y), pool=pool, sample_weight=c)
    assert_array_equal(one.weights, other.weights)
    assert_array_equal(one.alphas, other.alphas)
    assert_array_equal(one.margins, other.margins)
    assert differ(one, boost("adaboost", y, c, pool=pool))  # AdaBoost itself is blind to costs


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_25_cgada_bound(seed):
    y, pool = problem(seed)
    c = np.random.default_rng(seed).uniform(0.2, 5, len(y))
    r = boost("cgada", y, c, pool=pool)
    assert ((c * (y * r.margins <= 0)).sum(axis=1) <= r.bound * (1 + 1e-12)).all()
    assert_allclose(r.bound, (c * np.exp(-y * r.margins)).sum(axis=1), **SAME)


def test_invariant_26_cgada_weights():
    y, pool = problem(3)
    c = class_costs(y, 1, 4)
    r = boost("cgada", y, c, pool=pool)
    for t, F in enumerate(r.margins, start=1):
        assert_allclose(r.weights[t], normalised(c * np.exp(-y * F)), **SAME)


@pytest.mark.parametrize("rounds", [1, 3, 8])
def test_invariant_27_asymada(rounds):
    y, pool = problem(2)
    c = class_costs(y, 1, 4)
    r = boost("asymada", y, c, pool=pool, n_rounds=rounds)
    F = np.vstack([np.zeros_like(y), r.margins])
    for t in range(1, r.n_rounds + 1):
        seen = normalised(c ** (t / rounds) * np.exp(-y * F[t - 1]))
        assert_allclose(r.weights[t - 1], seen, **SAME)
        vj = normalised(np.exp(t / rounds * y * np.log(np.sqrt(4))) * np.exp(-y * F[t - 1]))
        assert_allclose(r.weights[t - 1], vj, **SAME)  # Viola and Jones's sqrt(k) form
    if rounds == 1:
        one = boost("cgada", y, c, pool=pool, n_rounds=1)
        assert_allclose(r.alphas, one.alphas, **SAME)
        assert_allclose(r.weights, one.weights, **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_28_adamec_three_forms_of_one_rule(seed):
    y, pool = problem(seed)
    one = np.ones_like(y)
    plain = boost("adaboost", y, one, pool=pool)
    F, A = plain.margins[-1], plain.alphas.sum()
    plus, minus = ((plain.alphas[:, None] * (s * plain.votes > 0)).sum(axis=0) for s in (1, -1))
    before = np.full_like(y, -1)
    for fp, fn in [(10, 1), (3, 1), (1.5, 1), (1, 1), (1, 1.7), (1, 3.1), (1, 9)]:
        rule = mec_decision(F, A, fp, fn)
        assert_array_equal(rule, np.where(fn * plus > fp * minus, 1, -1))
        assert_array_equal(rule, np.where(fp / (fp + fn) < (1 + F / A) / 2, 1, -1))
        assert (rule >= before).all()  # monotone in c_FN / c_FP
        before = rule
        r = boost("adamec", y, class_costs(y, fp, fn), pool=pool)
        same_run(r, plain)  # no retraining
        assert_allclose(r.train_cost[-1], class_costs(y, fp, fn) @ (rule != y), **SAME)
    assert_array_equal(mec_decision(F, A, 2, 2), np.where(F > 0, 1, -1))
    rows = mec_decision(F, A, np.where(y > 0, 1, 10), 1.0)  # a price per row
    expected = np.where(y > 0, mec_decision(F, A, 1, 1), mec_decision(F, A, 10, 1))
    assert_array_equal(rows, expected)


def test_invariant_28_adamec_is_not_the_logistic_link():
    parted = 0
    for seed in range(10):
        y, pool = problem(seed)
        r = boost("adaboost", y, np.ones_like(y), pool=pool)
        F, A = r.margins[-1], r.alphas.sum()
        link = np.where(1 / (1 + np.exp(-2 * F)) > 1 / 6, 1, -1)
        parted += np.sum(mec_decision(F, A, 1, 5) != link)
    assert parted > 20


def normalised_cost(y, decision, fp, fn):
    """Q = z FPR + (1-z) FNR with z = c_FP N- / (c_FP N- + c_FN N+)."""
    z = fp * np.sum(y < 0) / (fp * np.sum(y < 0) + fn * np.sum(y > 0))
    return z * np.mean(decision[y < 0] > 0) + (1 - z) * np.mean(decision[y > 0] < 0)


@given(st.floats(0.05, 20), st.sampled_from([0.25, 2.0, 64.0]), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_invariant_29_only_the_ratio_of_costs_matters_to_adamec(fn, scale, seed):
    y, pool = problem(seed, n=20, d=2)
    r = boost("adaboost", y, np.ones_like(y), pool=pool, n_rounds=5)
    F, A = r.margins[-1], r.alphas.sum()
    one, other = mec_decision(F, A, 1, fn), mec_decision(F, A, scale, scale * fn)
    assert_array_equal(one, other)
    q = normalised_cost(y, one, 1, fn)
    assert_allclose(q, normalised_cost(y, other, scale, scale * fn), **SAME)
    assert_allclose(q, class_costs(y, 1, fn) @ (one != y) / class_costs(y, 1, fn).sum(), **SAME)


def platt(s, y):
    """p = 1/(1 + e^{as+b}) by cross-entropy on Platt's smoothed targets (2.10)."""
    n_plus, n_minus = np.sum(y > 0), np.sum(y < 0)
    target = np.where(y > 0, (n_plus + 1) / (n_plus + 2), 1 / (n_minus + 2))

    def loss(ab):
        z = ab[0] * s + ab[1]
        p = 1 / (1 + np.exp(z))
        g = target - p
        return np.sum(np.logaddexp(0, z) - (1 - target) * z), np.array([g @ s, g.sum()])

    a, b = minimize(loss, [0.0, 0.0], jac=True, method="BFGS", options={"gtol": 1e-7}).x
    return 1 / (1 + np.exp(a * s + b)), a


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_30_calibrated_adamec_is_monotone_and_symmetric(seed):
    y, pool = problem(seed)
    fp, fn = 1.0, 2.3

    def decide(y, pool, fp, fn):
        r = boost("adamec", y, class_costs(y, fp, fn), pool=pool)
        s = (1 + r.margins[-1] / r.alphas.sum()) / 2
        p, a = platt(s, y)
        assert a < 0
        order = np.argsort(s)
        assert (np.diff(p[order]) >= 0).all()
        return p > fp / (fp + fn)

    # The mirrored pool keeps the order of its stumps, so that ties fall alike.
    assert_array_equal(decide(y, pool, fp, fn), ~decide(-y, -pool, fn, fp))


# ---------------------------------------------------------------- Gradient-CSB

OBJECTIVES = ["adaboost", "adacost", "adac1", "asymboost"]


def gradient(objective, seed, n_rounds=10):
    y, pool = problem(seed)
    c = class_costs(y, 0.3, 1)
    r = boost("gradient-csb", y, c, pool=pool, objective=objective, n_rounds=n_rounds)
    return y, c, r, rules.gradient_objective(objective, y, c)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_31_gradient_csb_descends(objective, seed):
    _, _, r, (a, b, w0) = gradient(objective, seed)
    G = [1.0]
    for alphas, votes in ((r.alphas[:t], r.votes[:t]) for t in range(1, r.n_rounds + 1)):
        G.append(normalised(w0) @ np.exp(-(alphas[:, None] * (a * votes + b)).sum(axis=0)))
    assert_allclose(G[1:], np.cumprod(r.normalizers), **SAME)
    assert (np.diff(G) <= 1e-15).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_31_gradient_csb_rests_where_the_learner_returns(objective, seed):
    # After the search sum w (a f + b) = 0. With b = 0 the same f then has correlation 0 with a,
    # and the learner finds a better one. With b < 0 it keeps sum w a f = -sum w b > 0 and may be
    # chosen again: its exact step is 0, and the loop rests. Rounding decides whether the computed
    # step is 0, which ends training, or a last bit, which changes nothing.
    _, _, r, (a, b, _) = gradient(objective, seed)
    returned = (r.votes[1:] == r.votes[:-1]).all(axis=1)
    assert_allclose(r.alphas[1:][returned], 0, atol=1e-14)
    if not b.any():
        assert not returned.any()
        assert (r.n_rounds, r.stop) == (10, "rounds")
    elif r.n_rounds < 10:
        learner = rules.pool_learner(problem(seed)[1])
        assert (r.stop, r.rejected) == ("alpha", 0)
        assert_array_equal(learner(np.abs(a) * r.weights[-1], np.sign(a)), r.votes[-1])


def test_invariant_31_gradient_csb_takes_negative_steps():
    y, pool = problem(0)
    c = class_costs(y, 0.3, 1)
    r = boost("gradient-csb", y, c, pool=pool, objective="adacost")
    assert (r.alphas < 0).any()
    assert boost("adacost", y, c, pool=pool).stop == "alpha"  # AdaCost ends where this one goes on


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_32_gradient_csb_with_a_equal_y_is_adaboost(seed):
    y, pool = problem(seed)
    one = np.ones_like(y)
    plain = boost("adaboost", y, one, pool=pool)
    same_run(boost("gradient-csb", y, one, pool=pool, objective="adaboost"), plain)
    own = boost("gradient-csb", y, one, pool=pool, objective=(y, 0 * y, 5 * one))
    same_run(own, plain)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_invariant_33_gradient_csb_steps_to_the_stationary_point(objective):
    _, _, r, (a, b, _) = gradient(objective, 1)
    for w, alpha, f in zip(r.weights, r.alphas, r.votes, strict=False):
        u = a * f + b
        assert_allclose(np.sum(w * u * np.exp(-alpha * u)), 0, atol=1e-12)


def test_invariant_33_gradient_csb_cap():
    y = np.array([1.0, 1, -1, -1])
    for votes, sign in ((y, 1), (-y, -1)):
        r = boost("gradient-csb", y, np.ones(4), votes=[votes] * 3, max_alpha=6.0)
        assert r.stop == "perfect"
        assert r.alphas.tolist() == [sign * 6.0]
        assert_array_equal(np.sign(r.margins[-1]), y)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_34_gradient_csb_with_a_equal_cy_descends_like_csada(seed):
    y, pool = problem(seed)
    c = np.random.default_rng(seed).uniform(0.2, 1, len(y))
    seen = []

    def learner(weights, targets):
        seen.append((weights, targets))
        return rules.pool_learner(pool)(weights, targets)

    r = boost("gradient-csb", y, c, learner=learner, n_rounds=6)
    same_run(boost("csada", y, c, votes=r.votes, n_rounds=6), r)
    loss = np.exp(-c * y * r.margins).mean(axis=1)
    assert_allclose(loss, np.cumprod(r.normalizers), **SAME)
    for (weights, targets), w in zip(seen, r.weights, strict=False):
        assert_allclose(weights, normalised(c * w), **SAME)  # |a| w for the learner
        assert_array_equal(targets, y)
    # Line search on |a| w instead of w is a different, wrong step.
    a, w, f = c * y, r.weights[1], r.votes[1]
    assert not np.isclose(minimise_z(np.abs(a) * w, a * f), r.alphas[1], rtol=1e-3)
    # AdaC1 hands the learner e^{-cyF} itself: a different algorithm.
    assert differ(boost("adac1", y, c, pool=pool, n_rounds=6), r)


# ---------------------------------------------------------------- the twins' other promises


@pytest.mark.parametrize("method", CRISP)
def test_a_perfect_learner_gets_a_capped_alpha_and_ends_training(method):
    y = np.array([1.0, 1, -1, -1, -1])
    c = class_costs(y, 0.4, 0.8)
    r = boost(method, y, c, votes=[y] * 5, n_rounds=5, max_alpha=5.0)
    assert r.stop == "perfect"
    assert r.n_rounds == 1
    # A searched step is cut in the margins' own unit.
    weighted = np.sum(r.weights[0] * np.abs(r.exponents[0])) / r.alphas
    searched = method in ("adacost", "csada", "adaboostdb", "gradient-csb")
    assert (r.alphas * (weighted if searched else 1.0) <= 5.0 * (1 + 1e-12)).all()
    assert r.train_cost.tolist() == [0.0]
    assert np.isfinite(r.weights).all()


@pytest.mark.parametrize("method", CRISP)
def test_a_learner_that_is_always_wrong_leaves_no_rounds(method):
    y = np.array([1.0, 1, -1, -1, -1])
    r = boost(method, y, class_costs(y, 0.4, 0.8), votes=[-y])
    assert (r.n_rounds, r.stop, r.constant) == (0, "alpha", 1)
    assert r.weights.shape == (1, 5)
    assert r.margins.shape == (0, 5)


@pytest.mark.parametrize("method", rules.METHODS)
def test_replay_gives_the_same_numbers(method):
    y, pool = problem(3, n=24, d=2)
    c = class_costs(y, 0.05, 0.1)
    one = boost(method, y, c, pool=pool, n_rounds=6)
    two = boost(method, y, c, votes=one.votes, n_rounds=6)
    assert_allclose(one.alphas, two.alphas, **SAME)
    assert_allclose(one.weights, two.weights, **SAME)
    assert_allclose(one.weights.sum(axis=1), 1, **SAME)


@pytest.mark.parametrize("method", rules.METHODS)
def test_huge_cost_ratios_stay_finite(method):
    y, pool = problem(3, n=24, d=2)
    c = class_costs(y, 1, 10_000)
    r = boost(method, y, c, pool=pool, cost_scale="auto")
    for value in (r.alphas, r.weights, r.margins, r.normalizers, r.train_cost):
        assert np.isfinite(value).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_rareboost_is_real_adaboost_on_two_leaves(seed):
    y, pool = problem(seed)
    r = boost("rareboost", y, np.ones_like(y), pool=pool)
    assert r.n_rounds >= 1
    real = rules.real_adaboost(y, (r.votes > 0).astype(int))
    assert_allclose(real.margins, r.margins, rtol=1e-9, atol=1e-11)
    assert_allclose(real.weights, r.weights, rtol=1e-9, atol=1e-14)
    assert_allclose(real.normalizers, r.normalizers, **SAME)


def test_adauboost_of_equal_costs_is_adaboost_and_else_is_not():
    y, pool = problem(0)
    plain = boost("adaboost", y, np.ones_like(y), pool=pool)
    same_run(boost("adauboost", y, np.full_like(y, 3), pool=pool), plain)
    skew = boost("adauboost", y, class_costs(y, 1, 4), pool=pool)
    assert_allclose(skew.weights[0], normalised(class_costs(y, 1, 4)), **SAME)
    multiplier = np.where(y > 0, 0.25**0.1, 1.0)
    expected = normalised(class_costs(y, 1, 4) * np.exp(-multiplier * y * skew.margins[-1]))
    assert_allclose(skew.weights[-1], expected, rtol=1e-9)


def test_c_delta_multiplies_errors():
    y, pool = problem(0)
    c = class_costs(y, 0.5, 1)
    plain, more = (
        boost("adacost-beta2", y, c, votes=pool[:1], n_rounds=1, c_delta=flag)
        if np.sum(y * pool[0]) > 0
        else boost("adacost-beta2", y, c, votes=-pool[:1], n_rounds=1, c_delta=flag)
        for flag in (False, True)
    )
    wrong = y * plain.votes[0] < 0
    expected = normalised(plain.weights[1] * np.where(wrong, c, 1))
    assert_allclose(more.weights[1], expected, **SAME)


def test_csada_hands_an_outside_learner_cost_times_weight():
    y, pool = problem(0)
    c, seen = class_costs(y, 0.3, 1), []

    def learner(weights, targets):
        seen.append(weights)
        return rules.pool_learner(pool)(weights, targets)

    r = boost("csada", y, c, learner=learner, n_rounds=3)
    for weights, w in zip(seen, r.weights, strict=False):
        assert_allclose(weights, normalised(c * w), **SAME)


def test_adacost_with_a_beta_of_ones_own():
    y, pool = problem(0)
    c = small_costs(y, 0)

    def beta(sign, c):
        return np.where(sign > 0, 0.4 - 0.1 * c, 0.4 + 0.3 * c)

    s = np.arange(1.0, len(y) + 1)
    r = boost("adacost", y, c, pool=pool, beta=beta, sample_weight=s)
    assert r.n_rounds >= 3
    u = (r.alphas[:, None] * y * r.votes * beta(y * r.votes, c)).sum(axis=0)
    assert_allclose(r.weights[-1], normalised(s * c * np.exp(-u)), **SAME)
    assert_allclose(r.bound[-1], np.sum(s * c * np.exp(-u)), **SAME)
    assert (r.train_cost <= r.bound).all()


def test_documented_scales_and_first_weights():
    y, pool = problem(0)
    c = class_costs(y, 0.2, 0.5)
    csb = boost("csb2", y, c, pool=pool, cost_scale="auto")
    assert_allclose(csb.costs, class_costs(y, 1, 2.5), **SAME)
    assert_allclose(csb.weights[0], normalised(c), **SAME)
    for method in ("adacost-beta1", "adacost-beta2", "csada", "gradient-csb"):
        r = boost(method, y, c, pool=pool, cost_scale="auto", n_rounds=1)
        assert_allclose(r.costs.max(), 1)
        assert_allclose(r.weights[0], 1 / len(y))
    balanced = boost("csada", y, c, pool=pool, init="balanced", n_rounds=1).weights[0]
    assert_allclose([balanced[y > 0].sum(), balanced[y < 0].sum()], 0.5)


def test_learning_rate_shortens_the_step():
    y, pool = problem(0)
    one = boost("cgada", y, class_costs(y, 1, 2), pool=pool, n_rounds=1)
    half = boost("cgada", y, class_costs(y, 1, 2), pool=pool, n_rounds=1, learning_rate=0.5)
    assert_allclose(half.alphas, one.alphas / 2, **SAME)
    expected = normalised(one.weights[0] * np.exp(-half.alphas[0] * y * one.votes[0]))
    assert_allclose(half.weights[1], expected, **SAME)


@pytest.mark.parametrize("method", ["adaboost", "adacost", "csb2", "adac1", "csada"])
def test_confidence_rated_votes(method):
    y, _ = problem(1)
    rng = np.random.default_rng(1)
    votes = y * np.clip(rng.normal(0.3, 0.5, size=(6, len(y))), -1, 1)
    c = small_costs(y, 1, 0.2)
    r = boost(method, y, c, votes=votes, n_rounds=6)
    assert r.n_rounds >= 3
    if method in ("adaboost", "csb2"):
        mean = r.weights[:-1] * y * r.votes
        assert_allclose(np.tanh(r.alphas), mean.sum(axis=1), rtol=1e-9)
    if method == "adacost":
        u = y * r.votes * rules.fan_beta(np.sign(y * r.votes), c)
        slope = (r.weights[:-1] * u * np.exp(-r.alphas[:, None] * u)).sum(axis=1)
        assert_allclose(slope, 0, atol=1e-12)
        first = boost("adacost", y, c, votes=votes, n_rounds=1, alpha="estimate")
        assert first.alphas[0] <= r.alphas[0]


# ---------------------------------------------------------------- K classes, leaves


def problem_k(seed, K=3, n=45):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    y[:K] = np.arange(K)
    wrong = rng.uniform(size=(8, n)) < 0.4
    votes = np.where(wrong, rng.integers(0, K, (8, n)), y)
    C = rng.uniform(0.5, 1, (K, K)) * 0.2
    np.fill_diagonal(C, 0)
    return y, votes, C


@pytest.mark.parametrize("method", rules.METHODS_K)
def test_two_classes_of_the_k_class_twin_are_the_binary_twin(method):
    y, pool = problem(1)
    C = np.array([[0, 0.05], [0.1, 0]])
    c = class_costs(y, 0.05, 0.1)
    # SAMME.C2's alpha ignores costs; only the searched one is AdaC2's.
    options = {"alpha": "search"} if method == "adac2" else {}
    binary = boost(method, y, c, pool=pool, **options)
    votes = (binary.votes > 0).astype(int)
    k = rules.boost_k(method, (y > 0).astype(int), C, votes=votes, **options)
    assert k.n_rounds == binary.n_rounds >= 1
    assert_allclose(k.alphas, binary.alphas, rtol=1e-8)
    assert_allclose(k.weights, binary.weights, rtol=1e-8)
    assert_allclose(k.normalizers, binary.normalizers, rtol=1e-8)
    assert_allclose(k.margins[..., 1] - k.margins[..., 0], binary.margins, rtol=1e-7, atol=1e-9)
    assert_allclose(k.train_cost, binary.train_cost, **SAME)


@pytest.mark.parametrize("K", [3, 6])
def test_k_classes_without_costs_are_samme(K):
    y, votes, C = problem_k(0, K)
    samme = rules.samme(y, K, votes=votes, n_rounds=8)
    assert samme.n_rounds == 8
    for method, scale in (("adaboost", 0.5), ("adamec", 0.5), ("adacost", 2 * (K - 1) / K)):
        r = rules.boost_k(method, y, 0 * C if method == "adacost" else C, votes=votes)
        assert_allclose(r.alphas, scale * samme.alphas, rtol=1e-8)
        assert_allclose(r.weights, samme.weights, rtol=1e-8)
    search = rules.boost_k("adaboost", y, C, votes=votes, alpha="search")
    assert_allclose(search.alphas, samme.alphas / 2, rtol=1e-8)
    ones = 1 - np.eye(K)
    for method in ("cgada", "adac2", "csb2"):
        r = rules.boost_k(method, y, ones, votes=votes)
        assert_allclose(r.weights, samme.weights, rtol=1e-8)


@pytest.mark.parametrize("K", [2, 3])
def test_samme_is_scikit_learns(K):
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - K], y[y >= 3 - K] - (3 - K)
    s = np.random.default_rng(0).uniform(0.5, 2, len(y))
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    model = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y, sample_weight=s)
    votes = np.array([e.predict(X) for e in model.estimators_])
    r = rules.samme(y, K, votes=votes, n_rounds=8, sample_weight=s)
    assert_allclose(r.alphas, model.estimator_weights_[: r.n_rounds], rtol=1e-8)
    assert_allclose(r.errors, model.estimator_errors_[: r.n_rounds], rtol=1e-8)
    assert_array_equal(r.margins[-1].argmax(axis=1), model.predict(X))


def test_samme_c2_two_ways():
    y, votes, C = problem_k(1)
    c = rules.row_costs(y, C[y])
    literal = rules.samme_c2(y, 3, c, votes=votes, n_rounds=8)
    r = rules.boost_k("adac2", y, C, votes=votes)
    assert_allclose(r.weights, literal.weights, rtol=1e-8)
    assert_allclose(2 * r.alphas, literal.alphas, rtol=1e-8)


def test_k_class_csb_and_costs_per_row():
    y, votes, C = problem_k(2)
    C = C * 10
    n = len(y)
    for method in ("csb0", "csb1", "csb2"):
        r = rules.boost_k(method, y, C, votes=votes)
        assert_allclose(r.weights, rules.boost_k(method, y, C[y], votes=votes).weights)
        wrong = votes[: r.n_rounds] != y
        factor = np.where(wrong, C[y, votes[: r.n_rounds]], 1.0).prod(axis=0)
        delta = np.where(wrong, -1.0, 1.0)
        steps = {"csb0": 0.0, "csb1": 1.0, "csb2": r.alphas}[method] * np.ones(r.n_rounds)
        w = rules.row_costs(y, C[y]) * factor * np.exp(-(steps @ delta))
        assert_allclose(r.weights[-1], normalised(w), rtol=1e-9)
        assert r.margins.shape == (r.n_rounds, n, 3)


def test_k_class_adacost_formula():
    y, votes, C = problem_k(3)
    r = rules.boost_k("adacost", y, C, votes=votes)
    assert r.n_rounds >= 3
    c = rules.row_costs(y, C[y])
    w = normalised(c)
    for alpha, h, D in zip(r.alphas, r.votes, r.weights, strict=False):
        assert_allclose(D, w, rtol=1e-9)
        u = np.where(h == y, 0.5 - c / 2, -(0.5 + C[y, h] / 2) / 2)
        assert_allclose(np.sum(D * u * np.exp(-alpha * u)), 0, atol=1e-12)
        w = normalised(w * np.exp(-alpha * u))
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        rules.boost_k("adacost", y, 20 * C, votes=votes)


def test_learner_worse_than_chance_ends_samme():
    y = np.array([0, 1, 2, 0, 1, 2])
    votes = [(y + 1) % 3 * (np.arange(6) > 0)]  # one right of six: eps = 5/6 > 2/3
    literal = rules.samme(y, 3, votes=votes, n_rounds=1)
    half = rules.boost_k("adaboost", y, 1 - np.eye(3), votes=votes)
    for r in (literal, half):
        assert (r.n_rounds, r.stop) == (0, "alpha")


def test_leaf_boosting_descends_and_agrees_on_crisp_leaves():
    y, pool = problem(0)
    leaves = np.stack([(pool[i] > 0) + 2 * (pool[j] > 0) for i, j in ((0, 30), (8, 50), (20, 70))])
    real, gentle = rules.real_adaboost(y, leaves), rules.gentle_adaboost(y, leaves)
    for r in (real, gentle):
        loss = np.exp(-y * r.margins).mean(axis=1)
        assert_allclose(loss, np.cumprod(r.normalizers), **SAME)
        assert (np.diff([1.0, *loss]) <= 1e-12).all()
        for t, F in enumerate(r.margins, start=1):
            assert_allclose(r.weights[t], normalised(np.exp(-y * F)), **SAME)
    assert real.normalizers[0] <= gentle.normalizers[0]  # Real's leaves minimise Z
    logit = rules.logitboost(y, leaves, z_max=1e9)
    assert (np.diff([np.log(2), *logit.normalizers]) <= 1e-12).all()
    # From F = 0: w = 1/4, z = 2y, so the first f/2 is Gentle's first f.
    assert_allclose(logit.margins[0], gentle.margins[0], **SAME)


def test_logitboost_is_the_newton_step_of_its_loss():
    y, _ = problem(1)
    leaves = np.zeros((3, len(y)), dtype=int)
    F = 0.0
    for step in rules.logitboost(y, leaves, z_max=1e9).margins:
        p = 1 / (1 + np.exp(2 * y * F))
        F -= np.sum(-2 * y * p) / np.sum(4 * p * (1 - p))
        assert_allclose(step, F, **SAME)

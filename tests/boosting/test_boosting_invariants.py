"""Invariants 1 to 34 of docs/algorithms.md, on the library, by number.

`test_boosting_invariants_naive.py` checks the same numbers on the plain twins; here the library
fits its own trees. The round's weights are not public: where an invariant speaks of them, they are
rebuilt from the margins by the closed form that the invariant itself states, and the round's own
error, alpha and Z must then follow from them.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.steps import CellSums
from costboost.model import apply_maps
from naive import rules as naive

SEEDS = range(3)
SAME = {"rtol": 1e-9, "atol": 1e-12}


def problem(seed=0, n=150, d=4, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.3).astype(int)
    y[:2] = 0, 1
    return X, y


def fitted(method, X, y, costs=None, sample_weight=None, **options):
    options = {
        "n_estimators": 8,
        "calibration": None,
        "random_state": 0,
        "max_depth": 2,
        **options,
    }
    return CostBoostClassifier(method, **options).fit(X, y, sample_weight, costs)


def margins_of(model, X):
    return np.array(list(model.staged_decision_function(X)))


def votes_of(model, X):
    added = np.diff(margins_of(model, X), axis=0, prepend=np.zeros((1, len(X))))
    return np.sign(added / model.estimator_weights_.reshape(model.n_iter_, -1)[:, :1])


def signs_of(y):
    return np.where(y == 1, 1.0, -1.0)


def normalised(w):
    return w / w.sum()


def same_model(one, other, X, scale=1.0):
    """The same trees, and alphas of `one` that are `scale` times the other's."""
    assert one.n_iter_ == other.n_iter_ >= 3
    assert_array_equal(votes_of(one, X), votes_of(other, X))
    assert_allclose(one.estimator_weights_, scale * other.estimator_weights_, rtol=1e-8)
    assert_allclose(margins_of(one, X), scale * margins_of(other, X), rtol=1e-8, atol=1e-10)


def identical(one, other, X):
    """The same model, bit for bit."""
    assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    assert_array_equal(one.estimator_errors_, other.estimator_errors_)
    assert_array_equal(one.normalizers_, other.normalizers_)
    assert_array_equal(one.decision_function(X), other.decision_function(X))


def differ(one, other):
    """Whether two models part company: alphas, over the first, tell."""
    a, b = one.estimator_weights_, other.estimator_weights_
    shared = min(len(a), len(b))
    return len(a) != len(b) or not np.allclose(a[:shared] / a[0], b[:shared] / b[0], rtol=1e-6)


def follows(model, X, y, weights):
    """Errors are those of the votes under the given weights, (T, n), one row per round."""
    wrong = votes_of(model, X) != signs_of(y)
    assert_allclose(model.estimator_errors_, (weights * wrong).sum(axis=1), **SAME)


# ---------------------------------------------------------------- AdaBoost family


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_01_exponential_loss_is_the_product_of_normalizers(seed, depth):
    X, y = problem(seed)
    model = fitted("adaboost", X, y, max_depth=depth)
    loss = np.exp(-signs_of(y) * margins_of(model, X)).mean(axis=1)
    eps = model.estimator_errors_
    assert_allclose(loss, np.cumprod(model.normalizers_), **SAME)
    assert_allclose(model.normalizers_, 2 * np.sqrt(eps * (1 - eps)), **SAME)
    assert_allclose(model.estimator_weights_, 0.5 * np.log((1 - eps) / eps), **SAME)
    assert np.all(model.train_cost_ / len(y) <= loss)


@pytest.mark.parametrize("method", ["adaboost", "adamec", "cgada"])
def test_invariant_02_the_last_learner_is_a_coin_toss_afterwards(method):
    X, y = problem(1)
    model = fitted(method, X, y, Costs(fp=1, fn=3))
    first = np.where(y == 1, 3.0, 1.0) if method == "cgada" else np.ones(len(y))
    for F, h in zip(margins_of(model, X), votes_of(model, X), strict=True):
        after = normalised(first * np.exp(-signs_of(y) * F))
        assert_allclose(after[h != signs_of(y)].sum(), 0.5, **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_03_samme_of_two_classes(seed):
    """scikit-learn's AdaBoost is SAMME: twice our alphas, on the same trees."""
    X, y = problem(seed)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours = fitted("adaboost", X, y, estimator=tree)
    theirs = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
    votes = np.array([np.where(e.predict(X) == 1, 1.0, -1.0) for e in theirs.estimators_])
    run = naive.boost("adaboost", signs_of(y), np.ones(len(y)), votes, n_rounds=8)
    assert_allclose(theirs.estimator_weights_, 2 * run.alphas, rtol=1e-8)
    assert_allclose(ours.estimator_weights_[0], theirs.estimator_weights_[0] / 2, rtol=1e-9)
    samme = naive.samme(y, 2, votes=(votes_of(ours, X) > 0).astype(int), n_rounds=8)
    assert_allclose(samme.alphas, 2 * ours.estimator_weights_, rtol=1e-8)
    assert_allclose(samme.errors, ours.estimator_errors_, rtol=1e-8)


def test_invariant_03_three_classes_are_samme():
    X, y = problem(2)
    y = y + (X[:, 0] > 0.7)
    model = fitted("adaboost", X, y)
    margins = margins_of(model, X)
    votes = np.diff(margins, axis=0, prepend=np.zeros((1, *margins.shape[1:]))).argmax(axis=2)
    samme = naive.samme(y, 3, votes=votes, n_rounds=8)
    assert_allclose(2 * model.estimator_weights_, samme.alphas, rtol=1e-8)
    assert_allclose(model.estimator_errors_, samme.errors, rtol=1e-8)
    assert_array_equal(model.predict(X), samme.margins[-1].argmax(axis=1))


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_04_adaboost_m2_of_two_classes(seed):
    X, y = problem(seed)
    model = fitted("adaboost", X, y)
    votes = votes_of(model, X)
    h = np.stack([votes < 0, votes > 0], axis=2).astype(float)
    m2 = naive.adaboost_m2(y, 2, h)
    assert_allclose(m2.errors, model.estimator_errors_, rtol=1e-8)
    assert_allclose(m2.alphas, 2 * model.estimator_weights_, rtol=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.booleans())
@settings(max_examples=100, deadline=None)
def test_invariant_05_schapire_singer_estimate(seed, n, crisp):
    rng = np.random.default_rng(seed)
    D, u = rng.dirichlet(np.ones(n)), rng.uniform(-1, 1, n)
    u[:2] = abs(u[0]), -abs(u[1])  # both signs: a finite minimiser exists
    u = np.where(u > 0, 1.0, -1.0) if crisp else u
    sums = CellSums(D, u)
    r, estimate, exact = D @ u, steps.half_log(sums), steps.search(sums)
    if abs(r) > 1e-11:  # below, no step is taken
        assert np.sign(estimate) == np.sign(exact) == np.sign(r)
    assert abs(estimate) <= abs(exact) * (1 + 1e-9) + 1e-11
    assert sums.z(estimate)[0] <= np.sqrt(1 - r**2) * (1 + 1e-12)
    if crisp:
        assert_allclose(estimate, exact, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", naive.METHODS)
def test_invariant_06_weights_may_be_scaled_permuted_and_replicated(method, kind):
    X, y = problem(2, n=60)
    rng = np.random.default_rng(2)
    fn = 1.2 if kind == "constant" else rng.uniform(1, 1.3, len(y))
    s = rng.integers(1, 4, len(y)).astype(float)

    def run(index, weight):
        costs = Costs(fp=1.0, fn=fn if kind == "constant" else fn[index])
        return fitted(method, X[index], y[index], costs, weight, n_estimators=5)

    everything, order = np.arange(len(y)), rng.permutation(len(y))
    reference = run(everything, s)
    copies = np.repeat(everything, s.astype(int))
    for index, weight, scale in (
        (everything, 8.0 * s, 8.0),
        (everything, 7.3 * s, 7.3),
        (order, s[order], 1.0),
        (copies, None, 1.0),
    ):
        other = run(index, weight)
        assert_array_equal(votes_of(other, X), votes_of(reference, X))
        assert_allclose(other.estimator_weights_, reference.estimator_weights_, rtol=1e-8)
        assert_allclose(other.normalizers_, reference.normalizers_, rtol=1e-9)
        assert_allclose(other.train_cost_, scale * reference.train_cost_, rtol=1e-9)
    identical(run(everything, 8.0 * s), reference, X)  # powers of two change no bit
    if (method, kind) != ("adauboost", "rows"):  # whose beta is a mean, which rounds
        assert_array_equal(run(order, s[order]).estimator_weights_, reference.estimator_weights_)


# ---------------------------------------------------------------- AdaCost


def adacost(seed=0, kind="rows", **options):
    """(X, y, c, model), c scaled as the model scaled it."""
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    price = rng.uniform(0.1, 1, len(y)) if kind == "rows" else np.where(y == 1, 1.0, 0.25)
    costs = Costs.of_rows(price) if kind == "rows" else Costs(fp=0.25, fn=1)
    model = fitted("adacost", X, y, costs, cost_scale=0.12, max_depth=1, **options)
    assert model.n_iter_ >= 4
    assert np.all(model.estimator_weights_ > 0)
    return X, y, price, 0.12 * price / price.max(), model


def adacost_exponents(model, X, y, c):
    """y f' = sum alpha y h beta, (T, n)."""
    m = signs_of(y) * votes_of(model, X)
    return np.cumsum(model.estimator_weights_[:, None] * m * (0.5 - 0.5 * m * c), axis=0)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_07_adacost_bound(seed, kind):
    X, y, price, _, model = adacost(seed, kind)
    wrong = signs_of(y) * margins_of(model, X) <= 0
    assert_allclose(model.train_cost_, (price * wrong).sum(axis=1), **SAME)
    assert np.all(model.train_cost_ <= model.cost_bound_)
    assert_allclose(model.cost_bound_, price.sum() * np.cumprod(model.normalizers_), **SAME)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_08_adacost_identity(seed, kind):
    X, y, price, c, model = adacost(seed, kind)
    loss = (price * np.exp(-adacost_exponents(model, X, y, c))).sum(axis=1)
    assert_allclose(loss, model.cost_bound_, **SAME)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_09_adacost_lemma(seed):
    X, y, _, c, model = adacost(seed)
    exponents = adacost_exponents(model, X, y, c)
    assert np.all((signs_of(y) * margins_of(model, X))[exponents > 0] > 0)


@pytest.mark.parametrize("scale", [0.05, 0.2, 0.4, 0.8, 1.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_10_when_adacost_steps_forward(seed, scale):
    """alpha > 0 iff E_D[c] < 1 - 2 eps, in the first round, where D = c / sum c."""
    X, y = problem(seed, noise=0.4)
    price = np.random.default_rng(seed).uniform(0.3, 1, len(y))
    D, c = normalised(price), scale * price / price.max()
    first = fitted("cgada", X, y, Costs.of_rows(price), n_estimators=1)  # the same first tree
    forward = D @ c < 1 - 2 * first.estimator_errors_[0]
    model = CostBoostClassifier(
        "adacost", 1, max_depth=2, calibration=None, random_state=0, cost_scale=scale
    )
    if not forward:
        with pytest.warns(UserWarning, match="could not take a single step"):
            model.fit(X, y, costs=Costs.of_rows(price))
        assert model.n_iter_ == 0
        return
    model.fit(X, y, costs=Costs.of_rows(price))
    assert_allclose(model.estimator_errors_, first.estimator_errors_)
    m = signs_of(y) * votes_of(model, X)[0]
    r = D @ (m * (0.5 - 0.5 * m * c))
    assert_allclose(r, (1 - 2 * first.estimator_errors_[0] - D @ c) / 2, **SAME)


def test_invariant_10_both_sides_occur():
    """At the largest scale no stump steps forward, at the smallest every one does."""
    X, y = problem(0)
    price = Costs(fp=1, fn=1)
    with pytest.warns(UserWarning, match="cost_scale"):
        assert fitted("adacost", X, y, price, cost_scale=1.0, max_depth=1).n_iter_ == 0
    assert fitted("adacost", X, y, price, cost_scale=0.01, max_depth=1).n_iter_ == 8


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_11_adacost_without_costs_is_adaboost_with_alpha_doubled(seed):
    """Costs that are all zero are refused; beta = 1/2 is the same, and so is a scale near 0."""
    X, y = problem(seed)
    plain = fitted("adaboost", X, y)
    half = fitted("adacost", X, y, beta=lambda sign, c: np.full_like(c, 0.5))
    same_model(half, plain, X, scale=2)
    same_model(fitted("adacost", X, y, cost_scale=1e-14), plain, X, scale=2)
    with pytest.raises(ValueError, match="cost is zero"):
        fitted("adacost", X, y, Costs(fp=0, fn=0))


@pytest.mark.parametrize("c", [0.02, 0.1, 0.2])
def test_invariant_12_adacost_with_equal_costs(c):
    X, y = problem(3, noise=0.3)
    model = fitted("adacost", X, y, Costs(fp=7, fn=7), cost_scale=c)
    eps = model.estimator_errors_
    assert model.n_iter_ >= 2
    expected = np.log((1 - eps) * (1 - c) / (eps * (1 + c)))
    assert_allclose(model.estimator_weights_, expected, rtol=1e-8)
    assert differ(model, fitted("adaboost", X, y))


def test_invariant_13_adacost_scales_costs_into_zero_and_one():
    X, y = problem(0)
    small, large = (
        fitted("adacost", X, y, Costs(fp=k, fn=5 * k), cost_scale=0.1) for k in (0.01, 1000.0)
    )
    same_model(small, large, X)
    assert_allclose(1e5 * small.train_cost_, large.train_cost_)
    auto = fitted("adacost", X, y, Costs(fp=1, fn=5))
    assert auto.n_iter_ >= 1
    with pytest.raises(ValueError, match="cost_scale=3"):
        fitted("adacost", X, y, cost_scale=3)
    with pytest.raises(ValueError, match="negative"):
        fitted("adacost", X, y, Costs(fp=1, fn=-1))


def test_invariant_13_auto_is_half_of_the_largest_scale_that_steps_forward():
    X, _ = problem(0, n=2000)
    y = np.random.default_rng(0).integers(0, 2, len(X))  # nothing to learn: large errors
    costs, price = Costs(fp=1, fn=1.1), np.where(y == 1, 1.1, 1.0)
    options = {"n_estimators": 5, "max_depth": 1}
    eps = fitted("cgada", X, y, costs, **options).estimator_errors_[0]
    limit = (1 - 2 * eps) / (normalised(price) @ (price / 1.1))
    assert 0.5 * limit < 0.1  # else "auto" is 0.1
    auto = fitted("adacost", X, y, costs, **options)
    half = fitted("adacost", X, y, costs, cost_scale=0.5 * limit, **options)
    assert_array_equal(votes_of(auto, X), votes_of(half, X))
    assert_allclose(auto.estimator_weights_, half.estimator_weights_, rtol=1e-8)
    with pytest.warns(UserWarning, match="single step"):
        fitted("adacost", X, y, costs, cost_scale=1.001 * limit, **options)
    assert fitted("adacost", X, y, costs, cost_scale=0.999 * limit, **options).n_iter_ >= 1


def test_invariant_13_auto_is_one_tenth_where_the_first_step_allows_it():
    X, y = problem(0, noise=0.2)
    auto = fitted("adacost", X, y, Costs(fp=1, fn=2))
    same_model(auto, fitted("adacost", X, y, Costs(fp=1, fn=2), cost_scale=0.1), X)


def test_invariant_14_adacost_weight_ratio_at_equal_margin():
    """With w = c exp(-y f'): a ratio of (c+/c-) exp((c+ - c-) A / 2) at every equal margin."""
    X, y, price, c, model = adacost(0, "constant")
    exponents, A = adacost_exponents(model, X, y, c), np.cumsum(model.estimator_weights_)
    yF = signs_of(y) * margins_of(model, X)
    w = price * np.exp(-exponents)
    pairs = 0
    for t in range(model.n_iter_):
        for i in np.flatnonzero(y == 1):
            for j in np.flatnonzero((y == 0) & (np.abs(yF[t] - yF[t, i]) < 1e-12)):
                expected = 4 * np.exp((0.12 - 0.03) * A[t] / 2)
                assert_allclose(w[t, i] / w[t, j], expected, rtol=1e-9)
                pairs += 1
    assert pairs > 100
    # And those are the weights that the library trained on.
    before = np.vstack([normalised(price), [normalised(row) for row in w[:-1]]])
    follows(model, X, y, before)


# ---------------------------------------------------------------- AdaC, CSB

TO_ADABOOST = ["adac1", "adac2", "adac3", "csb2", "adacost-beta1", "adacost-beta2"]


@pytest.mark.parametrize("alpha", ["published", "search"])
@pytest.mark.parametrize("method", TO_ADABOOST)
def test_invariant_15_unit_costs_give_adaboost(method, alpha):
    X, y = problem(1)
    plain = fitted("adaboost", X, y)
    same_model(fitted(method, X, y, Costs(fp=1, fn=1), alpha=alpha), plain, X)
    if alpha == "published":
        identical(fitted(method, X, y), plain, X)  # no costs: all mistakes cost 1


def test_invariant_15_csb0_and_csb1_are_not_adaboost():
    X, y = problem(1)
    plain, csb0, csb1 = (fitted(m, X, y) for m in ("adaboost", "csb0", "csb1"))
    assert_allclose(csb0.estimator_weights_, csb0.estimator_weights_[0])  # weights never change
    assert np.all(votes_of(csb0, X) == votes_of(csb0, X)[0])
    assert_allclose(csb0.normalizers_, 1.0)
    assert differ(csb1, plain)
    eps = csb1.estimator_errors_[0]
    assert_allclose(csb1.normalizers_[0], (1 - eps) / np.e + eps * np.e, **SAME)  # a step of 1


@pytest.mark.parametrize("k", [0.5, 3.0])
def test_invariant_16_equal_costs(k):
    X, y = problem(2)
    plain, equal = fitted("adaboost", X, y), Costs(fp=k, fn=k)
    for method in ("adac2", "cgada", "asymada", "adamec"):
        same_model(fitted(method, X, y, equal), plain, X)
    # AdaC1, AdaC3 with costs equal to k < 1, CSB2 with errors multiplied by k: not AdaBoost.
    for method in ("adac1", "adac3"):
        assert differ(fitted(method, X, y, equal, cost_scale=0.5), plain)
        # Scaled to a largest cost of 1, the default, they are.
        identical(fitted(method, X, y, equal), plain, X)
    # CSB's costs are divided by the smallest, so equal costs are 1 to it; without that division
    # they are not.
    identical(fitted("csb2", X, y, equal), plain, X)
    votes = votes_of(plain, X)
    twin = naive.boost("csb2", signs_of(y), np.full(len(y), k), votes, n_rounds=8)
    assert not np.allclose(twin.alphas[: plain.n_iter_], plain.estimator_weights_[: twin.n_rounds])


CLOSED_WEIGHTS = {
    "adaboost": lambda c, yF, errors, t: np.exp(-yF),
    "adac1": lambda c, yF, errors, t: np.exp(-c * yF),
    "adac2": lambda c, yF, errors, t: c**t * np.exp(-yF),
    "adac3": lambda c, yF, errors, t: c**t * np.exp(-c * yF),
    "adacost-beta1": lambda c, yF, errors, t: np.exp(-c * yF),
    "adacost-beta2": lambda c, yF, errors, t: np.exp(-c * yF),
    "csada": lambda c, yF, errors, t: np.exp(-c * yF),
    "csb0": lambda c, yF, errors, t: c * c**errors,
    "csb1": lambda c, yF, errors, t: c * c**errors * np.exp(2 * errors - t),
    "csb2": lambda c, yF, errors, t: c * c**errors * np.exp(-yF),
}


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", CLOSED_WEIGHTS)
def test_invariant_17_closed_form_weights(method, kind):
    X, y = problem(0)
    rng = np.random.default_rng(0)
    c = rng.uniform(0.7, 1.0, len(y)) if kind == "rows" else np.where(y == 1, 1.0, 0.8)
    c = c / c.min() if method.startswith("csb") else c / c.max()
    costs = Costs.of_rows(c) if kind == "rows" else Costs(fp=c[y == 0][0], fn=c[y == 1][0])
    model = fitted(method, X, y, costs, max_depth=3)
    assert model.n_iter_ >= 3
    yF = signs_of(y) * np.vstack([np.zeros(len(y)), margins_of(model, X)])
    wrong = np.cumsum(votes_of(model, X) != signs_of(y), axis=0)
    wrong = np.vstack([np.zeros(len(y)), wrong])
    closed = CLOSED_WEIGHTS[method]
    weights = [normalised(closed(c, yF[t], wrong[t], t)) for t in range(model.n_iter_)]
    follows(model, X, y, np.array(weights))


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_18_alphas_of_adac(seed, kind):
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    D = normalised(rng.uniform(0.5, 2, len(y)))
    c = rng.uniform(0.6, 1, len(y)) if kind == "rows" else np.where(y == 1, 1.0, 0.7)
    c = c / c.max()
    costs = Costs.of_rows(c) if kind == "rows" else Costs(fp=0.7, fn=1)

    def first(method, **options):
        model = fitted(method, X, y, costs, D, n_estimators=1, max_depth=3, **options)
        return model.estimator_weights_[0], signs_of(y) * votes_of(model, X)[0]

    alpha, m = first("adac2")
    S, Q = c * D, c**2 * D
    assert_allclose(alpha, 0.5 * np.log(S[m > 0].sum() / S[m < 0].sum()), **SAME)
    assert_allclose(alpha, naive.minimise_z(c * D, m), rtol=1e-8)
    assert_allclose(first("adac2", alpha="search")[0], alpha, rtol=1e-9)
    r = S @ m
    assert_allclose(first("adac1")[0], 0.5 * np.log((1 + r) / (1 - r)), **SAME)
    plus, minus = Q[m > 0].sum(), Q[m < 0].sum()
    expected = 0.5 * np.log((S.sum() + plus - minus) / (S.sum() - plus + minus))
    assert_allclose(first("adac3")[0], expected, **SAME)
    for method, q in (("adac1", D), ("adac3", c * D)):
        exact = first(method, alpha="search")[0]
        assert_allclose(np.sum(q * c * m * np.exp(-exact * c * m)), 0, atol=1e-12)
        assert exact >= first(method)[0]  # the closed form minimises only an upper bound


@pytest.mark.parametrize("seed", range(8))
def test_invariant_19_when_adac_steps_forward(seed):
    """alpha > 0 iff S+ > S- (AdaC1, AdaC2), Q+ > Q- (AdaC3), of the first learner."""
    X, y = problem(seed)
    D = np.full(len(y), 1 / len(y))
    tree = fitted("adaboost", X, y, n_estimators=1, max_depth=1)
    m = signs_of(y) * votes_of(tree, X)[0]
    # Errors that cost up to twice, five times ... as much as right answers would.
    price = np.random.default_rng(seed).uniform(0.5, 1, len(y)) * np.where(m < 0, 1 + seed, 1)
    for method, power in (("adac1", 1), ("adac2", 1), ("adac3", 2)):
        forward = np.sum(price**power * D * m) > 0
        model = CostBoostClassifier(
            method, 1, max_depth=1, calibration=None, random_state=0, costs=None
        )
        if forward:
            model.fit(X, y, costs=Costs.of_rows(price))
        else:
            with pytest.warns(UserWarning, match="cgada"):
                model.fit(X, y, costs=Costs.of_rows(price))
        assert model.n_iter_ == int(forward)
        assert forward or seed > 0
        assert not forward or seed < 7


@pytest.mark.parametrize("method", ["adac1", "adac3", "adacost-beta1"])
def test_invariant_20_costs_above_one_are_rescaled(method):
    X, y = problem(0)
    large, small = (fitted(method, X, y, Costs(fp=2.5 * k, fn=3 * k)) for k in (1.0, 1 / 3))
    same_model(large, small, X)
    assert_allclose(large.train_cost_, 3 * small.train_cost_)
    yF = signs_of(y) * margins_of(large, X)[0]
    c = np.where(y == 1, 1.0, 2.5 / 3)  # the largest is 1
    power = 1 if method == "adac3" else 0
    after = normalised(c**power * np.exp(-c * yF))
    wrong = votes_of(large, X)[1] != signs_of(y)
    assert_allclose(large.estimator_errors_[1], after[wrong].sum(), **SAME)


# ---------------------------------------------------------------- CSAda, CGAda, AsymAda, AdaMEC


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("method", ["csada", "adaboostdb"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_21_csada_is_stationary_and_descends(seed, method, depth):
    X, y = problem(seed)
    model = fitted(method, X, y, Costs(fp=3, fn=10), max_depth=depth)
    signs, c = signs_of(y), np.where(y == 1, 1.0, 0.3)
    F = np.vstack([np.zeros(len(y)), margins_of(model, X)])
    for t, (alpha, h) in enumerate(zip(model.estimator_weights_, votes_of(model, X), strict=True)):
        w = normalised(np.exp(-c * signs * F[t]))
        assert_allclose(naive.hyperbolic_residual(alpha, h, w, signs, 0.3, 1), 0, atol=1e-11)
    loss = np.exp(-c * signs * F).mean(axis=1)
    assert_allclose(loss[1:], np.cumprod(model.normalizers_), **SAME)
    assert np.all(np.diff(loss) < 0)


def test_invariant_21_csada_may_step_with_error_above_one_half():
    rng = np.random.default_rng(0)
    X = (rng.uniform(size=(200, 1)) < 0.9).astype(float)
    y = (rng.uniform(size=200) < np.where(X[:, 0] == 1, 0.3, 0.02)).astype(int)
    model = fitted("csada", X, y, Costs(fp=1, fn=20), max_depth=1, n_estimators=3)
    assert np.max(model.estimator_errors_) > 0.5
    assert np.all(model.estimator_weights_ > 0)


@pytest.mark.parametrize("k", [0.5, 4.0])
def test_invariant_22_csada_with_equal_costs_is_adaboost(k):
    X, y = problem(1)
    stump = fitted("adaboost", X, y, max_depth=1, criterion="error")
    joint = fitted("csada", X, y, Costs(fp=k, fn=k), max_depth=1)
    same_model(joint, stump, X)  # the largest cost is scaled to 1, so alpha is AdaBoost's
    half = fitted("csada", X, y, Costs(fp=k, fn=k), max_depth=2, cost_scale=0.5)
    same_model(half, fitted("adaboost", X, y), X, scale=2)  # alpha_Ada / k, k = 0.5


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("ratio", [0.2, 1.0, 7.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_23_adaboostdb_is_csada(seed, ratio, depth):
    X, y = problem(seed)
    costs = Costs(fp=1, fn=ratio)
    one, other = (fitted(m, X, y, costs, max_depth=depth) for m in ("csada", "adaboostdb"))
    identical(one, other, X)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_24_cgada_is_adaboost_from_cost_weights(seed, depth, kind):
    X, y = problem(seed)
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.2, 5, len(y)) if kind == "rows" else np.where(y == 1, 2.7, 1.0)
    costs = Costs.of_rows(c) if kind == "rows" else Costs(fp=1, fn=2.7)
    one = fitted("cgada", X, y, costs, max_depth=depth)
    other = fitted("adaboost", X, y, sample_weight=c, max_depth=depth)
    identical(one, other, X)
    assert differ(one, fitted("adaboost", X, y, costs, max_depth=depth))  # blind to costs


def test_invariant_24_cgada_is_scikit_learns_adaboost_from_cost_weights():
    X, y = problem(0)
    c = np.where(y == 1, 3.0, 1.0)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ours = fitted("cgada", X, y, Costs(fp=1, fn=3), estimator=tree)
    theirs = AdaBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y, sample_weight=c)
    assert_allclose(2 * ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("votes", ["discrete", "confidence", "real", "gentle"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_25_cgada_bound(seed, votes):
    X, y = problem(seed)
    c = np.random.default_rng(seed).uniform(0.2, 5, len(y))
    model = fitted("cgada", X, y, Costs.of_rows(c), votes=votes)
    yF = signs_of(y) * margins_of(model, X)
    assert np.all((c * (yF <= 0)).sum(axis=1) <= model.cost_bound_)
    assert_allclose(model.cost_bound_, (c * np.exp(-yF)).sum(axis=1), **SAME)
    assert_allclose(model.cost_bound_, c.sum() * np.cumprod(model.normalizers_), **SAME)


def test_invariant_26_cgada_weights():
    X, y = problem(3)
    c = np.where(y == 1, 4.0, 1.0)
    model = fitted("cgada", X, y, Costs(fp=1, fn=4))
    F = np.vstack([np.zeros(len(y)), margins_of(model, X)[:-1]])
    follows(model, X, y, np.array([normalised(c * np.exp(-signs_of(y) * f)) for f in F]))


@pytest.mark.parametrize("rounds", [1, 3, 8])
def test_invariant_27_asymada(rounds):
    X, y = problem(2)
    signs, c = signs_of(y), np.where(y == 1, 4.0, 1.0)
    model = fitted("asymada", X, y, Costs(fp=1, fn=4), n_estimators=rounds)
    assert model.n_iter_ == rounds
    F = np.vstack([np.zeros(len(y)), margins_of(model, X)[:-1]])
    share = np.arange(1, rounds + 1)[:, None] / rounds
    seen = c**share * np.exp(-signs * F)
    follows(model, X, y, seen / seen.sum(axis=1, keepdims=True))
    vj = np.exp(share * signs * np.log(np.sqrt(4))) * np.exp(-signs * F)  # Viola and Jones's form
    follows(model, X, y, vj / vj.sum(axis=1, keepdims=True))
    once = fitted("cgada", X, y, Costs(fp=1, fn=4), n_estimators=rounds)
    if rounds == 1:
        identical(model, once, X)
    else:
        assert differ(model, once)


RATIOS = [(10, 1), (3, 1), (1.5, 1), (1, 1), (1, 1.7), (1, 3.1), (1, 9)]


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_28_adamec_three_forms_of_one_rule(seed):
    X, y = problem(seed)
    plain = fitted("adaboost", X, y)
    F, A = plain.decision_function(X), plain.estimator_weights_.sum()
    votes, alphas = votes_of(plain, X), plain.estimator_weights_[:, None]
    plus, minus = (np.sum(alphas * (sign * votes > 0), axis=0) for sign in (1, -1))
    before = np.zeros(len(y))
    model = fitted("adamec", X, y, Costs(fp=1, fn=1))
    identical(model, plain, X)
    assert_array_equal(model.predict(X), plain.predict(X))
    for fp, fn in RATIOS:
        decided = model.predict(X, costs=Costs(fp=fp, fn=fn))  # no retraining
        assert_array_equal(decided, fn * plus > fp * minus)
        assert_array_equal(decided, fp / (fp + fn) < (1 + F / A) / 2)
        assert_array_equal(decided, A * (fp - fn) / (fp + fn) < F)
        assert np.all(decided >= before)  # monotone in fn / fp
        before = decided
        again = fitted("adamec", X, y, Costs(fp=fp, fn=fn))
        identical(again, plain, X)
        assert_array_equal(again.predict(X), decided)
        paid = np.where(y == 1, fn, fp) @ (decided != y)
        assert_allclose(again.train_cost_[-1], paid, **SAME)


def test_invariant_28_adamec_is_not_the_logistic_link():
    X, y = problem(0)
    model = fitted("adamec", X, y, n_estimators=30)
    link = (model.predict_proba(X)[:, 1] > 1 / 6).astype(int)
    assert np.mean(model.predict(X, costs=Costs(fp=1, fn=5)) != link) > 0.1


@given(st.floats(0.05, 20), st.sampled_from([0.25, 2.0, 64.0]))
@settings(max_examples=25, deadline=None)
def test_invariant_29_only_the_ratio_of_costs_matters_to_adamec(fn, scale):
    one = MEC.predict(MEC_X, costs=Costs(fp=1, fn=fn))
    other = MEC.predict(MEC_X, costs=Costs(fp=scale, fn=scale * fn))
    assert_array_equal(one, other)
    score = MEC.score(MEC_X, MEC_Y, costs=Costs(fp=1, fn=fn))
    scaled = MEC.score(MEC_X, MEC_Y, costs=Costs(fp=scale, fn=scale * fn))
    assert_allclose(scaled, scale * score)


MEC_X, MEC_Y = problem(5)
MEC = fitted("adamec", MEC_X, MEC_Y)


@pytest.mark.parametrize("calibration", ["sigmoid", "sigmoid-brier", "isotonic"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_30_calibrated_adamec_is_monotone_and_symmetric(seed, calibration):
    X, y = problem(seed, n=300)
    halves = [(np.arange(150), np.arange(150, 300))]
    options = {"calibration": calibration, "cv": halves, "n_estimators": 10}
    model = fitted("adamec", X, y, Costs(fp=1, fn=2.3), **options)
    (ensemble,) = model._model.members
    s = apply_maps(ensemble.maps[:-1], ensemble.margins(X))[:, 0]
    p = model.predict_proba(X)[:, 1]
    assert np.all(np.diff(p[np.argsort(s, kind="stable")]) >= -1e-12)
    assert_array_equal(model.predict(X), p > 1 / 3.3)
    swapped = fitted("adamec", X, 1 - y, Costs(fp=2.3, fn=1), **options)
    q = swapped.predict_proba(X)[:, 1]
    if calibration != "isotonic":  # whose values between two steps are ties
        assert_allclose(q, 1 - p, rtol=1e-4, atol=1e-5)
        clear = np.abs(p - 1 / 3.3) > 1e-4
        assert_array_equal(model.predict(X)[clear], 1 - swapped.predict(X)[clear])


# ---------------------------------------------------------------- Gradient-CSB

OBJECTIVES = ["adaboost", "adacost", "adac1", "asymboost"]


def gradient(objective, seed, **options):
    X, y = problem(seed)
    model = fitted("gradient-csb", X, y, Costs(fp=3, fn=10), objective=objective, **options)
    signs, c = signs_of(y), np.where(y == 1, 1.0, 0.3)
    return X, y, model, naive.gradient_objective(objective, signs, c)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_31_gradient_csb_descends(objective, seed):
    X, _, model, (a, b, w0) = gradient(objective, seed)
    steps_taken = model.estimator_weights_[:, None] * (a * votes_of(model, X) + b)
    G = (normalised(w0) * np.exp(-np.cumsum(steps_taken, axis=0))).sum(axis=1)
    assert_allclose(G, np.cumprod(model.normalizers_), **SAME)
    assert np.all(np.diff([1.0, *G]) <= 1e-15)


def test_invariant_31_gradient_csb_takes_negative_steps():
    X, y, model, _ = gradient("adacost", 0, max_depth=1)
    assert np.any(model.estimator_weights_ < 0)
    with pytest.warns(UserWarning, match="single step"):  # AdaCost ends where this one goes on
        fitted("adacost", X, y, Costs(fp=3, fn=10), cost_scale=1.0, max_depth=1)


@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_32_gradient_csb_with_a_equal_y_is_adaboost(seed):
    X, y = problem(seed)
    plain = fitted("adaboost", X, y)
    named = fitted("gradient-csb", X, y, Costs(fp=1, fn=4), objective="adaboost")
    same_model(named, plain, X)
    own = fitted("gradient-csb", X, y, objective=(signs_of(y), 0.0, 5.0))
    same_model(own, plain, X)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_invariant_33_gradient_csb_steps_to_the_stationary_point(objective):
    X, _, model, (a, b, w0) = gradient(objective, 1)
    w = normalised(w0)
    for alpha, f in zip(model.estimator_weights_, votes_of(model, X), strict=True):
        u = a * f + b
        assert_allclose(np.sum(w * u * np.exp(-alpha * u)), 0, atol=1e-11)
        w = normalised(w * np.exp(-alpha * u))


def test_invariant_33_gradient_csb_cap():
    X, y = np.array([[0.0], [0], [1], [1]]), np.array([0, 0, 1, 1])
    model = fitted("gradient-csb", X, y, n_estimators=5)
    assert model.estimator_weights_.tolist() == [steps.MAX_ALPHA]
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("seed", SEEDS)
def test_invariant_34_gradient_csb_with_a_equal_cy_descends_like_csada(seed, kind):
    X, y = problem(seed)
    signs, rng = signs_of(y), np.random.default_rng(seed)
    c = rng.uniform(0.2, 1, len(y)) if kind == "rows" else np.where(y == 1, 1.0, 0.3)
    c = c / c.max()
    costs = Costs.of_rows(c) if kind == "rows" else Costs(fp=0.3, fn=1)
    # Two levels, so that CSAda's trees are trained on c * w too and not searched jointly.
    one, other = (fitted(m, X, y, costs, max_depth=2) for m in ("gradient-csb", "csada"))
    same_model(one, other, X)
    loss = np.exp(-c * signs * margins_of(one, X)).mean(axis=1)
    assert_allclose(loss, np.cumprod(one.normalizers_), **SAME)
    # AdaC1 hands the learner exp(-c y F) itself: a different algorithm.
    assert differ(fitted("adac1", X, y, costs, alpha="search"), one)


def test_invariant_34_learners_get_a_times_w_and_the_line_search_w():
    seen = []

    class Spy(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            seen.append(sample_weight.copy())
            return super().fit(X, y, sample_weight=sample_weight)

    X, y = problem(0)
    signs, c = signs_of(y), np.where(y == 1, 1.0, 0.3)
    model = fitted("gradient-csb", X, y, Costs(fp=3, fn=10), estimator=Spy(max_depth=2))
    F = np.vstack([np.zeros(len(y)), margins_of(model, X)[:-1]])
    for weights, f, alpha, h in zip(
        seen, F, model.estimator_weights_, votes_of(model, X), strict=True
    ):
        w = np.exp(-c * signs * f)
        assert_allclose(weights, normalised(c * w), **SAME)
        assert_allclose(alpha, naive.minimise_z(normalised(w), c * signs * h), rtol=1e-8)
        assert not np.isclose(alpha, naive.minimise_z(c * w, c * signs * h), rtol=1e-4)

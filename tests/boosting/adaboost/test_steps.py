"""Long steps: prices that differ by many powers of ten, refereed by SciPy and not by the twin.

The loss of CSAda, AdaBoostDB and Gradient-CSB is sum exp(-c y F): it is computed here from the
model's own margins, in logarithms, and minimised along each round's vote by
`scipy.optimize.minimize_scalar`.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.steps import CellSums
from costboost.shards import layout
from naive import rules as naive

METHODS = ["csada", "adaboostdb", "gradient-csb"]


def problem(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X @ rng.normal(size=4) + rng.normal(size=n) > 0.3).astype(int)
    return X, y


def prices_of(kind, n, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "one row":
        return np.where(np.arange(n) == n // 2, 100.0, 1.0)
    if kind == "lognormal":
        return rng.lognormal(0.0, 2.0, n)
    if kind == "decades":
        return 10.0 ** rng.uniform(-6, 6, n)
    return np.where(rng.uniform(size=n) < 0.02, 1e6, 1e-6)


KINDS = ["one row", "lognormal", "decades", "two prices"]


def fitted(method, X, y, costs, n_rounds=10, **options):
    options = {"calibration": None, "random_state": 0, **options}
    return CostBoostClassifier(method, n_rounds, **options).fit(X, y, costs=costs)


def assert_least(model, X, y, c):
    """Every step minimises the loss along its vote, and Z is what the loss is multiplied by."""
    signs, c = np.where(y == 1, 1.0, -1.0), c / c.max()
    F = np.vstack([np.zeros(len(y)), list(model.staged_decision_function(X))])
    atol = 1e-13 + 2.0**-52 * np.max(np.abs(c * F))  # of exponents this large
    log_loss = np.array([logsumexp(-c * signs * f) for f in F])
    for before, after, alpha, found in zip(
        F[:-1], F[1:], model.estimator_weights_, log_loss[1:], strict=True
    ):
        vote = (after - before) / alpha
        best = minimize_scalar(
            lambda a, F=before, h=vote: logsumexp(-c * signs * (F + a * h)),
            bounds=(0.0, 4.0 * alpha),
            method="bounded",
            options={"xatol": 1e-10 * alpha},
        )
        assert found <= best.fun + atol
    assert np.all(np.diff(log_loss) < atol)
    assert_allclose(np.log(model.normalizers_), np.diff(log_loss), rtol=1e-9, atol=atol)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_prices_per_row_of_twelve_decades(method, kind, depth):
    X, y = problem(1)
    c = prices_of(kind, len(y), 1)
    model = fitted(method, X, y, Costs.of_rows(c), max_depth=depth)
    assert model.n_iter_ == 10
    assert_least(model, X, y, c)


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("ratio", 10.0 ** np.array([-12, -6, -3, 3, 6, 12]))
@pytest.mark.parametrize("method", METHODS)
def test_prices_per_class_of_twelve_decades(method, ratio, depth):
    X, y = problem(2)
    model = fitted(method, X, y, Costs(fp=1.0, fn=ratio), max_depth=depth)
    assert model.n_iter_ >= 9
    assert_least(model, X, y, np.where(y == 1, ratio, 1.0))


@pytest.mark.parametrize("k", 10.0 ** np.arange(-6, 7, 2))
@pytest.mark.parametrize("method", METHODS)
def test_invariant_22_equal_prices_of_any_size_are_adaboost(method, k):
    """c = (k, k): k alpha is AdaBoost's alpha, on the same votes; k is the scale here."""
    X, y = problem(3)
    plain = fitted("adaboost", X, y, None, max_depth=2)
    scale = min(k, 1.0)
    model = fitted(method, X, y, Costs(fp=k, fn=k), max_depth=2, cost_scale=scale)
    assert model.n_iter_ == plain.n_iter_ == 10
    assert_allclose(scale * model.estimator_weights_, plain.estimator_weights_, rtol=1e-8)
    assert_allclose(model.decision_function(X) * scale, plain.decision_function(X), rtol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_shards_change_no_bit_of_long_steps(method, kind, monkeypatch):
    X, y = problem(4)
    costs = Costs.of_rows(prices_of(kind, len(y), 4))
    models = []
    for n_shards in (1, 2, 5):
        monkeypatch.setattr(layout, "_CELLS_PER_SHARD", 1)
        monkeypatch.setattr(layout, "_DEAL", 16)
        models.append(fitted(method, X, y, costs, max_depth=2, n_jobs=n_shards))
    for other in models[1:]:
        assert_array_equal(other.estimator_weights_, models[0].estimator_weights_)
        assert_array_equal(other.normalizers_, models[0].normalizers_)
        assert_array_equal(other.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_the_twin_takes_the_same_long_steps(method, kind):
    X, y = problem(5)
    c = prices_of(kind, len(y), 5)
    model = fitted(method, X, y, Costs.of_rows(c), max_depth=2)
    margins = np.vstack([np.zeros(len(y)), list(model.staged_decision_function(X))])
    votes = np.sign(np.diff(margins, axis=0) / model.estimator_weights_[:, None])
    signs = np.where(y == 1, 1.0, -1.0)
    run = naive.boost(method, signs, c, votes, n_rounds=10, cost_scale="auto")
    assert run.n_rounds == model.n_iter_
    # Logarithms of 1e12 keep four decimals: weights of dear rows that are wrong at last.
    rtol = 1e-8 if kind != "two prices" else 1e-3
    assert_allclose(run.alphas, model.estimator_weights_, rtol=rtol)
    assert_allclose(run.normalizers, model.normalizers_, rtol=rtol)


@pytest.mark.parametrize("method", METHODS)
def test_one_dear_row_among_many_does_not_end_training(method):
    """Breast cancer, one row of 569 at 100 and the rest at 1: once a single round of 20."""
    X, y = load_breast_cancer(return_X_y=True)
    c = np.ones(len(y))
    c[7] = 100.0
    model = fitted(method, X, y, Costs.of_rows(c), 20, max_depth=1)
    assert model.n_iter_ == 20
    assert np.max(model.estimator_weights_) > 100.0
    assert_least(model, X, y, c)


def test_an_endless_step_is_cut_in_the_margins_own_unit():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 1])
    for scale in (1.0, 0.25):
        model = fitted("csada", X, y, Costs(fp=3, fn=3), cost_scale=scale, max_depth=2)
        assert_allclose(model.estimator_weights_, [steps.MAX_ALPHA / scale], rtol=1e-14)
    model = fitted("csada", X, y, Costs.of_rows([1.0, 1e-9, 1.0, 1e-9]), max_depth=2)
    assert_allclose(model.estimator_weights_, [2.0 * steps.MAX_ALPHA], rtol=1e-8)


@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.floats(0.0, 12.0))
@settings(max_examples=200, deadline=None)
def test_minimiser_of_a_few_cells(seed, n, decades):
    """The slope of ln Z vanishes at the step found, relative to what falls and what rises."""
    rng = np.random.default_rng(seed)
    logq = np.log(rng.dirichlet(np.ones(n))) - rng.exponential(10.0, n)
    u = rng.choice([-1.0, 1.0], n) * 10.0 ** rng.uniform(-decades, 0, n)
    u[:2] = abs(u[0]), -abs(u[1])
    alpha, endless = steps.minimiser(CellSums(np.exp(logq), u))
    falling = logsumexp((logq - alpha * u + np.log(np.abs(u)))[u > 0])
    rising = logsumexp((logq - alpha * u + np.log(np.abs(u)))[u < 0])
    assert not endless
    assert_allclose(falling, rising, rtol=1e-9, atol=1e-9)
    expected = naive.minimise_z(np.exp(logq), u)
    assert_allclose(alpha, expected, rtol=1e-7, atol=1e-9 / np.max(np.abs(u)))

"""AdaCost's step by its authors' estimate alone (Fan et al. 1999, Eq. 10 and 11)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost import CostBoostClassifier, Costs
from naive import rules as naive


def problem(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.8 * rng.normal(size=n) > 0.3).astype(int)
    return X, y, rng.uniform(0.02, 0.2, n)


def fit(alpha, X, y, costs, rounds=6, **options):
    options = {"calibration": None, "max_depth": 2, "cost_scale": 0.2, **options}
    return CostBoostClassifier("adacost", rounds, alpha=alpha, **options).fit(X, y, costs=costs)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["constant", "rows"])
def test_every_round_takes_the_estimate_of_its_own_weights(seed, kind):
    X, y, c = problem(seed)
    if kind == "constant":
        c = np.where(y == 1, 0.2, 0.05)
        costs = Costs(fp=0.05, fn=0.2)
    else:
        c = c / c.max() * 0.2
        costs = Costs.of_rows(c)
    model = fit("estimate", X, y, costs)
    signs = 2 * y - 1
    F = np.array([np.zeros(len(y)), *model.staged_decision_function(X)])
    D = c / c.sum()
    assert model.n_iter_ > 2
    for alpha, before, after in zip(model.estimator_weights_, F[:-1], F[1:], strict=True):
        m = signs * np.sign(after - before)
        u = m * (0.5 - 0.5 * m * c)
        r = D @ u
        assert_allclose(alpha, 0.5 * np.log((1 + r) / (1 - r)), rtol=1e-8)
        D = D * np.exp(-alpha * u)
        D /= D.sum()


def test_the_naive_twin_takes_the_same_steps_on_the_same_votes():
    X, y, _ = problem(7)
    model = fit("estimate", X, y, Costs(fp=0.05, fn=0.2))
    F = np.array([np.zeros(len(y)), *model.staged_decision_function(X)])
    twin = naive.boost(
        "adacost",
        2 * y - 1,
        np.where(y == 1, 0.2, 0.05),
        votes=np.sign(np.diff(F, axis=0)),
        n_rounds=len(F) - 1,
        alpha="estimate",
        cost_scale=0.2,
    )
    assert_allclose(model.estimator_weights_, twin.alphas, rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_estimate_is_never_longer_than_the_refined_step(seed):
    X, y, _ = problem(seed)
    costs = Costs(fp=0.05, fn=0.2)
    estimate, refined = (
        fit(alpha, X, y, costs, 1).estimator_weights_[0] for alpha in ("estimate", "published")
    )
    assert 0 < estimate <= refined
    assert fit("search", X, y, costs, 1).estimator_weights_[0] == refined


def test_the_bound_holds_with_the_estimate():
    X, y, _ = problem(3)
    model = fit("estimate", X, y, Costs(fp=1, fn=4), 20)
    assert np.all(model.train_cost_ <= model.cost_bound_ * (1 + 1e-12))


def test_other_methods_have_no_estimate():
    X, y, _ = problem(0)
    for method in ("adaboost", "adac1", "csada"):
        with pytest.raises(ValueError, match="method='adacost'"):
            CostBoostClassifier(method, 3, alpha="estimate").fit(X, y)

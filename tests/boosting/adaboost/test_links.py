"""The links of the methods' losses, and shares of votes: against the minimiser of each loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import expit

from costboost import CostBoostClassifier, Costs
from costboost.boosting.formulas import link, scores_of, vote_shares, voted_proba

C_PLUS, C_MINUS = 1.0, 0.25


def problem(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.4).astype(int)
    return X, y


def fitted(method, X, y, costs=None, **options):
    options = {"max_depth": 2, "calibration": None, "random_state": 0, **options}
    return CostBoostClassifier(method, 10, **options).fit(X, y, costs=costs)


RATES = {
    "adaboost": (1.0, 1.0),
    "cgada": (1.0, 1.0),
    "asymada": (1.0, 1.0),
    "adac2": (1.0, 1.0),
    "adacost": (0.5, 0.5),
    "csada": (C_PLUS, C_MINUS),
    "adaboostdb": (C_PLUS, C_MINUS),
    "adac1": (C_PLUS, C_MINUS),
    "adac3": (C_PLUS, C_MINUS),
    "adacost-beta1": (C_PLUS, C_MINUS),
    "adacost-beta2": (C_PLUS, C_MINUS),
    "gradient-csb": (C_PLUS, C_MINUS),
    "adauboost": (0.25**0.1, 1.0),
    "rareboost": (1.0, 1.0),
    "csb2": (1.0, 1.0),
}


@pytest.mark.parametrize("method", RATES)
def test_probabilities_are_the_link_of_the_loss(method):
    """1 / (1 + exp(-k F)) returns the probability whose loss is least at F, equal weights."""
    X, y = problem()
    model = fitted(method, X, y, Costs(fp=C_MINUS, fn=C_PLUS), max_depth=3)
    plus, minus = RATES[method]
    F, p = model.decision_function(X), model.predict_proba(X)[:, 1]
    assert_allclose(p, expit((plus + minus) * F), rtol=1e-12)
    # The minimiser of p exp(-r+ F) + (1 - p) exp(r- F), with r of the half-log F it is at w+ = w-.
    for q in (0.1, 0.5, 0.8):
        best = minimize_scalar(
            lambda f, q=q: (
                q * plus * np.exp(-plus * f) / plus**2
                + (1 - q) * minus * np.exp(minus * f) / minus**2
            ),
            bounds=(-30, 30),
            method="bounded",
            options={"xatol": 1e-10},
        ).x
        assert_allclose(link(np.array([[best]]), plus + minus)[0, 1], q, atol=1e-6)


def test_prices_per_row_have_the_mean_rate_of_their_class():
    X, y = problem(1)
    c = np.random.default_rng(1).uniform(0.2, 1, len(y))
    s = np.random.default_rng(2).uniform(0.5, 2, len(y))
    model = fitted("csada", X, y)
    model.fit(X, y, sample_weight=s, costs=Costs.of_rows(c))
    slope = sum(np.average(c[y == k], weights=s[y == k]) for k in (0, 1)) / c.max()
    assert_allclose(model.predict_proba(X)[:, 1], expit(slope * model.decision_function(X)))


@pytest.mark.parametrize("n_classes", [2, 4])
def test_adacost_without_costs_has_the_probabilities_of_adaboost(n_classes):
    """Its F is 4 (K - 1) / K times SAMME's half-log votes; the probabilities are the same."""
    X, _ = problem(2)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [0.0] if n_classes == 2 else [-0.7, 0.0, 0.7])
    plain = fitted("adaboost", X, y)
    half = fitted("adacost", X, y, beta=lambda sign, c: np.full_like(c, 0.5))
    factor = 4 * (n_classes - 1) / n_classes
    assert_allclose(half.decision_function(X), factor * plain.decision_function(X), rtol=1e-7)
    assert_allclose(half.predict_proba(X), plain.predict_proba(X), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("votes", ["real", "gentle"])
@pytest.mark.parametrize("per_row", [False, True])
def test_adamec_with_fitted_leaf_values_decides_by_its_probabilities(votes, per_row):
    X, y = problem(3)
    fn = np.random.default_rng(3).uniform(1, 9, len(y)) if per_row else 5.0
    costs = Costs(fp=1, fn=fn)
    model = fitted("adamec", X, y, votes=votes, learning_rate=0.3)
    model.fit(X, y, costs=costs)
    decided = model.predict(X, costs=costs)
    assert_array_equal(decided, model.predict_proba(X)[:, 1] > 1 / (1 + fn))
    paid = np.where(y == 1, fn, 1.0) @ (decided != y)
    assert_allclose(model.train_cost_[-1], paid)


def test_shares_and_links():
    margins = np.array([[-1.0], [0.0], [3.0]])
    assert_allclose(vote_shares(margins, 4.0)[:, 1], [0.375, 0.5, 0.875])
    assert_allclose(voted_proba(margins, 4.0, shares=True), vote_shares(margins, 4.0))
    assert_allclose(voted_proba(margins, 4.0, shares=False)[:, 1], expit(2 * margins[:, 0]))


def test_scores_of_discrete_votes_are_shares_and_others_are_margins():
    two, many = np.array([[-1.0], [0.5], [2.0]]), np.array([[3.0, 0.0, 1.0], [0.0, 4.0, 0.0]])
    assert_array_equal(scores_of(two, 2.0, shares=True), [0.25, 0.625, 1.0])
    assert_array_equal(scores_of(two, 2.0, shares=False), [-1.0, 0.5, 2.0])
    assert_array_equal(scores_of(many, 4.0, shares=False), many)
    shares = scores_of(many, 4.0, shares=True)
    assert shares.shape == (2, 3)
    assert_allclose(shares.sum(axis=1), 1.0)

"""Half-log steps over twelve decades of prices and weights, refereed in long double logarithms.

The referee keeps ln D_i by the published update and takes alpha from two logarithms of sums, from
nothing but the votes that the model took: no weight is too small for it.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost import steps

ROUNDS = 10
METHODS = ["adaboost", "cgada", "asymada", "adac2", "csb0", "csb1", "csb2", "rareboost"]
KINDS = ["rows", "classes", "weights"]


def log_sum(logs):
    if not len(logs):
        return np.longdouble(-np.inf)
    return logs.max() + np.log(np.sum(np.exp(logs - logs.max())))


def problem(seed, kind):
    rng = np.random.default_rng(seed)
    n, decades = int(rng.choice([12, 40, 200])), rng.choice([1, 3, 6])
    X = rng.normal(size=(n, 3)).round(int(rng.choice([0, 1, 3])))
    y = (X @ rng.normal(size=3) + rng.normal(size=n) > 0.3).astype(int)
    y[:2] = 0, 1
    spread = 10.0 ** rng.uniform(-decades, decades, n)
    depth = int(rng.integers(1, 4))
    if kind == "rows":
        return X, y, spread, {"costs": Costs.of_rows(spread)}, depth
    if kind == "classes":
        return X, y, spread[y], {"costs": Costs(fp=spread[0], fn=spread[1])}, depth
    return X, y, np.ones(n), {"sample_weight": spread}, depth


def published_steps(method, model, X, y, c, weights):
    """Return every round's alpha by its formula, (T,) or (T, 2), from the model's own votes."""
    m_of = np.where(y == 1, 1, -1)
    log_c = np.log(c.astype(np.longdouble))
    if method.startswith("csb"):
        log_c = log_c - log_c.min()
    log_d = np.log(weights.astype(np.longdouble))
    if method == "cgada" or method.startswith("csb"):
        log_d = log_d + log_c
    F, found = np.zeros(len(y)), []
    for alpha, after in zip(
        model.estimator_weights_, model.staged_decision_function(X), strict=True
    ):
        votes, F = after - F, after
        right = m_of * votes > 0
        if method == "rareboost":
            sides = [votes > 0, votes < 0]
            found.append([0.5 * (log_sum(log_d[s & right]) - log_sum(log_d[s & ~right]))
                          if s.any() else 0.0 for s in sides])  # fmt: skip
            log_d = log_d - m_of * votes.astype(np.longdouble)
            continue
        if method == "asymada":
            log_d = log_d + log_c / ROUNDS
        q = log_d + (log_c if method == "adac2" else 0)
        found.append(0.5 * (log_sum(q[right]) - log_sum(q[~right])))
        factor = np.where(right, 0, log_c) if method.startswith("csb") else q - log_d
        taken = {"csb0": 0, "csb1": 1}.get(method, np.longdouble(alpha))
        log_d = log_d + factor - taken * np.where(right, 1, -1)
    return np.array(found, dtype=float)


@pytest.mark.filterwarnings("ignore:method='adac2' could not take a single step")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_steps_are_the_formula_over_twelve_decades(method, kind):
    longest = 0.0
    for seed in range(24):
        X, y, c, given, depth = problem(seed, kind)
        model = CostBoostClassifier(
            method, ROUNDS, calibration=None, max_depth=depth, min_samples_leaf=1
        ).fit(X, y, **given)
        if not model.n_iter_:
            continue
        weights = given.get("sample_weight", np.ones(len(y)))
        expected = published_steps(method, model, X, y, c, weights)
        # A side that nobody got wrong has no finite step; both such end training.
        pure = np.isinf(expected)
        assert not np.any(np.atleast_2d(pure.T).T[:-1].all(axis=1))
        expected[pure] = steps.MAX_ALPHA
        assert_allclose(model.estimator_weights_, expected, rtol=1e-10, atol=1e-10)
        longest = max(longest, np.max(expected[~pure], initial=0.0))
    if (method, kind) in {("adac2", "rows"), ("adac2", "classes"), ("csb2", "rows")}:
        assert longest > 1.1 * steps.MAX_ALPHA

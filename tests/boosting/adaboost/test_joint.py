"""Stump and step chosen together: the best of all stumps, by trying every one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from costboost import Costs
from costboost.boosting.adaboost import joint
from naive import rules as naive
from votes_again import assert_same, fitted, problem, replayed, votes_of


@pytest.mark.parametrize("search", ["csada", "adaboostdb"])
@pytest.mark.parametrize("seed", range(6))
def test_joint_search_finds_the_best_of_all_stumps(search, seed):
    X, y = problem(seed, n=60, d=3, levels=6)
    signs = np.where(y == 1, 1.0, -1.0)
    pool = naive.stump_pool(X)
    fp, fn = (1.0, 2.5) if seed % 2 else (3.0, 1.0)
    model = fitted(search, X, y, Costs(fp=fp, fn=fn), max_depth=1, n_estimators=5)
    run = replayed(model, X, y, fp, fn)
    assert_same(model, run, X)
    c = np.where(y == 1, fn, fp) / max(fp, fn)
    for w, h, alpha in zip(run.weights, run.votes, run.alphas, strict=False):
        _, best_alpha, best_loss = naive.csada_step(pool, w, signs, c)
        # Stumps that tie have the same loss, and so are equally good.
        assert_allclose(np.sum(w * np.exp(-c * alpha * signs * h)), best_loss, rtol=1e-10)
        assert_allclose(alpha, best_alpha, rtol=1e-6)


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 50), st.booleans())
@settings(max_examples=60, deadline=None)
def test_hull_and_candidates_find_the_same_stump(seed, ratio, weighted):
    X, y = problem(seed % 1000, n=50, d=3, levels=8)
    X = np.where(np.random.default_rng(seed).uniform(size=X.shape) < 0.1, np.nan, X)
    s = np.random.default_rng(seed).integers(1, 5, len(y)) if weighted else None
    costs = Costs(fp=1, fn=ratio)
    one, other = (
        fitted(m, X, y, costs, s, max_depth=1, n_estimators=4) for m in ("csada", "adaboostdb")
    )
    assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    assert_array_equal(one.decision_function(X), other.decision_function(X))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
@settings(max_examples=80, deadline=None)
def test_the_hull_holds_the_cheapest_point_for_all_prices(seed, n):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 12, size=(n, 2)).astype(float)
    hull, candidates = joint._hull(points), joint._undominated(points)
    assert set(hull) <= set(candidates)
    for weights in rng.uniform(0.01, 1, (20, 2)):
        least = (points @ weights).min()
        assert_allclose((points[hull] @ weights).min(), least)
        assert_allclose((points[candidates] @ weights).min(), least)


def test_joint_search_with_categories_and_missing_values():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 120
    colour = rng.choice(["red", "green", "blue", "grey"], n)
    size = np.where(rng.uniform(size=n) < 0.2, np.nan, rng.integers(0, 5, n))
    chance = np.where(np.isin(colour, ["red", "grey"]), 0.8, 0.2) + 0.15 * np.isnan(size)
    y = (rng.uniform(size=n) < chance).astype(int)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": size})
    signs = np.where(y == 1, 1.0, -1.0)
    pool = []
    for mask in range(1, 8):  # subsets of four categories, up to the sign
        names = np.array(["blue", "green", "grey", "red"])[[bool(mask >> k & 1) for k in range(4)]]
        pool.append(np.where(np.isin(colour, names), 1.0, -1.0))
    for value in np.unique(size[~np.isnan(size)])[:-1]:
        for missing in (False, True):
            pool.append(np.where(np.where(np.isnan(size), missing, size <= value), 1.0, -1.0))
    pool.append(np.where(np.isnan(size), 1.0, -1.0))
    pool = np.array([*pool, *(-np.array(pool))])
    for method in ("csada", "adaboostdb"):
        model = fitted(method, X, y, Costs(fp=1, fn=2), max_depth=1, n_estimators=4)
        run = replayed(model, X, y, 1, 2)
        assert_same(model, run, X)
        c = np.where(y == 1, 1.0, 0.5)
        for w, Z in zip(run.weights, run.normalizers, strict=False):
            assert_allclose(Z, naive.csada_step(pool, w, signs, c)[2], rtol=1e-10)


def test_joint_search_respects_min_samples_leaf():
    X, y = problem(2, n=60, d=3)
    model = fitted("csada", X, y, Costs(fp=1, fn=4), max_depth=1, min_samples_leaf=20)
    for h in votes_of(model, X):
        assert min(np.sum(h > 0), np.sum(h < 0)) >= 20


def loss(alpha, b, d, positive, negative, costs):
    c1, c2 = costs
    return (
        b * np.exp(c1 * alpha)
        + (positive - b) * np.exp(-c1 * alpha)
        + d * np.exp(c2 * alpha)
        + (negative - d) * np.exp(-c2 * alpha)
    )


@given(st.integers(0, 10**6), st.floats(-4, 0))
@settings(max_examples=30, deadline=None)
def test_steps_of_all_stumps_are_the_least_of_their_losses(seed, decades):
    rng = np.random.default_rng(seed)
    positive, costs = rng.uniform(0.05, 0.95), (1.0, 10.0**decades)
    wrong = rng.uniform(size=(20, 2)) * [positive, 1 - positive]
    alphas, losses = joint.best_steps(wrong, positive, 1 - positive, costs)
    for (b, d), alpha, least in zip(wrong, alphas, losses, strict=True):
        parts = (b, d, positive, 1 - positive, costs)
        assert_allclose(least, loss(alpha, *parts), rtol=1e-12)
        near = [loss(max(alpha * (1 + e) + e, 0.0), *parts) for e in (-1e-3, 1e-3, 0.1)]
        assert least <= min(near) * (1 + 1e-14)
        assert least <= 1.0 + 1e-14  # a step of 0 loses the weight of all


def test_steps_at_their_ends():
    wrong = np.array([[0.5, 0.5], [0.25, 0.25], [0.0, 0.0], [0.0, 0.1]])
    alphas, losses = joint.best_steps(wrong, 0.5, 0.5, (1.0, 1.0))
    assert alphas.tolist()[:3] == [0.0, 0.0, np.inf]  # always wrong, a coin, never wrong
    assert losses.tolist()[:3] == [1.0, 1.0, 0.0]
    assert_allclose(alphas[3], 0.5 * np.log(9))
    # Mistakes that cost nothing stop no step; their weight stays.
    alphas, losses = joint.best_steps(np.array([[0.0, 0.4]]), 0.5, 0.5, (1.0, 0.0))
    assert (alphas.tolist(), losses.tolist()) == ([np.inf], [0.5])

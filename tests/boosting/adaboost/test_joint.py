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
    points = rng.integers(0, 12, size=(n, 2))
    hull, candidates = joint._hull(points), joint._undominated(points)
    assert set(hull) <= set(candidates)
    for weights in rng.uniform(0.01, 1, (20, 2)):
        least = (points @ weights).min()
        assert_allclose((points[hull] @ weights).min(), least)
        assert_allclose((points[candidates] @ weights).min(), least)


def test_the_hull_is_that_of_whole_numbers_of_any_size_and_keeps_its_edges():
    big = 2**61
    assert joint._hull(np.array([[0, big], [1, big - 1], [big, 0]])).tolist() == [0, 1, 2]
    assert joint._hull(np.array([[0, 8], [4, 4], [8, 0]])).tolist() == [0, 1, 2]
    assert joint._hull(np.array([[0, big], [big // 2, big // 2 + 2**40], [big, 0]])).tolist() == [
        0,
        2,
    ]
    # But for rounding it is on the edge: 2**-40 of the width above it, no more.
    assert len(joint._hull(np.array([[0, big], [big // 2, big // 2 + 2**19], [big, 0]]))) == 3


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


def log_z(alpha, up, down, rates):
    """ln sum exp(up + c a) + exp(down - c a), in long double."""
    terms = np.concatenate([up + rates * alpha, down - rates * alpha])
    top = terms.max()
    return top + np.log(np.sum(np.exp(terms - top)))


def least_log_z(up, down, rates):
    """(alpha, ln Z): the least over alpha >= 0, by halving what the sign of the slope leaves."""

    def rises(alpha):
        sides = []
        for logs in (up + rates * alpha, down - rates * alpha):
            logs = np.log(rates) + logs
            top = logs.max()
            sides.append(top + np.log(np.sum(np.exp(logs - top))) if top > -np.inf else top)
        return sides[0] >= sides[1]

    low, high = np.longdouble(0), np.longdouble(1)
    if rises(low):
        return low, log_z(low, up, down, rates)
    while not rises(high) and high < 1e30:
        high *= 2
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return high, log_z(high, up, down, rates)


def log_sums(logs, classes):
    """ln of the weight of the rows of both classes, (2,)."""
    sums = []
    for own in (logs[classes == 1], logs[classes == 0]):
        top = own.max(initial=-np.inf)
        sums.append(top + np.log(np.sum(np.exp(own - top))) if top > -np.inf else top)
    return np.array(sums, dtype=np.longdouble)


def draw_problem(seed):
    """Few values, so that stumps tie and rows of both classes share cells; any price ratio."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    X = np.round(rng.normal(size=(n, int(rng.integers(1, 3)))), int(rng.integers(0, 2)))
    y = rng.permutation(np.arange(n) % 2 if rng.random() < 0.5 else np.arange(n) < max(1, n // 6))
    weights = None if rng.random() < 0.5 else rng.integers(1, 5, n).astype(float)
    ratio = 10.0 ** rng.uniform(-12, 12)
    return X, y.astype(int), weights, (min(1.0, ratio), min(1.0, 1.0 / ratio))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_rounds_are_the_least_over_all_stumps_and_steps_at_any_prices(seed):
    assert_rounds_are_the_least(*draw_problem(seed))


@pytest.mark.parametrize("ratio", [803.0, 920203.0, 1e9, 1e12])
def test_rounds_are_the_least_where_a_stump_no_longer_gained(ratio):
    X = np.array([[0.6], [-0.3], [-0.7], [0.8], [0.5], [0.6], [-1.7], [-2.2]])
    y = np.array([0, 1, 0, 1, 1, 0, 0, 0])
    assert_rounds_are_the_least(X, y, None, (1.0 / ratio, 1.0))


@pytest.mark.parametrize("ratio", [1e3, 1e4, 416639.0, 1e6])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]])
def test_a_stump_may_part_rows_that_weigh_nothing_on_the_grid(ratio, order):
    """Its vote is a constant's on all others: the least in rounds 3 to 8 of these rows."""
    X = np.array([[0.51], [-0.66], [0.18], [0.26], [-0.13]])[order]
    y = np.array([1, 0, 0, 0, 1])[order]
    weights = np.array([1.47320514, 1.10295754, 1.58674122, 0.56650903, 0.59879378])[order]
    assert_rounds_are_the_least(X, y, weights, (1.0, 1.0 / ratio), apart=np.inf)


def test_a_light_row_whose_value_is_missing_is_parted_too():
    x = np.array([0.51, -0.66, 0.18, 0.26, -0.13])
    y = np.array([1, 0, 0, 0, 1])
    weights = np.array([1.47320514, 1.10295754, 1.58674122, 0.56650903, 0.59879378])
    costs = Costs(fp=416639.0, fn=1.0)
    X = np.where(x == -0.66, np.nan, x)[:, None]
    model = fitted("csada", X, y, costs, weights, max_depth=1, n_estimators=8)
    logs = np.log(weights).astype(np.longdouble)
    rates = np.array([1.0 / 416639.0, 1.0], dtype=np.longdouble)
    signs, price = np.where(y == 1, 1, -1), np.where(y == 1, *rates)
    # A threshold on the other four, and this row on either side.
    stumps = [
        np.where(np.nan_to_num(X[:, 0], nan=at) <= cut, -1, 1)
        for at in (-9.0, 9.0)
        for cut in (-9.0, -0.13, 0.18, 0.26)
    ]
    votes = [side * vote for vote in stumps for side in (1, -1) if len(set(vote)) == 2]
    for h, alpha in zip(votes_of(model, X), model.estimator_weights_, strict=True):
        if np.array_equal(h, signs):
            return
        total = np.logaddexp(*log_sums(logs, y))
        found = []
        for vote in [*votes, h]:
            wrong = vote != signs
            up, down = (log_sums(logs[part], y[part]) - total for part in (wrong, ~wrong))
            if not wrong.any():
                continue
            with np.errstate(divide="ignore"):
                found.append((least_log_z(up, down, rates), (up, down)))
        own = log_z(np.longdouble(alpha), *found[-1][1], rates)
        best = min(z for (_, z), _ in found)
        assert own <= best + 1e-9 * max(1.0, abs(best))
        logs = logs - np.longdouble(alpha) * price * signs * h
        logs -= np.logaddexp(*log_sums(logs, y))


def assert_rounds_are_the_least(X, y, weights, costs, n_rounds=8, apart=30.0):
    """Follow the model's weights by their logarithms; compare each ln Z with the least there is."""
    models = [
        fitted(
            m, X, y, Costs(fp=costs[0], fn=costs[1]), weights, max_depth=1, n_estimators=n_rounds
        )
        for m in ("csada", "adaboostdb")
    ]
    model, other = models
    assert_array_equal(model.estimator_weights_, other.estimator_weights_)
    assert_array_equal(model.decision_function(X), other.decision_function(X))
    signs, rates = np.where(y == 1, 1, -1), np.array(costs[::-1], dtype=np.longdouble)
    price = np.where(y == 1, rates[0], rates[1])
    pool = naive.stump_pool(X)
    logs = np.log(np.ones(len(y)) if weights is None else weights).astype(np.longdouble)
    steps = 0.0
    for h, alpha in zip(votes_of(model, X), model.estimator_weights_, strict=True):
        if np.any(np.all(pool == signs, axis=1)):  # Z falls for ever
            assert_array_equal(h, signs)
            return
        if max(np.ptp(logs[y == k]) for k in (0, 1)) > apart:
            return  # the grid of a class holds no more; see the head of the module
        total = np.logaddexp(*log_sums(logs, y))
        found = []
        for vote in [*pool, h]:
            wrong = vote != signs
            up, down = (log_sums(logs[part], y[part]) - total for part in (wrong, ~wrong))
            with np.errstate(divide="ignore"):
                found.append((least_log_z(up, down, rates), (up, down)))
        own = log_z(np.longdouble(alpha), *found[-1][1], rates)
        steps += float(alpha)
        # What rounding leaves of logarithms that moved by so many steps.
        lost = 1e-13 + 1e-15 * steps
        best = min(z for (_, z), _ in found)
        assert own <= best + max(10 * lost, 1e-10 * abs(best))
        logs = logs - np.longdouble(alpha) * price * signs * h
        logs -= np.logaddexp(*log_sums(logs, y))


def weights_on_grid(shares):
    """Whole numbers whose shares are these: wrong (N, 2), sums (2,), units (2,)."""
    scale = 2.0**60
    wrong, totals = (np.rint(np.asarray(part) * scale).astype(np.int64) for part in shares)
    return wrong, totals, np.zeros(2)


@given(st.integers(0, 10**6), st.floats(-12, 0))
@settings(max_examples=40, deadline=None)
def test_steps_of_all_stumps_are_the_least_of_their_losses(seed, decades):
    rng = np.random.default_rng(seed)
    positive, costs = rng.uniform(0.05, 0.95), (1.0, 10.0**decades)
    totals = np.array([positive, 1 - positive])
    shares = 10.0 ** (-rng.uniform(0, 12, size=(20, 2)) * rng.integers(0, 2, size=(20, 2)))
    wrong, sums, units = weights_on_grid((rng.uniform(size=(20, 2)) * shares * totals, totals))
    alphas, logs = joint.best_steps(wrong, sums, units, costs)
    for pair, alpha, found in zip(wrong, alphas, logs, strict=True):
        up, down = (
            np.log((part / sums.sum()).astype(np.longdouble)) for part in (pair, sums - pair)
        )
        best_alpha, best = least_log_z(up, down, np.array(costs, dtype=np.longdouble))
        assert_allclose(found, float(best), rtol=1e-7, atol=1e-15)
        assert_allclose(alpha, float(best_alpha), rtol=1e-6, atol=1e-9)


def test_steps_at_their_ends():
    shares = [[0.5, 0.5], [0.25, 0.25], [0.0, 0.0], [0.0, 0.1]], [0.5, 0.5]
    alphas, logs = joint.best_steps(*weights_on_grid(shares), (1.0, 1.0))
    assert alphas.tolist()[:3] == [0.0, 0.0, np.inf]  # always wrong, a coin, never wrong
    assert logs.tolist()[:3] == [0.0, 0.0, -np.inf]
    assert_allclose(alphas[3], 0.5 * np.log(9))
    # Mistakes that cost nothing stop no step; their weight stays.
    alphas, logs = joint.best_steps(*weights_on_grid(([[0.0, 0.4]], [0.5, 0.5])), (1.0, 0.0))
    assert alphas.tolist() == [np.inf]
    assert_allclose(logs, np.log(0.5))

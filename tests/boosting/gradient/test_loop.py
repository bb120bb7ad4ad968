"""Rounds of gradient boosting against their naive twin, over shards and grids."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.binning.binner import fit_binner
from costboost.boosting.gradient import learner as gradient_learners
from costboost.boosting.gradient.learner import GradientTree
from costboost.boosting.gradient.loop import GradientBoosting, GradientSetting
from costboost.boosting.gradient.losses import (
    CostExponentialLoss,
    ExpectedCostLoss,
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    PinballLoss,
    SquaredLoss,
)
from costboost.boosting.gradient.rows import LossRows
from costboost.shards import layout as layout_module
from costboost.trees.tree import Limits
from gradient_shards import best_constant, cut_rows
from naive import gradient as naive


def run(loss, rows, X, n_shards=1, *, limits=None, start=None, monotone=None, l2=0.0, **setting):
    """Boost; return the rounds and the margins in the order of the table."""
    binner = fit_binner(X)
    setting = GradientSetting(**{"n_rounds": 5, "l2": l2, **setting})
    with cut_rows(rows, binner.encode(X), n_shards) as shards:
        tree = GradientTree(
            binner,
            limits or Limits(max_leaf_nodes=6),
            least_squares=setting.step == "line-search" or isinstance(loss, HuberLoss),
            l2=l2,
            monotone=monotone,
            seed=setting.seed,
            heaviest=1.0 if rows.weights is None else float(rows.weights.max()),
        )
        f0 = best_constant(loss, rows) if start is None else start
        boosting = GradientBoosting(shards, loss, tree, setting, f0)
        return list(boosting.rounds()), shards.fetch(lambda shard: shard.state.margins)


def problem(n=120, seed=0, n_classes=2, priced=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, n_classes)) + rng.normal(size=(n, n_classes))
    y = np.argmax(scores, axis=1)
    prices = None
    if priced:
        prices = rng.uniform(0.1, 1.0, size=(n, n_classes))
        prices[np.arange(n), y] = 0.0
    return X, LossRows(y, 1 if n_classes == 2 else n_classes, prices=prices)


BINARY = {
    "log": LogLoss(),
    "exponential": ExponentialLoss(),
    "asymboost": CostExponentialLoss(),
    "cgada": CostExponentialLoss("cgada"),
    "expected-cost": ExpectedCostLoss(),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_rounds_equal_the_naive_twin(name, l2):
    loss = BINARY[name]
    X, rows = problem(priced=getattr(loss, "uses_costs", False))
    codes = fit_binner(X).encode(X).tolist()

    def pairs(i, f):
        one = LossRows(
            rows.y[i : i + 1], prices=None if rows.prices is None else rows.prices[i : i + 1]
        )
        g, h = loss.derivatives(one, np.array([[f]]))
        return float(g[0, 0]), float(h[0, 0])

    _, margins = run(loss, rows, X, l2=l2, limits=Limits(max_leaf_nodes=5, min_samples_leaf=3))
    f0 = float(best_constant(loss, rows)[0])
    options = {"learning_rate": 0.1, "max_leaf_nodes": 5, "l2": l2, "least_rows": 3}
    twin = naive.boost(codes, pairs, f0, 5, **options)
    np.testing.assert_allclose(margins[:, 0], twin, rtol=1e-9, atol=1e-9)


def test_squared_loss_equals_the_naive_twin_with_weights():
    rng = np.random.default_rng(1)
    X, y, w = rng.normal(size=(90, 2)), rng.normal(size=90), rng.uniform(0.5, 2, size=90)
    _, margins = run(SquaredLoss(), LossRows(y, 1, w), X, limits=Limits(max_leaf_nodes=4))
    codes = fit_binner(X).encode(X).tolist()
    twin = naive.boost(
        codes,
        lambda i, f: (w[i] * (f - y[i]), w[i]),
        float(np.average(y, weights=w)),
        5,
        learning_rate=0.1,
        max_leaf_nodes=4,
    )
    np.testing.assert_allclose(margins[:, 0], twin, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("step", ["newton", "exact", "line-search"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", BINARY)
def test_every_step_lowers_the_loss(name, n_classes, step):
    loss = BINARY[name]
    if step == "exact" and name == "expected-cost":
        pytest.skip("its leaves have no finite minimiser")
    X, rows = problem(n_classes=n_classes, priced=getattr(loss, "uses_costs", False))
    values = []
    for n_rounds in range(5):
        _, margins = run(loss, rows, X, n_rounds=n_rounds, step=step, max_step=4.0)
        values.append(loss.mean_value(rows, margins))
    assert np.all(np.diff(values) < 0.0)


@pytest.mark.parametrize("loss", [PinballLoss(), PinballLoss(1.0, 4.0), HuberLoss(0.5)])
@pytest.mark.parametrize("step", ["exact", "line-search"])
def test_regression_losses_fall(loss, step):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3))
    rows = LossRows(X[:, 0] * X[:, 1] + rng.standard_t(2, size=150))
    values = [loss.mean_value(rows, run(loss, rows, X, n_rounds=t, step=step)[1]) for t in range(6)]
    assert np.all(np.diff(values) < 0.0)


def leaf_of(rows_of_tree, X, y):
    """The rows of every leaf of a first tree, found by their common margin."""
    return [np.flatnonzero(rows_of_tree == value) for value in np.unique(rows_of_tree)]


@pytest.mark.parametrize(
    ("loss", "twin"),
    [
        (PinballLoss(), naive.pinball(1, 1)),
        (PinballLoss(2.0, 0.5), naive.pinball(2.0, 0.5)),
        (HuberLoss(0.4), naive.huber(0.4)),
        (SquaredLoss(), naive.squared),
    ],
)
def test_exact_leaves_are_minimisers(loss, twin):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(80, 2)), rng.normal(size=80)
    _, margins = run(loss, LossRows(y), X, n_rounds=1, step="exact", learning_rate=1.0)
    f0 = best_constant(loss, LossRows(y))[0]
    for rows in leaf_of(margins[:, 0], X, y):
        value = margins[rows[0], 0] - f0

        def total(v, rows=rows):
            return sum(twin(y[i], [f0 + v]) for i in rows)

        assert total(value) == pytest.approx(total(naive.least(total)), rel=1e-9)


def test_exact_leaves_of_exponential_loss_are_half_log_odds():
    """Real AdaBoost's leaf: 1/2 ln(W+ / W-)."""
    X, rows = problem(n=200)
    _, margins = run(ExponentialLoss(), rows, X, n_rounds=1, step="exact", learning_rate=1.0)
    for members in leaf_of(margins[:, 0], X, rows.y):
        p = rows.y[members].mean()
        if 0 < p < 1:
            assert margins[members[0], 0] == pytest.approx(0.5 * np.log(p / (1 - p)), rel=1e-9)


def test_line_search_is_the_minimiser_along_the_tree():
    X, rows = problem()
    done, margins = run(LogLoss(), rows, X, n_rounds=1, step="line-search", learning_rate=1.0)
    f0 = best_constant(LogLoss(), rows)
    direction = (margins - f0) / done[0].step

    def total(size):
        return LogLoss().mean_value(rows, f0 + size * direction)

    assert done[0].step == pytest.approx(naive.least(total, 0, 100), rel=1e-6)
    # The direction is the least-squares fit of the pseudo-residuals: means of leaves.
    g, _ = LogLoss().derivatives(rows, np.repeat(f0[None, :], len(X), axis=0))
    for members in leaf_of(direction[:, 0], X, rows.y):
        assert direction[members[0], 0] == pytest.approx(-g[members, 0].mean(), rel=1e-9)


def test_line_search_sees_the_b_of_cai():
    """G'(alpha) = 0 for w0 exp(-(a F + b A)) with b != 0 (invariant 33)."""
    X, rows = problem(priced=True)
    rng = np.random.default_rng(0)
    sign = np.where(rows.y == 1, 1.0, -1.0)
    objective = (sign, rng.uniform(-0.05, 0.05, len(X)), np.ones(len(X)))
    rows = LossRows(rows.y, objective=objective)
    loss = CostExponentialLoss()
    done, margins = run(loss, rows, X, n_rounds=1, step="line-search", learning_rate=1.0)
    f0 = best_constant(loss, rows)
    direction = (margins - f0) / done[0].step

    def total(size):
        return loss.mean_value(rows, f0 + size * direction, total=size)

    assert done[0].step == pytest.approx(naive.least(total, 0, 100), rel=1e-6)


def cases():
    rng = np.random.default_rng(5)
    y = rng.standard_t(2, size=400)
    w = rng.uniform(0.1, 2, size=400)
    yield "squared", SquaredLoss(), LossRows(y), "newton"
    yield "pinball-weights", PinballLoss(1, 3), LossRows(y, 1, w), "exact"
    yield "huber", HuberLoss(0.5), LossRows(y, 1, w), "exact"
    yield "absolute-search", PinballLoss(), LossRows(y), "line-search"
    for name, loss in BINARY.items():
        for n_classes in (2, 3):
            _, rows = problem(400, 6, n_classes, getattr(loss, "uses_costs", False))
            for step in ("newton", "line-search"):
                yield f"{name}-{n_classes}-{step}", loss, rows, step


SHARDED = {name: rest for name, *rest in cases()}


@pytest.mark.parametrize("name", SHARDED)
@pytest.mark.parametrize("packed", [False, True])
def test_shards_change_nothing(name, packed, monkeypatch):
    loss, rows, step = SHARDED[name]
    monkeypatch.setattr(layout_module, "_DEAL", 16)
    monkeypatch.setattr(gradient_learners, "PACKED_ROWS", 1 if packed else 10**9)
    X = problem(400, 6)[0]
    options = {"n_rounds": 3, "step": step, "subsample": 0.7, "max_step": 4.0, "seed": 3}
    one = run(loss, rows, X, 1, **options)[1]
    np.testing.assert_array_equal(run(loss, rows, X, 7, **options)[1], one)


def test_packed_and_wide_pairs_find_the_same_trees(monkeypatch):
    X = problem(500, 7)[0]
    y = X[:, 0] * X[:, 1] + np.random.default_rng(0).normal(size=500)
    found = []
    for limit in (1, 10**9):
        monkeypatch.setattr(gradient_learners, "PACKED_ROWS", limit)
        found.append(run(SquaredLoss(), LossRows(y), X, n_rounds=10)[1])
    # The grid decides splits only: where they agree, so do the values.
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_heavy_tails_take_the_wide_grid(monkeypatch):
    monkeypatch.setattr(gradient_learners, "PACKED_ROWS", 1)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    calm = X[:, 0] + 0.01 * rng.normal(size=4000)
    wild = calm.copy()
    wild[0] = 1e7
    modes = []
    original = GradientTree._put_on_grid

    def spy(self, *args):
        mode = original(self, *args)
        modes.append(type(mode[0]).__name__)
        return mode

    monkeypatch.setattr(GradientTree, "_put_on_grid", spy)
    run(SquaredLoss(), LossRows(calm), X, n_rounds=1)
    run(SquaredLoss(), LossRows(wild), X, n_rounds=1)
    run(SquaredLoss(), LossRows(calm + 1e7), X, n_rounds=1, start=np.zeros(1))
    assert modes == ["PackedPairs", "GradientPairs", "GradientPairs"]


@pytest.mark.parametrize("packed", [False, True])
def test_counting_late_changes_nothing(packed, monkeypatch):
    """Leaves of at least 20 rows: counted where weights leave a doubt, or everywhere."""
    monkeypatch.setattr(gradient_learners, "PACKED_ROWS", 1 if packed else 10**9)
    X, rows = problem(600, 8)
    limits = Limits(max_leaf_nodes=12, min_samples_leaf=20)
    late = run(LogLoss(), rows, X, n_rounds=8, limits=limits)
    counted = []
    original = gradient_learners.SplitFinder

    def eager(*args, heaviest, **options):
        counted.append(heaviest)
        return original(*args, **options)

    monkeypatch.setattr(gradient_learners, "SplitFinder", eager)
    early = run(LogLoss(), rows, X, n_rounds=8, limits=limits)
    assert counted
    np.testing.assert_array_equal(late[1], early[1])
    for done in late[0]:
        leaves = done.models[0].leaves
        assert len(leaves) > 1

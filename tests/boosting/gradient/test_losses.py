"""Losses: their three methods, the kernels, and the best constants, against the naive twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.gradient import _gradient_kernels, messages
from costboost.boosting.gradient import rows as rows_module
from costboost.boosting.gradient.losses import (
    CostExponentialLoss,
    ExpectedCostLoss,
    ExponentialLoss,
    HuberLoss,
    LogLoss,
    Loss,
    OwnLoss,
    PinballLoss,
    SquaredLoss,
    classes,
    errors,
)
from costboost.boosting.gradient.messages import LeafSums, PutVectors, SumsAlong, Widen
from costboost.boosting.gradient.minimisers import (
    huber_delta,
    minimise,
    pinball_along,
    pinball_by_leaf,
    pinball_minimiser,
)
from costboost.boosting.gradient.rows import GradientRows, Rows, read_both
from costboost.boosting.gradient.starting import Bind
from costboost.boosting.paying import make_bill
from costboost.costs import as_costs
from costboost.shards.grid import to_floats
from gradient_shards import best_constant, cut_rows
from interpreted import load_interpreted
from naive import gradient as naive

few = settings(max_examples=25, deadline=None)
OBJECTIVES = {
    "asymboost": lambda c: (c, 0.0, 1.0),
    "adacost": lambda c: (0.5, -c / 2, c),
    "cgada": lambda c: (1.0, 0.0, c),
    "adaboost": lambda c: (1.0, 0.0, 1.0),
}
CASES = {
    "squared": (SquaredLoss(), naive.squared, 0),
    "absolute": (PinballLoss(), naive.pinball(1, 1), 0),
    "pinball": (PinballLoss(2.0, 0.5), naive.pinball(2.0, 0.5), 0),
    "huber": (HuberLoss(0.7), naive.huber(0.7), 0),
}
for _k in (2, 3, 4):
    CASES[f"log-{_k}"] = (LogLoss(), naive.log, _k)
    CASES[f"exponential-{_k}"] = (ExponentialLoss(), naive.exponential, _k)
    CASES[f"expected-cost-{_k}"] = (ExpectedCostLoss(), naive.expected_cost, _k)
    for _name, _objective in OBJECTIVES.items():
        CASES[f"{_name}-{_k}"] = (
            CostExponentialLoss(_name, total=0.3),
            naive.cost_exponential(_objective, 0.3),
            _k,
        )
each_loss = pytest.mark.parametrize("name", CASES)
SMOOTH = [name for name in CASES if name not in ("absolute", "pinball", "huber")]


def example(name, n=40, seed=0):
    """Return the loss, its twin, and rows with prices and raw scores."""
    loss, twin, n_classes = CASES[name]
    rng = np.random.default_rng(seed)
    n_outputs = 1 if n_classes <= 2 else n_classes
    raw = rng.normal(size=(n, n_outputs))
    if n_classes == 0:
        return loss, twin, Rows(rng.normal(size=n)), raw
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    prices = rng.uniform(0.05, 1.0, size=(n, n_classes))
    prices[np.arange(n), y] = 0.0
    uses = getattr(loss, "uses_costs", False)
    return loss, twin, Rows(y, n_outputs, prices=prices if uses else None), raw


def flat(raw):
    return raw[:, 0] if raw.shape[1] == 1 else raw


def price_of(rows, i):
    return None if rows.prices is None else rows.prices[i]


@each_loss
def test_values_are_the_twins(name):
    loss, twin, rows, raw = example(name)
    extra = (rows.prices,) if getattr(loss, "uses_costs", False) else ()
    expected = [twin(rows.y[i], list(raw[i]), price_of(rows, i)) for i in range(len(raw))]
    np.testing.assert_allclose(loss.value(rows.y, flat(raw), *extra), expected, rtol=1e-12)
    assert isinstance(loss, Loss)
    total = getattr(loss, "total", 0.0)
    assert loss.mean_value(rows, raw, total) == pytest.approx(np.mean(expected), rel=1e-12)


@each_loss
def test_gradients_are_differences_of_values(name):
    """Invariant 50, for all losses."""
    loss, twin, rows, raw = example(name)
    g, h = loss.derivatives(rows, raw)
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            expected = naive.gradient(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert g[i, k] == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert np.all(h >= 0.0)


@pytest.mark.parametrize("name", [n for n in SMOOTH if not n.startswith("expected")])
def test_hessians_are_differences_of_gradients(name):
    loss, twin, rows, raw = example(name)
    h = loss.derivatives(rows, raw)[1]
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            expected = naive.hessian(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert h[i, k] == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_hessian_of_expected_cost_bounds_its_curvature(n_classes):
    """Hoppner's |(1 - 2 s) g| lies below ours, which does not vanish at s = 1/2."""
    loss, twin, rows, raw = example(f"expected-cost-{n_classes}")
    g, h = loss.derivatives(rows, raw)
    for i in range(len(raw)):
        for k in range(raw.shape[1]):
            true = naive.hessian(twin, rows.y[i], list(raw[i]), price_of(rows, i), k)
            assert h[i, k] >= abs(true) - 1e-6
    if n_classes == 2:
        s = 1 / (1 + np.exp(-raw[:, 0]))
        assert np.all(h[:, 0] >= np.abs((1 - 2 * s) * g[:, 0]))
        at_half = loss.derivatives(rows, np.zeros_like(raw))[1]
        assert np.all(at_half > 0.0)


def test_probabilities_are_those_of_the_best_constants():
    y = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    for loss in (LogLoss(), ExponentialLoss()):
        f0 = best_constant(loss, Rows(y, 3))
        np.testing.assert_allclose(loss.proba(f0[None, :]), [[0.3, 0.2, 0.5]], rtol=1e-12)
        f0 = best_constant(loss, Rows(np.minimum(y, 1), 1))
        np.testing.assert_allclose(loss.proba(f0), [[0.3, 0.7]], rtol=1e-12)


# --- kernels -------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["installed", "interpreted"])
def kernels(request):
    if request.param == "installed":
        return _gradient_kernels
    return load_interpreted("boosting.gradient._gradient_kernels")[0]


def derive(loss, rows, raw, n_shards=1):
    """Return the largest derivatives, and all gradients and hessians in the order of the table."""
    with cut_rows(rows, n_shards=n_shards) as shards:
        shards.call([Bind(loss, (0.0,) * rows.n_outputs, "leaf")])
        shards.put(lambda shard, part: setattr(shard.state, "margins", part), raw)
        largest = loss.measure(shards, getattr(loss, "total", 0.0))
        outputs = range(rows.n_outputs)
        parts = shards.fetch(
            lambda shard: np.stack([shard.state.derivatives(k) for k in outputs]).T
        )
        return largest, parts[:, 0], parts[:, 1]


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_compute_what_the_methods_say(kernels, name, weighted, monkeypatch):
    for module in (classes, errors, rows_module):
        monkeypatch.setattr(module, "kernels", kernels)
    loss, _, rows, raw = example(name, n=61)
    if weighted:
        weights = np.random.default_rng(1).uniform(0.1, 3, size=61)
        rows = Rows(rows.y, rows.n_outputs, weights, rows.prices)
    expected = loss.derivatives(rows, raw)
    largest, *found = derive(loss, rows, raw, n_shards=2)
    for part, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, twin, rtol=1e-12)
    tops = np.stack([np.abs(expected[0]).max(axis=0), expected[1].max(axis=0)], axis=1)
    np.testing.assert_allclose(largest, tops, rtol=1e-12)


@pytest.mark.parametrize("name", ["asymboost-2", "adacost-3", "expected-cost-2", "cgada-3"])
def test_prices_by_class_equal_prices_by_row(name):
    loss, _, rows, raw = example(name)
    n_classes = rows.prices.shape[1]
    table = np.random.default_rng(3).uniform(0.1, 1, size=(n_classes, n_classes))
    np.fill_diagonal(table, 0.0)
    found = []
    for bundle in (
        Rows(rows.y, rows.n_outputs, table=table),
        Rows(rows.y, rows.n_outputs, prices=table[rows.y]),
    ):
        found.append(derive(loss, bundle, raw)[1])
    np.testing.assert_array_equal(*found)


def test_certain_rows_have_finite_gradients(kernels):
    margins = np.array([[800.0], [-800.0], [800.0], [-800.0]])
    labels = np.array([1, 1, 0, 0], dtype=np.uint8)
    one, none = np.ones(2), np.zeros(0)
    for kind in (3, 4, 5):
        cores, parts, top = np.zeros(4), np.zeros((2, 4)), np.zeros((1, 2))
        terms = (np.array([-1.0, 1.0]), np.zeros(2), one)
        rows = (margins, labels, True, *terms, 0.0, none)
        kernels.binary_cores(kind, *rows, cores, top)
        kernels.unfold(kind, cores, 0, labels, True, terms[0], none, False, parts)
        assert np.all(np.isfinite(parts))


@given(st.integers(0, 2**32), st.integers(1, 50))
@few
def test_packed_pairs_come_apart_again(seed, n):
    rng = np.random.default_rng(seed)
    g, h = rng.normal(size=n), rng.uniform(size=n)
    packed, totals = np.zeros(n, dtype=np.int64), np.zeros(4, dtype=np.int64)
    rows = (*read_both(g, h, np.zeros(0)), False, np.empty((2, 16)))
    _gradient_kernels.pack_pairs(*rows, 2.0**10, 2.0**12, 29, packed, totals)
    wide = np.zeros((n, 2), dtype=np.int64)
    total = _gradient_kernels.widen_pairs(*rows, 2.0**10, 2.0**12, wide)
    np.testing.assert_array_equal(packed >> 29, wide[:, 0])
    np.testing.assert_array_equal(packed & (2**29 - 1), wide[:, 1])
    np.testing.assert_array_equal(wide[:, 0], np.trunc(g * 2.0**10 + np.copysign(0.5, g)))
    gradients = wide[:, 0]
    assert totals.tolist() == [np.abs(gradients).sum(), gradients.sum(), wide[:, 1].sum(), n]
    assert total == wide[:, 1].sum()


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_weight", [False, True])
def test_sums_are_those_of_the_derivatives(kernels, name, weighted, by_weight, monkeypatch):
    """Over several blocks of rows, for all that reads derivatives from cores."""
    for module in (classes, errors, rows_module, messages):
        monkeypatch.setattr(module, "kernels", kernels)
    monkeypatch.setattr(rows_module, "BLOCK", 16)
    loss, _, rows, raw = example(name, n=61)
    rng = np.random.default_rng(2)
    if weighted:
        rows = Rows(rows.y, rows.n_outputs, rng.uniform(0.1, 3, size=61), rows.prices)
    steps, leaves = rng.normal(size=raw.shape), rng.integers(0, 3, size=61).astype(np.uint16)
    _, gradients, hessians = derive(loss, rows, raw)
    spread = np.tile(rows.unit_or_weights[:, None], raw.shape[1]) if by_weight else hessians
    keep, scales = rng.random(61) < 0.7, (2.0**30, 2.0**31)
    with cut_rows(rows) as shards:
        shards.call([Bind(loss, (0.0,) * rows.n_outputs, "leaf")])
        shard = shards.shards[0]
        shard.leaves[:], shard.state.margins = leaves, raw
        loss.measure(shards, getattr(loss, "total", 0.0))
        shard.state.keep, shard.state.along = keep.astype(np.uint8), steps
        for k in range(raw.shape[1]):
            sums = LeafSums(k, 3, by_weight, scales).answer(shard)
            for leaf in range(3):
                there = keep & (leaves == leaf)
                expected = gradients[there, k].sum(), spread[there, k].sum()
                found = [to_floats(sums[leaf, 2 * j : 2 * j + 2], scales[j]) for j in (0, 1)]
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            assert Widen(k, by_weight, scales).answer(shard) == shard.state.pairs[:, 1].sum()
            expected = np.rint(np.stack([gradients[:, k], spread[:, k]], axis=1) * scales)
            np.testing.assert_allclose(shard.state.pairs, expected, atol=1)
        sums = SumsAlong(scales).answer(shard)[0]
        expected = ((gradients * steps)[keep].sum(), (hessians * steps**2)[keep].sum())
        found = [to_floats(sums[2 * j : 2 * j + 2], scales[j]) for j in (0, 1)]
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
        PutVectors(2.0**20, 2.0**10).answer(shard)
        np.testing.assert_allclose(shard.state.vectors[:, :-1], np.rint(gradients * 2.0**20))
        weights = np.rint(rows.unit_or_weights * 2.0**10)
        np.testing.assert_array_equal(shard.state.vectors[:, -1], weights)


def test_class_numbers_take_a_byte_and_lie_once():
    y = np.array([0, 2, 1, 2])
    part = Rows(y, 3).take(np.array([1, 2]))
    assert (part.y.dtype, part.targets.dtype) == (np.uint8, np.int64)
    costs = as_costs(None, np.arange(3))
    state = GradientRows(part, make_bill(costs, y, np.array([1, 2])))
    assert state.given.y is state.bill.truth
    assert np.shares_memory(LogLoss().bind(state.given).labels, state.bill.truth)


# --- minimisers ----------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(1, 12))
@few
def test_pinball_minimiser_is_the_least(seed, n):
    rng = np.random.default_rng(seed)
    r = rng.integers(-3, 4, size=n).astype(float)
    over, under = rng.integers(0, 3, n) + 0.5, rng.integers(0, 3, n) + 0.25

    def total(v):
        return float(np.sum(np.where(v > r, over * (v - r), under * (r - v))))

    best = min(total(v) for v in r)
    assert total(pinball_minimiser(r, over, under)) == pytest.approx(best, abs=1e-12)


def test_the_median_is_the_median():
    rng = np.random.default_rng(0)
    for n in (1, 2, 5, 8, 101):
        y = rng.normal(size=n)
        assert pinball_minimiser(y, np.ones(n), np.ones(n)) == np.median(y)


@given(st.integers(0, 2**32))
@few
def test_weights_are_copies_for_quantiles(seed):
    rng = np.random.default_rng(seed)
    y, w = rng.integers(0, 9, size=12).astype(float), rng.integers(1, 4, size=12)
    twice = np.repeat(y, w)
    one = np.ones(len(twice))
    for over, under in ((1.0, 1.0), (1.0, 9.0), (0.3, 0.1)):
        assert pinball_minimiser(y, over * w, under * w) == pinball_minimiser(
            twice, over * one, under * one
        )
    assert huber_delta(y, w.astype(float)) == huber_delta(twice, None)


def test_pinball_by_leaf_is_the_minimiser_of_each_leaf():
    rng = np.random.default_rng(2)
    r, leaves = rng.normal(size=50), rng.integers(0, 4, size=50).astype(np.uint16)
    over, under = rng.uniform(size=50), rng.uniform(size=50)
    values = pinball_by_leaf(r, over, under, leaves, 5)
    for leaf in range(4):
        rows = leaves == leaf
        assert values[leaf] == pinball_minimiser(r[rows], over[rows], under[rows])
    assert values[4] == 0.0


def test_pinball_along_is_the_least_of_a_line():
    rng = np.random.default_rng(4)
    gaps, steps = rng.normal(size=80), rng.normal(size=80)
    over, under = rng.uniform(size=80), rng.uniform(size=80)

    def total(size):
        gap = size * steps - gaps
        return float(np.sum(np.where(gap > 0, over * gap, -under * gap)))

    found = pinball_along(gaps, steps, over, under)
    assert total(found) <= min(total(found + d) for d in (-1e-3, 1e-3, -1e-6, 1e-6)) + 1e-12


def test_minimise_finds_many_minima_at_once():
    centres = np.array([0.5, 3.0, -2e4, 500.0])

    def function(v):
        # A quartic, two bowls, and an absolute value: only its sign is known.
        d = v - centres
        gradients = np.array([d[0] ** 3, d[1], d[2], np.sign(d[3])])
        return gradients, np.array([3 * d[0] ** 2, 1.0, 1.0, 0.0])

    found = minimise(function, 4, 1e5)
    np.testing.assert_allclose(found[1:], centres[1:], rtol=1e-9)
    assert found[0] == pytest.approx(0.5, abs=1e-3)


def test_minimise_stays_within_limits():
    assert minimise(lambda v: (-np.exp(-v), np.exp(-v)), 1, 7.0)[0] == 7.0
    assert minimise(lambda v: (np.exp(v), np.exp(v)), 1, 7.0)[0] == -7.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith("expected")])
def test_no_constant_is_better_than_the_start(name, weighted):
    loss, twin, rows, _ = example(name, n=60)
    if hasattr(loss, "total"):
        loss, twin = (
            CostExponentialLoss(loss.objective),
            naive.cost_exponential(OBJECTIVES[loss.objective]),
        )
    weights = np.random.default_rng(5).uniform(0.2, 2, 60) if weighted else None
    rows = Rows(rows.y, rows.n_outputs, weights, rows.prices)
    f0 = best_constant(loss, rows)
    w = np.ones(60) if weights is None else weights

    def total(at):
        return math.fsum(w[i] * twin(rows.y[i], list(at), price_of(rows, i)) for i in range(60))

    here = total(f0)
    for k in range(len(f0)):
        for eps in (1e-2, -1e-2, 1e-4, -1e-4):
            there = f0.copy()
            there[k] += eps
            assert total(there) >= here * (1 - 1e-13)


def test_the_start_of_expected_cost_is_undecided():
    loss, _, rows, _ = example("expected-cost-3")
    assert best_constant(loss, rows).tolist() == [0.0, 0.0, 0.0]


def test_closed_forms_of_the_start():
    y = np.array([0, 0, 0, 1])
    assert best_constant(LogLoss(), Rows(y)).tolist() == [math.log(1 / 3)]
    assert best_constant(ExponentialLoss(), Rows(y)).tolist() == [0.5 * math.log(1 / 3)]
    # CSAda's F* = ln(C1 W+ / (C2 W-)) / (C1 + C2), C1 = 1 and C2 = 1/4
    table = np.array([[0.0, 0.25], [1.0, 0.0]])
    found = best_constant(CostExponentialLoss(), Rows(y, table=table))
    assert found[0] == pytest.approx(math.log(1 / (0.25 * 3)) / 1.25, rel=1e-12)


def test_a_class_that_costs_nothing_has_a_finite_start():
    y = np.array([0, 1, 1])
    table = np.array([[0.0, 0.0], [1.0, 0.0]])
    found = best_constant(CostExponentialLoss("cgada"), Rows(y, table=table))
    assert 15 < found[0] < 20


def test_a_users_hessian_must_not_be_negative():
    class Bad(SquaredLoss):
        def hessian(self, y, raw):
            return -np.ones_like(raw)

    with pytest.raises(ValueError, match="negative in row 0"):
        OwnLoss(Bad()).derivatives(Rows(np.zeros(3)), np.zeros((3, 1)))

"""The loops over rows, compiled and interpreted, against plain NumPy; sums and votes by them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from costboost import Costs
from costboost.boosting import _vote_kernels
from costboost.boosting.adaboost import _row_kernels, steps
from costboost.boosting.adaboost.hypothesis import Hypothesis, RowTerms
from costboost.boosting.adaboost.ledger import Ledger
from costboost.boosting.adaboost.messages.summing import BLOCK, View
from costboost.boosting.adaboost.normalizer import RowSums, ZMoments, halvings
from costboost.boosting.adaboost.rows import Given
from costboost.shards.layout import plan_layout
from interpreted import load_interpreted

few = settings(max_examples=25, deadline=None)
SCALE = 2.0**40


def interpreted(*, hide_cython):
    names = ("boosting.adaboost._row_kernels", "boosting._vote_kernels")
    rows, votes = load_interpreted(*names, hide_cython=hide_cython)
    return SimpleNamespace(rows=rows, votes=votes)


@pytest.fixture(scope="module", params=["installed", "interpreted", "without-cython"])
def kernels(request):
    if request.param == "installed":
        return SimpleNamespace(rows=_row_kernels, votes=_vote_kernels)
    if request.param == "interpreted":
        pytest.importorskip("cython")
    return interpreted(hide_cython=request.param == "without-cython")


class Rows:
    """Random rows of two classes in three leaves, with their own margins and factors."""

    def __init__(self, seed, n=50, *, symmetric=True, factored=False):
        rng = np.random.default_rng(seed)
        self.n, first = n, int(rng.integers(0, n + 1))
        self.starts = np.array([0, first, n])
        self.labels = np.repeat([0, 1], [first, n - first])
        self.leaves = rng.integers(0, 3, n).astype(np.uint16)
        self.hypothesis = Hypothesis(rng.integers(0, 2, 3), rng.uniform(0.2, 1.0, 3))
        self.weights = rng.uniform(0.0, 1.0, n) ** 4
        right = rng.uniform(0.0, 1.0, n)
        wrong = right if symmetric else rng.uniform(0.0, 1.0, n)
        own = self.labels[:, None] == np.arange(2)
        self.u = np.where(own, right[:, None], -wrong[:, None])
        self.f = np.ones((n, 2))
        if factored:
            self.f = rng.uniform(0.5, 2.0, (n, 1 if symmetric else 2)) * self.f
        self.terms = RowTerms.of(self.u, self.f)

    @property
    def margins(self):
        answers = self.hypothesis.votes[self.leaves]
        sizes = self.hypothesis.sizes[self.leaves]
        return sizes * self.u[np.arange(self.n), answers]

    @property
    def factors(self):
        return self.f[np.arange(self.n), self.hypothesis.votes[self.leaves]]

    def arguments(self):
        terms, hypothesis = self.terms, self.hypothesis
        answers = terms.columns(hypothesis), terms.sizes(hypothesis, 2)
        return self.weights, self.starts, self.leaves, *answers, terms.u, terms.f


kinds = pytest.mark.parametrize("symmetric", [True, False])
factors = pytest.mark.parametrize("factored", [True, False])


# --- kernels -------------------------------------------------------------------------------------


def test_terms_of_one_price_keep_one_column():
    assert Rows(0).terms.u.shape == (50, 1)
    assert not any(Rows(0).terms.f.strides)
    assert Rows(0, symmetric=False).terms.u.shape == (50, 2)
    assert Rows(0, factored=True).terms.f.shape == (50, 1)


@kinds
@factors
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.1, 1.0, 17.0, 300.0, 1e5])
def test_rows_are_multiplied_by_their_exponentials(kernels, symmetric, factored, alpha):
    rows = Rows(1, symmetric=symmetric, factored=factored)
    exponent = np.clip(-alpha * rows.margins, -500.0, 500.0)
    expected = np.maximum(rows.weights * rows.factors * np.exp(exponent) * 0.5, 1e-280)
    weights, starts, leaves, columns, sizes, u, f = rows.arguments()
    arguments = (starts, leaves, columns, -alpha * sizes, u, f, halvings(alpha), 0.5)
    largest = kernels.rows.multiply_rows(weights, *arguments, np.empty(16))
    # Every halving is a squaring in the end, which doubles the error.
    assert_allclose(weights, expected, rtol=2.0 ** halvings(alpha) * 1e-15)
    assert largest == weights.max()


def test_exponents_are_halved_until_they_are_small():
    assert halvings(0.0) == halvings(1 / 64) == 0
    for size in (0.03, 0.1, 1.0, 31.9, 256.0, 499.0):
        assert size / 2 ** halvings(size) <= 1 / 32 <= 2 * size / 2 ** halvings(size)
    assert halvings(1e9) == halvings(500.0) == 14


@kinds
@factors
def test_exact_sums_over_rows(kernels, symmetric, factored):
    rows = Rows(2, symmetric=symmetric, factored=factored)
    q, u, alpha = rows.weights * rows.factors, rows.margins, 0.7
    out = np.zeros((2, 2), dtype=np.int64)
    kernels.rows.balance_rows(*rows.arguments(), SCALE, out)
    sums = (out[:, 0] + out[:, 1] / 2.0**40) / SCALE
    assert_allclose(sums, [np.sum(q * (1 + u)), np.sum(q * (1 - u))], rtol=1e-13)
    out, z = np.zeros((3, 2), dtype=np.int64), q * np.exp(-alpha * u)
    step = (alpha, halvings(alpha), SCALE, np.empty(7))
    kernels.rows.normalizer_rows(*rows.arguments(), *step, out)
    sums = (out[:, 0] + out[:, 1] / 2.0**40) / SCALE
    assert_allclose(sums, [z.sum(), (u * z).sum(), (u * u * z).sum()], rtol=1e-13, atol=1e-13)


@kinds
@factors
def test_moments_of_an_outline(kernels, symmetric, factored):
    rows = Rows(3, symmetric=symmetric, factored=factored)
    q, reach, n_cells = rows.weights * rows.factors, 1.0, 8
    place = (rows.margins / reach + 1.0) * n_cells / 2
    cell = np.minimum(place.astype(int), n_cells - 1)
    expected, by_leaf = np.zeros((n_cells, 4)), np.zeros((3, 2))
    np.add.at(expected, cell, q[:, None] * (place - cell - 0.5)[:, None] ** np.arange(4))
    np.add.at(by_leaf, (rows.leaves, rows.labels), q)
    moments, sums = np.zeros((n_cells, 4), np.int64), np.zeros((3, 2), np.int64)
    room = np.empty(7), np.empty(7, np.int32)
    kernels.rows.outline_rows(*rows.arguments(), reach, SCALE, *room, moments, sums)
    assert_allclose(moments / SCALE, expected, atol=1e-10)
    assert_allclose(sums / SCALE, by_leaf, atol=1e-10)


def test_weights_by_leaf_and_class(kernels):
    rows = Rows(4, factored=True)
    expected, priced = np.zeros((3, 2)), np.zeros((3, 2))
    np.add.at(expected, (rows.leaves, rows.labels), rows.weights)
    np.add.at(priced, (rows.leaves, rows.labels), rows.weights * rows.factors)
    out = np.zeros((2, 3, 2), np.int64)
    kernels.rows.sum_by_leaf(rows.weights, rows.starts, rows.leaves, SCALE, out)
    assert_allclose(out.sum(axis=0) / SCALE, expected, atol=1e-10)
    weights, starts, leaves, columns, _, _, f = rows.arguments()
    out = np.zeros((3, 2, 2), np.int64)
    kernels.rows.sum_terms_by_leaf(weights, starts, leaves, columns, f, SCALE, out)
    assert_allclose((out[..., 0] + out[..., 1] / 2.0**40) / SCALE, priced, rtol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 1023, 1024, 1025])
def test_weights_multiplied_by_cell_and_their_largest(n):
    rows = Rows(5, n, factored=True)
    by_cell = np.random.default_rng(0).uniform(0.5, 2.0, (3, 2))
    cells = by_cell[rows.leaves, rows.labels]
    weights = rows.weights.copy()
    largest = _row_kernels.multiply_by_leaf(weights, rows.starts, rows.leaves, by_cell)
    assert_allclose(weights, np.maximum(rows.weights * cells, 1e-280), rtol=1e-15)
    assert largest == weights.max(initial=0.0)
    weights, starts, leaves, columns, _, _, f = rows.arguments()
    expected = np.maximum(weights * cells * rows.factors, 1e-280)
    largest = _row_kernels.multiply_by_leaf_and_row(weights, starts, leaves, columns, by_cell, f)
    assert_allclose(weights, expected, rtol=1e-15)
    assert largest == weights.max(initial=0.0)


# --- sums ----------------------------------------------------------------------------------------


def sums_of(rows, n_shards=1):
    """Return the sums over the rows of one shard, or of several."""
    layout = plan_layout(rows.labels, rows.n, 2, n_shards)
    given = Given(rows.labels, Costs(fp=1, fn=1).bind([0, 1]), None, 2, rows.labels)
    shards = layout.cut(np.zeros((rows.n, 1), np.uint8), given.load)
    for shard in shards.shards:
        shard.leaves[:] = rows.leaves[shard.rows]
        shard.state.weights = rows.weights[shard.rows]
        shard.state._terms = RowTerms.of(rows.u[shard.rows], rows.f[shard.rows])
    bounds = (float(rows.weights.max() * rows.f.max()), 1.0)
    return shards, RowSums(shards, View(rows.hypothesis), by_leaf(rows), *bounds)


def by_leaf(rows):
    out = np.zeros((3, 2))
    np.add.at(out, (rows.leaves, rows.labels), rows.weights)
    return out


@few
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@example(368, False, False)  # a step beyond the first bracket
def test_search_finds_the_minimiser_of_z(seed, symmetric, factored):
    rows = Rows(seed, 300, symmetric=symmetric, factored=factored)
    shards, sums = sums_of(rows)
    with shards:
        found = steps.search(sums)
    q, u = rows.weights * rows.factors / rows.weights.sum(), rows.margins
    best = minimize_scalar(
        lambda a: np.sum(q * np.exp(-a * u)), bounds=(-80, 80), options={"xatol": 1e-12}
    )
    assert abs(found - best.x) < 1e-5
    assert abs(np.sum(q * u * np.exp(-found * u))) < 1e-11


@few
@given(st.integers(0, 10**6), st.floats(-50.0, 50.0), st.booleans())
def test_sums_of_logs(kernels, seed, alpha, rare):
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=50) * (rng.uniform(size=50) < (0.1 if rare else 0.9))
    logs, u, weights = np.empty(50), rng.normal(size=50), np.empty(50)
    kernels.rows.take_logs(values, logs)
    assert_allclose(np.exp(logs), values)
    kernels.rows.raise_logs(logs, weights)
    assert_allclose(weights, np.maximum(values, 1e-280))
    top = kernels.rows.largest_log(logs, u, alpha)
    assert top == np.max(logs - alpha * u)
    if np.isfinite(top):
        out = np.zeros((1, 2), dtype=np.int64)
        kernels.rows.sum_of_logs(logs, u, alpha, top, SCALE, out)
        total = (out[0, 0] + out[0, 1] / 2.0**40) / SCALE
        assert_allclose(total, np.sum(np.exp(logs - alpha * u - top)), rtol=1e-12)


@few
@given(st.integers(0, 10**6), st.floats(-3.0, 3.0))
def test_outline_and_exact_pass_agree(seed, alpha):
    rows = Rows(seed, 300, symmetric=False, factored=True)
    shards, sums = sums_of(rows)
    q, u = rows.weights * rows.factors / rows.weights.sum(), rows.margins
    z = q * np.exp(-alpha * u)
    expected = [z.sum(), -(u * z).sum(), (u * u * z).sum()]
    with shards:
        assert_allclose(sums.z(alpha), expected, rtol=1e-11, atol=1e-11)
        # With no error allowed, the rows are passed over.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ZMoments, "error", lambda *_: np.inf)
            assert_allclose(sums.z(alpha), expected, rtol=1e-12, atol=1e-13)
        both = [np.sum(q * (1 + u)), np.sum(q * (1 - u))]
        assert_allclose(sums.balance(), both, rtol=1e-10)


def test_sums_of_rows_do_not_depend_on_shards():
    rows = Rows(6, 20_000, factored=True)
    found = []
    for n_shards in (1, 2, 3, 7):
        shards, sums = sums_of(rows, n_shards)
        with shards:
            found.append((sums.balance(), sums.z(0.3), sums.z(30.0), steps.search(sums)))
    assert found[1:] == found[:1] * 3


# --- votes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", ["sign", "cheapest"])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("per_row", [True, False])
def test_ledger_pays_for_the_decisions_of_every_round(decision, weighted, per_row):
    rng = np.random.default_rng(7)
    n, y = 3_000, rng.integers(0, 2, 3_000)
    fn = rng.uniform(0.0, 9.0, n) if per_row else 4.0
    costs = Costs(fp=1.0, fn=fn).bind([0, 1], n)
    weight = rng.uniform(0.0, 2.0, n) if weighted else None
    given = Given(y, costs, weight, 2, y)
    with plan_layout(y, n, 2, 2).cut(np.zeros((n, 1), np.uint8), given.load) as shards:
        ledger = Ledger(shards, costs, 2, cheapest=decision == "cheapest")
        margins, total = np.zeros(n), 0.0
        for _ in range(6):
            alpha, leaves = rng.uniform(0.1, 1.0), rng.integers(0, 4, n)
            hypothesis = Hypothesis(np.array([0, 1, 1, 0]), np.ones(4))
            values = np.where(hypothesis.votes == 1, alpha, -alpha)[:, None]
            for shard in shards.shards:
                shard.leaves[:] = leaves[shard.rows]
            total += alpha
            margins += values[leaves, 0]
            limit = 0.0 if decision == "sign" else total * (2 * costs.thresholds() - 1)
            paid = costs.total(y, (margins > limit).astype(int), weight)
            answers = shards.call(ledger.votes(hypothesis, values, total))
            assert_allclose(ledger.pay(answers), paid, rtol=1e-12)
        held = shards.fetch(lambda shard: shard.state.margins)
        assert_allclose(held[:, 0], margins, rtol=1e-14)


def test_interpreted_votes_are_those_of_the_compiled_kernel():
    rng, n = np.random.default_rng(8), 60
    leaves, extra = rng.integers(0, 2, n).astype(np.uint16), rng.normal(size=n)
    start, strengths = rng.normal(size=(n, 1)), rng.uniform(size=n)
    limits, weights = rng.normal(size=n), rng.uniform(size=n)
    answers = []
    for kernel in (_vote_kernels, interpreted(hide_cython=True).votes):
        margins, out = start.copy(), np.zeros((1, 2), np.int64)
        turned, values = np.empty(17, np.uint16), np.array([-1.0, 1.0])
        rows = (margins, leaves, values, strengths, limits, 1.0, 1.5, weights, extra)
        kernel.vote_at_prices(*rows, SCALE, turned, out)
        answers.append((margins.tolist(), out.tolist()))
    assert answers[0] == answers[1]
    moved = start[:, 0] + values[leaves] * strengths
    change = (moved > 1.5 * limits).astype(int) - (start[:, 0] > limits)
    assert_allclose(answers[0][1][0][0] / SCALE, np.sum(change * extra * weights), rtol=1e-10)


def test_blocks_fit_the_numbers_of_their_rows():
    assert BLOCK < 2**16

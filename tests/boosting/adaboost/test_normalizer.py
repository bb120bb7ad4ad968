"""Sums over rows and cells: an outline of Z, exact passes, and long steps."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from costboost.boosting.adaboost import steps
from costboost.boosting.adaboost.learner import Hypothesis
from costboost.boosting.adaboost.steps import CellSums, ZMoments, halvings
from rows_of_votes import Rows, sums_of

few = settings(max_examples=25, deadline=None)


def test_exponents_are_halved_until_they_are_small():
    assert halvings(0.0) == halvings(1 / 64) == 0
    for size in (0.03, 0.1, 1.0, 31.9, 256.0, 499.0):
        assert size / 2 ** halvings(size) <= 1 / 32 <= 2 * size / 2 ** halvings(size)
    assert halvings(1e9) == halvings(500.0) == 14


@few
@given(st.integers(0, 10**6), st.booleans(), st.booleans())
@example(368, False, False)  # a step beyond the first bracket
@example(737783, False, False)  # all margins on one side
@example(737783, True, True)
def test_search_finds_the_minimiser_of_z(seed, symmetric, factored):
    rows = Rows(seed, 300, symmetric=symmetric, factored=factored)
    shards, sums = sums_of(rows)
    with shards:
        found, endless = steps.minimiser(sums)
        assert steps.search(sums) == found
    q, u = rows.weights * rows.factors / rows.weights.sum(), rows.margins
    one_side = np.all(u[q > 0] > 0) or np.all(u[q > 0] < 0)
    assert endless == one_side
    if one_side:  # Z falls for ever: as far as every row would go with an error of one ulp
        assert_allclose(found, np.sign(u[0]) * steps.MAX_ALPHA * q.sum() / (q @ abs(u)))
        return
    best = minimize_scalar(
        lambda a: np.sum(q * np.exp(-a * u)), bounds=(-80, 80), options={"xatol": 1e-12}
    )
    assert abs(found - best.x) < 1e-5
    assert abs(np.sum(q * u * np.exp(-found * u))) < 1e-11


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


def test_sums_of_cells_by_hand():
    sums = CellSums(np.array([[0.5, 0.25], [0.0, 0.25]]), np.array([[1.0, -1.0], [3.0, -0.5]]))
    assert sums.reach == 3.0
    assert sums.balance() == (0.5 * 2 + 0.25 * 0.5, 0.25 * 2 + 0.25 * 1.5)
    terms = 0.5 * np.exp(-0.7), 0.25 * np.exp(0.7), 0.25 * np.exp(0.35)
    assert_allclose(sums.z_alone(0.7), sum(terms))
    expected = [sum(terms), -terms[0] + terms[1] + 0.5 * terms[2]]
    expected.append(terms[0] + terms[1] + 0.25 * terms[2])
    assert_allclose(sums.z(0.7), expected)
    assert np.isfinite(sums.z(1e6)).all()  # exponents are cut far from overflow
    assert_allclose(sums.tails().log_z(0.7), np.log(sum(terms)))


@few
@given(st.integers(0, 10**6), st.floats(-5.0, 5.0))
def test_moments_of_cells_are_those_of_z(seed, alpha):
    """Rows in 16 cells: what the series leaves out is bounded by `error`."""
    rng = np.random.default_rng(seed)
    q, u = rng.dirichlet(np.ones(200)), rng.uniform(-1, 1, 200)
    width = 2.0 / 16
    cell = np.minimum(((u + 1.0) / width).astype(int), 15)
    centres = (np.arange(16) + 0.5) * width - 1.0
    moments = np.zeros((4, 16))
    for k in range(4):
        np.add.at(moments[k], cell, q * ((u - centres[cell]) / width) ** k)
    outline = ZMoments(moments, centres, width)
    z = q * np.exp(-alpha * u)
    found = outline.z(alpha)
    assert_allclose(found, [z.sum(), -(u * z).sum(), (u * u * z).sum()], rtol=1e-3, atol=1e-3)
    wrong = abs(found[1] + (u * z).sum()) / found[2]  # of a Newton step from here
    assert wrong <= 1.1 * outline.error(alpha, *found) + 1e-14
    assert_allclose(outline.balance(), [np.sum(q * (1 + u)), np.sum(q * (1 - u))], rtol=1e-12)


def test_an_outline_without_curvature_is_no_guide():
    outline = ZMoments(np.array([[1.0], [0.0], [0.0], [0.0]]), np.zeros(1), 0.1)
    assert outline.error(1.0, *outline.z(1.0)) == np.inf


def test_balances_that_cancel_are_passed_over_again():
    """All votes right but for rounding: sum q (1 - u) is of the size of what an outline loses."""
    rows = Rows(1, 200)
    rows.hypothesis = Hypothesis(rows.hypothesis.votes, np.ones(3))
    right = rows.hypothesis.votes[rows.leaves] == rows.labels
    rows.weights = np.where(right, rows.weights, 0.0)
    sizes = 1.0 - 2.0**-44 * np.arange(1, 201)
    rows.u = np.where(rows.labels[:, None] == np.arange(2), sizes[:, None], -sizes[:, None])
    shards, sums = sums_of(rows)
    with shards:
        plus, minus = sums.balance()
    q = rows.weights / rows.weights.sum()
    assert_allclose(plus, np.sum(q * (1 + sizes)), rtol=1e-12)
    assert_allclose(minus, np.sum(q * (1.0 - sizes)), rtol=1e-9)


def test_weights_by_leaf_come_with_the_outline():
    rows = Rows(2, 100)
    shards, sums = sums_of(rows)
    with shards:
        unknown = replace(sums, known=None)
        assert_allclose(unknown.cells, sums.cells, rtol=1e-9)
        assert_allclose(unknown.z(0.4), sums.z(0.4), rtol=1e-12)

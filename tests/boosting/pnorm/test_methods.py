"""Signed weights of the L_p methods: the relational examples, and what the paper proves of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from costboost.boosting.pnorm.methods import (
    METHODS,
    MethodInput,
    make_stochastic,
    norm_weights,
)
from naive import pnorm as naive
from pnorm_problems import NAMES, mixture_of, row_costs, seeds


@settings(deadline=None, max_examples=40)
@given(seed=seeds, K=st.integers(2, 6), p=st.sampled_from([1.0, 1.5, 2.0, 3.0, 4.7]))
@pytest.mark.parametrize("name", [name for name in NAMES if name != "adaboost.m2"])
def test_signed_weights_are_the_relational_examples(name, seed, K, p):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 12)
    H, C = mixture_of(rng, 12, K), row_costs(seed, y, K)
    found = METHODS[name].examples(MethodInput(H, C, y, p))
    assert_allclose(found, naive.signed(naive.examples_of(name, H, C, y, p), C.shape), atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, K=st.integers(2, 6))
def test_proposition_31_for_stochastic_hypotheses(seed, K):  # invariant 35
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 10)
    w = row_costs(seed, y, K)
    for h in (mixture_of(rng, 10, K), np.eye(K)[rng.integers(0, K, 10)]):
        assert_allclose(
            naive.plain_loss(w, h), naive.pseudo_loss(naive.adjusted(w, y), h, y), rtol=1e-10
        )


def test_proposition_31_fails_for_relational_hypotheses():  # invariant 35
    w, y = np.array([[0.0, 2.0, 1.0]]), np.array([0])
    nothing = np.zeros((1, 3))
    assert naive.plain_loss(w, nothing) == 0.0
    assert_allclose(naive.pseudo_loss(naive.adjusted(w, y), nothing, y), 1.0)


@settings(deadline=None, max_examples=40)
@given(seed=seeds, K=st.integers(2, 6))
def test_pseudo_loss_is_the_error_on_s2(seed, K):  # invariant 36
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 10)
    w, h = row_costs(seed, y, K), rng.integers(0, 2, (10, K)).astype(float)
    v = METHODS["lp-csb"].examples(MethodInput(np.ones((10, K)), w, y, 1.0))
    error = np.sum(np.maximum(v, 0)) - np.sum(v * h)
    assert_allclose(error, 0.5 * naive.pseudo_loss(w, h, y))
    assert naive.plain_loss(w, h) <= naive.pseudo_loss(w, h, y) + 1e-12


@settings(deadline=None, max_examples=30)
@given(seed=seeds, K=st.integers(2, 6), p=st.sampled_from([1.0, 2.0, 2.5]))
def test_label_one_weighs_as_much_as_all_zeros(seed, K, p):  # invariants 37, 38
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 10)
    rows = MethodInput(mixture_of(rng, 10, K), row_costs(seed, y, K), y, p)
    w, own = norm_weights(rows), (np.arange(10), y)
    assert_array_equal(w[own], 0.0)
    v = METHODS["lp-csb"].examples(rows)
    assert_allclose(v.sum(axis=1), 0.0, atol=1e-12)
    assert_allclose(v[own], w.sum(axis=1) / 2)
    turned = METHODS["lp-csb-pa"].examples(rows)
    assert_allclose(turned[own], w.sum(axis=1) / (2 * K))
    assert np.all(turned[own] >= 0)  # label 1 never turns round


def test_adjusted_weights_turn_some_zeros_into_ones():  # invariant 38
    rows = MethodInput(np.ones((1, 3)) / 3, np.array([[0.0, 9.0, 1.0]]), np.array([0]), 1.0)
    assert_array_equal(np.sign(METHODS["lp-csb-pa"].examples(rows)), [[1, -1, 1]])


@settings(deadline=None, max_examples=30)
@given(seed=seeds, K=st.integers(2, 6))
def test_expansion_and_mean_cost(seed, K):  # invariants 40, 41
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, 10)
    H, C = mixture_of(rng, 10, K), row_costs(seed, y, K)
    rows = MethodInput(H, C, y, 2.0)
    assert_array_equal(norm_weights(MethodInput(H, C, y, 1.0)), C)  # whatever H
    assert_allclose(np.sum(H * METHODS["gbse"].examples(rows), axis=1), 0.0, atol=1e-12)
    h, w = np.eye(K)[rng.integers(0, K, 10)], norm_weights(rows)
    reward = np.sum(METHODS["dse"].examples(rows) * h)  # most weight right is least cost
    assert_allclose(reward, np.sum(w.max(axis=1)) - naive.plain_loss(w, h))


def test_make_stochastic():  # invariant 42
    h = np.random.default_rng(0).integers(0, 2, (50, 4))
    assert_allclose(make_stochastic(h), naive.stochastic(h.astype(float)))
    assert_allclose(make_stochastic(h).sum(axis=1), 1.0)

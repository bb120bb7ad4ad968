"""The kernels of gradient boosting, compiled and interpreted, against NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.boosting.gradient import _gradient_kernels
from costboost.boosting.gradient import rows as rows_module
from costboost.boosting.gradient.losses import classes, errors
from costboost.boosting.gradient.rows import LossRows, read_both
from costboost.shards.grid import to_floats
from gradient_losses import derive, each_loss, example

few = settings(max_examples=25, deadline=None)
NONE, EVERY = np.zeros(0), np.zeros(0, dtype=np.uint8)


@each_loss
@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_compute_what_the_methods_say(kernels, name, weighted, monkeypatch):
    for module in (classes, errors, rows_module):
        monkeypatch.setattr(module, "kernels", kernels)
    loss, _, rows, raw = example(name, n=61)
    if weighted:
        weights = np.random.default_rng(1).uniform(0.1, 3, size=61)
        rows = LossRows(rows.y, rows.n_outputs, weights, rows.prices)
    expected = loss.derivatives(rows, raw)
    largest, *found = derive(loss, rows, raw, n_shards=2)
    for part, twin in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, twin, rtol=1e-12)
    tops = np.stack([np.abs(expected[0]).max(axis=0), expected[1].max(axis=0)], axis=1)
    np.testing.assert_allclose(largest, tops, rtol=1e-12)


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


@pytest.mark.parametrize("own_limits", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_of_two_classes_are_counted(kernels, own_limits, weighted):
    rng = np.random.default_rng(0)
    margins, labels = rng.integers(-2, 3, (70, 1)) / 2, rng.integers(0, 2, 70).astype(np.uint8)
    limits = rng.integers(-2, 3, 70 if own_limits else 1) / 2  # many are met, and not exceeded
    weights = rng.integers(0, 9, 70) / 4 if weighted else NONE
    confusion = np.zeros((2, 2), dtype=np.int64)
    kernels.count_decisions(margins, labels, limits, weights, 4.0, confusion)
    answers = (margins[:, 0] > limits).astype(int)
    expected = np.zeros((2, 2))
    np.add.at(expected, (labels, answers), 4 * weights if weighted else 1)
    np.testing.assert_array_equal(confusion, expected)


@pytest.mark.parametrize("own_limits", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_of_two_classes_are_priced(kernels, own_limits, weighted):
    rng = np.random.default_rng(3)
    margins, labels = rng.integers(-2, 3, (70, 1)) / 2, rng.integers(0, 2, 70).astype(np.uint8)
    limits = rng.integers(-2, 3, 70 if own_limits else 1) / 2
    weights = rng.integers(0, 9, 70) / 4 if weighted else NONE
    prices = rng.integers(0, 99, (70, 2, 2)) / 8  # of label, answer: sums are exact
    prices[0] = np.broadcast_to(2.0**40, (2, 2))
    out = np.zeros((1, 2), dtype=np.int64)
    cells = (prices[:, label, answer] for label in range(2) for answer in range(2))
    kernels.price_decisions(margins, labels, limits, *cells, 16.0, weights, 2.0**20, out)
    answers = (margins[:, 0] > limits).astype(int)
    paid = prices[np.arange(70), labels, answers] @ (weights if weighted else np.ones(70))
    assert to_floats(out, 2.0**20)[0] * 16.0 == paid


@pytest.mark.parametrize("n_actions", [0, 3, 5])
def test_decisions_of_many_classes_are_the_cheapest(kernels, n_actions):
    rng = np.random.default_rng(1)
    margins, labels = rng.integers(-3, 4, (70, 3)) / 2, rng.integers(0, 3, 70).astype(np.uint8)
    margins[0] = [900.0, -900.0, 0.0]
    prices = rng.uniform(0, 9, (3, n_actions)) if n_actions else np.zeros((0, 0))
    decisions, confusion = np.zeros(70, np.uint8), np.zeros((3, max(3, n_actions)), dtype=np.int64)
    given = (2.0, prices, NONE, 1.0, np.zeros(3), decisions, confusion)
    kernels.count_choices(margins, labels, *given)
    powers = np.exp(2.0 * (margins - margins.max(axis=1, keepdims=True)))
    answers = np.argmin(powers @ prices, axis=1) if n_actions else np.argmax(margins, axis=1)
    np.testing.assert_array_equal(decisions, answers)
    expected = np.zeros_like(confusion)
    np.add.at(expected, (labels, answers), 1)
    np.testing.assert_array_equal(confusion, expected)


def test_equal_prices_answer_the_first_class(kernels):
    decisions, confusion = np.zeros(2, np.uint8), np.zeros((3, 3), dtype=np.int64)
    given = (1.0, np.ones((3, 3)), np.ones(2), 8.0, np.zeros(3), decisions, confusion)
    margins = np.array([[1.0, 5.0, 2.0], [0.0, 0.0, 0.0]])
    kernels.count_choices(margins, np.array([2, 1], np.uint8), *given)
    assert decisions.tolist() == [0, 0]
    assert confusion.tolist() == [[0, 0, 0], [8, 0, 0], [8, 0, 0]]


def test_margins_move_by_leaf_and_by_steps(kernels):
    rng = np.random.default_rng(2)
    margins, steps = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    leaves, values = rng.integers(0, 4, 30).astype(np.uint16), rng.normal(size=4)
    moved, out = margins.copy(), np.empty_like(margins)
    kernels.add_by_leaf(moved, 1, leaves, values)
    kernels.add_scaled(margins, steps, -0.7, out)
    expected = margins.copy()
    expected[:, 1] += values[leaves]
    np.testing.assert_array_equal(moved, expected)
    np.testing.assert_array_equal(out, margins + -0.7 * steps)


def test_sums_of_values_keep_what_is_below_a_unit(kernels):
    values = np.array([0.5, 2.0**-30, 7.25, 0.0, 1e-9])
    out = np.zeros((1, 2), dtype=np.int64)
    kernels.sum_values(values, 2.0, out)
    assert out[0, 0] == 1 + 14  # whole units
    assert (out[0, 0] + out[0, 1] / 2**40) / 2 == pytest.approx(values.sum(), abs=1e-12)
    none = np.zeros((1, 2), dtype=np.int64)
    kernels.sum_values(NONE, 2.0, none)
    assert not none.any()


def test_a_single_leaf_is_that_of_all_rows(kernels):
    gradients, hessians = np.arange(5.0), np.ones(5)
    block = np.empty((2, 3))
    rows = (*read_both(gradients, hessians, NONE), False, block)
    found = []
    for leaves in (np.ones(1, dtype=np.uint16), np.ones(5, dtype=np.uint16)):
        out = np.zeros((2, 4), dtype=np.int64)
        kernels.sum_by_leaf(*rows, leaves, EVERY, 4.0, 2.0, out)
        found.append(out.tolist())
    assert found[0] == found[1] == [[0, 0, 0, 0], [40, 0, 10, 0]]

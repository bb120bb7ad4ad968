"""Votes and prices, compiled and interpreted, against plain NumPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from costboost.boosting import _vote_kernels
from costboost.shards.grid import to_floats
from interpreted import WAYS, load_interpreted

SCALE = 2.0**40


def test_interpreted_votes_are_those_of_the_compiled_kernel():
    rng, n = np.random.default_rng(8), 60
    leaves, extra = rng.integers(0, 2, n).astype(np.uint16), rng.normal(size=n)
    start, strengths = rng.normal(size=(n, 1)), rng.uniform(size=n)
    limits, weights = rng.normal(size=n), rng.uniform(size=n)
    answers = []
    for kernel in (_vote_kernels, *load_interpreted("boosting._vote_kernels")):
        margins, out = start.copy(), np.zeros((1, 2), np.int64)
        turned, values = np.empty(17, np.uint16), np.array([-1.0, 1.0])
        rows = (margins, leaves, values, strengths, limits, 1.0, 1.5, weights, extra)
        kernel.vote_at_prices(*rows, SCALE, turned, out)
        answers.append((margins.tolist(), out.tolist()))
    assert answers[0] == answers[1]
    moved = start[:, 0] + values[leaves] * strengths
    change = (moved > 1.5 * limits).astype(int) - (start[:, 0] > limits)
    assert_allclose(answers[0][1][0][0] / SCALE, np.sum(change * extra * weights), rtol=1e-10)


NONE = np.zeros(0)
STARTS = np.array([0, 25, 25, 60])  # a class without rows
LABELS = np.repeat([0, 2], [25, 35])


@pytest.fixture(scope="module", params=WAYS)
def kernels(request):
    if request.param == "installed":
        return _vote_kernels
    if request.param == "interpreted":
        pytest.importorskip("cython")
    hide = request.param == "without-cython"
    return load_interpreted("boosting._vote_kernels", hide_cython=hide)[0]


@pytest.mark.parametrize("personal", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("own_limits", [False, True])
def test_votes_of_two_classes_are_counted(kernels, personal, weighted, own_limits):
    rng = np.random.default_rng(0)
    starts, labels = np.array([0, 25, 60]), np.repeat([0, 1], [25, 35])
    margins, leaves = rng.integers(-2, 3, (60, 1)) / 4, rng.integers(0, 3, 60).astype(np.uint16)
    values, total = np.array([-0.5, 0.25, 0.5]), 1.5
    strengths = rng.integers(0, 3, 60) / 2 if personal else NONE
    weights = rng.integers(0, 9, 60) / 4 if weighted else NONE
    limits = rng.integers(-2, 3, 60) / 4 if own_limits else np.array([0.5])
    moved = margins[:, 0] + values[leaves] * (strengths if personal else 1.0)
    decided = (moved > limits * total).astype(int)  # many are met, and not exceeded
    expected = np.zeros((2, 2))
    np.add.at(expected, (labels, decided), 4 * weights if weighted else 1)
    confusion = np.zeros((2, 2), dtype=np.int64)
    voted = (margins, starts, leaves, values, strengths, limits, total)
    kernels.vote_binary(*voted, weights, 4.0, confusion)
    np.testing.assert_array_equal(margins[:, 0], moved)
    np.testing.assert_array_equal(confusion, expected)


@pytest.mark.parametrize("block", [1, 7, 60, 1000])
def test_prices_change_by_the_decisions_that_do(kernels, block):
    rng = np.random.default_rng(1)
    margins, leaves = rng.normal(size=(60, 1)), rng.integers(0, 2, 60).astype(np.uint16)
    extra, values = rng.integers(-9, 9, 60).astype(float), np.array([-0.7, 0.9])
    before, after = margins[:, 0] > 0.2 * 1.0, margins[:, 0] + values[leaves] > 0.2 * 1.9
    out = np.array([[5, 0]], dtype=np.int64)  # of rows before
    turned, limits = np.empty(block + 1, np.uint16), np.array([0.2])
    kernels.vote_at_prices(
        margins, leaves, values, NONE, limits, 1.0, 1.9, NONE, extra, 8.0, turned, out
    )
    assert 0 < (before != after).sum() < 60
    assert out[0, 0] == 5 + 8 * np.sum(extra * (after.astype(int) - before))


@pytest.mark.parametrize("n_actions", [0, 2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_votes_of_many_classes_are_counted(kernels, n_actions, weighted):
    rng = np.random.default_rng(2)
    margins, leaves = rng.integers(0, 3, (60, 3)).astype(float), rng.integers(0, 4, 60)
    votes, values = np.array([2, 0, 1, 1]), np.array([1.0, 2.0, 0.5, 1.0])
    prices = rng.integers(0, 4, (3, n_actions)).astype(float)
    prices = prices if n_actions else np.zeros((0, 0))
    weights = rng.integers(0, 9, 60) / 4 if weighted else NONE
    moved = margins.copy()
    moved[np.arange(60), votes[leaves]] += values[leaves]
    decided = np.argmin(moved @ prices if n_actions else -moved, axis=1)  # ties: the first
    expected = np.zeros((3, max(3, n_actions)), dtype=np.int64)
    np.add.at(expected, (LABELS, decided), (4 * weights).astype(int) if weighted else 1)
    for kept in (0, 60):
        own, confusion = margins.copy(), np.zeros_like(expected)
        decisions = np.full(kept, 9, np.uint8)
        voted = (own, STARTS, leaves.astype(np.uint16), votes, values, prices)
        kernels.vote_classes(*voted, weights, 4.0, decisions, confusion)
        np.testing.assert_array_equal(own, moved)
        np.testing.assert_array_equal(confusion, expected)
        np.testing.assert_array_equal(decisions, decided[:kept])


@pytest.mark.parametrize("own_limits", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_of_two_classes_are_counted(kernels, own_limits, weighted):
    rng = np.random.default_rng(0)
    margins, labels = rng.integers(-2, 3, (70, 1)) / 2, rng.integers(0, 2, 70).astype(np.uint8)
    limits = rng.integers(-2, 3, 70 if own_limits else 1) / 2  # many are met, and not exceeded
    weights = rng.integers(0, 9, 70) / 4 if weighted else NONE
    confusion = np.zeros((2, 2), dtype=np.int64)
    kernels.count_binary(margins, labels, limits, weights, 4.0, confusion)
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
    kernels.price_binary(margins, labels, limits, *cells, 16.0, weights, 2.0**20, out)
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
    given = (2.0, prices, NONE, 1.0, np.zeros((1, 3)), decisions, confusion)
    kernels.count_classes(margins, labels, *given)
    powers = np.exp(2.0 * (margins - margins.max(axis=1, keepdims=True)))
    answers = np.argmin(powers @ prices, axis=1) if n_actions else np.argmax(margins, axis=1)
    np.testing.assert_array_equal(decisions, answers)
    expected = np.zeros_like(confusion)
    np.add.at(expected, (labels, answers), 1)
    np.testing.assert_array_equal(confusion, expected)


def test_equal_prices_answer_the_first_class(kernels):
    decisions, confusion = np.zeros(2, np.uint8), np.zeros((3, 3), dtype=np.int64)
    given = (1.0, np.ones((3, 3)), np.ones(2), 8.0, np.zeros((1, 3)), decisions, confusion)
    margins = np.array([[1.0, 5.0, 2.0], [0.0, 0.0, 0.0]])
    kernels.count_classes(margins, np.array([2, 1], np.uint8), *given)
    assert decisions.tolist() == [0, 0]
    assert confusion.tolist() == [[0, 0, 0], [8, 0, 0], [8, 0, 0]]


@pytest.mark.parametrize("weighted", [False, True])
def test_pricing_keep_what_is_below_a_unit(kernels, weighted):
    rng = np.random.default_rng(3)
    decisions, prices = rng.integers(0, 3, 60).astype(np.uint8), 10.0 ** rng.uniform(-6, 3, (60, 3))
    weights = rng.uniform(0, 2, 60) if weighted else NONE
    out = np.zeros((1, 2), dtype=np.int64)
    kernels.price_decisions(decisions, prices, weights, 2.0, out)
    paid = prices[np.arange(60), decisions] * (weights if weighted else 1.0)
    assert_allclose((out[0, 0] + out[0, 1] / 2.0**40) / 2.0, paid.sum(), rtol=1e-12)
    assert out[0, 0] == np.sum(np.trunc(2.0 * paid))

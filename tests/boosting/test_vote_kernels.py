"""Votes and prices, compiled and interpreted, against plain NumPy."""

import numpy as np
from numpy.testing import assert_allclose

from costboost.boosting import _vote_kernels
from interpreted import load_interpreted

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

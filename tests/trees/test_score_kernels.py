"""What sums are worth, compiled and interpreted: by hand and against naive twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.trees.tree import CRITERIA, SplitFinder
from naive import trees as naive
from tree_searches import few, using


@pytest.mark.parametrize(
    ("criterion", "sums", "expected"),
    [
        ("gini", [3, 1], 2.5),
        ("gini", [0, 0], 0.0),
        ("entropy", [4, 4], -8 * np.log(2)),
        ("entropy", [5, 0], 0.0),
        ("error", [3, 7, 2], 7.0),
        ("newton", [-6, 3], 9.0),  # with l2 = 1: 36 / 4
        ("newton", [6, -1], 0.0),
        ("vector", [-5, 2, 4], 6.0),
        ("one-hot", [-5, -2, -4], -2.0),
        ("squares", [-5, 2, 3, 1], 19.0),  # 38 / 2
        ("squares", [-5, 2, -1], 0.0),
    ],
)
def test_scores_by_hand(kernels, criterion, sums, expected):
    got = kernels.score.score(np.array(sums), CRITERIA[criterion], 1.0)
    assert got == pytest.approx(expected, rel=1e-15)


def test_weights_by_hand(kernels):
    for criterion, sums, expected in [
        ("gini", [3, 1], 4.0),
        ("newton", [-6, 3], 3.0),
        ("vector", [-5, 2], 7.0),
        ("one-hot", [-5, 2, -1], 8.0),
        ("squares", [-5, 2, 3], 3.0),
    ]:
        assert kernels.score.weight(np.array(sums), CRITERIA[criterion]) == expected


sizes_of_sums = st.integers(0, 2**59)


@given(st.lists(sizes_of_sums, min_size=2, max_size=5), st.data())
@few
def test_scores_equal_their_twins(kernels, sums, data):
    for criterion in naive.CRITERIA:
        signed = sums
        if criterion in ("vector", "one-hot"):
            # Sums of int32 weights.
            signed = [s % 2**40 * data.draw(st.sampled_from([-1, 1])) for s in sums]
        elif criterion == "newton":
            signed = [sums[0] * data.draw(st.sampled_from([-1, 1])), sums[1]]
        got = kernels.score.score(np.array(signed), CRITERIA[criterion], 0.5)
        assert got == naive.score(signed, criterion, 0.5)
        if criterion != "entropy":
            exact = naive.exact_score(signed, criterion, naive.Fraction(1, 2))
            assert got == pytest.approx(float(exact), rel=1e-14)


def test_entropy_is_exact_in_nearly_pure_nodes(kernels):
    # One part in 2**50: log(1 - 2**-50) must not be rounding. By the series -x - x^2/2.
    sums = np.array([2**60 - 2**10, 2**10])
    x = 2.0**-50
    expected = (2**60 - 2**10) * (-x - x * x / 2) + 2**10 * np.log(x)
    got = kernels.score.score(sums, CRITERIA["entropy"], 0.0)
    assert got == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("criterion", naive.CRITERIA)
@pytest.mark.parametrize("mixture", [(1, 3), (3**30, 3**5), (7**15, 11**12)])
def test_splits_that_change_nothing_gain_nothing(kernels, criterion, mixture):
    # Every bin holds the same mixture: what is left is rounding.
    hist = np.zeros((1, 256, 2), dtype=np.int64)
    hist[0, :30] = np.arange(1, 31)[:, None] * mixture
    finder = SplitFinder(np.array([30]), np.array([False]), 2, criterion=criterion)
    counts = np.empty((0, 256), dtype=np.int64)
    with using(kernels):
        assert finder.find(hist, counts, hist[0].sum(axis=0), 30, np.arange(1)) is None


@pytest.mark.parametrize("criterion", naive.CRITERIA)
@pytest.mark.parametrize(("extra", "feature"), [(2**10, 0), (2**35, 1)])
def test_gains_that_differ_by_rounding_are_ties(kernels, criterion, extra, feature):
    # Two columns part the node alike, the second a little better: by 2**-50 or by 2**-25 of it.
    pairs, signed = [[-2, 2], [2, 2]], [[2, -2], [-2, 2]]
    sums = {"newton": pairs, "vector": signed, "one-hot": signed}.get(criterion, [[2, 1], [1, 2]])
    hist = np.zeros((2, 256, 2), dtype=np.int64)
    hist[:, :2] = np.array(sums) * 2**57
    hist[1, :2, 0] += np.array([1, -1]) * extra * np.sign(hist[1, 0, 0])
    finder = SplitFinder(np.array([2, 2]), np.zeros(2, dtype=bool), 2, criterion=criterion)
    counts = np.empty((0, 256), dtype=np.int64)
    with using(kernels):
        found = finder.find(hist, counts, hist[0].sum(axis=0), 4, np.arange(2))
    assert found.feature == feature


@pytest.mark.parametrize(
    ("criterion", "sums", "bounds", "expected"),
    [
        ("newton", [-6, 3], (-np.inf, np.inf), 1.5),  # 6 / (3 + l2), l2 = 1
        ("newton", [-6, 3], (-1.0, 1.25), 1.25),
        ("newton", [6, 3], (-1.0, 1.25), -1.0),
        ("newton", [6, -1], (-np.inf, np.inf), 0.0),  # no curvature: no step
        ("gini", [3, 1], (-np.inf, np.inf), 0.25),
        ("entropy", [3, 1], (0.5, 0.75), 0.5),
        ("error", [0, 0], (-np.inf, np.inf), 0.5),  # nothing is known
    ],
)
def test_values_are_kept_within_bounds(kernels, criterion, sums, bounds, expected):
    got = kernels.score.value_within(np.array(sums), CRITERIA[criterion], 1.0, *bounds)
    assert got == expected


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "newton"])
def test_bounds_that_do_not_bind_change_no_gain(kernels, criterion):
    # One way or another, a leaf of its own value is worth what its sums are.
    rng = np.random.default_rng(0)
    hist = np.zeros((3, 256, 2), dtype=np.int64)
    cells = rng.integers(1, 99, size=(20, 2))
    for column in hist:
        column[:20] = rng.permutation(cells)
    sums, counts = hist[0].sum(axis=0), np.empty((0, 256), dtype=np.int64)
    found = []
    for monotone in (None, np.zeros(3, dtype=np.int8)):
        options = {"criterion": criterion, "monotone": monotone}
        finder = SplitFinder(np.full(3, 20), np.zeros(3, dtype=bool), 2, **options)
        with using(kernels):
            found.append(finder.find(hist, counts, sums, 99, np.arange(3)))
    assert found[0].gain == pytest.approx(found[1].gain, rel=1e-9)
    assert (found[0].feature, found[0].threshold) == (found[1].feature, found[1].threshold)

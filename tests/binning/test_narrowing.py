"""Where a column is cut, when only some of its values are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.binning.binner import fit_binner
from costboost.binning.partitioned import Known, walk
from naive import binning as naive


def test_a_walk_that_wants_nothing_is_the_kernels():
    values = np.arange(40.0)
    weights = np.random.default_rng(8).integers(1, 9, 40)
    upto = np.cumsum(weights)
    walked = walk(Known(values, upto - weights, upto), 6)
    assert walked.wanted == []
    halves = (walked.lower + walked.upper) / 2
    assert halves.tolist() == fit_binner(values[:, None], weights, max_bins=6).edges[0].tolist()


def test_gaps_are_filled_in_their_places():
    known = Known(np.array([0.0, 10.0, 20.0]), np.array([0, 5, 9]), np.array([1, 7, 12]))
    filled = known.filled(np.array([3.0, 4.0, 15.0]), np.array([1, 3, 2]))
    assert filled.values.tolist() == [0, 3, 4, 10, 15, 20]
    assert filled.below.tolist() == [0, 1, 2, 5, 7, 9]
    assert filled.upto.tolist() == [1, 2, 5, 7, 9, 12]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 40), min_size=4, max_size=120),
    st.sampled_from([2, 3, 7]),
    st.integers(2, 9),
)
def test_filling_what_is_wanted_ends_at_the_cuts_of_the_whole(weights, max_bins, stride):
    values, weights = np.arange(float(len(weights))), np.array(weights)
    upto = np.cumsum(weights)
    whole = Known(values, upto - weights, upto)
    some = np.unique(np.append(np.arange(0, len(values), stride), len(values) - 1))
    known = Known(*(part[some] for part in whole))
    for _ in range(len(values)):
        walked = walk(known, max_bins)
        if not walked.wanted:
            break
        above, below = known.gaps(walked.wanted)
        inside = np.any((values > above[:, None]) & (values < below[:, None]), axis=0)
        assert inside.any()  # no trip is for nothing
        known = known.filled(values[inside], weights[inside])
    assert walked.wanted == []
    if len(values) > max_bins:
        middle = (walked.lower + walked.upper) / 2
        assert middle.tolist() == naive.edges(values, weights, max_bins)


@pytest.mark.parametrize("heavy", [0, 2, 4])
def test_a_heavy_value_is_cut_off_alone(heavy):
    weights = np.ones(5, dtype=np.int64)
    weights[heavy] = 90
    upto = np.cumsum(weights)
    walked = walk(Known(np.arange(5.0), upto - weights, upto), 3)
    assert walked.wanted == []
    sides = set(zip(walked.lower.tolist(), walked.upper.tolist(), strict=True))
    around = {(heavy - 1.0, float(heavy)), (float(heavy), heavy + 1.0)}
    assert {(a, b) for a, b in around if a >= 0 and b <= 4} <= sides


def test_a_cut_whose_neighbour_is_hidden_wants_the_gap():
    # 4 rows up to 1.0 are half of 8; the first value after it may be anything below 9.
    known = Known(np.array([0.0, 1.0, 9.0]), np.array([0, 1, 7]), np.array([1, 4, 8]))
    assert walk(known, 2).wanted == [1]
    filled = known.filled(np.array([2.0, 3.0]), np.array([1, 2]))
    walked = walk(filled, 2)
    assert (walked.lower.tolist(), walked.upper.tolist(), walked.wanted) == ([1.0], [2.0], [])

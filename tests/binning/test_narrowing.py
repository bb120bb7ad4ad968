"""Where a column is cut, when only some of its values are known."""

from __future__ import annotations

import numpy as np

from costboost.binning.binner import fit_binner
from costboost.binning.narrowing import Known, walk


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

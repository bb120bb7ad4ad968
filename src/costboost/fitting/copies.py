"""Copies among the rows of a fit: found once, told once, kept together wherever rows are cut."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from costboost.binning.copies import find_copies
from costboost.inputs.checks import warn_caller

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]

__all__ = ["read_copies"]

TOLD = 0.1  # the share of copies from which on they are told of


def read_copies(X: Any, weights: Floats | None = None) -> Int64 | None:
    """Return the number of each row's set of copies, or None where there are none; tell of many.

    Rows of weight 0 are as good as absent, and are copies of nothing. A table that cannot be
    compared (an outside learner may take anything) has no copies either.
    """
    here = None if weights is None or np.all(weights > 0.0) else np.flatnonzero(weights > 0.0)
    try:
        found = find_copies(X if here is None else _safe_indexing(X, here))
    except (TypeError, ValueError):
        return None
    if found is None:
        return None
    _tell(found)
    if here is None:
        return found
    assert weights is not None
    sets: Int64 = found.max() + 1 + np.arange(len(weights))
    sets[here] = found
    return sets


def _tell(sets: Int64) -> None:
    share = 1.0 - (int(sets.max()) + 1) / len(sets)
    if share >= TOLD:
        warn_caller(
            f"{share:.0%} of the rows are copies of other rows. Copies stay together where rows "
            "are set apart (to calibrate, or to stop early), so that no model is judged on rows "
            "that it was trained on; in training each of them counts. Give every row once with a "
            "sample_weight, or groups= of rows that belong together."
        )

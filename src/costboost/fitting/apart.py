"""Rows set apart from training: a share of every class, sets of rows that belong together whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.calibration import labels_of_sets

Bools = NDArray[np.bool_]
Int64 = NDArray[np.int64]


def set_apart(labels: NDArray[Any], sets: Int64 | None, share: float, seed: int) -> Bools:
    """Return which rows are set apart, (n,): of every class at least one, and never all.

    Parameters
    ----------
    labels : class numbers of shape (n,)
    sets : int64 array of shape (n,) or None
        The number of each row's set; rows of a set stay together.
    share : float
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> set_apart(np.array([0, 0, 0, 0, 1, 1]), None, 0.5, 0).tolist()
    [True, False, True, False, False, True]
    """
    rng = np.random.default_rng(seed)
    classes = labels if sets is None else labels_of_sets(labels, sets)
    apart = np.zeros(len(classes), dtype=bool)
    for k in np.unique(classes):
        members = np.flatnonzero(classes == k)
        if len(members) > 1:
            n_apart = min(max(1, round(share * len(members))), len(members) - 1)
            apart[rng.permutation(members)[:n_apart]] = True
    return apart if sets is None else _keep_classes(labels, sets, apart)[sets]


def _keep_classes(labels: NDArray[Any], sets: Int64, apart: Bools) -> Bools:
    """Take sets back that hold all there is of a class: it must be trained on."""
    for k in np.setdiff1d(labels, labels[~apart[sets]]):
        apart[sets[np.argmax(labels == k)]] = False
    return apart

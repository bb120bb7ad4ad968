"""The class-frequency cost model of the papers on many classes: rare classes are costly to miss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from costboost.costs import Costs

LARGEST = 2000.0


def frequency_costs(y: ArrayLike, random_state: int | np.random.RandomState | None = None) -> Costs:
    """Draw costs by which rare classes are costly to miss (Domingos 1999; Lozano and Abe 2008).

    To answer class i where the truth is class j costs a uniform number between 0 and
    ``2000 P(i) / P(j)``, where P is the share of a class in `y`; right answers are free. To take a
    class of 2% for one of 60% may cost 60,000, the reverse 67.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, of two or more classes.
    random_state : int, RandomState or None, default=None
        The same number gives the same costs everywhere.

    Returns
    -------
    costs : Costs
        ``C[true, predicted]``, constant, with the classes of `y` in sorted order.

    Notes
    -----
    Domingos's "class-probability" costs have a random diagonal as well, between 0 and 1000; Abe,
    Zadrozny and Langford (2004), whom Lozano and Abe follow, leave right answers free.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.datasets import frequency_costs
    >>> y = np.repeat(["common", "rare"], [90, 10])
    >>> costs = frequency_costs(y, random_state=0)
    >>> costs.total(["rare"], ["common"]) > costs.total(["common"], ["rare"])
    True
    """
    labels: Any = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"y has shape {labels.shape}: give one label for each row.")
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes[0]!r}: give labels of two or more.")
    rng = check_random_state(random_state)
    shares = counts / counts.sum()
    C = rng.uniform(size=(len(classes),) * 2) * LARGEST * shares[None, :] / shares[:, None]
    np.fill_diagonal(C, 0.0)
    return Costs.from_matrix(C, classes=classes)

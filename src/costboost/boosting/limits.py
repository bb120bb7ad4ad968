"""Two classes and their prices: the share of the second above which it is the cheaper answer.

One number where all rows have the same prices, else one per row. Training decides by comparing
every row with its limit, so that a round never computes expected costs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs

Floats = NDArray[np.float64]

__all__ = ["share_limits"]


def share_limits(costs: Costs) -> Floats | None:
    """Return the limits, of shape (1,) or (n,): the second class is answered strictly above.

    Limits below 0 and from 1 on (prices by which one answer is always the cheaper) are -inf and
    inf: they hold whatever a share is rounded to. None where for some row no limit exists: both of
    its wrong answers are cheaper than the right ones, and the *smaller* share is answered.

    Parameters
    ----------
    costs : Costs
        Bound to two classes.

    Examples
    --------
    >>> share_limits(Costs(fp=1, fn=3).bind([0, 1])).tolist()
    [0.25]
    >>> share_limits(Costs(fp=8, tp=8, fn=[4, 32]).bind([0, 1])).tolist()
    [inf, 0.25]
    """
    limits = np.atleast_1d(np.asarray(costs.thresholds(), dtype=np.float64))
    if np.isnan(limits).any():
        return None
    assert costs.classes is not None
    if costs.positive != costs.classes.tolist()[1]:
        # p > limit answers the first class, so the second is answered at 1 - limit already.
        limits = np.nextafter(1.0 - limits, -np.inf)
    return np.where(limits < 0.0, -np.inf, np.where(limits >= 1.0, np.inf, limits))

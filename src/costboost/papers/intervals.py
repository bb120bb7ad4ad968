"""How sure a mean over repeated splits is, and what that says of a published figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

__all__ = ["Interval", "mean_interval", "order_verdict", "place"]


class Interval(NamedTuple):
    """A mean, and where it lies with a confidence of 95%."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.text(2)

    def text(self, digits: int, sign: str = "") -> str:
        """Return mean and limits, rounded; with their signs where `sign` is "+"."""
        form = f"{sign}.{digits}f"
        return f"{self.mean:{form}} [{self.low:{form}}, {self.high:{form}}]"


def mean_interval(
    values: Sequence[float], test_to_train: float = 0.0, level: float = 0.95
) -> Interval:
    """Return Student's interval of a mean over splits of one data set.

    Splits share training rows, so their results are not independent: `test_to_train`, the ratio of
    test to training rows, is added to 1/n (Nadeau and Bengio 2003). 0 is for values that are
    independent, such as one for each data set.

    Examples
    --------
    >>> str(mean_interval([1.0, 2.0, 3.0, 2.0]))
    '2.00 [0.70, 3.30]'
    >>> str(mean_interval([1.0, 2.0, 3.0, 2.0], test_to_train=1 / 9))
    '2.00 [0.44, 3.56]'
    """
    x = np.asarray(values, dtype=float)
    mean = float(x.mean())
    if len(x) < 2:
        return Interval(mean, -math.inf, math.inf)
    half = float(stats.t.ppf(0.5 + level / 2, len(x) - 1) * x.std(ddof=1))
    half *= math.sqrt(1 / len(x) + test_to_train)
    return Interval(mean, mean - half, mean + half)


def place(published: float, interval: Interval, digits: int = 2) -> str:
    """Say where a published figure lies, rounded as it was printed.

    Examples
    --------
    >>> place(2.5, Interval(2.0, 1.5, 2.4), digits=1)
    'published is above'
    """
    slack = 0.5 * 10.0**-digits
    if published > interval.high + slack:
        return "published is above"
    return "published is below" if published < interval.low - slack else "within"


def order_verdict(published: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """Say whether ours are in the published order; ties in either count for neither side.

    Examples
    --------
    >>> order_verdict({"a": 1, "b": 2, "c": 3}, {"a": 5, "b": 9, "c": 7})
    '2 of 3 pairs in the published order'
    """
    names = list(published)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs = [(a, b) for a, b in pairs if published[a] != published[b]]
    agree = sum((published[a] - published[b]) * (ours[a] - ours[b]) > 0 for a, b in pairs)
    if agree == len(pairs):
        return "same order"
    return f"{agree} of {len(pairs)} pairs in the published order"

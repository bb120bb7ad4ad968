"""Bets against "as in the reference": wealth that no luck, however long watched, makes large.

A gambler who bets on every row that more comes than was expected wins nothing on average while
nothing has changed: the wealth is a test martingale (a supermartingale, where less comes). By
Ville's inequality (1939) it ever reaches 1 / alpha with probability alpha at most, so it may be
looked at after every period, for ever (Ramdas et al. 2023, "Game-theoretic statistics and safe
anytime-valid inference").

    a row      1 + g d / b     d = seen - expected, never below -b, with mean <= 0; stake g < 1
    a period   the product of its rows, to the power 1 / phi
    a process  the mean over stakes, and over the period in which the gambler began

The power: frauds come in clusters (one terminal, one card), and rows of a cluster do not bet
independently. Of rows of which no more than phi depend on each other, the product to the power
1 / phi still has a mean of 1 at most, by Hoelder's inequality. Beginning in period j has the weight
1 / (j (j + 1)): what was lost before a change is not lost to those who begin after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from costboost.typing import Floats

__all__ = ["STAKES", "Bettor", "Ratio", "conformal_growth", "log_growth"]

STAKES = (0.01, 0.03, 0.1, 0.3, 0.6)  # of what is the most to be lost on a row
_POWERS = (0.1, 0.25, 0.5, 0.75)  # of p-values
_SURE = 1.645  # standard errors by which the reference may have been lucky
_WINDOW = 7  # periods, over which rows that depend on each other are looked for


def log_growth(difference: Floats, most: Floats, dependent: float) -> list[float]:
    """Return by how much a period multiplies wealth, as a logarithm, for each of `STAKES`.

    Parameters
    ----------
    difference : ndarray of shape (n,)
        Seen less expected, of each row.
    most : ndarray of shape (n,)
        The most that each could be below zero; known before it is seen, and positive.
    dependent : float
        How many rows depend on each other, at least 1.
    """
    share = difference / most
    return [float(np.sum(np.log1p(g * share))) / dependent for g in STAKES]


def conformal_growth(rank_below: int, ties: int, n: int, draw: float) -> list[float]:
    """Return the logarithmic growth of bets that a value is larger than those before it.

    With ties broken by chance, the rank of the latest of n exchangeable values is uniform, whatever
    the values before it were (Vovk, Gammerman and Shafer 2005, "Algorithmic Learning in a Random
    World"). A bet of power k pays k p**(k - 1), whose mean is 1.

    Parameters
    ----------
    rank_below, ties, n : int
        How many of n values, the latest among them, are larger than it, and how many are as large.
    draw : float
        Uniform on (0, 1].
    """
    p = (rank_below + draw * ties) / n
    return [math.log(k) + (k - 1) * math.log(p) for k in _POWERS]


@dataclass
class Bettor:
    """The wealth of one bet over the periods, in a few numbers.

    Attributes
    ----------
    logs : list of float
        For each stake the logarithm of the wealth of all who have begun.
    periods : int
        How many there were.
    """

    logs: list[float] = field(default_factory=list)
    periods: int = 0

    def bet(self, growth: Sequence[float]) -> float:
        """Take in one period; return the logarithm of the wealth after it."""
        self.periods += 1
        t = self.periods
        begun = self.logs or [-math.inf] * len(growth)
        begins = -math.log(t) - math.log(t + 1)
        self.logs = [
            float(np.logaddexp(old, begins)) + g for old, g in zip(begun, growth, strict=True)
        ]
        return self.log_wealth

    @property
    def log_wealth(self) -> float:
        """The logarithm of the wealth now; 0 before the first period."""
        if not self.logs:
            return 0.0
        mean = float(np.logaddexp.reduce(self.logs)) - math.log(len(self.logs))
        return float(np.logaddexp(mean, -math.log(self.periods + 1)))  # those yet to begin


@dataclass
class Ratio:
    """Seen against expected in the reference periods, and then the rate to bet against."""

    seen: list[float] = field(default_factory=list)
    expected: list[float] = field(default_factory=list)
    variance: list[float] = field(default_factory=list)
    largest: float = 0.0

    def add(self, seen: Floats, expected: Floats, variance: Floats) -> None:
        """Take in the rows of a reference period."""
        self.seen.append(float(seen.sum()))
        self.expected.append(float(expected.sum()))
        self.variance.append(float(variance.sum()))
        self.largest = max(self.largest, float(np.max(expected, initial=0.0)))

    @property
    def ratio(self) -> float:
        """Seen over expected; 1 where nothing was expected."""
        total = sum(self.expected)
        return sum(self.seen) / total if total > 0 else 1.0

    @property
    def dependent(self) -> float:
        """How many rows depend on each other: the variance over that of independent rows.

        That of single periods, or the long-run one (Newey and West 1987), whichever is larger.
        """
        spread, n = sum(self.variance), len(self.seen)
        if n < 2 or spread <= 0:
            return 1.0
        off = np.array(self.seen) - self.ratio * np.array(self.expected)
        single = float(off @ off)
        lags = range(1, min(_WINDOW, n))
        together = sum((1 - k / _WINDOW) * float(off[k:] @ off[:-k]) for k in lags)
        return max(1.0, max(single, single + 2 * together) / spread * n / (n - 1))

    def limit(self, side: float) -> float:
        """Return the ratio, `_SURE` standard errors to one side of it."""
        total = sum(self.expected)
        if total <= 0:
            return 1.0
        error = math.sqrt(self.dependent * sum(self.variance)) / total
        return max(self.ratio + side * _SURE * error, 0.1 * self.ratio)

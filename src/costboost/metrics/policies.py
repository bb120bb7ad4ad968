"""Costs of several policies on the same rows, and savings of one against another, with intervals.

A policy is one decision for every row: a model's, today's, or the same one everywhere. The command
line, reports, `costboost demo` and `PolicyDisplay` all take their sums and intervals from here, so
they agree on the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from costboost.costs import Costs
from costboost.costs.uncertain import N_POINTS, quasi_random, relative
from costboost.metrics.prices import savings_of, take
from costboost.typing import Floats

__all__ = [
    "EVERYTHING",
    "FEW_ROWS",
    "NOTHING",
    "PERFECT",
    "PolicyCosts",
    "PriceSpread",
    "SumInterval",
    "constant_names",
    "price_policies",
    "price_spread",
    "sum_interval",
]

FEW_ROWS = 50  # of a class; sums over fewer have intervals that are too short now and then
NOTHING, EVERYTHING = "do nothing", "do everything"
PERFECT = "knowing the truth"


class SumInterval(NamedTuple):
    """A sum over rows and its interval."""

    total: float
    low: float
    high: float


def sum_interval(
    terms: Floats, groups: NDArray[np.intp] | None = None, confidence: float = 0.95
) -> SumInterval:
    """Return the sum of one term per row, and the confidence interval of its expectation.

    Costs are skewed: many rows cost nothing, a few cost much. With the skewness g of the sum,
    Hall (1992, "On the removal of skewness by transformation") turns the studentized sum T into
    ``T + g T**2 / 3 + g**2 T**3 / 27 + g / 6``, which is normal up to terms of order 1 / n, and
    can be inverted. Like BCa this is second-order correct, but it needs no draws, so
    the result is the same everywhere, and a page can compute it again. No end lies beyond `n`
    times the smallest or the largest term.

    Parameters
    ----------
    terms : ndarray of shape (n,)
    groups : ndarray of shape (n,), default=None
        Group numbers from 0 on; groups are independent then, and rows within one need not be.
    confidence : float, default=0.95

    Examples
    --------
    >>> import numpy as np
    >>> found = sum_interval(np.array([0.0] * 95 + [10.0, 10.0, 20.0, 20.0, 40.0]))
    >>> found.total, round(found.low), round(found.high)
    (100.0, 29, 507)
    """
    if groups is not None:
        terms = np.bincount(groups, weights=terms).astype(np.float64)
    n, total = len(terms), float(np.sum(terms))
    off = terms - total / n
    unit = _unit(float(np.max(np.abs(off))))
    off = off / unit
    squares = float(np.sum(off * off))
    if squares == 0.0:
        return SumInterval(total, total, total)
    skew = float(np.sum(off * off * off)) / squares**1.5
    error = math.sqrt(squares * n / (n - 1)) * unit
    z = float(ndtri((1 + confidence) / 2))
    low, high = total - error * _student(z, skew), total - error * _student(-z, skew)
    # Never beyond what n rows like these can sum to: no negative sum of costs that never are.
    least, most = n * float(np.min(terms)), n * float(np.max(terms))
    return SumInterval(total, max(low, least), min(high, most))


def _student(z: float, skew: float) -> float:
    """Return the studentized sum that Hall's transformation takes to the normal quantile `z`.

    It is ``3 ((1 + u)**(1/3) - 1) / skew`` with ``u = skew (z - skew / 6)``, written so that
    nothing cancels where there is hardly any skewness.
    """
    root = math.cbrt(1.0 + skew * (z - skew / 6.0))
    return 3.0 * (z - skew / 6.0) / (root * root + root + 1.0)


def _unit(size: float) -> float:
    """Return a power of two in which squares and cubes of numbers up to `size` are floats.

    It is 1 from 1e-90 to 1e90, and dividing by it is exact.
    """
    return math.ldexp(1.0, 300 * int(math.frexp(size)[1] / 300))


@dataclass(frozen=True, eq=False)
class PriceSpread:
    """What sums of prices become while the factors of uncertain prices vary.

    Attributes
    ----------
    relative : ndarray of shape (n_draws, n_cells)
        What each cell of the matrix is multiplied by.
    truth : ndarray of shape (n,)
        The number of each row's true class.
    n_actions : int
    """

    relative: Floats
    truth: NDArray[np.intp]
    n_actions: int

    def sums(self, paid: Floats, taken: NDArray[np.intp]) -> Floats:
        """Return by draw what rows pay together for the actions taken, shape (n_draws,).

        A bill is linear in the factors, so rows are added up by cell once, not for every draw.
        """
        cells = self.truth * self.n_actions + taken
        by_cell = np.bincount(cells, weights=paid, minlength=self.relative.shape[1])
        return np.asarray(self.relative @ by_cell)


def price_spread(costs: Costs, truth: NDArray[np.intp]) -> PriceSpread | None:
    """Return how bills of some rows vary with the prices of `costs`; None if those are certain."""
    state = costs._state
    if not state.factors or state.form == "answers":
        return None
    ratios = relative(state, quasi_random(len(state.factors), N_POINTS))
    if state.form == "rows":  # one price for every mistake
        wrong = ~np.eye(state.k, dtype=np.bool_).ravel()
        ratios = np.where(wrong, ratios, 1.0)
    return PriceSpread(ratios, truth, state.a)


@dataclass(frozen=True, eq=False)
class PolicyCosts:
    """Costs of policies on the same rows.

    Attributes
    ----------
    paid : dict of str to ndarray of shape (n,)
        What each policy cost on each row, times the row's weight.
    constant : tuple of str
        The policies that take one action on all rows, in the order of the actions.
    groups : ndarray of shape (n,) or None
        Rows of one group are not independent.
    confidence : float
        Coverage of the intervals.
    spread : PriceSpread or None
        How bills vary with uncertain prices; None where all are certain.
    taken : dict of str to ndarray of shape (n,)
        The number of the action that each policy takes on each row.
    """

    paid: dict[str, Floats]
    constant: tuple[str, ...]
    groups: NDArray[np.intp] | None = None
    confidence: float = 0.95
    spread: PriceSpread | None = None
    taken: dict[str, NDArray[np.intp]] = field(default_factory=dict)

    @property
    def cheapest(self) -> str:
        """The cheapest constant policy: what savings are counted from."""
        return min(self.constant, key=lambda name: float(np.sum(self.paid[name])))

    def cost(self, name: str) -> SumInterval:
        """Return the total cost of a policy."""
        return sum_interval(self.paid[name], self.groups, self.confidence)

    def saved(self, name: str, against: str | None = None) -> SumInterval:
        """Return what a policy saved against another (the cheapest constant one), row by row."""
        other = self.paid[against or self.cheapest]
        return sum_interval(other - self.paid[name], self.groups, self.confidence)

    def cost_by_prices(self, name: str) -> SumInterval:
        """Return the total cost of a policy on these very rows, and its interval from prices.

        Decisions stay what they are at the means of uncertain prices. Without such prices both
        ends are the total.
        """
        return self._by_prices(float(np.sum(self.paid[name])), self._sums(name))

    def saved_by_prices(self, name: str, against: str | None = None) -> SumInterval:
        """Return what a policy saved against another on these rows, and its interval from prices.

        The other is the constant policy that is the cheapest at the means.
        """
        other = against or self.cheapest
        total = float(np.sum(self.paid[other] - self.paid[name]))
        return self._by_prices(total, self._sums(other) - self._sums(name))

    def _sums(self, name: str) -> Floats:
        if self.spread is None:
            return np.zeros(1)
        return self.spread.sums(self.paid[name], self.taken[name])

    def _by_prices(self, total: float, sums: Floats) -> SumInterval:
        if self.spread is None:
            return SumInterval(total, total, total)
        ends = np.quantile(sums, [(1 - self.confidence) / 2, (1 + self.confidence) / 2])
        return SumInterval(total, float(ends[0]), float(ends[1]))

    def share(self, name: str, against: str | None = None) -> float:
        """Return the share that a policy saved of what another (the cheapest constant one) cost.

        Infinite where that cost nothing.
        """
        paid = self.paid[name]
        return savings_of(paid, self.paid[against or self.cheapest], np.ones(len(paid)))


def price_policies(
    prices: Floats,
    taken: Mapping[str, NDArray[np.intp]],
    constant: Sequence[str],
    *,
    weight: Floats | None = None,
    groups: NDArray[np.intp] | None = None,
    confidence: float = 0.95,
    spread: PriceSpread | None = None,
) -> PolicyCosts:
    """Return the costs of policies, of those that take one action on all rows, and of `PERFECT`.

    Parameters
    ----------
    prices : ndarray of shape (n, A)
        The price of every action on every row, given its true class.
    taken : dict of str to ndarray of shape (n,)
        The number of the action that each policy takes on each row.
    constant : sequence of A str
        What to call the policies that take one action everywhere; see `constant_names`.
    weight : ndarray of shape (n,), default=None
    groups : ndarray of shape (n,), default=None
        Group numbers from 0 on.
    confidence : float, default=0.95
    spread : PriceSpread, default=None
        Of the costs that the prices are of; see `price_spread`.
    """
    paid = {name: prices[:, a] for a, name in enumerate(constant)}
    paid |= {name: take(prices, codes) for name, codes in taken.items()}
    paid[PERFECT] = prices.min(axis=1)
    if weight is not None:
        paid = {name: costs * weight for name, costs in paid.items()}
    if spread is None:
        return PolicyCosts(paid, tuple(constant), groups, confidence)
    everywhere = {name: np.full(len(prices), a) for a, name in enumerate(constant)}
    decided = {**everywhere, **taken, PERFECT: prices.argmin(axis=1)}
    return PolicyCosts(paid, tuple(constant), groups, confidence, spread, decided)


def constant_names(actions: Sequence[Any], positive: int | None) -> list[str]:
    """Return the names of constant policies: of two classes, doing nothing and everything.

    `positive` is the number of the positive action where there are two classes; `actions` are
    as they are to be shown.
    """
    if positive is None:
        return [f"always {action}" for action in actions]
    return [EVERYTHING if a == positive else NOTHING for a in range(len(actions))]

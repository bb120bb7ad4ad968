"""The figures of a report at given prices, from `costboost.metrics`: what the page opens with.

`page.js` computes the same ones again when a price moves; `tests/report` compares the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.metrics import cost_confusion_matrix, savings_score, total_cost
from costboost.metrics.prices import take
from costboost.report.rows import PageRows

__all__ = ["Bill", "Figures", "Policy", "compute_figures", "sum_interval"]

Floats = NDArray[np.float64]

Z = 1.959963984540054  # the normal quantile of 0.975


class Bill(NamedTuple):
    """A sum of money and its 95% interval."""

    total: float
    low: float
    high: float


class Policy(NamedTuple):
    """What other decisions would cost, and what the model saves against them."""

    name: str
    bill: Bill
    saved: Bill
    share: float


@dataclass(frozen=True)
class Figures:
    """Everything that moves with the prices.

    Attributes
    ----------
    bill : Bill
        Of the model's decisions.
    policies : tuple of Policy
        Doing nothing, everything, today's decisions; or one action for all.
    counts, money : float64 arrays of shape (K, A)
        The confusion matrix, in rows (or their weights) and in money.
    """

    bill: Bill
    policies: tuple[Policy, ...]
    counts: Floats
    money: Floats


def sum_interval(paid: Floats) -> Bill:
    """Return a sum over independent rows and the interval that resampling them would give.

    The percentiles of the bootstrap distribution of a sum follow from the mean, the variance and
    the skewness of its terms (Cornish and Fisher 1938): with the latter gamma / sqrt(n), they are
    ``sum + sd (z + gamma (z**2 - 1) / (6 sqrt(n)))``. No draws, so that Python and the page agree.

    Examples
    --------
    >>> from costboost.report.figures import sum_interval
    >>> sum_interval(np.array([1.0, 2.0, 3.0])).total
    6.0
    """
    n, total = len(paid), float(np.sum(paid))
    off = paid - total / n
    unit = _unit(float(np.max(np.abs(off))))
    off /= unit
    spread = float(np.sqrt(np.sum(off * off)))
    if spread == 0.0:
        return Bill(total, total, total)
    skew = float(np.sum(off * off * off)) / spread**3
    bend = skew * (Z * Z - 1.0) / 6.0
    spread *= unit
    return Bill(total, total + spread * (bend - Z), total + spread * (bend + Z))


def _unit(size: float) -> float:
    """Return a power of two in which squares and cubes of numbers up to `size` are floats.

    It is 1 from 1e-90 to 1e90, and dividing by it is exact.
    """
    return math.ldexp(1.0, 300 * int(math.frexp(size)[1] / 300))


def compute_figures(
    rows: PageRows,
    values: ArrayLike | None = None,
    *,
    limit: int | None = None,
    action: int | None = None,
    names: dict[Any, str] | None = None,
) -> Figures:
    """Return the figures of the rows at some values of the cells; see `PageRows.decide`."""
    costs, y = rows.costs(values), rows.labels
    taken = rows.decide_codes(values, limit, action)
    decided = rows.actions[taken]
    given: dict[str, Any] = {"costs": costs, "sample_weight": rows.weight}
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    prices = costs.of_labels(rows.truth, encoded=True)
    paid = weight * take(prices, taken)
    policies = []
    for name, codes in _policies(rows, names or {}):
        other, answers = weight * take(prices, codes), rows.actions[codes]
        bill = sum_interval(other)._replace(total=total_cost(y, answers, **given))
        share = savings_score(y, decided, baseline=answers, **given)
        policies.append(Policy(name, bill, sum_interval(other - paid), share))
    counts = np.zeros(rows.prices.values.shape)
    np.add.at(counts, (rows.truth, taken), weight)
    return Figures(
        bill=sum_interval(paid)._replace(total=total_cost(y, decided, **given)),
        policies=tuple(policies),
        counts=counts,
        money=cost_confusion_matrix(y, decided, **given),
    )


def policy_names(rows: PageRows, names: dict[Any, str]) -> list[str]:
    """Return what the policies to compare with are called: one for each action, and today's."""
    said = [names[a] for a in range(len(rows.actions))]
    if rows.positive is None:
        labels = [f"Always {name}" for name in said]
    else:
        labels = ["", ""]
        labels[1 - rows.positive] = f"Doing nothing: always {said[1 - rows.positive]}"
        labels[rows.positive] = f"Everything: always {said[rows.positive]}"
    return labels + (["Today's decisions"] if rows.current is not None else [])


def _policies(rows: PageRows, names: dict[Any, str]) -> list[tuple[str, NDArray[Any]]]:
    numbers = names or {a: str(label) for a, label in enumerate(rows.actions.tolist())}
    codes = [np.full(len(rows), a) for a in range(len(rows.actions))]
    if rows.current is not None:
        codes.append(rows.current)
    return list(zip(policy_names(rows, numbers), codes, strict=True))

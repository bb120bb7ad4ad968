"""The figures of a report at given prices, from `costboost.metrics`: what the page opens with.

`page.js` computes the same ones again when a price moves; `tests/report` compares the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics import cost_confusion_matrix
from costboost.metrics.policies import SumInterval, price_policies
from costboost.report.rows import PageRows
from costboost.typing import Floats

__all__ = ["Figures", "Policy", "compute_figures"]

_TODAY, _MODEL = "Today's decisions", "This model"


class Policy(NamedTuple):
    """What other decisions would cost, and what the model saves against them."""

    name: str
    bill: SumInterval
    saved: SumInterval
    share: float


@dataclass(frozen=True)
class Figures:
    """Everything that moves with the prices.

    Attributes
    ----------
    bill : SumInterval
        Of the model's decisions.
    policies : tuple of Policy
        Doing nothing, everything, today's decisions; or one action for all.
    counts, money : float64 arrays of shape (K, A)
        The confusion matrix, in rows (or their weights) and in money.
    """

    bill: SumInterval
    policies: tuple[Policy, ...]
    counts: Floats
    money: Floats


def compute_figures(
    rows: PageRows,
    values: ArrayLike | None = None,
    *,
    limit: int | None = None,
    action: int | None = None,
    names: dict[Any, str] | None = None,
) -> Figures:
    """Return the figures of the rows at some values of the cells; see `PageRows.decide`."""
    costs = rows.costs(values)
    taken = rows.decide_codes(values, limit, action)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    prices = costs.of_labels(rows.truth, encoded=True)
    # Two actions may be called alike on the page, so policies go by number here.
    constant = [str(a) for a in range(len(rows.actions))]
    today = {} if rows.current is None else {_TODAY: rows.current}
    found = price_policies(prices, {**today, _MODEL: taken}, constant, weight=weight)
    shown = policy_names(rows, names or dict(enumerate(map(str, rows.actions.tolist()))))
    policies = tuple(
        Policy(text, found.cost(name), found.saved(_MODEL, name), found.share(_MODEL, name))
        for text, name in zip(shown, (*constant, *today), strict=True)
    )
    counts = np.zeros(rows.prices.values.shape)
    np.add.at(counts, (rows.truth, taken), weight)
    decided = rows.actions[taken]
    return Figures(
        bill=found.cost(_MODEL),
        policies=policies,
        counts=counts,
        money=cost_confusion_matrix(rows.labels, decided, costs=costs, sample_weight=rows.weight),
    )


def policy_names(rows: PageRows, names: dict[Any, str]) -> list[str]:
    """Return what the policies to compare with are called: one for each action, and today's."""
    shown = [names[a] for a in range(len(rows.actions))]
    if rows.positive is None:
        labels = [f"Always {name}" for name in shown]
    else:
        labels = ["", ""]
        labels[1 - rows.positive] = f"Doing nothing: always {shown[1 - rows.positive]}"
        labels[rows.positive] = f"Everything: always {shown[rows.positive]}"
    return labels + ([_TODAY] if rows.current is not None else [])

"""Held-out rows that users give: one set, or several by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_consistent_length

from costboost.costs import Costs, as_costs
from costboost.fitting.judging import HeldOut
from costboost.inputs.arrays import read_weights
from costboost.inputs.checks import check_table


def read_eval_set(estimator: Any, eval_set: Any, *, per_row: bool) -> list[HeldOut] | None:
    """Return the held-out rows that a user gave, if any: one set, or several by name.

    `per_row` says that training has prices per row, so that the held-out rows need their own.
    """
    if eval_set is None:
        return None
    named = eval_set if isinstance(eval_set, Mapping) else {"eval_set": eval_set}
    if not named:
        raise ValueError("eval_set is an empty dict: name at least one set, or leave it out.")
    return [_read_one_set(estimator, str(n), part, per_row=per_row) for n, part in named.items()]


def _read_one_set(estimator: Any, name: str, part: Any, *, per_row: bool) -> HeldOut:
    if not isinstance(part, tuple | list) or len(part) not in (2, 3, 4):
        given = f"{len(part)} parts" if isinstance(part, tuple | list) else repr(part)
        raise ValueError(
            f"{name} must be (X, y) or (X, y, costs) or (X, y, costs, sample_weight), got {given}."
        )
    X, y, costs, weights = (*part, None, None)[:4]
    by_column = getattr(getattr(estimator, "costs_", None), "needs_table", False)
    if costs is None and by_column:
        costs = estimator.costs_
    if costs is None and per_row:
        raise ValueError(
            "Training has prices per row, so the held-out rows need their own: give "
            f"{name}=(X, y, costs)."
        )
    X = check_table(estimator, X, reset=False)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    if isinstance(costs, Costs | Mapping):
        costs = as_costs(costs, table=X)
    weights = None if weights is None else read_weights(weights, len(labels))
    return HeldOut(name, X, labels, costs, weights)

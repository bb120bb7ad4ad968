"""What a report is about: a model, a table and prices -> rows to decide and pay.

Three kinds of models: those of this package that decide by expected cost (new prices, new
decisions), those whose answers already contain the costs that they were trained on (new prices, a
new bill for the same decisions), and any other classifier with ``predict_proba``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

from costboost.costs import Costs, as_costs
from costboost.decisions import CostDecisionMixin
from costboost.decisions.responses import innermost, probabilities
from costboost.inputs.arrays import encode, read_weights
from costboost.report.groups import read_column, read_groups
from costboost.report.rows import PageRows, read_prices
from costboost.typing import Int64

__all__ = ["Subject", "read_subject"]


@dataclass(frozen=True)
class Subject:
    """The model that decides, the table as it sees it, and the rows in the table's order."""

    model: Any
    X: Any
    rows: PageRows
    period: str | None


def read_subject(
    model: Any,
    X: Any,
    y: ArrayLike,
    costs: Any,
    sample_weight: ArrayLike | None,
    current: Any,
    groups: Any,
    time: Any,
) -> Subject:
    """Check what `make_report` was given, and let the model decide."""
    check_is_fitted(model)
    labels = column_or_1d(y)
    n_rows = _num_samples(X)
    if n_rows == 0 or len(labels) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows and y has {len(labels)}: give the same rows to both, at least one"
        )
    inner, seen = innermost(model, X)
    bound = _read_costs(inner, X, costs, n_rows)
    truth = encode(np.asarray(inner.classes_), labels, "y")
    period, periods, names = _read_time(X, time)
    rows = PageRows(
        bound=bound,
        prices=read_prices(bound),
        proba=np.eye(len(inner.classes_))[truth],
        truth=np.asarray(truth, dtype=np.int64),
        weight=None if sample_weight is None else read_weights(sample_weight, n_rows),
        current=_read_current(X, current, bound),
        period=periods,
        period_names=names,
        groups=read_groups(X, groups),
    )
    return Subject(inner, seen, _with_answers(inner, seen, rows), period)


def _read_costs(model: Any, X: Any, costs: Any, n_rows: int) -> Costs:
    """Return the costs to decide and to pay by: those given, else the model's own."""
    if costs is None and isinstance(model, CostDecisionMixin) and model._decides_by_costs():
        bound = model._decision_costs(None, X)
    else:
        own = getattr(model, "costs_", None) if costs is None else costs
        bound = as_costs(own, model.classes_, n_rows, X)
    if bound.contain_truth:
        raise ValueError(
            "These costs (Costs.of_rows of shape (n, K)) hold the price of each answer given the "
            "truth, by which nobody can decide: give costs.mean(y=y), or C[true, action]."
        )
    return bound.bind(model.classes_, n_rows)


def _with_answers(model: Any, X: Any, rows: PageRows) -> PageRows:
    """Return the rows with probabilities, or with decisions that prices no longer move."""
    values = vars(rows)
    if not isinstance(model, CostDecisionMixin):
        return PageRows(**{**values, "proba": probabilities(model, X, np.asarray(model.classes_))})
    if not model._decides_by_costs():
        taken = encode(rows.actions, np.asarray(model.predict(X)), "predict")
        return PageRows(**{**values, "decided": np.asarray(taken, dtype=np.int64)})
    proba = np.asarray(model._decision_proba(X, None), dtype=np.float64)
    extra = getattr(model, "action_prices_", {})  # of a RateClassifier
    added = np.array([float(extra.get(action, 0.0)) for action in rows.actions.tolist()])
    return PageRows(**{**values, "proba": proba, "added": added if added.any() else None})


def _read_current(X: Any, current: Any, bound: Costs) -> Int64 | None:
    if current is None:
        return None
    assert bound.actions is not None
    taken = encode(bound.actions, read_column(X, current, "current"), "current")
    return np.asarray(taken, dtype=np.int64)


def _read_time(X: Any, time: Any) -> tuple[str | None, Int64 | None, tuple[str, ...]]:
    """Return what a period is called, and the number of each row's: moments become days."""
    if time is None:
        return None, None, ()
    values = read_column(X, time, "time")
    name = time if isinstance(time, str) else "period"
    if values.dtype.kind == "M":
        values, name = values.astype("datetime64[D]"), "day"
    labels, codes = np.unique(values, return_inverse=True)
    return name, np.asarray(codes.reshape(-1), dtype=np.int64), tuple(map(str, labels.tolist()))

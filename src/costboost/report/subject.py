"""The model, table and prices that a report is about, as rows to decide and pay.

Three kinds of models: those of this package that decide by expected cost (new prices, new
decisions), those whose answers already contain the costs that they were trained on (new prices, a
new bill for the same decisions), and any other classifier with ``predict_proba``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

from costboost.binning.table_reading import FeatureTable, read_table
from costboost.costs import Costs, as_costs
from costboost.decisions import CostDecisionMixin
from costboost.decisions.responses import innermost, probabilities
from costboost.explain.decision import plain
from costboost.inputs.arrays import encode, read_weights
from costboost.metrics import brier_curve, brier_score, cost_curve, curve_area
from costboost.metrics.prices import take
from costboost.plots.reliability import bin_edges, fill_bins, wilson_interval
from costboost.report.rows import PageRows, read_prices
from costboost.typing import Floats, Int64

__all__ = [
    "Subject",
    "affected",
    "category_columns",
    "class_curves",
    "read_column",
    "read_groups",
    "read_subject",
]


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
    """Return the names of the periods, and each row's number of them; moments become days."""
    if time is None:
        return None, None, ()
    values = read_column(X, time, "time")
    name = time if isinstance(time, str) else "period"
    if values.dtype.kind == "M":
        values, name = values.astype("datetime64[D]"), "day"
    labels, codes = np.unique(values, return_inverse=True)
    return name, np.asarray(codes.reshape(-1), dtype=np.int64), tuple(map(str, labels.tolist()))


# ---- Rows by the categories of a column. By default only sums by category leave the table. The
# user may name columns whose categories the page keeps row by row, so that their figures move with
# the prices.

Coded = tuple[list[str], Int64]

_SHOWN = 12  # categories of a column, the most frequent
_LEAST = 10  # fewest rows of a category that is shown by its name
_PARTS = 5  # of a column of numbers


def category_columns(X: Any) -> dict[str, Coded]:
    """Return the categories of every column that holds some."""
    table = read_table(X)
    return {_name(table, j): _coded(table, j)
            for j in range(table.n_columns) if table.is_categorical(j)}  # fmt: skip


def read_groups(X: Any, given: Any) -> dict[str, Coded]:
    """Return the categories of the columns that were named, or given by name."""
    if given is None:
        return {}
    if isinstance(given, str):
        if given == "all":
            return category_columns(X)
        given = [given]
    if not isinstance(given, Mapping):
        given = {str(name): name for name in given}
    table = read_table(X)
    return {str(name): _coded(*_find(table, X, value)) for name, value in given.items()}


def read_column(X: Any, given: Any, what: str) -> NDArray[Any]:
    """Return one value for each row: those given, or the column that was named."""
    n_rows = read_table(X).n_rows
    if isinstance(given, str):
        names = list(getattr(X, "columns", []))
        if given not in names:
            raise ValueError(
                f"{what}={given!r} is no column of X: its columns are {names}. Name one of them, "
                "or give one value for each row."
            )
        given = X[given]
    values = np.asarray(given)
    if values.shape != (n_rows,):
        raise ValueError(
            f"{what} has shape {values.shape}, but X has {n_rows} rows: give one for each."
        )
    return values


def _find(table: FeatureTable, X: Any, value: Any) -> tuple[FeatureTable, int]:
    if isinstance(value, str):
        if table.names is None or value not in table.names:
            raise ValueError(
                f"groups name {value!r}, which is no column of X: its columns are "
                f"{list(table.names or ())}. Name one of them, or give {{name: values}}."
            )
        return table, table.names.index(value)
    values = read_column(X, value, "groups")
    return read_table(values.astype(object)[:, None]), 0


def _name(table: FeatureTable, j: int) -> str:
    return f"column {j}" if table.names is None else table.names[j]


def _coded(table: FeatureTable, j: int) -> Coded:
    """Return labels, the most frequent first, and the number of each row's label."""
    if table.has_keys(j) and table.is_categorical(j):
        codes, keys = table.keys(j, 0, table.n_rows)
        return _fold([plain(key) for key in keys], np.asarray(codes))
    values = np.asarray(table.numbers(j, 0, table.n_rows), dtype=np.float64)
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) <= _SHOWN:
        codes = np.where(np.isnan(values), -1, np.searchsorted(distinct, values))
        return _fold([plain(float(v)) for v in distinct], codes)
    return _cut(values)


def _cut(values: Floats) -> Coded:
    """Cut numbers into parts of about as many rows each; infinite ones go to the outer parts."""
    finite = values[np.isfinite(values)]
    ends = np.unique(np.quantile(finite, np.linspace(0, 1, _PARTS + 1)))
    # The names of the outer parts must hold for all of their rows.
    ends[0], ends[-1] = min(ends[0], np.nanmin(values)), max(ends[-1], np.nanmax(values))
    codes = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, max(len(ends) - 2, 0))
    names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(ends)]
    return _fold(names, np.where(np.isnan(values), -1, codes), by_size=False)


def _fold(labels: list[str], codes: Int64, by_size: bool = True) -> Coded:
    """Merge rare categories, so that no single row can be identified by its category."""
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    order = np.argsort(-sizes, kind="stable") if by_size else np.arange(len(labels))
    named = [int(k) for k in order[:_SHOWN] if sizes[k] >= _LEAST]
    rest = int(np.count_nonzero(sizes)) - len(named)
    texts = [labels[k] for k in named] + ([f"{rest} other" + "s" * (rest != 1)] if rest else [])
    number = np.full(len(labels) + 1, len(named), dtype=np.int64)
    number[named] = np.arange(len(named))
    if (codes < 0).any():
        number[-1] = len(texts)  # where -1 points
        texts.append("missing")
    return texts, number[codes]


def affected(rows: PageRows, coded: Coded, taken: Int64) -> list[dict[str, Any]]:
    """Return, by category: rows, decisions for the limited action, and money; as `page.js` does."""
    labels, codes = coded
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    prices = rows.costs().of_labels(rows.truth, encoded=True)
    paid = weight * take(prices, taken)
    act = rows.limited
    hit = weight * (taken == act)
    positive = 1 if rows.positive is None else rows.positive
    good = weight * (rows.truth != positive)

    def sums(values: NDArray[Any]) -> list[float]:
        return [float(v) for v in np.bincount(codes, weights=values, minlength=len(labels))]

    columns = {
        "rows": sums(weight),
        "hit": sums(hit),
        "good": sums(good),
        "goodHit": sums(good * (taken == act)),
        "bad": sums(weight - good),
        "badHit": sums((weight - good) * (taken == act)),
        "paid": sums(paid),
    }
    return [
        {"label": text, **{name: column[g] for name, column in columns.items()}}
        for g, text in enumerate(labels)
    ]


# ---- Curves of probabilities that no price moves: reliability, Brier and cost curves, per class.

_POINTS = 240
_RARE = 0.05  # the share of positives below which axes are logarithmic, as in the plots
_SHOWN_CURVES = 12  # classes


def class_curves(rows: PageRows) -> list[dict[str, Any]]:
    """Return the curves of each class against the others; of two classes, of the positive one."""
    shown = rows.order[0] if rows.positive is None else [rows.positive]
    if len(rows.classes) == 2 and rows.positive is None:
        shown = [1]
    return [_curves(rows, k) for k in shown[:_SHOWN_CURVES]]


def _curves(rows: PageRows, k: int) -> dict[str, Any]:
    is_k, p = rows.truth == k, np.clip(rows.proba[:, k], 0.0, 1.0)
    made: dict[str, Any] = {"class": k, "reliability": _reliability(rows, is_k, p)}
    given: dict[str, Any] = {"pos_label": True, "sample_weight": rows.weight}
    made["brier"] = brier_score(is_k, p, **given)
    weighed = is_k if rows.weight is None else is_k[rows.weight > 0]
    if weighed.any() and not weighed.all():
        pc, loss = cost_curve(is_k, p, **given)
        made["cost_curve"] = _points(pc, loss)
        made["cost_area"] = curve_area(pc, loss)
        made["brier_curve"] = _thin_steps(*brier_curve(is_k, p, **given))
    return made


def _reliability(rows: PageRows, is_k: NDArray[np.bool_], p: Floats) -> dict[str, Any]:
    weight = np.ones(len(p)) if rows.weight is None else rows.weight
    rare = float(np.average(p, weights=weight)) < _RARE
    edges = bin_edges(p, weight, 10, "positives" if rare else "quantile")
    bins = fill_bins(is_k, p, weight, edges)
    low, high = wilson_interval(bins.observed, bins.effective, 0.95)
    columns = (bins.predicted, bins.observed, low, high, bins.weight)
    return {"log": rare, "bins": [[float(v) for v in row] for row in zip(*columns, strict=True)]}


def _thin_steps(at: Floats, loss: Floats) -> list[list[float]]:
    """Keep ends of pieces, evenly spread over the axis: the jumps in between are below a pixel."""
    if len(at) <= 2 * _POINTS:
        return _points(at, loss)
    kept = np.unique(np.searchsorted(at, np.linspace(0.0, 1.0, _POINTS)).clip(0, len(at) - 1))
    kept = np.unique(np.concatenate([kept, [int(np.argmax(loss)), 0, len(at) - 1]]))
    return _points(at[kept], loss[kept])


def _points(x: Floats, y: Floats) -> list[list[float]]:
    kept = np.arange(len(x))
    if len(x) > 2 * _POINTS:
        kept = np.unique(np.linspace(0, len(x) - 1, 2 * _POINTS).astype(int))
    return [[_short(a), _short(b)] for a, b in zip(x[kept], y[kept], strict=True)]


def _short(value: float) -> float:
    return float(f"{value:.6g}")

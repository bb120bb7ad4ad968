"""What matters: how much each column moves the model's answers, on average over some rows.

Models with built-in trees open their answers exactly (`contributions`). For all others a column is
shuffled among the rows, and what that adds to the bill is counted: what the column is worth.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from costboost.binning.reading import read_table
from costboost.costs import Costs
from costboost.explain.mixin import ExplainMixin
from costboost.report.rows import PageRows

__all__ = ["can_explain", "what_matters"]

_ROWS = 1000
_SHUFFLED = 2000
_COLUMNS = 60  # more would take too long to shuffle
_SHOWN = 15


def can_explain(model: Any) -> bool:
    """Whether a model opens its answers itself."""
    return isinstance(model, ExplainMixin) and getattr(model, "estimator", None) is None


def what_matters(model: Any, X: Any, rows: PageRows, random_state: int) -> dict[str, Any] | None:
    """Return columns and how much they matter, the most important first; None if not known.

    The rows are those of X, in its order.
    """
    rng = np.random.RandomState(random_state)
    return _opened(model, X, rng) if can_explain(model) else _shuffled(model, X, rows, rng)


def _opened(model: Any, X: Any, rng: np.random.RandomState) -> dict[str, Any]:
    picked = np.sort(rng.permutation(_num_samples(X))[:_ROWS])
    found = model.contributions(_dense(_safe_indexing(X, picked)))
    sizes = np.abs(found.values)
    sizes = sizes.mean(axis=(0, 2)) if sizes.ndim == 3 else sizes.mean(axis=0)
    names = [str(name) for name in found.columns]
    return _ranked(names, sizes, "contributions", found.unit, len(picked))


def _shuffled(
    model: Any, X: Any, rows: PageRows, rng: np.random.RandomState
) -> dict[str, Any] | None:
    table = read_table(X)
    if table.n_columns > _COLUMNS:
        return None
    drawn = rng.permutation(len(rows))
    if rows.weight is not None:
        drawn = drawn[rows.weight[drawn] > 0]
    picked = np.sort(drawn[:_SHUFFLED])
    part, labels, prices = _safe_indexing(X, picked), rows.labels[picked], rows.costs()[picked]
    mine = None if rows.weight is None else rows.weight[picked]
    sizes = np.array([_worth(model, part, labels, prices, mine, j, rng)
                      for j in range(table.n_columns)])  # fmt: skip
    names = list(table.names or (f"x{j}" for j in range(table.n_columns)))
    return _ranked(names, sizes, "shuffled", "", len(picked))


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _ranked(
    names: list[str], sizes: NDArray[Any], how: str, unit: str, n_rows: int
) -> dict[str, Any]:
    order = np.argsort(-sizes, kind="stable")
    bars = [[names[j], float(f"{sizes[j]:.6g}")] for j in order[:_SHOWN]]
    hidden = max(0, len(names) - _SHOWN)
    return {"how": how, "unit": unit, "rows": n_rows, "bars": bars, "hidden": hidden}


def _worth(
    model: Any, X: Any, y: NDArray[Any], costs: Costs, weight: Any, j: int,
    rng: np.random.RandomState,
) -> float:  # fmt: skip
    """Return what one column's values, given to other rows, add to the mean bill."""
    weights = np.ones(len(y)) if weight is None else weight
    before = costs.of_decisions(y, _answers(model, X, costs))
    after = costs.of_decisions(y, _answers(model, _shuffle(X, j, rng), costs))
    return float(np.average(after - before, weights=weights))


def _answers(model: Any, X: Any, costs: Costs) -> NDArray[Any]:
    if hasattr(model, "_decides_by_costs") and not model._decides_by_costs():
        return np.asarray(model.predict(X))
    return costs.decide(np.asarray(model.predict_proba(X), dtype=np.float64))


def _shuffle(X: Any, j: int, rng: np.random.RandomState) -> Any:
    order = rng.permutation(_num_samples(X))
    if hasattr(X, "iloc"):
        made = X.copy()
        name = made.columns[j]
        made[name] = made[name].iloc[order].set_axis(made.index)
        return made
    if hasattr(X, "with_columns"):
        return X.with_columns(X[X.columns[j]][order.tolist()])
    made = np.array(_dense(X), copy=True)
    made[:, j] = made[order, j]
    return made

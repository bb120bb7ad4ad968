"""Which columns moved, and what that is worth: the bill with each column put back as it was.

A distance between distributions does not say whether it matters. So the shift of one column is
undone, and the model decides again: each value is replaced by that of the same rank in the
reference periods (quantile matching, ``Q_reference(F_now(x))``), which keeps how the column hangs
together with the others. Of categories that became more frequent, as many rows as are too many get
one that became rarer. Missing values stay missing. What the decisions are expected to cost now,
less what they would cost then, is what the shift is worth: by the model's own probabilities, so
it is the worth of what the model has learnt about the column.

A reference holds, for each column, the mean of the periods' quantile functions, or shares of
categories: its size does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.metrics.policies import sum_interval
from costboost.typing import Floats, Indices, Mask

__all__ = [
    "Reference",
    "add_period",
    "column_names",
    "columns_worth",
    "describe_move",
    "undo_shift",
]

Reference = dict[str, Any]

_GRID = np.linspace(0.0, 1.0, 201)
_CATEGORIES = 50  # kept by name; rarer ones are one


def column_names(X: Any) -> list[str]:
    """Return the names of the columns; numbers for an array."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return [str(j) for j in range(np.asarray(X).shape[1])]


def add_period(reference: Reference | None, X: Any, j: int) -> Reference | None:
    """Return the reference of column j with the rows of one more period; None if all is missing."""
    values, missing = _read(X, j)
    n = len(values)
    found: Reference
    if values.dtype.kind == "f":
        if missing.all():
            return reference
        grid = np.quantile(values[~missing], _GRID)
        found = {"kind": "number", "grid": grid.tolist()}
    else:
        names, counts = np.unique(values[~missing].astype(str), return_counts=True)
        shares = dict(zip(names.tolist(), (counts / max(1, counts.sum())).tolist(), strict=True))
        found = {"kind": "category", "shares": shares}
    found |= {"rows": n, "missing": float(missing.mean())}
    return found if reference is None else _merged(reference, found)


def _merged(one: Reference, other: Reference) -> Reference:
    n = one["rows"] + other["rows"]
    part = other["rows"] / n
    out = {
        "kind": one["kind"],
        "rows": n,
        "missing": (1 - part) * one["missing"] + part * other["missing"],
    }
    if one["kind"] == "number":
        grid = (1 - part) * np.array(one["grid"]) + part * np.array(other["grid"])
        return {**out, "grid": grid.tolist()}
    before, new = one["shares"], other["shares"]
    names = {*before, *new}
    shares = {k: (1 - part) * before.get(k, 0.0) + part * new.get(k, 0.0) for k in names}
    most = sorted(shares, key=lambda k: (-shares[k], k))[:_CATEGORIES]
    return {**out, "shares": {k: shares[k] for k in most}}


def undo_shift(X: Any, j: int, reference: Reference, rng: np.random.Generator) -> Any:
    """Return the table with column j as it was distributed in the reference.

    None where there is nothing to undo.
    """
    values, missing = _read(X, j)
    if missing.all() or (values.dtype.kind == "f") != (reference["kind"] == "number"):
        return None
    known = values[~missing]
    if reference["kind"] == "number":
        made = _matched(known, np.array(reference["grid"]), rng)
    else:
        made = _exchanged(known, reference["shares"], rng)
    if np.array_equal(made, known):
        return None
    new = values.copy()
    new[~missing] = made
    return _replaced(X, j, new, missing)


def _matched(known: Floats, grid: Floats, rng: np.random.Generator) -> Floats:
    """Return the reference's quantiles at the ranks of the values, ties ranked by chance."""
    n = len(known)
    order = np.lexsort((rng.random(n), known))
    rank = np.empty(n)
    rank[order] = (np.arange(n) + 0.5) / n
    made = np.interp(rank, _GRID, grid)
    # A column of whole numbers stays one.
    return np.rint(made) if np.array_equal(known, np.rint(known)) and _whole(grid) else made


def _whole(grid: Floats) -> bool:
    return bool(np.mean(np.abs(grid - np.rint(grid)) < 0.5 - 1e-9) > 0 and np.max(grid) > 1)


def _exchanged(
    known: NDArray[Any], shares: dict[str, float], rng: np.random.Generator
) -> NDArray[Any]:
    """Return categories of which as many rows as are too many have those that lack some."""
    n = len(known)
    names, counts = np.unique(known.astype(str), return_counts=True)
    now = dict(zip(names.tolist(), (counts / n).tolist(), strict=True))
    lacking = {k: max(0.0, share - now.get(k, 0.0)) for k, share in shares.items()}
    total = sum(lacking.values())
    if total < 1 / n:
        return known
    made = known.copy()
    donors: list[int] = []
    for name, share in now.items():
        many = round(max(0.0, share - shares.get(name, 0.0)) * n)
        here = np.flatnonzero(known.astype(str) == name)
        donors += rng.choice(here, min(many, len(here)), replace=False).tolist()
    keys = sorted(lacking)
    drawn = rng.choice(len(keys), len(donors), p=np.array([lacking[k] for k in keys]) / total)
    for row, k in zip(donors, drawn.tolist(), strict=True):
        made[row] = keys[k]
    return made


def describe_move(X: Any, j: int, reference: Reference) -> dict[str, Any]:
    """Return how a column is now and was: its mean, or the share that changed category."""
    values, missing = _read(X, j)
    known = values[~missing]
    out: dict[str, Any] = {
        "missing": float(missing.mean()),
        "missing_before": float(reference["missing"]),
    }
    if not len(known) or (values.dtype.kind == "f") != (reference["kind"] == "number"):
        return out
    if reference["kind"] == "number":
        grid = np.array(reference["grid"])
        middle = (grid[1:] + grid[:-1]) / 2
        return {**out, "mean": float(known.mean()), "mean_before": float(middle.mean())}
    names, counts = np.unique(known.astype(str), return_counts=True)
    now = dict(zip(names.tolist(), (counts / len(known)).tolist(), strict=True))
    keys = {*now, *reference["shares"]}
    moved = sum(abs(now.get(k, 0.0) - reference["shares"].get(k, 0.0)) for k in keys) / 2
    return {**out, "moved": float(moved)}


def columns_worth(
    model: Any,
    X: Any,
    costs: Costs,
    proba: Floats,
    references: Mapping[str, Reference | None],
    n_rows: int,
    rng: np.random.Generator,
) -> list[dict[str, Any]]:
    """Return what the shift of each column costs in a period, the largest first.

    Parameters
    ----------
    model : fitted classifier
    X : table of shape (n, n_features)
    costs : Costs
        Bound to these rows.
    proba : float64 array of shape (n, K)
        What the model says of them.
    references : dict of str -> Reference or None
        By column.
    n_rows : int
        So many rows, drawn by `rng`, are decided again for each column.
    """
    n = len(proba)
    some = np.sort(rng.choice(n, min(n, n_rows), replace=False))
    part, costs = _take(X, some), costs[some] if costs.per_row else costs
    now = costs.expected(proba[some])
    found = []
    for j, name in enumerate(column_names(X)):
        reference = references.get(name)
        undone = None if reference is None else undo_shift(part, j, reference, rng)
        if reference is None or undone is None:
            continue
        then = costs.expected(model._decision_proba(undone, costs))
        worth = sum_interval((now.min(axis=1) - then.min(axis=1)) * (n / len(some)))
        found.append(
            {
                "name": name,
                "worth": worth.total,
                "low": worth.low,
                "high": worth.high,
                "changed": float(np.mean(now.argmin(axis=1) != then.argmin(axis=1))),
                **describe_move(part, j, reference),
            }
        )
    return sorted(found, key=lambda one: -abs(one["worth"]))


# ---- Columns of tables of all kinds


def _read(X: Any, j: int) -> tuple[NDArray[Any], Mask]:
    """Return column j as floats, or as objects for categories; and where it is missing."""
    if not hasattr(X, "columns"):
        values = np.asarray(X)[:, j].astype(np.float64)
        return values, np.isnan(values)
    column: Any = nw.from_native(X, eager_only=True)[:, j]
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        values = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return values, np.isnan(values)
    missing = np.asarray(column.is_null().to_numpy(), dtype=np.bool_)
    made = np.empty(len(missing), dtype=object)
    made[:] = column.to_list()
    return made, missing


def _replaced(X: Any, j: int, values: NDArray[Any], missing: Mask) -> Any:
    if not hasattr(X, "columns"):
        made = np.array(X, dtype=np.float64)
        made[:, j] = values
        return made
    frame: Any = nw.from_native(X, eager_only=True)
    old = frame[:, j]
    kept = [None if gone else v for v, gone in zip(values.tolist(), missing.tolist(), strict=True)]
    dtype = nw.Float64 if values.dtype.kind == "f" else old.dtype
    library = nw.get_native_namespace(frame)
    column = nw.new_series(old.name, kept, dtype, native_namespace=library)
    if hasattr(X, "index"):  # pandas aligns by the index
        column = nw.from_native(column.to_native().set_axis(X.index), series_only=True)
    return frame.with_columns(column).to_native()


def _take(X: Any, rows: Indices) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows]

"""Warnings of a report: few rows, probabilities that are off, drift.

Drift is what new rows have that training rows had not. A forest keeps, for every split, how many
training rows went left and right (its covers). The first split of a tree is passed by all rows, so
its shares are those of the training table: of any column that some tree begins with, we know how
many training rows lay below a threshold or in a set of categories, and count how many of the new
rows do. The binner knows the categories that training saw, and which columns had no missing value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.table_reading import FeatureTable, read_table
from costboost.explain.decision import plain
from costboost.metrics.policies import FEW_ROWS
from costboost.model import FittedModel
from costboost.report.rows import Figures, PageRows
from costboost.text import fixed, listed, percent
from costboost.trees.forest import Forest, NodeTable
from costboost.typing import Int64

__all__ = ["drift_warnings", "figure_warnings", "forests_of", "training_rows"]

_BEYOND_CHANCE = 3.0  # standard errors


def figure_warnings(rows: PageRows, figures: Figures, names: dict[int, str]) -> list[str]:
    """Return warnings that follow from the rows and their figures."""
    found = _few(rows, names)
    if rows.decided is None:
        found += _miscalibrated(rows, names)
    found += _useless(figures)
    return found


def _few(rows: PageRows, names: dict[int, str]) -> list[str]:
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    few = [f"{fixed(int(c))} are {names[k]}" for k, c in enumerate(counts) if c < FEW_ROWS]
    if not few:
        return []
    return [
        f"Few rows: of {fixed(len(rows))} only {listed(few, 5, ' and ')}. Sums over so few "
        "are uncertain, and their interval is only a rough one."
    ]


def _miscalibrated(rows: PageRows, names: dict[int, str]) -> list[str]:
    """Test each class in the large: how many were expected, and how many there were.

    And Spiegelhalter's (1986) statistic, which probabilities fail that are too sure or too timid.
    """
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    found = []
    shown = range(len(rows.classes)) if rows.positive is None else [rows.positive]
    for k in shown:
        p, is_k = rows.proba[:, k], rows.truth == k
        spread = float(np.sqrt(np.sum(weight**2 * p * (1 - p))))
        expected, seen = float(np.sum(weight * p)), float(np.sum(weight * is_k))
        if abs(seen - expected) > max(_BEYOND_CHANCE * spread, 0.02 * seen):
            found.append(
                f"Miscalibration: {fixed(expected)} rows were expected to be {names[k]}, and "
                f"{fixed(seen)} are. Decisions by expected cost rest on these probabilities."
            )
            continue
        lean = float(np.sum(weight * (is_k - p) * (1 - 2 * p)))
        error = float(np.sqrt(np.sum(weight**2 * (1 - 2 * p) ** 2 * p * (1 - p))))
        if abs(lean) > _BEYOND_CHANCE * error and error > 0:
            how = "too sure" if lean > 0 else "too timid"
            found.append(
                f"Miscalibration: probabilities of {names[k]} are {how} (Spiegelhalter's z = "
                f"{lean / error:.1f}); look at the reliability diagram."
            )
    return found


def _useless(figures: Figures) -> list[str]:
    best = min(figures.policies, key=lambda policy: policy.bill.total)
    if best.saved.low > 0:
        return []
    verb = "costs more than" if best.saved.total < 0 else "saves too little to be sure against"
    return [
        f"At the prices this page opens with the model {verb} '{best.name}' "
        f"({percent(best.share)} saved; the interval of the savings reaches below zero)."
    ]


# ---- Drift.

_MOVED = 0.05  # the difference of two shares that is worth a word
_SURE = 4.0  # standard errors: hundreds of splits are looked at
_NEW = 0.001  # the share of rows with categories or gaps that training did not have


def forests_of(model: Any) -> list[Forest]:
    """Return the forests of a model with built-in trees; none of others."""
    fitted = getattr(model, "_model", None)
    return fitted.forests if isinstance(fitted, FittedModel) else []


def training_rows(forests: list[Forest]) -> float | None:
    """Return the training rows (by weight) of the largest model, if it keeps them."""
    roots = [float(f.covers[f.roots].max()) for f in forests if len(f)]
    return max(roots, default=None)


class _Shift(NamedTuple):
    before: float
    now: float
    text: str

    @property
    def size(self) -> float:
        return abs(self.now - self.before)


def drift_warnings(forests: list[Forest], X: Any) -> list[str]:
    """Return warnings of where new rows differ from the training table."""
    if not forests:
        return []
    table = read_table(X)
    found = [*_new_values(forests[0].binner, table)]
    shifts: dict[int, _Shift] = {}
    for forest in forests[:1]:
        for t in range(len(forest)):
            tree = forest.tree(t)
            j = int(tree.feature[0])
            shift = None if j < 0 else _root_shift(tree, table, j)
            if shift is not None and shift.size > shifts.get(j, _Shift(0, 0, "")).size:
                shifts[j] = shift
    ordered = sorted(shifts.values(), key=lambda shift: -shift.size)
    found += [
        f"Drift: {s.text} holds for {percent(s.now)} of these rows, and held for "
        f"{percent(s.before)} of the training rows."
        for s in ordered[:8]
    ]
    return found


def _root_shift(tree: NodeTable, table: FeatureTable, j: int) -> _Shift | None:
    """Return how the share of rows that the first split sends left has moved, if it has."""
    total, left = float(tree.cover[0]), float(tree.cover[tree.left[0]])
    if total <= 0:
        return None
    before, goes = left / total, _goes_left(tree, table, j)
    now, n = float(goes.mean()), len(goes)
    middle = (before * total + now * n) / (total + n)
    error = np.sqrt(max(middle * (1 - middle), 1e-12) * (1 / total + 1 / n))
    if abs(now - before) < _MOVED or abs(now - before) < _SURE * error:
        return None
    return _Shift(before, now, _condition(tree, table, j))


def _goes_left(tree: NodeTable, table: FeatureTable, j: int) -> NDArray[np.bool_]:
    missing_left = bool(tree.missing_left[0])
    subset = tree.subset[0]
    if subset is None:
        values = np.asarray(table.numbers(j, 0, table.n_rows), dtype=np.float64)
        return np.where(np.isnan(values), missing_left, values <= tree.threshold[0])
    codes, keys = _keys(table, j)
    kept = np.array([key in subset for key in keys] + [missing_left])
    return np.asarray(kept[codes])


def _keys(table: FeatureTable, j: int) -> tuple[Int64, list[Any]]:
    """Return the categories of a column, -1 where missing; numbers may be categories too."""
    if table.has_keys(j):
        codes, keys = table.keys(j, 0, table.n_rows)
        return np.asarray(codes), list(keys)
    values = np.asarray(table.numbers(j, 0, table.n_rows), dtype=np.float64)
    distinct = np.unique(values[~np.isnan(values)])
    return np.where(np.isnan(values), -1, np.searchsorted(distinct, values)), distinct.tolist()


def _condition(tree: NodeTable, table: FeatureTable, j: int) -> str:
    name = _name(table, j)
    or_missing = " or missing" if tree.missing_left[0] else ""
    subset = tree.subset[0]
    if subset is not None:
        listed = ", ".join(plain(key) for key in subset[:4]) + (", ..." if len(subset) > 4 else "")
        return f"{name} in {{{listed}}}{or_missing}"
    if np.isinf(tree.threshold[0]):
        return f"{name} is known" if not or_missing else f"{name} is known or missing"
    return f"{name} <= {tree.threshold[0]:.6g}{or_missing}"


def _name(table: FeatureTable, j: int) -> str:
    return f"column {j}" if table.names is None else table.names[j]


def _new_values(binner: Binner, table: FeatureTable) -> list[str]:
    """Return warnings of columns with categories, or gaps, that the training table did not have."""
    found = []
    for j in range(min(binner.n_features, table.n_columns)):
        known = binner.categories[j]
        if known is not None:
            codes, keys = _keys(table, j)
            seen = frozenset(known)
            new = np.array([key not in seen for key in keys] + [False])
            share = float(new[codes].mean())
            every = binner.codes_of_levels(j) is not None or len(known) < binner.max_bins
            if share > _NEW and every:
                names = ", ".join(plain(key) for key, is_new in zip(keys, new, strict=False)
                                  if is_new)  # fmt: skip
                found.append(
                    f"Drift: {percent(share)} of these rows have a category of {_name(table, j)} "
                    f"that training never saw: {_short(names)}."
                )
            gaps = float((codes < 0).mean())
        else:
            gaps = float(np.isnan(table.numbers(j, 0, table.n_rows)).mean())
        if gaps > _NEW and not binner.has_missing[j]:
            found.append(
                f"Drift: {_name(table, j)} is missing in {percent(gaps)} of these rows, and never "
                "was in training."
            )
    return found


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."

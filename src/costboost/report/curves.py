"""Curves of probabilities that no price moves: reliability, Brier and cost curves, per class.

Points are thinned to what a screen can show; every point that is kept is exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.metrics import brier_curve, brier_score, cost_curve, curve_area
from costboost.plots.bins import bin_edges, fill_bins, wilson_interval
from costboost.report.rows import PageRows

__all__ = ["class_curves"]

Floats = NDArray[np.float64]

_POINTS = 240
_RARE = 0.05  # the share of positives below which axes are logarithmic, as in the plots
_SHOWN = 12  # classes


def class_curves(rows: PageRows) -> list[dict[str, Any]]:
    """Return the curves of each class against the others; of two classes, of the positive one."""
    shown = range(len(rows.classes)) if rows.positive is None else [rows.positive]
    if len(rows.classes) == 2 and rows.positive is None:
        shown = [1]
    return [_curves(rows, k) for k in list(shown)[:_SHOWN]]


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

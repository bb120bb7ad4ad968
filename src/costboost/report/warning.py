"""What whoever reads a report should doubt: few rows, probabilities that do not hold, drift."""

from __future__ import annotations

import numpy as np

from costboost.report.figures import Figures
from costboost.report.rows import PageRows
from costboost.report.text import number, percent

__all__ = ["doubts"]

_FEW = 50  # rows of a class
_SURE = 3.0  # standard errors


def doubts(rows: PageRows, figures: Figures, names: dict[int, str]) -> list[str]:
    """Return warnings that follow from the rows and their figures."""
    found = _few(rows, names)
    if rows.decided is None:
        found += _miscalibrated(rows, names)
    found += _useless(figures)
    return found


def _few(rows: PageRows, names: dict[int, str]) -> list[str]:
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    few = [f"{number(int(c))} are {names[k]}" for k, c in enumerate(counts) if c < _FEW]
    if not few:
        return []
    return [
        f"Few rows: of {number(len(rows))} only {_listed(few)}. Sums over so few are uncertain, "
        "and their interval is only a rough one."
    ]


def _listed(parts: list[str]) -> str:
    shown = [*parts[:5], *(["..."] if len(parts) > 5 else [])]
    return ", ".join(shown[:-1]) + (" and " if shown[1:] else "") + shown[-1]


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
        if abs(seen - expected) > max(_SURE * spread, 0.02 * seen):
            found.append(
                f"Miscalibration: {number(expected)} rows were expected to be {names[k]}, and "
                f"{number(seen)} are. Decisions by expected cost rest on these probabilities."
            )
            continue
        lean = float(np.sum(weight * (is_k - p) * (1 - 2 * p)))
        error = float(np.sqrt(np.sum(weight**2 * (1 - 2 * p) ** 2 * p * (1 - p))))
        if abs(lean) > _SURE * error and error > 0:
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

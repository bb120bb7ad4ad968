"""AdaCost's theory, checked along the rounds: Lemma 1, the identity behind it, and the bound.

    f'(x) = sum_t alpha_t h_t(x) beta(sign(y h_t(x)), c),   beta = 1/2 - sign c/2

Lemma 1: rows that sign(f') gets right, sign(f) gets right. Then sum c [H wrong] <= sum c e^(-y f')
= sum c * prod Z (the slides' Eq. 6 to 9).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost import Costs
from costboost.papers.cells import Row
from costboost.papers.fan_work import SCALE, Fold, fit, loss


def bound_path(fold: Fold, method: str, ratio: float) -> list[Row]:
    """Return cost, bound, and what Lemma 1 and the identity say, after every round."""
    model = fit(method, fold.X, fold.y, Costs(fp=1.0, fn=ratio))
    signs = 2.0 * fold.y - 1
    c = np.where(fold.y == 1, ratio, 1.0) * SCALE / max(ratio, 1.0)
    F = np.array([np.zeros(len(signs)), *model.staged_decision_function(fold.X)])
    votes = np.diff(F, axis=0)  # alpha_t h_t
    right = np.sign(signs * votes)
    beta = 0.5 - 0.5 * right * c if method.startswith("adacost") else np.ones_like(votes)
    inner = np.cumsum(signs * votes * beta, axis=0)  # y f'
    outer = signs * F[1:]  # y f
    total = c.sum()
    tests = list(model.staged_predict(fold.X_test))
    prices = np.where(fold.y_test == 1, ratio, 1.0)
    rows = []
    for t in range(len(votes)):
        rows.append(
            {
                "method": method,
                "round": t + 1,
                "cost": 100 * float(c[outer[t] <= 0].sum() / total),
                "bound": 100 * float(np.prod(model.normalizers_[: t + 1])),
                "identity": 100 * float((c * np.exp(-inner[t])).sum() / total),
                "against Lemma 1": int(np.sum((inner[t] > 0) & (outer[t] <= 0))),
                "fresh rows": loss(tests[t], fold.y_test, prices),
            }
        )
    return rows


def summary(paths: dict[str, list[Row]]) -> list[Row]:
    """Return, for each method, whether lemma, identity and bound held in every round."""
    return [
        {
            "method": method,
            "rounds": len(rows),
            "rows against Lemma 1": sum(row["against Lemma 1"] for row in rows),
            "identity off by": _largest(row["identity"] / row["bound"] - 1 for row in rows),
            "cost above bound": sum(row["cost"] > row["bound"] * (1 + 1e-9) for row in rows),
            "cost": rows[-1]["cost"],
            "bound": rows[-1]["bound"],
            "fresh rows": rows[-1]["fresh rows"],
        }
        for method, rows in paths.items()
    ]


def _largest(values: Any) -> str:
    return f"{max(abs(float(value)) for value in values):.1e}"

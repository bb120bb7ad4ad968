"""Cai, Song and Zhang's Table 2: which method is which (a, b, w0) of objective (17).

    G = sum_i w0_i exp(-sum_k alpha_k (a_i f_k(x_i) + b_i))

Gradient-CSB descends on G for any (a, b, w0). Where a named method is a case of it, both must make
the same run: the same steps in the same rounds and the same scores.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.boosting.objectives import RuleInput
from costboost.datasets import Dataset
from costboost.papers.cells import Row

ROUNDS = 20
EQUAL = 1e-9


def _cgada(at: RuleInput) -> Any:
    return at.sign, np.zeros_like(at.cost), at.cost


class Case(NamedTuple):
    """A named method, its (a, b, w0), and what is to be expected of the runs."""

    method: str
    a: str
    b: str
    w0: str
    objective: str | Callable[[RuleInput], Any]
    equal: bool
    why: str
    given: dict[str, Any]


# Trees of depth 3, so that CSAda is not the joint search of stump and step.
CASES = (
    Case("adaboost", "y", "0", "1", "adaboost", True, "", {}),
    Case("cgada", "y", "0", "c", _cgada, True, "", {}),
    Case("adacost", "y/2", "-c/2", "c", "adacost", True, "while its steps are positive", {}),
    Case("csada", "c y", "0", "1", "asymboost", True, "(AsymBoost; trees, not stumps)", {}),
    Case(
        "csada", "c y", "0", "1", "asymboost", False, "(stumps: chosen together with the step)",
        {"max_depth": 1},
    ),
    Case("adac1", "c y", "0", "1", "adac1", False, "(the learner gets w, not c w)", {}),
)  # fmt: skip


def rows(data: Dataset, prices: Sequence[float]) -> list[Row]:
    """Return a row for each case: how far the two runs are apart at worst, over the prices."""
    X, y = data.to_numpy()[0], (data.y == data.positive).astype(int)
    return [_case_row(case, X, y, prices) for case in CASES]


def _case_row(case: Case, X: Any, y: Any, prices: Sequence[float]) -> Row:
    gaps = [_gap(case, X, y, price) for price in prices]
    rounds = min(gap[0] for gap in gaps)
    steps, scores = (max(gap[k] for gap in gaps) for k in (1, 2))
    equal = max(steps, scores) <= EQUAL
    expected = "as it must be" if equal == case.equal else "NOT as expected"
    return {
        "method": f"{case.method} {case.why}".strip(),
        "a": case.a,
        "b": case.b,
        "w0": case.w0,
        "rounds": rounds,
        "steps apart": steps,
        "scores apart": scores,
        "verdict": f"{'the same run' if equal else 'another run'}, {expected}",
    }


def _gap(case: Case, X: Any, y: Any, price: float) -> tuple[int, float, float]:
    """Return the rounds compared, and the largest gaps of steps and of scores, relatively."""
    costs = Costs(fp=price, fn=1.0)
    given: dict[str, Any] = {"max_depth": 3, "calibration": None, "min_samples_leaf": 1}
    given |= case.given | ({"cost_scale": 0.1} if case.method == "adacost" else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        named = CostBoostClassifier(case.method, ROUNDS, **given).fit(X, y, costs=costs)
        rounds = max(len(named.estimator_weights_), 1)
        ours = CostBoostClassifier("gradient-csb", rounds, objective=case.objective, **given).fit(
            X, y, costs=costs
        )
    n = min(len(named.estimator_weights_), len(ours.estimator_weights_))
    a, b = named.estimator_weights_[:n], ours.estimator_weights_[:n]
    F, G = named.decision_function(X), ours.decision_function(X)
    return n, _apart(a, b), _apart(F, G)


def _apart(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max() / np.abs(a).max())

"""Costs that look as if they had been turned round: right answers dearer than wrong ones.

That may be meant for some rows (an investigation that costs more than the fraud), and for a single
row it says nothing. It is doubtful where it holds for a class throughout: then nobody would ever
give the right answer, and more often two prices were swapped, or benefits given as costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.costs.state import State

__all__ = ["dearer_when_right", "doubt", "looks_reversed"]


def dearer_when_right(state: State) -> list[Any]:
    """Return the classes whose right answer is dearer than all others, in all rows."""
    if state.form != "matrix" or not state.is_square or state.sources or state.n_rows == 0:
        return []
    labels = range(state.k) if state.classes is None else state.classes.tolist()
    return [label for k, label in enumerate(labels) if _reversed(state, k)]


def _reversed(state: State, k: int) -> bool:
    right = state.cell(k, k)
    wrong = (state.cell(k, a) for a in range(state.a) if a != k)
    return all(bool(np.all(right > price)) for price in wrong)


def looks_reversed(state: State) -> bool:
    """Whether constant costs charge more for the right answer than for any other, in every class.

    With two classes no threshold exists then: what was given are benefits, not costs.
    """
    return state.n_rows is None and len(dearer_when_right(state)) == state.n_classes


def doubt(labels: list[Any]) -> str:
    """Say that for these classes the right answer is the dearest, and what to do."""
    shown = ", ".join(repr(label) for label in labels[:5])
    return (
        f"In these costs the right answer for the class {shown} is dearer than any wrong one, so "
        "it will never be given. Costs are C[true, predicted], what each decision costs: if "
        "benefits were meant, change their sign and pass benefits=True; if two prices were "
        "swapped, costs.describe() shows which."
    )

"""What the nearest change of one column would do to a decision.

A model sees a number only by the bin it falls into, so all it can ever answer is known: every bin
of every column is tried, all other columns as they are. "Nearest" is by the share of bins passed,
which are about as full: a step over a tenth of the training rows counts the same in all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import MISSING, Binner
from costboost.explain.subject import Encoded, Subject
from costboost.inputs.checks import plain

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Change:
    """A change of one column that turns the decision.

    Attributes
    ----------
    column : str
    to : str
        "at most 12.5", "above 12.5", of a missing number also "above 12.5 and at most 20"; a
        category; "known" where the training rows had one value.
    limit : float or None
        The last number in `to`, in full; None where there is none.
    decision : label
        What is then decided.
    probabilities : tuple of float
        Of the classes, then.
    distance : float
        The share of the column's bins that is passed; 1 for categories.
    """

    column: str
    to: str
    limit: float | None
    decision: Any
    probabilities: tuple[float, ...]
    distance: float


def nearest_changes(
    subject: Subject,
    row: Encoded,
    names: tuple[str, ...],
    answer: Callable[[list[Floats]], tuple[NDArray[Any], Floats]],
    n_threads: int = 1,
) -> list[Change]:
    """Return for each column its nearest change that turns the decision of a row, nearest first.

    Parameters
    ----------
    subject : Subject
    row : Encoded
        One row.
    names : tuple of str
    answer : callable
        From the members' margins to decisions, (n,), and probabilities, (n, K).
    n_threads : int, default=1
    """
    binner = subject.members[0].forest.binner
    used = np.unique(np.concatenate([m.forest.used_features for m in subject.members]))
    tried = [(j, code) for j in used.tolist() for code in range(int(binner.n_bins[j]))]
    if not tried:
        return []
    now = row.codes[0]
    codes = np.repeat(row.codes, len(tried) + 1, axis=0)  # the last one stays as it is
    for i, (j, code) in enumerate(tried):
        codes[i, j] = code
    decided, proba = answer(subject.margins(Encoded(row.X, codes), n_threads))
    best: dict[int, Change] = {}
    for i, (j, code) in enumerate(tried):
        if decided[i] == decided[-1]:
            continue
        distance = _distance(binner, j, int(now[j]), code)
        if j not in best or distance < best[j].distance:
            told = _describe(binner, j, int(now[j]), code)
            chances = tuple(float(p) for p in proba[i])
            best[j] = Change(names[j], *told, plain(decided[i]), chances, distance)
    return sorted(best.values(), key=lambda change: change.distance)


def _distance(binner: Binner, j: int, now: int, code: int) -> float:
    if binner.is_categorical[j] or now == MISSING:
        return 1.0
    return abs(code - now) / int(binner.n_bins[j])


def _describe(binner: Binner, j: int, now: int, code: int) -> tuple[str, float | None]:
    """Return in words what the column would have to be, and the number in them."""
    categories = binner.categories[j]
    if categories is not None:
        return str(categories[code]), None
    edges = binner.edges[j]
    if not len(edges):
        return "known", None
    low = f"above {edges[code - 1]:.6g}" if code > 0 else ""
    high = f"at most {edges[code]:.6g}" if code < len(edges) else ""
    if now == MISSING and low and high:  # on both sides of the bin it may be otherwise
        return f"{low} and {high}", float(edges[code])
    if high and (code < now or not low):
        return high, float(edges[code])
    return low, float(edges[code - 1])

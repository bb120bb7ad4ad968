"""What the nearest change of one column would do to a decision.

A model sees a number only by the bin it falls into, so all it can ever answer is known: every bin
of every column is tried, all other columns as they are. "Nearest" is by the share of bins passed,
which are about as full: a step over a tenth of the training rows counts the same in all columns.
A column that a price reads may turn the decision within a bin, too: see `priced`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import MISSING, Binner
from costboost.explain.rows import Encoded
from costboost.inputs.checks import plain
from costboost.model import FittedModel
from costboost.typing import Floats


@dataclass(frozen=True)
class Change:
    """A change of one column that turns the decision.

    Attributes
    ----------
    column : str
    to : str
        "at most 12.5", "at least 12.5", "above 12.5", of a missing number also "above 12.5 and at
        most 20"; a category; "known" where the training rows had one value. A number that is
        rounded lies beyond the limit: it turns the decision, too.
    limit : float or None
        The last number in `to`, in full; None where there is none. The decision turns there, or
        just "above" it; beyond the next edge of a bin it may turn again.
    decision : label
        What is then decided.
    probabilities : tuple of float
        Of the classes, then.
    distance : float
        The share of the column's bins that is passed: 0 where a price turns the decision within
        the row's own; 1 for categories.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adaboost", n_estimators=1, max_depth=1).fit(X, y)
    >>> why = model.explain(X[:1])
    >>> [(change.column, change.to[:7], int(change.decision)) for change in why.changes]
    [('x20', 'at most', 1)]
    """

    column: str
    to: str
    limit: float | None
    decision: Any
    probabilities: tuple[float, ...]
    distance: float


def nearest_changes(
    model: FittedModel,
    row: Encoded,
    names: tuple[str, ...],
    answer: Callable[[list[Floats]], tuple[NDArray[Any], Floats]],
    n_threads: int = 1,
    *,
    priced: Collection[int] = (),
) -> list[Change]:
    """Return for each column its nearest change that turns the decision of a row, nearest first.

    Parameters
    ----------
    model : FittedModel
    row : Encoded
        One row.
    names : tuple of str
    answer : callable
        From the members' margins to decisions, (n,), and probabilities, (n, K).
    n_threads : int, default=1
    priced : collection of int
        Columns to leave out: prices read them.
    """
    binner = model.forests[0].binner
    used = np.unique(np.concatenate([forest.used_features for forest in model.forests]))
    tried = [
        (j, code)
        for j in used.tolist()
        if j not in priced
        for code in range(int(binner.n_bins[j]))
        if binner.categories[j] is None or binner.levels_of(j, code)
    ]
    if not tried:
        return []
    now = row.codes[0]
    codes = np.repeat(row.codes, len(tried) + 1, axis=0)  # the last one stays as it is
    for i, (j, code) in enumerate(tried):
        codes[i, j] = code
    decided, proba = answer(model.margins(row.X, codes, n_threads))
    best: dict[int, Change] = {}
    for i, (j, code) in enumerate(tried):
        if decided[i] == decided[-1]:
            continue
        distance = _distance(binner, j, int(now[j]), code)
        if j not in best or distance < best[j].distance:
            interval = _describe(binner, j, int(now[j]), code)
            chances = tuple(float(p) for p in proba[i])
            best[j] = Change(names[j], *interval, plain(decided[i]), chances, distance)
    return by_distance(best.values())


def by_distance(changes: Collection[Change]) -> list[Change]:
    """Return changes in their order."""
    return sorted(changes, key=lambda change: change.distance)


def _distance(binner: Binner, j: int, now: int, code: int) -> float:
    if binner.categories[j] is not None or now == MISSING:
        return 1.0
    return abs(code - now) / int(binner.n_bins[j])


def _describe(binner: Binner, j: int, now: int, code: int) -> tuple[str, float | None]:
    """Return in words what the column would have to be, and the number in them."""
    if binner.categories[j] is not None:
        return str(binner.levels_of(j, code)[0]), None
    edges = np.concatenate([[-np.inf], binner.edges[j], [np.inf]])
    low, high = float(edges[code]), float(edges[code + 1])
    if len(edges) == 2:
        return "known", None
    down = np.isfinite(high) and (code < now or not np.isfinite(low))
    if now == MISSING and np.isfinite([low, high]).all():  # beyond both ends it may be otherwise
        return _between(low, high)
    if down:
        return f"at most {rounded(high, False, lambda x: low < x)}", high
    return f"above {rounded(low, True, lambda x: x < high)}", low


def _between(low: float, high: float) -> tuple[str, float]:
    first = rounded(low, True, lambda x: x < high)
    last = rounded(high, False, lambda x: float(first) < x)
    return f"above {first} and at most {last}", high


def rounded(value: float, up: bool, holds: Callable[[float], bool]) -> str:
    """Return a number with few digits, no nearer to the other side than it is, for which `holds`.

    Examples
    --------
    >>> rounded(2 / 3, True, lambda x: True), rounded(2 / 3, False, lambda x: x > 0.6666665)
    ('0.666667', '0.6666666')
    """
    for digits in range(6, 17):
        context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR)
        beyond = float(context.create_decimal_from_float(value))
        for number in (value, beyond):  # what is just the value with few digits stays so
            text = f"{number:.{digits}g}"
            if (float(text) >= value if up else float(text) <= value) and holds(float(text)):
                return text
    return repr(float(value))

"""What policies cost on rows whose truth is known, in money and with intervals.

A policy is one decision for every row. All are billed on the same rows, and resampled together:
the interval of what one saves against another is that of the difference, row by row. What is
resampled are rows, or whole groups; of very many rows, parts of several rows, drawn at random,
whose sums vary as theirs do.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost.cli.labels import shown
from costboost.cli.rows import TableRows
from costboost.cli.screen import Screen
from costboost.metrics import bootstrap_interval

__all__ = ["Answers", "Bill", "Line", "answer", "make_bill"]

Floats = NDArray[np.float64]

N_RESAMPLES = 1000
_PARTS = 10_000  # rows or groups that are resampled one by one, at most
_LEFT_OUT = 201  # all rows once, and parts of them left out in turn, for the skew
NOTHING, EVERYTHING = "do nothing", "do everything"
TODAY, MODEL, PERFECT = "today's decisions", "the model", "knowing the truth"


class Answers(NamedTuple):
    """What a model says of some rows.

    Attributes
    ----------
    decided : ndarray of shape (n,)
    proba : ndarray of shape (n, K)
        What the decisions rest on.
    expected : ndarray of shape (n, A) or None
        Expected cost of each action; None where the method decides without prices.
    """

    decided: NDArray[Any]
    proba: Floats
    expected: Floats | None


def answer(model: Any, rows: TableRows) -> Answers:
    """Ask a model to decide, by the prices of the rows if it can; the trees are walked once."""
    if not model._decides_by_costs():
        proba = np.asarray(model.predict_proba(rows.X))
        return Answers(np.asarray(model.predict(rows.X)), proba, None)
    proba = model._decision_proba(rows.X, rows.costs)
    return Answers(rows.costs.decide(proba), proba, rows.costs.expected(proba))


@dataclass(frozen=True)
class Line:
    """One policy on the bill: what it costs and saves, each with a 95% interval.

    `saved` is against the cheapest policy that needs no model; `acted` counts the rows that were
    decided positive, where there is such a thing.
    """

    policy: str
    cost: float
    low: float
    high: float
    saved: float
    saved_low: float
    saved_high: float
    acted: int | None


@dataclass(frozen=True)
class Bill:
    """What the policies cost.

    Attributes
    ----------
    lines : tuple of Line
    n_rows : int
    against : str
        The policy that savings are counted from: of those that need no model, the cheapest.
    """

    lines: tuple[Line, ...]
    n_rows: int
    against: str

    def __getitem__(self, policy: str) -> Line:
        return next(line for line in self.lines if line.policy == policy)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the lines as plain values."""
        return [asdict(line) for line in self.lines]


def make_bill(rows: TableRows, decided: dict[str, NDArray[Any]], seed: int, screen: Screen) -> Bill:
    """Bill policies, those that need no model among them.

    Parameters
    ----------
    rows : TableRows
        With their truth.
    decided : dict of str -> ndarray of shape (n,)
        What models decided.
    seed : int
        Of the resampling behind the intervals.
    screen : Screen
        Where it is told how far that is.
    """
    constant = _constants(rows)
    today = {} if rows.current is None else {TODAY: rows.current}
    policies = {**constant, **today, **decided}
    paid = {name: rows.costs.of_decisions(rows.truth, d) for name, d in policies.items()}
    against = min((*constant, *today), key=lambda name: paid[name].sum())
    paid[PERFECT] = rows.costs.of_labels(rows.truth).min(axis=1)
    table = np.column_stack(list(paid.values()))
    table = np.column_stack([table, paid[against][:, None] - table])
    found = _intervals(_units(table, rows.groups, seed), seed, screen)
    acted = {name: _acted(rows, d) for name, d in policies.items()}
    lines = [
        Line(name, *_ends(found, j), *_ends(found, j + len(paid)), acted.get(name))
        for j, name in enumerate(paid)
    ]
    return Bill(tuple(lines), len(rows), against)


def _constants(rows: TableRows) -> dict[str, NDArray[Any]]:
    """Return the policies that decide alike everywhere, by name."""
    everywhere = {
        action: np.full(len(rows), action, dtype=np.asarray(rows.actions).dtype)
        for action in rows.actions
    }
    if rows.positive in rows.actions and len(rows.actions) == 2:
        negative = next(action for action in rows.actions if action != rows.positive)
        return {NOTHING: everywhere[negative], EVERYTHING: everywhere[rows.positive]}
    return {f"always {shown(action)}": each for action, each in everywhere.items()}


def _acted(rows: TableRows, decided: NDArray[Any]) -> int | None:
    if rows.positive not in rows.actions or len(rows.actions) != 2:
        return None
    return int(np.count_nonzero(decided == rows.positive))


def _units(table: Floats, groups: NDArray[np.intp] | None, seed: int) -> Floats:
    """Return sums over what is resampled: rows, groups, or parts drawn at random."""
    codes = np.arange(len(table)) if groups is None else groups
    n = int(codes.max()) + 1
    if n > _PARTS:
        codes = (np.random.RandomState(seed).permutation(n) % _PARTS)[codes]
        n = _PARTS
    if n == len(table) and groups is None:
        return table
    return np.column_stack([np.bincount(codes, column, minlength=n) for column in table.T])


def _intervals(units: Floats, seed: int, screen: Screen) -> tuple[Floats, Floats, Floats]:
    with screen.working("Resampling the bill", N_RESAMPLES + _LEFT_OUT) as advance:

        def total(part: Floats) -> Floats:
            advance()
            return np.asarray(part.sum(axis=0))

        found = bootstrap_interval(
            total, units, n_resamples=N_RESAMPLES, method="bca", random_state=seed
        )
    return units.sum(axis=0), found.low, found.high


def _ends(found: tuple[Floats, Floats, Floats], j: int) -> tuple[float, float, float]:
    cost, low, high = (float(part[j]) for part in found)
    return cost, low, high

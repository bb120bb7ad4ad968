"""Which labels of a policy's rows may be used, and what chance each had: read and checked.

Labels come with chances that are given, or with the log of ``decide(explore=...)``, which holds the
chance of every action.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from costboost.costs import Costs
from costboost.costs.pricing import read_proba
from costboost.inputs.arrays import encode, missing_in, read_mask, read_numbers, read_weights
from costboost.metrics.prices import bind_costs
from costboost.text import listed
from costboost.typing import Floats, Mask

__all__ = ["PolicyRows", "read_policy_rows"]


class PolicyRows(NamedTuple):
    """What is known of each row.

    Attributes
    ----------
    cost : what the new decision costs; 0 where its label is not known
    least, most : the ends of that over all classes
    observed : whether the cost is known because of the label
    propensity : the chance of that
    expected : what a model expects the decision to cost, or None
    weight : the row's own weight
    """

    cost: Floats
    least: Floats
    most: Floats
    observed: Mask
    propensity: Floats
    expected: Floats | None
    weight: Floats


def read_policy_rows(
    y_true: Any,
    y_pred: Any,
    costs: Any,
    labelled: Any,
    propensity: Any,
    log: Any,
    reveals: Any,
    proba: Any,
    labels: Any,
    sample_weight: Any,
) -> PolicyRows:
    """Read what `policy_cost` was given."""
    y = column_or_1d(np.asarray(y_true))
    decided = column_or_1d(np.asarray(y_pred))
    n = len(y)
    if n < 2:
        raise ValueError(f"there are {n} rows: an estimate and its interval need at least two")
    if len(decided) != n:
        raise ValueError(f"y_pred has {len(decided)} rows, but y_true has {n}: give as many")
    logged = None if log is None else _read_log(log, n)
    has_label = _labelled(y, labelled, logged, reveals)
    bound, y = _bind(y, decided, has_label, costs, labels)
    assert bound.actions is not None
    assert bound.classes is not None
    if bound.contain_truth:
        raise ValueError(
            "these costs hold for the true class of their row only, which is not known of every "
            "row: give Costs(fp=, fn=), or a matrix for each row"
        )
    numbers = encode(bound.actions, decided, "y_pred")
    each = np.stack(
        [_of_action(bound.of_class(k), numbers) for k in range(len(bound.classes))], axis=1
    )
    true = encode(bound.classes, y[has_label], "y_true")
    cost = np.zeros(n)
    cost[has_label] = each[has_label, true]
    observed = has_label
    if logged is None:
        if reveals is not None:
            raise ValueError("reveals= says which decisions of log= show the truth: give both")
        if propensity is None:
            raise ValueError(
                "give propensity=, the chance of each row to have got its label, or log=, what "
                "decide(explore=...) has logged; costboost.estimate_propensity estimates it"
            )
        chance = _read_chances(propensity, n, "propensity")
    elif propensity is not None:
        raise ValueError("give propensity= or log=, not both: the log holds the propensities")
    elif reveals is not None:
        shown = _revealing(reveals, logged)
        chance = np.minimum(sum(logged.chances[action] for action in shown), 1.0)
    else:
        observed = has_label & np.asarray(logged.decided == decided.astype(str))
        chance = _chance_of(decided, logged)
    wrong = observed & (chance == 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"row {row}: it has a label, but its propensity is 0. Propensities are chances before "
            "the draw: give those, not whether there was a label"
        )
    expected = None
    if proba is not None:
        shares = read_proba(proba, len(bound.classes))
        if len(shares) != n:
            raise ValueError(f"proba has {len(shares)} rows for {n}: give one for each")
        expected = np.sum(shares * each, axis=1)
    weight = read_weights(sample_weight, n)
    return PolicyRows(cost, each.min(axis=1), each.max(axis=1), observed, chance, expected, weight)


def _labelled(y: NDArray[Any], labelled: Any, log: _Log | None, reveals: Any) -> Mask:
    """Return which rows have a label that may be used."""
    there = ~missing_in(y)
    if labelled is not None:
        mask = read_mask(labelled, len(y), "labelled")
        lacking = mask & ~there
        if lacking.any():
            row = int(np.argmax(lacking))
            raise ValueError(f"row {row}: labelled says that it has a label, but y_true has none")
        there = mask
    if log is not None and reveals is not None:
        shown = np.isin(log.decided, _revealing(reveals, log))
        lacking = shown & ~there
        if lacking.any():
            row = int(np.argmax(lacking))
            raise ValueError(
                f"row {row} was decided {log.decided[row]!r}, which shows the truth, but it has no "
                "label: leave out rows whose label is still open (costboost.known_labels)"
            )
        there = shown
    if not there.any():
        raise ValueError("no row has a label, so that nothing can be estimated")
    return there


def _bind(
    y: NDArray[Any], decided: NDArray[Any], there: Mask, costs: Any, labels: Any
) -> tuple[Costs, NDArray[Any]]:
    """Return bound costs, and labels in which missing ones are replaced by one of the others."""
    known = y[there]
    plain = np.array(known.tolist())
    if plain.dtype.kind == "f" and (plain == np.rint(plain)).all():
        plain = plain.astype(np.int64)  # with NaN among them, whole numbers are floats
    full = np.full(len(y), plain[0], dtype=plain.dtype)
    full[there] = plain
    return bind_costs(costs, full, decided, labels=labels), full


def _of_action(prices: tuple[Floats, ...], numbers: NDArray[np.intp]) -> Floats:
    """Return the price of each row's action; prices are constant or one for each row."""
    table = np.column_stack([np.broadcast_to(p, len(numbers)) for p in prices])
    return np.asarray(table[np.arange(len(numbers)), numbers], dtype=np.float64)


class _Log(NamedTuple):
    """What was decided, and how likely each action was; actions are named by their text."""

    decided: NDArray[Any]
    chances: dict[str, Floats]


def _read_log(log: Any, n: int) -> _Log:
    """Read the columns of a log; other columns, and a prefix before all of them, are allowed."""
    table = log.log if hasattr(log, "propensities") else log
    if not isinstance(table, Mapping) and not hasattr(table, "columns"):
        raise ValueError(
            f"log is a {type(log).__name__}: give the table that decide(explore=...) has logged, "
            "with the columns decision and propensity_<action>"
        )
    names = [str(name) for name in (table if isinstance(table, Mapping) else table.columns)]
    start = next((c.removesuffix("decision") for c in names if c.endswith("decision")), None)
    before = f"{start or ''}propensity_"
    actions = [name.removeprefix(before) for name in names if name.startswith(before)]
    if start is None or not actions:
        raise ValueError(
            f"log has the columns {listed(names)}: it needs decision and, for each action, "
            "propensity_<action>"
        )
    decided = np.asarray(table[f"{start}decision"]).astype(str)
    if decided.shape != (n,):
        raise ValueError(f"log has {len(decided)} rows for {n}: give one for each, in their order")
    chances = {
        action: _read_chances(table[f"{before}{action}"], n, f"{before}{action}")
        for action in actions
    }
    total = sum(chances.values())
    off = np.abs(np.asarray(total) - 1.0) > 1e-6
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"row {row}: the propensities of the log add up to {np.asarray(total)[row]:g}, not 1: "
            "give the column of every action"
        )
    strange = sorted(set(decided.tolist()) - set(actions))
    if strange:
        raise ValueError(f"log decides {strange[0]!r}, but has no column {before}{strange[0]}")
    return _Log(decided, chances)


def _revealing(reveals: Any, log: _Log) -> list[str]:
    one = isinstance(reveals, str) or not hasattr(reveals, "__iter__")
    shown = [str(action) for action in ([reveals] if one else reveals)]
    strange = [action for action in shown if action not in log.chances]
    if strange or not shown:
        what = f"reveals names {strange[0]!r}" if strange else "reveals is empty"
        raise ValueError(f"{what}; the actions of the log are {listed(list(log.chances))}")
    return shown


def _chance_of(decided: NDArray[Any], log: _Log) -> Floats:
    """Return how likely the old policy was to decide as the new one does."""
    names = list(log.chances)
    strange = sorted(set(decided.astype(str).tolist()) - set(names))
    if strange:
        raise ValueError(
            f"the new policy decides {strange[0]!r}, which the log has no propensities of: its "
            f"actions are {listed(names)}"
        )
    table = np.column_stack(list(log.chances.values()))
    numbers = encode(np.array(names), decided.astype(str), "y_pred")
    return np.asarray(table[np.arange(len(decided)), numbers])


def _read_chances(given: Any, n: int, name: str) -> Floats:
    chances = read_numbers(np.asarray(given), name, negative=True)
    if chances.shape != (n,):
        raise ValueError(f"{name} has shape {chances.shape}; give one chance for each of {n} rows")
    bad = (chances < 0) | (chances > 1 + 1e-9)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"row {row}: {name} is {chances[row]:g}; a chance lies between 0 and 1")
    return np.minimum(chances, 1.0)

"""Ten rows explained, where the user allows rows to leave the table.

Four of the dearest mistakes, three of the dearest right decisions and three that are closest to
turning: what a reviewer asks to see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from costboost.explain.rows import values_of_row
from costboost.metrics.prices import take
from costboost.report.matters import can_explain
from costboost.report.rows import PageRows
from costboost.report.subject import Subject
from costboost.report.tables import Words
from costboost.report.text import esc, label, number, percent

__all__ = ["explained_html", "pick_rows"]


def pick_rows(rows: PageRows) -> list[tuple[int, str]]:
    """Return at most ten row numbers, and why each was picked; rows are in the table's order."""
    costs = rows.costs()
    prices = costs.of_labels(rows.truth, encoded=True)
    taken = rows.decide_codes()
    paid = take(prices, taken)
    regret = paid - prices.min(axis=1)
    stake = prices.max(axis=1) - prices.min(axis=1)
    picked: dict[int, str] = {}
    _add(picked, np.where(regret > 0, -regret, np.inf), 4, "one of the dearest mistakes")
    _add(picked, np.where(regret <= 0, -stake, np.inf), 3, "one of the dearest right decisions")
    if rows.decided is None:
        expected = np.sort(costs.expected(rows.proba), axis=1)
        _add(picked, (expected[:, 1] - expected[:, 0]), 3, "one of the closest decisions")
    return list(picked.items())


def _add(picked: dict[int, str], key: NDArray[np.float64], count: int, why: str) -> None:
    for i in np.argsort(key, kind="stable")[: count + len(picked)].tolist():
        if count and i not in picked and np.isfinite(key[i]):
            picked[i] = why
            count -= 1


def explained_html(subject: Subject, words: Words) -> str:
    """Return a section of explained rows."""
    model, X, rows = subject.model, subject.X, subject.rows
    taken = rows.decide_codes()
    parts = []
    for i, why in pick_rows(rows):
        truth, decided = words.classes[int(rows.truth[i])], words.actions[int(taken[i])]
        parts.append(
            f'<details class="row"><summary>Row {i}: decided <b>{esc(decided)}</b>, was '
            f"<b>{esc(truth)}</b> ({why})</summary>{_one(model, X, rows, i, words)}</details>"
        )
    return (
        '<section id="rows-section" aria-labelledby="rows-title">'
        '<h2 id="rows-title">Rows explained</h2><p class="note"><b>This page holds rows of the '
        f"table</b>: {len(parts)} of them, with all their values, because whoever made it asked "
        f"for that. Rows are numbered from 0.</p>{''.join(parts)}</section>"
    )


def _one(model: Any, X: Any, rows: PageRows, i: int, words: Words) -> str:
    row = _safe_indexing(X, np.array([i]))
    row = row.toarray() if hasattr(row, "toarray") else row
    if can_explain(model):
        by_costs = model._decides_by_costs()
        prices = rows.costs()[np.array([i])] if by_costs else None
        return str(model.explain(row, costs=prices)._repr_html_())
    return _facts(row, rows, i, words)


def _facts(row: Any, rows: PageRows, i: int, words: Words) -> str:
    """Return probabilities, expected costs and values of a row whose model explains nothing."""
    lines = []
    if rows.decided is None:
        chances = [f"{c}: {percent(p)}" for c, p in zip(words.classes, rows.proba[i], strict=True)]
        lines.append(("Probability", ", ".join(chances)))
        one = rows.costs()[np.array([i])].expected(rows.proba[i : i + 1])[0]
        costs = [f"{a}: {words.cash(c)}" for a, c in zip(words.actions, one.tolist(), strict=True)]
        lines.append(("Expected cost", ", ".join(costs)))
    names = getattr(row, "columns", None)
    values = values_of_row(row)
    named = names if names is not None else [f"x{j}" for j in range(len(values))]
    lines += [(str(n), _value(v)) for n, v in zip(named, values, strict=True)]
    body = "".join(f'<tr><th scope="row">{esc(n)}</th><td>{esc(v)}</td></tr>' for n, v in lines)
    return f'<table class="figures matrix"><tbody>{body}</tbody></table>'


def _value(value: Any) -> str:
    return number(value) if isinstance(value, int) else label(value)

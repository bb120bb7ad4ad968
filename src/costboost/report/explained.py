"""Ten rows explained, where the user allows rows to leave the table.

Four of the dearest mistakes, three of the dearest right decisions and three that are closest to
turning: what a reviewer asks to see.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from costboost.binning.table_reading import read_table
from costboost.costs import Costs
from costboost.explain.decision import plain
from costboost.explain.mixin import ExplainMixin
from costboost.explain.rows import values_of_row
from costboost.metrics.prices import take
from costboost.report.rows import PageRows
from costboost.report.subject import Subject
from costboost.report.words import Words, esc
from costboost.text import fixed, percent
from costboost.typing import Floats

__all__ = ["can_explain", "what_matters", "explained_html", "pick_rows", "row_html"]


# ---- Importance: how much each column moves the model's answers, on average over some rows.

_ROWS = 1000
_SHUFFLED = 2000
_COLUMNS = 60  # more would take too long to shuffle
_SHOWN = 15


def can_explain(model: Any) -> bool:
    """Return whether a model has `explain` and can use it."""
    return isinstance(model, ExplainMixin) and getattr(model, "estimator", None) is None


def what_matters(model: Any, X: Any, rows: PageRows, random_state: int) -> dict[str, Any] | None:
    """Return columns and how much they matter, the most important first; None if not known.

    The rows are those of X, in its order.
    """
    rng = np.random.RandomState(random_state)
    return _opened(model, X, rng) if can_explain(model) else _shuffled(model, X, rows, rng)


def _opened(model: Any, X: Any, rng: np.random.RandomState) -> dict[str, Any]:
    picked = np.sort(rng.permutation(_num_samples(X))[:_ROWS])
    found = model.contributions(_dense(_safe_indexing(X, picked)))
    sizes = np.abs(found.values)
    sizes = sizes.mean(axis=(0, 2)) if sizes.ndim == 3 else sizes.mean(axis=0)
    names = [str(name) for name in found.columns]
    return _ranked(names, sizes, "contributions", found.unit, len(picked))


def _shuffled(
    model: Any, X: Any, rows: PageRows, rng: np.random.RandomState
) -> dict[str, Any] | None:
    table = read_table(X)
    if table.n_columns > _COLUMNS:
        return None
    drawn = rng.permutation(len(rows))
    if rows.weight is not None:
        drawn = drawn[rows.weight[drawn] > 0]
    picked = np.sort(drawn[:_SHUFFLED])
    part, labels, prices = _safe_indexing(X, picked), rows.labels[picked], rows.costs()[picked]
    mine = None if rows.weight is None else rows.weight[picked]
    sizes = np.array([_worth(model, part, labels, prices, mine, j, rng)
                      for j in range(table.n_columns)])  # fmt: skip
    names = list(table.names or (f"x{j}" for j in range(table.n_columns)))
    return _ranked(names, sizes, "shuffled", "", len(picked))


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _ranked(
    names: list[str], sizes: NDArray[Any], how: str, unit: str, n_rows: int
) -> dict[str, Any]:
    order = np.argsort(-sizes, kind="stable")
    bars = [[names[j], float(f"{sizes[j]:.6g}")] for j in order[:_SHOWN]]
    hidden = max(0, len(names) - _SHOWN)
    return {"how": how, "unit": unit, "rows": n_rows, "bars": bars, "hidden": hidden}


def _worth(
    model: Any, X: Any, y: NDArray[Any], costs: Costs, weight: Any, j: int,
    rng: np.random.RandomState,
) -> float:  # fmt: skip
    """Return the increase of the mean bill when one column's values are shuffled."""
    weights = np.ones(len(y)) if weight is None else weight
    before = costs.of_decisions(y, _answers(model, X, costs))
    after = costs.of_decisions(y, _answers(model, _shuffle(X, j, rng), costs))
    return float(np.average(after - before, weights=weights))


def _answers(model: Any, X: Any, costs: Costs) -> NDArray[Any]:
    if hasattr(model, "_decides_by_costs") and not model._decides_by_costs():
        return np.asarray(model.predict(X))
    return costs.decide(np.asarray(model.predict_proba(X), dtype=np.float64))


def _shuffle(X: Any, j: int, rng: np.random.RandomState) -> Any:
    order = rng.permutation(_num_samples(X))
    if hasattr(X, "iloc"):
        made = X.copy()
        name = made.columns[j]
        made[name] = made[name].iloc[order].set_axis(made.index)
        return made
    if hasattr(X, "with_columns"):
        return X.with_columns(X[X.columns[j]][order.tolist()])
    made = np.array(_dense(X), copy=True)
    made[:, j] = made[order, j]
    return made


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


def _add(picked: dict[int, str], key: Floats, count: int, why: str) -> None:
    for i in np.argsort(key, kind="stable")[: count + len(picked)].tolist():
        if count and i not in picked and np.isfinite(key[i]):
            picked[i] = why
            count -= 1


def explained_html(subject: Subject, words: Words, elsewhere: Iterable[int] = ()) -> str:
    """Return a section of explained rows; `elsewhere` are those that other sections hold."""
    model, X, rows = subject.model, subject.X, subject.rows
    taken = rows.decide_codes()
    parts = []
    picked = pick_rows(rows)
    for i, why in picked:
        truth, decided = words.classes[int(rows.truth[i])], words.actions[int(taken[i])]
        parts.append(
            f'<details class="row"><summary>Row {i}: decided <b>{esc(decided)}</b>, was '
            f'<b>{esc(truth)}</b> ({why})</summary><div class="scroll" role="region" '
            f'aria-label="Row {i}" tabindex="0">{row_html(model, X, rows, i, words)}</div>'
            "</details>"
        )
    more = len(set(elsewhere) - {i for i, _ in picked})
    besides = f" here and {more} more among those decided differently" if more else ""
    return (
        '<section id="rows-section" aria-labelledby="rows-title">'
        '<h2 id="rows-title">Rows explained</h2><p class="note"><b>This page holds rows of the '
        f"table</b>: {len(parts)} of them{besides}, with all their values, because its maker asked "
        f"for that. Rows are numbered from 0.</p>{''.join(parts)}</section>"
    )


def row_html(model: Any, X: Any, rows: PageRows, i: int, words: Words) -> str:
    """Return the explanation of a row, or its values where the model explains nothing."""
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
    return fixed(value) if isinstance(value, int) else plain(value)

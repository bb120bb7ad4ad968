"""``costboost evaluate``: the bill of a model on rows whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.cli.bill import MODEL, answer, make_bill
from costboost.cli.doubts import note_doubts
from costboost.cli.labels import shown
from costboost.cli.money import Money, count
from costboost.cli.prices import Prices
from costboost.cli.recipe import Kept, read_model
from costboost.cli.rows import TableRows, load_rows
from costboost.cli.screen import Screen
from costboost.cli.words import classes_text, findings, show_bill, show_findings

__all__ = ["evaluate", "note_training_rows"]


def evaluate(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    target: str | None,
    current: str | None,
    groups: str | None,
    seed: int,
) -> None:
    """Bill a model on a table."""
    kept = read_model(model_path)
    rows, source = load_rows(
        kept, table, prices, screen, target=target, needs_target=True, current=current,
        groups=groups,
    )  # fmt: skip
    currency = prices.currency or (kept.recipe.prices.currency if kept.recipe.prices else "")
    money = Money(currency)
    screen.say(f"{source.name}: {count(len(rows), 'row')}; {classes_text(rows.truth)}")
    note_training_rows(screen, kept, source.digest)
    with screen.listening(), screen.working("Deciding"):
        answers = answer(kept.model, rows)
    bill = make_bill(rows, {MODEL: answers.decided}, seed, screen)
    found = findings(kept.model, rows, answers, bill)
    screen.say()
    show_bill(screen, bill, money)
    show_findings(screen, {**found, "rounds": None, "matters": {}}, money, rows.positive)
    cells = _cells(rows, answers.decided)
    _show_cells(screen, cells, money)
    note_doubts(screen, rows, found, "of the table")
    screen.result(
        {
            "model": model_path,
            "table": source.name,
            "rows": len(rows),
            "currency": currency,
            "bill": bill.to_list(),
            "against": bill.against,
            "cells": cells,
            **found,
        }
    )


def note_training_rows(screen: Screen, kept: Kept, digest: str) -> None:
    """Warn where a model is judged by the file that it was trained on."""
    if digest == kept.recipe.digest:
        screen.note(
            f"{kept.path} was trained on rows of this very file: what it costs here is less than "
            "it will cost on new rows."
        )


def _cells(rows: TableRows, decided: Any) -> list[dict[str, Any]]:
    """Return how often, and at what cost, each class was decided as each action."""
    paid = rows.costs.of_decisions(rows.truth, decided)
    found = []
    for label in np.unique(rows.truth).tolist():
        for action in rows.actions:
            here = (rows.truth == label) & (decided == action)
            cell = {"truth": shown(label), "decision": shown(action)}
            found.append({**cell, "rows": int(here.sum()), "cost": float(paid[here].sum())})
    return found


def _show_cells(screen: Screen, cells: list[dict[str, Any]], money: Money) -> None:
    if len(cells) > 16:
        return
    screen.say()
    lines = [
        [f"{c['truth']}, decided {c['decision']}", f"{c['rows']:,}", money.bare(c["cost"])]
        for c in cells
    ]
    screen.table(["truth", "rows", f"cost{money.currency and ', ' + money.currency}"], lines)

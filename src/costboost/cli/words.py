"""Bills and findings as they are told on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost.cli.bill import EVERYTHING, MODEL, NOTHING, TODAY, Answers, Bill
from costboost.cli.columns import Choice, Kind
from costboost.cli.labels import shown
from costboost.cli.money import Money, count, share
from costboost.cli.rows import TableRows
from costboost.cli.screen import Screen
from costboost.metrics.checks import power_of_two

__all__ = [
    "classes_text",
    "column_facts",
    "findings",
    "listed",
    "show_bill",
    "show_findings",
]

NUMBERS: tuple[Kind, ...] = ("number", "duration", "clock", "date")
_SHOWN = 8


def listed(names: Sequence[str], shown_at_most: int = 12) -> str:
    """Return names, not too many."""
    more = len(names) - shown_at_most
    return ", ".join(names[:shown_at_most]) + (f" and {more} others" if more > 0 else "")


def classes_text(y: Any) -> str:
    """Return how often each class occurs."""
    labels, counts = np.unique(y, return_counts=True)
    order = np.argsort(counts, kind="stable")
    parts = [f"{shown(labels[i])}: {counts[i]:,} ({share(counts[i] / len(y))})" for i in order]
    return listed(parts, 6)


def column_facts(choice: Choice, frame: Any) -> list[tuple[str, str]]:
    """Say what was taken as what."""
    facts = []
    numbers = [name for kind in NUMBERS for name in choice.names(kind)]
    if numbers:
        facts.append(("numbers", listed(numbers)))
    categories = [f"{name} ({frame[name].n_unique():,})" for name in choice.names("category")]
    if categories:
        facts.append(("categories", listed(categories)))
    for i, (name, why) in enumerate(choice.left_out.items()):
        facts.append(("left out" if not i else "", f"{name or '(no name)'}: {why}"))
    return facts


def show_bill(screen: Screen, bill: Bill, money: Money) -> None:
    """Print the bill as a table, and what to make of it as a sentence."""
    counted = any(line.acted is not None for line in bill.lines)
    unit = f"cost, {money.currency}" if money.currency else "cost"
    head = ["", unit, "95 % interval", "saved", *(["acted on"] if counted else [])]
    rows = []
    for line in bill.lines:
        exact = line.low == line.high
        without = line.policy in _DOING or line.policy.startswith("always ")
        saved = "" if without else share(_saved_share(bill, line.saved))
        cells = [line.policy, money.bare(line.cost), "exact" if exact else "", saved]
        cells[2] = cells[2] or money.span(line.low, line.high)
        rows.append([*cells, *(["" if line.acted is None else f"{line.acted:,}"] * counted)])
    strong = next((i for i, line in enumerate(bill.lines) if line.policy == MODEL), -1)
    screen.table(head, rows, strong)
    screen.say()
    for line in bill.lines:
        if line.policy == MODEL:
            screen.say(verdict(bill, money))


def _saved_share(bill: Bill, saved: float) -> float:
    base = bill[bill.against].cost
    return saved / abs(base) if base else 0.0


_DOING = {
    NOTHING: "doing nothing",
    EVERYTHING: "acting on everything",
    TODAY: "today's decisions",
}


def verdict(bill: Bill, money: Money) -> str:
    """Say what the model saves, and whether that is beyond chance."""
    line = bill[MODEL]
    other = _DOING.get(bill.against, bill.against.replace("always", "always deciding"))
    span = f"95 % interval {money.span(line.saved_low, line.saved_high)}"
    per_row = f"{money(abs(line.saved) / bill.n_rows)} a row"
    if line.saved_low > 0:
        return (
            f"The model saves {money(line.saved)} ({span}), {per_row}, against {other}, the "
            "cheapest way without it."
        )
    if line.saved_high < 0:
        return (
            f"The model costs {money(-line.saved)} more than {other}, the cheapest way without "
            f"it (saved: {span}). Do not use it as it is."
        )
    return (
        f"Whether the model saves anything against {other}, the cheapest way without it, cannot be "
        f"told from these rows: {money(line.saved)}, {span}."
    )


def findings(model: Any, rows: TableRows, answers: Answers, bill: Bill) -> dict[str, Any]:
    """Return what is known of a model beside its bill: rounds, calibration, columns."""
    found: dict[str, Any] = {"rounds": getattr(model, "n_iter_", None)}
    if rows.positive is not None and len(model.classes_) == 2:
        p = answers.proba[:, model.classes_.tolist().index(rows.positive)]
        happened = rows.truth == rows.positive
        deviation = float(np.sqrt(np.sum(p * (1 - p)))) or 1.0
        found["positives"] = {
            "expected": float(p.sum()),
            "happened": int(happened.sum()),
            "z": float((happened.sum() - p.sum()) / deviation),
        }
        found["brier"] = float(np.mean((p - happened) ** 2))
    if answers.expected is not None:
        found["cost"] = _cost_check(rows, answers, bill[MODEL].cost)
    if hasattr(model, "feature_importances_"):
        ranked = sorted(
            zip(rows.X.columns, model.feature_importances_.tolist(), strict=True),
            key=lambda pair: -pair[1],
        )
        found["matters"] = dict(ranked)
    return found


def _cost_check(rows: TableRows, answers: Answers, paid: float) -> dict[str, float]:
    """Return what the decisions were expected to cost, how far that may be off, and the cost."""
    classes = np.asarray(rows.costs.classes)
    n = len(rows)
    by_class = np.column_stack(
        [rows.costs.of_decisions(np.full(n, label), answers.decided) for label in classes]
    )
    expected = np.sum(answers.proba * by_class, axis=1)
    scale = power_of_two(by_class)  # squares stay in range
    variance = np.sum(answers.proba * ((by_class - expected[:, None]) / scale) ** 2)
    deviation = float(scale * np.sqrt(variance))
    return {"expected": float(expected.sum()), "deviation": deviation, "paid": paid}


def show_findings(screen: Screen, found: dict[str, Any], money: Money, positive: Any) -> None:
    """Print what is known of a model beside its bill."""
    facts = [("rounds", f"{found['rounds']:,}")] if found.get("rounds") is not None else []
    seen, cost = found.get("positives"), found.get("cost")
    checks = []
    if seen:
        text = f"{shown(positive)}: {seen['expected']:,.1f} expected, {seen['happened']:,} came"
        checks.append(text)
    if cost:
        about = f"{money(cost['expected'])} +- {money.bare(cost['deviation'])}"
        checks.append(f"cost: {about} expected, {money(cost['paid'])} paid")
    if checks:
        facts.append(("calibration", "; ".join(checks)))
    matters = [(name, part) for name, part in found.get("matters", {}).items() if part > 0]
    if matters:
        parts = [f"{name} {share(part)}" for name, part in matters[:_SHOWN]]
        rest = len(matters) - _SHOWN
        text = ", ".join(parts) + (f", {count(rest, 'other')}" if rest > 0 else "")
        facts.append(("what matters", text))
    screen.facts(facts)

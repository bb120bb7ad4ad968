"""Figures as HTML: what the page shows before its JavaScript has moved anything, or without it.

`page.js` writes the same elements with the same words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from costboost.report.figures import Bill, Figures
from costboost.report.rows import PageRows
from costboost.report.text import esc, money, number, percent

__all__ = [
    "Words",
    "bill_words",
    "confusion_html",
    "headline",
    "policies_html",
    "price_words",
    "rows_html",
]


class Words:
    """How one report writes: its currency, and what its classes and actions are called."""

    def __init__(self, currency: str, classes: Sequence[str], actions: Sequence[str]) -> None:
        self.currency = currency
        self.classes = list(classes)
        self.actions = list(actions)

    def cash(self, value: float) -> str:
        """Return an amount of money."""
        return money(value, self.currency)

    def span(self, bill: Bill) -> str:
        """Return an interval of money."""
        return f"{self.cash(bill.low)} to {self.cash(bill.high)}"


def bill_words(figures: Figures, rows: PageRows, words: Words) -> str:
    """Return the interval of the bill and what a row costs."""
    weight = float(len(rows) if rows.weight is None else rows.weight.sum())
    each = words.cash(figures.bill.total / weight)
    return f"95% interval {words.span(figures.bill)}, on {number(len(rows))} rows: {each} a row"


def headline(figures: Figures, rows: PageRows, words: Words) -> str:
    """Return what the model saves against doing nothing, or against the cheapest one action."""
    constant = figures.policies[: len(rows.actions)]
    if rows.positive is not None:
        kept = constant[1 - rows.positive]
    else:
        kept = min(constant, key=lambda policy: policy.bill.total)
    saved, ends = kept.saved, (kept.saved.low, kept.saved.high)
    verb, more = "saves", "against"
    if saved.total < 0:
        verb, more, ends = "costs", "more than", (-saved.high, -saved.low)
    return (
        f"The model {verb} {words.cash(abs(saved.total))} ({percent(abs(kept.share))}) {more} "
        f"\u201c{kept.name}\u201d; 95% interval {words.cash(ends[0])} to {words.cash(ends[1])}."
    )


def policies_html(figures: Figures, words: Words) -> str:
    """Return the table of policies, the model first."""
    cash = words.cash
    own = (
        f'<tr class="own"><th scope="row">This model</th><td data-label="Bill">'
        f'{esc(cash(figures.bill.total))}</td><td data-label="95% interval">'
        f"{esc(words.span(figures.bill))}</td><td></td><td></td></tr>"
    )
    lines = []
    for policy in figures.policies:
        style = "loss" if policy.saved.total < 0 else "gain"
        lines.append(
            f'<tr><th scope="row">{esc(policy.name)}</th><td data-label="Bill">'
            f'{esc(cash(policy.bill.total))}</td><td data-label="95% interval">'
            f'{esc(words.span(policy.bill))}</td><td data-label="The model saves" class="{style}">'
            f'{esc(cash(policy.saved.total))}</td><td data-label="Share" class="{style}">'
            f"{esc(percent(policy.share))}</td></tr>"
        )
    return own + "".join(lines)


def confusion_html(figures: Figures, rows: PageRows, words: Words, digits: int) -> str:
    """Return the confusion matrix in rows and in money, with sums."""

    def cell(count: Any, cost: Any, style: str) -> str:
        return (
            f'<td class="{style}"><b>{esc(number(float(count), digits))}</b>'
            f"<span>{esc(words.cash(float(cost)))}</span></td>"
        )

    counts, paid = figures.counts, figures.money
    head = "".join(f'<th scope="col">decided {esc(name)}</th>' for name in words.actions)
    body = []
    for k, name in enumerate(words.classes):
        cells = "".join(
            cell(counts[k, a], paid[k, a], "right" if rows.bound.is_square and k == a else "")
            for a in range(len(words.actions))
        )
        total = cell(counts[k].sum(), paid[k].sum(), "sum")
        body.append(f'<tr><th scope="row">{esc(name)}</th>{cells}{total}</tr>')
    sums = "".join(
        cell(counts[:, a].sum(), paid[:, a].sum(), "") for a in range(len(words.actions))
    ) + cell(counts.sum(), paid.sum(), "sum")
    return (
        f'<thead><tr><th scope="col">Truth</th>{head}<th scope="col" class="sum">All</th></tr>'
        f'</thead><tbody>{"".join(body)}<tr><th scope="row">All</th>{sums}</tr></tbody>'
    )


def price_words(rows: PageRows, words: Words) -> str:
    """Return the opening prices in words: one line for every one that is not zero."""
    lines = []
    for k, a in np.ndindex(rows.prices.values.shape):
        value, j = float(rows.prices.values[k, a]), int(rows.prices.column_of[k, a])
        what = f"{words.classes[k]}, decided {words.actions[a]}"
        if j >= 0:
            column, name = rows.prices.columns[j], rows.prices.names[j] or "a price of its own"
            span = f"{words.cash(float(column.min()))} to {words.cash(float(column.max()))}"
            lines.append(f"{what}: {name}, {span}")
        elif value:
            lines.append(f"{what}: {words.cash(value)}")
    return "\n".join([*lines, "everything else: nothing"])


def rows_html(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a plain table of texts."""
    top = "".join(f'<th scope="col">{esc(name)}</th>' for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{esc(value)}</td>" for value in line) + "</tr>" for line in lines
    )
    return f'<table class="figures"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def whole_weights(weight: Any) -> bool:
    """Whether counts of rows are whole numbers."""
    return weight is None or bool((np.asarray(weight) == np.rint(weight)).all())

"""Texts and tables of the page as HTML, and the places that its script fills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import product
from typing import Any

import numpy as np

from costboost.metrics.policies import SumInterval
from costboost.report.rounding import rounded_like
from costboost.report.rows import Figures, PageRows, compute_figures
from costboost.report.subject import Subject
from costboost.text import fixed, money, percent

__all__ = [
    "Words",
    "bill_words",
    "confusion_html",
    "esc",
    "headline",
    "policies_html",
    "price_words",
    "rows_html",
    "brier_words",
    "cost_words",
    "curves_words",
    "warnings_html",
    "held",
    "matters_html",
    "prices_words",
    "reliability_html",
    "share_words",
    "subtitle",
    "who_html",
]


# ---- Figures as HTML: what the page shows until its script moves a price. `page.js` writes the
# same elements with the same words.


def esc(value: Any) -> str:
    """Return text that is safe between tags and inside quoted attributes."""
    return escape(str(value), quote=True)


class Words:
    """The currency of a report, and the names and order of its classes and actions.

    Names are by number; `order` has the numbers of the classes, and of the actions, as they are
    shown.
    """

    def __init__(
        self,
        currency: str,
        classes: Sequence[str],
        actions: Sequence[str],
        order: tuple[Sequence[int], Sequence[int]] | None = None,
    ) -> None:
        self.currency = currency
        self.classes = list(classes)
        self.actions = list(actions)
        self.order = order or (range(len(classes)), range(len(actions)))

    def cash(self, value: float) -> str:
        """Return an amount of money."""
        return money(value, self.currency, cents=True)

    def span(self, bill: SumInterval) -> str:
        """Return an interval of money."""
        return f"{self.cash(bill.low)} to {self.cash(bill.high)}"


def bill_words(figures: Figures, rows: PageRows, words: Words) -> str:
    """Return the interval of the bill and what a row costs."""
    weight = float(len(rows) if rows.weight is None else rows.weight.sum())
    each = words.cash(figures.bill.total / weight)
    return f"95 % interval {words.span(figures.bill)}, on {fixed(len(rows))} rows: {each} a row"


def headline(figures: Figures, rows: PageRows, words: Words) -> str:
    """Return a sentence: what the model saves against the cheapest constant action."""
    constant = figures.policies[: len(rows.actions)]
    kept = min(constant, key=lambda policy: policy.bill.total)
    saved, ends = kept.saved, (kept.saved.low, kept.saved.high)
    verb, more = "saves", "against"
    if saved.total < 0:
        verb, more, ends = "costs", "more than", (-saved.high, -saved.low)
    return (
        f"The model {verb} {words.cash(abs(saved.total))} ({percent(abs(kept.share))}) {more} "
        f"\u201c{kept.name}\u201d; 95 % interval {words.cash(ends[0])} to {words.cash(ends[1])}."
    )


def policies_html(figures: Figures, words: Words) -> str:
    """Return the table of policies, the model first."""

    def cell(label: str, text: str, style: str = "") -> str:
        return f'<td data-label="{label}"{style}>{text}</td>'

    def bill_cells(bill: SumInterval) -> str:
        # An interval may break between its ends, not within them.
        low, high = (f"<span>{esc(words.cash(end))}</span>" for end in (bill.low, bill.high))
        span = f'<div class="span">{low} to {high}</div>'
        return cell("Bill", esc(words.cash(bill.total))) + cell("95 % interval", span)

    own = f'<th scope="row">This model</th>{bill_cells(figures.bill)}<td></td><td></td>'
    lines = [f'<tr class="own">{own}</tr>']
    n_actions = len(words.actions)
    for policy in [*(figures.policies[a] for a in words.order[1]), *figures.policies[n_actions:]]:
        style = f' class="{"loss" if policy.saved.total < 0 else "gain"}"'
        lines.append(
            f'<tr><th scope="row">{esc(policy.name)}</th>{bill_cells(policy.bill)}'
            + cell("The model saves", esc(words.cash(policy.saved.total)), style)
            + cell("Share", esc(percent(policy.share)), style)
            + "</tr>"
        )
    return "".join(lines)


def confusion_html(figures: Figures, rows: PageRows, words: Words, digits: int) -> str:
    """Return the confusion matrix in rows and in money, with sums."""

    def cell(count: Any, cost: Any, style: str) -> str:
        return (
            f'<td class="{style}"><b>{esc(fixed(float(count), digits))}</b>'
            f"<span>{esc(words.cash(float(cost)))}</span></td>"
        )

    counts, paid = figures.counts, figures.money
    classes, actions = words.order
    head = "".join(f'<th scope="col">decided {esc(words.actions[a])}</th>' for a in actions)
    body = []
    for k in classes:
        cells = "".join(
            cell(counts[k, a], paid[k, a], "right" if rows.bound.is_square and k == a else "")
            for a in actions
        )
        total = cell(counts[k].sum(), paid[k].sum(), "sum")
        body.append(f'<tr><th scope="row">{esc(words.classes[k])}</th>{cells}{total}</tr>')
    sums = "".join(cell(counts[:, a].sum(), paid[:, a].sum(), "") for a in actions) + cell(
        counts.sum(), paid.sum(), "sum"
    )
    return (
        f'<thead><tr><th scope="col">Truth</th>{head}<th scope="col" class="sum">All</th></tr>'
        f'</thead><tbody>{"".join(body)}<tr><th scope="row">All</th>{sums}</tr></tbody>'
    )


def price_words(rows: PageRows, words: Words) -> str:
    """Return the opening prices in words: one line for every one that is not zero."""
    lines = []
    for k, a in product(*words.order):
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
    """Return whether counts of rows are whole numbers."""
    return weight is None or bool((np.asarray(weight) == np.rint(weight)).all())


def subtitle(subject: Subject, kept: PageRows) -> str:
    """Return a line: which model was judged on which rows, and when."""
    total = len(subject.rows)
    part = f"{fixed(total)} rows"
    if len(kept) < total:
        part = f"{fixed(len(kept))} rows, drawn at random from {fixed(total)}"
    day = datetime.now(UTC)
    return f"{type(subject.model).__name__}, judged on {part}. {day.day} {day:%B %Y}."


def warnings_html(found: list[str]) -> str:
    """Return the warnings as a box at the top of the page."""
    if not found:
        return ""
    items = "".join(f"<li>{esc(text)}</li>" for text in found)
    return (
        '<aside class="warnings" aria-labelledby="warnings-title">'
        f'<h2 id="warnings-title">Before you rely on this</h2><ul>{items}</ul></aside>'
    )


def prices_words(rows: PageRows) -> str:
    """Return a sentence on what moving a price does."""
    if rows.decided is not None:
        return "Move a price: the bill of the same decisions follows."
    return "Move a price: the model decides again, and the bill follows."


def share_words(rows: PageRows) -> str:
    """Return the caption of the curve of savings."""
    if rows.decided is not None:
        return (
            "This model was trained on costs, which its answers contain: when prices move its "
            "decisions stay, and only their bill changes. Fit it again on the new prices, or wrap "
            "its estimator in MinimumCostClassifier."
        )
    return (
        "Rows are ranked by what the decision below is expected to save on them. The curve is what "
        "it did save, against never taking it; the mark is where the model stops at these prices."
    )


def curves_words(rows: PageRows) -> str:
    """Return the introduction to the curves of probabilities."""
    if rows.decided is not None:
        return "This model decides without probabilities, so there are no curves of them."
    return (
        "Decisions by expected cost are as good as the probabilities behind them. These pictures "
        "do not change with the prices, only the marks on them do."
    )


def reliability_html(curves: list[dict[str, Any]]) -> str:
    """Return the reliability diagram as a table."""
    if not curves:
        return ""
    lines = [
        [percent(predicted), percent(observed), f"{percent(low)} to {percent(high)}", fixed(count)]
        for predicted, observed, low, high, count in curves[0]["reliability"]["bins"]
    ]
    return rows_html(["predicted", "observed", "95 % interval", "rows"], lines)


def brier_words(curves: list[dict[str, Any]]) -> str:
    """Return the caption of the Brier curve."""
    if not curves:
        return ""
    return (
        "The loss when the price ratio itself is the threshold. Its area is the Brier score, "
        f"{curves[0]['brier']:.4g}."
    )


def cost_words(rows: PageRows) -> str:
    """Return the caption of the cost curve."""
    caption = (
        "Lower is better: the least cost that any one threshold reaches, whatever the prices, "
        "against deciding without looking (dashed)."
    )
    if rows.positive is None or not rows.prices.columns:
        return caption
    return (
        caption + " Rows with prices of their own have thresholds of their own: that can be better."
    )


def who_html(who: list[dict[str, Any]]) -> str:
    """Return the place for who is affected."""
    if not who:
        return (
            '<p class="lead">The table has no column of categories. Name columns with groups= to '
            "see who is affected.</p>"
        )
    options = "".join(f'<option value="{j}">{esc(g["name"])}</option>' for j, g in enumerate(who))
    return (
        f'<p id="who-choice"><label for="who">By</label> <select id="who">{options}</select></p>'
        '<div class="scroll" role="region" aria-label="Who is affected" tabindex="0">'
        '<table class="figures" id="who-table"></table></div>'
        '<p class="muted small" id="who-says"></p>'
    )


def matters_html(matters: dict[str, Any] | None) -> str:
    """Return the place for the importances of columns, and how they were computed."""
    if matters is None:
        return '<p class="lead">Not computed: the table has too many columns to shuffle each.</p>'
    if matters["how"] == "shuffled":
        says = (
            "What a row's decision would cost more, on average, if the values of a column were "
            f"shuffled among the rows ({fixed(matters['rows'])} of them, one shuffle each)."
        )
    else:
        says = (
            f"How far each column moves the {matters['unit']} of a row, on average over "
            f"{fixed(matters['rows'])} rows (the mean size of its Shapley values)."
        )
    hidden = f" {matters['hidden']} columns that matter less are not shown."
    return (
        f'<p class="lead">{esc(says + (hidden if matters["hidden"] else ""))}</p>'
        '<figure><div id="matters-chart" class="chart"></div></figure>'
    )


def held(subject: Subject, rows: PageRows, explained: bool, words: Words) -> dict[str, str]:
    """Return facts about the data that the page contains, for the model card."""
    besides = ". No other value of any row is in it."
    if explained:
        besides = ", and the explained rows with all their values."
    facts = {
        "Of every row": f"{', '.join(_held_of_rows(rows))}; {_how_exact(subject, rows)}. Rows "
        "stand in another order than in the table.",
        "Besides": f"sums over rows{besides}",
        "Figures": "come from these rows, by the same steps in Python (costboost.metrics) and on "
        "the page, and agree to the cent at any prices.",
    }
    if len(rows) < len(subject.rows):
        total = compute_figures(subject.rows).bill.total
        facts["Of all rows"] = (
            f"{fixed(len(rows))} were drawn at random. At the opening prices all "
            f"{fixed(len(subject.rows))} together cost {words.cash(total)}."
        )
    return facts


def _held_of_rows(rows: PageRows) -> list[str]:
    parts = ["its decision"] if rows.decided is not None else ["its probabilities"]
    parts.append("its true class")
    if rows.prices.columns:
        named = [name or "a price of its own" for name in rows.prices.names]
        parts.append(f"its prices ({', '.join(named)})")
    optional = {
        "its weight": rows.weight,
        "today's decision": rows.current,
        "the number of its period": rows.period,
    }
    parts += [name for name, part in optional.items() if part is not None]
    return parts + ([f"its category of {', '.join(rows.groups)}"] if rows.groups else [])


def _how_exact(subject: Subject, rows: PageRows) -> str:
    if rows.rounding == "exact":
        return "as exact as the model gives them"
    before, after = subject.rows, rounded_like(subject.rows, rows)
    changed = int(np.sum(before.decide_codes() != after.decide_codes()))
    return (
        f"rounded so that the page stays below two megabytes: {rows.rounding}. At the opening "
        f"prices that changes {fixed(changed)} of {fixed(len(before))} decisions"
    )

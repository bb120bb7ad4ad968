"""What the page says in words, and the places that its script fills."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from costboost.report.figures import compute_figures
from costboost.report.rounding import rounded_like
from costboost.report.rows import PageRows
from costboost.report.subject import Subject
from costboost.report.tables import Words, rows_html
from costboost.report.text import esc, number, percent

__all__ = [
    "brier_words",
    "cost_words",
    "curves_words",
    "doubts_html",
    "held",
    "matters_html",
    "prices_words",
    "reliability_html",
    "share_words",
    "subtitle",
    "who_html",
]


def subtitle(subject: Subject, kept: PageRows) -> str:
    """Say which model was judged on which rows, and when."""
    total = len(subject.rows)
    part = f"{number(total)} rows"
    if len(kept) < total:
        part = f"{number(len(kept))} rows, drawn at random from {number(total)}"
    day = datetime.now(UTC)
    return f"{type(subject.model).__name__}, judged on {part}. {day.day} {day:%B %Y}."


def doubts_html(found: list[str]) -> str:
    """Return the warnings as a box at the top of the page."""
    if not found:
        return ""
    items = "".join(f"<li>{esc(text)}</li>" for text in found)
    return (
        '<aside class="doubts" aria-labelledby="doubts-title"><h2 id="doubts-title">Before you '
        f"rely on this</h2><ul>{items}</ul></aside>"
    )


def prices_words(rows: PageRows) -> str:
    """Say what moving a price does."""
    if rows.decided is not None:
        return "Move a price: the bill of the same decisions follows."
    return "Move a price: the model decides again, and the bill follows."


def share_words(rows: PageRows) -> str:
    """Say what the curve of savings is."""
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
    """Say what the curves of probabilities are good for."""
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
        [percent(said), percent(were), f"{percent(low)} to {percent(high)}", number(count)]
        for said, were, low, high, count in curves[0]["reliability"]["bins"]
    ]
    return rows_html(["said", "were", "95% interval", "rows"], lines)


def brier_words(curves: list[dict[str, Any]]) -> str:
    """Say what the Brier curve is."""
    if not curves:
        return ""
    return (
        "The loss when the price ratio itself is the threshold. Its area is the Brier score, "
        f"{curves[0]['brier']:.4g}."
    )


def cost_words(rows: PageRows) -> str:
    """Say what the cost curve is."""
    said = (
        "Lower is better: the least cost that any one threshold reaches, whatever the prices, "
        "against deciding without looking (dashed)."
    )
    if rows.positive is None or not rows.prices.columns:
        return said
    return said + " Rows with prices of their own have thresholds of their own: that can be better."


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
    """Return the place for what matters, and how that was found."""
    if matters is None:
        return '<p class="lead">Not computed: the table has too many columns to shuffle each.</p>'
    if matters["how"] == "shuffled":
        says = (
            "What a row's decision would cost more, on average, if the values of a column were "
            f"shuffled among the rows ({number(matters['rows'])} of them, one shuffle each)."
        )
    else:
        says = (
            f"How far each column moves the {matters['unit']} of a row, on average over "
            f"{number(matters['rows'])} rows (the mean size of its Shapley values)."
        )
    hidden = f" {matters['hidden']} columns that matter less are not shown."
    return (
        f'<p class="lead">{esc(says + (hidden if matters["hidden"] else ""))}</p>'
        '<figure><div id="matters-chart" class="chart"></div></figure>'
    )


def held(subject: Subject, rows: PageRows, explained: bool, words: Words) -> dict[str, str]:
    """Say what leaves the table with this page."""
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
            f"{number(len(rows))} were drawn at random. At the opening prices all "
            f"{number(len(subject.rows))} together cost {words.cash(total)}."
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
    parts += [said for said, part in optional.items() if part is not None]
    return parts + ([f"its category of {', '.join(rows.groups)}"] if rows.groups else [])


def _how_exact(subject: Subject, rows: PageRows) -> str:
    if rows.rounding == "exact":
        return "as exact as the model gives them"
    before, after = subject.rows, rounded_like(subject.rows, rows)
    changed = int(np.sum(before.decide_codes() != after.decide_codes()))
    return (
        f"rounded so that the page stays below two megabytes: {rows.rounding}. At the opening "
        f"prices that changes {number(changed)} of {number(len(before))} decisions"
    )

"""All that was computed for a page -> the parts of its template and the data of its script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from costboost._version import __version__
from costboost.report import words as say
from costboost.report.card import Card, card_html
from costboost.report.curves import class_curves
from costboost.report.figures import Figures
from costboost.report.groups import affected, category_columns
from costboost.report.packing import pack_rows
from costboost.report.page import to_json
from costboost.report.rows import PageRows
from costboost.report.subject import Subject
from costboost.report.tables import (
    Words,
    bill_words,
    confusion_html,
    headline,
    policies_html,
    price_words,
    whole_weights,
)
from costboost.report.text import esc

__all__ = ["Contents", "template_parts"]


@dataclass(frozen=True)
class Contents:
    """What a page is made of.

    Attributes
    ----------
    subject : Subject
        The model and the table, rows in the order of the table.
    rows : PageRows
        The rows that the page keeps.
    words : Words
    figures : Figures
        At the opening prices.
    warnings : list of str
    matters : dict or None
    card : dict
    explained : str
        HTML of explained rows; "" if none may be shown.
    title : str
    """

    subject: Subject
    rows: PageRows
    words: Words
    figures: Figures
    warnings: list[str]
    matters: dict[str, Any] | None
    card: Card
    explained: str
    title: str


def template_parts(made: Contents) -> dict[str, str]:
    """Return what stands in each place of `page.html`."""
    packed, heads = pack_rows(made.rows)
    data = _data(made, heads)
    link = '<a href="#rows-section">Rows explained</a>'
    return {
        "title": esc(made.title),
        "subtitle": esc(say.subtitle(made.subject, made.rows)),
        "doubts": say.doubts_html(made.warnings),
        "rows_link": link if made.explained else "",
        **_figures(made, data["digits"]),
        **_pictures(made, data),
        "explained": made.explained,
        "card": card_html(made.card),
        "footer": esc(f"Made with costboost {__version__}."),
        "page": to_json(data),
        "rows": packed,
    }


def _figures(made: Contents, digits: int) -> dict[str, str]:
    rows, words, figures = made.rows, made.words, made.figures
    return {
        "prices": "<p>" + esc(price_words(rows, words)).replace("\n", "<br>") + "</p>",
        "prices_words": esc(say.prices_words(rows)),
        "bill": esc(words.cash(figures.bill.total)),
        "bill_interval": esc(bill_words(figures, rows, words)),
        "headline": esc(headline(figures, rows, words)),
        "policies": policies_html(figures, words),
        "confusion": confusion_html(figures, rows, words, digits),
    }


def _pictures(made: Contents, data: dict[str, Any]) -> dict[str, str]:
    return {
        "share_words": esc(say.share_words(made.rows)),
        "curves_words": esc(say.curves_words(made.rows)),
        "no_curves": "" if data["curves"] else " hidden",
        "reliability": say.reliability_html(data["curves"]),
        "brier_words": esc(say.brier_words(data["curves"])),
        "cost_words": esc(say.cost_words(made.rows)),
        "who": say.who_html(data["who"]),
        "matters": say.matters_html(made.matters),
    }


def _data(made: Contents, heads: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the script of the page needs besides the rows."""
    rows = made.rows
    return {
        **_prices(rows),
        "n": len(rows),
        "weight": float(len(rows) if rows.weight is None else rows.weight.sum()),
        "digits": 0 if whole_weights(rows.weight) else 1,
        "currency": made.words.currency,
        "classes": made.words.classes,
        "actions": made.words.actions,
        "policies": [policy.name for policy in made.figures.policies],
        "positive": rows.positive,
        "benefits": bool(rows.bound._state.benefits),
        "square": bool(rows.bound.is_square),
        "limited": rows.limited,
        "added": None if rows.added is None else rows.added.tolist(),
        "period": made.subject.period,
        "periods": max(1, len(rows.period_names)),
        "arrays": heads,
        "curves": [] if rows.decided is not None else class_curves(rows),
        "groups": list(rows.groups),
        "who": _who(made.subject),
        "matters": made.matters,
    }


def _prices(rows: PageRows) -> dict[str, Any]:
    return {
        "values": rows.prices.values.ravel().tolist(),
        "columnOf": rows.prices.column_of.ravel().tolist(),
        "columns": [
            {"name": name, "low": float(c.min()), "high": float(c.max()), "mean": float(c.mean())}
            for name, c in zip(rows.prices.names, rows.prices.columns, strict=True)
        ],
    }


def _who(subject: Subject) -> list[dict[str, Any]]:
    """Return the columns to count by: those asked for first, then all that hold categories."""
    rows, taken = subject.rows, subject.rows.decide_codes()
    columns = {**rows.groups, **{k: v for k, v in category_columns(subject.X).items()
                                 if k not in rows.groups}}  # fmt: skip
    return [
        {"name": name, "labels": coded[0], "opening": affected(rows, coded, taken)}
        for name, coded in columns.items()
    ]

"""All that was computed for a page -> the parts of its template and the data of its script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from costboost._version import __version__
from costboost.persistence.writing import write_atomically
from costboost.report import words as say
from costboost.report.card import Card, card_html
from costboost.report.figures import Figures
from costboost.report.groups import affected, category_columns, class_curves
from costboost.report.rounding import pack_rows
from costboost.report.rows import PageRows
from costboost.report.subject import Subject
from costboost.report.words import (
    Words,
    bill_words,
    confusion_html,
    esc,
    headline,
    policies_html,
    price_words,
    whole_weights,
)

__all__ = ["Report", "fill_page", "to_json", "Contents", "template_parts"]


SCRIPTS = ("pricing.js", "charts.js", "controls.js", "page.js")


class Report:
    """A live report as one self-contained page of HTML.

    Attributes
    ----------
    html : str
        The page.
    title : str
    warnings : tuple of str
        What the page warns of.
    page_rows : PageRows
        The rows that the page holds, as exact as it holds them: with them, `costboost.metrics`
        gives every figure of the page, at any prices.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=5, random_state=0).fit(X[:300], y[:300])
    >>> report = model.report(X[300:], y[300:], costs={"fp": 10, "fn": 1}, title="Tumours")
    >>> report.title, len(report.page_rows.labels), report.html.startswith("<!doctype html>")
    ('Tumours', 269, True)
    """

    def __init__(
        self, html: str, title: str, warnings: tuple[str, ...], page_rows: PageRows
    ) -> None:
        self.html = html
        self.title = title
        self.warnings = warnings
        self.page_rows = page_rows

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, as a whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to; its folder must be there.
        overwrite : bool, default=False
            Replace a file that is there. Anything but a regular file never is.

        Returns
        -------
        Path

        Raises
        ------
        FileExistsError
            As `costboost.save` does.
        """
        target = Path(path)
        write_atomically(target, [self.html.encode("utf-8")], overwrite=overwrite)
        return target

    def __repr__(self) -> str:
        warned = f", {len(self.warnings)} warnings" if self.warnings else ""
        size = len(self.html.encode("utf-8")) / 1e6
        return f"Report({self.title!r}, {len(self.page_rows):,} rows, {size:.2f} MB{warned})"

    def _repr_html_(self) -> str:
        # A page inside a page: its style and script stay its own, and it may reach nothing else.
        return (
            f'<iframe srcdoc="{esc(self.html)}" sandbox="allow-scripts '
            f'allow-modals" title="{esc(self.title)}" '
            'style="width: 100%; height: 820px; border: 1px solid #ccc"></iframe>'
        )


def to_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever texts it holds.

    Examples
    --------
    >>> to_json({"a": "</script>&"})
    '{"a":"\\u003c/script\\u003e\\u0026"}'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _part(name: str) -> str:
    return (files("costboost.report") / name).read_text(encoding="utf-8")


def fill_page(parts: Mapping[str, str]) -> str:
    """Fill the template: every ``{{name}}`` once, and never inside what was filled in."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_part, SCRIPTS)) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    known = {
        **parts,
        "style": _part("page.css"),
        "script": script,
        "script_digest": digest,
        "version": esc(__version__),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: known[found[1]], _part("page.html"))


_MOST_SLIDERS = 6  # prices with a slider each; more stand as a matrix, over the whole page


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
        "warnings": say.warnings_html(made.warnings),
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
        "wide": " wide" if rows.prices.values.size > _MOST_SLIDERS else "",
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
        "order": [list(part) for part in made.words.order],
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

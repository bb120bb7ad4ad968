"""`make_report`: a fitted model and rows that it has not seen -> a live page."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._version import __version__
from costboost.report.card import card_html, make_card
from costboost.report.curves import class_curves
from costboost.report.drift import drift_warnings, forests_of
from costboost.report.explained import explained_html
from costboost.report.figures import Figures, compute_figures
from costboost.report.groups import affected, category_columns
from costboost.report.matters import what_matters
from costboost.report.packing import pack_rows
from costboost.report.page import Report, fill_page, to_json
from costboost.report.rounding import fit_budget, rounded_like
from costboost.report.rows import PageRows
from costboost.report.subject import Subject, read_subject
from costboost.report.tables import (
    Words,
    bill_words,
    confusion_html,
    headline,
    policies_html,
    price_words,
    rows_html,
    whole_weights,
)
from costboost.report.text import esc, label, number, percent
from costboost.report.warning import doubts

__all__ = ["make_report"]


def make_report(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    costs: Any = None,
    sample_weight: ArrayLike | None = None,
    current: Any = None,
    groups: Any = None,
    time: Any = None,
    rows: bool = False,
    currency: str = "",
    names: Mapping[Any, str] | None = None,
    notes: Mapping[str, str] | None = None,
    title: str | None = None,
    random_state: int = 0,
) -> Report:
    """Make a page on which prices can be moved, and everything that follows from them is seen.

    One file of HTML that needs no network: the bill with its interval, savings against doing
    nothing, everything and today's decisions, the confusion matrix in rows and in money, what a
    capacity costs, curves of the probabilities, who is affected, what matters, and a model card.
    At most two megabytes: beyond some 100,000 rows a random part of them is kept, and the page says
    so.

    Parameters
    ----------
    model : fitted classifier
        Of this package, or any with ``predict_proba``; searches and pipelines too.
    X : table of shape (n_samples, n_features)
        Rows that the model was not trained on.
    y : array-like of shape (n_samples,)
        True labels.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        The prices that the page opens with, as in ``predict``; None: the model's own. A price per
        row (or by column) becomes a multiplier of it on the page.
    sample_weight : array-like of shape (n_samples,), default=None
    current : str or array-like of shape (n_samples,), default=None
        Today's decisions, or the column of X that holds them.
    groups : "all", str, list of str or dict, default=None
        Columns (or ``{name: values}``) by whose categories the page can count at any prices: it
        then keeps the category of each row. By default it keeps sums by category, at the opening
        prices, of all columns that hold categories.
    time : str or array-like of shape (n_samples,), default=None
        Periods that capacities hold for, or the column that holds them; moments become days.
    rows : bool, default=False
        Whether to explain ten rows, with their values. Without it no row of the table leaves it
        but for its probabilities, truth and prices.
    currency : str, default=""
        Its sign, such as "EUR" or "$".
    names : dict, default=None
        What classes and actions are called on the page, such as ``{0: "honest", 1: "fraud"}``.
    notes : dict of str to str, default=None
        What the model card should say and the model cannot know, such as how rows were held out.
    title : str, default=None
    random_state : int, default=0
        Draws the rows that columns are judged by, and those kept of very many.

    Returns
    -------
    Report
        With ``html``, and ``save(path)``.

    Examples
    --------
    >>> from costboost import CostBoostClassifier
    >>> from costboost.datasets import make_card_fraud
    >>> from costboost.report import make_report
    >>> data = make_card_fraud(3000)
    >>> model = CostBoostClassifier(n_estimators=20, random_state=0, costs=data.costs.mean())
    >>> model = model.fit(data.X[:2000], data.y[:2000])
    >>> report = make_report(model, data.X[2000:], data.y[2000:], currency="EUR")
    >>> report.html.startswith("<!doctype html>")
    True
    """
    subject = read_subject(model, X, y, costs, sample_weight, current, groups, time)
    kept = fit_budget(subject.rows, random_state)
    said = {label_: str(text) for label_, text in (names or {}).items()}
    words = Words(currency, _said(kept.classes, said), _said(kept.actions, said))
    figures = compute_figures(kept, names=dict(enumerate(words.actions)))
    found = [*doubts(kept, figures, dict(enumerate(words.classes)))]
    found += drift_warnings(forests_of(subject.model), subject.X)
    matters = what_matters(
        subject.model, subject.X, subject.rows.labels, subject.rows.costs(),
        subject.rows.weight, random_state,
    )  # fmt: skip
    shown = title or f"{type(subject.model).__name__}: what its decisions cost"
    card = make_card(subject.model, kept, len(subject.rows), words, notes)
    card["What this page holds"] = _held(subject, kept, rows, words)
    packed, heads = pack_rows(kept)
    data = _data(subject, kept, figures, words, matters, heads)
    explained = explained_html(subject.model, subject.X, subject.rows, words) if rows else ""
    html = fill_page(
        {
            "title": esc(shown),
            "subtitle": esc(_subtitle(subject, kept)),
            "doubts": _doubts_html(found),
            "rows_link": '<a href="#rows-section">Rows explained</a>' if rows else "",
            "prices": f"<p>{esc(price_words(kept, words)).replace(chr(10), '<br>')}</p>",
            "prices_words": esc(_prices_words(kept)),
            "no_curves": "" if data["curves"] else " hidden",
            "bill": esc(words.cash(figures.bill.total)),
            "bill_interval": esc(bill_words(figures, kept, words)),
            "headline": esc(headline(figures, kept, words)),
            "policies": policies_html(figures, words),
            "confusion": confusion_html(figures, kept, words, data["digits"]),
            "share_words": esc(_share_words(kept)),
            "curves_words": esc(_curves_words(kept)),
            "reliability": _reliability_html(data["curves"]),
            "brier_words": esc(_brier_words(data["curves"])),
            "cost_words": esc(_cost_words(kept)),
            "who": _who_html(data["who"]),
            "matters": _matters_html(matters),
            "explained": explained,
            "card": card_html(card),
            "footer": esc(f"Made with costboost {__version__}."),
            "page": to_json(data),
            "rows": packed,
        }
    )
    return Report(html, shown, tuple(found), kept)


def _said(labels: Any, names: Mapping[Any, str]) -> list[str]:
    return [names.get(value, label(value)) for value in labels.tolist()]


def _subtitle(subject: Subject, kept: PageRows) -> str:
    total = len(subject.rows)
    part = f"{number(total)} rows"
    if len(kept) < total:
        part = f"{number(len(kept))} rows, drawn at random from {number(total)}"
    day = datetime.now(UTC)
    return f"{type(subject.model).__name__}, judged on {part}. {day.day} {day:%B %Y}."


def _data(
    subject: Subject, rows: PageRows, figures: Figures, words: Words, matters: Any, heads: Any
) -> dict[str, Any]:
    """Return what the script of the page needs besides the rows."""
    weight = float(len(rows) if rows.weight is None else rows.weight.sum())
    return {
        "n": len(rows),
        "weight": weight,
        "digits": 0 if whole_weights(rows.weight) else 1,
        "currency": words.currency,
        "classes": words.classes,
        "actions": words.actions,
        "policies": [policy.name for policy in figures.policies],
        "positive": rows.positive,
        "square": bool(rows.bound.is_square),
        "limited": rows.limited,
        "values": rows.prices.values.ravel().tolist(),
        "columnOf": rows.prices.column_of.ravel().tolist(),
        "columns": [
            {"name": name, "low": float(c.min()), "high": float(c.max()), "mean": float(c.mean())}
            for name, c in zip(rows.prices.names, rows.prices.columns, strict=True)
        ],
        "added": None if rows.added is None else rows.added.tolist(),
        "period": subject.period,
        "periods": max(1, len(rows.period_names)),
        "arrays": heads,
        "curves": [] if rows.decided is not None else class_curves(rows),
        "groups": list(rows.groups),
        "who": _who(subject),
        "matters": matters,
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


# --- words


def _doubts_html(found: list[str]) -> str:
    if not found:
        return ""
    items = "".join(f"<li>{esc(text)}</li>" for text in found)
    return (
        '<aside class="doubts" aria-labelledby="doubts-title"><h2 id="doubts-title">Before you '
        f"rely on this</h2><ul>{items}</ul></aside>"
    )


def _prices_words(rows: PageRows) -> str:
    if rows.decided is not None:
        return "Move a price: the bill of the same decisions follows."
    return "Move a price: the model decides again, and the bill follows."


def _share_words(rows: PageRows) -> str:
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


def _curves_words(rows: PageRows) -> str:
    if rows.decided is not None:
        return "This model decides without probabilities, so there are no curves of them."
    return (
        "Decisions by expected cost are as good as the probabilities behind them. These pictures "
        "do not change with the prices, only the marks on them do."
    )


def _reliability_html(curves: list[dict[str, Any]]) -> str:
    if not curves:
        return ""
    lines = [
        [percent(said), percent(were), f"{percent(low)} to {percent(high)}", number(count)]
        for said, were, low, high, count in curves[0]["reliability"]["bins"]
    ]
    return rows_html(["said", "were", "95% interval", "rows"], lines)


def _brier_words(curves: list[dict[str, Any]]) -> str:
    if not curves:
        return ""
    return (
        "The loss when the price ratio itself is the threshold. Its area is the Brier score, "
        f"{curves[0]['brier']:.4g}."
    )


def _cost_words(rows: PageRows) -> str:
    said = (
        "Lower is better: the least cost that any one threshold reaches, whatever the prices, "
        "against deciding without looking (dashed)."
    )
    if rows.positive is None or not rows.prices.columns:
        return said
    return said + " Rows with prices of their own have thresholds of their own: that can be better."


def _who_html(who: list[dict[str, Any]]) -> str:
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


def _matters_html(matters: dict[str, Any] | None) -> str:
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


def _held(subject: Subject, rows: PageRows, explained: bool, words: Words) -> dict[str, str]:
    """Say what leaves the table with this page."""
    parts = ["its decision"] if rows.decided is not None else ["its probabilities"]
    parts.append("its true class")
    if rows.prices.columns:
        named = [name or "a price of its own" for name in rows.prices.names]
        parts.append(f"its prices ({', '.join(named)})")
    parts += [said for said, part in (
        ("its weight", rows.weight), ("today's decision", rows.current),
        ("the number of its period", rows.period)) if part is not None]  # fmt: skip
    if rows.groups:
        parts.append(f"its category of {', '.join(rows.groups)}")
    exact = "as exact as the model gives them"
    if rows.rounding != "exact":
        changed = int(
            np.sum(subject.rows.decide_codes() != rounded_like(subject.rows, rows).decide_codes())
        )
        exact = (
            f"rounded so that the page stays below two megabytes: {rows.rounding}. At the opening "
            f"prices that changes {number(changed)} of {number(len(subject.rows))} decisions"
        )
    besides = ". No other value of any row is in it."
    if explained:
        besides = ", and the explained rows with all their values."
    return {
        "Of every row": f"{', '.join(parts)}; {exact}. Rows stand in another order than in the "
        "table.",
        "Besides": f"sums over rows{besides}",
        "Figures": "come from these rows, by the same steps in Python (costboost.metrics) and on "
        "the page, and agree to the cent at any prices.",
    }

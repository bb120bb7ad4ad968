"""`make_report`: from a model and rows to a live page, its template filled with text and data."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike, NDArray

from costboost._version import __version__
from costboost.costs import as_costs
from costboost.decisions import Parity
from costboost.explain.decision import plain
from costboost.persistence.writing import write_atomically
from costboost.report import words as say
from costboost.report.card import Card, card_html, make_card
from costboost.report.explained import explained_html, what_matters
from costboost.report.questions import (
    Questions,
    questions_data,
    questions_html,
    questions_links,
    read_questions,
)
from costboost.report.ranges import OPENING, ranges_html, scenario_values, scenarios_html
from costboost.report.rounding import fit_budget, pack_rows
from costboost.report.rows import Figures, PageRows, compute_figures
from costboost.report.subject import Subject, affected, category_columns, class_curves, read_subject
from costboost.report.warning import drift_warnings, figure_warnings, forests_of
from costboost.report.words import (
    Words,
    bill_words,
    confusion_html,
    esc,
    headline,
    held,
    policies_html,
    price_words,
    whole_weights,
)
from costboost.typing import Floats

__all__ = ["Contents", "Report", "fill_page", "make_report", "template_parts", "to_json"]

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
    return (files("costboost.report") / "assets" / name).read_text(encoding="utf-8")


def fill_page(
    parts: Mapping[str, str], template: str | None = None, script: str | None = None
) -> str:
    """Fill a template: every ``{{name}}`` once, and never inside what was filled in.

    A page of another kind gives its own template, and the script that follows `charts.js`.
    """
    own = [_part(name) for name in SCRIPTS]
    if script is not None:
        own = [_part("charts.js"), script]
    script = '"use strict";\n(() => {\n' + "\n".join(own) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    known = {
        **parts,
        "style": _part("page.css"),
        "script": script,
        "script_digest": digest,
        "version": esc(__version__),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: known[found[1]], template or _part("page.html"))


_MOST_SLIDERS = 6  # prices with a slider each; more stand as a matrix, over the whole page


@dataclass(frozen=True)
class Contents:
    """Everything that a page shows.

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
    scenarios : dict of str to ndarray of shape (K, A)
        Positions of the sliders.
    questions : Questions
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
    scenarios: Mapping[str, Floats] = field(default_factory=dict)
    questions: Questions = field(default_factory=Questions)


def template_parts(made: Contents) -> dict[str, str]:
    """Return the HTML for each placeholder of `page.html`."""
    packed, heads = pack_rows(made.rows)
    data = _data(made, heads)
    link = '<a href="#rows-section">Rows explained</a>'
    ranges = ranges_html(made.rows, made.words)
    return {
        "title": esc(made.title),
        "subtitle": esc(say.subtitle(made.subject, made.rows)),
        "warnings": say.warnings_html(made.warnings),
        "rows_link": link if made.explained else "",
        "ranges": ranges,
        "scenarios": scenarios_html(made.rows, made.words, made.scenarios),
        "ranges_link": '<a href="#ranges-section">Other prices</a>' if ranges else "",
        "questions": questions_html(made.questions, made.subject, made.words),
        "questions_links": questions_links(made.questions),
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
    """Return the data that the script of the page needs besides the rows."""
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
        "scenarios": _scenarios(made),
        **questions_data(made.questions, made.subject, made.words),
    }


def _scenarios(made: Contents) -> list[dict[str, Any]]:
    """Return the menu of price lists, the opening one first; nothing where there is no other."""
    if not made.scenarios:
        return []
    lists = {OPENING: made.rows.prices.values, **made.scenarios}
    return [{"name": name, "values": values.ravel().tolist()} for name, values in lists.items()]


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


def make_report(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    costs: Any = None,
    scenarios: Mapping[str, Any] | None = None,
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
    promise: float | None = None,
    cap: float | None = None,
    parity: Parity | None = None,
    swap: Mapping[str, Any] | None = None,
) -> Report:
    """Make a page on which prices can be moved, and everything that follows from them is seen.

    One file of HTML that needs no network: the bill with its interval, savings against the
    cheapest constant policy, the other ones and today's decisions, the confusion matrix in
    rows and in money, what a capacity costs, curves of the probabilities, who is affected, what
    matters, and a model card.
    At most two megabytes: of more than 200,000 rows a random part is kept, and the page says so.

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
    scenarios : dict of str to Costs, default=None
        Other prices by name, to be chosen from a menu beside the sliders and shown side by side:
        each price the page's own times a number, or a number in place of a number.
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
    promise : float, default=None
        A confidence, such as 0.95: what the average bill of new rows is at most, as
        `costboost.guarantee.cost_bound` computes it. Needs rows without weights, drawn like those
        to come.
    cap : float, default=None
        With `promise`, the most that a row can cost; needed where prices differ by row.
    parity : Parity, default=None
        Which rates of which groups may differ: what the bill is, and who pays, as the permitted
        difference goes from that of the cheapest decisions to none. The page opens at its
        ``within``.
    swap : dict, default=None
        By name, what to compare with: another fitted model, decisions of any kind (or the column
        of X that holds them), or `Costs` that this model would decide by. Who is decided
        differently, what that is expected to save and did, by the columns of `groups` too; with
        `rows` the ten largest differences.

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
    asked = scenarios or {}
    classes, n_rows = subject.rows.classes, len(subject.rows)
    lists = {name: as_costs(value, classes, n_rows, X) for name, value in asked.items()}
    positions = scenario_values(subject.rows, lists)
    questions = read_questions(
        model, X, subject, promise=promise, cap=cap, parity=parity, swap=swap,
        n_largest=10 if rows else 0,
    )  # fmt: skip
    kept = fit_budget(subject.rows, random_state)
    words = Words(
        currency, _names_of(kept.classes, names), _names_of(kept.actions, names), kept.order
    )
    figures = compute_figures(kept, names=dict(enumerate(words.actions)))
    found = figure_warnings(kept, figures, dict(enumerate(words.classes)))
    card = make_card(subject.model, kept, len(subject.rows), words, notes)
    made = Contents(
        subject=subject,
        rows=kept,
        words=words,
        figures=figures,
        warnings=found + drift_warnings(forests_of(subject.model), subject.X),
        matters=what_matters(subject.model, subject.X, subject.rows, random_state),
        card={**card, "What this page holds": held(subject, kept, rows, words)},
        explained=explained_html(subject, words, questions.rows_shown) if rows else "",
        title=title or f"{type(subject.model).__name__}: what its decisions cost",
        scenarios=positions,
        questions=questions,
    )
    html = fill_page(template_parts(made))
    return Report(html, made.title, tuple(made.warnings), kept)


def _names_of(labels: NDArray[Any], names: Mapping[Any, str] | None) -> list[str]:
    known = names or {}
    return [str(known.get(value, plain(value))) for value in labels.tolist()]

"""`make_report`: a fitted model and rows that it has not seen -> a live page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike, NDArray

from costboost.explain.decision import plain
from costboost.report.card import make_card
from costboost.report.contents import Contents, Report, fill_page, template_parts
from costboost.report.explained import explained_html, what_matters
from costboost.report.figures import compute_figures
from costboost.report.rounding import fit_budget
from costboost.report.subject import read_subject
from costboost.report.warning import drift_warnings, figure_warnings, forests_of
from costboost.report.words import Words, held

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
        explained=explained_html(subject, words) if rows else "",
        title=title or f"{type(subject.model).__name__}: what its decisions cost",
    )
    html = fill_page(template_parts(made))
    return Report(html, made.title, tuple(made.warnings), kept)


def _names_of(labels: NDArray[Any], names: Mapping[Any, str] | None) -> list[str]:
    known = names or {}
    return [str(known.get(value, plain(value))) for value in labels.tolist()]

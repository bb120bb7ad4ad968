"""`model.report`: a method of every classifier that decides by costs.

A report needs measures, pictures and files, stations that come after the estimators; so
`costboost.report` hands its maker up when it is imported, which `costboost` itself does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ReportMixin", "offer_reports"]

_MAKERS: list[Callable[..., Any]] = []


def offer_reports(maker: Callable[..., Any]) -> None:
    """Take the function that makes reports."""
    _MAKERS[:] = [maker]


class ReportMixin:
    """Offers the live report."""

    def report(self, X: Any, y: Any, costs: Any = None, **how: Any) -> Any:
        """Make a live report: a page of HTML on which prices are moved and the bill follows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            True labels.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            The prices that the page opens with; None: those of ``fit``.
        **how
            Everything else that `costboost.report.make_report` takes: ``sample_weight``,
            ``current``, ``groups``, ``time``, ``rows``, ``currency``, ``names``, ``notes``,
            ``title``, ``random_state``.

        Returns
        -------
        Report
            With ``html``, and ``save(path)``.
        """
        return _MAKERS[0](self, X, y, costs=costs, **how)

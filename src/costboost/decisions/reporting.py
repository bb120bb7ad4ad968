"""`model.report`: a method of every classifier that decides by costs.

A report needs measures, pictures and files, stations that come after the estimators: the package
hands out its maker by name when it is first asked for, and nothing is imported before.
"""

from __future__ import annotations

from typing import Any

import costboost

__all__ = ["ReportMixin"]


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
        return costboost.make_report(self, X, y, costs=costs, **how)

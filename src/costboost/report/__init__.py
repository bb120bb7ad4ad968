"""A live report: one page of HTML on which prices are moved and the bill follows.

Python computes, and its figures stand in the page; JavaScript (`pricing.js`) only decides and pays
again when a price moves. Estimators offer it as `model.report(X, y, costs=...)`.
"""

from costboost.report.page import Report, make_report
from costboost.report.rows import PageRows

__all__ = ["make_report", "Report", "PageRows"]

"""Classifiers hand a report to whoever makes it, with all that was asked."""

import numpy as np

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.decisions.mixin import ReportMixin


def test_what_is_asked_of_a_report_reaches_its_maker(monkeypatch):
    monkeypatch.setattr(costboost, "make_report", lambda *args, **how: (args, how), raising=False)
    model = ReportMixin()
    args, how = model.report("X", "y", {"fp": 1, "fn": 2}, title="Cards", rows=3)
    assert args == (model, "X", "y")
    assert how == {"costs": {"fp": 1, "fn": 2}, "title": "Cards", "rows": 3}


def test_a_report_of_a_model_is_that_of_the_function():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    model = CostBoostClassifier("adamec", 3, cv=2, random_state=0).fit(X, y)
    asked = {"costs": Costs(fp=1, fn=5), "title": "Two columns", "random_state": 0}
    page = model.report(X, y, **asked).html
    assert page == costboost.make_report(model, X, y, **asked).html
    assert "Two columns" in page

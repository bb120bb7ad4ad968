"""The first example of the README runs as typed, and what is said beside it holds."""

import re
from pathlib import Path

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud

README = Path(__file__).parents[1] / "README.md"


def test_the_first_example_runs_as_typed():
    code = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL).group(1)
    names = {}
    exec(code, names)
    model, X_new = names["model"], names["X_new"]
    costs = names["costs"][3000:]
    y_new = names["payments"].y[3000:]
    nothing_done = costs.total(y_new, np.zeros(3000, dtype=int))
    assert costs.total(y_new, model.predict(X_new, costs=costs)) < nothing_done
    assert model.expected_cost(X_new, costs=costs).shape == (3000, 2)


# Some fifteen frauds are too few to beat a constant.
@pytest.mark.filterwarnings("ignore:Training found no round")
def test_costs_change_decisions_of_the_default_and_no_probability():
    data = make_card_fraud(1500)
    model = CostBoostClassifier(n_estimators=30, cv=2, random_state=0)
    plain, decided = [], []
    for costs in (None, Costs(fp=1, fn=50), Costs(fp=8, tp=8, fn=data.amount)):
        model.fit(data.X, data.y, costs=costs)
        plain.append(model.predict_proba(data.X))
        decided.append(model.predict(data.X, costs=model.costs_).sum())
    np.testing.assert_array_equal(plain[0], plain[1])
    np.testing.assert_array_equal(plain[0], plain[2])
    assert decided[0] < decided[1]


def test_the_bill_of_the_readme_is_that_of_its_page():
    """The page is run by `test_docs`, so what is quoted from it holds."""
    page = (README.parent / "docs" / "command-line.md").read_text()
    start = README.read_text().split("## Without Python")[1].split("## What")[0]
    quoted = [line.strip() for line in start.splitlines() if line.startswith(" " * 6)]
    assert len([line for line in quoted if " to " in line or "exact" in line]) == 5
    shown = {line.strip() for line in page.splitlines()}
    assert all(line in shown for line in quoted if not line.startswith("--"))


def test_it_is_short_and_its_links_lead_somewhere():
    text = README.read_text()
    assert len(text.splitlines()) <= 120
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert [link for link in links if not (README.parent / link).exists()] == []
    assert len(links) > 20

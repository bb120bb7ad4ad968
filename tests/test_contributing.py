"""What CONTRIBUTING.md shows works as it stands: a new rule, a new loss."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad

import costboost
from costboost import CostBoostClassifier, GradientBoostClassifier
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES

PAGE = Path(costboost.__file__).parents[2] / "CONTRIBUTING.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the package is installed without pages")


def run(heading):
    """Run the code under a heading; return its names."""
    part = PAGE.read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
    names = {"__name__": "contributed"}
    exec(re.findall(r"```python\n(.*?)```", part, flags=re.S)[0], names)
    return names


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400) > 0.5).astype(int)


def test_a_new_rule(table, monkeypatch):
    monkeypatch.setitem(RULES, "adac2-root", None)
    run("## Add a boosting rule")
    X, y = table
    costs = {"fp": 1, "fn": 9}
    root = CostBoostClassifier("adac2-root", 5, calibration=None).fit(X, y, costs=costs)
    plain = CostBoostClassifier("adac2", 5, calibration=None).fit(X, y, costs={"fp": 1, "fn": 3})
    np.testing.assert_allclose(root.decision_function(X), plain.decision_function(X))


def test_a_new_loss(table, monkeypatch):
    monkeypatch.setitem(CLASSIFICATION_LOSSES, "focal", None)
    loss = run("## Add a loss")["FocalLoss"]()
    X, y = table
    for raw in np.linspace(-4, 4, 9):
        for label in (0, 1):
            given = np.array([label])
            error = check_grad(
                lambda f, given=given: loss.value(given, f)[0],
                lambda f, given=given: loss.gradient(given, f),
                [raw],
            )
            assert error < 1e-6
    model = GradientBoostClassifier("focal", 30, random_state=0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.85
    # Asked where the rows are, or for all rows at once: the same numbers.
    own = GradientBoostClassifier(loss.__class__(), 30, random_state=0).fit(X, y)
    np.testing.assert_allclose(own.decision_function(X), model.decision_function(X), rtol=1e-9)
    weights = np.random.default_rng(1).integers(1, 3, len(y))
    again = [
        GradientBoostClassifier("focal", 5, n_jobs=n, random_state=0)
        .fit(X, y, sample_weight=weights)
        .decision_function(X)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*again)

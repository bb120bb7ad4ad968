"""Rows, a model and scores to draw, and no figure left open."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import Costs, MinimumCostClassifier


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def rows():
    X, y = make_classification(200, 6, weights=[0.7], flip_y=0.1, random_state=0)
    rng = np.random.default_rng(1)
    return X, np.where(y == 1, "bad", "good"), rng.uniform(1, 100, 200), rng.uniform(0, 2, 200)


@pytest.fixture(scope="session")
def model(rows):
    X, y, _, _ = rows
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    return y, np.round(np.clip(0.3 * y + rng.uniform(0, 0.7, 60), 0, 1), 2)


@pytest.fixture(scope="session")
def rare():
    """One positive in a hundred, with an amount each."""
    rng = np.random.default_rng(0)
    n = 8000
    p = 1 / (1 + np.exp(-(rng.normal(size=n) * 2.5 - 7)))
    y = (rng.uniform(size=n) < p).astype(int)
    assert 0.005 < y.mean() < 0.02
    return y, p, rng.lognormal(4, 1, n)


@pytest.fixture(scope="session")
def lending():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 3))
    y = np.where(X[:, 0] + rng.normal(size=800) > 1, "default", "paid")
    amount = rng.lognormal(4, 1, 800)
    matrix = np.zeros((800, 2, 3))
    matrix[:, 0] = np.column_stack([amount, np.full(800, 9.0), np.zeros(800)])
    matrix[:, 1] = np.column_stack([np.zeros(800), np.full(800, 9.0), 0.2 * amount])
    costs = Costs.from_matrix(
        matrix, classes=["default", "paid"], actions=["approve", "review", "decline"]
    )
    return MinimumCostClassifier(LogisticRegression(), cv=2).fit(X, y), X, y, costs

"""Pictures without a window, and a small set of three classes in place of large ones."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from costboost.datasets._bunch import make_dataset
from costboost.papers import lozano_abe_work

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close what a test has drawn."""
    yield
    plt.close("all")


@pytest.fixture
def iris(monkeypatch):
    """Let Lozano and Abe's commands load 125 rows of iris, and boost for three rounds."""
    X, y = load_iris(return_X_y=True)
    X, y = X[:125], np.array(["a", "b", "c"])[y[:125]]  # 50, 50, 25
    columns = {f"x{j}": X[:, j] for j in range(4)}
    data = make_dataset("iris", columns, y, "numpy", positive=None, costs=None)
    monkeypatch.setattr(lozano_abe_work, "load_set", lambda name, folder: data)
    monkeypatch.setattr(lozano_abe_work, "ROUNDS", 3)

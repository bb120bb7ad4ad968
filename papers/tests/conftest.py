"""Pictures without a window, and a small set of three classes in place of large ones."""

import os
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris

from costboost.datasets._dataset import make_dataset
from papers import lozano_abe

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_open_figures():
    """Close what a test has drawn."""
    yield
    plt.close("all")


@pytest.fixture
def data_folder():
    """Return the folder of the papers' data sets; without it, skip the test."""
    usual = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("COSTBOOST_DATA", usual))
    if not folder.is_dir():
        pytest.skip(f"the data sets are not there: {folder} (set COSTBOOST_DATA)")
    return folder


@pytest.fixture
def iris(monkeypatch):
    """Let Lozano and Abe's commands load 125 rows of iris, and boost for three rounds."""
    X, y = load_iris(return_X_y=True)
    X, y = X[:125], np.array(["a", "b", "c"])[y[:125]]  # 50, 50, 25
    columns = {f"x{j}": X[:, j] for j in range(4)}
    data = make_dataset("iris", columns, y, "numpy", positive=None, costs=None)
    monkeypatch.setattr(lozano_abe, "load_set", lambda name, folder: data)
    monkeypatch.setattr(lozano_abe, "ROUNDS", 3)

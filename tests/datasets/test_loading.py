"""Where sets come from, and what is said when they do not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.datasets import _openml, load


def test_folder_variable_and_frames(small_folder, monkeypatch):
    given = load("haberman", folder=small_folder)
    assert given.n_train is None
    monkeypatch.setenv("COSTBOOST_DATA", str(small_folder))
    for kind, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("numpy", np.ndarray)):
        data = load("haberman", as_frame=kind)
        assert isinstance(data.X, cls)
        assert data.X.shape == (306, 3)
        np.testing.assert_array_equal(data.to_numpy()[0], given.to_numpy()[0])
    assert isinstance(load("haberman").X, pd.DataFrame)
    assert "Dataset('haberman': 306 rows" in repr(given)


def test_errors_say_what_to_do(small_folder, monkeypatch):
    with pytest.raises(ValueError, match="did you mean pima"):
        load("pyma")
    with pytest.raises(FileNotFoundError, match="COSTBOOST_DATA"):
        load("pima", folder=small_folder)
    with pytest.raises(ValueError, match=r"cost_model='amount'.*allowed: 'none'"):
        load("haberman", folder=small_folder, cost_model="amount")
    with pytest.raises(ValueError, match="as_frame='arrow'"):
        load("haberman", folder=small_folder, as_frame="arrow")
    with pytest.raises(ValueError, match="not on OpenML"):
        load("nik_wdbc")

    def no_network(**_):
        raise OSError("unreachable")

    monkeypatch.setattr(_openml, "fetch_openml", no_network)
    with pytest.raises(OSError, match=r"could not be fetched.*unreachable.*COSTBOOST_DATA"):
        load("haberman")

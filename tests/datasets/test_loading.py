"""Where sets come from, and what is said when they do not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.datasets import _loading, load
from costboost.datasets import _loading as _sources
from costboost.datasets._spec import Priced, Spec


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

    monkeypatch.setattr(_sources, "fetch_openml", no_network)
    with pytest.raises(OSError, match=r"could not be fetched.*unreachable.*COSTBOOST_DATA"):
        load("haberman")


def test_a_set_keeps_only_the_rows_that_belong_to_it_and_no_outcomes(tmp_path, monkeypatch):
    spec = Spec(
        classes={0: 2, 1: 1},
        n_features=3,
        description="made up",
        source="nowhere",
        positive=1,
        above=("balance", 0.0),
        not_features=("after",),
        n_train=2,
        pricing={"balance": lambda columns, y, positive: Priced(None, columns["balance"])},
    )
    monkeypatch.setitem(_loading.CATALOG, "made_up", spec)
    monkeypatch.setitem(_loading.DIGESTS, "made_up", "0" * 64)
    lines = ["balance,after,kind,target", "5,1,u,0", "0,2,u,1", "-1,3,v,0", "7,4,,1", "1,5,v,0"]
    (tmp_path / "made_up.csv").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"SHA-256 [0-9a-f]{16}\.\.\., not 0{16}\.\.\."):
        load("made_up", folder=tmp_path)
    data = load("made_up", folder=tmp_path, verify=False, as_frame="numpy")
    assert data.X.tolist() == [[5, "u"], [7, None], [1, "v"]]
    assert data.y.tolist() == [0, 1, 0]
    assert data.amount.tolist() == [5, 7, 1]
    assert (data.n_train, data.source, data.positive) == (2, "nowhere", 1)
    bare = load("made_up", folder=tmp_path, verify=False, cost_model="none", as_frame="numpy")
    assert bare.amount is None


def test_an_empty_variable_is_no_folder(monkeypatch, small_folder):
    asked = []

    def fetch(name, spec, variable):
        asked.append((name, variable))
        raise OSError

    monkeypatch.setattr(_loading, "fetch", fetch)
    monkeypatch.setenv("COSTBOOST_DATA", "")
    with pytest.raises(OSError):
        load("haberman")
    assert asked == [("haberman", "COSTBOOST_DATA")]
    monkeypatch.setenv("COSTBOOST_DATA", str(small_folder / "not there"))
    assert len(load("haberman", folder=small_folder).y) == 306  # the folder given prevails

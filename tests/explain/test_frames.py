"""Data frames for results, with what is installed."""

import sys

import pandas as pd
import polars as pl
import pytest

from costboost.explain.contributions import make_frame

COLUMNS = {"a": [1, 2], "b": ["x", None]}


def test_pandas_comes_first_and_polars_stands_in(monkeypatch):
    pd.testing.assert_frame_equal(make_frame(COLUMNS), pd.DataFrame(COLUMNS))
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert make_frame(COLUMNS).equals(pl.DataFrame(COLUMNS))


def test_without_either_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install 'costboost\[pandas"):
        make_frame(COLUMNS)


def test_a_column_that_cannot_be_is_not_taken_for_a_missing_library():
    with pytest.raises(ValueError, match="same length"):
        make_frame({"a": [1, 2], "b": [1]})

"""Columns that know the answer are found, whichever way round; those that do not are left alone."""

import numpy as np
import polars as pl
import pytest

from costboost.cli.bill import leaking_columns
from costboost.cli.recipe import TableRows
from costboost.costs import Costs

N = 500
RNG = np.random.default_rng(0)
Y = (RNG.uniform(size=N) < 0.1).astype(int)
NOISE = RNG.normal(size=N)


@pytest.mark.parametrize(
    ("column", "tells"),
    [
        (Y + 0.1 * NOISE, True),
        (-5.0 * Y + 0.1 * NOISE, True),
        (Y == 1, True),
        (np.where(Y == 1, NOISE, np.nan), True),  # known of the positive rows only
        (np.where(Y == 1, np.nan, NOISE), True),
        (NOISE, False),
        (Y + NOISE, False),
        (np.zeros(N), False),
        (np.full(N, np.nan), False),
    ],
)
def test_what_a_column_tells(column, tells):
    X = pl.DataFrame({"x": column, "text": ["a"] * N})
    costs = Costs(fp=1, fn=2).bind([0, 1])
    rows = TableRows(frame=X, X=X, costs=costs, positive=1, y=Y)
    assert leaking_columns(rows) == (["x"] if tells else [])


def test_without_a_positive_class_nothing_is_said():
    X = pl.DataFrame({"x": Y})
    rows = TableRows(frame=X, X=X, costs=Costs(fp=1, fn=2).bind([0, 1]), positive=None, y=Y)
    assert leaking_columns(rows) == []

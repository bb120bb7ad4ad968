"""Copies of rows in tables whose rows are elsewhere: the sets of the same rows in one place."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from costboost.fitting.spread import PartsTable
from costboost.fitting.tables import read_copies
from spread_tables import InProcess, Rows, spread


def frame_with_copies(n=60, seed=0):
    """Numbers with holes and two zeros, names with holes; some rows twice, far apart."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    frame.loc[::5, "a"] = np.nan
    frame.loc[1::5, "a"] = 0.0
    frame["kind"] = rng.choice(["ash", "elm", "oak"], n)
    frame["kind"] = frame["kind"].where(rng.random(n) > 0.2, None)
    again = frame.iloc[rng.permutation(n)[: n // 2]].copy()
    again.loc[again["a"] == 0.0, "a"] = -0.0
    return pd.concat([frame, again], ignore_index=True)


def quietly(function, *given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*given)


@pytest.mark.parametrize("cuts", [(), (30,), (1, 2, 61), (0, 45, 45, 90)])
@pytest.mark.parametrize("kind", ["words", "categories"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sets_do_not_depend_on_where_rows_are(cuts, kind, weighted):
    frame = frame_with_copies()
    y, weights = np.arange(len(frame)) % 2, None
    if kind == "categories":
        frame["kind"] = frame["kind"].astype("category")
    if weighted:
        weights = (np.arange(len(frame)) % 7 > 0).astype(float)
    expected = quietly(read_copies, frame, weights)
    assert len(np.unique(expected)) < len(frame)
    found = quietly(spread(frame, y, weights, cuts).copies, weights)
    assert_array_equal(found, expected)


def test_a_category_is_its_name_whatever_its_number_is():
    frame = frame_with_copies()
    expected = quietly(read_copies, frame)
    # Every part numbers the categories that it has, in another order.
    parts = []
    for rows, order in ((frame[:60], "oak elm ash"), (frame[60:], "ash oak elm yew")):
        kind = pd.Categorical(rows["kind"], order.split())
        parts.append(Rows(rows.assign(kind=kind), np.zeros(len(rows))))
    table = PartsTable(InProcess(parts), frame.columns)
    assert_array_equal(quietly(table.copies, None), expected)


def test_different_rows_have_no_sets():
    frame = frame_with_copies()[:60]
    assert spread(frame, np.zeros(60), None, (20,)).copies(None) is None


def test_equal_rows_that_chance_explains_are_no_copies_here_either():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (200, 3)), columns=list("abc"))
    assert spread(frame, np.zeros(200), None, (77,)).copies(None) is None


def test_many_copies_are_told_of():
    frame = frame_with_copies()
    with pytest.warns(UserWarning, match="33% of the rows are copies of other rows"):
        spread(frame, np.zeros(len(frame)), None, (11,)).copies(None)

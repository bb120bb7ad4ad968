"""The shift of one column undone: numbers by rank, categories by exchange."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost.monitoring.drift import add_period, describe_move, undo_shift


def test_a_shifted_number_gets_the_values_of_its_rank():
    rng = np.random.default_rng(0)
    before = rng.normal(size=(4000, 2))
    reference = None
    for part in np.split(before, 4):
        reference = add_period(reference, part, 1)
    now = rng.normal(size=(1000, 2))
    now[:, 1] = 10 * now[:, 1] + 3
    now[::10, 1] = np.nan
    made = undo_shift(now, 1, reference, rng)
    np.testing.assert_array_equal(made[:, 0], now[:, 0])
    np.testing.assert_array_equal(np.isnan(made[:, 1]), np.isnan(now[:, 1]))
    known = ~np.isnan(now[:, 1])
    order = np.argsort(now[known, 1])
    assert (np.diff(made[known, 1][order]) >= 0).all()  # ranks stay
    assert np.nanmean(made[:, 1]) == pytest.approx(before[:, 1].mean(), abs=0.05)
    assert np.nanstd(made[:, 1]) == pytest.approx(before[:, 1].std(), abs=0.05)
    move = describe_move(now, 1, reference)
    assert move["missing"] == 0.1
    assert move["mean_before"] == pytest.approx(before[:, 1].mean(), abs=0.02)


@pytest.mark.parametrize("library", [pd, pl])
def test_categories_are_exchanged_and_frames_stay_frames(library):
    before = library.DataFrame({"a": [1.0] * 100, "kind": ["x"] * 80 + ["y"] * 20})
    now = library.DataFrame({"a": [1.0] * 50, "kind": ["x"] * 10 + ["z"] * 30 + ["y"] * 10})
    reference = add_period(None, before, 1)
    made = undo_shift(now, 1, reference, np.random.default_rng(0))
    assert isinstance(made, library.DataFrame)
    kinds = np.asarray(made["kind"])
    assert [int(np.sum(kinds == k)) for k in "xyz"] == [40, 10, 0]
    assert (kinds[:10] == "x").all()  # who had it keeps it
    assert describe_move(now, 1, reference)["moved"] == pytest.approx(0.6)
    assert np.asarray(now["kind"])[0] == "x"


def test_what_did_not_move_is_left_alone():
    table = np.ones((10, 1))
    reference = add_period(None, table, 0)
    assert undo_shift(table, 0, reference, np.random.default_rng(0)) is None
    assert add_period(None, np.full((3, 1), np.nan), 0) is None

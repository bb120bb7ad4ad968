"""Pictures of explanations: bars and points are the numbers that they stand for."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import GradientBoostClassifier
from costboost.plots import ContributionsDisplay
from costboost.plots._explanations import rank_values, spread_points
from pictures import mixed_table


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_points_lie_at_what_columns_add(kind):
    X, y = mixed_table()
    data = {
        "pandas": X,
        "polars": pl.from_pandas(X),
        "numpy": X[["c0", "c1", "c2"]].to_numpy(),
    }[kind]
    model = GradientBoostClassifier(n_estimators=5).fit(data, y)
    display = ContributionsDisplay.from_estimator(model, data, n_columns=2)
    values = model.contributions(data).values
    sizes = np.abs(values).mean(axis=0)
    assert sizes[display.order_].tolist() == sorted(sizes, reverse=True)[:2]
    j = list(display.order_).index(0)
    points = display.points_[j].get_offsets()
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(values[:, 0]))
    assert np.all(np.abs(points[:, 1] - (1 - j)) <= 0.41)
    display.figure_.canvas.draw()


def test_classes_are_chosen():
    X, y = mixed_table()
    model = GradientBoostClassifier(n_estimators=3).fit(X, y.astype(int) + (X["c2"] > 0).to_numpy())
    with pytest.raises(ValueError, match="choose one by output="):
        ContributionsDisplay.from_estimator(model, X)
    display = ContributionsDisplay.from_estimator(model, X, output=1)
    np.testing.assert_array_equal(
        display.contributions.values, model.contributions(X).values[:, :, 1]
    )


def test_ranks_are_of_numbers_only():
    X = pd.DataFrame({"a": [3.0, 1.0, np.nan], "b": ["x", "y", "z"], "c": [5, 5, 5]})
    np.testing.assert_array_equal(
        rank_values(X), [[1.0, np.nan, 0.0], [0.0, np.nan, 0.0], [np.nan, np.nan, 0.0]]
    )


def test_points_on_one_place_are_spread():
    heights = spread_points(np.zeros(9))
    assert len(np.unique(heights)) == 9
    assert np.abs(heights).max() <= 0.41
    assert spread_points(np.zeros(1)).tolist() == [0.0]


def test_title_stays_on_the_picture():
    X, y = mixed_table()
    X = X.rename(columns={"c0": "a name that takes half of the width of the picture"})
    model = GradientBoostClassifier(n_estimators=5).fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X)
    display.figure_.canvas.draw()
    title = display.ax_.get_window_extent().x0, display.ax_._left_title.get_window_extent().x1
    assert title[0] < title[1] <= display.figure_.bbox.x1

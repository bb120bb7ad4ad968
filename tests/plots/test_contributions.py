"""Pictures of explanations: bars and points are the numbers that they stand for."""

from itertools import pairwise

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, GradientBoostRegressor
from costboost.plots import ContributionsDisplay, DecisionDisplay
from costboost.plots._contributions import rank_values, spread_points


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def table(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.normal(size=n) for j in range(5)})
    X["$kind$"] = pd.Categorical(rng.choice(["u", "v", None], n))
    X.loc[::7, "c1"] = np.nan
    return X, (X["c0"] + X["c1"].fillna(0) + X["$kind$"].eq("u") > 0).to_numpy()


def test_a_waterfall_goes_from_base_to_total():
    X, y = table()
    model = CostBoostClassifier("adamec", 8, cv=3, random_state=0).fit(X, y)
    costs = Costs(fp=1, fn=5, positive=True)
    display = DecisionDisplay.from_estimator(model, X[3:4], costs=costs, n_columns=3)
    seen = display.explanation
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in display.bars_]
    assert ends[0][0] == pytest.approx(seen.base)
    assert ends[-1][1] == pytest.approx(seen.total)
    for (_, stop), (start, _) in pairwise(ends):
        assert stop == pytest.approx(start)
    assert len(ends) <= 4
    widths = [stop - start for start, stop in ends]
    assert widths[::-1][:3] == pytest.approx([part.added for part in seen.parts[:3]])
    assert "expected cost" in display.ax_.get_title(loc="left")
    display.figure_.canvas.draw()


def test_a_waterfall_of_a_regressor_and_of_nothing():
    X, _ = table()
    model = GradientBoostRegressor(n_estimators=3).fit(X, X["c0"])
    assert "predicts" in DecisionDisplay.from_estimator(model, X[:1]).ax_.get_title(loc="left")
    flat = pd.DataFrame({"x": np.ones(30)})
    with pytest.warns(UserWarning, match="took no step"):
        model = GradientBoostRegressor(n_estimators=3).fit(flat, np.arange(30.0))
    display = DecisionDisplay.from_estimator(model, flat[:1])
    assert len(display.bars_) == 0
    display.figure_.canvas.draw()


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_points_lie_at_what_columns_add(kind):
    X, y = table()
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
    X, y = table()
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

"""Cost by round as drawn: curves, bounds, held-out losses, several models."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from costboost import CostBoostClassifier, GradientBoostRegressor
from costboost.plots import TrainingCostDisplay
from pictures import curve_of, legend_texts


def test_training_cost_draws_what_it_is_given():
    display = TrainingCostDisplay(
        train_cost=[4, 2, 1], cost_bound=[9, 8, 7], validation_cost=[5, 3, 4], name="AdaCost"
    ).plot()
    np.testing.assert_array_equal(curve_of(display), ([1, 2, 3], [4, 2, 1]))
    np.testing.assert_array_equal(display.bound_.get_ydata(), [9, 8, 7])
    np.testing.assert_array_equal(display.validation_.get_ydata(), [5, 3, 4])
    np.testing.assert_array_equal(display.best_.get_data(), ([2], [3]))
    assert display.best_round == 2
    assert [text.split(":")[0] for text in legend_texts(display)] == ["AdaCost"] * 3
    lines = (display.line_, display.bound_, display.validation_)
    assert len({str(line._dash_pattern) for line in lines}) == 3
    alone = TrainingCostDisplay(train_cost=[3.0]).plot()
    assert alone.bound_ is alone.validation_ is alone.best_ is alone.best_round is None


def test_training_cost_of_a_fitted_model():
    class Boosted:
        train_cost_ = np.array([3.0, 2.0])
        cost_bound_ = None
        validation_cost_ = np.array([4.0, 5.0])

    display = TrainingCostDisplay.from_estimator(Boosted(), currency="EUR")
    np.testing.assert_array_equal(display.line_.get_ydata(), [3, 2])
    assert display.bound_ is None
    assert display.best_round == 1
    assert display.ax_.get_ylabel() == "Cost (EUR)"
    # A mean beside totals has its own axis, and all curves one legend.
    assert display.validation_ is display.validation_ax_.lines[0]
    assert display.validation_ax_ is not display.ax_
    assert display.validation_ax_.get_ylabel() == "Mean held-out cost (EUR)"
    assert len(legend_texts(display)) == 2
    second = TrainingCostDisplay.from_estimator(Boosted(), name="b", ax=display.ax_)
    assert second.validation_ax_ is display.validation_ax_
    assert len(legend_texts(second)) == 4
    with pytest.raises(ValueError, match="validation_axis='left'"):
        TrainingCostDisplay(train_cost=[1.0], validation_axis="left").plot()
    assert legend_texts(display)[0].startswith("Boosted")
    with pytest.raises(ValueError, match="GaussianNB has no train_cost_"):
        TrainingCostDisplay.from_estimator(GaussianNB())
    with pytest.raises(ValueError, match="train_cost must hold one cost per round"):
        TrainingCostDisplay(train_cost=[])
    with pytest.raises(ValueError, match="cost_bound holds nan"):
        TrainingCostDisplay(train_cost=[1.0], cost_bound=[np.nan])


def test_training_cost_draws_what_stops_training():
    X, y = make_classification(300, flip_y=0.2, random_state=0)
    model = CostBoostClassifier(n_estimators=40, cv=2, random_state=0).fit(X, y)
    display = TrainingCostDisplay.from_estimator(model)
    looks = model.validation_rounds_
    np.testing.assert_array_equal(display.validation_.get_xdata(), looks)
    np.testing.assert_array_equal(display.validation_.get_ydata(), model.validation_loss_)
    np.testing.assert_array_equal(display.line_.get_xdata(), looks[looks <= model.n_iter_])
    assert display.best_round == looks[np.argmin(model.validation_loss_)]
    assert display.validation_ax_.get_ylabel() == "Mean held-out log loss"
    assert any("held-out log loss, least" in text for text in legend_texts(display))
    regressor = GradientBoostRegressor(n_estimators=30, n_iter_no_change=3).fit(X, X[:, 0])
    display = TrainingCostDisplay.from_estimator(regressor)
    assert display.ax_.get_ylabel() == "Mean loss"
    np.testing.assert_array_equal(display.line_.get_ydata(), regressor.train_loss_)
    own = TrainingCostDisplay(
        train_cost=[3, 2],
        rounds=[10, 20],
        validation_cost=[5, 6, 4],
        validation_rounds=[10, 20, 30],
        kept=20,
        validation_name="my loss",
    ).plot()
    assert own.best_round == 30
    assert own.kept_.get_xdata()[0] == 20
    assert "20 rounds are kept" in legend_texts(own)
    with pytest.raises(ValueError, match="3 validation costs, but 2 rounds"):
        TrainingCostDisplay(
            train_cost=[1.0], validation_cost=[1, 2, 3], validation_rounds=[1, 2]
        ).plot()


def test_training_cost_of_several_models_is_their_mean_in_a_band():
    display = TrainingCostDisplay(
        train_cost=[np.array([4.0, 2.0, 1.0]), np.array([6.0, 4.0])],
        validation_cost=np.array([[4.0, 3.0], [6.0, 1.0]]),
    ).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), [5, 3, 2.5])  # the second stopped
    np.testing.assert_array_equal(display.validation_.get_ydata(), [5, 2])
    assert display.best_round == 2
    assert len(display.bands_) == 2
    assert "mean of 2 models" in legend_texts(display)[0]
    alone = TrainingCostDisplay(train_cost=[[4.0, 2.0]]).plot()
    assert alone.bands_ == []
    assert "mean of" not in legend_texts(alone)[0]


def test_bounds_far_above_the_cost_are_drawn_on_a_log_scale():
    far = TrainingCostDisplay(train_cost=[10, 1, 0], cost_bound=[900, 800, 700]).plot()
    assert far.ax_.get_yscale() == "log"
    assert TrainingCostDisplay(train_cost=[10, 5, 2]).plot().ax_.get_ylim()[0] == 0
    zoomed = TrainingCostDisplay(train_cost=[101.0, 100.5, 100.4]).plot()
    assert zoomed.ax_.get_ylim()[0] > 90

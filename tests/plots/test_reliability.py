"""Reliability diagrams, against scikit-learn and copies of rows."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.naive_bayes import GaussianNB

from costboost import Costs, MinimumCostClassifier, metrics
from costboost.plots import CostCurveDisplay, ReliabilityDisplay, SavingsCurveDisplay
from pictures import curve_of


def test_reliability_says_nothing_of_costs_that_it_does_not_use(rows):
    X, y = rows[:2]
    costs = Costs(fp=1, fn=np.linspace(1, 9, len(y)), positive="bad")
    fitted = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y, costs=costs)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = ReliabilityDisplay.from_estimator(fitted, X, y)
    by_hand = ReliabilityDisplay.from_predictions(y, fitted.predict_proba(X)[:, 0], pos_label="bad")
    assert display.brier == by_hand.brier
    with pytest.warns(UserWarning, match="drawn without costs"):
        SavingsCurveDisplay.from_estimator(fitted, X, y)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_reliability_agrees_with_scikit_learn(strategy):
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    display = ReliabilityDisplay.from_predictions(y, p, n_bins=7, strategy=strategy)
    observed, predicted = calibration_curve(y, p, n_bins=7, strategy=strategy)
    # Quantiles of 500 rows may cut one row further left than interpolated ones.
    tolerance = 1e-12 if strategy == "uniform" else 0.02
    np.testing.assert_allclose(curve_of(display)[0], predicted, atol=tolerance)
    np.testing.assert_allclose(curve_of(display)[1], observed, atol=tolerance)
    np.testing.assert_array_equal(display.weight, np.histogram(p, 7, (0, 1))[0])
    np.testing.assert_array_equal(display.histogram_.get_data().values, display.weight)
    assert display.brier == metrics.brier_score(y, p)
    bars = np.array([segment[:, 1] for segment in display.bars_.get_segments()])
    np.testing.assert_array_equal(bars, np.stack([display.lower, display.upper], axis=1))


def test_reliability_weights_are_copies_of_rows(scores):
    y, p = scores
    weight = np.arange(len(y)) % 4
    one = ReliabilityDisplay.from_predictions(y, p, sample_weight=weight, confidence=None)
    other = ReliabilityDisplay.from_predictions(
        np.repeat(y, weight), np.repeat(p, weight), confidence=None
    )
    for name in ("predicted", "observed", "weight", "brier"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name))
    assert one.bars_ is None


def test_bad_bins_are_refused(scores):
    with pytest.raises(ValueError, match="n_bins=0"):
        ReliabilityDisplay.from_predictions(*scores, n_bins=0)
    with pytest.raises(ValueError, match="strategy='kmeans'"):
        ReliabilityDisplay.from_predictions(*scores, strategy="kmeans")
    with pytest.raises(ValueError, match="needs fpr and fnr"):
        CostCurveDisplay(pc=np.array([0, 1]), loss=np.array([0, 0]), area=0.0).plot(lines=True)


def test_reliability_of_rare_positives_has_logarithmic_axes(rare):
    y, p, _ = rare
    display = ReliabilityDisplay.from_predictions(y, p)
    assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
    assert display.histogram_ax_.get_xlim() == display.ax_.get_xlim()
    assert display.weight.sum() == len(y)
    # Bins hold about as many positives each: the points spread over the axis.
    x = display.ax_.transAxes.inverted().transform(
        display.ax_.transData.transform(np.column_stack([display.predicted, display.predicted]))
    )[:, 0]
    assert np.ptp(x) > 0.7
    assert np.diff(x).max() < 0.4
    expected = [p[(p > a) & (p <= b)].sum() for a, b in zip(
        display.predicted[:-1], display.predicted[1:], strict=True)]  # fmt: skip
    assert min(expected) > 0
    again = ReliabilityDisplay.from_predictions(y, np.clip(p * 2, 0, 1), ax=display.ax_)
    assert again.ax_.get_xscale() == "log"
    common = ReliabilityDisplay.from_predictions(y[:50], np.linspace(0, 1, 50))
    assert common.ax_.get_xscale() == "linear"
    same = ReliabilityDisplay.from_predictions(y, p, strategy="uniform")
    assert len(same.predicted) <= 10

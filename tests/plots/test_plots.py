"""Pictures: what is drawn equals what the measures say; nothing is compared pixel by pixel."""

import builtins
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from costboost import CostBoostClassifier, GradientBoostRegressor, metrics, plots
from costboost.costs import Costs
from costboost.estimators.wrappers import MinimumCostClassifier
from costboost.plots import (
    BrierCurveDisplay,
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    ReliabilityDisplay,
    SavingsCurveDisplay,
    ThresholdCostDisplay,
    TrainingCostDisplay,
)
from costboost.plots.bins import weighted_quantiles, wilson_interval
from costboost.plots.style import COLORS, CURVE, amount, number, share, tick_texts

BINARY = [
    CostCurveDisplay,
    BrierCurveDisplay,
    ThresholdCostDisplay,
    SavingsCurveDisplay,
    ReliabilityDisplay,
]
ARRAYS = {
    CostCurveDisplay: ("pc", "loss", "operating_pc"),
    BrierCurveDisplay: ("c", "loss", "operating", "area"),
    ThresholdCostDisplay: ("thresholds", "cost", "cheapest", "chosen", "elkan", "cost_by_row"),
    SavingsCurveDisplay: ("share", "saved"),
    ReliabilityDisplay: ("predicted", "observed", "weight", "lower", "upper", "brier"),
}
DATA = Path(os.environ.get("COSTBOOST_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.fixture(autouse=True)
def _no_figure_is_left_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(200, 6, weights=[0.7], flip_y=0.1, random_state=0)
    rng = np.random.default_rng(1)
    return X, np.where(y == 1, "bad", "good"), rng.uniform(1, 100, 200), rng.uniform(0, 2, 200)


@pytest.fixture(scope="module")
def model(rows):
    X, y, _, _ = rows
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X[::2], y[::2])


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    return y, np.round(np.clip(0.3 * y + rng.uniform(0, 0.7, 60), 0, 1), 2)


def legend_texts(display):
    return [text.get_text() for text in display.legend_.get_texts()]


def curve_of(display):
    return np.asarray(display.line_.get_xdata()), np.asarray(display.line_.get_ydata())


def assert_same(one, other):
    for name in ARRAYS[type(one)]:
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None), name
        if first is not None:
            np.testing.assert_array_equal(first, second, err_msg=name)


# -- the numbers drawn are those of the measures -----------------------------------------------


def test_cost_curve_draws_the_envelope_and_its_operating_point(scores):
    y, p = scores
    weight = np.linspace(1, 2, len(y))
    display = CostCurveDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 5}, sample_weight=weight, lines=True
    )
    pc, loss = metrics.cost_curve(y, p, sample_weight=weight)
    np.testing.assert_array_equal(curve_of(display), (pc, loss))
    assert display.area == metrics.curve_area(pc, loss)
    positives, negatives = weight[y == 1].sum(), weight[y == 0].sum()
    assert display.operating_pc == pytest.approx(5 * positives / (5 * positives + negatives))
    (x,), (at,) = display.operating_.get_data()
    assert (x, at) == (display.operating_pc, np.interp(x, pc, loss))
    fpr, fnr, _ = metrics.cost_lines(y, p, sample_weight=weight)
    ends = np.array([path[:, 1] for path in display.lines_.get_segments()])
    np.testing.assert_array_equal(ends, np.stack([fpr, fnr], axis=1))
    np.testing.assert_array_equal(display.trivial_.get_data(), ([0, 0.5, 1], [0, 0.5, 0]))


def test_the_best_threshold_reaches_the_cost_curve(scores):
    y, p = scores
    costs = Costs(fp=np.linspace(1, 3, len(y)), fn=np.linspace(9, 4, len(y)), tp=0.5, tn=0.25)
    display = CostCurveDisplay.from_predictions(y, p, costs=Costs(fp=2, fn=7))
    least = metrics.cheapest_threshold(y, p, costs={"fp": 2, "fn": 7})[1]
    normalised = least / (2 * np.mean(y == 0) + 7 * np.mean(y == 1))
    assert display.operating_.get_ydata()[0] == pytest.approx(normalised)
    stakes = np.where(y == 1, np.linspace(9, 4, len(y)) - 0.5, np.linspace(1, 3, len(y)) - 0.25)
    by_row = CostCurveDisplay.from_predictions(y, p, costs=costs)
    assert by_row.operating_pc == pytest.approx(stakes[y == 1].sum() / stakes.sum())


@pytest.mark.parametrize("skew", [False, True])
def test_brier_curve_has_the_brier_score_as_area(scores, skew):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p, skew=skew)
    np.testing.assert_array_equal(curve_of(display), metrics.brier_curve(y, p, skew=skew))
    expected = np.mean(metrics.brier_score_by_class(y, p)) if skew else metrics.brier_score(y, p)
    assert display.area == pytest.approx(expected)
    assert f"{expected:.3g}" in legend_texts(display)[0]


def test_brier_curve_marks_constant_costs_and_shades_costs_per_row(scores):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 3})
    cost = metrics.mean_cost(y, (p > 0.25).astype(int), costs={"fp": 0.5, "fn": 1.5})
    np.testing.assert_allclose(display.operating_.get_data(), ([0.25], [cost]))
    fn = np.linspace(1, 9, len(y))
    band = BrierCurveDisplay.from_predictions(y, p, costs=Costs(fp=1, fn=fn))
    at = np.sort(1 / (1 + fn))
    assert band.operating == (at[len(y) // 4 - 1], at[3 * len(y) // 4 - 1])
    skewed = BrierCurveDisplay.from_predictions(y, p, costs=Costs(fp=1, fn=fn), skew=True)
    share_of = fn[y == 1].sum() / (fn[y == 1].sum() + np.sum(y == 0))
    np.testing.assert_allclose(skewed.operating, 1 - share_of)


def test_brier_trivial_lines_are_those_of_constant_answers(scores):
    y, p = scores
    display = BrierCurveDisplay.from_predictions(y, p)
    peak = metrics.brier_curve(y, np.full(len(y), np.mean(y)))
    np.testing.assert_allclose(max(display.trivial_.get_ydata()), peak[1].max())


@pytest.mark.parametrize("normalize", [True, False])
def test_threshold_curve_and_marks(scores, normalize):
    y, p = scores
    costs = {"fp": 1, "fn": 4}
    display = ThresholdCostDisplay.from_predictions(
        y, p, costs=costs, normalize=normalize, threshold=0.5
    )
    thresholds, cost = metrics.cost_by_threshold(y, p, costs=costs, normalize=normalize)
    x, drawn = curve_of(display)
    np.testing.assert_array_equal(x, [0, *thresholds[1:], 1])
    np.testing.assert_array_equal(drawn, [*cost, cost[-1]])
    measure = metrics.mean_cost if normalize else metrics.total_cost
    at_half = measure(y, (p > 0.5).astype(int), costs=costs)
    np.testing.assert_allclose(display.chosen_.get_data(), ([0.5], [at_half]))
    cheapest, _ = metrics.cheapest_threshold(y, p, costs=costs)
    np.testing.assert_allclose(display.cheapest_.get_data(), ([cheapest], [cost.min()]))
    np.testing.assert_allclose(display.price_.get_ydata(), [cost.min(), at_half])
    assert display.price_of(0.5) == pytest.approx(at_half - cost.min())
    assert display.elkan == 0.2
    np.testing.assert_array_equal(display.elkan_.get_xdata(), [0.2, 0.2])


def test_cost_at_any_threshold_follows_the_decision_rule(scores):
    y, p = scores
    display = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 4})
    at = np.concatenate([[-np.inf, np.inf, -1, 2], p, p + 1e-9])
    expected = [metrics.mean_cost(y, (p > t).astype(int), costs={"fp": 1, "fn": 4}) for t in at]
    np.testing.assert_allclose(display.cost_at(at), expected)
    assert display.price_of(at).min() >= 0
    with pytest.raises(ValueError, match="nan"):
        display.cost_at(np.nan)


def test_the_chosen_threshold_is_elkans_else_none(scores):
    y, p = scores
    assert ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 1, "fn": 4}).chosen == 0.2
    margins = ThresholdCostDisplay.from_predictions(y, 10 * p - 4, costs={"fp": 1, "fn": 4})
    assert margins.elkan is None
    assert margins.elkan_ is None
    assert margins.chosen is margins.chosen_ is margins.price_ is None
    assert margins.cheapest_ is not None
    assert "in hindsight" in legend_texts(margins)[0]
    told = ThresholdCostDisplay.from_predictions(y, p, probability=False)
    assert told.elkan is None
    always = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 5, "fn": 1, "tp": 3})
    assert always.elkan is None  # acting never pays
    assert always.chosen == np.inf
    assert always.chosen_.get_xdata()[0] == 1
    assert "no row positive" in legend_texts(always)[0]


def test_costs_per_row_are_drawn_as_a_line(scores):
    y, p = scores
    costs = Costs(fp=10, fn=np.linspace(1, 300, len(y)), tp=10)
    display = ThresholdCostDisplay.from_predictions(
        y, p, costs=costs, currency="EUR", normalize=False
    )
    decided = costs.bind([0, 1]).decide(np.stack([1 - p, p], axis=1))
    total = metrics.total_cost(y, decided, costs=costs)
    assert display.elkan is None
    np.testing.assert_allclose(display.by_row_.get_ydata(), [total, total])
    assert any(amount(total, "EUR") in text for text in legend_texts(display))
    answers = Costs.of_rows(np.stack([1.0 - y, 3.0 * y], axis=1)[:, ::-1])
    assert ThresholdCostDisplay.from_predictions(y, p, costs=answers).cost_by_row is None


@pytest.mark.parametrize("normalize", [True, False])
def test_savings_curve_and_its_peak(scores, normalize):
    y, p = scores
    costs = Costs(fp=10, fn=np.linspace(1, 300, len(y)), tp=10)
    display = SavingsCurveDisplay.from_predictions(
        y, p, costs=costs, normalize=normalize, currency="EUR"
    )
    x, saved = metrics.savings_curve(y, p, costs=costs, normalize=normalize)
    np.testing.assert_array_equal(curve_of(display), (x, saved))
    best = int(np.argmax(saved))
    np.testing.assert_array_equal(display.peak_.get_data(), ([x[best]], [saved[best]]))
    np.testing.assert_array_equal(display.random_.get_ydata(), [0, saved[-1]])
    text = share(saved[best]) if normalize else amount(saved[best], "EUR")
    assert text in legend_texts(display)[0]


def test_savings_ranked_by_what_is_expected_to_be_saved(scores):
    y, p = scores
    labels = np.where(y == 1, "fraud", "ok")
    fn = np.linspace(300, 1, len(y))
    costs = Costs(fp=10, fn=fn, tp=10, positive="fraud")
    display = SavingsCurveDisplay.from_predictions(labels, p, costs=costs, rank_by="saving")
    expected = metrics.savings_curve(labels, p * fn - 10, costs=costs)
    np.testing.assert_allclose(curve_of(display), expected)
    with pytest.raises(ValueError, match="rank_by='amount'"):
        SavingsCurveDisplay.from_predictions(labels, p, costs=costs, rank_by="amount")


def test_the_savings_axis_says_what_rows_were_ranked_by(scores):
    y, p = scores[:2]
    for rank_by, words in (("score", "highest scores first"), ("saving", "savings first")):
        display = SavingsCurveDisplay.from_predictions(y, p, rank_by=rank_by)
        assert display.ax_.get_xlabel().endswith(words)
    assert "score" not in display.ax_.get_xlabel()


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


def test_acting_that_never_pays_saves_nothing():
    display = SavingsCurveDisplay.from_predictions(
        [0, 0, 1], [0.9, 0.8, 0.1], costs={"fp": 9, "fn": 1}
    )
    assert (display.best_share, display.best_saved) == (0, 0)
    assert legend_texts(display)[0] == "saves nothing"


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


def test_wilson_interval_by_hand():
    # 8 of 10 at 95%: (0.4901, 0.9433), as printed in textbooks.
    low, high = wilson_interval(np.array([0.8]), np.array([10.0]), 0.95)
    np.testing.assert_allclose([low[0], high[0]], [0.4902, 0.9433], atol=1e-4)
    with pytest.raises(ValueError, match="confidence=95"):
        wilson_interval(np.array([0.8]), np.array([10.0]), 95)


def test_weighted_quantiles_are_those_of_copies():
    rng = np.random.default_rng(0)
    values, weight = rng.integers(0, 9, 30).astype(float), rng.integers(0, 4, 30)
    q = np.linspace(0.01, 0.99, 15)
    copies = np.quantile(np.repeat(values, weight), q, method="inverted_cdf")
    np.testing.assert_array_equal(weighted_quantiles(values, weight.astype(float), q), copies)


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


@pytest.mark.parametrize("test", ["wilcoxon-holm", "nemenyi"])
def test_critical_difference_draws_ranks_and_groups(test):
    rng = np.random.default_rng(1)
    table = rng.normal(loc=[0, 0, 2, 4, 4], size=(30, 5))
    frame = pd.DataFrame(table, columns=list("abcde"))
    display = CriticalDifferenceDisplay.from_scores(frame, test=test)
    result = metrics.critical_difference(table, test=test)
    ranks = result.average_ranks[list(result.order)]
    np.testing.assert_array_equal(display.marks_.get_xdata(), ranks)
    assert [text.get_text().split()[0] for text in display.texts_] == [
        "abcde"[i] for i in result.order
    ]
    assert len(display.bars_) == len(result.groups) > 0
    for bar, group in zip(display.bars_, result.groups, strict=True):
        low, high = bar.get_xdata()
        covered = {i for i in range(5) if low <= result.average_ranks[i] <= high}
        assert covered == set(group)
    if test == "nemenyi":
        np.testing.assert_allclose(np.ptp(display.difference_.get_xdata()), result.difference)
    else:
        assert display.difference_ is None
    again = CriticalDifferenceDisplay.from_result(result, names=list("abcde"))
    np.testing.assert_array_equal(again.marks_.get_xdata(), ranks)


def test_critical_difference_names():
    scores = np.arange(12.0).reshape(6, 2)
    display = CriticalDifferenceDisplay.from_scores(scores, test="nemenyi", alpha=0.01)
    assert display.texts_[0].get_text().startswith("method 1")
    with pytest.raises(ValueError, match="3 names for 2 methods"):
        CriticalDifferenceDisplay.from_scores(scores, names=list("abc"))


def test_a_critical_difference_beyond_the_scale_is_said_not_drawn():
    display = CriticalDifferenceDisplay.from_scores([[1, 2], [2, 1]], test="nemenyi")
    assert display.difference_ is None
    assert any("more than the scale" in text.get_text() for text in display.ax_.texts)


def overlaps(one, other):
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


@pytest.mark.parametrize("k", [2, 3, 9])
def test_names_in_critical_difference_neither_overlap_nor_leave_the_figure(k):
    rng = np.random.default_rng(0)
    names = [f"method {i} " + "with a long description " * (i % 3) for i in range(k)]
    display = CriticalDifferenceDisplay.from_scores(rng.random((8, k)), names=names)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.texts_]
    for i, box in enumerate(boxes):
        assert not any(overlaps(box, other) for other in boxes[:i])
        assert box.x0 >= 0
        assert box.x1 <= display.figure_.bbox.width


# -- from models -------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BINARY)
@pytest.mark.parametrize("per_row", [False, True])
def test_from_estimator_equals_from_predictions(cls, rows, model, per_row):
    X, y, money, weight = rows
    costs = Costs(fp=5, fn=money if per_row else 20, positive="bad")
    one = cls.from_estimator(model, X, y, costs=costs, sample_weight=weight)
    p = model.predict_proba(X)[:, 0]  # "bad" is the first class
    other = cls.from_predictions(y, p, costs=costs, sample_weight=weight)
    assert_same(one, other)
    np.testing.assert_array_equal(curve_of(one), curve_of(other))
    assert legend_texts(one)[0].startswith("LogisticRegression: ")
    assert not legend_texts(other)[0].startswith("LogisticRegression")


@pytest.mark.parametrize("cls", BINARY)
def test_the_positive_class(cls, rows, model):
    X, y, _, _ = rows
    proba = model.predict_proba(X)
    for guess in (
        lambda: cls.from_estimator(model, X, y),
        lambda: cls.from_predictions(y, proba[:, 1]),
    ):
        with pytest.raises(ValueError, match="do not tell which"):
            guess()
    last = cls.from_estimator(model, X, y, pos_label="good")
    assert_same(last, cls.from_predictions(y, proba[:, 1], pos_label="good"))
    usual = cls.from_predictions(y == "good", proba[:, 1])
    np.testing.assert_array_equal(curve_of(usual), curve_of(last))
    first = cls.from_estimator(model, X, y, pos_label="bad")
    assert_same(first, cls.from_predictions(y, proba[:, 0], pos_label="bad"))
    with_dict = cls.from_estimator(model, X, y, costs={"fp": 1, "fn": 4}, pos_label="bad")
    named = Costs(fp=1, fn=4, positive="bad")
    assert_same(with_dict, cls.from_predictions(y, proba[:, 0], costs=named))
    with pytest.raises(ValueError, match="pos_label='good'"):
        cls.from_predictions(y, proba[:, 0], costs=named, pos_label="good")
    with pytest.raises(ValueError, match="pos_label='ugly' is not one of"):
        cls.from_estimator(model, X, y, pos_label="ugly")


def test_margins_where_there_are_no_probabilities(rows):
    X, y, _, _ = rows
    svm = LinearSVC().fit(X, y)
    display = CostCurveDisplay.from_estimator(svm, X, y, pos_label="bad")
    assert_same(
        display, CostCurveDisplay.from_predictions(y, -svm.decision_function(X), pos_label="bad")
    )
    bad = {"pos_label": "bad"}
    assert not ThresholdCostDisplay.from_estimator(svm, X, y, **bad).probability
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        BrierCurveDisplay.from_estimator(svm, X, y, **bad)
    with pytest.raises(ValueError, match="response_method='predict'"):
        CostCurveDisplay.from_estimator(svm, X, y, response_method="predict", **bad)


def test_more_than_two_classes_are_refused(rows):
    X = rows[0]
    y = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="for two classes, but the model and y have 3"):
        CostCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    actions = ["home", "look", "operate"]
    triage = Costs.from_matrix([[0, 1, 6], [30, 2, 0]], classes=[False, True], actions=actions)
    with pytest.raises(ValueError, match="two classes that are also the decisions"):
        ThresholdCostDisplay.from_predictions(y > 0, X[:, 0], costs=triage)


def test_a_models_own_costs_are_used_and_mean_costs_are_announced(rows):
    X, y, money, _ = rows
    costs = Costs(fp=1, fn=9, positive="bad")
    model = MinimumCostClassifier(GaussianNB(), costs=costs, random_state=0).fit(X, y)
    one = ThresholdCostDisplay.from_estimator(model, X, y)
    assert_same(one, ThresholdCostDisplay.from_estimator(model, X, y, costs=costs))
    assert one.elkan == 0.1
    model.fit(X, y, costs=Costs(fp=1, fn=money, positive="bad"))
    with pytest.warns(UserWarning, match="their mean is used"):
        ThresholdCostDisplay.from_estimator(model, X, y)
    triage = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["bad", "good"], actions=["home", "look", "operate"]
    )
    model.fit(X, y, costs=triage)
    assert BrierCurveDisplay.from_estimator(model, X, y, pos_label="bad").operating is None


def test_searches_and_tuned_thresholds(rows):
    X, y = rows[0], rows[1] == "good"
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2).fit(X, y)
    assert legend_texts(CostCurveDisplay.from_estimator(search, X, y))[0].startswith("GaussianNB")
    tuned = TunedThresholdClassifierCV(GaussianNB(), cv=2, random_state=0).fit(X, y)
    assert ThresholdCostDisplay.from_estimator(tuned, X, y).chosen == tuned.best_threshold_
    assert ThresholdCostDisplay.from_estimator(tuned, X, y, threshold=0.3).chosen == 0.3


# -- looks -------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", BINARY)
def test_several_models_on_one_axis_are_told_apart(cls, scores):
    y, p = scores
    first = cls.from_predictions(y, p, name="one", costs={"fp": 1, "fn": 4})
    others = [
        cls.from_predictions(y, p**k, name=f"power {k}", costs={"fp": 1, "fn": 4}, ax=first.ax_)
        for k in (2, 3)
    ]
    drawn = [first, *others]
    assert {display.ax_ for display in drawn} == {first.ax_}
    assert {display.figure_ for display in drawn} == {first.figure_}
    assert [to_hex(display.line_.get_color()).upper() for display in drawn] == list(COLORS[:3])
    assert len({str(display.line_._dash_pattern) for display in drawn}) == 3
    texts = legend_texts(drawn[-1])
    assert [text.split(":")[0] for text in texts[:3]] == ["one", "power 2", "power 3"]
    assert len(texts) == len(set(texts))  # what belongs to the axes is explained once
    assert len(plt.get_fignums()) == 1


def test_several_training_curves_and_the_histograms_of_several_models(scores):
    y, p = scores
    one = TrainingCostDisplay(train_cost=[3, 2], cost_bound=[4, 3], name="a").plot()
    two = TrainingCostDisplay(train_cost=[3, 1], name="b").plot(ax=one.ax_)
    assert one.line_.get_color() == one.bound_.get_color() != two.line_.get_color()
    assert one.line_.get_marker() != two.line_.get_marker()
    first = ReliabilityDisplay.from_predictions(y, p)
    second = ReliabilityDisplay.from_predictions(y, p**2, ax=first.ax_)
    assert first.histogram_ax_ is second.histogram_ax_
    assert len(first.histogram_ax_.patches) == 2


@pytest.mark.parametrize("cls", BINARY)
def test_what_the_user_gives_prevails(cls, scores):
    y, p = scores
    _, ax = plt.subplots()
    display = cls.from_predictions(y, p, ax=ax, c="red", lw=5, label="mine")
    assert display.ax_ is ax
    assert to_hex(display.line_.get_color()) == "#ff0000"
    assert display.line_.get_linewidth() == 5
    assert legend_texts(display)[0] == "mine"
    again = display.plot(name="renamed")
    assert again is display
    assert display.ax_ is not ax
    assert legend_texts(display)[0].startswith("renamed")


@pytest.mark.parametrize("cls", BINARY)
@pytest.mark.parametrize("layout", ["ours", "none", "constrained", "grid"])
def test_legends_hide_nothing_and_stay_in_the_figure(cls, layout, scores):
    y, p = scores
    ax = None
    if layout == "grid":
        ax = plt.subplots(1, 2, figsize=(11, 5))[1][1]
    elif layout != "ours":
        ax = plt.subplots(layout=None if layout == "none" else layout)[1]
    for name in ("a model", "another_model_with_a_name_that_is_far_too_long_" * 3, "_third"):
        display = cls.from_predictions(y, p, name=name, costs={"fp": 1, "fn": 4}, ax=ax)
        ax = display.ax_
    display.figure_.canvas.draw()
    box, axes = display.legend_.get_window_extent(), ax.get_window_extent()
    assert box.y0 >= axes.y1 - 1
    assert box.y1 <= display.figure_.bbox.height + 1
    assert box.x1 <= display.figure_.bbox.width
    assert axes.height > 60
    assert "_third" in "".join(legend_texts(display))
    if cls is ReliabilityDisplay:
        label = display.histogram_ax_.xaxis.label.get_window_extent()
        assert label.y0 >= 0
        assert not overlaps(display.histogram_ax_.get_window_extent(), axes)


def test_money_is_written_out_on_the_axis(scores):
    y, p = scores
    costs = Costs(fp=1e5, fn=np.full(len(y), 4e5))
    for cls in (ThresholdCostDisplay, SavingsCurveDisplay):
        display = cls.from_predictions(y, p, costs=costs, normalize=False, currency="EUR")
        display.figure_.canvas.draw()
        ticks = [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert any(re.fullmatch(r"\d{1,3}(,\d{3})+", tick) for tick in ticks)
        assert display.ax_.yaxis.get_offset_text().get_text() == ""
        assert display.ax_.get_ylabel().endswith("(EUR)")


def test_a_dollar_is_no_formula(scores):
    y, p = scores
    display = SavingsCurveDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 9}, currency="$", name="costs $5 or $6"
    )
    display.figure_.canvas.draw()
    assert legend_texts(display)[0].startswith(r"costs \$5 or \$6: saves \$")
    assert display.ax_.get_ylabel() == r"Saved (\$)"


def test_numbers_as_text():
    assert [number(v) for v in (0, 0.5, 12.345, 1234.5, 0.00012345, 99.96)] == [
        "0",
        "0.5",
        "12.3",
        "1,234",
        "0.000123",
        "100.0",
    ]
    assert [amount(v, "EUR") for v in (0, 12.345, -1234.4)] == [
        "0.00 EUR",
        "12.35 EUR",
        "-1,234 EUR",
    ]
    assert [amount(v, "$") for v in (12.5, -3)] == ["$12.50", "-$3.00"]
    assert amount(0.25, None) == "0.25"
    assert tick_texts([-1.0, -0.0, 1.0]) == ["-1", "0", "1"]
    assert tick_texts([1e15, 2e15]) == ["1e+15", "2e+15"]
    assert tick_texts([1e-7, 2e-7]) == ["1e-07", "2e-07"]
    assert tick_texts([]) == []


def test_a_good_model_is_not_flat_at_the_bottom():
    y = np.repeat([0, 1], 100)
    p = np.where(y == 1, 0.9, 0.1) + np.linspace(-0.05, 0.05, 200)
    p[0], p[-1] = 0.93, 0.07
    for cls in (CostCurveDisplay, BrierCurveDisplay):
        display = cls.from_predictions(y, p)
        assert display.ax_.get_ylim()[1] < 2 * max(display.line_.get_ydata())


def test_extreme_costs_are_seen(rows, model):
    X, y, _, _ = rows
    costs = Costs(fp=1, fn=10_000, positive="bad")
    display = ThresholdCostDisplay.from_estimator(model, X, y, costs=costs)
    display.figure_.canvas.draw()
    assert display.ax_.get_xscale() == "logit"
    assert display.ax_.get_yscale() == "log"
    axes = display.ax_.get_window_extent()
    for mark in (display.chosen_, display.cheapest_):
        at = display.ax_.transData.transform(np.array(mark.get_data()).T)[0]
        assert axes.x0 <= at[0] <= axes.x1
        assert axes.y0 <= at[1] <= axes.y1
    linear = ThresholdCostDisplay.from_estimator(
        model, X, y, costs=costs, xscale="linear", yscale="linear"
    )
    assert (linear.ax_.get_xscale(), linear.ax_.get_yscale()) == ("linear", "linear")
    later = ThresholdCostDisplay.from_estimator(model, X, y, costs=costs, ax=linear.ax_)
    assert later.ax_.get_xlim()[0] == pytest.approx(display.ax_.get_xlim()[0])


def test_bounds_far_above_the_cost_are_drawn_on_a_log_scale():
    far = TrainingCostDisplay(train_cost=[10, 1, 0], cost_bound=[900, 800, 700]).plot()
    assert far.ax_.get_yscale() == "log"
    assert TrainingCostDisplay(train_cost=[10, 5, 2]).plot().ax_.get_ylim()[0] == 0
    zoomed = TrainingCostDisplay(train_cost=[101.0, 100.5, 100.4]).plot()
    assert zoomed.ax_.get_ylim()[0] > 90


@pytest.mark.parametrize("cls", BINARY)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 1], [0.5, 0.5]),
        ([0, 1, 1], [0.0, 0.0, 0.0]),
        ([0, 1, 0], [1.0, 1.0, 1.0]),
        ([1, 0], [0.0, 1.0]),
        ([0, 1], [0.0, 1.0]),
        ([0, 1], [1e-300, 1 - 1e-16]),
    ],
)
def test_tiny_constant_and_certain_scores_are_drawn(cls, y, p):
    for costs in (None, {"fp": 1e-12, "fn": 1e12}):
        cls.from_predictions(y, p, costs=costs).figure_.canvas.draw()


def test_curves_that_do_not_need_two_classes_are_drawn_for_one():
    for cls in (BrierCurveDisplay, ThresholdCostDisplay, SavingsCurveDisplay, ReliabilityDisplay):
        cls.from_predictions([0, 0, 0], [0.1, 0.2, 0.3]).figure_.canvas.draw()
    said = {"labels": ["no", "yes"], "costs": Costs(1, 1, positive="yes")}
    ThresholdCostDisplay.from_predictions(["yes"] * 2, [0.1, 0.2], **said)
    SavingsCurveDisplay.from_predictions(["yes"] * 2, [0.1, 0.2], **said)


def test_bad_bins_are_refused(scores):
    with pytest.raises(ValueError, match="n_bins=0"):
        ReliabilityDisplay.from_predictions(*scores, n_bins=0)
    with pytest.raises(ValueError, match="strategy='kmeans'"):
        ReliabilityDisplay.from_predictions(*scores, strategy="kmeans")
    with pytest.raises(ValueError, match="needs fpr and fnr"):
        CostCurveDisplay(pc=np.array([0, 1]), loss=np.array([0, 0]), area=0.0).plot(lines=True)


# -- matplotlib is optional --------------------------------------------------------------------


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, costboost.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, scores):
    real = builtins.__import__

    def no_matplotlib(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(f"No module named {name!r}")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_matplotlib)
    wanted = r"needs matplotlib, which is not installed: pip install costboost\[plot\]"
    for cls in BINARY:
        with pytest.raises(ImportError, match=f"{cls.__name__}.from_predictions {wanted}"):
            cls.from_predictions(*scores)
        with pytest.raises(ImportError, match=f"{cls.__name__}.from_estimator {wanted}"):
            cls.from_estimator(None, None, None)
    with pytest.raises(ImportError, match=wanted):
        TrainingCostDisplay(train_cost=[1.0]).plot()
    with pytest.raises(ImportError, match=wanted):
        CriticalDifferenceDisplay.from_scores([[1, 2], [1, 2]])


def test_every_public_picture_is_tested_here():
    names = ("Policy", "Capacity", "Coverage", "Decision", "Contributions")
    elsewhere = {getattr(plots, f"{name}Display") for name in names}
    tested = {*BINARY, TrainingCostDisplay, CriticalDifferenceDisplay, *elsewhere}
    assert {getattr(plots, name) for name in plots.__all__} == tested
    assert all(CURVE not in name for name in plots.__all__)


# -- real data ---------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the folder of data sets is absent")
def test_fraud_with_amounts_as_costs():
    table = pd.read_csv(DATA / "creditcard_fraud_sample.csv.gz")
    y = table.pop(table.columns[-1]).to_numpy()
    money = table["Amount"].to_numpy(dtype=float)
    costs = Costs(fp=10, fn=money, tp=10)
    train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(table[train], y[train])
    for cls in BINARY:
        given = {"currency": "EUR"} if cls in (ThresholdCostDisplay, SavingsCurveDisplay) else {}
        display = cls.from_estimator(model, table[test], y[test], costs=costs[test], **given)
        display.figure_.canvas.draw()
    by_score = SavingsCurveDisplay.from_estimator(model, table[test], y[test], costs=costs[test])
    by_saving = SavingsCurveDisplay.from_estimator(
        model, table[test], y[test], costs=costs[test], rank_by="saving"
    )
    assert by_saving.best_saved > by_score.best_saved > 0

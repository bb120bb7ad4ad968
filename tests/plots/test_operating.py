"""Own decisions beside hindsight, rare classes, limits, doubts, policies, and room for legends."""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.transforms import Bbox
from sklearn.linear_model import LogisticRegression

from costboost import Costs, MinimumCostClassifier
from costboost.metrics import (
    capacity_curve,
    coverage_curve,
    normalized_cost,
    savings_score,
    total_cost,
)
from costboost.plots import (
    BrierCurveDisplay,
    CapacityDisplay,
    CostCurveDisplay,
    CoverageDisplay,
    PolicyDisplay,
    ReliabilityDisplay,
    SavingsCurveDisplay,
    ThresholdCostDisplay,
    TrainingCostDisplay,
)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def texts(display):
    return [text.get_text().replace("\n", " ") for text in display.legend_.get_texts()]


@pytest.fixture(scope="module")
def rare():
    """One positive in a hundred, with an amount each."""
    rng = np.random.default_rng(0)
    n = 8000
    p = 1 / (1 + np.exp(-(rng.normal(size=n) * 2.5 - 7)))
    y = (rng.uniform(size=n) < p).astype(int)
    assert 0.005 < y.mean() < 0.02
    return y, p, rng.lognormal(4, 1, n)


# ---------------------------------------------------------------- own decisions and hindsight


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("positive", [1, 0])
def test_own_decisions_are_marked_where_they_are(rare, per_row, positive):
    y, p, amount = rare
    y, score = (y, p) if positive == 1 else (1 - y, p)
    fn = amount if per_row else 60.0
    costs = Costs(fp=8, tp=8, fn=fn, positive=positive).bind([0, 1])
    decided = costs.decide(np.column_stack([1 - p, p] if positive == 1 else [p, 1 - p]))
    acted = decided == positive
    saving = SavingsCurveDisplay.from_predictions(y, score, costs=costs, currency="EUR")
    nothing = np.full(len(y), 1 - positive)
    saved = total_cost(y, nothing, costs=costs) - total_cost(y, decided, costs=costs)
    assert saving.own == pytest.approx((acted.mean(), saved))
    assert saving.own_.get_xdata()[0] == pytest.approx(acted.mean())
    assert "own decisions at these costs" in texts(saving)
    share = SavingsCurveDisplay.from_predictions(y, score, costs=costs, normalize=True)
    assert share.own[1] == pytest.approx(
        savings_score(y, decided, costs=costs, baseline=1 - positive)
    )
    curve = CostCurveDisplay.from_predictions(y, score, costs=costs)
    assert curve.own_loss == pytest.approx(normalized_cost(y, decided, costs=costs))
    if not per_row:  # one threshold for all cannot beat the best of them
        least = np.interp(curve.operating_pc, curve.pc, curve.loss)
        assert curve.own_loss >= least - 1e-12
        assert saving.own[1] <= saving.best_saved + 1e-9
        at = np.interp(saving.own[0], saving.share, saving.saved)
        assert at == pytest.approx(saving.own[1])


def test_scores_that_are_no_probabilities_have_no_own_decisions(rare):
    y, p, _ = rare
    margins = np.log(p / (1 - p))
    assert SavingsCurveDisplay.from_predictions(y, margins, costs={"fp": 8, "fn": 60}).own_ is None
    assert CostCurveDisplay.from_predictions(y, margins, costs={"fp": 8, "fn": 60}).own_ is None
    assert CostCurveDisplay.from_predictions(y, p).own_ is None


def test_costs_per_row_choose_no_threshold(rare):
    y, p, amount = rare
    display = ThresholdCostDisplay.from_predictions(y, p, costs=Costs(fp=8, tp=8, fn=amount))
    assert display.chosen is display.chosen_ is None
    assert display.by_row_ is not None
    assert any("own decisions, row by row" in text for text in texts(display))
    assert "cheapest on these rows, in hindsight" in texts(display)
    given = ThresholdCostDisplay.from_predictions(
        y, p, costs=Costs(fp=8, tp=8, fn=amount), threshold=0.3
    )
    assert given.chosen_.get_xdata()[0] == 0.3


def test_legends_list_only_what_can_be_seen():
    best = ThresholdCostDisplay.from_predictions([0, 1], [0.1, 0.9], costs={"fp": 1, "fn": 1})
    assert best.cheapest_ is None
    assert not any("cheapest on these rows" in text for text in texts(best))
    alike = Costs(fp=1.0, fn=np.array([4.0, 4.001, 4.002, 4.0]))
    narrow = BrierCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.7], costs=alike)
    assert not any("middle half" in text for text in texts(narrow))
    wide = Costs(fp=1.0, fn=np.array([1.0, 4.0, 20.0, 9.0]))
    band = BrierCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.7], costs=wide)
    assert any("middle half" in text for text in texts(band))


# ---------------------------------------------------------------- rare classes


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


def test_savings_end_soon_after_the_rows_that_pay(rare):
    y, p, amount = rare
    costs = Costs(fp=8, tp=8, fn=amount)
    display = SavingsCurveDisplay.from_predictions(y, p, costs=costs)
    end = display.ax_.get_xlim()[1]
    assert max(display.best_share, display.own[0]) < end < 0.6
    low, high = display.ax_.get_ylim()
    assert low < 0 < display.best_saved < high < 1.2 * display.best_saved
    worse = SavingsCurveDisplay.from_predictions(y, np.sqrt(p), costs=costs, ax=display.ax_)
    assert worse.ax_.get_xlim()[1] >= end
    rng = np.random.default_rng(0)
    half = rng.integers(0, 2, 100)
    common = SavingsCurveDisplay.from_predictions(half, rng.uniform(size=100))
    assert common.ax_.get_xlim() == (0, 1)


def test_costs_of_calling_all_positive_do_not_flatten_the_rest(rare):
    y, p, _ = rare
    display = ThresholdCostDisplay.from_predictions(y, p, costs={"fp": 8, "fn": 60, "tp": 8})
    top = display.ax_.get_ylim()[1]
    assert display.ax_.get_yscale() == "log" or display.cost[-1] > 0.3 * top


# ---------------------------------------------------------------- limits and doubts


@pytest.fixture(scope="module")
def lending():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 3))
    y = np.where(X[:, 0] + rng.normal(size=800) > 1, "default", "paid")
    amount = rng.lognormal(4, 1, 800)
    matrix = np.zeros((800, 2, 3))
    matrix[:, 0] = np.column_stack([amount, np.full(800, 9.0), np.zeros(800)])
    matrix[:, 1] = np.column_stack([np.zeros(800), np.full(800, 9.0), 0.2 * amount])
    costs = Costs.from_matrix(
        matrix, classes=["default", "paid"], actions=["approve", "review", "decline"]
    )
    return MinimumCostClassifier(LogisticRegression(), cv=2).fit(X, y), X, y, costs


def test_capacity_display(lending):
    model, X, y, costs = lending
    display = CapacityDisplay.from_estimator(model, X, y, action="review", costs=costs)
    expected = model.expected_cost(X, costs=costs)
    curve = capacity_curve(y, expected, action="review", costs=costs)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.realised)
    np.testing.assert_array_equal(display.expected_.get_ydata(), curve.expected)
    plan = model.decide(X, costs=costs, capacity={"review": 5})
    assert display.shadow_price(5) == pytest.approx(plan.shadow_prices["review"])
    assert display.shadow_price(10**6) == 0.0
    assert display.own_.get_xdata()[0] == np.sum(model.predict(X, costs=costs) == "review")
    assert display.ax_.get_xlabel() == "Rows that can take review"
    plain = LogisticRegression().fit(X, y)
    other = CapacityDisplay.from_estimator(
        plain, X, y, action="review", costs=costs, ax=display.ax_, name="plain"
    )
    assert other.line_.get_color() != display.line_.get_color()
    assert texts(other)[0].startswith("MinimumCostClassifier")
    with pytest.raises(ValueError, match="negative"):
        display.shadow_price(-1)


def test_coverage_display(lending):
    model, X, y, costs = lending
    display = CoverageDisplay.from_estimator(model, X, y, costs=costs, price=5, currency="EUR")
    curve = coverage_curve(y, model.expected_cost(X, costs=costs), costs=costs, price=5)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.decided[1:])
    np.testing.assert_array_equal(display.total_.get_ydata(), curve.total)
    assert display.own_.get_xdata()[0] == curve.own
    plan = model.decide(X, costs=costs, defer=5)
    assert curve.own == pytest.approx(np.mean(plan.decisions != "defer"))
    without = CoverageDisplay.from_estimator(model, X, y, costs=costs)
    assert without.total_ is without.own_ is None


# ---------------------------------------------------------------- policies


def test_policies_are_bars_of_what_they_cost(lending):
    model, X, y, costs = lending
    policies = {
        "approve all": np.repeat("approve", 800),
        "model": model.predict(X, costs=costs),
        "20 reviews": model.decide(X, costs=costs, capacity={"review": 20}).decisions,
    }
    display = PolicyDisplay.from_decisions(
        y, policies, costs=costs, baseline="approve all", random_state=0, currency="EUR"
    )
    paid = [total_cost(y, decided, costs=costs) for decided in policies.values()]
    np.testing.assert_allclose(display.costs, paid)
    assert np.all((display.low < paid) & (paid < display.high))
    ends = [bar.get_x() + bar.get_width() for bar in display.bars_[-1]]
    np.testing.assert_allclose(ends, paid)
    assert texts(display) == [
        "rows answered approve",
        "rows answered review",
        "95% interval",
    ] or texts(display)[2].startswith("rows answered decline")
    notes = [text.get_text() for text in display.ax_.texts]
    assert "saves" in notes[1]
    assert "saves" not in notes[0]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == list(policies)
    weighted = PolicyDisplay.from_decisions(
        y, policies, costs=costs, sample_weight=np.full(800, 2.0), random_state=0
    )
    np.testing.assert_allclose(weighted.costs, 2 * np.array(paid))


def test_policies_that_earn_are_one_bar_each():
    loan = Costs(fp=0, fn=300, tn=-40, benefits=True)
    y = [0, 0, 0, 1, 1, 0]
    display = PolicyDisplay.from_decisions(
        y, {"grant": [0] * 6, "model": [0, 0, 1, 1, 0, 0]}, costs=loan, random_state=0
    )
    assert display.costs.tolist() == [440.0, 180.0]
    assert len(display.bars_) == 1
    assert display.ax_.get_xlim()[0] < 0


def test_wrong_policies_are_refused():
    with pytest.raises(ValueError, match="policies is empty"):
        PolicyDisplay.from_decisions([0, 1], {})
    with pytest.raises(ValueError, match="baseline='b' is not one of"):
        PolicyDisplay.from_decisions([0, 1], {"a": [0, 1]}, baseline="b")


# ---------------------------------------------------------------- room


def draw_all(axes, rare, lending):
    y, p, amount = rare
    costs = Costs(fp=8, tp=8, fn=amount)
    kinds = [
        ReliabilityDisplay,
        SavingsCurveDisplay,
        CostCurveDisplay,
        BrierCurveDisplay,
        ThresholdCostDisplay,
    ]
    made = [
        kind.from_predictions(y, p, costs=costs, ax=ax, name="a model with a name")
        for kind, ax in zip(kinds, axes, strict=False)
    ]
    model, X, labels, priced = lending
    given = {"costs": priced, "currency": "EUR"}
    made.append(
        CapacityDisplay.from_estimator(model, X, labels, action="review", **given, ax=axes[5])
    )
    made.append(CoverageDisplay.from_estimator(model, X, labels, price=5, **given, ax=axes[6]))
    policies = {"approve all": np.repeat("approve", 800), "model": model.predict(X, costs=priced)}
    made.append(PolicyDisplay.from_decisions(labels, policies, **given, ax=axes[7]))
    training = TrainingCostDisplay(
        train_cost=[9, 5, 4], validation_cost=[3, 2, 4], validation_axis="right", name="boosted"
    )
    made.append(training.plot(ax=axes[8]))
    return made


def test_everything_fits_subplots_and_tight_layout(rare, lending):
    figure, axes = plt.subplots(3, 3, figsize=(18, 15))
    made = draw_all(axes.flat, rare, lending)
    figure.tight_layout()
    figure.canvas.draw()
    renderer, whole = figure.canvas.get_renderer(), figure.bbox
    boxes = [display.ax_.get_tightbbox(renderer) for display in made]
    for i, (display, box) in enumerate(zip(made, boxes, strict=True)):
        legend = display.legend_.get_window_extent(renderer)
        assert legend.y0 >= display.ax_.get_window_extent(renderer).y1 - 1
        assert whole.x0 - 1 <= box.x0
        assert box.x1 <= whole.x1 + 1
        assert whole.y0 - 1 <= box.y0
        assert box.y1 <= whole.y1 + 1
        for other in boxes[i + 1 :]:
            shared = Bbox.intersection(box, other)
            assert shared is None or min(shared.width, shared.height) < 2

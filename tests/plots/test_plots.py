"""What holds for all pictures; nothing is compared pixel by pixel."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.transforms import Bbox
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import Costs, plots
from costboost.plots import (
    BrierCurveDisplay,
    CapacityDisplay,
    CostCurveDisplay,
    CoverageDisplay,
    CriticalDifferenceDisplay,
    PolicyDisplay,
    ReliabilityDisplay,
    SavingsCurveDisplay,
    ThresholdCostDisplay,
    TrainingCostDisplay,
)
from costboost.plots.style import COLORS, CURVE
from pictures import BINARY, legend_sentences, legend_texts, overlaps

DATA = Path(os.environ.get("COSTBOOST_DATA", Path(__file__).parents[3] / "shared" / "data"))


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


def test_importing_plots_does_not_import_matplotlib():
    code = "import sys, costboost.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, scores):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    wanted = r"needs matplotlib: pip install 'costboost\[plot\]'"
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
    names = ("Policy", "Capacity", "Coverage", "Decision", "Contributions", "Swap")
    names += ("PriceSensitivity", "Scenario", "FairnessFrontier")
    names += ("NumberCost", "QuantileCalibration")
    elsewhere = {getattr(plots, f"{name}Display") for name in names}
    tested = {*BINARY, TrainingCostDisplay, CriticalDifferenceDisplay, *elsewhere}
    assert {getattr(plots, name) for name in plots.__all__} == tested
    assert all(CURVE not in name for name in plots.__all__)


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


def test_legends_list_only_what_can_be_seen():
    best = ThresholdCostDisplay.from_predictions([0, 1], [0.1, 0.9], costs={"fp": 1, "fn": 1})
    assert best.cheapest_ is None
    assert not any("cheapest on these rows" in text for text in legend_sentences(best))
    alike = Costs(fp=1.0, fn=np.array([4.0, 4.001, 4.002, 4.0]))
    narrow = BrierCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.7], costs=alike)
    assert not any("middle half" in text for text in legend_sentences(narrow))
    wide = Costs(fp=1.0, fn=np.array([1.0, 4.0, 20.0, 9.0]))
    band = BrierCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.7], costs=wide)
    assert any("middle half" in text for text in legend_sentences(band))


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

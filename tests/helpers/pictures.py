"""What is drawn on a picture, for the tests of all of them."""

import numpy as np
import pandas as pd

from costboost.plots import (
    BrierCurveDisplay,
    CostCurveDisplay,
    NetBenefitDisplay,
    ReliabilityDisplay,
    SavingsCurveDisplay,
    ThresholdCostDisplay,
)

BINARY = [
    CostCurveDisplay,
    BrierCurveDisplay,
    ThresholdCostDisplay,
    SavingsCurveDisplay,
    NetBenefitDisplay,
    ReliabilityDisplay,
]
ARRAYS = {
    CostCurveDisplay: ("pc", "loss", "operating_pc"),
    BrierCurveDisplay: ("c", "loss", "operating", "area"),
    ThresholdCostDisplay: ("thresholds", "cost", "cheapest", "chosen", "elkan", "cost_by_row"),
    SavingsCurveDisplay: ("share", "saved"),
    NetBenefitDisplay: ("thresholds", "benefit", "share", "at"),
    ReliabilityDisplay: ("predicted", "observed", "weight", "lower", "upper", "brier"),
}


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


def overlaps(one, other):
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def legend_sentences(display):
    """The texts of a legend, without the ends of their lines."""
    return [text.get_text().replace("\n", " ") for text in display.legend_.get_texts()]


def mixed_table(n=200):
    """A table of numbers with gaps and a category whose name looks like a formula."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.normal(size=n) for j in range(5)})
    X["$kind$"] = pd.Categorical(rng.choice(["u", "v", None], n))
    X.loc[::7, "c1"] = np.nan
    return X, (X["c0"] + X["c1"].fillna(0) + X["$kind$"].eq("u") > 0).to_numpy()

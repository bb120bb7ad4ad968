"""F-measures by price, as they are drawn."""

import numpy as np

from costboost.papers.cai_pictures import prices_figure
from costboost.papers.intervals import mean_interval
from costboost.papers.report import published
from drawn import curves, legend_of

F = {
    ("adacost", 0.1): [40.0, 44.0],
    ("adacost", 0.9): [50.0, 58.0],
    ("gradient", 0.1): [30.0, 32.0],
    ("gradient", 0.9): [60.0, 61.0],
    ("c45", None): [20.0, 30.0],
    ("adaboost", None): [33.0, 35.0],
}


def rows_of(dataset):
    return [
        {"dataset": dataset, "split": k, "method": method, "price": price, "f": f}
        for (method, price), found in F.items()
        for k, f in enumerate(found)
    ]


def test_means_lie_at_their_prices_and_methods_without_prices_are_flat():
    rows = [*rows_of("Pima"), *rows_of("mine")]
    figure = prices_figure(rows, ("adacost", "gradient"))
    for ax, name in zip(figure.axes, ("Pima", "mine"), strict=True):
        found = curves(ax)
        assert found["adacost"] == ([0.1, 0.9], [42.0, 54.0])
        assert found["gradient"] == ([0.1, 0.9], [31.0, 60.5])
        assert found["c45"][1] == [25.0, 25.0]
        assert found["adaboost"][1] == [34.0, 34.0]
        assert ax.get_title().startswith(name)
    assert legend_of(figure) == ["adacost", "gradient", "c45", "adaboost"]


def test_intervals_are_those_of_overlapping_splits():
    (ax,) = prices_figure(rows_of("mine"), ("adacost",)).axes
    (band,) = ax.collections
    at = band.get_paths()[0].vertices
    expected = mean_interval([40.0, 44.0], 1 / 9)
    heights = at[at[:, 0] == 0.1][:, 1]
    np.testing.assert_allclose([heights.min(), heights.max()], [expected.low, expected.high])


def test_stars_are_what_was_published_of_this_set():
    printed = {row["dataset"]: row for row in published("cai_table3")}["Pima"]
    known, unknown = prices_figure([*rows_of("Pima"), *rows_of("mine")], ("adacost",)).axes

    def stars(ax):
        return [float(line.get_ydata()[0]) for line in ax.get_lines() if line.get_marker() == "*"]

    assert stars(known) == [printed["adacost"], printed["gradient"]]
    assert stars(unknown) == []

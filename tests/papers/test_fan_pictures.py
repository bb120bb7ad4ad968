"""Bounds, improvements and losses of Fan et al.'s page, as they are drawn."""

from costboost.papers.fan_pictures import (
    ROUND_BY_ROUND,
    bound_figure,
    improvement_figure,
    rounds_figure,
)
from costboost.papers.report import published
from drawn import curves, legend_of


def test_cost_bound_and_fresh_rows_are_drawn_round_by_round():
    rows = [
        {"round": t, "cost": 60.0 / t, "bound": 80.0 / t, "fresh rows": 70.0} for t in (1, 2, 4)
    ]
    figure = bound_figure({"adacost": rows, "adaboost": rows[:1]})
    first, second = figure.axes
    assert curves(first) == {
        "bound": ([1, 2, 4], [80, 40, 20]),
        "cost": ([1, 2, 4], [60, 30, 15]),
        "fresh rows": ([1, 2, 4], [70, 70, 70]),
    }
    assert (first.get_title(), second.get_title()) == ("adacost", "adaboost")
    assert legend_of(figure) == ["bound", "cost", "fresh rows"]


def test_improvements_stand_beside_those_that_were_published():
    printed = {row["ratio"]: row for row in published("fan_table2") if row["dataset"] == "boolean"}
    means = {
        (name, method, ratio): loss + ratio
        for name in ("boolean_standin", "mine")
        for method, loss in (("adacost", 10.0), ("adaboost", 13.0))
        for ratio in (3, 2)
    }
    known, unknown = improvement_figure(means, ["boolean_standin", "mine"]).axes
    assert curves(known)["ours"] == ([2, 3], [-3, -3])
    assert curves(known)["published"] == ([2, 3], [printed[r]["less_adaboost"] for r in (2, 3)])
    assert set(curves(unknown)) == {"ours"}
    beyond = {
        **means,
        ("boolean_standin", "adacost", 99): 1.0,
        ("boolean_standin", "adaboost", 99): 1,
    }
    (half,) = improvement_figure(beyond, ["boolean_standin"]).axes
    assert set(curves(half)) == {"ours"}  # of one ratio, nothing was published


def test_a_run_that_ended_stays_as_it_is():
    rows = [
        {"dataset": name, "ratio": ratio, "method": method, "path": path}
        for name in ("a", "b")
        for method in ROUND_BY_ROUND
        for ratio, path in ((5, "30.0 20.0 10.0"), (5, "40.0 36.0"), (2, "99.0"))
    ]
    rows[0]["path"] = 30.0  # a path of one round comes back from its file as a number
    figure = rounds_figure(rows, ["a", "b"], 5)
    a, b = figure.axes
    assert curves(b)["adacost"] == ([1, 2, 3], [35.0, 28.0, 23.0])
    assert curves(a)["adaboost"] == ([1, 2], [35.0, 33.0])
    assert "ratio 5" in a.get_ylabel()
    assert legend_of(figure) == list(ROUND_BY_ROUND)

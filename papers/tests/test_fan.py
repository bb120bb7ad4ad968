"""Fan et al.: the tables' rows, and the command on tiny data."""

import pytest

from drawn import curves, legend_of
from papers import fan, fan_work
from papers.experiment import Options, read_rows
from papers.fan import (
    ROUND_BY_ROUND,
    bound_figure,
    improvement_figure,
    rounds_figure,
)
from papers.report import published


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fan")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fan_work, "N_CARDS", 500)
        patch.setattr(fan_work, "FOLDS", 3)
        patch.setattr(fan, "FOLDS", 3)
        patch.setattr(fan, "SHOWN", 2)
        short = {name: {**given, "n_estimators": 4} for name, given in fan_work.METHODS.items()}
        patch.setattr(fan_work, "METHODS", short)
        fan.run(Options(folder), ("breast_cancer",), (2, 3), 2)
    return folder


def test_the_command_leaves_tables_and_pictures(out):
    rows = read_rows(out / "table2.csv")
    assert [row["ratio"] for row in rows] == [2, 3]
    for months in fan_work.MONTHS:
        assert len(read_rows(out / f"chase-{months}.csv")) == len(fan_work.OVERHEADS)
    (line,) = read_rows(out / "table1.csv")
    assert (line["rows"], line["test rows"], line["rows, published"]) == (569, "CV", None)
    (line,) = read_rows(out / "rules.csv")
    assert 0 < line["adacost, rules"] < 30
    for name in ("bound", "improvement", "rounds", "wins"):
        assert (out / f"{name}.png").exists()


def test_published_figures_stand_beside_ours_and_wins_are_counted():
    rows = [
        {"dataset": "crx", "fold": k, "ratio": 2, "method": method, "loss": loss + k, "rounds": 1}
        for method, loss in zip(fan_work.METHODS, (14.0, 10.5, 5.4, 1, 1, 1), strict=True)
        for k in (-0.1, 0.1)
    ]
    (row,) = fan.table_rows(rows)
    assert (row["cripper, published"], row["adacost, published"]) == (14.0, 5.4)
    assert {row[f"{m} verdict"] for m in ("tree", "adaboost", "adacost")} == {"within"}
    (mean,) = fan.mean_rows(rows)
    assert mean["verdict"] == "same order"
    assert "1 of 1 cells (published: 1)" in fan.verdicts(rows)[0]


# -------------------- Bounds, improvements and losses of Fan et al.'s page, as they are drawn.


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


def test_wins_on_rules_are_counted_and_drawn():
    losses = {"rules": 9.0, "adaboost, rules": 7.0, "adacost, rules": 8.0}
    rows = [
        {"dataset": name, "fold": k, "ratio": r, "method": m, "loss": v + k + r, "rounds": 2}
        for name in ("crx", "wpbc")
        for r in (2, 3)
        for m, v in losses.items()
        for k in (-0.1, 0.1)
    ]
    text = fan.rules_wins(rows)
    assert "than adaboost, rules in 0 of 4 cells (level in 0)" in text
    assert "than rules in 4 of 4 cells" in text
    first, _ = fan.rules_rows(rows)
    assert (first["set"], first["adacost, rules"]) == ("crx", pytest.approx(10.5))
    assert first["cripper, published"] == pytest.approx((14.0 + 11.7) / 2)
    published, ours = fan.wins_figure(rows).axes
    assert len(curves(published)["against AdaBoost"][0]) == 48
    losses, shares = curves(ours)["against AdaBoost"]
    assert losses == pytest.approx([9.0, 10.0] * 2)
    assert shares == pytest.approx([10 / 9, 11 / 10] * 2)

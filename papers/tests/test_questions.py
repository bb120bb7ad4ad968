"""The questions: what is told, and the command on tiny data."""

import numpy as np
import pytest

from drawn import curves
from papers import questions
from papers import questions_work as work
from papers.experiment import Options, read_rows
from papers.questions_work import (
    AGAIN,
    AT_DECISION,
    FACTORS,
    IN_TRAINING,
    NOISES,
    ONCE,
    RATIO,
    RATIOS,
    STAGES,
)
from papers.report import Interval, mean_interval


def test_told_needs_an_interval_on_one_side_of_zero():
    assert questions.told(Interval(1, 0.1, 2)) == "dearer"
    assert questions.told(Interval(-1, -2, -0.1)) == "cheaper"
    assert questions.told(Interval(-1, -2, 0.1)).startswith("no difference")


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "ROUNDS", 5)
        patch.setattr(work, "STAGES", (1, 5))
        patch.setattr(questions, "ROUNDS", 5)
        patch.setattr(questions, "STAGES", (1, 5))
        patch.setattr(work, "N_TRAIN", 300)
        patch.setattr(work, "WORLD_METHODS", (work.ONCE, "adaboost"))
        patch.setattr(questions.Means.of, "__defaults__", (5, "cost"))
        questions.run(Options(folder), ("breast_cancer",), 2)
    return folder


def test_the_command_answers_each_question(out):
    text = (out / "results.md").read_text()
    assert text.count("Answer") == 4
    for name in ("again", "wrong", "ratios", "scales", "world"):
        assert (out / f"{name}.png").exists()
    assert len(read_rows(out / "voting.csv")) == len(work.VOTING) * len(work.VOTING_RATIOS)
    assert len(read_rows(out / "again.csv")) == len(work.AGAIN) * len(work.RATIOS)
    assert len(read_rows(out / "wrong.csv")) == 4 * (len(work.FACTORS) + len(work.NOISES))


def test_what_knows_no_costs_is_the_same_at_every_ratio(out):
    rows = [row for path in (out / "cells").glob("*.csv") for row in read_rows(path)]
    plain = [row for row in rows if row["method"] == "adaboost" and row["split"] == 0]
    assert len({row["seconds"] for row in plain}) == 1  # fitted once
    assert len({row["cost"] for row in plain}) > 1  # and priced at each ratio
    ended = [row for row in rows if row["stage"] == 5 and row["question"] == "ratio"]
    assert all(row["rounds"] <= 5 for row in ended)


# -------------------- The three questions, as they are drawn.

SETS = np.array([-0.1, 0.0, 0.1])
PLACES = {name: i for i, name in enumerate((ONCE, *AGAIN, AT_DECISION, "adaboost"))}


class Means:
    """Costs of three sets that tell of which method, setting and stage they are."""

    def of(self, question, method, setting, stage=STAGES[-1]):
        return 0.3 + PLACES[method] + setting / 100 + 1 / stage + SETS

    def less(self, method, other, ratio):
        return mean_interval(self.of("ratio", method, ratio) - self.of("ratio", other, ratio))


MEANS = Means()


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def test_costs_again_are_drawn_less_costs_once_and_along_the_rounds():
    left, right = questions.again_figure(MEANS).axes
    assert list(curves(left)) == list(AGAIN)
    for method, (ratios, gaps) in curves(left).items():
        assert ratios == list(RATIOS)
        assert gaps == pytest.approx([PLACES[method]] * len(RATIOS))
    assert list(curves(right)) == [*AGAIN, ONCE]
    stages, path = curves(right)[ONCE]
    assert stages == list(STAGES)
    assert path == pytest.approx([0.3 + RATIO / 100 + 1 / stage for stage in STAGES])
    assert ticks(left) == [str(ratio) for ratio in RATIOS]


def test_wrong_prices_are_drawn_less_right_ones():
    biases, noises = questions.wrong_figure(MEANS).axes
    assert list(curves(biases)) == list(curves(noises)) == [*IN_TRAINING, AT_DECISION]
    for ax, sizes in ((biases, sorted(round(f, 3) for f in FACTORS)), (noises, NOISES)):
        for x, more in curves(ax).values():
            assert x == list(sizes)
            assert more == pytest.approx([(size - 1) / 100 for size in sizes])
    assert ticks(biases) == ["1/5", "1/2", "1/1.2", "1.2", "2", "5"]


def test_bands_on_a_logarithmic_scale_are_left_out_where_they_reach_zero():
    class Uncertain(Means):
        def of(self, question, method, setting, stage=STAGES[-1]):
            spread = 100 if method == "adacost" else 1
            return 5.0 + spread * SETS

    (ax,) = questions.ratio_figure(Uncertain()).axes
    assert list(curves(ax)) == [ONCE, *AGAIN, AT_DECISION, "adaboost"]
    empty = [not band.get_paths() for band in ax.collections]
    assert empty == [method == "adacost" for method in curves(ax)]
    assert ax.get_ylim()[0] == 0.1


def test_the_fourth_answer_is_of_means_over_sets():
    rows = [
        {"dataset": name, "split": k, "ratio": ratio, "scale": scale, "cost": base + more + 0.1 * k,
         "training": 0.0, "misses": 0.1, "false alarms": 0.2, "rounds": 7}
        for name, base in (("a", 0.2), ("b", 0.6))
        for k in (-1, 1)
        for ratio in work.SCALE_RATIOS
        for scale, more in zip((None, *work.SCALES), (0, 0, -0.1, 0.1, 0.2, 0.3), strict=True)
    ]  # fmt: skip
    table = questions.scale_rows(rows)
    assert len(table) == 3 * 6
    assert table[0]["cost"] == pytest.approx(0.4)
    assert (table[0]["less CGAda"], table[0]["sets won"]) == ("", None)
    assert table[2]["less CGAda"] == "-0.100 [-0.100, -0.100]"
    assert (table[2]["sets won"], table[2]["verdict"]) == (2, "cheaper")
    assert "9: +0.000, -0.100, +0.100, +0.200, +0.300." in questions.scale_answer(rows)

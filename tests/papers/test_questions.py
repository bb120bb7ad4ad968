"""The three questions: what is told, and the command on tiny data."""

import pytest

from costboost.papers import questions
from costboost.papers import questions_work as work
from costboost.papers.cells import read_rows
from costboost.papers.intervals import Interval
from costboost.papers.options import Options


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
        patch.setattr("costboost.papers.questions_pictures.STAGES", (1, 5))
        patch.setattr(questions.Means.of, "__defaults__", (5, "cost"))
        questions.run(Options(folder), ("breast_cancer",), 2)
    return folder


def test_the_command_answers_each_question(out):
    text = (out / "results.md").read_text()
    assert text.count("Answer") == 3
    for name in ("again", "wrong", "ratios"):
        assert (out / f"{name}.png").exists()
    assert len(read_rows(out / "again.csv")) == len(work.AGAIN) * len(work.RATIOS)
    assert len(read_rows(out / "wrong.csv")) == 4 * (len(work.FACTORS) + len(work.NOISES))


def test_what_knows_no_costs_is_the_same_at_every_ratio(out):
    rows = [row for path in (out / "cells").glob("*.csv") for row in read_rows(path)]
    plain = [row for row in rows if row["method"] == "adaboost" and row["split"] == 0]
    assert len({row["seconds"] for row in plain}) == 1  # fitted once
    assert len({row["cost"] for row in plain}) > 1  # and priced at each ratio
    ended = [row for row in rows if row["stage"] == 5 and row["question"] == "ratio"]
    assert all(row["rounds"] <= 5 for row in ended)

"""The lecture's page: its claims hold, and the command leaves what it promises."""

import numpy as np
import pytest

from costboost import papers
from costboost.papers import lecture
from costboost.papers.cells import read_rows
from costboost.papers.lecture_example import LOSSES
from costboost.papers.options import Options


def test_adaboost_is_stagewise_fitting_of_the_exponential_loss():
    rows = lecture.adaboost_rows()
    assert len(rows) == 8
    assert all(row["verdict"] == "equal" for row in rows)
    assert all(row["alpha, AdaBoost"] > 0 for row in rows)


def test_losses_have_the_derivatives_and_minimisers_that_are_claimed():
    rows = lecture.loss_rows()
    assert [row["loss"] for row in rows] == [described.name for described in LOSSES]
    assert all(row["verdict"] == "equal" for row in rows)
    assert all(row["error of derivative"] < 1e-6 for row in rows)
    p = 3 / 5  # three of the five labels are 1
    half = 0.5 * np.log(p / (1 - p))
    ours = {row["loss"]: row["ours"] for row in rows}
    assert ours["exponential"] == pytest.approx(half)
    assert ours["log"] == pytest.approx(2 * half)
    assert ours["squared"] == pytest.approx(0.5)
    assert ours["absolute"] == pytest.approx(0.2)


def test_fixed_steps_of_squared_loss_are_least_squares_times_the_step():
    searched = lecture.step_cell(0, "line search x 0.1", 0, 5)
    fixed = lecture.step_cell(0, "fixed 0.1", 0, 5)
    for a, b in zip(searched, fixed, strict=True):
        assert a["value"] == pytest.approx(b["value"], rel=1e-9)


def test_the_command_leaves_tables_and_pictures(tmp_path, capsys):
    lecture.run(Options(tmp_path), n_draws=2, n_rounds=3)
    assert "line search x 0.1" in capsys.readouterr().out
    for name in ("rounds", "losses", "steps"):
        assert (tmp_path / f"{name}.png").exists()
    assert len(read_rows(tmp_path / "steps.csv")) == len(LOSSES) * len(lecture.STEPS)
    assert "lecture" in papers.names()

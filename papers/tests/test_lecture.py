"""The lecture's page: its claims hold, and the command leaves what it promises."""

import numpy as np
import pytest

import papers
from drawn import curves, legend_of
from papers import lecture
from papers.experiment import Options, read_rows
from papers.lecture import SHOWN, losses_figure, rounds_figure, steps_figure
from papers.lecture_example import LOSSES, draw_answers


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


# -------------------- The lecture's pictures: residuals, losses and steps, as they are drawn.


def y_of(line):
    return np.asarray(line.get_ydata(), dtype=float)


def test_every_round_fits_what_the_rounds_before_it_left():
    figure = rounds_figure()
    y = draw_answers(120, seed=0).y
    above, below = np.array(figure.axes).reshape(2, len(SHOWN))
    left, tree = above[0].get_lines()
    np.testing.assert_allclose(y_of(left), y - y.mean())  # before the first round: the mean
    assert len(np.unique(y_of(tree).round(12))) == 3  # leaves
    sums = [y_of(ax.get_lines()[2]) for ax in below]
    for k in (1, 2):  # rounds 2 and 3 follow each other
        np.testing.assert_allclose(sums[k] - sums[k - 1], y_of(above[k].get_lines()[1]), atol=1e-12)
    for row in (above, below):
        assert len({ax.get_ylim() for ax in row}) == 1
    losses = [float(ax.get_title().rpartition(" ")[2]) for ax in below]
    assert losses == sorted(losses, reverse=True)


def test_a_leaf_s_minimiser_is_where_its_loss_is_least():
    figure = losses_figure()
    values, slopes, leaves = np.array(figure.axes).reshape(3, len(LOSSES))
    where = {}
    for described, value, slope, leaf in zip(LOSSES, values, slopes, leaves, strict=True):
        curve, least, *_ = leaf.get_lines()
        assert y_of(least)[0] == y_of(curve).min()
        where[described.name] = float(least.get_xdata()[0])
        x, of = (np.asarray(d, dtype=float) for d in value.get_lines()[0].get_data())
        steep = y_of(slope.get_lines()[0])
        inner = np.abs(np.diff(of) / np.diff(x) - 0.5 * (steep[1:] + steep[:-1]))
        assert np.median(inner) < 1e-3
    assert where["squared"] == pytest.approx(0.5)  # the mean
    assert where["absolute"] == pytest.approx(0.2)  # the median
    assert abs(where["log"] - np.log(3 / 2)) <= 0.005


def test_steps_are_drawn_by_loss():
    paths = {
        ("log", "fixed"): [0.7, 0.5],
        ("log", "search"): [0.6, 0.4, 0.3],
        ("huber", "a"): [2.0],
    }
    figure = steps_figure(paths)
    log, huber = figure.axes
    assert curves(log) == {"fixed": ([1, 2], [0.7, 0.5]), "search": ([1, 2, 3], [0.6, 0.4, 0.3])}
    assert curves(huber) == {"a": ([1], [2.0])}
    assert log.get_xscale() == "log"
    low, high = log.get_ylim()
    assert low < 0.3
    assert high > 0.7
    assert legend_of(figure) == ["fixed", "search"]

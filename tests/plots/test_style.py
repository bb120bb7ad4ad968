"""Numbers as text, legends, styles of curves."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from costboost.plots import SavingsCurveDisplay
from costboost.plots.style import (
    COLORS,
    CURVE,
    curve_style,
    entry,
    head,
    highest,
    once,
    point,
    points_across,
    right_of,
    show_legend,
    tagged,
)
from costboost.text import tick_texts
from pictures import legend_texts


def test_a_dollar_is_no_formula(scores):
    y, p = scores
    display = SavingsCurveDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 9}, currency="$", name="costs $5 or $6"
    )
    display.figure_.canvas.draw()
    assert legend_texts(display)[0].startswith(r"costs \$5 or \$6: saves \$")
    assert display.ax_.get_ylabel() == r"Saved (\$)"


def test_ticks_as_text():
    assert tick_texts([-1.0, -0.0, 1.0]) == ["-1", "0", "1"]
    assert tick_texts([1e15, 2e15]) == ["1e+15", "2e+15"]
    assert tick_texts([1e-7, 2e-7]) == ["1e-07", "2e-07"]
    assert tick_texts([]) == []


def test_the_next_curve_takes_the_next_style_and_what_is_given_prevails():
    _, ax = plt.subplots()
    styles = []
    for _ in range(len(COLORS) + 1):
        styles.append(curve_style(ax, {}, markers=True))
        ax.plot([0, 1], [0, 1], **styles[-1])
    looks = [(style["color"], str(style["linestyle"]), style["marker"]) for style in styles]
    assert len(set(looks[:-1])) == len(COLORS)
    assert looks[-1] == looks[0]
    given = curve_style(ax, {"c": "red", "lw": 9, "gid": "mine"})
    assert (given["color"], given["linewidth"], given["gid"]) == ("red", 9, CURVE)
    assert "c" not in given


def test_lines_of_the_axes_are_drawn_once_and_do_not_count_as_curves():
    _, ax = plt.subplots()
    first = once(ax, "costboost-trivial", [0, 1], [0, 9], label="not looking")
    assert once(ax, "costboost-trivial", [0, 1], [5, 5]) is first
    assert highest(ax) == 0
    assert curve_style(ax, {})["color"] == COLORS[0]
    ax.plot([0, 1], [2, 3], **curve_style(ax, {}))
    assert highest(ax) == 3
    assert len(ax.lines) == 2


@pytest.mark.parametrize("marker", ["o", "D"])
def test_a_point_is_whole_at_the_edge_and_no_curve(marker):
    _, ax = plt.subplots()
    drawn = point(ax, 1.0, 2.0, "red", marker, zorder=6)
    assert (drawn.get_xydata().tolist(), drawn.get_marker()) == ([[1.0, 2.0]], marker)
    assert (drawn.get_color(), drawn.get_zorder()) == ("red", 6)
    assert not drawn.get_clip_on()
    assert tagged(ax, CURVE) == []


def test_models_come_first_in_the_legend_and_an_empty_one_is_not_shown():
    _, ax = plt.subplots()
    assert show_legend(ax) is None
    once(ax, "costboost-trivial", [0, 1], [0, 1], label="not looking")
    ax.plot([0, 1], [0, 1], label="a model", **curve_style(ax, {}))
    assert [text.get_text() for text in show_legend(ax).get_texts()] == ["a model", "not looking"]


@pytest.mark.parametrize("width", [2, 6, 12])
def test_entries_are_wrapped_to_the_width_of_the_axes(width):
    _, ax = plt.subplots(figsize=(width, 3))
    text = entry(ax, "a model", "word " * 60)
    longest = max(len(line) for line in text.splitlines())
    assert longest <= max(16, (points_across(ax) - 45) / 4.3)
    assert text.replace("\n", " ") == ("a model: " + "word " * 60).strip()
    assert entry(ax, None, "_hidden $5") == r" _hidden \$5"  # matplotlib would leave it out


def test_ticks_that_differ_are_written_differently():
    rng = np.random.default_rng(0)
    for _ in range(200):
        step = float(rng.choice([1, 2, 2.5, 5])) * 10.0 ** rng.integers(-6, 10)
        ticks = [step * (k + int(rng.integers(-3, 3))) for k in range(6)]
        texts = tick_texts(ticks)
        read = [float(text.replace(",", "")) for text in texts]
        np.testing.assert_allclose(read, ticks, rtol=1e-6, atol=1e-7 * step)


def test_titles_are_no_wider_than_the_axes():
    figure, ax = plt.subplots(figsize=(4, 3))
    head(ax, ["a title of very many words " * 4, "costs $5"], 9)
    figure.canvas.draw()
    lines = ax.get_title(loc="left").splitlines()
    assert len(lines) > 2
    assert lines[-1] == r"costs \$5"
    assert ax._left_title.get_window_extent().width <= 1.05 * ax.get_window_extent().width


def test_axes_on_the_right_are_made_once():
    _, ax = plt.subplots()
    right = right_of(ax, "Loss ($)")
    assert right_of(ax, "another") is right
    assert right.get_ylabel() == r"Loss (\$)"

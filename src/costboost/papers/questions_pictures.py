"""The pictures of the three questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from costboost.papers.intervals import mean_interval
from costboost.papers.questions_work import (
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
from costboost.papers.report import new_figure
from costboost.plots.style import COLORS, GREY, LINE_STYLES, MARKERS


def wrong_settings(means: Any, method: str) -> list[tuple[str, float]]:
    """Return all wrong prices: biases by size, then noises."""
    biases = sorted(round(factor, 3) for factor in FACTORS)
    return [("bias", factor) for factor in biases] + [("noise", noise) for noise in NOISES]


def _curve(ax: Any, x: Any, intervals: Any, label: str, i: int) -> None:
    style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "marker": MARKERS[i]}
    ax.plot(x, [interval.mean for interval in intervals], label=label, markersize=4, **style)
    low = [interval.low for interval in intervals]
    high = [interval.high for interval in intervals]
    # On a logarithmic scale there is nothing below zero to draw.
    shown = [limit > 0 or ax.get_yscale() != "log" for limit in low]
    ax.fill_between(x, low, high, where=shown, color=COLORS[i], alpha=0.12, linewidth=0)


def _log_axis(ax: Any, values: Sequence[float]) -> None:
    """Make the x axis logarithmic, with a number at each of these values and nowhere else."""
    ax.set_xscale("log")
    ax.minorticks_off()
    ax.set_xticks(values, [_factor(value) for value in values])


def again_figure(means: Any) -> Any:
    """Draw costs less CGAda's by ratio, and costs along the rounds.

    The costs along the rounds are means alone: how far sets differ says nothing of methods.
    """
    figure, axes = new_figure(1, 2, 10.5, 4.2)
    left, right = axes[0]
    for i, method in enumerate(AGAIN):
        _curve(left, RATIOS, [means.less(method, ONCE, r) for r in RATIOS], method, i)
    left.axhline(0, color=GREY, linewidth=1)
    _log_axis(left, RATIOS)
    left.set_yscale("symlog", linthresh=0.1)
    left.set_xlabel("what a miss costs, in false alarms")
    left.set_ylabel("cost less that of costs once (CGAda)")
    left.legend(fontsize=9)
    for i, method in enumerate((*AGAIN, ONCE)):
        path = [float(means.of("ratio", method, RATIO, stage).mean()) for stage in STAGES]
        style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "marker": MARKERS[i]}
        right.plot(STAGES, path, label=method, markersize=4, **style)
    _log_axis(right, STAGES)
    right.set_xlabel(f"rounds, at a ratio of {RATIO}")
    right.set_ylabel("cost, share of the constant answer")
    right.legend(fontsize=9)
    return figure


def wrong_figure(means: Any) -> Any:
    """Draw what wrong prices cost, by bias and by noise."""
    figure, axes = new_figure(1, 2, 10.5, 4.2)
    for i, method in enumerate((*IN_TRAINING, AT_DECISION)):
        right = means.of("bias", method, 1.0)
        for ax, kind in zip(axes[0], ("bias", "noise"), strict=True):
            sizes = [size for question, size in wrong_settings(means, method) if question == kind]
            gaps = [mean_interval(means.of(kind, method, size) - right) for size in sizes]
            _curve(ax, sizes, gaps, method, i)
    for ax, text in zip(axes[0], ("all by this factor", "each by a random factor of"), strict=True):
        ax.axhline(0, color=GREY, linewidth=1)
        ax.set_xlabel(f"prices of misses are wrong: {text}")
    _log_axis(axes[0, 0], sorted(FACTORS))
    _log_axis(axes[0, 1], NOISES)
    axes[0, 0].set_ylabel("more than at right prices")
    axes[0, 0].legend(fontsize=9)
    return figure


def _factor(factor: float) -> str:
    return f"{factor:g}" if factor >= 1 else f"1/{1 / factor:g}"


def ratio_figure(means: Any) -> Any:
    """Draw the cost of every method by ratio."""
    figure, axes = new_figure(1, 1, 7.0, 4.6)
    ax = axes[0, 0]
    ax.set_yscale("log")
    for i, method in enumerate((ONCE, *AGAIN, AT_DECISION, "adaboost")):
        _curve(ax, RATIOS, [mean_interval(means.of("ratio", method, r)) for r in RATIOS], method, i)
    ax.axhline(1, color=GREY, linewidth=1)
    _log_axis(ax, RATIOS)
    ax.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    ax.set_ylim(0.1, None)
    ax.set_xlabel("what a miss costs, in false alarms")
    ax.set_ylabel("cost, share of the constant answer")
    ax.legend(fontsize=9)
    return figure

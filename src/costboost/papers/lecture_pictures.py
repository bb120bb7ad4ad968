"""The pictures of the lecture's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost import GradientBoostRegressor
from costboost.papers.lecture_example import LOSSES, draw_answers, truth
from costboost.papers.report import new_figure
from costboost.plots.style import COLORS, GREY, LINE_STYLES

GRID = np.linspace(0, 1, 801)
SHOWN = (1, 2, 3, 10, 40)


def rounds_figure() -> Any:
    """Draw forward stagewise fitting: what is left, the tree fitted to it, and their sum."""
    X, y = draw_answers(120, seed=0)
    model = GradientBoostRegressor(
        "squared", max(SHOWN), learning_rate=1.0, max_leaf_nodes=3, min_samples_leaf=5
    ).fit(X, y)
    before = np.full(len(X), float(model.start_[0]))
    on_grid = [np.full(len(GRID), before[0]), *model.staged_predict(GRID[:, None])]
    on_rows = [before, *model.staged_predict(X)]
    figure, axes = new_figure(2, len(SHOWN), 3.0 * len(SHOWN), 5.6)
    for (above, below), t in zip(axes.T, SHOWN, strict=True):
        above.plot(X[:, 0], y - on_rows[t - 1], ".", color=GREY, markersize=4)
        above.plot(GRID, on_grid[t] - on_grid[t - 1], color=COLORS[1], linewidth=2)
        above.set_title(f"round {t}: y - f and the tree", fontsize=10)
        below.plot(X[:, 0], y, ".", color=GREY, markersize=4)
        below.plot(GRID, truth(GRID), color=COLORS[2], linestyle=LINE_STYLES[1], linewidth=1.2)
        below.plot(GRID, on_grid[t], color=COLORS[0], linewidth=2)
        below.set_title(f"f after {t}; loss {model.train_loss_[t - 1]:.3f}", fontsize=10)
    for row in axes:
        low = min(ax.get_ylim()[0] for ax in row)
        high = max(ax.get_ylim()[1] for ax in row)
        for ax in row:
            ax.set_ylim(low, high)
    return figure


def losses_figure() -> Any:
    """Draw each loss, its derivative, and the loss of a leaf with its minimiser."""
    leaf, labels = np.array([-0.6, 0.1, 0.2, 0.4, 2.4]), np.array([0, 1, 1, 1, 0])
    raw = np.linspace(-3, 3, 601)
    figure, axes = new_figure(3, len(LOSSES), 3.0 * len(LOSSES), 7.6)
    for column, described in zip(axes.T, LOSSES, strict=True):
        target = np.full(len(raw), 1 if described.labels else 0)
        column[0].plot(raw, described.loss.value(target, raw), color=COLORS[0])
        column[0].set_title(f"{described.name}: {described.formula}", fontsize=10)
        column[1].plot(raw, described.loss.gradient(target, raw), color=COLORS[1])
        column[1].set_title(f"derivative: {described.derivative}", fontsize=10)
        answers = labels if described.labels else leaf
        total = [float(described.loss.value(answers, np.full(5, c)).sum()) for c in raw]
        column[2].plot(raw, total, color=COLORS[2])
        column[2].plot(raw[np.argmin(total)], min(total), "o", color=COLORS[3])
        column[2].set_title(f"a leaf: {described.minimiser}", fontsize=10)
        column[2].set_ylim(0, 4 * min(total))
        column[0].set_ylim(0, 6)
        column[1].set_ylim(-4, 4)
        if not described.labels:
            column[2].plot(leaf, np.zeros(5), "|", color=GREY, markersize=12)
    for row, text in zip(axes, ("one row, y = 0 or 1", "", "sum over five rows"), strict=True):
        row[0].set_ylabel(text)
    return figure


def steps_figure(paths: dict[tuple[str, str], Sequence[float]]) -> Any:
    """Draw the loss of fresh rows along the rounds, line search against fixed steps."""
    names = list(dict.fromkeys(loss for loss, _ in paths))
    figure, axes = new_figure(1, len(names), 3.2 * len(names), 3.9)
    for ax, name in zip(axes[0], names, strict=True):
        mine = {step: path for (loss, step), path in paths.items() if loss == name}
        for i, (step, path) in enumerate(mine.items()):
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": step}
            ax.plot(1 + np.arange(len(path)), path, **style)
        ax.set_xscale("log")
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("rounds")
        ax.set_ylim(0.9 * min(map(min, mine.values())), 1.05 * max(p[0] for p in mine.values()))
    axes[0, 0].set_ylabel("mean loss of fresh rows")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure

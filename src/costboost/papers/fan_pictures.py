"""The pictures of Fan et al.'s page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost.papers.cells import Row
from costboost.papers.report import new_figure, published
from costboost.plots.style import COLORS, GREY, LINE_STYLES, MARKERS

ROUND_BY_ROUND = ("adaboost", "adacost", "adaboost, estimate", "adacost, estimate")


def bound_figure(paths: Mapping[str, list[Row]]) -> Any:
    """Draw training cost and its bound along the rounds."""
    figure, axes = new_figure(1, len(paths), 3.8 * len(paths), 3.9)
    for ax, (method, rows) in zip(axes[0], paths.items(), strict=True):
        rounds = [row["round"] for row in rows]
        for i, name in enumerate(("bound", "cost", "fresh rows")):
            values = [row[name] for row in rows]
            ax.plot(rounds, values, color=COLORS[i], linestyle=LINE_STYLES[i], label=name)
        ax.set_title(method, fontsize=10)
        ax.set_xlabel("rounds")
        ax.set_yscale("symlog", linthresh=1)
    axes[0, 0].set_ylabel("percent of all rows' prices")
    axes[0, 0].legend(fontsize=9)
    return figure


def improvement_figure(means: Mapping[tuple[str, str, int], float], sets: list[str]) -> Any:
    """Draw AdaCost less AdaBoost at every ratio: ours beside what was published."""
    figure, axes = new_figure(1, len(sets), 2.6 * len(sets), 3.4)
    printed = {(row["dataset"], row["ratio"]): row for row in published("fan_table2")}
    for ax, name in zip(axes[0], sets, strict=True):
        ratios = sorted({ratio for data, _, ratio in means if data == name})
        ours = [means[name, "adacost", r] - means[name, "adaboost", r] for r in ratios]
        key = "boolean" if name == "boolean_standin" else name
        theirs = [printed[key, r]["less_adaboost"] for r in ratios if (key, r) in printed]
        ax.plot(ratios, ours, marker=MARKERS[0], color=COLORS[0], label="ours")
        if len(theirs) == len(ratios):
            ax.plot(ratios, theirs, marker=MARKERS[1], color=COLORS[1], linestyle="--",
                    label="published")  # fmt: skip
        ax.axhline(0, color=GREY, linewidth=1)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("ratio")
    axes[0, 0].set_ylabel("AdaCost less AdaBoost, points")
    axes[0, 0].legend(fontsize=8)
    return figure


def rounds_figure(rows: list[Row], sets: list[str], ratio: int) -> Any:
    """Draw losses on fresh rows round by round, mean over folds."""
    figure, axes = new_figure(1, len(sets), 2.6 * len(sets), 3.4)
    for ax, name in zip(axes[0], sets, strict=True):
        for i, method in enumerate(ROUND_BY_ROUND):
            paths = [
                [float(value) for value in str(row["path"]).split()]
                for row in rows
                if (row["dataset"], row["ratio"], row["method"]) == (name, ratio, method)
            ]
            longest = max(len(path) for path in paths)
            # A run that ended stays as it is.
            whole = [path + path[-1:] * (longest - len(path)) for path in paths]
            mean = np.mean(whole, axis=0)
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": method}
            ax.plot(1 + np.arange(longest), mean, **style)
        ax.set_title(name, fontsize=9)
        ax.set_xlabel("rounds")
    axes[0, 0].set_ylabel(f"loss on fresh rows, ratio {ratio}, %")
    axes[0, 0].legend(fontsize=8)
    return figure

"""The picture of Cai, Song and Zhang's page: F-measure by the price of a false alarm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost.papers.cells import Row
from costboost.papers.intervals import mean_interval
from costboost.papers.report import new_figure, published
from costboost.plots.style import COLORS, GREY, LINE_STYLES


def prices_figure(rows: list[Row], methods: Sequence[str]) -> Any:
    """Draw the mean F-measure of each method by price, with intervals, and the published bests."""
    sets = list(dict.fromkeys(row["dataset"] for row in rows))
    figure, axes = new_figure(1, len(sets), 3.6 * len(sets), 4.0)
    for ax, name in zip(axes[0], sets, strict=True):
        mine = [row for row in rows if row["dataset"] == name]
        for i, method in enumerate(methods):
            _draw_method(ax, [row for row in mine if row["method"] == method], method, i)
        for k, method in enumerate(("c45", "adaboost")):
            mean = np.mean([row["f"] for row in mine if row["method"] == method])
            ax.axhline(mean, color=GREY, linestyle=LINE_STYLES[k + 1], linewidth=1.2, label=method)
        for printed in published("cai_table3"):
            if printed["dataset"] == name:
                for i, method in ((0, "adacost"), (1, "gradient")):
                    ax.plot(1.0, printed[method], "*", color=COLORS[i], markersize=10)
        ax.set_title(f"{name} (stars: published bests)", fontsize=10)
        ax.set_xlabel("price of a false alarm")
    axes[0, 0].set_ylabel("F-measure, %")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _draw_method(ax: Any, rows: list[Row], label: str, i: int) -> None:
    prices = list(dict.fromkeys(row["price"] for row in rows))
    found = [mean_interval([r["f"] for r in rows if r["price"] == p], 1 / 9) for p in prices]
    style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i]}
    ax.plot(prices, [interval.mean for interval in found], label=label, **style)
    low, high = ([getattr(interval, side) for interval in found] for side in ("low", "high"))
    ax.fill_between(prices, low, high, color=COLORS[i], alpha=0.1, linewidth=0)

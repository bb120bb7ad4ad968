"""The pictures of Nikolaou et al.'s page."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.metrics import CriticalDifference
from costboost.papers.cells import Row
from costboost.papers.nikolaou_work import N_BINS
from costboost.papers.report import new_figure
from costboost.plots import CriticalDifferenceDisplay
from costboost.plots.style import COLORS, GREY, LINE_STYLES

PLURALS = {"stump": "stumps", "logistic": "logistic regressions"}
SHOWN = ("adaboost", "adamec", "cgada", "asymada", "csb2")


def ranks_figure(result: CriticalDifference, names: list[str]) -> Any:
    """Draw the critical-difference diagram."""
    return CriticalDifferenceDisplay(result=result, names=names, alpha=0.05).plot().figure_


def curves_figure(rows: list[Row]) -> Any:
    """Draw the mean normalised cost by ratio, not calibrated and calibrated."""
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    figure, axes = new_figure(1, 2 * len(learners), 3.6 * 2 * len(learners), 3.8)
    for k, ax in enumerate(axes[0]):
        learner, calibrated = learners[k // 2], k % 2
        for i, method in enumerate((*SHOWN, *(["auto"] if calibrated else []))):
            mine = [
                row for row in rows
                if (row["learner"], row["calibrated"], row["method"])
                == (learner, calibrated, method)
            ]  # fmt: skip
            if not mine:  # the recipe has trees of its own, and stands beside the stumps only
                continue
            ratios = sorted({row["ratio"] for row in mine})
            means = [np.mean([row["q"] for row in mine if row["ratio"] == r]) for r in ratios]
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": method}
            ax.plot(ratios, means, **style)
        ax.set_xscale("log")
        ax.set_title(
            f"{PLURALS[learner]}, {'calibrated' if calibrated else 'as published'}", fontsize=10
        )
        ax.set_xlabel("price of a miss, in false alarms")
        ax.set_ylim(0, 0.5)
        ax.legend(fontsize=8)
    axes[0, 0].set_ylabel("normalised cost")
    return figure


def distortion_figure(rows: list[Row]) -> Any:
    """Draw the frequency of positives by score: AdaBoost's shares of votes, and calibrated."""
    figure, axes = new_figure(1, 2, 8.4, 4.0)
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    for ax, calibrated in zip(axes[0], (0, 1), strict=True):
        for i, learner in enumerate(learners):
            bins = [
                np.array(str(row["bins"]).split(), dtype=float).reshape(3, N_BINS)
                for row in rows
                if row["bins"] and (row["learner"], row["calibrated"]) == (learner, calibrated)
            ]
            score, positive, count = np.sum(bins, axis=0)
            seen = count >= 10
            style: Any = {
                "color": COLORS[i],
                "linestyle": LINE_STYLES[i],
                "label": PLURALS[learner],
            }
            ax.plot(score[seen] / count[seen], positive[seen] / count[seen], marker="o", **style)
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
        ax.set_title("calibrated" if calibrated else "AdaBoost's scores", fontsize=10)
        ax.set_xlabel("score")
        ax.legend(fontsize=9)
    axes[0, 0].set_ylabel("share of positives among such rows")
    return figure

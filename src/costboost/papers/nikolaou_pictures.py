"""The pictures of Nikolaou et al.'s page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost.metrics import CriticalDifference
from costboost.papers.cells import Row
from costboost.papers.nikolaou_work import LEARNERS, N_BINS, RECIPE
from costboost.papers.report import new_figure, with_legend
from costboost.plots import CriticalDifferenceDisplay
from costboost.plots.style import COLORS, GREY, LINE_STYLES

PLURALS = {"stump": "stumps", "logistic": "logistic regressions"}
SHOWN = ("adaboost", "adamec", "cgada", "asymada", "csb2")
CURVES = (
    ("AdaBoost", "adaboost", 0),
    ("AdaMEC", "adamec", 0),
    ("AdaMEC, calibrated", "adamec", 1),
    ("default recipe", RECIPE, 1),
)


def ranks_figure(result: CriticalDifference, names: list[str]) -> Any:
    """Draw the critical-difference diagram."""
    return CriticalDifferenceDisplay(result=result, names=names, alpha=0.05).plot().figure_


def curves_figure(rows: list[Row]) -> Any:
    """Draw the mean normalised cost by ratio, not calibrated and calibrated."""
    figure, axes = new_figure(1, 2 * len(LEARNERS), 3.6 * 2 * len(LEARNERS), 3.8)
    for k, ax in enumerate(axes[0]):
        learner, calibrated = LEARNERS[k // 2], k % 2
        for i, method in enumerate((*SHOWN, *([RECIPE] if calibrated else []))):
            mine = [
                row for row in rows
                if (row["calibrated"], row["method"]) == (calibrated, method)
                and row["learner"] in (learner, RECIPE)
            ]  # fmt: skip
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


def brier_figure(rows: list[Row], sets: Sequence[str], learner: str) -> Any:
    """Draw the Brier curves of single sets, at the ratios there are.

    Classes are balanced, so that the normalised cost at c = fp / (fp + fn) is a Brier curve's loss
    there: what is paid where probabilities are believed. The grey line is the cheapest constant.
    """
    figure, axes = new_figure(1, len(sets), 3.4 * len(sets), 3.6)
    for ax, name in zip(axes[0], sets, strict=True):
        for i, (label, method, calibrated) in enumerate(CURVES):
            of_ratio: dict[float, list[float]] = {}
            for row in rows:
                if (
                    (row["dataset"], row["method"], row["calibrated"]) == (name, method, calibrated)
                    and row["learner"] in (learner, RECIPE)
                ):  # fmt: skip
                    of_ratio.setdefault(1 / (1 + row["ratio"]), []).append(row["q"])
            shares = sorted(of_ratio)
            style: Any = {"color": COLORS[i], "linestyle": LINE_STYLES[i], "label": label}
            ax.plot(shares, [np.mean(of_ratio[c]) for c in shares], **style)
        ax.plot([0, 0.5, 1], [0, 0.5, 0], color=GREY, linewidth=1)
        ax.set_title(name.removeprefix("nik_"), fontsize=10)
        ax.set_xlabel("c = fp / (fp + fn)")
        ax.set_ylim(0, 0.5)
    axes[0, 0].set_ylabel("normalised cost")
    return with_legend(figure, axes[0, 0])


def distortion_figure(rows: list[Row]) -> Any:
    """Draw the frequency of positives by score: AdaBoost's shares of votes, and calibrated."""
    figure, axes = new_figure(1, 2, 8.4, 4.0)
    for ax, calibrated in zip(axes[0], (0, 1), strict=True):
        for i, learner in enumerate(LEARNERS):
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

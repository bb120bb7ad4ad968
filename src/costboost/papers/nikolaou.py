"""Nikolaou et al.: fifteen cost-sensitive boosting methods, calibrated and not.

What the poster and the authors' code say: 18 sets, 21 cost ratios, discrete AdaBoost on univariate
logistic regressions, half of the training rows for Platt's calibration, classes balanced so that
only costs are skewed, results in Brier scores and normalised costs with tests of significance.

What they leave open, and what was settled before the run: classes are balanced by leaving rows of
the larger one out; half of the rows train and half test; 100 rounds; the ratios are 1, 1.5, 2, 2.5,
5, 10, 15, 20, 25, 50, 100 and their inverses; the fifteen methods are those of the authors' later
paper. A method that is not calibrated trains on all training rows and decides as published. Stumps
stand beside the logistic regressions; the default recipe of this library stands beside all.

Ranks are of the mean cost over the ratios, compared by Wilcoxon's test with Holm's correction. The
test is over sets, so that it is valid with one split of each; more (`--repeats`) make it sharper.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from costboost import datasets
from costboost.metrics import CriticalDifference, critical_difference
from costboost.papers import nikolaou_pictures as pictures
from costboost.papers.cells import Row, compute
from costboost.papers.nikolaou_work import LEARNERS, RECIPE, nikolaou_cell
from costboost.papers.options import Options, read_options
from costboost.papers.report import Report

UP = (1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 50.0, 100.0)
RATIOS = tuple(sorted({*UP, *(1 / ratio for ratio in UP)}))
SETS = tuple(name for name in datasets.names() if name.startswith("nik_"))
CLOSER = ("nik_heart", "nik_liver", "nik_sonar", "nik_wdbc")  # looked at by themselves
THREE = ("adamec", "cgada", "asymada")  # the poster's recommendation, once calibrated


def main(arguments: Sequence[str] = ()) -> None:
    """Compute the ranks, the Brier scores and the distortion of scores."""
    options = read_options("nikolaou", __doc__ or "", arguments)
    if options.quick:
        sets = ("nik_heart", "nik_liver", "nik_parkinsons", "nik_sonar", "nik_survival", "nik_wdbc")
        run(
            options,
            options.choose(sets),
            (0.1, 0.5, 1.0, 2.0, 10.0),
            options.repeats or 1,
            rounds=25,
        )
    else:
        run(options, options.choose(SETS), RATIOS, options.repeats or 1, rounds=100)


def run(
    options: Options, sets: Sequence[str], ratios: Sequence[float], n_splits: int, rounds: int
) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("Nikolaou et al.: cost-sensitive boosting, do we need it?", options)
    cells = {
        f"{name}-{learner}-{k}": (name, k, learner, tuple(ratios), rounds, options.data)
        for k in range(n_splits)  # what is finished first is all sets with fewer splits
        for name in sets
        for learner in (RECIPE, *LEARNERS)
    }
    rows = compute(nikolaou_cell, cells, options, {"rounds": rounds, "ratios": list(ratios)})
    report.say(f"{len(sets)} sets, {n_splits} splits, {len(ratios)} ratios, {rounds} rounds.")
    for learner in LEARNERS:
        mine = [row for row in rows if row["learner"] in (learner, RECIPE)]
        names, costs = cost_table(mine)
        found = critical_difference(costs, test="wilcoxon-holm")
        title = f"Mean ranks over the sets, {pictures.PLURALS[learner]}; 1 is best."
        report.table(f"ranks-{learner}", rank_rows(mine, names, costs, found), title, 3)
        for line in verdicts(names, costs, found.p_values):
            report.say(line)
        figure = pictures.ranks_figure(found, names)
        report.picture(f"ranks-{learner}", figure, f"Mean ranks, {pictures.PLURALS[learner]}")
    report.picture("curves", pictures.curves_figure(rows), "Normalised cost by ratio")
    closer = [name for name in CLOSER if name in sets] or sets[:4]
    report.picture("brier", pictures.brier_figure(rows, closer, "logistic"), "Brier curves")
    report.picture("distortion", pictures.distortion_figure(rows), "Scores against frequencies")
    report.close()


def _label(row: Row) -> str:
    if row["method"] == RECIPE:
        return "default recipe"
    return f"{row['method']}{', calibrated' if row['calibrated'] else ''}"


def cost_table(rows: list[Row]) -> tuple[list[str], np.ndarray]:
    """Return the methods, and the mean cost of each on each set, (sets, methods)."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        found.setdefault(_label(row), {}).setdefault(row["dataset"], []).append(row["q"])
    names = list(found)
    sets = sorted(found[names[0]])
    return names, np.array([[np.mean(found[name][s]) for name in names] for s in sets])


def rank_rows(
    rows: list[Row], names: list[str], costs: np.ndarray, found: CriticalDifference
) -> list[Row]:
    """Return the methods by mean rank, with cost and Brier score."""
    ranks = found.average_ranks
    brier: dict[str, list[float]] = {}
    for row in rows:
        brier.setdefault(_label(row), []).append(row["brier"])
    return [
        {
            "method": names[k],
            "mean rank": float(ranks[k]),
            "normalised cost": float(costs[:, k].mean()),
            "Brier score": float(np.mean(brier[names[k]])),
        }
        for k in np.argsort(ranks, kind="stable")
    ]


def verdicts(names: list[str], costs: np.ndarray, p_values: np.ndarray) -> list[str]:
    """Say whether the poster's three findings hold."""
    mean = dict(zip(names, costs.mean(axis=0), strict=True))
    plain = [name for name in names if "," not in name and name not in ("default recipe", *THREE)]
    worst, best = max(mean[m] for m in THREE), min(mean[m] for m in plain)
    calibrated = [f"{m}, calibrated" for m in THREE]
    better = [bool(mean[c] < mean[m]) for c, m in zip(calibrated, THREE, strict=True)]
    sure = [
        bool(p_values[names.index(c), names.index(m)] < 0.05)
        for c, m in zip(calibrated, THREE, strict=True)
    ]
    lines = [
        f"The three without calibration cheaper than every other: {_yes(worst < best)} "
        f"(dearest of the three {worst:.3f}, cheapest other {best:.3f}).",
        f"Calibrated cheaper than not: {sum(better)} of 3, significantly {sum(sure)} of 3.",
    ]
    if "default recipe" in mean:
        k, first = names.index("default recipe"), names.index("adamec, calibrated")
        lines.append(
            f"Today's default recipe costs {mean['default recipe']:.3f}, calibrated AdaMEC "
            f"{mean['adamec, calibrated']:.3f} (p = {p_values[k, first]:.3f})."
        )
    return lines


def _yes(holds: object) -> str:
    return "yes" if holds else "no"

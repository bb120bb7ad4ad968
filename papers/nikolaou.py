"""Nikolaou et al.: fifteen cost-sensitive boosting methods, calibrated and not.

What the poster and the authors' code say: 18 sets, 21 cost ratios, discrete AdaBoost on univariate
logistic regressions, half of the training rows for Platt's calibration, classes balanced so that
only costs are skewed, results in Brier scores and normalised costs with tests of significance.

What they leave open, and what was settled before the run: classes are balanced by leaving rows of
the larger one out; half of the rows train and half test; 100 rounds; the ratios are 1, 1.5, 2, 2.5,
5, 10, 15, 20, 25, 50, 100 and their inverses; the fifteen methods are those of the authors' later
paper. A method that is not calibrated trains on all training rows and decides as published. All are
calibrated by cross-entropy; the poster's three by least squares as well, as its step 3.3 says. The
probabilities of a method that is not calibrated are the link of its loss; the Brier score of the
poster's own score, the share of the votes, stands beside. Stumps stand beside the logistic
regressions; the default recipe of this library stands beside all.

Ranks are of the mean cost over the ratios, compared by Wilcoxon's test with Holm's correction. The
test is over sets, so that it is valid with one split of each; more (`--repeats`) make it sharper.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs, datasets
from costboost.boosting.adaboost.rules import RULES
from costboost.metrics import CriticalDifference, brier_score, critical_difference, normalized_cost
from costboost.plots import CriticalDifferenceDisplay
from costboost.plots.style import COLORS, GREY, LINE_STYLES
from papers.experiment import Options, Row, Split, compute, load_two_classes, read_options, seed_of
from papers.report import Report, mean_interval, new_figure, with_legend
from papers.univariate import CheckedLogistic

UP = (1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 50.0, 100.0)
RATIOS = tuple(sorted({*UP, *(1 / ratio for ratio in UP)}))
SETS = tuple(name for name in datasets.names() if name.startswith("nik_"))
CLOSER = ("nik_heart", "nik_liver", "nik_sonar", "nik_wdbc")  # looked at by themselves
THREE = ("adamec", "cgada", "asymada")  # the poster's recommendation, once calibrated
# The fifteen of the poster, as the authors' later paper names them.
METHODS = (
    "adaboost", "adacost", "adacost-beta2", "csb0", "csb1", "csb2", "rareboost", "asymada", "adac1",
    "adac2", "adac3", "csada", "adaboostdb", "cgada", "adamec",
)  # fmt: skip
# What `calibrated` counts: not at all; a sigmoid by cross-entropy, as Platt's; by least squares, as
# the poster's step 3.3. All methods have the second, the poster's three also the third.
CALIBRATIONS = (None, "sigmoid", "sigmoid-brier")
SQUARED = 2
RECIPE = "auto"  # a method, and its own learner: it has trees of its own
LEARNERS = ("stump", "logistic")
# They differ in how they search for a stump: with other learners they are one.
TWINS = {"adaboostdb": "csada"}
N_BINS = 10
PLURALS = {"stump": "stumps", "logistic": "logistic regressions"}
SHOWN = ("adaboost", "adamec", "cgada", "asymada", "csb2")
CURVES = (
    ("AdaBoost", "adaboost", 0),
    ("AdaMEC", "adamec", 0),
    ("AdaMEC, calibrated", "adamec", 1),
    ("default recipe", RECIPE, 1),
)


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
    protocol = {"rounds": rounds, "ratios": list(ratios), "calibrations": CALIBRATIONS}
    rows = compute(nikolaou_cell, cells, options, protocol)
    report.say(f"{len(sets)} sets, {n_splits} splits, {len(ratios)} ratios, {rounds} rounds.")
    for learner in LEARNERS:
        mine = [row for row in rows if row["learner"] in (learner, RECIPE)]
        three = [row for row in mine if row["method"] in THREE and row["calibrated"]]
        mine = [row for row in mine if row["calibrated"] != SQUARED]
        names, costs = cost_table(mine)
        found = critical_difference(costs, test="wilcoxon-holm")
        title = f"Mean ranks over the sets, {PLURALS[learner]}; 1 is best."
        report.table(f"ranks-{learner}", rank_rows(mine, names, costs, found), title, 3)
        title = f"The three by cross-entropy and by least squares, {PLURALS[learner]}."
        report.table(f"calibrations-{learner}", calibration_rows(three), title, 4)
        for line in verdicts(names, costs, found.p_values):
            report.say(line)
        figure = ranks_figure(found, names)
        report.picture(f"ranks-{learner}", figure, f"Mean ranks, {PLURALS[learner]}")
    report.picture("curves", curves_figure(rows), "Normalised cost by ratio")
    closer = [name for name in CLOSER if name in sets] or sets[:4]
    report.picture("brier", brier_figure(rows, closer, "logistic"), "Brier curves")
    report.picture("distortion", distortion_figure(rows), "Scores against frequencies")
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
    """Return the methods by mean rank, with cost, Brier scores and rounds.

    "Brier, votes" is of the share of the votes, where a method is not calibrated.
    """
    ranks = found.average_ranks
    measured: dict[str, list[Row]] = {}
    for row in rows:
        measured.setdefault(_label(row), []).append(row)
    return [
        {
            "method": names[k],
            "mean rank": float(ranks[k]),
            "normalised cost": float(costs[:, k].mean()),
            "Brier score": _mean(measured[names[k]], "brier"),
            "Brier, votes": _mean(measured[names[k]], "brier_votes"),
            "rounds": _mean(measured[names[k]], "rounds"),
        }
        for k in np.argsort(ranks, kind="stable")
    ]


def _mean(rows: list[Row], name: str) -> float | None:
    """Return the mean of what was measured, None where nothing was."""
    values = [row[name] for row in rows if row[name] is not None]
    return float(np.mean(values)) if values else None


def calibration_rows(rows: list[Row]) -> list[Row]:
    """Return costs and Brier scores of calibrated methods, by cross-entropy and by least squares.

    What the latter have more has an interval over the sets.
    """
    found: dict[tuple[str, int, str], dict[str, list[float]]] = {}
    for row in rows:
        for measure in ("q", "brier"):
            of_set = found.setdefault((row["method"], row["calibrated"], measure), {})
            of_set.setdefault(row["dataset"], []).append(row[measure])
    means = {
        key: np.array([np.mean(values) for _, values in sorted(of_set.items())])
        for key, of_set in found.items()
    }
    table = []
    for method in dict.fromkeys(row["method"] for row in rows):
        line: Row = {"method": method}
        for name, measure in (("cost", "q"), ("Brier", "brier")):
            first, squared = means[method, 1, measure], means[method, SQUARED, measure]
            line[f"{name}, cross-entropy"] = float(first.mean())
            line[f"{name}, least squares"] = float(squared.mean())
            line[f"{name}, more"] = mean_interval(list(squared - first)).text(4, "+")
        table.append(line)
    return table


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


# ------------------------------------------------------------ one cell of work


def cut(path: str, split: int, folder: str | None) -> Split:
    """Return halves of as many positives as negatives, the rest of the larger class left out."""
    X, y = load_two_classes(path, folder)
    rng = np.random.default_rng(seed_of(path, split))
    n = int(min(y.sum(), len(y) - y.sum()))
    kept = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:n] for k in (0, 1)])
    X, y = X[kept], y[kept]
    a, b, c, d = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
    return Split(a, c, b, d)


def nikolaou_cell(
    path: str, split_number: int, learner: str, ratios: tuple[float, ...], rounds: int,
    folder: str | None,
) -> list[Row]:  # fmt: skip
    """Return the normalised costs of all methods at all ratios, calibrated and not."""
    split = cut(path, split_number, folder)
    head = {"dataset": path, "split": split_number, "learner": learner}
    if learner == RECIPE:
        found = _method_rows(split, RECIPE, 1, learner, ratios, rounds)
        return [{**head, "method": RECIPE, "calibrated": 1, **row} for row in found]
    rows: dict[tuple[str, int], list[Row]] = {}
    for method in METHODS:
        for calibrated in (0, 1, SQUARED) if method in THREE else (0, 1):
            twin = None if learner == "stump" else rows.get((TWINS.get(method, ""), calibrated))
            rows[method, calibrated] = twin or list(
                _method_rows(split, method, calibrated, learner, ratios, rounds)
            )
    return [
        {**head, "method": method, "calibrated": calibrated, **row}
        for (method, calibrated), found in rows.items()
        for row in found
    ]


def _method_rows(
    split: Split, method: str, calibrated: int, learner: str, ratios: tuple[float, ...],
    rounds: int,
) -> Iterator[Row]:  # fmt: skip
    on_costs = method != RECIPE and RULES[method].trains_on_costs
    model = None
    for ratio in ratios:
        costs = prices(ratio)
        if model is None or on_costs:
            model = _fit(split, method, calibrated, learner, rounds, costs)
        answers = _decide(model, method, calibrated, split, costs)
        p = model.predict_proba(split.X_test)[:, 1]
        scores = p if calibrated else vote_shares(model, split)
        shown = ratio == 1 and method == "adamec" and calibrated != SQUARED
        yield {
            "ratio": ratio,
            "q": float(normalized_cost(split.y_test, answers, costs=costs)),
            "brier": float(brier_score(split.y_test, p)),
            "brier_votes": None if calibrated else float(brier_score(split.y_test, scores)),
            "rounds": None if method == RECIPE else int(model.n_iter_),
            "bins": _bins(split.y_test, scores) if shown else None,
        }


def prices(ratio: float) -> Costs:
    """Return a miss of price `ratio` to a false alarm's 1, or (below 1) the reverse."""
    return Costs(fp=1.0, fn=float(ratio)) if ratio >= 1 else Costs(fp=float(1 / ratio), fn=1.0)


def _fit(
    split: Split, method: str, calibrated: int, learner: str, rounds: int, costs: Costs
) -> Any:
    given: dict[str, Any] = {"random_state": 0}
    if method != RECIPE:
        given |= {"n_estimators": rounds, "calibration": CALIBRATIONS[calibrated]}
        given |= {"cv": 0.5}  # half of the training rows to train on, half to calibrate on
        given |= {"max_depth": 1} if learner == "stump" else {"estimator": CheckedLogistic()}
    with warnings.catch_warnings():  # a method that ends early is judged as it is
        warnings.simplefilter("ignore", UserWarning)
        return CostBoostClassifier(method, **given).fit(split.X, split.y, costs=costs)


def _decide(model: Any, method: str, calibrated: int, split: Split, costs: Costs) -> Any:
    if calibrated or method == "adamec":
        return model.predict(split.X_test, costs=costs)
    return model.predict(split.X_test)


def vote_shares(model: Any, split: Split) -> Any:
    """Return the poster's scores of a model that is not calibrated: the share of the votes.

    One half for all rows where no round was taken.
    """
    total = float(np.sum(model.estimator_weights_))
    if total <= 0:
        return np.full(len(split.y_test), 0.5)
    return np.clip(0.5 * (1 + model.decision_function(split.X_test) / total), 0.0, 1.0)


def _bins(y: NDArray[Any], p: NDArray[np.float64]) -> str:
    """Return scores, positives and rows of ten equal bins of scores, as text."""
    which = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    sums = [np.bincount(which, v, minlength=N_BINS) for v in (p, y, np.ones(len(y)))]
    return " ".join(f"{value:.6g}" for value in np.concatenate(sums))


# ------------------------------------------------------------ pictures


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

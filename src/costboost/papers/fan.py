"""Fan, Stolfo, Zhang and Chan: AdaCost, its lemma and bound along the rounds, and Table 2.

What the slides say: six public sets, a miss costs 2 to 9 times a false alarm, ten-fold
cross-validation (one set has a test part); cRipper, AdaBoost and AdaCost, with Laplace-corrected
confidences; alpha by an estimate that is refined numerically.

What they leave open, and what was settled before the run:

- trees of depth 3 whose leaves vote with Laplace-corrected confidences stand for cRipper: both
  partition the rows by conjunctions of tests, and the confidence, which is what AdaCost asks of its
  learner, is estimated in the same way;
- 50 rounds; AdaBoost starts from weights proportional to cost, as cRipper and AdaCost do (the other
  reading: `adaboost, no costs`); costs are divided so that the largest is 0.1;
- AdaBoost's alpha is refined as AdaCost's is (after a first look, in which it was not), and both
  are shown with the estimate alone too;
- `boolean` is a stand-in (15 Boolean columns, 5 conjunctions of 5, 4,371 positives), for the
  function is not known; the bank's data is not public: card payments made by this library, one in
  five a fraud, an overhead of 60 to 90 (`chase`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from costboost.papers import fan_bound, fan_pictures
from costboost.papers.cells import Row, compute
from costboost.papers.fan_work import FOLDS, METHODS, OVERHEADS, ROUNDS, chase_cell, cut, fan_cell
from costboost.papers.intervals import Interval, mean_interval, order_verdict, place
from costboost.papers.options import Options, read_options
from costboost.papers.report import Report, published

SETS = ("hypothyroid", "boolean_standin", "dis", "crx", "breast_cancer_wisconsin", "wpbc")
RATIOS = tuple(range(2, 10))
SHOWN = 5  # the ratio of the pictures
# Their columns, and ours.
COLUMNS = {"cripper": "tree", "adaboost": "adaboost", "adacost": "adacost"}
OTHERS = tuple(method for method in METHODS if method not in COLUMNS.values())


def main(arguments: Sequence[str] = ()) -> None:
    """Compute the theory's picture, Table 2, and the made-up bank's."""
    options = read_options("fan", __doc__ or "", arguments)
    if options.quick:
        run(options, ("crx", "wpbc"), (2, 5, 9), 1)
    else:
        run(options, options.choose(SETS), RATIOS, options.repeats or 5)


def run(options: Options, sets: Sequence[str], ratios: Sequence[int], n_draws: int) -> None:
    """Write tables and pictures to `options.out`."""
    report = Report("Fan, Stolfo, Zhang and Chan: AdaCost", options)
    whole = cut(sets[0], 0, options.data)
    methods = ("adaboost", "adacost", "adaboost, estimate", "adacost, estimate")
    paths = {m: fan_bound.bound_path(whole, m, float(SHOWN)) for m in methods}
    title = f"Lemma 1, the identity and the bound on {sets[0]}, ratio {SHOWN}."
    report.table("bound", fan_bound.summary(paths), title)
    report.picture("bound", fan_pictures.bound_figure(paths), "Training cost and its bound")
    cells = {
        f"{name}-{k}": (name, k, tuple(ratios), options.data) for name in sets for k in range(FOLDS)
    }
    rows = compute(fan_cell, cells, options, {"rounds": ROUNDS, "ratios": list(ratios)})
    report.table("table2", table_rows(rows), "Table 2: percentage cumulative loss.")
    report.table("means", mean_rows(rows), "Means over the ratios.")
    for line in verdicts(rows):
        report.say(line)
    names = list(sets)
    means = {key: interval.mean for key, interval in intervals(rows).items()}
    figure = fan_pictures.improvement_figure(means, names)
    report.picture("improvement", figure, "AdaCost less AdaBoost, by ratio")
    figure = fan_pictures.rounds_figure(rows, names, SHOWN)
    report.picture("rounds", figure, "Losses on fresh rows, round by round")
    chase = compute(
        chase_cell,
        {f"chase-{k}": (k,) for k in range(n_draws)},
        Options(options.out / "chase", jobs=options.jobs),
        {"overheads": list(OVERHEADS)},
    )
    report.table("chase", chase_rows(chase), "Made-up card payments, by overhead.")
    report.close()


def intervals(rows: list[Row]) -> dict[tuple[str, str, int], Interval]:
    """Return the mean loss over folds by set, method and ratio."""
    found: dict[tuple[str, str, int], list[float]] = {}
    for row in rows:
        found.setdefault((row["dataset"], row["method"], row["ratio"]), []).append(row["loss"])
    # The tenths of a test part share no training rows that others were tested on.
    return {
        key: mean_interval(values, 0.0 if key[0] in ("dis", "chase") else 1 / (FOLDS - 1))
        for key, values in found.items()
    }


def _printed() -> dict[tuple[str, int], Row]:
    names = {"boolean": "boolean_standin"}
    return {
        (str(names.get(row["dataset"], row["dataset"])), int(row["ratio"])): row
        for row in published("fan_table2")
    }


def table_rows(rows: list[Row]) -> list[Row]:
    """Return Table 2, published and ours."""
    printed, found = _printed(), intervals(rows)
    table = []
    for name, ratio in dict.fromkeys((row["dataset"], row["ratio"]) for row in rows):
        line: Row = {"set": name, "ratio": ratio}
        was = printed.get((name, ratio), {})
        for theirs, ours in COLUMNS.items():
            interval = found[name, ours, ratio]
            line[f"{theirs}, published"] = was.get(theirs)
            line[f"{ours}, ours"] = str(interval)
            line[f"{ours} verdict"] = place(was[theirs], interval, 1) if was else ""
        for method in OTHERS:
            line[method] = found[name, method, ratio].mean
        table.append(line)
    return table


def mean_rows(rows: list[Row]) -> list[Row]:
    """Return the means over the ratios, with the order of the three methods."""
    printed, found = _printed(), intervals(rows)
    table = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        ratios = sorted({row["ratio"] for row in rows if row["dataset"] == name})
        mean = {m: float(np.mean([found[name, m, r].mean for r in ratios])) for m in METHODS}
        line: Row = {"set": name}
        was = {
            theirs: float(np.mean([printed[name, r][theirs] for r in ratios]))
            for theirs in COLUMNS
            if (name, ratios[0]) in printed
        }
        for theirs, ours in COLUMNS.items():
            line[f"{theirs}, published"] = was.get(theirs)
            line[f"{ours}, ours"] = mean[ours]
        line |= {method: mean[method] for method in OTHERS}
        ours_by = {theirs: mean[ours] for theirs, ours in COLUMNS.items()}
        line["verdict"] = order_verdict(was, ours_by) if was else ""
        table.append(line)
    return table


def verdicts(rows: list[Row]) -> list[str]:
    """Count the wins of AdaCost, published and ours."""
    printed, found = _printed(), intervals(rows)
    cells = list(dict.fromkeys((r["dataset"], r["ratio"]) for r in rows))
    both = [key for key in cells if key in printed]
    lines = []
    for theirs, ours in (("adaboost", "adaboost"), ("cripper", "tree")):
        then = sum(printed[key][f"less_{theirs}"] < 0 for key in both)
        now = sum(found[n, "adacost", r].mean < found[n, ours, r].mean for n, r in both)
        lines.append(
            f"AdaCost is cheaper than {theirs} in {now} of {len(both)} cells (published: {then})."
        )
    gaps = _paired(rows)
    sure = sum(gap.high < 0 for gap in gaps.values()), sum(gap.low > 0 for gap in gaps.values())
    lines.append(
        f"Fold by fold, AdaCost is cheaper than AdaBoost beyond doubt (95%) in {sure[0]} cells and "
        f"dearer in {sure[1]}, of {len(gaps)}."
    )
    return lines


def _paired(rows: list[Row]) -> dict[tuple[str, int], Interval]:
    """Return AdaCost's loss less AdaBoost's on the same folds."""
    by_fold = {(r["dataset"], r["ratio"], r["method"], r["fold"]): r["loss"] for r in rows}
    gaps: dict[tuple[str, int], list[float]] = {}
    for (name, ratio, method, fold), value in by_fold.items():
        if method == "adacost":
            gaps.setdefault((name, ratio), []).append(
                value - by_fold[name, ratio, "adaboost", fold]
            )
    return {
        key: mean_interval(values, 0.0 if key[0] == "dis" else 1 / (FOLDS - 1))
        for key, values in gaps.items()
    }


def chase_rows(rows: list[Row]) -> list[Row]:
    """Return the losses on made-up payments by overhead."""
    found = intervals(rows)
    return [
        {"overhead": o, **{method: str(found["chase", method, o]) for method in METHODS}}
        for o in OVERHEADS
    ]

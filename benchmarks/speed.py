"""Time of boosting rounds, of binning, growth with rows, and memory, against peers.

    python benchmarks/speed.py [--quick] [--rows N] [--repeats N] [--json FILE]

A round's time is the difference between a long and a short fit of the public estimators, so that
binning and start-up are outside. The AdaBoost lines compare our AdaBoost with the peers' log-loss
boosting of equal trees, which are binned before.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from _common import (
    BINS,
    PEERS,
    TABLES,
    THREADS,
    LightGBM,
    Line,
    Ours,
    Report,
    XGBoost,
    alternate,
    judge,
    make_table,
    start,
    take,
    time_rounds,
)
from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    PNormBoostClassifier,
)
from costboost.binning.binner import fit_binner

AdaBoost = partial(CostBoostClassifier, "adaboost", n_jobs=THREADS)
LogLoss = partial(GradientBoostClassifier, n_jobs=THREADS, random_state=0)
WORK: tuple[tuple[str, Any, int, float, float | None], ...] = (
    # what, our estimator, leaves, at most of LightGBM's time, of XGBoost's
    ("AdaBoost, stumps", AdaBoost, 2, 0.36, 0.40),
    ("AdaBoost, 8 leaves", AdaBoost, 8, 0.40, 0.60),
    ("AdaBoost, 31 leaves", AdaBoost, 31, 0.50, 0.75),
    ("log loss, 31 leaves", LogLoss, 31, 0.55, None),
)
MB = 1e6


def shape(leaves: int) -> dict[str, int]:
    """Return how the estimators are told of trees of so many leaves."""
    return {"max_depth": 1} if leaves == 2 else {"max_depth": None, "max_leaf_nodes": leaves}


def rounds(report: Report, make: Any, n_rows: int, n_rounds: int, repeats: int) -> None:
    """Time rounds of the public estimators; the peers' tables are binned before."""
    X, y = make(n_rows)
    kind = next(name for name, known in TABLES.items() if known is make)
    report.head(f"One round, {len(y):,} x {X.shape[1]}, {kind}, {n_rounds} rounds")
    peers = [peer(X, y) for peer in PEERS]
    for name, estimator, leaves, most, most_of_xgboost in WORK:

        def ours(n: int, estimator: Any = estimator, leaves: int = leaves) -> None:
            estimator(n_estimators=n, **shape(leaves)).fit(X, y)

        trains: dict[str, Any] = {Ours.name: ours}
        trains |= {peer.name: partial(peer.train, leaves) for peer in peers}
        times = time_rounds(trains, n_rounds, repeats, short=10)
        report.add(Line(name, times, LightGBM.name, most))
        report.add(Line("- against XGBoost", times, XGBoost.name, most_of_xgboost))


def small_tables(report: Report, repeats: int) -> None:
    """Time whole fits of small tables with one thread each."""
    for n_rows in (1_000, 10_000):
        X, y = make_table(n_rows, 20)
        report.head(f"Whole fit, {n_rows:,} x 20, depth 3, 1 thread", (Ours.name, LightGBM.name))
        boosters = {
            Ours.name: CostBoostClassifier("adaboost", 100, max_depth=3, n_jobs=1),
            LightGBM.name: lgb.LGBMClassifier(
                n_estimators=100, max_depth=3, num_leaves=8, n_jobs=1, verbose=-1
            ),
        }
        work = {name: partial(model.fit, X, y) for name, model in boosters.items()}
        report.add(Line("100 rounds", alternate(work, 5 * repeats), LightGBM.name, 1.0))


def binning(report: Report, X: Any, y: Any, repeats: int) -> None:
    report.head(f"Binning, {len(y):,} x {X.shape[1]}")

    def ours() -> None:
        fit_binner(X, max_bins=BINS, n_threads=THREADS).encode(X, n_threads=THREADS)

    work = {Ours.name: ours} | {peer.name: partial(peer, X, y) for peer in (LightGBM, XGBoost)}
    note = "LightGBM cuts by a sample of 200,000 rows"
    report.add(Line("edges and codes", alternate(work, repeats), LightGBM.name, 0.25, note))


def against_scikit_learn(report: Report, n_rows: int, repeats: int) -> None:
    X, y = make_table(n_rows, 20)
    sklearn = "scikit-learn"
    report.head(f"One round, {n_rows:,} x 20", (Ours.name, sklearn))
    ours = Ours(X, y)

    def theirs(n: int) -> None:
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=n).fit(X, y)

    trains = {Ours.name: partial(_run, ours, 2), sklearn: theirs}
    counts = {Ours.name: 200, sklearn: 3}
    times = time_rounds(trains, counts, repeats, short=2)
    report.add(Line("AdaBoost, stumps", times, sklearn, 0.01))


def _run(ours: Ours, leaves: int, n: int) -> None:
    take(ours.adaboost(leaves), n)


def growth(report: Report, sizes: tuple[int, ...], repeats: int) -> None:
    """Show that time per row does not depend on the number of rows."""
    print(f"\nTime per row and round, nanoseconds\n{'rows':<32}{'stumps':>13}{'8 leaves':>13}")
    found: dict[int, list[float]] = {}
    for n_rows in sizes:
        ours = Ours(*make_table(n_rows))
        trains = {str(k): partial(_run, ours, k) for k in (2, 8)}
        times = time_rounds(trains, max(10, 5_000_000 // n_rows), repeats)
        found[n_rows] = [float(times[str(k)][0]) / n_rows * 1e9 for k in (2, 8)]
        print(f"{n_rows:<32,}" + "".join(f"{t:>13.2f}" for t in found[n_rows]), flush=True)
    last, first = found[sizes[-1]], found[sizes[0]]
    ratios = "".join(f"{b / a:>13.2f}" for a, b in zip(first, last, strict=True))
    print(f"{'most rows over fewest':<32}{ratios}   (linear: 1)")
    report.extra["nanoseconds per row and round"] = found


# What: the estimator, whether rows have prices of their own, bytes a row at most. Of every kind the
# one that holds most: AdaCost has two margins a row, the cost-exponential loss three terms.
AdaCost = partial(CostBoostClassifier, "adacost", 10)
Gradient = partial(GradientBoostClassifier, n_estimators=10)
CostExponential = partial(Gradient, loss="cost-exponential")
MEMORY = {
    "adaboost, stumps": (partial(CostBoostClassifier, "adaboost", 10, max_depth=1), False, 100),
    "adaboost, 31 leaves": (
        partial(CostBoostClassifier, "adaboost", 10, max_depth=None, max_leaf_nodes=31),
        False,
        100,
    ),
    "adamec, calibrated": (partial(CostBoostClassifier, "adamec", 10), False, 100),
    "adacost": (AdaCost, False, 100),
    "adacost, calibrated": (partial(AdaCost, calibration="isotonic"), False, 100),
    "adacost, per row": (AdaCost, True, 130),
    "adacost, calibrated, per row": (partial(AdaCost, calibration="isotonic"), True, 130),
    "gradient-csb, per row": (partial(CostBoostClassifier, "gradient-csb", 10), True, 130),
    "csb2, per row": (partial(CostBoostClassifier, "csb2", 10), True, 130),
    "adamec, calibrated, per row": (partial(CostBoostClassifier, "adamec", 10), True, 130),
    "log loss, calibrated": (partial(Gradient, calibration="isotonic"), False, 100),
    "log loss, per row": (Gradient, True, 130),
    "cost-exponential": (CostExponential, False, 100),
    "cost-exponential, per row": (CostExponential, True, 130),
    "- calibrated": (partial(CostExponential, calibration="isotonic"), False, 100),
    "- calibrated, per row": (partial(CostExponential, calibration="isotonic"), True, 130),
    "auto": (partial(CostBoostClassifier, n_estimators=20, random_state=0), False, 200),
    "lp-csb": (partial(PNormBoostClassifier, n_estimators=10), False, 100),
    "lp-csb, prices per row": (partial(PNormBoostClassifier, n_estimators=10), True, 130),
    "adaboost.m2": (partial(PNormBoostClassifier, 2, "adaboost.m2", n_estimators=10), False, 100),
}


def memory(report: Report, n_rows: int) -> None:
    """Show the peak above the input during fit, each in a process of its own."""
    heads = ("MB", "B/row", "at most", "of limit")
    title = f"Peak memory of fit above its input, {n_rows:,} x 30"
    print(f"\n{title}\n" + " " * 35 + "".join(f"{h:>13}" for h in heads))
    for name, (_, _, most) in MEMORY.items():
        command = [sys.executable, __file__, "--peak", name, str(n_rows)]
        peak = int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        verdict = judge(peak / n_rows, most)
        sizes = f"{peak / MB:>13.1f}{peak / n_rows:>13.1f}{most:>13}{peak / n_rows / most:>13.2f}"
        print(f"{name:<35}{sizes}   {verdict}", flush=True)
        report.verdicts.append(verdict)
        report.extra.setdefault("peak bytes a row", {})[name] = [peak / n_rows, most]


def print_peak(name: str, n_rows: int) -> None:
    """Fit the public estimator; print the bytes it took at most above what was there before."""
    make, priced, _ = MEMORY[name]
    model = make(n_jobs=THREADS)
    few = make_table(5_000, 30)
    model.fit(*few)  # imports and pools are not the table's
    X, y = make_table(n_rows, 30)
    prices = np.random.default_rng(0).lognormal(0.0, 1.0, n_rows) if priced else 5.0
    costs = Costs(fp=1.0, fn=prices)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the table
    before = _status("VmRSS")
    model.fit(X, y, costs=costs)
    print(_status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def main() -> None:
    options = start(__doc__)
    n_rows, repeats, quick = options.rows, options.repeats, options.quick
    report = Report()
    for make in TABLES.values():
        rounds(report, make, n_rows, 20 if quick else 50, repeats)
    small_tables(report, repeats)
    binning(report, *make_table(n_rows), repeats)
    against_scikit_learn(report, 100_000, repeats)
    sizes = (50_000, 200_000) if quick else (100_000, 400_000, 1_000_000, 4_000_000)
    growth(report, sizes, repeats)
    memory(report, n_rows)
    report.close(options.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print_peak(sys.argv[2], int(sys.argv[3]))
    else:
        main()

"""Time of boosting rounds, of binning, growth with rows, and memory, against peers.

    python benchmarks/speed.py [--quick] [--rows N] [--repeats N] [--json FILE]

A round's time is the difference between a long and a short run, so that binning and start-up are
outside. The AdaBoost lines compare our AdaBoost with the peers' log-loss boosting of equal trees.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from _common import (
    BINS,
    FEATURES,
    PEERS,
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
from costboost import CostBoostClassifier
from costboost.binning.binner import fit_binner

WORK = (  # what, our loop, leaves, target
    ("AdaBoost, stumps", "adaboost", 2, 0.50),
    ("AdaBoost, 8 leaves", "adaboost", 8, 0.55),
    ("AdaBoost, 31 leaves", "adaboost", 31, 0.65),
    ("log loss, 31 leaves", "log_loss", 31, 0.90),
)
MB = 1e6


def rounds(report: Report, X: Any, y: Any, n_rounds: int, repeats: int) -> None:
    report.head(f"One round, {len(y):,} x {X.shape[1]}, {n_rounds} rounds")
    ours, peers = Ours(X, y), [peer(X, y) for peer in PEERS]
    for name, loop, leaves, target in WORK:
        trains = {Ours.name: lambda n, loop=loop, k=leaves: take(getattr(ours, loop)(k), n)}
        trains |= {peer.name: partial(peer.train, leaves) for peer in peers}
        times = time_rounds(trains, n_rounds, repeats)
        report.add(Line(name, times, LightGBM.name, target))


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


def memory(report: Report, sizes: tuple[int, ...]) -> None:
    """Show the peak above the input during fit, each in a process of its own."""
    heads = ("rows", "MB", "at most", "B/row", "of limit")
    print("\nPeak memory of fit above its input\n" + " " * 32 + "".join(f"{h:>13}" for h in heads))
    for label, leaves in (("stumps", 2), ("31 leaves", 31)):
        for n_rows in sizes:
            command = [sys.executable, __file__, "--peak", str(leaves), str(n_rows)]
            peak = int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            limit = (1.2 * FEATURES + 48) * n_rows + 100 * MB
            sizes_in = f"{n_rows:>13,}{peak / MB:>13.1f}{limit / MB:>13.1f}{peak / n_rows:>13.1f}"
            verdict = judge(peak, limit)
            line = f"{'AdaBoost, ' + label:<32}{sizes_in}{peak / limit:>13.2f}   {verdict}"
            print(line, flush=True)
            report.verdicts.append(verdict)
            report.extra.setdefault("peak bytes", {})[f"{label}, {n_rows}"] = [peak, limit]


def print_peak(leaves: int, n_rows: int) -> None:
    """Fit the public estimator; print the bytes it took at most above what was there before."""
    shape = {"max_depth": 1} if leaves == 2 else {"max_leaf_nodes": leaves}
    model = CostBoostClassifier("adaboost", 10, n_jobs=THREADS, **shape)
    model.fit(*make_table(5_000))  # imports and pools are not the table's
    X, y = make_table(n_rows)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the table
    before = _status("VmRSS")
    model.fit(X, y)
    print(_status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def main() -> None:
    options = start(__doc__)
    n_rows, repeats, quick = options.rows, options.repeats, options.quick
    report = Report()
    X, y = make_table(n_rows)
    rounds(report, X, y, 20 if quick else 50, repeats)
    binning(report, X, y, repeats)
    del X, y
    against_scikit_learn(report, 100_000, repeats)
    sizes = (50_000, 200_000) if quick else (100_000, 400_000, 1_000_000, 4_000_000)
    growth(report, sizes, repeats)
    memory(report, (n_rows,) if quick else (n_rows, 4 * n_rows))
    report.close(options.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peak"]:
        print_peak(*map(int, sys.argv[2:]))
    else:
        main()

"""Time of predicting margins from raw float32 rows, against peers.

    python benchmarks/predict.py [--quick] [--rows N] [--repeats N] [--json FILE]

All models have the same number of trees, leaves and threads and are trained on the same rows, few
of them: only prediction is timed, and it depends on the shape of the trees alone. The rows
predicted are others. Small tables show the fixed costs of a call; each of their measurements is
the mean of as many calls as make up 20,000 rows, at most 100. scikit-learn sits out the stumps,
for which it would need as long as everything else together.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from _common import (
    PEERS,
    THREADS,
    HistGB,
    LightGBM,
    Line,
    Ours,
    Report,
    alternate,
    make_table,
    start,
)

TRAINED_ON = 10_000
SMALL = (20_000, 1_000, 1)  # rows
WORK = (  # what, leaves, trees, target
    ("100 trees of 8 leaves", 8, 100, 0.40),
    ("1,000 stumps", 2, 1_000, 0.05),
)


def repeat(call: Any, count: int) -> None:
    for _ in range(count):
        call()


def on_small_tables(report: Report, margins: dict[str, Any], X: Any, repeats: int) -> None:
    """Add a line for each small size: milliseconds per call."""
    for n_rows in SMALL:
        calls = min(100, SMALL[0] // n_rows)
        work = {
            peer: partial(repeat, partial(predict, X[:n_rows]), calls)
            for peer, predict in margins.items()
        }
        times = {peer: took / calls for peer, took in alternate(work, repeats).items()}
        rows = f"{n_rows:,} rows" if n_rows > 1 else "1 row"
        report.add(Line(f"  the same, {rows}", times, LightGBM.name))


def against_peers(report: Report, X: Any, ours: Ours, peers: list[Any], repeats: int) -> None:
    report.head(f"Predict {len(X):,} x {X.shape[1]} from raw float32")
    for name, leaves, trees, target in WORK:
        forest = ours.forest(leaves, trees)
        asked = [peer for peer in peers if leaves > 2 or not isinstance(peer, HistGB)]
        for peer in asked:
            peer.train(leaves, trees)
        margins = {Ours.name: lambda rows, forest=forest: forest.margins(rows, THREADS)}
        margins |= {peer.name: peer.margins for peer in asked}
        work = {peer: partial(predict, X) for peer, predict in margins.items()}
        report.add(Line(name, alternate(work, repeats), LightGBM.name, target))
        on_small_tables(report, margins, X, repeats)


def stumps_by_rounds(report: Report, X: Any, ours: Ours, repeats: int) -> None:
    """Show that more stumps take no more time: they are one table per column."""
    forest = ours.forest(2, 1_000)
    work = {n: partial(forest.first(n).margins, X, THREADS) for n in (10, 100, 1_000)}
    times = alternate(work, repeats)
    print("\nStumps by the number of rounds, ms")
    for n, seconds in times.items():
        used = len(forest.first(n).used_features)
        print(f"{n:>5,} rounds{seconds[0] * 1e3:>12.2f}   {used} columns used")
    report.extra["stumps by rounds"] = times


def main() -> None:
    options = start(__doc__)
    report = Report()
    X, y = make_table(options.rows + TRAINED_ON)
    train, rest = (X[:TRAINED_ON], y[:TRAINED_ON]), X[TRAINED_ON:]
    ours, peers = Ours(*train), [peer(*train) for peer in PEERS]
    against_peers(report, rest, ours, peers, options.repeats)
    stumps_by_rounds(report, rest, ours, options.repeats)
    report.close(options.json)


if __name__ == "__main__":
    main()

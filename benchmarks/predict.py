"""Time of predicting margins from raw float32 rows, against peers.

    python benchmarks/predict.py [--quick] [--rows N] [--repeats N] [--json FILE]

All models are trained on the same 100,000 rows; the rows predicted are others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from _common import PEERS, THREADS, LightGBM, Line, Ours, Report, alternate, make_table, start

TRAINED_ON = 100_000
WORK = (  # what, leaves, trees, target
    ("100 trees of 8 leaves", 8, 100, 0.40),
    ("1,000 stumps", 2, 1_000, 0.05),
)


def against_peers(report: Report, X: Any, ours: Ours, peers: list[Any], repeats: int) -> None:
    report.head(f"Predict {len(X):,} x {X.shape[1]} from raw float32")
    for name, leaves, trees, target in WORK:
        forest = ours.forest(leaves, trees)
        for peer in peers:
            peer.train(leaves, trees)
        work = {Ours.name: partial(forest.margins, X, THREADS)}
        work |= {peer.name: partial(peer.margins, X) for peer in peers}
        report.add(Line(name, alternate(work, repeats), LightGBM.name, target))


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

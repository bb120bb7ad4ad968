"""Time of predicting from raw float32 rows, against peers: estimators, then bare forests.

    python benchmarks/predict.py [--quick] [--rows N] [--trained N] [--repeats N] [--json FILE]

All models are trained on the same rows, few of them: only prediction is timed, and it depends on
the shape of the trees alone. The rows predicted are others.

The estimators are those that users have: `predict_proba` of everybody's default model on two
threads, from a DataFrame and from an array. Ours averages five models of up to 400 trees each; of
fewer than 10,000 rows (`--trained 5000`) each has an additive model too, a tree a column. The peers
have 100 trees. For a row or two it is the fixed costs of a call that count. The fewer the rows, the
more often everybody is asked, in turns.

The forests have the same number of trees, leaves and threads as the peers'; margins are timed.
Small tables are asked for as often as makes up 10,000 rows, at most 100 times. scikit-learn sits
out the stumps, for which it would need as long as everything else together.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial
from typing import Any

import lightgbm as lgb
import pandas as pd
import xgboost as xgb
from sklearn.ensemble import HistGradientBoostingClassifier

from _common import (
    PEERS,
    THREADS,
    HistGB,
    LightGBM,
    Line,
    Ours,
    Report,
    XGBoost,
    alternate,
    make_table,
    start,
)
from costboost import CostBoostClassifier

TRAINED_ON = 10_000
SMALL = (10_000, 100, 1)  # rows
DEFAULTS = {
    Ours.name: partial(CostBoostClassifier, n_jobs=THREADS, random_state=0),
    LightGBM.name: partial(lgb.LGBMClassifier, n_jobs=THREADS, verbose=-1),
    XGBoost.name: partial(xgb.XGBClassifier, n_jobs=THREADS),
    HistGB.name: HistGradientBoostingClassifier,
}
ASKED = {1: 300, 100: 100, 10_000: 10}  # times; with more rows twice
MOST = 0.8  # of LightGBM's time, for any number of rows
MOST_OF_XGBOOST = 1.5  # of its time, with so many rows or more
MANY = 1_000_000
WORK = (  # what, leaves, trees, target
    ("100 trees of 8 leaves", 8, 100, 0.40),
    ("1,000 stumps", 2, 1_000, 0.05),
)


def as_frame(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])


def of_estimators(report: Report, train: tuple[Any, Any], X: Any) -> None:
    """Add a line for each kind of table and number of rows: milliseconds per call."""
    report.head("predict_proba of default models")
    for kind, make in (("DataFrame", as_frame), ("array", lambda X: X)):
        table, given = make(X), (make(train[0]), train[1])
        models = {peer: default().fit(*given) for peer, default in DEFAULTS.items()}
        for n_rows in sorted({min(n, len(X)) for n in (*ASKED, len(X))}):
            rows = table[:n_rows]
            work = {peer: partial(model.predict_proba, rows) for peer, model in models.items()}
            times = alternate(work, ASKED.get(n_rows, 2))
            counted = f"{n_rows:,} row{'s' if n_rows > 1 else ''}"
            report.add(Line(f"{kind}, {counted}", times, LightGBM.name, MOST))
            target = MOST_OF_XGBOOST if n_rows >= MANY else None
            report.add(Line("- against XGBoost", times, XGBoost.name, target))


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
    report.head(f"Margins of forests, {len(X):,} x {X.shape[1]}")
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


def add_options(parser: argparse.ArgumentParser) -> None:
    help_ = "rows to train on (default: %(default)s)"
    parser.add_argument("--trained", type=int, default=TRAINED_ON, help=help_)


def main() -> None:
    options = start(__doc__, add_options)
    warnings.simplefilter("ignore")  # LightGBM's estimator finds fault with its own arrays
    report = Report()
    n = options.trained
    X, y = make_table(options.rows + n)
    train, rest = (X[:n], y[:n]), X[n:]
    of_estimators(report, train, rest)
    ours, peers = Ours(*train), [peer(*train) for peer in PEERS]
    against_peers(report, rest, ours, peers, options.repeats)
    stumps_by_rounds(report, rest, ours, options.repeats)
    report.close(options.json)


if __name__ == "__main__":
    main()

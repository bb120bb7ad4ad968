"""What a round costs on Spark, beside threads on the same rows: seconds, trips and bytes.

    python benchmarks/_scale_spark.py [--rows N] [--workers N] [--rounds N] [--leaves N]

The same rows (see `_scale_rows`) are trained on in this process by threads, and by as many tasks of
a local Spark, each with its own process. A round lasts from one first message of a tree to the
next; the middle one of all rounds is told, so that start-up, reading and binning are outside. The
two models are compared.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest import mock

import numpy as np
import pyarrow.parquet as pq

from _scale_rows import FEATURES, LABEL, NAMES, write_rows
from costboost import CostBoostClassifier
from costboost.clusters.driver import Driver
from costboost.shards.local import Shards
from costboost.shards.messages import Begin
from costboost.shards.parts import AskShard

MOST = 1.5  # times the time of threads


class Watch:
    """Notes the time, the trips and the bytes at the beginning of every round."""

    def __init__(self) -> None:
        self.trips = 0
        self.notes: list[tuple[float, int, int]] = []

    def note(self, messages: Any, traffic: int) -> None:
        """Note a trip."""
        if any(isinstance(message, Begin) for message in messages):
            self.notes.append((perf_counter(), self.trips, traffic))
        self.trips += 1

    def figures(self) -> dict[str, float]:
        """Return what a round takes: the middle of all."""
        steps = np.diff(np.array(self.notes, dtype=np.float64), axis=0)
        seconds, trips, traffic = np.median(steps, axis=0).tolist()
        return {"round": seconds, "trips": trips, "bytes": traffic}


def watch_threads(watch: Watch) -> Any:
    """Watch what is said to shards of this process."""
    call = Shards.call

    def watched(shards: Shards, messages: Any, n_rows: int | None = None) -> list[Any]:
        watch.note(messages, 0)
        return call(shards, messages, n_rows)

    return mock.patch.object(Shards, "call", watched)


def watch_driver(watch: Watch) -> Any:
    """Watch what is said to parts on Spark."""
    send = Driver.send

    def watched(driver: Driver, orders: Any) -> list[Any]:
        inner = [m for order in orders if isinstance(order, AskShard) for m in order.messages]
        watch.note(inner, driver._transport.traffic)  # type: ignore[attr-defined]
        return send(driver, orders)

    return mock.patch.object(Driver, "send", watched)


def timed(make: Callable[[], Any], watching: Any, watch: Watch) -> tuple[Any, dict[str, float]]:
    """Fit, and return the model and its figures."""
    begin = perf_counter()
    with watching:
        model = make()
    return model, watch.figures() | {"total": perf_counter() - begin}


def run(
    rows: int, *, workers: int = 2, rounds: int = 20, leaves: int = 8, folder: Path | None = None
) -> dict[str, Any]:
    """Train on so many rows by threads and on Spark; return the figures of both.

    Parameters
    ----------
    rows, workers, rounds, leaves : int
    folder : Path, optional
        Where the rows are, or are written to; a temporary one by default.
    """
    parameters = {
        "method": "adaboost",
        "n_estimators": rounds,
        "max_depth": None,
        "max_leaf_nodes": leaves,
        "random_state": 0,
    }
    with tempfile.TemporaryDirectory() as scratch:
        paths = write_rows((folder or Path(scratch)) / str(rows), rows)
        threads, there = _run_threads(paths, parameters, workers)
        spark, here = _run_spark(paths, parameters, workers)
    _check_same(there, here)
    ratio = spark["round"] / threads["round"]
    return {"rows": rows, "workers": workers, "threads": threads, "spark": spark, "ratio": ratio}


def _run_threads(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    table = pq.ParquetDataset(paths).read()
    matrix = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    labels = table.column(LABEL).to_numpy()
    del table
    watch = Watch()
    model = CostBoostClassifier(n_jobs=workers, **parameters)
    fitted, figures = timed(lambda: model.fit(matrix, labels), watch_threads(watch), watch)
    return figures, fitted


def _run_spark(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    from pyspark.sql import SparkSession

    from costboost.spark import SparkCostBoostClassifier

    session = (
        SparkSession.builder.master(f"local[{workers}]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    try:
        frame = session.read.parquet(*paths)
        classifier = SparkCostBoostClassifier(
            feature_cols=NAMES, label_col=LABEL, num_workers=workers, **parameters
        )
        watch = Watch()
        fitted, figures = timed(lambda: classifier.fit(frame), watch_driver(watch), watch)
    finally:
        session.stop()
    return figures, fitted.to_local()


def _check_same(one: CostBoostClassifier, other: CostBoostClassifier) -> None:
    """Compare the rounds of two models, bit for bit."""
    for name in ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_"):
        first, second = getattr(one, name), getattr(other, name)
        if first.tobytes() != second.tobytes():
            raise AssertionError(f"{name} differs between threads and Spark.")


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"{found['rows']:,} x {FEATURES} rows, {found['workers']} threads or tasks")
    print(f"{'':<10}{'round, s':>10}{'trips':>8}{'MB a round':>12}{'fit, s':>10}")
    for name in ("threads", "spark"):
        line = found[name]
        megabytes = f"{line['bytes'] / 1e6:.2f}" if line["bytes"] else "-"
        print(
            f"{name:<10}{line['round']:>10.3f}{line['trips']:>8.0f}{megabytes:>12}"
            f"{line['total']:>10.1f}"
        )
    met = "met" if found["ratio"] <= MOST else "MISSED"
    print(
        f"a round on Spark takes {found['ratio']:.2f} times that of threads, at most {MOST}: {met}"
    )
    print("the models are the same, bit for bit")


def main() -> None:
    """Run with the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--leaves", type=int, default=8)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = vars(parser.parse_args())
    target = options.pop("json")
    found = run(**options)
    show(found)
    if target is not None:
        target.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""What a round costs on a cluster, beside threads and beside others' Dask, on the same rows.

The same rows (see `_scale_rows`) are trained on in this process by threads, by as many processes of
a local Dask cluster, and by as many tasks of a local Spark. A round lasts from one first message of
a tree to the next; the middle one of all rounds is told, so that start-up, reading and binning are
outside. The models are compared, bit for bit. LightGBM's and XGBoost's estimators for Dask train on
the same collection of the same cluster, twice: what the longer fit takes more is put down to the
rounds that it has more. Bytes are those of pickled requests and replies: on Spark as they are
written to sockets, on Dask counted in a fit of their own.
"""

from __future__ import annotations

import os
import pickle
import sys
from argparse import Namespace
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
from costboost.shards.layout import Shards
from costboost.shards.parts import forward_to_shard
from costboost.shards.rows import begin_tree

MOST = {"Dask": 2.0, "Spark": 1.5}  # times the time of threads
SHORT = 3  # rounds of a fit whose bytes are counted, or that is compared with a longer one
TOLD = ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_")
CHILDREN = 16  # of a worker that adds up what others answer, on Dask
MANY_ROWS = 100_000_000
Figures = dict[str, float]


# --- watching


class Watch:
    """Notes the time, the trips and the bytes at the beginning of every round."""

    def __init__(self) -> None:
        self.trips = 0
        self.traffic = 0
        self.notes: list[tuple[float, int, int]] = []

    def note(self, messages: Any) -> None:
        """Note a trip."""
        if any(call.message is begin_tree for call in messages):
            self.notes.append((perf_counter(), self.trips, self.traffic))
        self.trips += 1

    def figures(self) -> Figures:
        """Return what a round takes: the middle of all."""
        steps = np.diff(np.array(self.notes, dtype=np.float64), axis=0)
        seconds, trips, traffic = np.median(steps, axis=0).tolist()
        return {"round": seconds, "trips": trips, "bytes": traffic}

    def threads(self) -> Any:
        """Watch what is said to shards of this process."""
        call = Shards.call

        def watched(shards: Shards, messages: Any, n_rows: int | None = None) -> list[Any]:
            self.note(messages)
            return call(shards, messages, n_rows)

        return mock.patch.object(Shards, "call", watched)

    def driver(self) -> Any:
        """Watch what is said to parts elsewhere."""
        send = Driver.send

        def watched(driver: Driver, orders: Any) -> list[Any]:
            inner = [
                call
                for order in orders
                if getattr(order, "message", None) is forward_to_shard
                for call in order.arguments["calls"]
            ]
            self.traffic = getattr(driver._transport, "traffic", self.traffic)
            self.note(inner)
            return send(driver, orders)

        return mock.patch.object(Driver, "send", watched)

    def carried(self, transport: type) -> Any:
        """Count the bytes that a transport carries, where it does not do so itself."""
        submit, collect = transport.submit, transport.collect  # type: ignore[attr-defined]

        def submitted(own: Any, requests: Any) -> None:
            self.traffic += sum(len(pickle.dumps(request, 5)) for _, request in requests)
            submit(own, requests)

        def collected(own: Any, timeout: float) -> Any:
            replies = collect(own, timeout)
            self.traffic += sum(len(pickle.dumps(reply, 5)) for reply in replies)
            return replies

        return mock.patch.multiple(transport, submit=submitted, collect=collected)


def timed(fit: Callable[[], Any], watching: Any, watch: Watch) -> tuple[Any, Figures]:
    """Fit, and return the model and its figures."""
    begin = perf_counter()
    with watching:
        model = fit()
    return model, watch.figures() | {"total": perf_counter() - begin}


# --- contestants


def run_threads(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    """Train by threads of this process."""
    table = pq.ParquetDataset(paths).read()
    matrix = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    labels = table.column(LABEL).to_numpy()
    del table
    watch, model = Watch(), CostBoostClassifier(n_jobs=workers, **parameters)
    return timed(lambda: model.fit(matrix, labels), watch.threads(), watch)


def run_dask(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    """Train on a local Dask cluster, and let the peers train there; return all lines."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from costboost.dask import DaskCostBoostClassifier
    from costboost.dask.transport import DaskTransport

    with (
        LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        spread = dd.read_parquet(paths, split_row_groups=True).persist()
        collection = (spread[NAMES], spread[LABEL])
        watch, model = Watch(), DaskCostBoostClassifier(**parameters)
        fitted, figures = timed(lambda: model.fit(*collection), watch.driver(), watch)
        brief = DaskCostBoostClassifier(**parameters | {"n_estimators": SHORT})
        count = Watch()
        with count.carried(DaskTransport):
            _, counted = timed(lambda: brief.fit(*collection), count.driver(), count)
        peers = run_peers(collection, parameters["n_estimators"], parameters["max_leaf_nodes"])
    return fitted.to_local(), {"Dask": figures | {"bytes": counted["bytes"]}, **peers}


def run_peers(collection: Any, rounds: int, leaves: int) -> dict[str, Figures]:
    """Train others' estimators for Dask on the same collection."""
    from lightgbm import DaskLGBMClassifier
    from xgboost.dask import DaskXGBClassifier

    def lightgbm(n_rounds: int) -> Any:
        return DaskLGBMClassifier(
            n_estimators=n_rounds, num_leaves=leaves, max_bin=255, verbose=-1, random_state=0
        )

    def xgboost(n_rounds: int) -> Any:
        return DaskXGBClassifier(
            n_estimators=n_rounds,
            max_leaves=leaves,
            grow_policy="lossguide",
            max_depth=0,
            max_bin=256,
            random_state=0,
        )

    lines = {}
    for name, make in (("LightGBM, Dask", lightgbm), ("XGBoost, Dask", xgboost)):
        short, whole = (_seconds(make(n), collection) for n in (SHORT, rounds))
        lines[name] = {"round": (whole - short) / (rounds - SHORT), "total": whole}
    return lines


def _seconds(model: Any, collection: Any) -> float:
    begin = perf_counter()
    model.fit(*collection)
    return perf_counter() - begin


def run_spark(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    """Train on a local Spark; return its line."""
    from pyspark.sql import SparkSession

    from costboost.spark import SparkCostBoostClassifier

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
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
        fitted, figures = timed(lambda: classifier.fit(frame), watch.driver(), watch)
    finally:
        session.stop()
    return fitted.to_local(), {"Spark": figures}


ENGINES = {"Dask": run_dask, "Spark": run_spark}


# --- the comparison


def run(engines: list[str], options: Namespace, folder: Path) -> dict[str, Any]:
    """Train by threads and on the engines named; print and return all figures."""
    rows, workers = options.rows or 2_000_000, options.threads
    parameters = {
        "method": options.method,
        "n_estimators": options.rounds or 20,
        "max_depth": None,
        "max_leaf_nodes": options.leaves,
        "random_state": 0,
    }
    paths = write_rows(folder / "rows", rows, workers)
    print(f"{rows:,} x {FEATURES} rows, {workers} threads, processes or tasks")
    print(f"{'':<16}{'round, s':>10}{'trips':>8}{'MB a round':>12}{'fit, s':>10}")
    local, threads = run_threads(paths, parameters, workers)
    show({"threads": threads})
    lines = {"threads": threads}
    for engine in engines:
        model, found = ENGINES[engine](paths, parameters, workers)
        show(found)
        check_same(local, model, engine)
        lines |= found
    print("the models are the same, bit for bit\n")
    judge(lines)
    for engine in engines:
        show_network(engine, lines, rows, workers)
    return {"rows": rows, "workers": workers, "lines": lines}


def check_same(one: Any, other: Any, engine: str) -> None:
    """Compare the rounds of two models, bit for bit."""
    for name in TOLD:
        if getattr(one, name).tobytes() != getattr(other, name).tobytes():
            raise AssertionError(f"{name} differs between threads and {engine}.")


def show(lines: dict[str, Figures]) -> None:
    """Print some lines of the table."""
    for name, line in lines.items():
        trips = f"{line['trips']:.0f}" if "trips" in line else "-"
        megabytes = f"{line['bytes'] / 1e6:.2f}" if line.get("bytes") else "-"
        print(
            f"{name:<16}{line['round']:>10.3f}{trips:>8}{megabytes:>12}{line['total']:>10.1f}",
            flush=True,
        )


def judge(lines: dict[str, Figures]) -> None:
    """Say whether rounds on clusters are fast enough."""
    for engine, most in MOST.items():
        if engine in lines:
            ratio = lines[engine]["round"] / lines["threads"]["round"]
            met = "met" if ratio <= most else "MISSED"
            print(f"a round on {engine}: {ratio:.2f} times threads, at most {most}: {met}")


def show_network(engine: str, lines: dict[str, Figures], rows: int, workers: int) -> None:
    """Compute from what was measured how long the network takes, and how long the work."""
    own = lines[engine]["bytes"] / workers
    core = lines["threads"]["round"] * workers * MANY_ROWS / rows
    print(
        f"\n{engine}, computed: {own / 1e6:.2f} MB a worker and round; the work of a round on "
        f"{MANY_ROWS:,} rows takes {core:.1f} s of one core"
    )
    head = f"{'workers':>8}{'to the driver, MB':>20}{'1 Gbit/s':>10}{'10 Gbit/s':>11}{'work, s':>9}"
    print(head)
    for n in (4, 16, 64):
        at_driver = own * (min(n, CHILDREN) if engine == "Dask" else n)
        before = own * max(0, -(-(n - CHILDREN) // CHILDREN)) if engine == "Dask" else 0.0
        seconds = [8 * (at_driver + before) / speed for speed in (1e9, 1e10)]
        print(
            f"{n:>8}{at_driver / 1e6:>20.1f}{seconds[0]:>10.3f}{seconds[1]:>11.4f}{core / n:>9.2f}"
        )

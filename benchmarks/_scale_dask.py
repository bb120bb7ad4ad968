"""What a round costs on Dask, beside threads and beside others' Dask, on the same rows.

    python benchmarks/_scale_dask.py [--rows N] [--workers N] [--rounds N] [--leaves N] [--no-peers]

The same rows (see `_scale_rows`) are trained on in this process by threads, and by as many
processes of a local Dask cluster. A round lasts from one first message of a tree to the next; the
middle one of all rounds is told, so that start-up, reading and binning are outside. The two models
are compared. LightGBM's and XGBoost's estimators for Dask train on the same collection of the same
cluster, twice: what the longer fit takes more is put down to the rounds that it has more. Bytes are
those of pickled requests and replies, counted in a fit of their own.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest import mock

import dask.dataframe as dd
import numpy as np
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from _scale_rows import FEATURES, LABEL, NAMES, write_rows
from _scale_spark import Watch, timed, watch_threads
from costboost import CostBoostClassifier
from costboost.clusters.driver import Driver
from costboost.dask import DaskCostBoostClassifier
from costboost.dask.transport import DaskTransport
from costboost.shards.parts import AskShard

MOST = 2.0  # times the time of threads
SHORT = 3  # rounds of a fit whose bytes are counted, or that is compared with a longer one
TOLD = ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_")


class Counted:
    """Bytes that went to workers and came back."""

    def __init__(self) -> None:
        self.traffic = 0

    def count(self) -> Any:
        """Count what a transport carries."""
        submit, collect = DaskTransport.submit, DaskTransport.collect

        def submitted(transport: DaskTransport, requests: Any) -> None:
            self.traffic += sum(len(pickle.dumps(request, 5)) for _, request in requests)
            submit(transport, requests)

        def collected(transport: DaskTransport, timeout: float) -> Any:
            replies = collect(transport, timeout)
            self.traffic += sum(len(pickle.dumps(reply, 5)) for reply in replies)
            return replies

        return mock.patch.multiple(DaskTransport, submit=submitted, collect=collected)


def watch_driver(watch: Watch, counted: Counted) -> Any:
    """Watch what is said to parts."""
    send = Driver.send

    def watched(driver: Driver, orders: Any) -> list[Any]:
        inner = [m for order in orders if isinstance(order, AskShard) for m in order.messages]
        watch.note(inner, counted.traffic)
        return send(driver, orders)

    return mock.patch.object(Driver, "send", watched)


def run(
    rows: int,
    *,
    workers: int = 2,
    rounds: int = 20,
    leaves: int = 8,
    peers: bool = True,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Train on so many rows by threads, on Dask and by others on Dask; return all figures."""
    parameters = {
        "method": "adaboost",
        "n_estimators": rounds,
        "max_depth": None,
        "max_leaf_nodes": leaves,
        "random_state": 0,
    }
    with tempfile.TemporaryDirectory() as scratch:
        paths = write_rows((folder or Path(scratch)) / str(rows), rows)
        threads, local = _run_threads(paths, parameters, workers)
        with (
            LocalCluster(workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster),
        ):
            spread = dd.read_parquet(paths, split_row_groups=True).persist()
            collection = (spread[NAMES], spread[LABEL])
            found, model = _run_dask(collection, parameters)
            others = _run_peers(collection, rounds, leaves) if peers else {}
    _check_same(local, model)
    ratio = found["round"] / threads["round"]
    lines = {"threads": threads, "dask": found, **others}
    return {"rows": rows, "workers": workers, "lines": lines, "ratio": ratio}


def _run_threads(paths: list[str], parameters: dict[str, Any], workers: int) -> Any:
    table = pq.ParquetDataset(paths).read()
    matrix = np.column_stack([table.column(name).to_numpy() for name in NAMES])
    labels = table.column(LABEL).to_numpy()
    del table
    watch = Watch()
    model = CostBoostClassifier(n_jobs=workers, **parameters)
    fitted, figures = timed(lambda: model.fit(matrix, labels), watch_threads(watch), watch)
    return figures, fitted


def _run_dask(collection: Any, parameters: dict[str, Any]) -> Any:
    watch, counted, model = Watch(), Counted(), DaskCostBoostClassifier(**parameters)
    watching = watch_driver(watch, counted)
    fitted, figures = timed(lambda: model.fit(*collection), watching, watch)
    short = Watch()
    brief = DaskCostBoostClassifier(**parameters | {"n_estimators": SHORT})
    with counted.count():
        _, weighed = timed(lambda: brief.fit(*collection), watch_driver(short, counted), short)
    return figures | {"bytes": weighed["bytes"]}, fitted.to_local()


def _run_peers(collection: Any, rounds: int, leaves: int) -> dict[str, Any]:
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


def _check_same(one: CostBoostClassifier, other: CostBoostClassifier) -> None:
    """Compare the rounds of two models, bit for bit."""
    for name in TOLD:
        if getattr(one, name).tobytes() != getattr(other, name).tobytes():
            raise AssertionError(f"{name} differs between threads and Dask.")


def show(found: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"{found['rows']:,} x {FEATURES} rows, {found['workers']} threads or processes")
    print(f"{'':<16}{'round, s':>10}{'trips':>8}{'MB a round':>12}{'fit, s':>10}")
    for name, line in found["lines"].items():
        trips = f"{line['trips']:.0f}" if "trips" in line else "-"
        megabytes = f"{line['bytes'] / 1e6:.2f}" if line.get("bytes") else "-"
        print(f"{name:<16}{line['round']:>10.3f}{trips:>8}{megabytes:>12}{line['total']:>10.1f}")
    met = "met" if found["ratio"] <= MOST else "MISSED"
    print(
        f"a round on Dask takes {found['ratio']:.2f} times that of threads, at most {MOST}: {met}"
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
    parser.add_argument("--no-peers", dest="peers", action="store_false")
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

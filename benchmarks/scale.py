"""Training on more rows than one likes to have in memory, or on a cluster: time, memory, traffic.

    python benchmarks/scale.py [--rows N] [--peer-rows N] [--rounds N] [--folder PATH] [--keep]
    python benchmarks/scale.py --dask --spark [--rows N] [--rounds N] [--threads N]

Writes Parquet files of 30 columns (some 125 bytes a row: 12.5 GB for the 100,000,000 rows of the
full benchmark), trains on them, and removes them. Each contestant has a process of its own, so that
peaks are its own: costboost on a ParquetTable, LightGBM on a Sequence (`two_round`), XGBoost with
external memory. Peers train on `--peer-rows`; where that is less than `--rows`, so does costboost,
once more, so that all three stand beside each other.

With `--dask` or `--spark` rounds there are compared with those of threads; see `_scale_clusters`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from _scale_rows import FEATURES, write_rows

GB = 1e9
MOST_PEAK = 8.0  # GB, of 100,000,000 rows
MOST_BYTES = 40.0  # a row, beside the codes
PEERS = ("LightGBM", "XGBoost")


def read_options() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dask", action="store_true", help="rounds on Dask, beside threads")
    parser.add_argument("--spark", action="store_true", help="rounds on Spark, beside threads")
    parser.add_argument("--rows", type=int, help="default: 100,000,000, on clusters 2,000,000")
    parser.add_argument("--peer-rows", type=int, default=20_000_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, help="default: 10, on clusters 20")
    parser.add_argument("--leaves", type=int, default=8, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="or workers; default: %(default)s")
    parser.add_argument("--method", default="adaboost", help="default: %(default)s")
    parser.add_argument("--by-row", action="store_true", help="costs by a column, not constant")
    parser.add_argument("--folder", type=Path, help="where the files go; default: a temporary one")
    parser.add_argument("--keep", action="store_true", help="leave the files there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    return parser.parse_args()


def train(name: str, paths: list[str], options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Let a contestant train in its own process; return its figures."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        given = {
            "paths": paths,
            "rounds": options.rounds,
            "leaves": options.leaves,
            "threads": options.threads,
            "method": options.method,
            "by_row": options.by_row,
            "folder": scratch,
        }
        script = Path(__file__).with_name("_scale_files.py")
        run = subprocess.run(
            [sys.executable, str(script), name, json.dumps(given)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": str(options.threads)},
        )
    if run.returncode:
        return {"failed": run.returncode}
    return dict(json.loads(run.stdout.splitlines()[-1]))


def show(name: str, n_rows: int, found: dict[str, Any]) -> dict[str, Any]:
    """Print a line; return its numbers."""
    if "failed" in found:
        print(f"{name:<12}{n_rows:>13,}   failed with {found['failed']}", flush=True)
        return found | {"name": name, "rows": n_rows}
    beside = (found["peak"] - found["before"]) / n_rows - FEATURES
    print(
        f"{name:<12}{n_rows:>13,}{found['first']:>12.1f}{found['round']:>10.2f}"
        f"{found['total']:>10.1f}{found['peak'] / GB:>10.2f}{beside:>16.1f}",
        flush=True,
    )
    return found | {"name": name, "rows": n_rows, "beside": beside}


def judge(line: dict[str, Any]) -> None:
    """Say whether the promises of memory hold."""
    if "failed" in line:
        return
    full = line["rows"] >= 1e8
    allowed = MOST_PEAK if full else line["before"] / GB + MOST_PEAK * line["rows"] / 1e8
    met = "met" if line["peak"] / GB <= allowed else "MISSED"
    print(f"peak at most {allowed:.2f} GB: {met}")
    met = "met" if line["beside"] <= MOST_BYTES else "MISSED"
    print(f"at most {MOST_BYTES:g} bytes a row beside the codes: {met}")


def run_files(options: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """Write files, let everybody train on them, report."""
    options.rows = options.rows or 100_000_000
    options.rounds = options.rounds or 10
    peer_rows, lines = min(options.rows, options.peer_rows), []
    begin = perf_counter()
    sizes = sorted({options.rows, peer_rows})
    paths = {n: write_rows(folder / "rows", n, options.threads) for n in sizes}
    print(f"files written in {perf_counter() - begin:.0f} s\n")
    print(
        f"{'':<12}{'rows':>13}{'to round 1':>12}{'round, s':>10}{'total, s':>10}"
        f"{'peak, GB':>10}{'beside codes, B':>16}"
    )
    for n in paths:
        lines.append(show("costboost", n, train("costboost", paths[n], options, folder)))
    own = lines[-1]
    for name in PEERS:
        lines.append(show(name, peer_rows, train(name, paths[peer_rows], options, folder)))
    print("\n'beside codes' is memory above the imports', less 30 bytes a row.")
    judge(own)
    return lines


def run_clusters(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Compare rounds on clusters with those of threads."""
    from _scale_clusters import run

    engines = [name for name in ("Dask", "Spark") if getattr(options, name.lower())]
    return run(engines, options, folder)


def main() -> None:
    """Run what is asked for; leave nothing behind."""
    options = read_options()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="costboost-scale-"))
    run = run_clusters if options.dask or options.spark else run_files
    try:
        found = run(options, folder)
    finally:
        if not options.keep:
            shutil.rmtree(folder / "rows", ignore_errors=True)
            if options.folder is None:
                shutil.rmtree(folder, ignore_errors=True)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

"""Training on more rows than one likes to have in memory: time, and memory by row.

    python benchmarks/scale.py [--rows N] [--peer-rows N] [--rounds N] [--folder PATH] [--keep]

Writes Parquet files of 30 columns (some 125 bytes a row: 12.5 GB for the 100,000,000 rows of the
full benchmark), trains on them, and removes them. Each contestant has a process of its own, so that
peaks are its own: costboost on a ParquetTable, LightGBM on a Sequence (`two_round`), XGBoost with
external memory. Peers train on `--peer-rows`; where that is less than `--rows`, so does costboost,
once more, so that all three stand beside each other.
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
    parser.add_argument("--rows", type=int, default=100_000_000, help="default: %(default)s")
    parser.add_argument("--peer-rows", type=int, default=20_000_000, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--leaves", type=int, default=8, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
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


def main() -> None:
    """Write files, train, report."""
    options = read_options()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="costboost-scale-"))
    peer_rows = min(options.rows, options.peer_rows)
    lines = []
    try:
        begin = perf_counter()
        sizes = sorted({options.rows, peer_rows})
        paths = {n: write_rows(folder / "rows", n, options.threads) for n in sizes}
        print(f"files written in {perf_counter() - begin:.0f} s\n")
        print(
            f"{'':<12}{'rows':>13}{'to round 1':>12}{'round, s':>10}{'total, s':>10}"
            f"{'peak, GB':>10}{'beside codes, B':>16}"
        )
        for n in paths:
            found = train("costboost", paths[n], options, folder)
            lines.append(show("costboost", n, found))
        own = lines[-1]
        for name in PEERS:
            found = train(name, paths[peer_rows], options, folder)
            lines.append(show(name, peer_rows, found))
        print("\n'beside codes' is memory above the imports', less 30 bytes a row.")
        judge(own)
    finally:
        if not options.keep:
            shutil.rmtree(folder / "rows", ignore_errors=True)
            if options.folder is None:
                shutil.rmtree(folder, ignore_errors=True)
    if options.json is not None:
        options.json.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()

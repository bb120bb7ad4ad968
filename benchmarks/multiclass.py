"""Many classes: time and memory of a round against LightGBM, and costs on the paper's eight sets.

    python benchmarks/multiclass.py [--quick] [--only speed memory cost] [--repeats N] [--json FILE]

A round of ours is one tree with vector leaves, the mixture, its objective and the cost of its
decisions; a round of LightGBM is K trees of as many leaves. A round's time is the difference
between a long and a short run, so that binning and start-up are outside.

The costs are those of the class-frequency model, drawn anew for every split of the rows. What the
paper leaves open was chosen on other sets (`--only cost --sets development`, with `--leaf` for
other trees); only the size of leaves was settled with a look at the eight themselves, at Segment
above all (docs/papers/lozano-abe.md). Costs are kept in `results/multiclass_cost.jsonl`, and an
interrupted run continues there. Sets that are not in the folder named by COSTBOOST_DATA, or in
../shared/data beside the checkout, are fetched from OpenML.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from _common import BINS, THREADS, LightGBM, Line, Ours, Report, judge, start, time_rounds
from _multiclass_cost import (
    LEAVES,
    Results,
    Trial,
    contenders,
    measure,
    show,
)
from _multiclass_sets import DEVELOPMENT, PAPER, class_frequency_costs
from costboost import datasets
from costboost.binning.binner import fit_binner
from costboost.boosting.pnorm.learner import RelationalTree
from costboost.boosting.pnorm.loop import PNormBoosting, PNormSetting
from costboost.boosting.pnorm.methods import METHODS
from costboost.boosting.pnorm.rows import PNormLoader
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.estimators.pnorm.family import leaf_rows
from costboost.shards.layout import RowData, plan_layout
from costboost.trees.tree import Limits

MB = 1e6
PARTS = ("speed", "memory", "cost")


def synthetic(n_rows: int, n_features: int = 20, n_classes: int = 10) -> tuple[Any, Any]:
    """Return X, float32, and y, int64: noisy linear classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    noise = 2 * rng.standard_normal((n_rows, n_classes), dtype=np.float32)
    signal = X @ rng.standard_normal((n_features, n_classes), dtype=np.float32)
    return X, np.argmax(signal + noise, axis=1)


def find_data() -> None:
    """Let the loader look beside the checkout, if nothing else is said."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    if beside.is_dir():
        os.environ.setdefault("COSTBOOST_DATA", str(beside))


def letter() -> tuple[Any, Any]:
    data = datasets.load("letter")
    return np.asarray(data.X, dtype=np.float32), np.unique(data.y, return_inverse=True)[1]


class Mixtures:
    """Our loop on a table that is binned once."""

    def __init__(self, X: Any, y: Any, min_samples_leaf: int = 1) -> None:
        self.y, self.n_classes = y.astype(np.int64), int(y.max()) + 1
        self.costs = class_frequency_costs(y, np.random.default_rng(1))
        self.binner = fit_binner(X, max_bins=BINS, n_threads=THREADS)
        self.layout = plan_layout(None, len(y), 1, THREADS)
        positions = self.layout.positions
        self.codes = self.binner.encode(X, positions=positions, n_threads=THREADS)
        self.limits = Limits(max_leaf_nodes=LEAVES, min_samples_leaf=min_samples_leaf)

    def train(self, rounds: int, method: str = "lp-csb", step: Any = "harmonic") -> None:
        """Take so many rounds."""
        kind = METHODS[method]
        loader = PNormLoader(RowData(self.y, None, self.costs), self.n_classes)
        with self.layout.cut(self.codes, loader.load) as shards:
            learner = RelationalTree(self.binner, self.n_classes, self.limits, kind.one_label)
            setting = PNormSetting(rounds, 2.0, step)
            choices = (kind, learner, self.costs, self.n_classes, setting)
            for _ in PNormBoosting(shards, *choices).rounds():
                pass


def train_lightgbm(data: Any, n_classes: int, rounds: int) -> None:
    options = {"objective": "multiclass", "num_class": n_classes, "num_leaves": LEAVES}
    lgb.train(LightGBM.options | options, data, rounds)


def rounds(report: Report, name: str, X: Any, y: Any, n_rounds: int, repeats: int) -> None:
    n_classes = int(y.max()) + 1
    shape = f"{len(y):,} x {X.shape[1]}, K = {n_classes}"
    report.head(f"One round, {name}, {shape}, {LEAVES} leaves", (Ours.name, LightGBM.name))
    options = LightGBM.options | {"objective": "multiclass", "num_class": n_classes}
    data = lgb.Dataset(X, y, params=options).construct()
    ours, least = Mixtures(X, y), leaf_rows("auto", np.bincount(y))
    work: dict[str, Callable[[int], None]] = {
        "lp-csb": ours.train,
        f"lp-csb, least {least} rows a leaf": Mixtures(X, y, least).train,
        "lp-csb, step by search": partial(ours.train, step="search"),
        "lp-csb-a": partial(ours.train, method="lp-csb-a"),
        "adaboost.m2": partial(ours.train, method="adaboost.m2"),
    }
    for label, train in work.items():
        trains = {Ours.name: train, LightGBM.name: partial(train_lightgbm, data, n_classes)}
        times = time_rounds(trains, n_rounds, repeats, short=2)
        target = None if "search" in label else 1.0  # as many passes over the rows as it needs
        report.add(Line(label, times, LightGBM.name, target))


def memory(report: Report) -> None:
    """Show the peak above the input during fit, each in a process of its own."""
    heads = ("MB", "at most", "of limit")
    print("\nPeak memory of fit above its input\n" + " " * 32 + "".join(f"{h:>13}" for h in heads))
    for name, (n_rows, n_features, n_classes) in {
        "letter": (20_000, 16, 26),
        "synthetic": (200_000, 20, 10),
    }.items():
        command = [sys.executable, __file__, "--peak", name]
        peak = int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        limit = n_rows * (1.2 * n_features + 24 * n_classes)
        sizes = f"{peak / MB:>13.1f}{limit / MB:>13.1f}{peak / limit:>13.2f}"
        print(f"{name:<32}{sizes}   {judge(peak, limit)}", flush=True)
        report.verdicts.append(judge(peak, limit))
        report.extra.setdefault("peak bytes", {})[name] = [peak, limit]


def print_peak(name: str) -> None:
    """Fit the public estimator; print the bytes it took at most above what was there before."""
    model = PNormBoostClassifier(n_estimators=5, max_bins=BINS, n_jobs=THREADS)
    model.fit(*synthetic(2_000))  # imports and pools are not the table's
    X, y = letter() if name == "letter" else synthetic(200_000)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of making the table
    before = _status("VmRSS")
    model.fit(X, y)
    print(_status("VmHWM") - before)


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def costs(report: Report, options: argparse.Namespace) -> None:
    """Measure and print the mean cost of a test row, by set and method."""
    sets = PAPER if options.sets == "paper" else DEVELOPMENT
    n_rounds, splits, most_rows = (30, 3, 2_000) if options.quick else (100, 10, 20_000)
    trial = Trial(
        options.rounds or n_rounds, options.splits or splits, most_rows, options.leaf or "auto"
    )
    models = contenders(trial.n_rounds)
    title = f"Mean cost of a test row, {trial.splits} splits, {trial.n_rounds} rounds"
    print(f"\n{title}, {LEAVES} leaves at most, rows in a leaf: {trial.leaf}", flush=True)
    results = Results(Path(__file__).resolve().parent / "results" / "multiclass_cost.jsonl")
    found = measure(sets, models, trial, results)
    show(found, list(models), report)
    report.extra["costs"] = {"methods": list(models), **{k: v.tolist() for k, v in found.items()}}


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run; default: all")
    add("--sets", choices=("paper", "development"), default="paper", help="default: %(default)s")
    add("--splits", type=int, metavar="N", help="splits of each set; default 10, quick 3")
    add("--rounds", type=int, metavar="N", help="of the cost part; default 100, quick 30")
    add("--leaf", type=int, metavar="N", help="least rows in a leaf; default: as our default")


def main() -> None:
    options = start(__doc__, add_options)
    report = Report()
    n_rounds = 10 if options.quick else 50
    if "speed" in options.only:
        rounds(report, "Letter", *letter(), n_rounds, options.repeats)
        rounds(report, "synthetic", *synthetic(200_000), n_rounds, options.repeats)
    if "memory" in options.only:
        memory(report)
    if "cost" in options.only:
        costs(report, options)
    report.close(options.json)


if __name__ == "__main__":
    find_data()
    if sys.argv[1:2] == ["--peak"]:
        print_peak(sys.argv[2])
    else:
        main()

"""What the benchmarks share: data, the bare loops, peers, alternating clocks, the table.

Peers are gradient boosting libraries with the same bins, leaves, rounds, threads and no least size
of a leaf. A measurement is the minimum of several; ours and the peers' take turns, so that a busy
spell of the machine meets all of them. Targets are judged by wall-clock time. The processor time of
all threads stands beside it: it tells a busy machine, which it hardly notices, from a slow program.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from sklearn.ensemble import HistGradientBoostingClassifier

from costboost.binning.binner import fit_binner
from costboost.boosting.adaboost import _row_kernels as kernels
from costboost.boosting.gradient._gradient_kernels import add_by_leaf
from costboost.boosting.gradient.learner import GradientTree
from costboost.boosting.gradient.loop import GradientBoosting, GradientRound, GradientSetting
from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.gradient.rows import GradientRows, LossRows
from costboost.runtime.messages import largest, message
from costboost.shards.grid import ClassWeights, grid_scale
from costboost.shards.layout import plan_layout
from costboost.shards.rows import Shard
from costboost.trees.forest import Forest, ForestBuilder
from costboost.trees.grower import Grower
from costboost.trees.tree import Limits, SplitFinder, Tree

PINNED = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"}
THREADS = int(os.environ.get("OMP_NUM_THREADS", PINNED["OMP_NUM_THREADS"]))
FEATURES = 28
BINS = 255
RATE = 0.1


def start(
    description: str | None, extend: Callable[[argparse.ArgumentParser], None] | None = None
) -> argparse.Namespace:
    """Read the options, and those that `extend` adds; pin the threads."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="200,000 rows, fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there too")
    if extend is not None:
        extend(parser)
    options = parser.parse_args()
    pin_threads()
    if options.quick:
        options.rows = min(options.rows, 200_000)
    return options


def pin_threads() -> None:
    """Start the script anew with its threads pinned, if they are not.

    OpenMP reads its settings when it is loaded, so that setting them here would be too late.
    """
    if any(name not in os.environ for name in PINNED):
        os.environ.update(PINNED | dict(os.environ))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def make_table(n_rows: int, n_features: int = FEATURES, seed: int = 0) -> tuple[Any, Any]:
    """Return X, float32, and y, int64: signal in a few columns, some of them skewed or coarse."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * np.sin(3 * X[:, 3]) + 0.5 * np.abs(X[:, 4])
    signal += 0.3 * X[:, 5] - 0.3 * X[:, 6] * (X[:, 7] > 0)
    y = signal + rng.standard_normal(n_rows, dtype=np.float32) > 0.5
    np.exp(2 * X[:, 5], out=X[:, 5])  # amounts
    np.exp(X[:, 8], out=X[:, 8])
    np.round(4 * X[:, 9], out=X[:, 9])  # few distinct values
    np.maximum(X[:, 10], 0, out=X[:, 10])  # half of them 0
    return X, y.astype(np.int64)


def make_other_table(n_rows: int, n_features: int = FEATURES, seed: int = 1) -> tuple[Any, Any]:
    """Return X and y: normal columns, signal in four of them and their products."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    signal = X[:, 0] * X[:, 1] + X[:, 2] + X[:, 3] ** 2 / 2
    y = signal + rng.standard_normal(n_rows, dtype=np.float32) > 0.5
    return X, y.astype(np.int64)


TABLES = {"skewed and coarse columns": make_table, "products of columns": make_other_table}


class Ours:
    """The engine: a binned table and the shortest loops over it."""

    name = "costboost"

    def __init__(self, X: Any, y: Any) -> None:
        self.y = y
        self.binner = fit_binner(X, max_bins=BINS, n_threads=THREADS)
        self.layout = plan_layout(y, len(y), 2, THREADS)
        positions = self.layout.positions
        self.codes = self.binner.encode(X, positions=positions, n_threads=THREADS)

    def adaboost(self, leaves: int) -> Iterator[tuple[Tree, Any]]:
        """Yield rounds of AdaBoost without end: tree and leaf values."""
        bins, limits = self.binner.n_bins, Limits(max_leaf_nodes=leaves)
        finder = SplitFinder(bins, self.binner.is_categorical, 2, criterion="gini")
        with self.layout.cut(self.codes, _BareRows) as shards:
            largest = 1.0
            while True:
                mode = ClassWeights((grid_scale(largest, len(self.y)),) * 2)
                tree = Grower(shards, mode, finder, limits).grow()
                sums = tree.leaf_sums / tree.leaf_sums.sum()
                votes = np.where(sums[:, 1] > sums[:, 0], 1.0, -1.0)
                error = sums.min(axis=1).sum()
                values = (0.5 * np.log((1 - error) / error) * votes)[:, None]
                factors = np.exp(np.hstack([values, -values]))
                (largest,) = shards.call([_step(values=values, factors=factors)])
                yield tree, values

    def log_loss(self, leaves: int) -> Iterator[GradientRound]:
        """Yield rounds of gradient boosting of the log loss without end."""
        limits, setting = Limits(max_leaf_nodes=leaves), GradientSetting(sys.maxsize)
        rows, loss, learner = LossRows(self.y), LogLoss(), GradientTree(self.binner, limits)
        with self.layout.cut(self.codes, lambda part: GradientRows(rows.take(part))) as shards:
            for shard in shards.shards:
                shard.starts = shard.starts[[0, -1]]  # gradients are not told apart by class
            yield from GradientBoosting(shards, loss, learner, setting, np.zeros(1)).rounds()

    def forest(self, leaves: int, rounds: int) -> Forest:
        """Return the forest of so many rounds of AdaBoost."""
        builder = ForestBuilder(1)
        for tree, values in take(self.adaboost(leaves), rounds):
            builder.add(tree, values)
        return builder.build(self.binner)


class _BareRows:
    """Weights and margins, and nothing else."""

    def __init__(self, rows: Any) -> None:
        self.weights, self.margins = np.ones(len(rows)), np.zeros((len(rows), 1))


@message(reduce=largest)
def _step(shard: Shard, *, values: Any, factors: Any) -> float:
    """Add votes to margins, multiply weights; tell the largest."""
    state, where = shard.state, (shard.starts, shard.leaves)
    add_by_leaf(state.margins, 0, shard.leaves, values[:, 0])
    return float(kernels.multiply_by_leaf(state.weights, *where, factors))


def take(rounds: Iterator[Any], count: int) -> list[Any]:
    """Take so many rounds, then end the loop and its threads."""
    taken = [next(rounds) for _ in range(count)]
    rounds.close()  # type: ignore[attr-defined]
    return taken


class LightGBM:
    """Gradient boosting of the log loss, as the other peers."""

    name = "LightGBM"
    options: dict[str, Any] = {  # noqa: RUF012
        "objective": "binary",
        "learning_rate": RATE,
        "max_bin": BINS,
        "num_threads": THREADS,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "feature_pre_filter": False,
        "verbose": -1,
    }

    def __init__(self, X: Any, y: Any) -> None:
        self.data = lgb.Dataset(X, y, params=self.options).construct()

    def train(self, leaves: int, rounds: int) -> None:
        """Train, on a table binned before."""
        self.model = lgb.train(self.options | {"num_leaves": leaves}, self.data, rounds)

    def margins(self, X: Any) -> Any:
        """Predict from raw values."""
        return self.model.predict(X, raw_score=True, num_threads=THREADS)


class XGBoost:
    """The same, depth free, best gain first."""

    name = "XGBoost"

    def __init__(self, X: Any, y: Any) -> None:
        self.data = xgb.QuantileDMatrix(X, y, max_bin=BINS, nthread=THREADS)

    def train(self, leaves: int, rounds: int) -> None:
        """Train, on a table binned before."""
        options = {
            "objective": "binary:logistic",
            "learning_rate": RATE,
            "tree_method": "hist",
            "max_bin": BINS,
            "grow_policy": "lossguide",
            "max_leaves": leaves,
            "max_depth": 0,
            "min_child_weight": 0.0,
            "reg_lambda": 0.0,
            "nthread": THREADS,
        }
        self.model = xgb.train(options, self.data, rounds)

    def margins(self, X: Any) -> Any:
        """Predict from raw values."""
        return self.model.inplace_predict(X, predict_type="margin")


class HistGB:
    """scikit-learn's; it bins in every fit."""

    name = "HistGB"

    def __init__(self, X: Any, y: Any) -> None:
        self.X, self.y = X, y

    def train(self, leaves: int, rounds: int) -> None:
        """Bin and train."""
        self.model = HistGradientBoostingClassifier(
            learning_rate=RATE,
            max_iter=rounds,
            max_leaf_nodes=leaves,
            max_bins=BINS,
            min_samples_leaf=1,
            early_stopping=False,
        ).fit(self.X, self.y)

    def margins(self, X: Any) -> Any:
        """Predict from raw values."""
        return self.model.decision_function(X)


PEERS = (LightGBM, XGBoost, HistGB)


def now() -> Any:
    """Return wall-clock and processor time, in seconds."""
    return np.array([perf_counter(), process_time()])


def alternate(work: dict[Any, Callable[[], Any]], repeats: int) -> dict[Any, Any]:
    """Do everything in turns, so many times; return the shortest (wall, processor) time of each."""
    best = {name: np.full(2, np.inf) for name in work}
    for _ in range(repeats):
        for name, call in work.items():
            begin = now()
            call()
            best[name] = np.minimum(best[name], now() - begin)
    return best


def time_rounds(
    trains: dict[str, Callable[[int], Any]],
    rounds: int | dict[str, int],
    repeats: int,
    short: int = 5,
) -> dict[str, Any]:
    """Return the seconds of one round of each: a long run less a short one."""
    counts = rounds if isinstance(rounds, dict) else dict.fromkeys(trains, rounds)
    work = {
        (name, n): (lambda train=train, n=n: train(n))
        for name, train in trains.items()
        for n in (short, short + counts[name])
    }
    best = alternate(work, repeats)
    return {
        name: (best[name, short + counts[name]] - best[name, short]) / counts[name]
        for name in trains
    }


def judge(value: float, limit: float) -> str:
    """Say whether a target is met."""
    return "met" if value <= limit else "MISSED"


@dataclass
class Line:
    """One line of a table: (wall, processor) seconds of each; ratios are to the named peer."""

    work: str
    times: dict[str, Any]
    peer: str
    target: float | None = None
    note: str = ""

    @property
    def ratios(self) -> list[float]:
        """Our time over the peer's: by the clock on the wall, and by the processor's."""
        return (self.times[Ours.name] / self.times[self.peer]).tolist()

    @property
    def verdict(self) -> str:
        """Whether the target is met; nothing where none is set or nothing was measured."""
        if self.target is None or np.isnan(self.ratios[0]):
            return ""
        return judge(self.ratios[0], self.target)


@dataclass
class Report:
    """Prints lines as they come, with the machine around them."""

    lines: list[Line] = field(default_factory=list)
    verdicts: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.machine = machine()
        for name, value in self.machine.items():
            print(f"{name:<14}{value}")

    def head(self, title: str, columns: tuple[str, ...] = ()) -> None:
        """Begin a table of milliseconds: ours, the peers, the ratios and the target."""
        self.columns = columns or (Ours.name, *(peer.name for peer in PEERS))
        names = "".join(f"{name:>13}" for name in self.columns)
        print(f"\n{title}, ms\n{'':<32}{names}{'ratio':>9}{'cpu':>8}{'at most':>9}", flush=True)

    def add(self, line: Line) -> None:
        """Print a line and keep it."""
        self.lines.append(line)
        self.verdicts.append(line.verdict)
        times = "".join(
            f"{line.times[name][0] * 1e3:>13.2f}" if name in line.times else f"{'-':>13}"
            for name in self.columns
        )
        target = "" if line.target is None else f"{line.target:g}"
        ratio, cpu = line.ratios
        tail = f"{ratio:>9.3f}{cpu:>8.3f}{target:>9}   {line.verdict:<7} {line.note}"
        print(f"{line.work:<32}{times}{tail.rstrip()}", flush=True)

    def close(self, path: Path | None) -> None:
        """Count the targets; write the numbers if asked to."""
        judged = [verdict for verdict in self.verdicts if verdict]
        print(f"\n{judged.count('met')} of {len(judged)} targets met; load average {_load()}")
        if path is not None:
            rows = [asdict(line) | {"ratios": line.ratios} for line in self.lines]
            everything = {"machine": self.machine, "lines": rows} | self.extra
            path.write_text(json.dumps(everything, default=np.ndarray.tolist, indent=1))


def machine() -> dict[str, str]:
    """Describe what the numbers depend on."""
    packages = ("costboost", "numpy", "scikit-learn", "lightgbm", "xgboost-cpu", "xgboost")
    pinned = (f"{name}={os.environ.get(name, 'unset')}" for name in PINNED)
    return {
        "processor": _processor(),
        "cores": f"{os.cpu_count()}, threads used {THREADS} ({', '.join(pinned)})",
        "load average": _load(),
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "packages": ", ".join(filter(None, map(_version, packages))),
    }


def _load() -> str:
    return ", ".join(f"{x:.2f}" for x in os.getloadavg())


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def _version(package: str) -> str | None:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return None

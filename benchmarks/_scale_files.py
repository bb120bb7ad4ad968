"""One contestant of the scale benchmark in a process of its own: trains from files, tells figures.

    python benchmarks/_scale_files.py NAME '{"paths": [...], "rounds": 10, ...}'

The last line that it prints is JSON. Peaks are those of the whole process, as the system counts
them: memory of its own, and mapped files as far as they are in memory.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from _scale_rows import LABEL, NAMES

BINS = 255


class Clock:
    """Marks the end of every round; a callback of scikit-learn, LightGBM and XGBoost alike."""

    def __init__(self) -> None:
        self.marks = [perf_counter()]

    def mark(self) -> None:
        """Note the time."""
        self.marks.append(perf_counter())

    def figures(self, rounds: int) -> dict[str, float]:
        """Return the time before the first round's end, and that of a later round."""
        ends = self.marks[-rounds:]
        steps = sorted(after - before for before, after in pairwise(ends))
        return {"first": ends[0] - self.marks[0], "round": steps[len(steps) // 2]}

    def setup(self, estimator: Any, context: Any) -> None:
        """Begin a fit: nothing to do."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """End a fit: nothing to do."""

    def on_fit_task_begin(self, estimator: Any, context: Any, **_: Any) -> None:
        """Begin a round: nothing to do."""

    def on_fit_task_end(self, estimator: Any, context: Any, **_: Any) -> None:
        """End a round."""
        if context.task_name == "round":
            self.mark()


def costboost(clock: Clock, options: dict[str, Any]) -> Any:
    """Train on a ParquetTable."""
    from costboost import CostBoostClassifier, Costs, ParquetTable

    fn = "amount" if options["by_row"] else 4
    table = ParquetTable(
        options["paths"],
        label=LABEL,
        features=NAMES,
        costs=Costs(fp=1, fn=fn),
        cache=options["folder"],
    )
    model = CostBoostClassifier(
        options["method"],
        n_estimators=options["rounds"],
        max_depth=None,
        max_leaf_nodes=options["leaves"],
        calibration=None,
        random_state=0,
        n_jobs=options["threads"],
    )
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(clock)
    return model.fit(table)


def lightgbm(clock: Clock, options: dict[str, Any]) -> Any:
    """Train on a Sequence of row groups, which LightGBM bins as it reads them."""
    import lightgbm as lgb

    class RowGroup(lgb.Sequence):
        """One row group, read when asked for; the last one read stays."""

        batch_size = 1 << 20
        held: tuple[Any, Any] = (None, None)

        def __init__(self, path: str, group: int, rows: int) -> None:
            self.place, self.rows = (path, group), rows

        def __len__(self) -> int:
            return self.rows

        def __getitem__(self, index: Any) -> Any:
            if RowGroup.held[0] != self.place:
                path, group = self.place
                RowGroup.held = (self.place, _group(path, group)[0])
            return RowGroup.held[1][index].astype(np.float64)

    sequences = [RowGroup(*place) for place in _groups(options["paths"])]
    labels = np.concatenate([pq.read_table(p, columns=[LABEL])[0] for p in options["paths"]])
    params = {
        "objective": "binary",
        "num_leaves": options["leaves"],
        "max_bin": BINS,
        "num_threads": options["threads"],
        "two_round": True,
        "verbose": -1,
    }
    data = lgb.Dataset(sequences, labels, params=params).construct()
    return lgb.train(params, data, options["rounds"], callbacks=[lambda _: clock.mark()])


def xgboost(clock: Clock, options: dict[str, Any]) -> Any:
    """Train from external memory: pages of bins in files."""
    import xgboost as xgb

    class RowGroups(xgb.DataIter):
        """All row groups, one after the other."""

        def __init__(self, folder: str) -> None:
            self.places, self.at = _groups(options["paths"]), 0
            super().__init__(cache_prefix=str(Path(folder) / "pages"))

        def next(self, input_data: Any) -> bool:
            if self.at == len(self.places):
                return False
            X, y = _group(*self.places[self.at][:2])
            input_data(data=X, label=y)
            self.at += 1
            return True

        def reset(self) -> None:
            self.at = 0

    class Marking(xgb.callback.TrainingCallback):
        def after_iteration(self, *_: Any) -> bool:
            clock.mark()
            return False

    params = {
        "objective": "binary:logistic",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": options["leaves"],
        "max_depth": 0,
        "max_bin": BINS,
        "nthread": options["threads"],
    }
    with tempfile.TemporaryDirectory(dir=options["folder"]) as folder:
        data = xgb.ExtMemQuantileDMatrix(
            RowGroups(folder), max_bin=BINS, nthread=options["threads"]
        )
        model = xgb.train(params, data, options["rounds"], callbacks=[Marking()])
        del data  # it removes its pages itself
        return model


def _groups(paths: list[str]) -> list[tuple[str, int, int]]:
    found = []
    for path in paths:
        metadata = pq.ParquetFile(path).metadata
        found += [(path, g, metadata.row_group(g).num_rows) for g in range(metadata.num_row_groups)]
    return found


def _group(path: str, group: int) -> tuple[Any, Any]:
    table = pq.ParquetFile(path).read_row_group(group)
    X = np.column_stack([table[name].to_numpy() for name in NAMES])
    return X, table[LABEL].to_numpy()


MODULES = {
    "costboost": ["costboost.estimators.adaboost.classifier", "costboost.files"],
    "LightGBM": ["lightgbm"],
    "XGBoost": ["xgboost"],
}
CONTESTANTS = {"costboost": costboost, "LightGBM": lightgbm, "XGBoost": xgboost}


def peak() -> int:
    """Return the most memory this process has had, in bytes.

    Linux tells it of the program that runs; `getrusage` would also count what the process that
    started it had.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if "VmHWM" in line)
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Train once."""
    name, options = sys.argv[1], json.loads(sys.argv[2])
    for module in MODULES[name]:
        import_module(module)
    before, clock = peak(), Clock()
    CONTESTANTS[name](clock, options)
    total = perf_counter() - clock.marks[0]
    figures = clock.figures(options["rounds"]) | {"total": total}
    print(json.dumps(figures | {"before": before, "peak": peak()}))


if __name__ == "__main__":
    main()

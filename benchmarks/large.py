"""The default on large tables against LightGBM, calibrated, as users get both: time and loss.

    python benchmarks/large.py [--rows N ...] [--repeats N]

Both train five models and calibrate them; they keep their defaults and use two threads. Fits take
turns, and the fastest of each counts; log loss is that of a quarter as many new rows.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time
from typing import Any

import lightgbm as lgb
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss

from _common import TABLES, THREADS, pin_threads
from costboost import CostBoostClassifier


def contenders() -> dict[str, Any]:
    booster = lgb.LGBMClassifier(n_jobs=THREADS, verbose=-1)
    return {
        "costboost": CostBoostClassifier(random_state=0, n_jobs=THREADS, verbose=0),
        "LightGBM, calibrated": CalibratedClassifierCV(booster, cv=5),
    }


def measure(X: Any, y: Any, n_train: int, repeats: int) -> dict[str, list[float]]:
    """Return seconds on the wall, of the processor, and the log loss of the rows left."""
    found: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, model in contenders().items():
            wall, cpu = perf_counter(), process_time()
            model.fit(X[:n_train], y[:n_train])
            wall, cpu = perf_counter() - wall, process_time() - cpu
            loss = log_loss(y[n_train:], model.predict_proba(X[n_train:])[:, 1])
            known = found.get(name, [wall, cpu, loss])
            found[name] = [min(known[0], wall), min(known[1], cpu), loss]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[200_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=1, help="default: %(default)s")
    options = parser.parse_args()
    pin_threads()
    print(f"{'':<46}{'wall s':>10}{'cpu s':>10}{'log loss':>10}{'wall ratio':>12}")
    for n_rows in options.rows:
        for kind, make in TABLES.items():
            found = measure(*make(n_rows + n_rows // 4), n_rows, options.repeats)
            print(f"{n_rows:,} x 28, {kind}")
            ours = found["costboost"][0]
            for name, (wall, cpu, loss) in found.items():
                ratio = f"{ours / wall:.2f}"
                print(f"  {name:<44}{wall:>10.1f}{cpu:>10.1f}{loss:>10.5f}{ratio:>12}", flush=True)


if __name__ == "__main__":
    main()

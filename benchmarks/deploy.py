"""Exported models, one row at a time: C against onnxruntime; and model files against joblib's.

    python benchmarks/deploy.py [--calls N] [--repeats N] [--json FILE]

A measurement is the least of several, in processor time: the contestants take turns, each on one
thread, and what else the machine does counts little. The C file is
compiled with -O2 and called twice over: in a loop of C, as a service in C would call it, and row by
row from Python through ctypes, as onnxruntime's session is called here. Needs gcc and
`costboost[onnx]`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Any

import joblib
import numpy as np
import onnxruntime
from sklearn.datasets import make_classification

import costboost as cb
from costboost.deploy import to_c, to_onnx

LOOP = """
void loop(const double *rows, int n, int columns, int calls, double *out)
{
    int i;
    for (i = 0; i < calls; i++) {
        model_probabilities(rows + (i % n) * columns, out);
    }
}
"""
TARGET = 5.0  # times faster than onnxruntime


def models(X: Any, y: Any) -> dict[str, Any]:
    """Train the models to be exported."""
    boost = cb.CostBoostClassifier
    gradient = cb.GradientBoostClassifier(max_leaf_nodes=8, random_state=0)
    return {
        "the default recipe": boost(random_state=0).fit(X, y),
        "100 trees of 8 leaves": gradient.fit(X, y),
        "1,000 stumps": boost("adaboost", 1000, max_depth=1, random_state=0).fit(X, y),
    }


def least(work: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the least time of each, taking turns."""
    times = dict.fromkeys(work, np.inf)
    for _ in range(repeats):
        for name, call in work.items():
            began = thread_time()
            call()
            times[name] = min(times[name], thread_time() - began)
    return times


def compiled(model: Any, folder: Path) -> ctypes.CDLL:
    source = folder / "model.c"
    source.write_text(to_c(model) + LOOP)
    flags = ["-O2", "-std=c99", "-ffp-contract=off", "-shared", "-fPIC"]
    library = folder / f"{abs(hash(str(model)))}.so"
    subprocess.run(["gcc", *flags, "-o", str(library), str(source), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def one_row(model: Any, X: Any, folder: Path, calls: int, repeats: int) -> dict[str, float]:
    """Return microseconds a row."""
    library = compiled(model, folder)
    rows, out = np.ascontiguousarray(X, dtype=np.float64), np.empty(2)
    doubles = ctypes.POINTER(ctypes.c_double)
    data, answer = rows.ctypes.data_as(doubles), out.ctypes.data_as(doubles)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(model, decisions=False).SerializeToString()
    session = onnxruntime.InferenceSession(graph, options)
    given = [{"X": np.asarray(X[i : i + 1], dtype=np.float32)} for i in range(len(X))]
    pointers = [row.ctypes.data_as(doubles) for row in rows]

    def many(what: Callable[[int], Any], n: int) -> None:
        for i in range(n):
            what(i % len(X))

    loop = partial(library.loop, data, len(rows), rows.shape[1], 10 * calls, answer)
    times = least(
        {
            "C": loop,
            "C by ctypes": partial(
                many, lambda i: library.model_probabilities(pointers[i], answer), calls
            ),
            "onnxruntime": partial(many, lambda i: session.run(None, given[i]), calls),
            "Python": partial(
                many, lambda i: model.predict_proba(X[i : i + 1]), max(1, calls // 10)
            ),
        },
        repeats,
    )
    n_calls = {"C": 10 * calls, "Python": max(1, calls // 10)}
    return {name: 1e6 * took / n_calls.get(name, calls) for name, took in times.items()}


def files(model: Any, folder: Path, repeats: int) -> dict[str, float]:
    """Return sizes in kB and times of loading in milliseconds."""
    ours, theirs = folder / "ours", folder / "theirs"
    cb.save(model, ours)
    joblib.dump(model, theirs)
    work = {
        "load": lambda: cb.load(ours),
        "load mapped": lambda: cb.load(ours, mmap=True),
        "joblib load": lambda: joblib.load(theirs),
    }
    told = {name: 1e3 * took for name, took in least(work, repeats).items()}
    sizes = {"kB": ours.stat().st_size / 1e3, "joblib kB": theirs.stat().st_size / 1e3}
    return {**sizes, **told}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1000, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=7, help="default: %(default)s")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    X, y = make_classification(4_000, 28, n_informative=12, flip_y=0.1, random_state=0)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, model in models(X, y).items():
            times = one_row(model, X[:100], folder, args.calls, args.repeats)
            kept = files(model, folder, args.repeats)
            found[what] = {"us a row": times, "files": kept}
            ratio = times["onnxruntime"] / times["C"]
            through = times["onnxruntime"] / times["C by ctypes"]
            verdict = "met" if ratio >= TARGET else "MISSED"
            head = f"{what}: C {ratio:.1f} times faster than onnxruntime ({TARGET:g}: {verdict})"
            print(head, flush=True)
            print("   us a row  " + "  ".join(f"{k} {v:.2f}" for k, v in times.items()))
            print(f"   both called from Python: {through:.1f} times")
            print("   files     " + "  ".join(f"{k} {v:.2f}" for k, v in kept.items()))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()

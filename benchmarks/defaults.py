"""Log loss of `GradientBoostClassifier` with other defaults; borders of the recipe.

    python benchmarks/defaults.py [--quick]
    python benchmarks/defaults.py --borders [N ...]

Eight tables in stratified halves, one split each; everything but what is named stays as it is. Data
come from the folder named by COSTBOOST_DATA, else from ../shared/data beside the checkout.

`--borders` fits `CostBoostClassifier()` on N - 2, N - 1 and N rows of a made table, and prints how
far the probabilities of new rows are apart. One row more cuts other folds, so models of N - 2 and
N - 1 rows differ too; those of N - 1 and N would differ by more if the recipe had a border there.
"""

from __future__ import annotations

import argparse
import warnings
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from _common import TABLES, THREADS
from _cost_many import MANY, read_many
from _cost_tables import read_table
from costboost import CostBoostClassifier, GradientBoostClassifier

SETS = (
    "segment",
    "splice",
    "satimage",
    "nik_heart",
    "nik_pima",
    "nik_waveformm",
    "nik_krvskp",
    "credit_default_taiwan",
)
STOP = {"n_iter_no_change": 10, "early_stopping_metric": "log_loss"}
DRAWN = {"subsample": 0.7, "max_features": "sqrt"}
OPTIONS: dict[str, dict[str, Any]] = {
    "8 leaves (the default)": {},
    "31 leaves": {"max_leaf_nodes": 31},
    "31 leaves, stopped by a tenth of the rows": {"max_leaf_nodes": 31, **STOP},
    "8 leaves, stopped by a tenth of the rows": STOP,
    "31 leaves, l2_regularization=1": {"max_leaf_nodes": 31, "l2_regularization": 1.0},
    "8 leaves, rows and columns drawn": DRAWN,
}


def show_borders(borders: list[int]) -> None:
    """Print mean distances between probabilities of models of n - 2, n - 1 and n rows."""
    n_new = 5_000
    X, y = TABLES["skewed and coarse columns"](max(borders) + n_new)
    heads = ("n - 2 to n - 1", "n - 1 to n", "log loss, n - 1", "log loss, n")
    print(f"{'rows':>8}" + "".join(f"{head:>18}" for head in heads))
    for n in borders:
        found = []
        for n_rows in (n - 2, n - 1, n):
            model = CostBoostClassifier(random_state=0, n_jobs=THREADS, verbose=0)
            model.fit(X[-n_rows:], y[-n_rows:])
            found.append(model.predict_proba(X[:n_new])[:, 1])
        apart = [np.abs(a - b).mean() for a, b in pairwise(found)]
        numbers = [*apart, *(log_loss(y[:n_new], p) for p in found[1:])]
        print(f"{n:>8,}" + "".join(f"{number:>18.4f}" for number in numbers), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="the three smallest tables")
    borders = [1_000, 10_000, 20_000, 50_000]
    add("--borders", type=int, nargs="*", metavar="N", help=f"default: {borders}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.borders is not None:
        show_borders(options.borders or borders)
        return
    sets = SETS[:1] + SETS[3:5] if options.quick else SETS
    losses, seconds = np.zeros((len(OPTIONS), len(sets))), np.zeros(len(OPTIONS))
    for j, name in enumerate(sets):
        train, test = (read_many if name in MANY else read_table)(name).split(0)
        for i, given in enumerate(OPTIONS.values()):
            begin = process_time()
            model = GradientBoostClassifier(random_state=0, n_jobs=1, **given)
            model.fit(train.X, train.y)
            seconds[i] += process_time() - begin
            proba = model.predict_proba(test.X)
            losses[i, j] = log_loss(test.y, proba, labels=model.classes_)
        print(f"{name:<24}" + "".join(f"{loss:>9.4f}" for loss in losses[:, j]), flush=True)
    means = np.exp(np.log(losses).mean(axis=1))
    for option, mean, spent in zip(OPTIONS, means, seconds / len(sets), strict=True):
        print(f"{option:<44} geometric mean {mean:.4f}, {spent:.2f} CPU s")


if __name__ == "__main__":
    main()

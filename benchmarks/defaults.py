"""Log loss of `GradientBoostClassifier` with other defaults than its own.

    python benchmarks/defaults.py [--quick]

Eight tables in stratified halves, one split each; everything but what is named stays as it is. Data
come from the folder named by COSTBOOST_DATA, else from ../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from _cost_many import MANY, read_many
from _cost_tables import read_table
from costboost import GradientBoostClassifier

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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the three smallest tables")
    sets = SETS[:1] + SETS[3:5] if parser.parse_args().quick else SETS
    warnings.simplefilter("ignore")
    losses, seconds = np.zeros((len(OPTIONS), len(sets))), np.zeros(len(OPTIONS))
    for j, name in enumerate(sets):
        train, test = (read_many if name in MANY else read_table)(name).split(0)
        for i, options in enumerate(OPTIONS.values()):
            begin = process_time()
            model = GradientBoostClassifier(random_state=0, n_jobs=1, **options)
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

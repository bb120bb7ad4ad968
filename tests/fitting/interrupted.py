"""Fits one model after the other until Ctrl-C ends it; says when each returned, and keeps going.

Run by `test_trainer_interruption.py` in a process of its own, which gets real signals. The first
argument is the number of rows.
"""

import sys
import time
import warnings

import numpy as np

from costboost import CostBoostClassifier, GradientBoostClassifier, PNormBoostClassifier

FOREVER = {"n_estimators": 100_000, "random_state": 0, "on_interrupt": "keep", "verbose": 1}
MODELS = {
    "auto": CostBoostClassifier(**FOREVER, n_iter_no_change=None),
    "adamec": CostBoostClassifier("adamec", **FOREVER),
    "asymada": CostBoostClassifier("asymada", **FOREVER),
    "cgada": CostBoostClassifier("cgada", **FOREVER, max_depth=3),
    "csb1, isotonic": CostBoostClassifier("csb1", **FOREVER, calibration="isotonic"),
    "gradient": GradientBoostClassifier(**FOREVER, calibration="sigmoid"),
    "p-norm": PNormBoostClassifier(**FOREVER, calibration="sigmoid"),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(int(sys.argv[1]), 20))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0.5).astype(int)
    for name, model in MODELS.items():
        print(f"fit {name}", flush=True)
        model.fit(X, y, costs={"fp": 1, "fn": 5})
        print(f"done {time.time()} {model.n_iter_} {len(model.predict(X[:9]))}", flush=True)

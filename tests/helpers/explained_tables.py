"""Shared by the tests of contributions and importances: a mixed table, and small models."""

import numpy as np
import pandas as pd


def table(n=240, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=n).astype(float),
            "income": np.where(rng.random(n) < 0.15, np.nan, rng.lognormal(3, 1, size=n)),
            "region": pd.Categorical(rng.choice(["n", "s", "w", None], n)),
            "noise": rng.normal(size=n),
        }
    )
    score = (X["age"] - 50) / 20 + X["region"].eq("s") + 0.5 * rng.normal(size=n)
    score -= np.nan_to_num(np.log(X["income"]), nan=3.0) - 3.0
    cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
    return X, np.searchsorted(cuts, score)


SMALL = {"n_estimators": 6, "random_state": 0}

"""Shared by the tests of explained decisions: payments with awkward names, and a model of them."""

import numpy as np
import pandas as pd

from costboost import (
    CostBoostClassifier,
    Costs,
)


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(3, 1, size=n),
            "hour": rng.integers(0, 24, size=n),
            "<b>shop</b>": pd.Categorical(rng.choice(["<script>", "food", None], n)),
        }
    )
    chance = 1 / (1 + np.exp(2 - X["amount"] / 30 - X["<b>shop</b>"].eq("<script>")))
    return X, np.where(rng.random(n) < chance, "fraud", "fine")


def fitted(**options):
    X, y = table()
    model = CostBoostClassifier("adamec", 10, cv=3, random_state=0, **options)
    return model.fit(X, y, costs=Costs(fp=5, fn=40, positive="fraud")), X, y

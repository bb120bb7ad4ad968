"""Shared by the tests of wrappers: rows of some classes, and prices of which one is dear."""

import numpy as np


def problem(seed=0, n=300, K=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.argmax(X @ rng.normal(size=(3, K)) + rng.normal(size=(n, K)), axis=1)
    y[:K] = np.arange(K)
    return X, y


DEAR = np.array([[0, 1, 1], [1, 0, 1], [40, 40, 0.0]])  # missing class 2 is dear

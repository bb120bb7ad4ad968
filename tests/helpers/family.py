"""Shared by the tests of `CostBoostClassifier`: a problem, a plain model, equality of models."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from costboost import CostBoostClassifier

STUMP = DecisionTreeClassifier(max_depth=1)
FITTED = ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_")


def problem(seed=0, n=300, d=5, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.4).astype(int)
    return X, y


def plain(method, n_estimators=8, **options):
    options = {"calibration": None, "random_state": 0, "max_depth": 2, **options}
    return CostBoostClassifier(method, n_estimators, **options)


def identical(one, other, X):
    """The same model, bit for bit."""
    assert one.n_iter_ == other.n_iter_
    for name in FITTED:
        first, second = getattr(one, name), getattr(other, name)
        pairs = zip(first, second, strict=True) if isinstance(first, list) else [(first, second)]
        for a, b in pairs:
            assert_array_equal(a, b)
    assert_array_equal(one.decision_function(X), other.decision_function(X))


def has_callbacks():
    """Whether scikit-learn has callbacks: 1.9 and later."""
    try:
        import sklearn.callback  # noqa: F401
    except ImportError:
        return False
    return True

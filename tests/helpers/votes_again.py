"""Shared by the tests of AdaBoost's family: fits, and plain re-runs of their votes."""

import numpy as np
from numpy.testing import assert_allclose

from costboost import CostBoostClassifier
from costboost.shards import layout as layout_module
from naive import rules as naive

SAME = {"rtol": 1e-9, "atol": 1e-11}


def problem(seed=0, n=160, d=4, noise=1.0, levels=None):
    """(X, y): two noisy classes, y in {0, 1}; with `levels`, few distinct values per column."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0.3).astype(int)
    y[:2] = 0, 1
    if levels is not None:
        X = np.floor(X * levels / 4)
    return X, y


def costs_of(kind, n, seed=0, low=1.0, high=3.0):
    """(fp, fn), constants or one per row."""
    if kind == "constant":
        return low, high
    rng = np.random.default_rng(seed + 100)
    return low * rng.uniform(0.5, 1.5, n), high * rng.uniform(0.5, 1.5, n)


def cut_into(number, monkeypatch):
    monkeypatch.setattr("costboost.fitting.tables.sensible_shards", lambda *sizes: number)
    monkeypatch.setattr(layout_module, "_DEAL", 7)


def fitted(method, X, y, costs, sample_weight=None, **options):
    options = {
        "n_estimators": 6,
        "learning_rate": 1.0,
        "votes": "discrete",
        "calibration": None,
        "random_state": 0,
        **options,
    }
    return CostBoostClassifier(method, **options).fit(X, y, sample_weight, costs)


def margins_of(model, X):
    """F after each round, (T, n)."""
    return np.array(list(model.staged_decision_function(X))).reshape(model.n_iter_, len(X), -1)[
        ..., 0
    ]


def votes_of(model, X):
    """What each round added to F, over its alpha: (T, n), in {-1, +1} or [-1, 1]."""
    margins = margins_of(model, X)
    added = np.diff(margins, axis=0, prepend=np.zeros((1, len(X))))
    if model.method == "rareboost":
        return np.sign(added)
    votes = added / model.estimator_weights_[:, None]
    return np.sign(votes) if model.votes == "discrete" else votes


def replayed(model, X, y, fp, fn, sample_weight=None, **options):
    """The naive run of the same votes."""
    signs = np.where(y == 1, 1.0, -1.0)
    options = {
        "n_rounds": model.n_estimators,
        "learning_rate": model.learning_rate,
        "alpha": model.alpha,
        "cost_scale": model.cost_scale,
        "c_fp": fp,
        "c_fn": fn,
        **options,
    }
    cost = np.where(y == 1, fn, fp) * np.ones(len(y))
    votes = votes_of(model, X)
    return naive.boost(model.method, signs, cost, votes, sample_weight=sample_weight, **options)


def assert_same(model, run, X):
    """Alpha, error, Z, cost, bound and margins of all rounds, and no round missing or too many."""
    assert model.n_iter_ == run.n_rounds >= 1
    assert_allclose(model.estimator_weights_, run.alphas, **SAME)
    assert_allclose(model.estimator_errors_, run.errors, **SAME)
    assert_allclose(model.normalizers_, run.normalizers, **SAME)
    assert_allclose(model.train_cost_, run.train_cost, **SAME)
    assert_allclose(margins_of(model, X), run.margins, **SAME)
    assert hasattr(model, "cost_bound_") == (run.bound is not None)
    if run.bound is not None:
        assert_allclose(model.cost_bound_, run.bound, **SAME)

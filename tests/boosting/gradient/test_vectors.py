"""Trees with vector leaves: against a booster in plain NumPy, on shards, and with weights."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.datasets import load_wine, make_classification

from costboost.binning.binner import fit_binner
from costboost.boosting.gradient.learner import VectorTree
from costboost.boosting.gradient.loop import GradientBoosting, GradientSetting
from costboost.boosting.gradient.losses import LogLoss
from costboost.boosting.gradient.rows import LossRows
from costboost.estimators.gradient.model import assemble_gradient
from costboost.trees.tree import Limits
from gradient_shards import cut_rows


def boost(
    X, y, weights=None, *, n_rounds=5, n_shards=1, subsample=1.0, l2=1.0, previous=(), **rules
):
    """Return the rounds, and the margins of the training rows by the trees."""
    n_classes, binner = int(y.max()) + 1, fit_binner(X)
    rows, codes = LossRows(y, n_classes, weights), binner.encode(X)
    limits = Limits(**{"max_depth": 2, "min_samples_leaf": 3, **rules})
    heaviest = None if weights is None else float(weights.max())
    with cut_rows(rows, codes, n_shards) as shards:
        start = LogLoss().constant(shards, n_classes)
        setting = GradientSetting(n_rounds, "newton", 0.3, l2, 4.0, subsample, seed=3)
        learner = VectorTree(binner, n_classes, limits, l2, 3, heaviest)
        boosting = GradientBoosting(shards, LogLoss(), learner, setting, start)
        boosting.replay(previous)
        rounds = [*previous, *boosting.rounds(len(previous))]
        held = shards.fetch(lambda shard: shard.state.margins)
    model = assemble_gradient(rounds, binner, start, None)
    assert len(model.forest) == len(rounds)  # one tree a round
    assert_allclose(model.margins(X), held, rtol=1e-12, atol=1e-12)
    return rounds, model.margins(X)


def naive_boost(X, y, w, n_rounds, l2=1.0, least=3, depth=2, rate=0.3):
    """Grow by trying every threshold of every column, level by level."""
    Y = np.eye(int(y.max()) + 1)[y]
    shares = np.log(w @ Y / w.sum())
    F = np.tile(shares - shares.mean(), (len(y), 1))

    def score(rows):
        return np.sum((w[rows, None] * G[rows]).sum(axis=0) ** 2) / (w[rows].sum() + l2)

    def grow(rows, level):
        best, sides = 1e-9, None
        for j in range(X.shape[1]) if level < depth else ():
            for t in np.unique(X[rows, j])[:-1]:
                left, right = rows[X[rows, j] <= t], rows[X[rows, j] > t]
                if min(len(left), len(right)) < least:
                    continue
                gain = score(left) + score(right) - score(rows)
                if gain > best * (1 + 1e-9):
                    best, sides = gain, (left, right)
        if sides is None:
            g, h = (w[rows, None] * G[rows]).sum(axis=0), (w[rows, None] * H[rows]).sum(axis=0)
            steps[rows] = np.clip(-g / (h + l2), -4, 4)
            return
        for side in sides:
            grow(side, level + 1)

    for _ in range(n_rounds):
        P = softmax(F, axis=1)
        G, H, steps = P - Y, P * (1 - P), np.zeros_like(F)
        grow(np.arange(len(y)), 0)
        F = F + rate * steps
    return F


@pytest.mark.parametrize("weighted", [False, True])
def test_vector_leaves_equal_the_twin(weighted):
    X, y = load_wine(return_X_y=True)
    X, y = X[::3, :5], y[::3]
    w = np.random.default_rng(0).uniform(0.5, 3, len(y)) if weighted else np.ones(len(y))
    _, margins = boost(X, y, w if weighted else None)
    assert_allclose(margins, naive_boost(X, y, w, 5), rtol=1e-5, atol=1e-6)


def problem(n=600):
    X, y = make_classification(
        n, 8, n_informative=5, n_classes=4, flip_y=0.1, n_clusters_per_class=1, random_state=0
    )
    return X, y


@pytest.mark.parametrize("max_features", [None, 3])
def test_vector_leaves_do_not_depend_on_shards(max_features):
    X, y = problem()
    options = {"max_features": max_features, "subsample": 0.7, "n_rounds": 8}
    one = boost(X, y, **options)[1]
    for n_shards in (2, 5):
        assert_array_equal(boost(X, y, n_shards=n_shards, **options)[1], one)


def test_vector_leaves_are_replayed():
    X, y = problem()
    whole, margins = boost(X, y, n_rounds=6)
    assert_array_equal(boost(X, y, n_rounds=6, previous=whole[:3])[1], margins)


def test_equal_weights_are_none_and_double_weights_are_copies():
    X, y = problem(200)
    plain = boost(X, y, l2=0.0, min_samples_leaf=1)[1]
    assert_allclose(boost(X, y, np.full(200, 2.0), l2=0.0, min_samples_leaf=1)[1], plain, atol=1e-6)
    weights = np.random.default_rng(1).integers(1, 4, 200)
    copies = np.repeat(np.arange(200), weights)
    weighted = boost(X, y, weights.astype(float), min_samples_leaf=1)[1]
    assert_allclose(
        weighted[copies], boost(X[copies], y[copies], min_samples_leaf=1)[1], atol=1e-12
    )


def test_leaves_have_as_many_rows_as_asked_for():
    X, y = problem()
    for weights in (None, np.random.default_rng(2).uniform(0.1, 5, len(y))):
        rounds, _ = boost(X, y, weights, max_depth=6, min_samples_leaf=17)
        binner = fit_binner(X)
        model = assemble_gradient(rounds, binner, np.zeros(4), None)
        leaves = model.forest.apply(X)
        assert min(np.bincount(column)[np.unique(column)].min() for column in leaves.T) >= 17

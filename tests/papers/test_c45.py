"""C4.5 against trees and figures that were published, and against a plain search."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.papers.c45 import C45Classifier
from costboost.papers.c45_splits import (
    Table,
    best_test,
    categorical_candidates,
    numeric_candidates,
)
from costboost.papers.c45_trees import extra_errors

SUNNY, OVERCAST, RAIN = 0, 1, 2
# Quinlan 1993, Figure 2-1: outlook, temperature, humidity, windy; play.
GOLF = np.array(
    [
        [SUNNY, 75, 70, 1, 1],
        [SUNNY, 80, 90, 1, 0],
        [SUNNY, 85, 85, 0, 0],
        [SUNNY, 72, 95, 0, 0],
        [SUNNY, 69, 70, 0, 1],
        [OVERCAST, 72, 90, 1, 1],
        [OVERCAST, 83, 78, 0, 1],
        [OVERCAST, 64, 65, 1, 1],
        [OVERCAST, 81, 75, 0, 1],
        [RAIN, 71, 80, 1, 0],
        [RAIN, 65, 70, 1, 0],
        [RAIN, 75, 80, 0, 1],
        [RAIN, 68, 80, 0, 1],
        [RAIN, 70, 96, 0, 1],
    ]
)
KINDS = np.array([True, False, False, True])


def golf(missing=False):
    data = GOLF.astype(float)
    if missing:
        data[5, 0] = np.nan  # the book's example: the outlook of the sixth row is not known
    return data[:, :4], data[:, 4].astype(int)


def leaves(model):
    return [(round(leaf.counts.sum(), 1), round(leaf.errors, 1)) for leaf in model.tree_.leaves()]


def test_the_golf_tree_is_quinlan_s():
    model = C45Classifier(categorical_features=KINDS).fit(*golf())
    tree = model.tree_
    assert tree.test.column == 0
    sunny, overcast, rain = tree.children
    assert (sunny.test.column, sunny.test.threshold) == (2, 75)
    assert overcast.test is None
    assert rain.test.column == 3
    assert leaves(model) == [(2, 0), (3, 0), (4, 0), (3, 0), (2, 0)]


def test_the_golf_gains_are_quinlan_s():
    table = Table.read(*golf(), KINDS)
    found = categorical_candidates(table, np.arange(14), np.ones(14), 2.0)
    assert_allclose(found.gains, [0.247, 0.048], atol=6e-4)  # outlook, windy
    assert_allclose(found.gains[0] / found.informations[0], 0.156, atol=6e-4)


def test_a_missing_outlook_gives_the_fractions_of_the_book():
    table = Table.read(*golf(missing=True), KINDS)
    found = categorical_candidates(table, np.arange(14), np.ones(14), 2.0)
    assert_allclose(found.gains[0], 0.199, atol=6e-4)
    assert_allclose(found.informations[0], 1.809, atol=6e-4)
    model = C45Classifier(categorical_features=KINDS).fit(*golf(missing=True))
    assert leaves(model) == [(2.0, 0), (3.4, 0.4), (3.2, 0), (3.0, 0), (2.4, 0.4)]
    # A sunny row of unknown humidity goes both ways, by the weights that went there.
    proba = model.predict_proba([[SUNNY, 70, np.nan, 0]])[0, 1]
    assert proba == pytest.approx((2.0 + 5 / 13) / (5 + 5 / 13))


def test_the_iris_tree_is_the_one_that_j48_prints():
    X, y = load_iris(return_X_y=True)
    model = C45Classifier().fit(X, y)
    tests = []

    def walk(node):
        if node.test is not None:
            tests.append((node.test.column, node.test.threshold))
            for child in node.children:
                walk(child)

    walk(model.tree_)
    assert tests == [(3, 0.6), (3, 1.7), (2, 4.9), (3, 1.5)]
    assert leaves(model) == [(50, 0), (48, 1), (3, 0), (3, 1), (46, 1)]


@pytest.mark.data
def test_the_breast_cancer_tree_has_j48_s_four_leaves(data_folder):
    from costboost.datasets import load

    data = load("breast_cancer_ljubljana", folder=data_folder)
    X, categorical = data.to_numpy()
    model = C45Classifier(categorical_features=categorical).fit(X, data.y)
    columns = [data.feature_names[model.tree_.test.column]]
    columns += [data.feature_names[c.test.column] for c in model.tree_.children if c.test]
    assert [name.replace("_", "-") for name in columns] == ["node-caps", "deg-malig"]
    assert len(leaves(model)) == 4
    assert model.score(X, data.y) == pytest.approx(0.7587, abs=1e-4)


def test_pessimistic_errors_are_those_of_the_book():
    assert extra_errors(6, 0, 0.25) == pytest.approx(6 * 0.206, abs=4e-3)
    assert extra_errors(9, 0, 0.25) == pytest.approx(9 * 0.143, abs=5e-3)
    assert extra_errors(1, 0, 0.25) == pytest.approx(0.750)
    assert 1 + extra_errors(16, 1, 0.25) == pytest.approx(16 * 0.157, abs=9e-3)
    assert extra_errors(0, 0, 0.25) == 0
    # More errors, or more confidence in the worst, are never cheaper.
    grid = [extra_errors(20, e, 0.25) + e for e in np.arange(0, 19, 0.25)]
    assert all(np.diff(grid) > 0)


def entropy(weights):
    total = sum(weights)
    return -sum(w / total * math.log2(w / total) for w in weights if w > 0)


def plain_gain(x, y, w, threshold):
    """The gain of x <= threshold in plain Python, known rows only, times their share."""
    known = [(a, b, c) for a, b, c in zip(x, y, w, strict=True) if not math.isnan(a)]

    def bits(rows):
        return entropy([sum(c for _, b, c in rows if b == k) for k in set(y)])

    sides = [[r for r in known if (r[0] <= threshold) == left] for left in (True, False)]
    size = [sum(c for _, _, c in side) for side in sides]
    after = sum(s * bits(side) for s, side in zip(size, sides, strict=True)) / sum(size)
    gain = bits(known) - after
    return gain * sum(size) / sum(w), size


@pytest.mark.parametrize("seed", range(8))
def test_thresholds_are_those_of_a_plain_search(seed):
    rng = np.random.default_rng(seed)
    n = 30
    X = rng.integers(0, 9, size=(n, 3)).astype(float)
    X[rng.uniform(size=X.shape) < 0.15] = np.nan
    y, w = rng.integers(0, 3, size=n), rng.uniform(0.2, 3, size=n)
    table = Table.read(X, y, np.zeros(3, dtype=bool))
    found = numeric_candidates(table, np.arange(n), w, 2.0)
    for j in range(3):
        known = w[~np.isnan(X[:, j])].sum()
        least = min(max(2.0, 0.1 * known / 3), 25)
        tried = {}
        for value in np.unique(X[~np.isnan(X[:, j]), j])[:-1]:
            gain, size = plain_gain(X[:, j].tolist(), y.tolist(), w.tolist(), value)
            if min(size) >= least:
                tried[value] = gain
        best = max(tried.values()) - math.log2(len(tried)) / w.sum()
        assert found.gains[j] == pytest.approx(best, abs=1e-12)
        assert tried[table.levels[j][found.cuts[j, 0]]] == pytest.approx(max(tried.values()))


def test_the_test_has_the_highest_ratio_of_those_of_average_gain():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 6, size=(60, 5)).astype(float), rng.integers(0, 2, size=60)
    table = Table.read(X, y, np.array([True, False, False, True, False]))
    rows, w = np.arange(60), np.ones(60)
    parts = [f(table, rows, w, 2.0) for f in (numeric_candidates, categorical_candidates)]
    gains, infos, columns = (
        np.concatenate([getattr(p, k) for p in parts]) for k in ("gains", "informations", "columns")
    )
    allowed = [k for k in range(5) if gains[k] > 0 and gains[k] >= gains[gains > 0].mean() - 1e-3]
    best = max(allowed, key=lambda k: gains[k] / infos[k])
    assert best_test(table, rows, w, 2.0).column == columns[best]


def test_weights_are_checked_as_everywhere():
    X, y = load_iris(return_X_y=True)
    weights = np.ones(len(y))
    weights[7] = -1.0
    with pytest.raises(ValueError, match="row 7: sample_weight is -1"):
        C45Classifier().fit(X, y, weights)


def test_weights_count_up_to_a_factor_and_rows_without_are_absent():
    X, y = golf(missing=True)
    rng = np.random.default_rng(0)
    w = rng.uniform(0.5, 2, size=14)
    model = C45Classifier(categorical_features=KINDS)
    assert leaves(model.fit(X, y, w)) == leaves(model.fit(X, y, 1e6 * w))
    w[[2, 9]] = 0
    kept = w > 0
    assert leaves(model.fit(X, y, w)) == leaves(model.fit(X[kept], y[kept], w[kept]))


def test_no_leaf_of_a_numeric_test_is_lighter_than_the_least():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 3))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] > 0).astype(int)
    model = C45Classifier(confidence=None, min_objects=7).fit(X, y)
    sizes = [size for size, _ in leaves(model)]
    assert len(sizes) > 3
    assert min(sizes) >= 7


def test_pruning_never_grows_a_tree():
    rng = np.random.default_rng(1)
    for seed in range(5):
        X = rng.normal(size=(120, 4))
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
        y = (np.nan_to_num(X[:, 0]) + rng.normal(size=120) > 0).astype(int)
        whole = C45Classifier(confidence=None).fit(X, y)
        sizes = [
            len(leaves(C45Classifier(confidence=c).fit(X, y))) for c in (0.75, 0.25, 0.05, 0.001)
        ]
        assert all(a >= b for a, b in itertools.pairwise([len(leaves(whole)), *sizes])), seed


def test_refusals_name_the_remedy():
    X, y = golf()
    with pytest.raises(ValueError, match="one True or False for each of the 4 columns"):
        C45Classifier(categorical_features=[True]).fit(X, y)
    with pytest.raises(ValueError, match="codes 0, 1, 2"):
        C45Classifier(categorical_features=[True] * 4).fit(X + 0.5, y)
    with pytest.raises(ValueError, match="give a number in"):
        C45Classifier(confidence=2.0).fit(X, y)


EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "the price of a threshold is per row",
}


@parametrize_with_checks([C45Classifier()], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

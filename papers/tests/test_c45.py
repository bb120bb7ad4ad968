"""C4.5 against trees that were published."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from golf import KINDS, SUNNY, golf
from papers.c45 import C45Classifier, Node, divide, extra_errors, grow, prune, spread
from papers.c45_splits import Table, categorical_candidates
from papers.c45_splits import Test as Question


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


# -------------------- Growing and pruning: what the book computes, and what holds of every tree.


def test_pessimistic_errors_are_those_of_the_book():
    assert extra_errors(6, 0, 0.25) == pytest.approx(6 * 0.206, abs=4e-3)
    assert extra_errors(9, 0, 0.25) == pytest.approx(9 * 0.143, abs=5e-3)
    assert extra_errors(1, 0, 0.25) == pytest.approx(0.750)
    assert 1 + extra_errors(16, 1, 0.25) == pytest.approx(16 * 0.157, abs=9e-3)
    assert extra_errors(0, 0, 0.25) == 0
    # More errors, or more confidence in the worst, are never cheaper.
    grid = [extra_errors(20, e, 0.25) + e for e in np.arange(0, 19, 0.25)]
    assert all(np.diff(grid) > 0)


def noisy(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (np.sin(3 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.5, size=n) > 0).astype(int)
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    return Table.read(X, y, np.zeros(3, dtype=bool))


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


def test_missing_values_are_divided_and_no_weight_is_lost():
    X = np.array([[1.0], [5.0], [np.nan], [2.0]])
    rows, w = np.array([0, 1, 2, 3]), np.array([1.0, 2.0, 4.0, 0.5])
    left, right = divide(Question(0, 2.0, 2), np.array([0.25, 0.75]), X, rows, w)
    assert left[0].tolist() == [0, 2, 3]
    assert left[1].tolist() == [1.0, 1.0, 0.5]
    assert right[0].tolist() == [1, 2]
    assert right[1].tolist() == [2.0, 3.0]


def test_every_node_holds_what_its_branches_hold():
    table = noisy()
    tree = grow(table, np.arange(400), np.ones(400), 2.0)
    inner = [node for node in nodes(tree) if node.test is not None]
    assert len(inner) > 5
    for node in inner:
        assert_allclose(sum(child.counts for child in node.children), node.counts, atol=1e-9)
        assert node.shares.sum() == pytest.approx(1)
        below = sum(leaf.errors for leaf in node.leaves())
        assert below < node.errors  # a subtree that is not better is not kept


def test_a_pruned_tree_counts_the_rows_that_it_was_given():
    table = noisy()
    tree = grow(table, np.arange(400), np.ones(400), 2.0)
    size = len(list(tree.leaves()))
    expected = prune(tree, table, np.arange(400), np.ones(400), 0.25)
    kept = list(tree.leaves())
    assert 1 < len(kept) < size
    assert sum(leaf.counts.sum() for leaf in kept) == pytest.approx(400)
    each = [leaf.errors + extra_errors(leaf.counts.sum(), leaf.errors, 0.25) for leaf in kept]
    assert expected == pytest.approx(sum(each))


def test_a_branch_takes_the_place_of_a_test_that_is_not_worth_it():
    def leaf(counts):
        return Node(np.array(counts, dtype=float), int(np.argmax(counts)))

    X = np.column_stack([np.r_[np.zeros(2), np.ones(38)], np.repeat([0.0, 1.0], 20)])
    table = Table.read(X, (X[:, 1] > 0).astype(int), np.zeros(2, dtype=bool))
    good = Node(np.array([18.0, 20.0]), 1, Question(1, 0.0, 2), [leaf([18, 0]), leaf([0, 20])])
    good.shares = np.array([18, 20]) / 38
    tree = Node(np.array([20.0, 20.0]), 0, Question(0, 0.0, 2), [leaf([2, 0]), good])
    tree.shares = np.array([2, 38]) / 40
    prune(tree, table, np.arange(40), np.ones(40), 0.25)
    assert tree.test == Question(1, 0.0, 2)
    assert [found.counts.tolist() for found in tree.leaves()] == [[20, 0], [0, 20]]


@pytest.mark.parametrize("confidence", [1e-300, 0.001, 0.25, 1.0])
@pytest.mark.parametrize("n", [1.0, 7.5, 1e6])
def test_no_limit_is_below_the_errors_or_above_all_rows(n, confidence):
    for e in np.linspace(0, n, 9):
        limit = e + extra_errors(n, e, confidence)
        assert e - 1e-9 <= limit <= n * (1 + 1e-9)


def test_rows_are_answered_by_all_leaves_that_they_reach():
    table = Table.read(*golf(), KINDS)
    tree = grow(table, np.arange(14), np.ones(14), 2.0)
    out = np.zeros((2, 2))
    unknown = np.array([[np.nan, 70.0, 70.0, 0.0], [1.0, 70.0, 70.0, 0.0]])
    spread(tree, unknown, np.arange(2), np.ones(2), out)
    # By outlook: sunny (5 of 14) and dry, overcast (4), rain (5) without wind: all say play.
    assert_allclose(out, [[0, 1], [0, 1]])
    wet = np.zeros((1, 2))
    spread(tree, np.array([[np.nan, 70.0, 95.0, 1.0]]), np.arange(1), np.ones(1), wet)
    assert_allclose(wet, [[10 / 14, 4 / 14]])

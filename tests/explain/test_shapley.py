"""Shapley values of forests, against all subsets, against shap, and against themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import CostBoostClassifier, GradientBoostClassifier
from costboost.binning.binner import fit_binner
from costboost.explain import shapley
from costboost.explain.shapley import Explainer, beta_table, gauss_points
from costboost.trees.forest import ForestBuilder
from costboost.trees.tree import Tree, add_up_leaves
from naive import shapley as naive
from shapley_cases import random_case


def rows_of(X):
    """Rows as tuples of Python objects, None for nothing."""
    return X.astype(object).where(X.notna(), None).to_numpy()


@given(seed=st.integers(0, 10**6), n_splits=st.integers(0, 9), n_outputs=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_path_dependent_values_are_those_of_all_subsets(seed, n_splits, n_outputs):
    case = random_case(seed, n_splits, n_outputs=n_outputs)
    codes = case.forest.encode(case.X)
    values, base = Explainer(case.forest).path_dependent(codes)
    np.testing.assert_allclose(
        base + values.sum(axis=1), case.forest.margins(case.X), rtol=0, atol=1e-12
    )
    for i in (0, 17):
        expected = naive.path_dependent(case.forest, rows_of(case.X)[i])
        np.testing.assert_allclose(values[i], expected, rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10**6), n_splits=st.integers(0, 9), n_outputs=st.integers(1, 2))
@settings(max_examples=25, deadline=None)
def test_interventional_values_are_those_of_all_subsets(seed, n_splits, n_outputs):
    case = random_case(seed, n_splits, n_outputs=n_outputs)
    forest, codes = case.forest, case.forest.encode(case.X)
    values, base = Explainer(forest).interventional(codes, codes[:9])
    np.testing.assert_allclose(
        base + values.sum(axis=1), forest.margins(case.X), rtol=0, atol=1e-12
    )
    for i in (3, 30):
        expected = naive.interventional(forest.margins_of_codes, codes[i], codes[:9])
        np.testing.assert_allclose(values[i], expected, rtol=0, atol=1e-12)


def wide_case(n_columns=9, seed=0):
    """A tree with more columns on a path than are tabled."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(70, n_columns))
    binner = fit_binner(X)
    splits = np.arange(n_columns)
    left = np.full(2 * n_columns + 1, -1)
    left[2 * splits] = 2 * splits + 1
    feature, threshold = np.full(len(left), -1), np.full(len(left), -1)
    feature[2 * splits], threshold[2 * splits] = splits, rng.integers(10, 50, size=n_columns)
    leaves = np.flatnonzero(left < 0)
    tree = Tree(
        feature=feature,
        threshold=threshold,
        missing_left=np.zeros(len(left), dtype=bool),
        left=left,
        gain=np.zeros(len(left)),
        sums=np.zeros((len(left), 2), dtype=np.int64),
        subsets={},
        leaves=leaves,
        depth=n_columns,
        cover=add_up_leaves(left, leaves, rng.integers(1, 9, size=len(leaves))),
    )
    # Node 2 i is split, its right child is node 2 i + 2: the last leaf has all columns on its path.
    builder = ForestBuilder(1)
    builder.add(tree, rng.normal(size=(len(leaves), 1)))
    return X, builder.build(binner)


def test_paths_of_many_columns():
    X, forest = wide_case()
    codes = forest.encode(X)
    explainer = Explainer(forest)
    for values, base in (
        explainer.path_dependent(codes),
        explainer.interventional(codes, codes[:5]),
    ):
        np.testing.assert_allclose(base + values.sum(axis=1), forest.margins(X), rtol=0, atol=1e-12)
    values, _ = explainer.path_dependent(codes)
    np.testing.assert_allclose(values[1], naive.path_dependent(forest, X[1]), rtol=0, atol=1e-12)
    values, _ = explainer.interventional(codes, codes[:5])
    expected = naive.interventional(forest.margins_of_codes, codes[1], codes[:5])
    np.testing.assert_allclose(values[1], expected, rtol=0, atol=1e-12)


def test_a_path_of_a_hundred_columns():
    X, forest = wide_case(100)
    values, base = Explainer(forest).path_dependent(forest.encode(X))
    np.testing.assert_allclose(base + values.sum(axis=1), forest.margins(X), rtol=0, atol=1e-12)


def test_bits_do_not_depend_on_threads_blocks_or_neighbours(monkeypatch):
    case = random_case(3, 12)
    codes = np.repeat(case.forest.encode(case.X), 60, axis=0)
    explainer = Explainer(case.forest)
    values, _ = explainer.path_dependent(codes)
    against, _ = explainer.interventional(codes, codes[:7])
    np.testing.assert_array_equal(explainer.path_dependent(codes, n_threads=5)[0], values)
    np.testing.assert_array_equal(
        explainer.interventional(codes, codes[:7], n_threads=5)[0], against
    )
    for i in (0, 100, 2399):
        np.testing.assert_array_equal(explainer.path_dependent(codes[i : i + 1])[0][0], values[i])
    monkeypatch.setattr(shapley, "_BLOCK", 33)
    np.testing.assert_array_equal(Explainer(case.forest).path_dependent(codes)[0], values)


def test_stumps_in_closed_form_are_what_the_kernel_says():
    case = random_case(5, n_splits=1, n_trees=30, n_outputs=2)
    codes, explainer = case.forest.encode(case.X), Explainer(case.forest)
    assert case.forest.tables is not None
    for background in (None, codes[:11]):
        closed = (
            explainer.path_dependent(codes)
            if background is None
            else explainer.interventional(codes, background)
        )[0]
        by_kernel = explainer._by_kernel(codes, background, 1)
        np.testing.assert_allclose(closed, by_kernel, rtol=0, atol=1e-13)


def test_a_forest_without_trees_or_splits_adds_nothing():
    binner = fit_binner([[1.0, 2.0], [2.0, 1.0]])
    empty = ForestBuilder(1).build(binner, np.array([0.5]))
    codes = np.zeros((3, 2), dtype=np.uint8)
    for forest in (empty, random_case(0, n_splits=0).forest):
        codes = np.zeros((3, forest.binner.n_features), dtype=np.uint8)
        for background in (None, codes[:2]):
            explainer = Explainer(forest)
            values, base = (
                explainer.path_dependent(codes)
                if background is None
                else explainer.interventional(codes, background)
            )
            assert not values.any()
            np.testing.assert_allclose(base, forest.margins_of_codes(codes)[0])


def test_gauss_points_integrate_exactly():
    points = gauss_points(20)
    for q in range(1, 11):
        t, w = points[q, :q].T
        for power in range(2 * q):
            assert w @ t**power == pytest.approx(1 / (power + 1), rel=1e-13)


def test_betas_are_integrals():
    t, w = gauss_points(30)[15, :15].T
    table = beta_table(5)
    for a in range(6):
        for b in range(6):
            assert table[a, b] == pytest.approx(w @ (t**a * (1 - t) ** b), rel=1e-12)


def test_a_column_that_no_tree_reads_adds_nothing_and_equal_columns_share():
    """Two of Shapley's axioms: a null player gets 0, players that are alike get the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = 1.0
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = GradientBoostClassifier(n_estimators=10).fit(X, y)
    assert not model.contributions(X).values[:, 3].any()
    and_ = CostBoostClassifier("adaboost", n_estimators=1, max_depth=2, calibration=None)
    corners = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    and_.fit(np.repeat(corners, 5, axis=0), np.repeat([0, 0, 0, 1], 5))
    added = and_.contributions(corners, background=corners).values
    np.testing.assert_allclose(added[[0, 3], 0], added[[0, 3], 1], rtol=1e-12)


def test_shap_says_the_same():
    shap = pytest.importorskip("shap")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0] * X[:, 1]) + np.nan_to_num(X[:, 2]) > 0).astype(int)
    for labels in (y, y + (np.nan_to_num(X[:, 3]) > 1)):
        model = GradientBoostClassifier(n_estimators=15, min_samples_leaf=5).fit(X, labels)
        theirs = shap.TreeExplainer(model.to_shap())
        added = model.contributions(X)
        found = np.reshape(theirs.shap_values(X), added.values.shape)
        np.testing.assert_allclose(added.values, found, rtol=0, atol=1e-10)
        np.testing.assert_allclose(added.base[0], np.ravel(theirs.expected_value), atol=1e-10)
    full = X[~np.isnan(X).any(axis=1)]
    against = shap.TreeExplainer(model.to_shap(), full[:20], feature_perturbation="interventional")
    np.testing.assert_allclose(
        model.contributions(full, background=full[:20]).values,
        against.shap_values(full, check_additivity=False),
        rtol=0,
        atol=1e-6,  # shap keeps its background's sums in single precision
    )

"""Forests as nodes of ONNX: the margins of the forest, on every table."""

from dataclasses import replace

import numpy as np
import pytest

from costboost import GradientBoostClassifier
from costboost.binning.codes import MISSING
from costboost.deploy.exported import export
from costboost.deploy.onnx_nodes import Graph, write_forest
from deploy_cases import odd_rows
from zoo import fitted

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def margins_of(forest, table):
    graph = Graph()
    name = graph.input("X", np.float64, table.shape[1])
    graph.output("out", write_forest(graph, forest, name), np.float64, 2, forest.n_outputs)
    made = graph.model("tests", "trees").SerializeToString()
    return onnxruntime.InferenceSession(made).run(None, {"X": table})[0]


@pytest.mark.parametrize(
    "name", ["adaboost", "gradient log of 3", "gradient monotone", "p-norm gbse", "nothing learnt"]
)
def test_margins_are_those_of_the_forest(name):
    model, X = fitted(name)
    forest = export(model).forests[0]
    rows = odd_rows(np.tile(np.asarray(X, dtype=float), (3, 1)), np.random.default_rng(1))
    for given in (rows, rows[:1]):
        np.testing.assert_allclose(margins_of(forest, given), forest.margins(given), atol=1e-12)


def test_categories_are_asked_for_by_their_numbers():
    model, X = fitted("gradient of a frame")
    forest = export(model).forests[0]
    assert len(forest.subsets)
    codes = forest.binner.encode(X)
    table = np.empty(codes.shape)
    for j in range(codes.shape[1]):
        if forest.binner.is_categorical[j]:
            table[:, j] = np.where(codes[:, j] == MISSING, -1, codes[:, j])
        else:
            table[:, j] = X.iloc[:, j]
    np.testing.assert_allclose(margins_of(forest, table), forest.margins(X), atol=1e-12)


def test_a_root_may_have_a_leaf_and_a_branch_of_the_same_number():
    """onnxruntime before 1.24 took such a root, of the second tree of three leaves, for a leaf."""
    X = np.arange(60.0)[:, None]
    y = np.digitize(X[:, 0], [20, 40]) == 1
    model = GradientBoostClassifier(n_estimators=2, max_leaf_nodes=3, max_depth=None).fit(X, y)
    forest = export(model).forests[0]
    trees = [forest.tree(t) for t in range(2)]
    assert all((tree.left >= 0).sum() == 2 for tree in trees)
    expected = forest.margins(X)
    assert len(np.unique(expected)) > 1
    np.testing.assert_allclose(margins_of(forest, X), expected, atol=1e-12)


def test_a_forest_whose_leaves_add_nothing_is_its_base():
    model, X = fitted("adaboost")
    forest = export(model).forests[0]
    silent = replace(forest, values=np.zeros_like(forest.values), base=np.array([0.25]))
    np.testing.assert_array_equal(margins_of(silent, X), np.full((len(X), 1), 0.25))


@pytest.mark.parametrize("size", [1e-290, 1e290])
def test_leaves_of_every_size_add_up(size):
    model, X = fitted("gradient log of 3")
    forest = export(model).forests[0]
    scaled = replace(forest, values=forest.values * size, base=forest.base * size)
    found = margins_of(scaled, X)
    np.testing.assert_allclose(found, scaled.margins(X), rtol=1e-9, atol=1e-12 * size)

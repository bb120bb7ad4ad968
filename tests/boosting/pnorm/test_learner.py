"""Learners of relational examples: the tree, and classifiers of pairs or of classes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.binning.binner import fit_binner
from costboost.boosting.pnorm import learner as relational
from costboost.boosting.pnorm.learner import (
    RelationalClassifier,
    RelationalTree,
    expand,
    leaf_answers,
    outside_answers,
)
from costboost.shards.layout import plan_layout
from costboost.trees.tree import Limits
from naive import pnorm as naive
from odd import OddClassifier
from pnorm_problems import problem, row_costs, run

N, K = 60, 3
X, Y = problem(0, n=N, K=K)
VECTORS = np.random.default_rng(0).integers(-50, 50, (N, K)).astype(np.int32)


class State:
    """What learners read and write of a shard's rows."""

    def __init__(self, rows, vectors=VECTORS):
        self.vectors = np.ascontiguousarray(vectors[rows])
        self.sample_weights = self.buffer = self.answers = None


def shards_of(n_shards=1, vectors=VECTORS):
    layout = plan_layout(None, N, 1, n_shards)
    codes = fit_binner(X).encode(X, positions=layout.positions)
    return layout.cut(codes, lambda rows: State(rows, vectors))


@pytest.mark.parametrize("name", ["lp-csb", "lp-csb-a"])
def test_narrow_histograms_change_nothing(name, monkeypatch):
    X, y = problem(21, n=200, K=4)
    X[::11, 0] = np.nan
    C, tree = row_costs(21, y, 4), {"max_depth": 4, "min_samples_leaf": 3}
    narrow, _ = run(X, y, C, name, **tree)
    monkeypatch.setattr(relational, "_NARROW", 0)
    wide, _ = run(X, y, C, name, **tree)
    for one, other in zip(narrow, wide, strict=True):
        assert_array_equal(one.hypothesis.tree.sums, other.hypothesis.tree.sums)
        assert_array_equal(one.hypothesis.tree.missing_left, other.hypothesis.tree.missing_left)


@pytest.mark.parametrize("one_label", [False, True])
@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_stump_is_the_best_of_all_stumps(one_label, n_shards, monkeypatch):
    monkeypatch.setattr("costboost.shards.layout._DEAL", 8)
    best = naive.best_stump(X, VECTORS.astype(float), one_label)
    with shards_of(n_shards) as shards:
        tree = RelationalTree(fit_binner(X), K, Limits(max_depth=1), one_label)
        found = tree.learn(shards, 0)
        said = found.answers[shards.fetch(lambda shard: shard.leaves)]
    assert np.sum(VECTORS * said) == np.sum(VECTORS * best)
    assert found.reward == np.sum(VECTORS * said)
    assert not one_label or np.all(said.sum(axis=1) == 1)


def test_rows_find_the_leaves_of_an_earlier_round_again():
    with shards_of() as shards:
        tree = RelationalTree(fit_binner(X), K, Limits(max_leaf_nodes=5), subsample=0.5)
        found = tree.learn(shards, 0)
        assert found.reward is None  # a sample's is not that of all rows
        leaves = shards.shards[0].leaves.copy()
        shards.shards[0].leaves[:] = 0
        tree.recall(shards, found)
        assert_array_equal(shards.shards[0].leaves, leaves)


def test_leaves_without_weight_answer_nothing_or_the_first():
    sums = np.array([[0, 0, 0], [-1, -1, -2], [2, 2, 1]])
    assert leaf_answers(sums, one_label=False).tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert leaf_answers(sums, one_label=True).tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]


# --- outside classifiers


def test_pairs_are_learnt_by_their_weights():
    with shards_of(2) as shards:
        learner = RelationalClassifier(DecisionTreeClassifier(max_depth=4), X, K, seed=1)
        found = learner.learn(shards, 3)
        held = shards.fetch(lambda shard: shard.state.answers)
    rows, classes = np.nonzero(VECTORS)
    weights = np.abs(VECTORS[rows, classes])
    table = np.hstack([X[rows], np.eye(K)[classes]])
    again = DecisionTreeClassifier(max_depth=4, random_state=found.estimator.random_state)
    again.fit(table, VECTORS[rows, classes] > 0, weights / weights.mean())
    every = np.hstack([np.repeat(X, K, axis=0), np.tile(np.eye(K), (N, 1))])
    assert_array_equal(held, again.predict(every).reshape(N, K))


def test_classes_are_learnt_by_what_they_are_better_than_the_worst():
    with shards_of() as shards:
        learner = RelationalClassifier(LogisticRegression(), X, K, kind="classes")
        found = learner.learn(shards, 0)
        held = shards.fetch(lambda shard: shard.state.answers)
    better = VECTORS - VECTORS.min(axis=1, keepdims=True)
    rows, classes = np.nonzero(better)
    weights = better[rows, classes] / better[rows, classes].mean()
    again = LogisticRegression().fit(X[rows], classes, weights)
    assert_allclose(found.estimator.coef_, again.coef_)
    assert_array_equal(held, np.eye(K)[again.predict(X)])


def test_a_classifier_without_weights_learns_from_a_sample_in_proportion():
    learner = RelationalClassifier(KNeighborsClassifier(1), X, K)
    assert not learner.weighted
    vectors = np.tile([0, 10, -100], (20_000, 1)).astype(np.int64)
    rows, classes = learner._sample(vectors, np.random.RandomState(0))
    counts = np.bincount(classes, minlength=3)
    assert counts[0] == 0
    assert abs(counts[1] - 2000) < 250
    assert counts[2] > 19_990
    assert len(np.unique(rows * 3 + classes)) == len(rows)


def test_a_single_label_is_learnt_as_a_constant():
    with shards_of(vectors=np.abs(VECTORS) + 1) as shards:
        found = RelationalClassifier(LogisticRegression(), X, K).learn(shards, 0)
        held = shards.fetch(lambda shard: shard.state.answers)
    assert isinstance(found.estimator, DummyClassifier)
    assert np.all(held == 1)


def test_rounds_draw_seeds_of_their_own():
    with shards_of() as shards:
        learner = RelationalClassifier(DecisionTreeClassifier(max_features=1), X, K, seed=5)
        seeds = [learner.learn(shards, t).estimator.random_state for t in (0, 1, 0)]
    assert seeds[0] == seeds[2] != seeds[1]


def test_many_pairs_are_asked_about_some_at_a_time(monkeypatch):
    rows, classes = np.nonzero(VECTORS)
    table = np.hstack([X[rows], np.eye(K)[classes]])
    model = DecisionTreeClassifier(max_depth=5, random_state=0)
    model.fit(table, (VECTORS[rows, classes] > 0).astype(int))
    whole = outside_answers(model, X, K, "pairs")
    for pairs in (1, 10, 7 * K):
        monkeypatch.setattr(relational, "_PAIRS", pairs)
        assert_array_equal(outside_answers(model, X, K, "pairs"), whole)


@pytest.mark.parametrize("change", ["one nan", "one 77", "too short", "words"])
@pytest.mark.parametrize("kind", ["pairs", "classes"])
def test_odd_answers_are_refused(change, kind):
    width = X.shape[1] + (K if kind == "pairs" else 0)
    model = OddClassifier(change).fit(
        np.random.default_rng(0).normal(size=(9, width)), np.arange(9) % 2
    )
    with pytest.raises(ValueError, match=r"OddClassifier\.predict"):
        outside_answers(model, X, K, kind)


def test_pairs_of_frames_and_sparse_tables_name_their_class_too():
    rows, classes = np.array([2, 0, 0]), np.array([1, 0, 2])
    expected = np.hstack([X[rows], np.eye(K)[classes]])
    assert_array_equal(expand(X, rows, classes, K), expected)
    assert_array_equal(expand(pd.DataFrame(X), rows, classes, K), expected)
    sparse = expand(sp.csr_array(X), rows, classes, K)
    assert sp.issparse(sparse)
    assert_array_equal(sparse.toarray(), expected)
    assert_array_equal(expand(X, rows, None, K), X[rows])

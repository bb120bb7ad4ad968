"""Fitted ensembles: sums of votes, of trees or of outside classifiers."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost import Costs
from costboost.binning.binner import fit_binner
from costboost.boosting.adaboost.learner import OutsideVotes, TreeLearner
from costboost.boosting.adaboost.loop import Boosting
from costboost.boosting.adaboost.rows import TrainingRows
from costboost.boosting.adaboost.rules import RULES
from costboost.boosting.adaboost.weights import Setting
from costboost.estimators.adaboost.family import assemble, constant_member, score_maps
from costboost.model import Logistic, Member, VoteShares, apply_maps
from costboost.shards.layout import RowData, plan_layout
from costboost.trees.tree import Limits

RNG = np.random.default_rng(0)
N = 80
X = RNG.normal(size=(N, 3))
X[::9, 0] = np.nan
SCORE = np.nan_to_num(X).sum(axis=1) + 0.8 * RNG.normal(size=N)
BINNER = fit_binner(X)
NEW = np.vstack([2 * X[:12], np.full((1, 3), np.nan)])


def boosted(method, n_classes=2, n_rounds=5):
    """Return the rounds, and the margins that the training rows have after them."""
    y = np.digitize(SCORE, [0.0] if n_classes == 2 else [-0.7, 0.7])
    costs = Costs.from_matrix(1 - np.eye(n_classes), classes=np.arange(n_classes))
    given = TrainingRows(RowData(y, None, costs.bind(np.arange(n_classes))), n_classes, y)
    layout = plan_layout(y, N, n_classes, 1)
    codes = BINNER.encode(X, positions=layout.positions)
    with layout.cut(codes, given.load) as shards:
        learner = TreeLearner(BINNER, n_classes, Limits(max_depth=2))
        loop = Boosting(shards, RULES[method], learner, given, Setting(n_rounds))
        rounds = list(loop.rounds())
        return rounds, shards.fetch(lambda shard: shard.state.margins.copy())


@pytest.mark.parametrize(
    ("method", "n_classes"), [("adaboost", 2), ("adaboost", 3), ("rareboost", 2)]
)
def test_trees_say_of_training_rows_what_the_rounds_had(method, n_classes):
    rounds, margins = boosted(method, n_classes)
    model = assemble(rounds, BINNER, n_classes, "discrete")
    assert len(model) == len(model.forest) == 5
    assert_allclose(model.margins(X), margins, rtol=1e-13, atol=1e-13)
    for t, stage in enumerate(model.staged_margins(NEW)):
        part = assemble(rounds[: t + 1], BINNER, n_classes, "discrete")
        assert_allclose(stage, part.margins(NEW), rtol=1e-13, atol=1e-13)
        assert model.totals[t] == pytest.approx(part.total, rel=1e-13)
    assert t == 4
    codes = BINNER.encode(NEW)
    assert_array_equal(model.margins(NEW, codes=codes), model.margins(NEW))
    assert_allclose(model.tree_weights, np.diff(model.totals, prepend=0.0), rtol=1e-12)


def classifiers(y):
    table = np.nan_to_num(X)
    return [DecisionTreeClassifier(max_depth=d, random_state=d).fit(table, y) for d in (1, 2, 3)]


def test_outside_classifiers_are_added_by_their_alphas():
    y, table = (SCORE > 0).astype(int), np.nan_to_num(X)
    models, alphas = classifiers(y), np.array([0.5, 0.3, 0.2])
    answers = OutsideVotes("discrete", 2)
    ensemble = Member(alphas, None, estimators=tuple(models), start=np.zeros(1), answers=answers)
    votes = np.array([np.where(m.predict(table) == 1, 1.0, -1.0) for m in models])
    assert_allclose(ensemble.margins(table)[:, 0], alphas @ votes, atol=1e-15)
    stages = [stage[:, 0] for stage in ensemble.staged_margins(table)]
    assert_allclose(stages, np.cumsum(alphas[:, None] * votes, axis=0), atol=1e-15)
    # The share of votes, and what it is decided by.
    scores = apply_maps(score_maps(ensemble, discrete=True), ensemble.margins(table))
    assert_allclose(scores[:, 0], alphas @ (votes > 0), atol=1e-12)


def test_votes_of_outside_classifiers():
    y, table = np.digitize(SCORE, [-0.7, 0.7]), np.nan_to_num(X)
    model = classifiers(y)[2]
    found = OutsideVotes("discrete", 3)(model, table, 0.4)
    assert_array_equal(found, 0.4 * (model.predict(table)[:, None] == np.arange(3)))
    two = classifiers((SCORE > 0).astype(int))[1]
    said, p = two.predict(table), two.predict_proba(table)[:, 1]
    rare = OutsideVotes("discrete", 2)(two, table, np.array([0.7, 0.2]))  # an alpha a side
    assert_array_equal(rare[:, 0], np.where(said == 1, 0.7, -0.2))
    sure = OutsideVotes("confidence", 2)(two, table, 0.5)
    assert_allclose(sure[:, 0], 0.5 * (2 * p - 1), atol=1e-15)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("trees", [False, True])
def test_a_constant_answers_one_class_always(n_classes, trees):
    for answer in range(n_classes):
        binner = BINNER if trees else None
        model = constant_member(answer, n_classes, binner)
        margins = model.margins(NEW)
        decided = margins[:, 0] > 0 if n_classes == 2 else np.argmax(margins, axis=1)
        assert np.all(decided == answer)
        assert list(model.staged_margins(NEW)) == []
        shares = apply_maps(score_maps(model, discrete=True), margins)
        expected = float(answer) if n_classes == 2 else (np.arange(3) == answer).astype(float)
        assert_array_equal(shares, np.broadcast_to(expected, shares.shape))


def test_probabilities_are_the_link_of_the_loss_or_shares_of_votes():
    margins = np.array([[-0.5], [0.0], [0.75]])
    linked = Logistic(1.3).apply(margins)
    assert_allclose(linked[:, 1], 1 / (1 + np.exp(-1.3 * margins[:, 0])))
    assert_allclose(VoteShares(1.0).apply(margins)[:, 1], [0.25, 0.5, 0.875])
    assert score_maps(assemble([], BINNER, 2, "real"), discrete=False) == ()


def test_rounds_of_outside_classifiers_keep_them_in_order():
    dummies = [DummyClassifier().fit(X[:2], [0, 1]) for _ in range(3)]
    rounds = [
        SimpleNamespace(alpha=0.1 * t, model=SimpleNamespace(estimator=dummy))
        for t, dummy in enumerate(dummies)
    ]
    model = assemble(rounds, None, 2, "discrete", slope=3.0)
    assert model.estimators == tuple(dummies)
    assert_allclose(model.steps, [0.0, 0.1, 0.2])
    assert (model.forest, model.maps) == (None, (Logistic(3.0),))

"""Mixtures: unrolled, staged, and of outside classifiers."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from costboost.binning.binner import fit_binner
from costboost.boosting.formulas import normalised
from costboost.boosting.pnorm.learner import OutsideAnswers, outside_kind
from costboost.boosting.pnorm.methods import METHODS, make_stochastic
from costboost.estimators.pnorm.family import assemble_mixture, constant_mixture, one_tree
from costboost.model import Mixture, mix
from pnorm_problems import NAMES, matrix, problem, run

X, Y = problem(1, n=90, K=3)
C = matrix(1, 3)


def trained(name, T=5):
    rounds, loop = run(X, Y, C, name, T=T)
    return rounds, loop.learner.binner


@pytest.mark.parametrize("name", NAMES)
def test_mixtures_are_what_rounds_mix(name):
    rounds, binner = trained(name)
    model, method = assemble_mixture(rounds, METHODS[name], binner, 3), METHODS[name]
    scores = np.full((90, 3), 0.0 if method.adaptive else 1 / 3)
    for done, stage in zip(rounds, model.staged_margins(X), strict=True):
        stochastic = method.answers == "stochastic"
        said = one_tree(binner, done, stochastic=stochastic).margins_of_codes(binner.encode(X), 1)
        scores = scores + done.alpha * (said if method.adaptive else said - scores)
        assert_allclose(stage, scores, atol=1e-13)
    assert_allclose(model.margins(X), scores, atol=1e-13)
    assert_array_equal(list(model.staged_margins(X))[-1], model.margins(X))
    codes = binner.encode(X[:7])
    assert_array_equal(model.margins(None, codes), model.margins(X[:7]))
    base, shares = model.shares
    if not method.adaptive:
        assert base + shares.sum() == pytest.approx(1.0)


def test_shares_by_hand():
    model = Mixture(np.array([1.0, 0.5, 0.2]), None, start=np.full(2, 0.5))
    base, shares = model.shares
    assert base == 0.0  # a step of 1 forgets all before
    assert_allclose(shares, [0.5 * 0.8, 0.5 * 0.8, 0.2])
    added = Mixture(np.array([1.0, 0.5]), None, start=np.zeros(2), adaptive=True)
    assert added.shares[0] == 1.0
    assert added.shares[1].tolist() == [1.0, 0.5]
    H, f = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    assert mix(H, f, 0.25, adaptive=False).tolist() == [[0.625, 0.375]]
    assert mix(H, f, 0.25, adaptive=True).tolist() == [[0.75, 0.5]]


@pytest.mark.parametrize("stochastic", [False, True])
def test_outside_classifiers_are_mixed_as_trees_are(stochastic):
    table = np.hstack([np.repeat(X, 3, axis=0), np.tile(np.eye(3), (90, 1))])
    models = [
        DecisionTreeClassifier(max_depth=d, random_state=0).fit(table, np.eye(3)[Y].ravel() > 0)
        for d in (2, 4)
    ]
    alphas = np.array([0.6, 0.3])
    model = Mixture(
        alphas,
        None,
        estimators=tuple(models),
        start=np.full(3, 1 / 3),
        answers=OutsideAnswers("pairs", 3, stochastic),
    )
    scores = np.full((90, 3), 1 / 3)
    for estimator, alpha, stage in zip(models, alphas, model.staged_margins(X), strict=True):
        said = estimator.predict(table).reshape(90, 3).astype(float)
        said = make_stochastic(said) if stochastic else said
        scores = (1 - alpha) * scores + alpha * said
        assert_allclose(stage, scores, atol=1e-14)
    assert_allclose(model.margins(X), scores, atol=1e-14)
    assert_array_equal(list(model.staged_margins(X))[-1], model.margins(X))
    assert model.forest is None


def test_a_constant_answers_one_class_always():
    for binner in (None, fit_binner(X)):
        for answer in range(3):
            model = constant_mixture(answer, METHODS["lp-csb"], binner, 3)
            assert_array_equal(model.margins(X), np.tile(np.eye(3)[answer], (90, 1)))
            assert list(model.staged_margins(X)) == []


def test_a_mixture_is_kept_without_what_follows_from_it():
    rounds, binner = trained("lp-csb")
    model = assemble_mixture(rounds, METHODS["lp-csb"], binner, 3)
    before = len(pickle.dumps(model))
    scores = model.margins(X)  # makes the forest
    again = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(model)) == before
    assert_array_equal(again.margins(X), scores)


def test_scores_become_probabilities():
    found = normalised(np.array([[2.0, 6.0, 0.0], [0.0, 0.0, 0.0], [1e-300, 0.0, 0.0]]))
    assert_allclose(found, [[0.25, 0.75, 0.0], [1 / 3] * 3, [1.0, 0.0, 0.0]])


def test_functional_hypotheses_learn_classes():
    kinds = {name: outside_kind(METHODS[name]) for name in NAMES}
    functional = {name for name in NAMES if METHODS[name].answers == "functional"}
    assert {name for name, kind in kinds.items() if kind == "classes"} == functional

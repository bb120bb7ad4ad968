"""A fitted model: f_0 and what rounds add to it, as sums over trees or regressors."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from costboost.binning.binner import fit_binner
from costboost.boosting.gradient.learner import GradientRegressor, GradientTree, Init
from costboost.boosting.gradient.loop import GradientBoosting, GradientRound, GradientSetting
from costboost.boosting.gradient.losses import LogLoss, SquaredLoss
from costboost.boosting.gradient.rows import LossRows
from costboost.estimators.gradient.model import assemble_gradient
from costboost.trees.tree import Limits
from gradient_shards import cut_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
X[::8, 1] = np.nan
LABELS = np.digitize(np.nan_to_num(X).sum(axis=1) + RNG.normal(size=90), [-0.5, 0.5])
NEW = np.vstack([X[:10] * 3, np.full((1, 3), np.nan)])


def boosted(rows, loss, start, n_rounds=4):
    binner = fit_binner(X)
    with cut_rows(rows, binner.encode(X)) as shards:
        tree = GradientTree(binner, Limits(max_leaf_nodes=4))
        chosen = GradientSetting(n_rounds=n_rounds)
        rounds = list(GradientBoosting(shards, loss, tree, chosen, start).rounds())
        margins = shards.fetch(lambda shard: shard.state.margins.copy())
    return rounds, binner, margins


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_trees_say_of_training_rows_what_the_rounds_had(n_outputs):
    rows = LossRows(LABELS if n_outputs == 3 else (LABELS > 0).astype(np.int64), n_outputs)
    start = np.linspace(-0.3, 0.5, n_outputs)
    rounds, binner, margins = boosted(rows, LogLoss(), start)
    model = assemble_gradient(rounds, binner, start, None)
    assert (len(model), len(model.first)) == (4, n_outputs)
    assert len(model.forest) == 4 * n_outputs
    np.testing.assert_allclose(model.margins(X), margins, rtol=1e-13, atol=1e-13)
    stages = list(model.staged_margins(X))
    for t, stage in enumerate(stages):
        part = assemble_gradient(rounds[: t + 1], binner, start, None)
        np.testing.assert_allclose(part.margins(X), stage, rtol=1e-13, atol=1e-13)
    assert not np.shares_memory(stages[0], stages[1])
    codes = binner.encode(NEW)
    np.testing.assert_array_equal(model.margins(NEW), model.margins(None, codes))
    np.testing.assert_array_equal(model.margins(NEW, codes=codes), model.margins(NEW))


def test_a_model_without_rounds_says_its_start():
    start = np.array([0.5, -1.0, 0.5])
    for binner in (None, fit_binner(X)):
        model = assemble_gradient([], binner, start, None)
        assert model.margins(NEW).tolist() == [start.tolist()] * len(NEW)
        assert list(model.staged_margins(NEW)) == []


def test_regressors_are_added_times_their_steps():
    table = np.nan_to_num(X)
    models = [
        LinearRegression().fit(table, y) for y in np.random.default_rng(1).normal(size=(4, 90))
    ]
    by_round = [tuple(models[:2]), tuple(models[2:])]
    rounds = [
        GradientRound(t, step, 0.0, by_round[t], (np.array([step]),) * 2)
        for t, step in enumerate((0.5, -2.0))
    ]
    model = assemble_gradient(rounds, None, np.array([1.0, 2.0]), None)
    said = [m.predict(table) for m in models]
    first = np.array([1.0, 2.0]) + 0.5 * np.stack(said[:2], axis=1)
    last = first - 2.0 * np.stack(said[2:], axis=1)
    np.testing.assert_allclose(model.margins(table), last, rtol=1e-14)
    for stage, expected in zip(model.staged_margins(table), (first, last), strict=True):
        np.testing.assert_allclose(stage, expected, rtol=1e-14)


@pytest.mark.parametrize("odds", [1.0, 2.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_starts_from_its_log_odds(odds, n_classes):
    table, y = np.nan_to_num(X), np.minimum(LABELS, n_classes - 1)
    init = LogisticRegression().fit(table, y)
    found = Init(init, odds).margins(table)
    p = init.predict_proba(table)
    if n_classes == 2:
        expected = np.log(p[:, 1:] / p[:, :1]) / odds
    else:
        expected = (np.log(p) - np.log(p).mean(axis=1, keepdims=True)) / odds
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_a_sure_classifier_starts_from_finite_margins():
    sure = DummyClassifier(strategy="most_frequent").fit(X, np.minimum(LABELS, 1))
    found = Init(sure, 1.0).margins(X)
    np.testing.assert_allclose(found, 52 * np.log(2), rtol=1e-12)


def test_trees_and_regressors_start_from_an_init():
    regressor = DummyRegressor().fit(X, np.full(90, 7.0))
    y = np.nan_to_num(X[:, 0]) + 7.0
    rounds, binner, _ = boosted(LossRows(y), SquaredLoss(), np.zeros(1))
    plain = assemble_gradient(rounds, binner, np.zeros(1), None)
    model = assemble_gradient(rounds, binner, np.zeros(1), Init(regressor))
    np.testing.assert_allclose(model.margins(NEW), 7.0 + plain.margins(NEW), rtol=1e-13)
    last = list(model.staged_margins(NEW))[-1]
    np.testing.assert_allclose(last, model.margins(NEW), rtol=1e-13)
    alone = assemble_gradient([], None, np.zeros(1), Init(regressor))
    assert alone.margins(NEW).tolist() == [[7.0]] * len(NEW)


def test_outside_regressors_are_kept_by_round():
    table, binner = np.nan_to_num(X), fit_binner(X)
    y = table[:, 0] + table[:, 1]
    with cut_rows(LossRows(y), binner.encode(X)) as shards:
        learner = GradientRegressor(LinearRegression(), table)
        chosen = GradientSetting(n_rounds=2, step="line-search", learning_rate=1.0)
        rounds = list(
            GradientBoosting(shards, SquaredLoss(), learner, chosen, np.zeros(1)).rounds()
        )
    model = assemble_gradient(rounds, None, np.zeros(1), None)
    assert model.forest is None
    np.testing.assert_allclose(model.margins(table)[:, 0], y, atol=1e-9)

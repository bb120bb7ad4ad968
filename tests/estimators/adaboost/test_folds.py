"""The models that the recipe trains in step: scores of the rows left out, costs of the others."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier
from costboost.estimators.adaboost import recipe
from costboost.estimators.adaboost.choices import NEWEST
from costboost.estimators.adaboost.recipe import Look
from costboost.fitting.tables import FollowedRows
from costboost.model import apply_maps
from family import problem
from fitted_parts import calibrations
from recipe_models import auto, without_additive


def test_an_interrupted_look_leaves_the_scores_as_they_were(monkeypatch):
    X, y = problem()
    whole = auto(20).fit(X, y)
    calls = []

    def interrupted(*args):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Look(*args)

    monkeypatch.setattr(recipe, "Look", interrupted)
    model = auto(40, on_interrupt="keep").fit(X, y)
    assert_array_equal(model.validation_loss_, whole.validation_loss_)


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("interrupted", [False, True])
def test_train_cost_is_that_of_the_models_own_decisions(interrupt, per_row, interrupted):
    X, y = problem(n=300)
    fn = np.random.default_rng(0).lognormal(1, 1, 300) if per_row else 4.0
    costs = Costs(fp=1, fn=fn).bind([0, 1])
    weight = np.random.default_rng(1).uniform(0.5, 2, 300)
    rows = np.random.default_rng(2).permutation(300)
    folds = [(rows[100:], rows[:100]), (rows[:200], rows[200:])]
    if interrupted:
        interrupt(31)  # between two looks
    model = CostBoostClassifier(n_estimators=30, cv=folds, on_interrupt="keep", random_state=0)
    model.fit(X, y, weight, costs=costs)
    for i, (train, _) in enumerate(folds):
        ensemble, fitted = model._model.members[i], calibrations(model)[i]
        scores = apply_maps(ensemble.maps[:-1], ensemble.margins(X[train]))
        decided = costs[train].decide(fitted.predict(scores))
        paid = costs[train].total(y[train], decided, weight[train])
        looked = model.validation_rounds_ <= model.n_iter_
        assert len(model.train_cost_[i]) == np.sum(looked)
        assert model.train_cost_[i][-1] == pytest.approx(paid)


def test_train_cost_of_one_model_of_all_rows():
    X, y = problem(n=300)
    costs = {"fp": 1, "fn": 4}
    model = CostBoostClassifier(n_estimators=30, cv=3, ensemble=False, costs=costs, random_state=0)
    model.fit(X, y)
    assert model.train_cost_[-1] == pytest.approx(-300 * model.score(X, y))
    assert len(model.train_cost_) == np.sum(model.validation_rounds_ <= model.n_iter_)


@pytest.mark.parametrize("way", ["votes", "log loss", "many classes"])
def test_rows_left_out_teach_a_fold_nothing(monkeypatch, way):
    without_additive(monkeypatch)
    ways = {"votes": "gentle"} if way == "votes" else {"calibration": "bias-corrected"}
    X, y = problem()
    if way == "many classes":
        y = np.where(X[:, 1] > 1, 2, y)
    rows = np.arange(300)
    folds = [(rows[100:], rows[:100]), (rows[:200], rows[200:])]
    model = CostBoostClassifier(n_estimators=10, cv=folds, random_state=0, **ways)
    before = model.fit(X, y)._model.members
    for i, (_, test) in enumerate(folds):
        wrong = y.copy()
        wrong[test] = (y[test] + 1) % (y.max() + 1)
        after = model.fit(X, wrong)._model.members
        margins = [ensembles[i].forest.margins(X) for ensembles in (before, after)]
        assert len(before[i].steps) == len(after[i].steps) == 10
        assert_array_equal(*margins)
        other = 1 - i
        assert np.any(before[other].forest.margins(X) != after[other].forest.margins(X))


def test_looks_add_up_only_the_rounds_that_are_new(monkeypatch):
    X, y = problem()
    added = []

    def add(self, forest, old=FollowedRows.add):
        added.append(len(forest))
        return old(self, forest)

    monkeypatch.setattr(FollowedRows, "add", add)
    auto(30, n_iter_no_change=None, monotonic_cst=[1, 0, 0, 0, 0]).fit(X, y)
    assert added == [10] * 9  # three folds, at looks after 10, 20 and 30 rounds


@pytest.mark.parametrize("weighted", [False, True])
def test_log_loss_folds_are_those_of_gradient_boosting(monkeypatch, weighted):
    """The recipe's fold is the model of `GradientBoostClassifier` with the same parameters."""
    without_additive(monkeypatch)
    X, y = problem()
    rows = np.arange(300)
    weight = np.random.default_rng(0).integers(1, 4, 300).astype(float) if weighted else None
    given = {"learning_rate": 0.2, "max_leaf_nodes": 7, "min_samples_leaf": 5, "random_state": 0}
    given |= {"n_estimators": 10, "cv": [(rows[100:], rows[:100])]}
    auto = CostBoostClassifier(subsample=1.0, max_features=None, **given).fit(X, y, weight)
    same = GradientBoostClassifier(
        l2_regularization=NEWEST.l2, calibration="bias-corrected", **given
    ).fit(X, y, weight)
    (fold,), (twin,), n_rounds = auto._model.members, same._model.members, auto.n_iter_
    assert len(fold.trees) == n_rounds
    assert n_rounds == same.n_iter_ == 10
    assert_array_equal(fold.margins(X), twin.margins(X))

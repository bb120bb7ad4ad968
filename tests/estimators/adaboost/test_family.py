"""Training of ensembles: what is told where rounds end early, and whom rows aim at."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from costboost import CostBoostClassifier, Costs
from costboost.model import apply_maps
from family import STUMP, plain, problem


def test_rows_whose_wrong_answer_is_cheaper_teach_that_answer():
    # Half of the frauds cost less than the check that finds them: to cost-trained methods they
    # are rows to let pass.
    X, y = problem(n=400)
    cheap = (y == 1) & (np.arange(400) % 2 == 0)
    costs = Costs(fp=5, tp=np.where(cheap, 4.0, 0.0), fn=np.where(cheap, 1.0, 9.0))
    aimed = plain("csb2").fit(X, y, costs=costs)
    labels = np.where(cheap, 0, y)
    # The same rows with the labels that are aimed at, at the price of missing them.
    prices = np.where(cheap, 3.0, np.where(y == 1, 9.0, 5.0))
    named = plain("csb2").fit(X, labels, costs=Costs.of_rows(prices))
    assert_allclose(aimed.decision_function(X), named.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("method", "remedy"),
    [("adacost", "cost_scale"), ("adac2", 'method="cgada"'), ("adaboost", "deeper trees")],
)
def test_no_single_step_names_the_method_the_answer_and_a_remedy(method, remedy):
    X, y = np.ones((20, 2)), np.arange(20) % 2
    model = CostBoostClassifier(method, 5, calibration=None)
    with pytest.warns(UserWarning, match=rf"method='{method}' could not take.*{remedy}"):
        model.fit(X, y)
    assert model.n_iter_ == 0
    assert len(set(model.predict(X))) == 1


def test_rounds_that_end_in_the_first_tenth_are_told_of_once():
    # One stump knows all there is to know: after it, both classes weigh the same in both leaves.
    X = np.repeat([0.0, 1.0], 10)[:, None]
    y = np.array([0] * 7 + [1] * 3 + [0] * 3 + [1] * 7)
    model = CostBoostClassifier("adaboost", 30, max_depth=1, calibration=None)
    with pytest.warns(UserWarning, match=r"ended after 1 of 30 rounds.*n_estimators=1 ") as told:
        model.fit(X, y)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CostBoostClassifier("adaboost", model.n_iter_, max_depth=1, calibration=None).fit(X, y)


def test_scores_to_calibrate_on_are_shares_of_votes_or_margins():
    X, y = problem()
    rows = np.arange(300)
    folds = [(rows[100:], rows[:100]), (rows[:200], rows[200:])]
    discrete = CostBoostClassifier("adaboost", 4, calibration="isotonic", cv=folds).fit(X, y)
    for (_, test), ensemble in zip(folds, discrete._model.members, strict=True):
        scores = apply_maps(ensemble.maps[:-1], ensemble.margins(X[test]))
        assert scores.min() >= 0
        assert scores.max() <= 1
    real = discrete.set_params(votes="real", calibration="sigmoid").fit(X, y)
    ensemble = real._model.members[0]
    scores = apply_maps(ensemble.maps[:-1], ensemble.margins(X))
    assert scores.min() < 0


@pytest.mark.parametrize("estimator", [None, STUMP])
@pytest.mark.parametrize("method", ["adamec", "adaboost", "cgada"])
def test_held_out_rows_are_decided_as_the_model_decides(method, estimator):
    X, y = problem(n=400)
    costs = Costs(fp=1, fn=3)
    model = CostBoostClassifier(
        method, 6, estimator, calibration=None, n_iter_no_change=6, max_depth=2, random_state=0
    )
    model.fit(X[:300], y[:300], costs=costs, eval_set=(X[300:], y[300:]))
    paid = [
        np.mean(np.where(stage == y[300:], 0.0, np.where(y[300:] == 1, 3.0, 1.0)))
        for stage in model.staged_predict(X[300:])
    ]
    assert_allclose(model.validation_cost_[: len(paid)], paid)


def test_a_users_objective_is_cut_to_the_rows_of_each_fold():
    X, y = problem(n=300)
    X = np.clip(np.round(X), -1, 1)  # any fold has the bins of the whole table
    sign = np.where(y == 1, 1.0, -1.0)
    a, b, w0 = sign * np.linspace(0.5, 1, 300), np.zeros(300), np.linspace(1, 2, 300)
    rows = np.arange(300)
    folds = [(rows[100:], rows[:100]), (rows[:200], rows[200:])]
    fixed = {"random_state": 0, "max_depth": 2}
    whole = CostBoostClassifier(
        "gradient-csb", 4, objective=(a, b, w0), calibration="sigmoid", cv=folds, **fixed
    ).fit(X, y)
    for ensemble, (train, _) in zip(whole._model.members, folds, strict=True):
        own = (a[train], b[train], w0[train])
        alone = CostBoostClassifier("gradient-csb", 4, objective=own, calibration=None, **fixed)
        alone.fit(X[train], y[train])
        assert_allclose(ensemble.steps, alone.estimator_weights_, rtol=1e-9)


def test_a_users_objective_may_leave_many_rows_without_weight(monkeypatch):
    """But not all of them."""
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 16)
    X, y = problem(n=300)
    amount = np.where(np.arange(300) < 200, 1.0, 2.0)

    def objective(at, least=1.0):
        return at.sign, 0.0 * at.cost, np.where(at.cost * 2.0 > least, at.cost, 0.0)

    model, costs = plain("gradient-csb", objective=objective), Costs.of_rows(amount)
    weights = np.where(amount > 1.0, 1.0, 0.0)
    found = model.fit(X, y, costs=costs)
    rows = plain("gradient-csb", objective=(np.where(y == 1, 1.0, -1.0), 0.0, weights))
    assert_array_equal(found.decision_function(X), rows.fit(X, y).decision_function(X))
    for given in (costs, Costs(fp=1, fn=2)):
        with pytest.raises(ValueError, match="w0 is 0 in every row"):
            model.set_params(objective=lambda at: objective(at, 2.0)).fit(X, y, costs=given)


def test_rows_of_weight_0_are_as_good_as_absent():
    X, y = problem(n=300)
    weights = np.where(np.arange(300) % 3 == 0, 0.0, 1.0 + np.arange(300) % 2)
    here = weights > 0
    whole = plain("adac2").fit(X, y, sample_weight=weights, costs=Costs(fp=1, fn=4))
    part = plain("adac2").fit(
        X[here], y[here], sample_weight=weights[here], costs=Costs(fp=1, fn=4)
    )
    assert_array_equal(whole.estimator_weights_, part.estimator_weights_)
    assert_array_equal(whole.train_cost_, part.train_cost_)

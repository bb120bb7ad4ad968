"""Parts of a restored model that do not fit each other are refused, each with its reason."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from costboost.calibration import CalibratedScores, ClassCalibration, Isotonic, Sigmoid
from costboost.costs import Costs
from costboost.costs.state import Cell
from costboost.model import Calibrate, Logistic, LossLink, Normalise, Second, VoteShares
from costboost.persistence import checks
from zoo import MAKERS, fitted

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def refuses(check, value, says):
    with pytest.raises(ValueError, match=says):
        check(value)


@pytest.mark.parametrize("name", MAKERS)
def test_every_fitted_model_passes(name):
    checks.check_estimator(fitted(name)[0])


# --- calibration


@pytest.mark.parametrize(
    ("knots", "values", "says"),
    [
        ([], [], "knots lack values"),
        ([0.0, 1.0], [0.5], "knots lack values"),
        ([1.0, 0.0], [0.1, 0.2], "knots do not increase"),
        ([0.0, np.nan], [0.1, 0.2], "knots do not increase"),
        ([0.0, 1.0], [0.1, 1.5], "no probabilities"),
        ([0.0, 1.0], [np.nan, 0.5], "no probabilities"),
        ([0.0, 1.0], [0.9, 0.1], "values of knots fall"),
    ],
)
def test_knots_of_an_isotonic_map(knots, values, says):
    checks.check_isotonic(Isotonic(np.array([0.0, 0.0, 1.0]), np.array([0.2, 0.2, 1.0])))
    refuses(checks.check_isotonic, Isotonic(np.array(knots), np.array(values)), says)


def test_numbers_of_calibrators_are_finite():
    checks.check_finite(Sigmoid(1.0, -2.0))
    for bad in (np.nan, np.inf, -np.inf):
        refuses(checks.check_finite, Sigmoid(1.0, bad), "of a Sigmoid is not finite")


def test_classes_have_the_calibrators_that_they_need():
    one = Sigmoid(1.0, 0.0)
    for good in (
        ClassCalibration("sigmoid", 2, False, (one,)),
        ClassCalibration("sigmoid", 3, False, (one, one, one)),
        ClassCalibration("sigmoid", 1),
        ClassCalibration(None, 5),
    ):
        checks.check_calibration(good)
    for bad, says in (
        (ClassCalibration("sigmoid", 3, False, (one,)), "1 calibrators for 3"),
        (ClassCalibration("sigmoid", 2), "0 calibrators for 1"),
        (ClassCalibration("isotonic", 2, False, (one,)), "not of the kind named"),
        (ClassCalibration(None, 2, False, (one,)), "where none is needed"),
        (ClassCalibration("sigmoid", 0), "no classes"),
    ):
        refuses(checks.check_calibration, bad, says)


def test_every_model_has_its_map():
    two, three = ClassCalibration(None, 2), ClassCalibration(None, 3)
    checks.check_scores(CalibratedScores(("a", "b"), (two, two), 2))
    refuses(checks.check_scores, CalibratedScores(("a", "b"), (two,), 2), "its map")
    refuses(checks.check_scores, CalibratedScores((), (), 2), "its map")
    refuses(checks.check_scores, CalibratedScores(("a", "b"), (two, three), 2), "different classes")
    refuses(checks.check_scores, CalibratedScores(("a",), (two,), -1), "negative")


# --- costs


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: {"form": "list"}, "no known form"),
        (lambda s: {"cells": s.cells[:3]}, "not as many cells"),
        (lambda s: {"n_classes": 0}, "no classes"),
        (lambda s: {"n_classes": True}, "no classes"),
        (lambda s: {"n_classes": 3}, "not as many cells"),
        (lambda s: {"cells": (Cell(np.array(np.inf)), *s.cells[1:])}, "not finite"),
        (lambda s: {"cells": (Cell(np.array(1)), *s.cells[1:])}, "no numbers"),
        (
            lambda s: {"cells": (Cell(np.ones(3)), Cell(np.ones(2)), *s.cells[2:])},
            "numbers of rows",
        ),
        (lambda s: {"classes": np.array(["a"])}, "lacks its label"),
        (lambda s: {"classes": ["a", "b"]}, "lacks its label"),
        (lambda s: {"classes": np.array(["a", "a"])}, "occur twice"),
        (lambda s: {"positive": "c"}, "positive class is none"),
    ],
)
def test_cells_and_labels_of_costs(change, says):
    state = Costs(fp=1, fn=2, positive="b").bind(["a", "b"])._state
    checks.check_costs(state)
    checks.check_costs(Costs(fp=1, fn=np.array([1e-300, 1e300]))._state)
    refuses(checks.check_costs, state._replace(**change(state)), says)


# --- models


def grown(member, **changes):
    return {"trees": replace(member.trees, **changes)}


def member_of(name):
    return fitted(name)[0]._model.members[0]


STEEP = ClassCalibration("sigmoid", 2, True, (Sigmoid(2e300, 0.0),))


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("adaboost", lambda m: {"n_first": -1}, "negative"),
        ("adaboost", lambda m: {"n_first": 1}, "5 trees for 6 rounds"),
        ("adaboost", lambda m: {"trees": None}, "no trees"),
        ("adaboost", lambda m: {"estimators": (3,)}, "no trees"),
        ("adaboost", lambda m: {"steps": np.append(m.steps[1:], np.nan)}, "not finite"),
        ("adaboost", lambda m: {"steps": m.steps[:, None]}, "another shape"),
        ("adaboost", lambda m: {"start": np.zeros(1)}, "their own start"),
        ("adaboost", lambda m: {"answers": len}, "their own start"),
        ("adaboost", lambda m: grown(m, base=np.array([1e308])), "adds up to no number"),
        ("gradient log of 3", lambda m: {"steps": m.steps[1:]}, "trees for"),
        ("gradient log of 3", lambda m: {"weighs_gains": True}, "every tree has its step"),
        ("gradient log of 3", lambda m: {"steps": np.full_like(m.steps, np.inf)}, "not finite"),
        ("gradient log of 3", lambda m: {"init": 3}, "begins with another model"),
        ("p-norm lp-csb", lambda m: {"steps": m.steps + 1}, "no share"),
        ("p-norm lp-csb", lambda m: {"steps": m.steps - 1}, "no share"),
        ("p-norm lp-csb", lambda m: {"steps": m.steps * np.nan}, "not finite"),
        ("p-norm lp-csb", lambda m: {"steps": np.stack([m.steps] * 2, axis=1)}, "more trees"),
        ("p-norm lp-csb", lambda m: grown(m, base=-1 - m.trees.base), "a vote is negative"),
    ],
)
def test_steps_and_trees_of_a_member(name, change, says):
    member = member_of(name)
    checks.check_member(member)
    refuses(checks.check_member, replace(member, **change(member)), says)


@pytest.mark.parametrize(
    ("maps", "says"),
    [
        ((Logistic(np.inf),), "a scale is not finite"),
        ((VoteShares(0.0),), "votes weigh nothing"),
        ((VoteShares(np.nan),), "votes weigh nothing"),
        ((LossLink(Sigmoid(1.0, 0.0)),), "no loss of classes"),
        ((Second(),), "no probabilities"),
        ((Normalise(),), "no probabilities"),
        ((Logistic(2.0), Logistic(2.0)), "no probabilities"),
        ((VoteShares(1.0), Calibrate(STEEP)), "no probabilities"),
        ((Second(), Calibrate(STEEP)), "no probabilities"),
        ((Calibrate(STEEP),), "adds up to no number"),
        ((Calibrate(ClassCalibration(None, 3)),), "other classes"),
    ],
)
def test_maps_lead_from_one_margin_to_two_probabilities(maps, says):
    member = member_of("adaboost")
    for good in ((Logistic(1.0),), (VoteShares(2.0),), (Calibrate(ClassCalibration(None, 2)),)):
        checks.check_member(replace(member, maps=good))
    refuses(checks.check_member, replace(member, maps=maps), says)


def test_votes_of_many_classes_are_counted():
    member = member_of("p-norm lp-csb")
    bent = replace(member, **grown(member, values=member.trees.values - 0.1))
    refuses(checks.check_member, bent, "a vote is negative")
    margins = replace(bent, maps=(Logistic(1.0),))
    checks.check_member(margins)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("adaboost", lambda m: {"members": m.members * 2}, "not calibrated"),
        ("adaboost", lambda m: {"members": ()}, "no trees"),
        ("adaboost", lambda m: {"decision": None}, "lacks probabilities"),
        ("regressor huber", lambda m: {"decision": "largest"}, "lacks probabilities"),
        ("calibrated by sigmoid", lambda m: {"decision": "largest"}, "decide by price"),
        ("calibrated by sigmoid", lambda m: {"priced": (Logistic(2.0),)}, "not decided by"),
        ("adaboost", lambda m: {"priced": (Logistic(2.0),)}, "not decided by"),
        ("cgada", lambda m: {"members": (*m.members[:1], member_of("adaboost"))}, "calibrated"),
        (
            "adaboost",
            lambda m: {"decision": "cheapest", "priced": (Second(),)},
            "no probabilities are priced",
        ),
    ],
)
def test_members_and_the_decision_of_a_model(name, change, says):
    model = fitted(name)[0]._model
    checks.check_model(model)
    refuses(checks.check_model, replace(model, **change(model)), says)


def test_margins_are_no_larger_than_all_trees_together():
    forest = fitted("gradient log of 3")[0]._model.members[0].forest
    largest = checks.largest_margin(forest)
    rows = np.random.default_rng(0).normal(size=(500, 4)) * 3
    assert 0 < np.abs(forest.margins(rows)).max() <= largest
    ends = np.append(forest.roots[1:], len(forest.values))
    trees = [forest.values[a:b] for a, b in zip(forest.roots, ends, strict=True)]
    by_hand = np.abs(forest.base) + sum(np.abs(tree).max(axis=0) for tree in trees)
    assert largest == pytest.approx(by_hand.max())
    assert checks.largest_margin(replace(forest, values=forest.values + 1e308)) == np.inf


# --- estimators


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("adaboost", lambda m: {"classes_": m.classes_[::-1]}, "not sorted"),
        ("adaboost", lambda m: {"classes_": m.classes_[:0]}, "no classes"),
        ("adaboost", lambda m: {"classes_": np.array([0, 1, 2])}, "classes"),
        ("adaboost", lambda m: {"n_features_in_": 0}, "no columns"),
        ("adaboost", lambda m: {"n_features_in_": 5}, "other columns"),
        ("adaboost", lambda m: {"n_iter_": 99}, "n_iter_ is not"),
        ("adaboost", lambda m: {"estimator": 3}, "no trees"),
        ("adaboost", lambda m: {"_model": fitted("regressor huber")[0]._model}, "other classes"),
        ("regressor huber", lambda m: {"_model": fitted("adaboost")[0]._model}, "other classes"),
        ("adaboost", lambda m: {"_rule_name": "best"}, "'best' is unknown"),
        ("adaboost", lambda m: {"n_jobs": 0}, "n_jobs"),
        ("auto of a frame", lambda m: {"feature_names_in_": m.feature_names_in_[1:]}, "one name"),
        (
            "cgada",
            lambda m: {"costs_": Costs(fp=1, fn=2, positive=4).bind([3, 4])},
            "other classes",
        ),
        ("cgada", lambda m: {"costs_": Costs(fp=1, fn=[1.0, 2.0]).bind([0, 1])}, "not constant"),
        ("minimum cost", lambda m: {"_response": "predict"}, "says nothing"),
        ("metacost", lambda m: {"estimator_": 3}, "not fitted"),
        ("costing", lambda m: {"estimators_": []}, "no models"),
        ("rate", lambda m: {"action_prices_": {1: -1.0}}, "no price"),
    ],
)
def test_what_an_estimator_holds_belongs_together(name, change, says):
    model = copy.copy(fitted(name)[0])
    vars(model).update(change(model))
    refuses(checks.check_estimator, model, says)

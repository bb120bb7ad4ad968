"""What "auto" stands for: of named methods, and of the recipe by rows and classes."""

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.estimators.adaboost.plan import (
    LOG_LEAVES,
    NAMED,
    RECIPE_VOTES,
    is_recipe,
    takes_additive,
    without_auto,
)
from family import STUMP
from naive.rules import METHODS


def chosen(n_rows=100, n_classes=2, **options):
    return without_auto(CostBoostClassifier(**options), n_rows, n_classes)


def among(settled, choices):
    return {name: getattr(settled, name) for name in choices}


@pytest.mark.parametrize(
    ("n_classes", "n_rows", "rounds", "rate", "patience", "tol"),
    [
        (2, 999, 400, 0.1, 40, 0.002),
        (2, 1000, 400, 0.1, 80, 0.002),
        (2, 10_000, 400, 0.05, 100, 0.0),
        (2, 50_000, 100, 0.2, 30, 0.0),
        (3, 999, 400, 0.1, 30, 0.002),
        (3, 10_000, 400, 0.1, 80, 0.002),
        (3, 50_000, 100, 0.2, 30, 0.002),
    ],
)
def test_the_recipe_goes_by_rows_and_classes(n_classes, n_rows, rounds, rate, patience, tol):
    found = chosen(n_rows, n_classes)
    assert found.n_estimators == rounds
    assert found.learning_rate == rate
    assert found.n_iter_no_change == patience
    assert found.tol == tol


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "options", "log_loss"),
    [
        (9_999, 2, {}, False),
        (10_000, 2, {}, True),
        (100, 3, {}, True),
        (10_000, 2, {"votes": "gentle"}, False),
        (10_000, 2, {"calibration": None}, False),
        (10_000, 2, {"method": "adamec"}, False),
        (100, 3, {"estimator": STUMP}, False),
    ],
)
def test_when_the_recipe_goes_by_log_loss(n_rows, n_classes, options, log_loss):
    assert chosen(n_rows, n_classes, **options).log_loss is log_loss


@pytest.mark.parametrize("options", [{"votes": "discrete"}, {"calibration": None}])
def test_votes_of_many_classes_have_numbers_of_their_own(options):
    assert among(chosen(100, 3, **options), RECIPE_VOTES) == RECIPE_VOTES


def test_many_rows_of_votes_have_the_numbers_of_fewer():
    """Those from 10,000 rows on are log loss's."""
    settled = chosen(50_000, votes="gentle")
    assert among(settled, NAMED) == among(chosen(9_999, votes="gentle"), NAMED)


@pytest.mark.parametrize("method", METHODS)
def test_named_methods_have_the_same_numbers_on_every_table(method):
    assert among(chosen(50_000, method=method), NAMED) == NAMED


def test_an_estimator_of_ones_own_is_no_recipe():
    assert is_recipe(CostBoostClassifier())
    assert not is_recipe(CostBoostClassifier("adamec"))
    assert not is_recipe(CostBoostClassifier(estimator=STUMP))
    assert among(chosen(estimator=STUMP), NAMED) == NAMED


def test_what_is_given_is_kept():
    given = {"n_estimators": 7, "learning_rate": 0.3, "max_features": None, "tol": np.float32(0.5)}
    assert among(chosen(**given), given) == given


def test_leaves_that_are_named_leave_the_depth_open():
    assert chosen(max_leaf_nodes=7).max_depth is None
    assert chosen(max_leaf_nodes=7, max_depth=2).max_depth == 2
    assert chosen(10_000).max_leaf_nodes == LOG_LEAVES
    assert chosen(10_000, max_leaf_nodes=7).max_leaf_nodes == 7
    assert chosen(10_000, max_depth=4).max_leaf_nodes is None


def test_many_rows_need_no_additive_model():
    assert takes_additive(9_999)
    assert not takes_additive(10_000)

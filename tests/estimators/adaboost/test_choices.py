"""What "auto" stands for: of named methods, and of the recipe by rows and classes."""

import json
from dataclasses import replace

import numpy as np
import pytest

import costboost
from costboost import CostBoostClassifier
from costboost.estimators.adaboost import choices
from costboost.estimators.adaboost.choices import (
    NAMED,
    NEWEST,
    RECIPES,
    Curve,
    recipe_of,
    recipe_words,
    without_auto,
)
from family import STUMP
from naive.rules import METHODS
from recipe_models import auto


def chosen(n_rows=100, n_classes=2, n_columns=30, **options):
    return without_auto(CostBoostClassifier(**options), n_rows, n_columns, n_classes)


def among(settled, choices):
    return {name: getattr(settled, name) for name in choices}


# ---------------------------------------------------------------- numbers by rows


def test_a_curve_is_linear_in_the_logarithm_of_rows_and_flat_beyond():
    curve = Curve(((100, 1.0), (10_000, 3.0)))
    assert [curve(n) for n in (1, 100, 1_000, 10_000, 10**9)] == [1.0, 1.0, 2.0, 3.0, 3.0]
    assert [curve.whole(n) for n in (100, 300, 330, 10_000)] == [1, 1, 2, 3]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", RECIPES)
def test_one_row_more_makes_hardly_another_recipe(name, n_classes):
    """Over all sizes: whole numbers go up or down by one, others by a thousandth."""
    sizes = np.unique(np.geomspace(2, 2_000_000, 3_000).astype(int))
    for n in (*sizes.tolist(), 499, 999, 1_999, 4_999, 9_999, 19_999, 49_999, 99_999):
        before, after = (vars(chosen(m, n_classes, method=name)) for m in (n, n + 1))
        for key in before:
            if isinstance(before[key], float):
                assert abs(before[key] - after[key]) <= 1e-3
            elif isinstance(before[key], int) and not isinstance(before[key], bool):
                allowed = max(2, 0.01 * before[key])
                assert abs(before[key] - after[key]) <= allowed, (key, n)
            else:
                assert before[key] == after[key]
        reach = RECIPES[name].additive
        assert abs(reach(n) - reach(n + 1)) <= 1e-3


def test_rows_are_counted_by_weight():
    y = np.zeros(4)
    assert choices.count_rows(y, None) == 4
    assert choices.count_rows(y, np.array([1.0, 0.0, 3.0, 1e3])) == 1004
    assert choices.count_rows(y, np.full(4, 1e300)) == 10**12
    for unit in (1e-300, 0.1, 1e3):
        assert choices.count_rows(y, unit * np.array([0.7, 0.7, 0.7, 1e-5])) == 3


def test_columns_drawn_are_the_square_root_and_at_least_some():
    assert [chosen(n_columns=d).max_features for d in (1, 8, 20, 100, 400)] == [1, 8, 8, 10, 20]
    assert [chosen(100, 3, d).max_features for d in (1, 8, 20, 100)] == [1, 2, 4, 10]


def test_more_rows_get_larger_trees_and_longer_steps():
    sizes = (10, 200, 2_000, 10_000, 100_000, 10**7)
    found = [chosen(n) for n in sizes]
    assert [f.max_leaf_nodes for f in found] == sorted(f.max_leaf_nodes for f in found)
    assert found[-1].learning_rate > found[0].learning_rate
    assert found[-1].n_estimators == 100
    assert [NEWEST.additive(n) for n in sizes][:3] == [1.0] * 3
    assert [NEWEST.additive(n) for n in sizes][-2:] == [0.0] * 2


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "options", "log_loss"),
    [
        (100, 2, {}, True),
        (50_000, 2, {}, True),
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
    voted = NEWEST.voted.choices(100, 30)
    assert among(chosen(100, 3, **options), voted) == voted
    assert voted != NEWEST.many.choices(100, 30)


@pytest.mark.parametrize("method", METHODS)
def test_named_methods_have_the_same_numbers_on_every_table(method):
    assert among(chosen(50_000, method=method), NAMED) == NAMED


def test_an_estimator_of_ones_own_is_no_recipe():
    assert recipe_of(CostBoostClassifier()) is NEWEST
    assert recipe_of(CostBoostClassifier("auto-1")) is RECIPES["auto-1"]
    assert recipe_of(CostBoostClassifier("adamec")) is None
    assert recipe_of(CostBoostClassifier(estimator=STUMP)) is None
    assert among(chosen(estimator=STUMP), NAMED) == NAMED


def test_what_is_given_is_kept():
    given = {"n_estimators": 7, "learning_rate": 0.3, "max_features": None, "tol": np.float32(0.5)}
    assert among(chosen(**given), given) == given


def test_leaves_that_are_named_leave_the_depth_open():
    assert chosen(max_leaf_nodes=7).max_depth is None
    assert chosen(max_leaf_nodes=7).max_leaf_nodes == 7
    assert chosen(max_leaf_nodes=7, max_depth=2).max_depth == 2
    assert chosen(10_000).max_depth is None
    assert chosen(10_000, max_depth=4).max_leaf_nodes is None


def test_a_later_recipe_stands_beside_the_pinned_one(monkeypatch):
    later = replace(NEWEST, name="auto-later", l2=1.0)
    monkeypatch.setattr(choices, "NEWEST", later)
    X, y = problem()
    newest, pinned = (
        CostBoostClassifier(m, 10, random_state=0).fit(X, y) for m in ("auto", "auto-1")
    )
    assert (newest.recipe_["name"], pinned.recipe_["name"]) == ("auto-later", "auto-1")
    assert np.any(newest.predict_proba(X) != pinned.predict_proba(X))


# ---------------------------------------------------------------- what it became


def problem(n_classes=2, n=300):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=n), np.linspace(-0.7, 0.7, n_classes - 1))
    return X, y


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("ensemble", [True, False])
def test_a_fit_says_what_the_recipe_became(tmp_path, n_classes, ensemble):
    X, y = problem(n_classes)
    model = auto(20, ensemble=ensemble, max_leaf_nodes=5).fit(X, y)
    found, member = model.recipe_, model._model.members[0]
    assert (found["boosting"], found["rounds"]) == ("log loss", model.n_iter_)
    assert found["max_leaf_nodes"] == 5
    forest = member.forest
    grown = [forest.tree(t) for t in range(member.n_first, len(forest))]
    assert max(np.sum(tree.left < 0) for tree in grown) <= 5
    assert 0 < found["additive_weight"] < 1
    fitted = member.maps[-1].calibration.calibrators[0]
    (numbers,) = found["calibration_parameters"]
    if n_classes == 2:
        assert (numbers["beta"], numbers["bias"]) == (fitted.beta, fitted.bias)
    else:  # part of the mixing
        assert fitted.beta == 1.0 != numbers["beta"]
        assert np.shape(found["mixing"]) == (3, 3)
    assert found["folds"] == 3
    assert json.loads(json.dumps(found)) == found
    costboost.save(model, tmp_path / "model")
    assert costboost.load(tmp_path / "model").recipe_ == found
    words = recipe_words(found)
    assert words["Recipe"] == "auto-1"
    assert f"{model.n_iter_} of at most 20" in words["Rounds"]
    assert f"weight {found['additive_weight']:.2f}" in words["Additive model"]
    assert not hasattr(model.set_params(method="adacost").fit(X, y), "recipe_")


@pytest.mark.parametrize(
    ("options", "stopped"),
    [
        ({"n_estimators": 10}, "all rounds"),
        ({"n_estimators": 300, "n_iter_no_change": 10}, "no improvement"),
        ({"n_estimators": 300, "learning_rate": 1.0, "solved": True}, "nothing left"),
    ],
)
def test_why_training_ended(options, stopped):
    X, y = problem()
    if options.pop("solved", False):
        X[:, 1:] = 5.0 * y[:, None]
    model = auto(**options).fit(X, y)
    assert model.recipe_["stopped"] == stopped
    assert "ended because" in recipe_words(model.recipe_)["Rounds"]


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic", "beta", "temperature"])
def test_every_calibration_is_told(calibration):
    X, y = problem()
    model = auto(10, calibration=calibration).fit(X, y)
    assert model.recipe_["calibration"] == calibration
    assert calibration in recipe_words(model.recipe_)["Calibration"]
    assert json.loads(json.dumps(model.recipe_)) == model.recipe_


def test_without_calibration_there_are_no_folds_to_tell_of():
    X, y = problem()
    assert not hasattr(auto(10, calibration=None).fit(X, y), "recipe_")

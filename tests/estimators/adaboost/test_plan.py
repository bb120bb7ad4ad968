"""Plans of the AdaBoost family: what runs for what was asked, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.estimators.adaboost import plan
from family import STUMP, problem
from naive.rules import METHODS, METHODS_K


@pytest.mark.parametrize("method", [m for m in METHODS if m not in METHODS_K])
def test_methods_of_two_classes_name_what_to_use(method):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"y has 3.*PNormBoostClassifier, or one of .*adamec"):
        CostBoostClassifier(method).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "adabost"},
            "method='adabost' is not known; allowed: 'auto', 'auto-1', 'adaboost'",
        ),
        ({"votes": "loud"}, "votes='loud' is not known"),
        ({"alpha": "guess"}, "alpha='guess' is not known"),
        ({"criterion": "mse"}, "criterion='mse' is not known"),
        ({"calibration": "platt"}, "calibration='platt' is not known; allowed.*'sigmoid'"),
        ({"on_interrupt": "ask"}, "on_interrupt='ask' is not known"),
        ({"n_estimators": 0}, "n_estimators=0 must be a whole number at least 1"),
        ({"n_estimators": 2.5}, "n_estimators=2.5 must be a whole number"),
        ({"n_estimators": True}, "n_estimators=True must be a whole number"),
        ({"learning_rate": 0}, "learning_rate=0 must be a number above 0"),
        ({"subsample": 1.5}, "subsample=1.5 .*at most 1"),
        ({"max_depth": 0}, "max_depth=0"),
        ({"max_depth": "deep"}, "max_depth='deep'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes=1"),
        ({"max_features": 0}, "max_features=0"),
        ({"max_features": 1.5}, "max_features=1.5"),
        ({"max_bins": 1000}, "max_bins=1000"),
        ({"min_samples_leaf": 0}, "min_samples_leaf=0"),
        ({"min_weight_leaf": 0.7}, "min_weight_leaf=0.7"),
        ({"cost_scale": 2.0}, "cost_scale=2.0"),
        ({"tol": -1}, "tol=-1"),
        ({"validation_fraction": 2}, "validation_fraction=2"),
        ({"n_iter_no_change": 0}, "n_iter_no_change=0"),
        ({"cv": 1, "calibration": "sigmoid"}, "cv=1"),
        ({"costs": Costs(fp=1, fn=[1.0, 2.0])}, "pass costs per row to fit"),
        ({"method": "asymada", "n_iter_no_change": 3}, "fixed in advance"),
        ({"method": "adauboost", "warm_start": True}, "fixed in advance"),
        ({"warm_start": True, "calibration": "sigmoid"}, "calibration=None"),
        ({"n_iter_no_change": 2, "validation_fraction": 0.0}, "validation_fraction > 0"),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(options, message):
    X, y = problem()
    model = CostBoostClassifier("adaboost").set_params(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_the_default_calibrates_the_posters_three(method):
    X, y = problem()
    model = CostBoostClassifier(method, 3).fit(X, y)
    assert model._model.is_calibrated == (method in ("adamec", "cgada", "asymada"))


def settled(n_rows=100, n_classes=2, costs=None, **options):
    classes = np.arange(n_classes)
    bound = costboost.costs.as_costs(costs, classes).bind(classes, n_rows)
    y = np.arange(n_rows) % n_classes
    return plan.settle(
        CostBoostClassifier(**options), np.zeros((n_rows, 4)), y, None, bound, n_classes
    )


def test_what_was_chosen_is_kept_and_the_rule_runs():
    auto, named = settled(), settled(method="cgada")
    assert (auto.method, auto.rule.name, auto.calibration) == ("auto", "adamec", "bias-corrected")
    assert (named.method, named.rule.name, named.calibration) == ("cgada", "cgada", "sigmoid")
    assert (auto.in_step, named.in_step) == (True, False)
    assert (auto.metric, named.metric) == ("log_loss", "cost")


@pytest.mark.parametrize(
    ("n_rows", "n_classes", "options", "expected"),
    [
        (100, 2, {}, (True, True)),
        (9_999, 2, {}, (True, True)),
        (20_000, 2, {}, (True, False)),  # many rows teach trees what an additive model knows
        (100, 3, {}, (True, True)),
        (100, 2, {"votes": "gentle"}, (False, True)),
        (100, 3, {"votes": "discrete"}, (False, False)),
        (20_000, 2, {"votes": "gentle"}, (False, False)),
        (100, 2, {"monotonic_cst": [1, 0, 0, 0]}, (True, False)),
        (100, 2, {"calibration": None}, (False, False)),
        (100, 3, {"calibration": None}, (False, False)),
    ],
)
def test_when_the_recipe_goes_by_log_loss_and_blends(n_rows, n_classes, options, expected):
    found = settled(n_rows, n_classes, **options)
    assert (found.log_loss, found.additive > 0) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "csb2", "votes": "real"}, "votes='real' fits.*method='csb2' does not have"),
        ({"method": "adaboost", "alpha": "estimate"}, "alpha='estimate' is AdaCost's"),
        ({"method": "adaboost", "laplace": True}, "laplace=True.*votes='discrete' has"),
        (
            {"method": "adaboost", "laplace": True, "estimator": STUMP, "votes": "real"},
            "laplace=True.*estimator has",
        ),
        ({"method": "rareboost", "votes": "confidence"}, "discrete votes only"),
        ({"method": "gradient-csb", "monotonic_cst": [1, 0, 0, 0]}, "negative steps"),
        ({"n_classes": 3, "method": "adaboost", "votes": "real"}, "votes='real' needs two classes"),
        ({"method": "cgada", "calibration": "temperature"}, "cannot undo the costs"),
    ],
    ids=str,
)
def test_choices_that_contradict_each_other_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        settled(**options)


def test_other_actions_are_for_methods_that_train_without_costs():
    triage = Costs.from_matrix([[0, 1, 9], [9, 1, 0]], classes=[0, 1], actions=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"method='csb2' trains.*\['a', 'b', 'c'\].*'adamec'"):
        settled(method="csb2", costs=triage)
    assert settled(method="adamec", costs=triage).rule.name == "adamec"


@pytest.mark.parametrize("method", ["adaboost", "rareboost"])
def test_other_actions_need_probabilities(method):
    triage = Costs.of_actions({"go": {0: 0, 1: 9}, "wait": 1, "stop": {0: 9, 1: 0}})
    with pytest.raises(ValueError, match=rf"{method}.*\['go', .*calibration='sigmoid'.*'adamec'"):
        settled(method=method, costs=triage)
    X, y = problem()
    model = CostBoostClassifier(method, 3, calibration="sigmoid").fit(X, y, costs=triage)
    assert model.score(X, y) > -9
    assert settled(method="adamec", calibration=None, costs=triage).calibration is None
    asking = costboost.costs.as_costs(None, [0, 1]).with_defer(0.3)  # classes are among the actions
    assert settled(method=method, costs=asking).calibration is None


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        (lambda sign, c: 0.5 * sign * c + 0.5, r"beta\(-1, c\) >= beta\(1, c\)"),
        (lambda sign, c: np.where(sign < 0, 1.0, -0.1), ">= 0"),
        (lambda sign, c: np.where(sign < 0, 1 - 0.1 * c, 0.5), "must not fall"),
        (lambda sign, c: np.where(sign < 0, 1.0, 0.5 * c), "must not rise"),
        (lambda sign, c: np.nan * c, r"beta\(1, c\)"),
    ],
)
def test_betas_that_break_the_theorem_are_refused(beta, message):
    with pytest.raises(ValueError, match=message):
        settled(method="adacost", beta=beta)
    settled(method="adacost", beta=lambda sign, c: -0.5 * sign * c + 0.5)  # AdaCost's own


def test_an_objective_of_rows_is_that_of_the_rows_asked_for():
    arrays = tuple(np.arange(100.0) + k for k in range(3))
    found = settled(method="gradient-csb", objective=arrays).setting.objective
    for got, given in zip(found(None, np.array([7, 2])), arrays, strict=True):
        assert_array_equal(got, given[[7, 2]])
    with pytest.raises(ValueError, match="objective='best' is not known"):
        settled(method="gradient-csb", objective="best")


@pytest.mark.parametrize("method", ["auto", "csb2"])
def test_more_classes_than_a_byte_can_number_are_refused(method):
    y = np.repeat(np.arange(257), 2)
    with pytest.raises(ValueError, match="y has 257 classes; at most 256"):
        CostBoostClassifier(method).fit(y[:, None], y)


@pytest.mark.parametrize(("n_classes", "votes"), [(2, "auto"), (4, "auto"), (2, "discrete")])
def test_the_pinned_recipe_is_that_of_the_first_release(n_classes, votes):
    """And it keeps its name: in parameters, clones and files."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=200), np.linspace(-0.7, 0.7, n_classes - 1))
    newest, pinned = (
        CostBoostClassifier(name, 20, votes=votes, cv=3, random_state=0).fit(X, y)
        for name in ("auto", "auto-1")
    )
    np.testing.assert_array_equal(newest.predict_proba(X), pinned.predict_proba(X))
    assert pinned.get_params()["method"] == "auto-1"
    plain = CostBoostClassifier("adamec", 20, votes=votes, cv=3, random_state=0).fit(X, y)
    assert np.any(plain.predict_proba(X) != pinned.predict_proba(X))

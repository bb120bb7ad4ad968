"""Early stopping: on which measure, by which rows, with whose patience."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss, log_loss, mean_absolute_error
from sklearn.tree import DecisionTreeClassifier

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.rounds import EarlyStopping, consume
from costboost.fitting.held_out import ClassResult, Decisions, Judge, NumberResult


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(900, flip_y=0.2, class_sep=0.6, random_state=0)
    names = np.where(y == 1, "bad", "good")
    weight = np.random.default_rng(0).uniform(0.2, 2, 900)
    return X, names, weight


FAMILIES = {
    "adaboost": lambda **p: CostBoostClassifier("cgada", 25, calibration=None, **p),
    "outside": lambda **p: CostBoostClassifier(
        "cgada", 12, calibration=None, estimator=DecisionTreeClassifier(max_depth=1), **p
    ),
    "gradient": lambda **p: GradientBoostClassifier("log", 25, max_leaf_nodes=4, **p),
    "pnorm": lambda **p: PNormBoostClassifier(n_estimators=25, **p),
}


def brier(y, proba, sample_weight=None):
    return brier_score_loss(y, proba[:, 1], sample_weight=sample_weight, pos_label="good")


SCORES = {
    "log_loss": lambda y, p, w: log_loss(y, np.clip(p, 1e-15, 1), sample_weight=w),
    "brier": lambda y, p, w: brier(y, p, w),
}


@pytest.mark.parametrize("metric", ["log_loss", "brier", "callable"])
@pytest.mark.parametrize("family", FAMILIES)
def test_measures_are_those_of_the_stages(rows, family, metric):
    X, y, weight = rows
    train, test = slice(0, 600), slice(600, 900)
    given = brier if metric == "callable" else metric
    model = FAMILIES[family](early_stopping_metric=given, n_iter_no_change=3, random_state=0)
    held_out = (X[test], y[test], None, weight[test])
    model.fit(X[train], y[train], eval_set=held_out)
    longer = FAMILIES[family](random_state=0)
    longer.set_params(n_estimators=len(model.validation_loss_)).fit(X[train], y[train])
    by_hand = SCORES["brier" if metric == "callable" else metric]
    expected = [by_hand(y[test], p, weight[test]) for p in longer.staged_predict_proba(X[test])]
    assert_allclose(model.validation_loss_, expected, rtol=1e-9)
    assert model.n_iter_ == np.argmin(expected) + 1
    assert not hasattr(model, "validation_cost_")


@pytest.mark.parametrize("family", FAMILIES)
def test_several_sets_are_watched_and_the_first_stops(rows, family):
    X, y, weight = rows
    costs = {"fp": 1, "fn": 4, "positive": "bad"}
    sets = {
        "new": (X[600:750], y[600:750]),
        "weighted": (X[750:], y[750:], costs, weight[750:]),
        "train": (X[:600], y[:600]),
    }
    options = {"n_iter_no_change": 3, "costs": costs, "random_state": 0}
    model = FAMILIES[family](**options).fit(X[:600], y[:600], eval_set=sets)
    alone = FAMILIES[family](**options).fit(X[:600], y[:600], eval_set=sets["new"])
    assert list(model.eval_results_) == ["new", "weighted", "train"]
    assert_array_equal(model.validation_cost_, model.eval_results_["new"])
    assert_array_equal(model.validation_cost_, alone.validation_cost_)
    assert not hasattr(alone, "eval_results_")
    assert model.n_iter_ == alone.n_iter_
    bound = Costs(**costs).bind(["bad", "good"])
    stages = FAMILIES[family](**options)
    stages.set_params(n_iter_no_change=None, n_estimators=len(model.validation_cost_))
    stages.fit(X[:600], y[:600])
    paid = [
        np.average(bound.of_decisions(y[750:], decided), weights=weight[750:])
        for decided in stages.staged_predict(X[750:])
    ]
    assert_allclose(model.eval_results_["weighted"], paid)


def test_weights_in_a_set_are_repeated_rows(rows):
    X, y, _ = rows
    times = np.random.default_rng(1).integers(0, 3, 300)
    model = FAMILIES["gradient"](n_iter_no_change=5, random_state=0)
    weighted = model.fit(X[:600], y[:600], eval_set=(X[600:], y[600:], None, times))
    costs = weighted.validation_cost_
    again = np.repeat(np.arange(600, 900), times)
    model.fit(X[:600], y[:600], eval_set=(X[again], y[again]))
    assert_allclose(model.validation_cost_, costs)


def test_the_recipe_stops_by_any_measure(rows):
    X, y, weight = rows
    costs = {"fp": 1, "fn": 2, "positive": "bad"}
    found = {}
    for metric in ("auto", "log_loss", "brier", "cost", brier):
        model = CostBoostClassifier(
            n_estimators=60, cv=2, early_stopping_metric=metric, costs=costs, random_state=0
        ).fit(X, y, weight)
        found[metric if isinstance(metric, str) else "own"] = model.validation_loss_
        assert model.n_iter_ in model.validation_rounds_
    assert_array_equal(found["auto"], found["log_loss"])
    assert_allclose(found["brier"], found["own"])
    assert not np.array_equal(found["cost"], found["log_loss"])
    bound = Costs(**costs).bind(["bad", "good"])
    constant = bound.cheapest_constant(y, weight)[1] / weight.sum()
    assert 0 < found["cost"][-1] < constant


def test_regressors_stop_by_their_loss_or_a_measure_of_ones_own(rows):
    X, _, weight = rows
    y = X[:, 0] ** 2 + X[:, 1]
    held_out = {"a": (X[600:], y[600:], None, weight[600:]), "b": (X[600:], y[600:])}
    model = GradientBoostRegressor(
        n_estimators=15, early_stopping_metric=mean_absolute_error, random_state=0
    ).fit(X[:600], y[:600], eval_set=held_out)
    stages = list(model.staged_predict(X[600:]))
    expected = [mean_absolute_error(y[600:], p, sample_weight=weight[600:]) for p in stages]
    assert_allclose(model.validation_loss_, expected)
    assert_allclose(model.eval_results_["b"], [mean_absolute_error(y[600:], p) for p in stages])
    with pytest.raises(ValueError, match="early_stopping_metric='cost'"):
        GradientBoostRegressor(early_stopping_metric="cost").fit(X, y)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_unknown_measure_is_refused(rows, family):
    X, y, _ = rows
    with pytest.raises(ValueError, match="early_stopping_metric='auc'"):
        FAMILIES[family](early_stopping_metric="auc").fit(X, y)


# ---------------------------------------------------------------- patience


class Done:
    def __init__(self, number):
        self.number = number


def test_rounds_that_decide_nothing_differently_do_not_count():
    costs = [5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 7.0, 7.0, 7.5, 1.0]
    seen = []

    def judge(done):
        seen.append(costs[done.number])
        return seen[-1]

    watch = EarlyStopping(judge, 3, idle=lambda: len(seen) > 1 and seen[-1] == seen[-2])
    taken = consume(map(Done, range(10)), [watch]).rounds
    assert len(taken) == 9  # 6, 7 and 7.5 were new
    assert watch.best_rounds == 1
    plain = EarlyStopping(lambda done: costs[done.number], 3)
    assert len(consume(map(Done, range(10)), [plain]).rounds) == 4


def test_patience_waits_for_the_first_round_that_decides_anything():
    """A rare and cheap class: the first trees call no row positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = (X[:, 0] + 0.1 * rng.normal(size=3000) > 2).astype(int)
    model = GradientBoostClassifier(
        "log", 60, learning_rate=0.02, max_leaf_nodes=4, n_iter_no_change=5, random_state=0
    ).fit(X, y)
    changes = np.flatnonzero(np.diff(model.validation_cost_))
    assert changes[0] > 5
    assert model.n_iter_ > changes[0]


def test_a_model_that_beats_no_constant_says_so(rows):
    X, y, _ = rows
    noise = np.random.default_rng(0).permutation(y)
    costs = {"fp": 1, "fn": 30, "positive": "bad"}
    model = CostBoostClassifier(
        "cgada", 30, calibration=None, n_iter_no_change=3, costs=costs, random_state=0
    )
    with pytest.warns(UserWarning, match="no round whose decisions cost less") as caught:
        model.fit(X, noise)
    assert len(caught) == 1
    recipe = CostBoostClassifier(
        n_estimators=20, cv=2, early_stopping_metric="cost", costs=costs, random_state=0
    )
    with pytest.warns(UserWarning, match="best constant answer") as caught:
        recipe.fit(X, noise)
    assert len(caught) == 1
    calibrated = CostBoostClassifier("adamec", 10, cv=3, n_iter_no_change=3, costs=costs)
    with pytest.warns(UserWarning, match="best constant answer") as caught:
        calibrated.set_params(max_depth=1, random_state=0).fit(X, noise)
    assert len(caught) == 1


@pytest.mark.parametrize("given", ["constructor", "fit", "rows"])
def test_the_default_says_that_it_beats_no_constant_of_the_costs_it_was_given(rows, given):
    X, y, _ = rows
    noise = np.random.default_rng(0).permutation(y)
    costs = Costs(fp=1, fn=30, positive="bad")
    if given == "rows":
        costs = Costs(fp=np.ones(len(y)), fn=30, positive="bad")
    model = CostBoostClassifier(n_estimators=20, cv=2, random_state=0)
    if given == "constructor":
        model.set_params(costs=costs)
        costs = None
    with pytest.warns(UserWarning, match="best constant answer.*describe") as caught:
        model.fit(X, noise, costs=costs)
    assert len(caught) == 1


def test_the_default_says_nothing_of_costs_that_nobody_gave_or_that_it_beats(rows):
    X, y, _ = rows
    noise = np.random.default_rng(0).permutation(y)
    CostBoostClassifier(n_estimators=20, cv=2, random_state=0).fit(X, noise)
    costs = Costs(fp=1, fn=3, positive="bad")
    CostBoostClassifier(n_estimators=20, cv=2, random_state=0).fit(X, y, costs=costs)


def test_nothing_is_said_where_nothing_could_be_better():
    costs = Costs(fp=1, fn=1).bind([0, 1])
    y = np.zeros(4, dtype=int)
    sure = ClassResult(np.arange(2), y, lambda: np.eye(2)[y], y, costs, None)
    assert sure.constant_cost() == np.inf
    half = np.array([0, 0, 0, 1])
    mixed = replace(sure, y=half)
    assert mixed.constant_cost() == 0.25
    assert replace(mixed, weights=np.array([1, 1, 1, 5.0])).constant_cost() == 3 / 8


def test_row_losses_by_hand():
    y = np.array([0, 2])
    proba = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    classes = ["a", "b", "c"]
    costs = Costs.from_matrix(np.arange(9).reshape(3, 3), classes=classes).bind(classes)
    said = ClassResult(np.array(["a", "b", "c"]), y, lambda: proba, np.array([1, 0]), costs, None)
    assert_allclose(said.row_losses("cost"), [1, 6])
    assert_allclose(said.row_losses("log_loss"), -np.log([0.5, 0.7]))
    assert_allclose(said.row_losses("brier"), [(0.25 + 0.09 + 0.04) / 2, (0.01 + 0.04 + 0.09) / 2])
    assert said.measure(lambda y, p: float(np.sum(y == "a"))) == 1.0
    weighted = replace(said, weights=np.array([3.0, 1.0]))
    assert weighted.measure("cost") == 9 / 4


def test_predictions_are_judged_by_their_loss_or_a_users_metric():
    y, predicted, weights = np.array([1.0, 2.0, 4.0]), np.array([1.0, 4.0, 1.0]), np.ones(3)
    said = NumberResult(y, predicted, lambda: 7.0, None)
    assert said.measure("loss") == 7.0
    assert said.measure(mean_absolute_error) == pytest.approx(5 / 3)
    weighted = replace(said, weights=weights * [1.0, 0.0, 3.0])
    assert weighted.measure(mean_absolute_error) == pytest.approx(9 / 4)

    def spoil(truth, guesses):
        guesses[:] = 0.0
        return 0.0

    said.measure(spoil)
    assert_array_equal(predicted, [1.0, 4.0, 1.0])


def test_one_judge_watches_all_sets_and_knows_when_nothing_was_decided_anew():
    y, costs = np.array([0, 0, 1]), Costs(fp=1, fn=5).bind(np.array([0, 1]))

    class Decider:
        def __init__(self, answers):
            self.answers = iter(answers)

        def follow(self, done):
            decided = np.array(next(self.answers))
            return ClassResult(np.array([0, 1]), y, lambda: None, decided, costs, None)

    first = Decider([[0, 0, 0], [0, 1, 1], [0, 1, 1]])
    judge = Judge("cost", [("first", first), ("other", Decider([[0, 0, 1]] * 3))])
    seen = [(judge(None), judge.decisions.idle(), judge.beats_no_constant()) for _ in range(3)]
    # Deciding 0 everywhere costs 5 / 3, deciding 1 everywhere 2 / 3.
    assert seen == [(5 / 3, False, True), (1 / 3, False, False), (1 / 3, True, False)]
    assert judge.results == {"first": [5 / 3, 1 / 3, 1 / 3], "other": [0.0, 0.0, 0.0]}


def test_decisions_that_do_not_stop_training_are_only_compared_with_a_constant():
    y, costs = np.array([0, 0, 1]), Costs(fp=1, fn=5).bind(np.array([0, 1]))
    answers = ClassResult(np.array([0, 1]), y, lambda: None, np.array([0, 1, 1]), costs, None)
    noted, nothing = Decisions(), Decisions()
    for _ in range(2):
        noted.note(answers, by_cost=False)
    assert not noted.idle()
    assert noted.beat_no_constant(2 / 3)
    assert not noted.beat_no_constant(0.66)
    assert not nothing.idle()
    assert not nothing.beat_no_constant(np.inf)


def test_a_judge_by_another_metric_notes_no_decisions():
    judge = Judge("log_loss", [("first", None)])
    assert not judge.beats_no_constant()  # before the first round
    assert not judge.decisions.idle()

"""Scores of the positive class and costs of two classes, for models of all kinds."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from costboost.costs import Costs
from costboost.estimators.wrappers import MinimumCostClassifier
from costboost.plots import BrierCurveDisplay, CostCurveDisplay, ThresholdCostDisplay
from costboost.plots._base import (
    bound_costs,
    fitted_costs,
    innermost,
    model_name,
    positive_class,
    respond,
)
from pictures import BINARY, assert_same, curve_of, legend_texts


@pytest.mark.parametrize("cls", BINARY)
def test_the_positive_class(cls, rows, model):
    X, y, _, _ = rows
    proba = model.predict_proba(X)
    for guess in (
        lambda: cls.from_estimator(model, X, y),
        lambda: cls.from_predictions(y, proba[:, 1]),
    ):
        with pytest.raises(ValueError, match="do not tell which"):
            guess()
    last = cls.from_estimator(model, X, y, pos_label="good")
    assert_same(last, cls.from_predictions(y, proba[:, 1], pos_label="good"))
    usual = cls.from_predictions(y == "good", proba[:, 1])
    np.testing.assert_array_equal(curve_of(usual), curve_of(last))
    first = cls.from_estimator(model, X, y, pos_label="bad")
    assert_same(first, cls.from_predictions(y, proba[:, 0], pos_label="bad"))
    with_dict = cls.from_estimator(model, X, y, costs={"fp": 1, "fn": 4}, pos_label="bad")
    named = Costs(fp=1, fn=4, positive="bad")
    assert_same(with_dict, cls.from_predictions(y, proba[:, 0], costs=named))
    with pytest.raises(ValueError, match="pos_label='good'"):
        cls.from_predictions(y, proba[:, 0], costs=named, pos_label="good")
    with pytest.raises(ValueError, match="pos_label='ugly' is not one of"):
        cls.from_estimator(model, X, y, pos_label="ugly")


def test_margins_where_there_are_no_probabilities(rows):
    X, y, _, _ = rows
    svm = LinearSVC().fit(X, y)
    display = CostCurveDisplay.from_estimator(svm, X, y, pos_label="bad")
    assert_same(
        display, CostCurveDisplay.from_predictions(y, -svm.decision_function(X), pos_label="bad")
    )
    bad = {"pos_label": "bad"}
    assert not ThresholdCostDisplay.from_estimator(svm, X, y, **bad).probability
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba"):
        BrierCurveDisplay.from_estimator(svm, X, y, **bad)
    with pytest.raises(ValueError, match="response_method='predict'"):
        CostCurveDisplay.from_estimator(svm, X, y, response_method="predict", **bad)


def test_more_than_two_classes_are_refused(rows):
    X = rows[0]
    y = np.arange(len(X)) % 3
    with pytest.raises(ValueError, match="for two classes, but the model and y have 3"):
        CostCurveDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    actions = ["home", "look", "operate"]
    triage = Costs.from_matrix([[0, 1, 6], [30, 2, 0]], classes=[False, True], actions=actions)
    with pytest.raises(ValueError, match="two classes that are also the decisions"):
        ThresholdCostDisplay.from_predictions(y > 0, X[:, 0], costs=triage)


def test_a_models_own_costs_are_used_and_mean_costs_are_announced(rows):
    X, y, money, _ = rows
    costs = Costs(fp=1, fn=9, positive="bad")
    model = MinimumCostClassifier(GaussianNB(), costs=costs, random_state=0).fit(X, y)
    one = ThresholdCostDisplay.from_estimator(model, X, y)
    assert_same(one, ThresholdCostDisplay.from_estimator(model, X, y, costs=costs))
    assert one.elkan == 0.1
    model.fit(X, y, costs=Costs(fp=1, fn=money, positive="bad"))
    with pytest.warns(UserWarning, match="their mean is used"):
        ThresholdCostDisplay.from_estimator(model, X, y)
    triage = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["bad", "good"], actions=["home", "look", "operate"]
    )
    model.fit(X, y, costs=triage)
    assert BrierCurveDisplay.from_estimator(model, X, y, pos_label="bad").operating is None


def test_searches_and_tuned_thresholds(rows):
    X, y = rows[0], rows[1] == "good"
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2).fit(X, y)
    assert legend_texts(CostCurveDisplay.from_estimator(search, X, y))[0].startswith("GaussianNB")
    tuned = TunedThresholdClassifierCV(GaussianNB(), cv=2, random_state=0).fit(X, y)
    assert ThresholdCostDisplay.from_estimator(tuned, X, y).chosen == tuned.best_threshold_
    assert ThresholdCostDisplay.from_estimator(tuned, X, y, threshold=0.3).chosen == 0.3


def test_the_model_inside_searches_and_pipelines_has_the_name(rows):
    X, y = rows[:2]
    pipe = make_pipeline(StandardScaler(), GaussianNB())
    search = GridSearchCV(pipe, {"gaussiannb__var_smoothing": [1e-9]}, cv=2).fit(X, y)
    deep = make_pipeline(StandardScaler(), search)
    assert innermost(deep) is search.best_estimator_[-1]
    assert model_name(deep) == "GaussianNB"
    assert model_name(GridSearchCV(pipe, {})) == "GridSearchCV"  # not fitted: nothing inside yet


@pytest.mark.parametrize("positive", ["bad", "good"])
def test_scores_are_those_of_the_positive_class_wherever_it_stands(rows, positive):
    X, y = rows[:2]
    classes = np.array(["good", "bad"])  # another order than the model's
    model = GaussianNB().fit(X, y)
    found = respond(model, X, classes, positive, "auto")
    column = model.classes_.tolist().index(positive)
    np.testing.assert_array_equal(found.score, model.predict_proba(X)[:, column])
    assert found.probability
    svm = LinearSVC().fit(X, y)
    margins = respond(svm, X, classes, positive, "auto")
    assert not margins.probability
    correct = np.mean((margins.score > 0) == (y == positive))
    assert correct == svm.score(X, y)


def test_models_that_have_no_scores_are_told_what_to_do():
    class Mute:
        pass

    with pytest.raises(
        ValueError, match=r"Mute has no predict_proba and no decision_function.*MinimumCost"
    ):
        respond(Mute(), None, np.array([0, 1]), 1, "auto")


def test_costs_and_positive_class_must_agree():
    classes = np.array(["bad", "good"])
    named = Costs(1, 2, positive="bad")
    assert positive_class(named, None, classes) == positive_class(named, "bad", classes) == "bad"
    assert positive_class(None, "good", classes) == "good"
    with pytest.raises(ValueError, match=r"pos_label='good', but these costs are for .* 'bad'"):
        positive_class(named, "good", classes)
    with pytest.raises(ValueError, match="do not tell which is positive"):
        positive_class(None, None, classes)


def test_costs_that_leave_the_positive_class_open_take_the_one_given():
    y = np.array(["bad", "good"])
    bound = bound_costs({"fp": 3, "fn": 7}, y, "bad")
    assert bound.positive == "bad"
    assert bound.of_labels(y).tolist() == [[0, 7], [3, 0]]
    assert bound_costs(None, y, "good").of_labels(y).tolist() == [[0, 1], [1, 0]]
    assert bound_costs(None, np.array([1, 1])).classes.tolist() == [0, 1]


def test_costs_of_a_model_are_taken_over_only_where_they_have_a_threshold():
    class Fitted:
        costs_ = Costs(1, 9)
        costs_per_row_ = True

    with pytest.warns(UserWarning, match="Fitted was fitted with costs per row"):
        assert fitted_costs(Fitted()) is Fitted.costs_
    assert fitted_costs(Fitted(), warn=False) is Fitted.costs_
    Fitted.costs_ = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=[0, 1], actions=["home", "look", "operate"]
    )
    assert fitted_costs(Fitted()) is None
    Fitted.costs_ = {"fp": 1}
    assert fitted_costs(Fitted()) is None
    assert fitted_costs(GaussianNB()) is None

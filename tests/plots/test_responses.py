"""Scores of the positive class and costs of two classes, for models of all kinds."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from costboost.costs import Costs
from costboost.estimators.wrappers import MinimumCostClassifier
from costboost.plots import BrierCurveDisplay, CostCurveDisplay, ThresholdCostDisplay
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

"""Any classifier, calibrated, deciding by the cheapest expected cost."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import Costs, MinimumCostClassifier
from wrapped_rows import DEAR, problem


@parametrize_with_checks([MinimumCostClassifier(LogisticRegression(), cv=2, random_state=0)])
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_decisions_are_the_cheapest_by_the_probabilities():
    X, y = problem()
    model = MinimumCostClassifier(GaussianNB(), cv=3, random_state=0).fit(X, y, costs=DEAR)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1.0)
    assert_array_equal(model.predict(X), np.argmin(p @ DEAR, axis=1))
    assert_allclose(model.decision_function(X), -(p @ DEAR))
    other = 1 - np.eye(3)
    assert_array_equal(model.predict(X, costs=other), np.argmax(p, axis=1))


def test_costs_change_no_probability():
    X, y = problem()
    one, other = (
        MinimumCostClassifier(LogisticRegression(), cv=3, random_state=0).fit(X, y, costs=costs)
        for costs in (None, 1e6 * DEAR)
    )
    assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_two_classes_have_a_saving():
    X, y = problem(K=2)
    amount = np.random.default_rng(0).lognormal(size=300)
    model = MinimumCostClassifier(LogisticRegression(), cv=3, random_state=0).fit(X, y)
    p, saved = model.predict_proba(X)[:, 1], model.decision_function(X, Costs(fp=2, fn=amount))
    assert_allclose(saved, p * amount - (1 - p) * 2)
    assert_array_equal(model.predict(X, costs=Costs(fp=2, fn=amount)), saved > 0)


def test_without_calibration_probabilities_are_the_estimators():
    X, y = problem()
    model = MinimumCostClassifier(GaussianNB(), calibration=None).fit(X, y)
    assert_allclose(model.predict_proba(X), GaussianNB().fit(X, y).predict_proba(X))


@pytest.mark.parametrize("way", ["frozen", "prefit"])
def test_a_fitted_estimator_is_only_calibrated(way):
    X, y = problem(K=2)
    fitted = LinearSVC().fit(X[:150], y[:150])
    kept = fitted.coef_.copy()
    if way == "frozen":
        model = MinimumCostClassifier(FrozenEstimator(fitted))
    else:
        model = MinimumCostClassifier(fitted, cv="prefit")
    model.fit(X[150:], y[150:])
    assert_array_equal(fitted.coef_, kept)
    theirs = CalibratedClassifierCV(FrozenEstimator(fitted), method="sigmoid")
    assert_allclose(
        model.predict_proba(X),
        theirs.fit(X[150:], y[150:]).predict_proba(X),
        atol=1e-4,
    )


def test_a_fold_that_lacks_a_class_says_nothing_of_it():
    X, y = problem()
    y[:] = np.where(y == 2, 1, y)
    y[:4] = 2
    rows = np.arange(300)
    folds = [(rows[100:], rows[:100]), (rows[4:100], rows[100:])]  # neither trains on class 2
    for estimator in (GaussianNB(), LinearSVC(), LogisticRegression()):
        model = MinimumCostClassifier(estimator, cv=folds).fit(X, y)
        p = model.predict_proba(X)
        assert np.all(np.isfinite(p))
        assert_allclose(p.sum(axis=1), 1.0)
        assert_allclose(p[:, 2], p[0, 2], atol=0.05)  # its share, whatever the row


def test_weights_and_other_parameters_are_cut_by_rows():
    X, y = problem(K=2)
    weights = np.linspace(0.1, 2.0, 300)

    seen = []

    class Weighed(GaussianNB):
        def fit(self, X, y, sample_weight=None, note=None):
            seen.append((len(X), sample_weight, note))
            return super().fit(X, y, sample_weight)

    rows = np.arange(300)
    folds = [(rows[100:], rows[:100]), (rows[:100], rows[100:])]
    model = MinimumCostClassifier(Weighed(), cv=folds)
    model.fit(X, y, sample_weight=weights, note="whole")
    for (train, _), (n, mine, note) in zip(folds, seen, strict=True):
        assert n == len(train)
        assert_array_equal(mine, weights[train])
        assert note == "whole"


def test_an_estimator_without_weights_is_told_of():
    X, y = problem(K=2)
    model = MinimumCostClassifier(KNeighborsClassifier(), cv=2)
    with pytest.warns(UserWarning, match="KNeighborsClassifier.fit takes no sample_weight"):
        model.fit(X, y, sample_weight=np.linspace(1, 2, 300))


def test_with_routing_the_estimator_gets_what_it_requests():
    X, y = problem(K=2)
    weights = np.where(y == 1, 9.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        refused = LogisticRegression().set_fit_request(sample_weight=False)
        inner = [
            MinimumCostClassifier(estimator, calibration=None)
            .fit(X, y, sample_weight=weights)
            .calibration_.models[0]
            for estimator in (asked, refused)
        ]
    for model, given in zip(inner, (weights, None), strict=True):
        assert_allclose(model.coef_, LogisticRegression().fit(X, y, given).coef_)


def test_an_estimator_without_scores_is_refused():
    class Silent(KNeighborsClassifier):
        predict_proba = property()

    X, y = problem(K=2)
    with pytest.raises(ValueError, match="Silent has neither predict_proba nor decision_function"):
        MinimumCostClassifier(Silent()).fit(X, y)
    with pytest.raises(ValueError, match="calibration='platt'"):
        MinimumCostClassifier(Perceptron(), calibration="platt").fit(X, y)

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_validate,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier
from costboost.calibration import CALIBRATORS, calibration_splits
from costboost.costs import Costs, uncertain
from costboost.decisions import CostDecisionMixin, fit_costs, typical_costs
from costboost.estimators.wrappers import MinimumCostClassifier

METHODS = list(CALIBRATORS)


@parametrize_with_checks(
    [
        MinimumCostClassifier(LogisticRegression()),
        MinimumCostClassifier(LogisticRegression(), calibration=None),
        MinimumCostClassifier(LogisticRegression(), calibration="beta", cv=0.5),
        MinimumCostClassifier(
            DecisionTreeClassifier(max_depth=3, random_state=0), calibration="isotonic"
        ),
        MinimumCostClassifier(LogisticRegression(), calibration="temperature", ensemble=False),
    ]
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    labels = np.where(y == 0, "malignant", "benign")
    return train_test_split(X[:, :8], labels, test_size=0.5, random_state=0, stratify=y)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    labels = load_iris().target_names[y]
    return train_test_split(X, labels, test_size=0.5, random_state=0, stratify=y)


def amounts(X, seed=0, positive="malignant"):
    """A price for each row: what missing it costs."""
    prices = np.random.default_rng(seed).uniform(1, 50, len(X))
    return Costs(fp=1, fn=prices, positive=positive)


# -- end to end ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ensemble", [True, False])
def test_breast_cancer(cancer, method, ensemble):
    X, X_test, y, y_test = cancer
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    model = MinimumCostClassifier(
        inner,
        calibration=method,
        ensemble=ensemble,
        costs={"fp": 1, "fn": 20, "positive": "malignant"},
    )
    model.set_params(random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["benign", "malignant"]
    proba = model.predict_proba(X_test)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    decided = model.predict(X_test)
    np.testing.assert_array_equal(decided == "malignant", proba[:, 1] > 1 / 21)
    expected = model.expected_cost(X_test)
    np.testing.assert_allclose(expected, np.column_stack([20 * proba[:, 1], proba[:, 0]]))
    wrong = np.where(y_test == "malignant", 20, 1) * (decided != y_test)
    assert model.score(X_test, y_test) == pytest.approx(-wrong.mean())
    cheapest_constant = min(20 * np.mean(y_test == "malignant"), np.mean(y_test == "benign"))
    assert -model.score(X_test, y_test) < 0.6 * cheapest_constant


@pytest.mark.parametrize("method", METHODS)
def test_three_classes(iris, method):
    X, X_test, y, y_test = iris
    C = np.array([[0, 1, 1], [1, 0, 1], [50, 9, 0]])
    costs = Costs.from_matrix(C, classes=["setosa", "versicolor", "virginica"])
    model = MinimumCostClassifier(
        LogisticRegression(max_iter=1000), calibration=method, random_state=0
    ).fit(X, y, costs=costs)
    proba = model.predict_proba(X_test)
    np.testing.assert_allclose(model.expected_cost(X_test), proba @ C)
    decided = model.predict(X_test)
    np.testing.assert_array_equal(decided, model.classes_[(proba @ C).argmin(axis=1)])
    codes = np.searchsorted(model.classes_, y_test), np.searchsorted(model.classes_, decided)
    assert model.score(X_test, y_test) == pytest.approx(-C[codes].mean())
    assert np.sum(decided == "virginica") >= np.sum(proba.argmax(axis=1) == 2)
    np.testing.assert_array_equal(
        model.decision_function(X_test).argmax(axis=1), (proba @ C).argmin(axis=1)
    )


def test_sigmoid_ensemble_agrees_with_scikit_learn(cancer):
    X, X_test, y, _ = cancer
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    codes = np.searchsorted(["benign", "malignant"], y)
    splits = calibration_splits(codes, 5, random_state=0)
    for ensemble in (True, False):
        theirs = CalibratedClassifierCV(inner, cv=splits, ensemble=ensemble).fit(X, y)
        ours = MinimumCostClassifier(inner, random_state=0, ensemble=ensemble).fit(X, y)
        np.testing.assert_allclose(
            ours.predict_proba(X_test), theirs.predict_proba(X_test), atol=1e-3
        )


def test_new_prices_train_nothing(cancer, monkeypatch):
    X, X_test, y, _ = cancer
    model = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    proba = model.predict_proba(X_test)
    monkeypatch.setattr(GaussianNB, "fit", lambda *a, **k: pytest.fail("trained again"))
    positive = [
        np.sum(
            model.predict(X_test, costs={"fp": 1, "fn": fn, "positive": "malignant"}) == "malignant"
        )
        for fn in (0.01, 0.1, 1, 10, 100)
    ]
    assert positive == sorted(positive)
    assert positive[0] < positive[-1]
    np.testing.assert_array_equal(model.predict_proba(X_test), proba)


def test_costs_do_not_change_probabilities(cancer):
    X, X_test, y, _ = cancer
    plain = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    priced = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y, costs=amounts(X))
    np.testing.assert_array_equal(plain.predict_proba(X_test), priced.predict_proba(X_test))


def test_other_actions(cancer):
    X, X_test, y, y_test = cancer
    C = np.array([[0, 1, 6], [30, 2, 0]])
    actions = ["approve", "review", "decline"]
    costs = Costs.from_matrix(C, classes=["benign", "malignant"], actions=actions)
    model = MinimumCostClassifier(GaussianNB(), costs=costs, random_state=0).fit(X, y)
    proba = model.predict_proba(X_test)
    assert model.expected_cost(X_test).shape == (len(X_test), 3)
    decided = model.predict(X_test)
    best = (proba @ C).argmin(axis=1)
    np.testing.assert_array_equal(decided, np.array(actions)[best])
    truth = (y_test == "malignant").astype(int)
    assert model.score(X_test, y_test) == pytest.approx(-C[truth, best].mean())
    np.testing.assert_allclose(model.decision_function(X_test), -(proba @ C))


def test_positive_may_be_the_first_class(cancer):
    X, X_test, y, _ = cancer
    costs = Costs(fp=1, fn=9, positive="benign")
    model = MinimumCostClassifier(GaussianNB(), costs=costs, random_state=0).fit(X, y)
    p = model.predict_proba(X_test)[:, 0]
    np.testing.assert_array_equal(model.predict(X_test) == "benign", p > 0.1)
    np.testing.assert_array_equal(model.decision_function(X_test) < 0, p > 0.1)


# -- costs at fit and at predict ----------------------------------------------------------------


def test_costs_of_fit_override_the_constructor(cancer):
    X, X_test, y, _ = cancer
    model = MinimumCostClassifier(
        GaussianNB(), costs={"fp": 1, "fn": 1, "positive": "malignant"}, random_state=0
    )
    assert model.fit(X, y).costs_ == Costs(fp=1, fn=1, positive="malignant").bind(
        ["benign", "malignant"]
    )
    model.fit(X, y, costs={"fp": 1, "fn": 30, "positive": "malignant"})
    p = model.predict_proba(X_test)[:, 1]
    np.testing.assert_array_equal(model.predict(X_test) == "malignant", p > 1 / 31)
    np.testing.assert_array_equal(
        model.predict(X_test, costs={"fp": 3, "fn": 1, "positive": "malignant"}) == "malignant",
        p > 3 / 4,
    )


def test_mistakes_cost_one_without_costs(cancer):
    X, X_test, y, y_test = cancer
    model = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    assert model.score(X_test, y_test) == pytest.approx(-np.mean(model.predict(X_test) != y_test))


def test_costs_per_row_at_predict(cancer):
    X, X_test, y, y_test = cancer
    model = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    fn = np.random.default_rng(0).uniform(0.1, 50, len(X_test))
    costs = Costs(fp=1, fn=fn, positive="malignant")
    p = model.predict_proba(X_test)[:, 1]
    decided = model.predict(X_test, costs=costs)
    np.testing.assert_array_equal(decided == "malignant", p > 1 / (1 + fn))
    paid = np.where(y_test == "malignant", fn, 1) * (decided != y_test)
    assert model.score(X_test, y_test, costs=costs) == pytest.approx(-paid.mean())
    w = np.arange(len(X_test))
    got = model.score(X_test, y_test, sample_weight=w, costs=costs)
    assert got == pytest.approx(-np.average(paid, weights=w))
    with pytest.raises(ValueError, match="rows"):
        model.predict(X_test, costs=costs[:5])


def test_costs_per_row_at_fit_leave_their_mean_with_a_warning(cancer):
    X, X_test, y, y_test = cancer
    costs = amounts(X)
    w = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    model = MinimumCostClassifier(GaussianNB(), random_state=0)
    model.fit(X, y, sample_weight=w, costs=costs)
    mean = np.average(np.asarray(costs.bind(model.classes_))[:, 1, 0], weights=w)
    p = model.predict_proba(X_test)[:, 1]
    assert model.costs_per_row_
    assert model.costs_.is_constant
    with pytest.warns(UserWarning, match="their mean"):
        decided = model.predict(X_test)
    np.testing.assert_array_equal(decided == "malignant", p > 1 / (1 + mean))
    for call in (model.expected_cost, model.decision_function):
        with pytest.warns(UserWarning, match="their mean"):
            call(X_test)
    with pytest.warns(UserWarning, match="their mean"):
        model.score(X_test, y_test)
    model.predict(X_test, costs={"fp": 1, "fn": 2, "positive": "malignant"})  # says nothing


@pytest.mark.parametrize(("action", "times"), [("default", 1), ("always", 4), ("ignore", 0)])
def test_the_mean_of_costs_per_row_is_warned_of_as_the_filter_says(action, times):
    """By default once for all folds, whose means differ, although scikit-learn resets filters."""
    X, y = make_classification(200, random_state=0)
    model = MinimumCostClassifier(GaussianNB(), cv=3, random_state=0)
    params = {"costs": amounts(X, positive=1)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        found = cross_validate(model, X, y, params=params, cv=4, return_estimator=True)
    assert len({repr(fitted.costs_) for fitted in found["estimator"]}) == 4
    assert sum("their mean" in str(w.message) for w in caught) == times
    with pytest.raises(UserWarning, match="their mean"):  # where warnings are errors, every time
        found["estimator"][0].predict(X)


def test_the_constructor_takes_constants_only(cancer):
    X, _, y, _ = cancer
    with pytest.raises(ValueError, match="constant costs"):
        MinimumCostClassifier(GaussianNB(), costs=amounts(X)).fit(X, y)


def test_the_price_of_each_answer_is_refused_at_prediction_and_paid_in_score(cancer):
    X, X_test, y, y_test = cancer
    prices = np.random.default_rng(0).uniform(1, 9, (len(X_test), 2))
    prices[np.arange(len(X_test)), np.searchsorted(["benign", "malignant"], y_test)] = 0
    costs = Costs.of_rows(prices, classes=["benign", "malignant"])
    model = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    for call in (model.predict, model.expected_cost, model.decision_function):
        with pytest.raises(ValueError, match="truth"):
            call(X_test, costs=costs)
    decided = np.searchsorted(model.classes_, model.predict(X_test))
    paid = prices[np.arange(len(X_test)), decided]
    assert model.score(X_test, y_test, costs=costs) == pytest.approx(-paid.mean())


def test_prices_of_rows_are_averaged_within_each_class():
    bound = Costs.of_rows([1.0, 3.0, 9.0]).bind([0, 1])
    assert typical_costs(bound, [0, 0, 1]) == Costs(fp=2, fn=9).bind([0, 1])
    # No weighted row of class 1: over all rows.
    got = typical_costs(bound, [0, 0, 1], [1, 1, 0])
    np.testing.assert_allclose(got.expected([[0.5, 0.5]]), [[1.0, 1.0]])
    answers = Costs.of_rows([[0.0, 1.0], [0.0, 3.0], [9.0, 0.0]]).bind([0, 1])
    assert typical_costs(answers, [0, 0, 1]) == Costs(fp=2, fn=9).bind([0, 1])


def test_fit_costs_defaults_to_one_per_mistake():
    np.testing.assert_array_equal(
        fit_costs(None, None, ["a", "b", "c"], 4).of_labels(["b"]), [[1, 0, 1]]
    )


def test_wrong_labels_in_score(cancer):
    X, X_test, y, y_test = cancer
    model = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="unknown"):
        model.score(X_test, np.where(y_test == "benign", "unknown", y_test))


# -- which estimators, which rows ---------------------------------------------------------------


@pytest.mark.parametrize("method", [m for m in METHODS if m is not None])
def test_margins_only(cancer, method):
    X, X_test, y, y_test = cancer
    inner = make_pipeline(StandardScaler(), Perceptron(random_state=0))
    model = MinimumCostClassifier(inner, calibration=method, random_state=0).fit(X, y)
    assert -model.score(X_test, y_test) < 0.15


def test_none_needs_probabilities(cancer):
    X, _, y, _ = cancer
    with pytest.raises(ValueError, match="Margins are not probabilities"):
        MinimumCostClassifier(Perceptron(), calibration=None).fit(X, y)


def test_no_scores_at_all(cancer):
    class Mute(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            return self

    X, _, y, _ = cancer
    with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
        MinimumCostClassifier(Mute()).fit(X, y)


def test_unknown_calibration(cancer):
    X, _, y, _ = cancer
    with pytest.raises(ValueError, match="'platt' is not known"):
        MinimumCostClassifier(GaussianNB(), calibration="platt").fit(X, y)


@pytest.mark.parametrize("method", METHODS)
def test_prefit(cancer, method):
    X, X_test, y, y_test = cancer
    inner = GaussianNB().fit(X[:140], y[:140])
    frozen = MinimumCostClassifier(FrozenEstimator(inner), calibration=method)
    frozen.fit(X[140:], y[140:])
    named = MinimumCostClassifier(inner, calibration=method, cv="prefit").fit(X[140:], y[140:])
    np.testing.assert_array_equal(frozen.predict_proba(X_test), named.predict_proba(X_test))
    assert named.calibration_.models[0] is inner
    assert clone(frozen).fit(X[140:], y[140:]).score(X_test, y_test) > -0.15
    if method is None:
        np.testing.assert_allclose(named.predict_proba(X_test), inner.predict_proba(X_test))


def test_prefit_keeps_the_classes_of_the_estimator(iris):
    X, X_test, y, _ = iris
    inner = LogisticRegression(max_iter=1000).fit(X, y)
    rows = y != "setosa"
    model = MinimumCostClassifier(FrozenEstimator(inner)).fit(X[rows], y[rows])
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.predict_proba(X_test).shape == (len(X_test), 3)


def test_prefit_must_be_fitted(cancer):
    X, _, y, _ = cancer
    with pytest.raises(NotFittedError):
        MinimumCostClassifier(GaussianNB(), cv="prefit").fit(X, y)


def test_held_out_share(cancer):
    X, X_test, y, y_test = cancer
    model = MinimumCostClassifier(GaussianNB(), cv=0.5, random_state=0).fit(X, y)
    assert len(model.calibration_.models) == 1
    assert model.calibration_.models[0].class_count_.sum() == pytest.approx(len(X) / 2, abs=1)
    assert model.score(X_test, y_test) > -0.15


class Recorder(ClassifierMixin, BaseEstimator):
    """A nearest-mean classifier that keeps what it was trained with."""

    def fit(self, X, y, sample_weight=None, tag=None, costs=None):
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == k].mean(axis=0) for k in self.classes_])
        self.seen_ = {"X": X, "weight": sample_weight, "tag": tag, "costs": costs}
        return self

    def predict_proba(self, X):
        near = np.exp(-((X[:, None, :] - self.means_) ** 2).sum(axis=2))
        near += 1e-12
        return near / near.sum(axis=1, keepdims=True)


def table(n=90, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(size=(n, 2)) + y[:, None]
    return X, y


def test_a_fold_that_lacks_a_class():
    X, y = table(240, n_classes=3)
    (train, test), *others = StratifiedKFold(4).split(X, y)
    splits = [(train[y[train] != 2], test), *others]
    for method in METHODS[1:]:
        for ensemble in (True, False):
            model = MinimumCostClassifier(
                Recorder(), calibration=method, cv=splits, ensemble=ensemble
            ).fit(X, y)
            proba = model.predict_proba(X)
            np.testing.assert_allclose(proba.sum(axis=1), 1)
            assert np.mean(model.predict(X) == y) > 0.5
    margins = MinimumCostClassifier(LogisticRegression(), cv=splits).fit(X, y)
    assert np.mean(margins.predict(X) == y) > 0.5


def test_few_rows_of_a_class_reduce_the_folds():
    X, y = table(40)
    y[:] = 0
    y[:3] = 1
    model = MinimumCostClassifier(Recorder(), cv=10, random_state=0).fit(X, y)
    assert model.calibration_.n_folds == 3
    y[1:3] = 0
    with pytest.warns(UserWarning, match="single row"):
        MinimumCostClassifier(Recorder(), cv=10, random_state=0).fit(X, y)


def test_two_rows():
    with pytest.warns(UserWarning, match="single row"):
        model = MinimumCostClassifier(Recorder()).fit(np.array([[0.0], [3.0]]), [0, 1])
    assert model.predict(np.array([[0.0], [3.0]])).tolist() == [0, 1]


def test_groups():
    X, y = table(100)
    groups = np.arange(100) // 5
    for cv in (4, 0.3, GroupKFold(4)):
        model = MinimumCostClassifier(Recorder(), cv=cv, random_state=0)
        model.fit(np.column_stack([X, groups]), y, groups=groups)
        for inner in model.calibration_.models:
            seen = set(inner.seen_["X"][:, 2])
            rows = sum(np.isin(groups, list(seen)))
            assert rows == len(inner.seen_["X"])  # whole groups


def test_fit_parameters_are_cut_by_rows():
    X, y = table(60)
    model = MinimumCostClassifier(Recorder(), cv=3, random_state=0)
    w = np.arange(1.0, 61.0)
    model.fit(np.column_stack([X, w]), y, sample_weight=w, tag=w.tolist())
    for inner in model.calibration_.models:
        np.testing.assert_array_equal(inner.seen_["weight"], inner.seen_["X"][:, 2])
        np.testing.assert_array_equal(inner.seen_["tag"], inner.seen_["X"][:, 2])
    model.fit(X, y, tag="whole")
    assert model.calibration_.models[0].seen_["tag"] == "whole"


def test_an_estimator_without_weights_says_so():
    X, y = table(60)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        MinimumCostClassifier(inner, random_state=0).fit(X, y, sample_weight=np.ones(60))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frozen = FrozenEstimator(inner.fit(X, y))
        MinimumCostClassifier(frozen).fit(X, y, sample_weight=np.ones(60))


def test_weights_of_zero_are_absent_rows():
    X, y = table(120)
    keep = np.arange(120) % 4 != 0
    for ensemble in (True, False):
        model = MinimumCostClassifier(GaussianNB(), random_state=0, ensemble=ensemble)
        weighted = model.fit(X, y, sample_weight=keep * 1.0).predict_proba(X)
        absent = model.fit(X[keep], y[keep], sample_weight=np.ones(keep.sum())).predict_proba(X)
        np.testing.assert_allclose(weighted, absent, atol=1e-9)


def test_data_frames_keep_their_names(cancer):
    X, X_test, y, _ = cancer
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    inner = RandomForestClassifier(5, random_state=0)
    model = MinimumCostClassifier(inner, random_state=0).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert model.n_features_in_ == X.shape[1]
    model.predict(pd.DataFrame(X_test, columns=frame.columns))


def test_parallel_and_pickled(cancer):
    X, X_test, y, _ = cancer
    one = MinimumCostClassifier(GaussianNB(), random_state=0).fit(X, y)
    two = MinimumCostClassifier(GaussianNB(), random_state=0, n_jobs=2).fit(X, y)
    copy = pickle.loads(pickle.dumps(two))
    np.testing.assert_array_equal(one.predict_proba(X_test), copy.predict_proba(X_test))


# -- scikit-learn around it ---------------------------------------------------------------------


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def fold_costs(model, X, y, costs, cv):
    """What GridSearchCV and cross_validate should report: each test fold at its own prices."""
    scores = []
    for train, test in cv.split(X, y):
        fitted = clone(model).fit(X[train], y[train], costs=costs[train])
        scores.append(fitted.score(X[test], y[test], costs=costs[test]))
    return scores


@pytest.mark.usefixtures("routing")
def test_cross_validate_routes_costs_per_row():
    X, y = make_classification(300, random_state=0, flip_y=0.2)
    costs, cv = amounts(X, positive=1), StratifiedKFold(3)
    model = MinimumCostClassifier(GaussianNB(), cv=3, random_state=0)
    result = cross_validate(model, X, y, cv=cv, params={"costs": costs})
    np.testing.assert_allclose(result["test_score"], fold_costs(model, X, y, costs, cv))


@pytest.mark.usefixtures("routing")
def test_grid_search_routes_costs_per_row_and_weights():
    X, y = make_classification(300, random_state=0, flip_y=0.2)
    costs, cv = amounts(X, positive=1), StratifiedKFold(3)
    inner = DecisionTreeClassifier(random_state=0).set_fit_request(sample_weight=True)
    model = MinimumCostClassifier(inner, cv=3, random_state=0)
    model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
    grid = GridSearchCV(model, {"estimator__max_depth": [1, 4]}, cv=cv)
    grid.fit(X, y, costs=costs, sample_weight=np.ones(300))
    expected = [
        np.mean(fold_costs(clone(model).set_params(estimator__max_depth=d), X, y, costs, cv))
        for d in (1, 4)
    ]
    np.testing.assert_allclose(grid.cv_results_["mean_test_score"], expected)
    assert grid.best_estimator_.costs_per_row_


@pytest.mark.usefixtures("routing")
def test_routing_reaches_an_estimator_that_requests_costs():
    X, y = table(60)
    costs = amounts(X, positive=1)
    inner = Recorder().set_fit_request(costs=True, sample_weight=True)
    model = MinimumCostClassifier(inner, cv=3, random_state=0)
    model.fit(X, y, costs=costs, sample_weight=np.arange(1.0, 61.0))
    splits = calibration_splits(y, 3, random_state=0)
    for (train, _), fitted in zip(splits, model.calibration_.models, strict=True):
        assert fitted.seen_["costs"] == costs[train]
        np.testing.assert_array_equal(fitted.seen_["weight"], train + 1.0)
    deaf = MinimumCostClassifier(
        Recorder().set_fit_request(costs=False, sample_weight=False), cv=3, random_state=0
    )
    deaf.fit(X, y, costs=costs, sample_weight=np.ones(60))
    assert deaf.calibration_.models[0].seen_["costs"] is None
    assert deaf.calibration_.models[0].seen_["weight"] is None


@pytest.mark.usefixtures("routing")
def test_costs_are_requested_by_default():
    X, y = table(60)
    model = MinimumCostClassifier(GaussianNB(), cv=3, random_state=0)
    pipe = make_pipeline(StandardScaler(), model).fit(X, y, costs=amounts(X, positive=1))
    decided = pipe.predict(X, costs={"fp": 1, "fn": 1e9})
    assert decided.all()
    assert pipe.score(X, y, costs={"fp": 1, "fn": 1, "tp": 1, "tn": 1}) < 0


def test_without_routing_a_grid_search_still_cuts_costs():
    X, y = make_classification(200, random_state=0)
    model = MinimumCostClassifier(GaussianNB(), cv=3, random_state=0)
    grid = GridSearchCV(model, {"calibration": ["sigmoid", "isotonic"]}, cv=3)
    with pytest.warns(UserWarning, match="their mean"):
        grid.fit(X, y, costs=amounts(X, positive=1))
    assert grid.best_score_ > -10


# -- the mixin, as other classifiers use it -----------------------------------------------------


class Constant(CostDecisionMixin, ClassifierMixin, BaseEstimator):
    """Predicts the prior."""

    def __init__(self, costs=None):
        self.costs = costs

    def fit(self, X, y, sample_weight=None, costs=None):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.trained_on_ = self._set_costs(costs, y, sample_weight)
        self.prior_ = np.bincount(codes, sample_weight) / np.bincount(codes, sample_weight).sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.prior_, (len(X), 1))


def test_the_mixin_alone():
    X, y = np.zeros((4, 1)), np.array(["no", "no", "no", "yes"])
    model = Constant(costs={"fp": 1, "fn": 4, "positive": "yes"}).fit(X, y)
    assert model.predict(X).tolist() == ["yes"] * 4
    assert model.predict(X, costs={"fp": 1, "fn": 2, "positive": "yes"}).tolist() == ["no"] * 4
    assert model.expected_cost(X[:1]).tolist() == [[1.0, 0.75]]
    assert model.score(X, y) == -0.75
    own = Costs(fp=1, fn=[1, 9, 2, 4], positive="yes")
    assert model.predict(X, costs=own).tolist() == ["no", "yes", "no", "yes"]
    model.fit(X, y, costs=own)
    assert model.trained_on_ == own.bind(["no", "yes"])
    assert model.costs_ == Costs(fp=1, fn=4, positive="yes").bind(["no", "yes"])


def test_a_subclass_may_refuse_to_price_its_probabilities():
    class Tilted(Constant):
        def _decision_proba(self, X, costs):
            if costs is not None:
                raise ValueError("name a calibration=")
            return self.predict_proba(X)

    model = Tilted().fit(np.zeros((2, 1)), [0, 1])
    model.predict(np.zeros((2, 1)))
    for call in (model.predict, model.expected_cost):
        with pytest.raises(ValueError, match="calibration="):
            call(np.zeros((2, 1)), costs={"fp": 1, "fn": 2})
    with pytest.raises(ValueError, match="calibration="):
        model.score(np.zeros((2, 1)), [0, 1], costs={"fp": 1, "fn": 2})


@pytest.mark.usefixtures("routing")
def test_the_mixin_requests_costs():
    routing = Constant().get_metadata_routing()
    for method in ("fit", "predict", "score"):
        assert getattr(routing, method).requests["costs"] is True


def test_weights_and_costs_whose_sum_no_number_holds_are_refused():
    X, y = np.arange(8.0)[:, None], np.array([0, 1] * 4)
    model = CostBoostClassifier("adaboost", n_estimators=1, costs={"fp": 1e10, "fn": 1})
    with pytest.raises(ValueError, match="more than 1e308"):
        model.fit(X, y, sample_weight=np.full(8, 1e300))


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars"])
def test_expected_cost_with_its_interval(kind):
    """The same numbers in every kind of table; classes that are text, the positive sorted first."""
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=200), "amount": np.exp(rng.normal(size=200))}
    made = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
    X = made[kind](columns) if kind in made else np.column_stack(list(columns.values()))
    y = np.where(columns["a"] + rng.normal(size=200) > 1, "bad", "good")
    price = uncertain(columns["amount"], low=0.5, high=2)
    costs = Costs(fp=uncertain(2, draws=[1, 3, 2]), fn=price, positive="bad")
    model = CostBoostClassifier("adamec", n_estimators=3, random_state=0).fit(X, y, costs=costs)
    found = model.expected_cost(X, costs, interval=0.9)
    bound = costs.bind(model.classes_)
    expected = bound.expected(model.predict_proba(X), interval=0.9)
    if kind == "numpy":
        np.testing.assert_array_equal(found, expected)
        return
    names = ["bad", "bad low", "bad high", "good", "good low", "good high"]
    assert list(found.columns) == names
    np.testing.assert_array_equal(np.asarray(found), expected.reshape(200, 6))
    model.set_output(transform="default")
    with pytest.raises(ValueError, match="every price of these costs is certain"):
        model.expected_cost(X, costs.at(), interval=0.9)

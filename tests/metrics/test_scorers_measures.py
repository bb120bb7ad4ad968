"""What the cost scorer decides and measures, by hand, and through the plumbing of scikit-learn."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB

from cost_recorders import Recorder, cost_by_fold
from costboost.costs import Costs
from costboost.metrics import (
    make_cost_scorer,
    mean_cost,
    mean_regret,
    normalized_cost,
    savings_score,
    total_cost,
)


@pytest.mark.parametrize("kind", ["mean", "total", "normalized", "regret", "savings"])
def test_scorers_decide_with_costs_and_measure_them(case, kind):
    X, y, costs, amount = case
    model = Recorder().fit(X, y)
    decided = (X[:, 1] > 5 / (5 + amount)).astype(int)
    measure = {
        "mean": mean_cost,
        "total": total_cost,
        "normalized": normalized_cost,
        "regret": mean_regret,
        "savings": savings_score,
    }[kind]
    sign = 1 if kind == "savings" else -1
    w = np.arange(60.0)
    for scorer, options in (
        (make_cost_scorer(kind=kind), {"costs": costs}),
        (make_cost_scorer(costs, kind=kind), {}),
    ):
        found = scorer(model, X, y, sample_weight=w, **options)
        assert found == pytest.approx(sign * measure(y, decided, costs=costs, sample_weight=w))


def test_scorers_keep_costs_in_cross_validate_with_routing(case):
    X, y, costs, amount = case
    with sklearn.config_context(enable_metadata_routing=True):
        result = cross_validate(
            Recorder(),
            X,
            y,
            cv=KFold(3),
            params={"costs": costs},
            scoring={"cost": make_cost_scorer(), "savings": make_cost_scorer(kind="savings")},
            return_estimator=True,
            error_score="raise",
        )
        np.testing.assert_allclose(
            -result["test_cost"], cost_by_fold(X, y, amount, KFold(3).split(X))
        )
        assert len(result["estimator"][0].costs_) == 40
        single = cross_validate(
            Recorder(), X, y, cv=KFold(3), params={"costs": costs}, scoring=make_cost_scorer()
        )
        np.testing.assert_allclose(single["test_score"], result["test_cost"])


def test_scorers_keep_costs_in_a_search_with_routing(case):
    X, y, costs, amount = case
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            Recorder(), {"power": [1.0, 5.0]}, cv=KFold(3), scoring=make_cost_scorer()
        )
        search = clone(search).fit(X, y, costs=costs)
        means = -search.cv_results_["mean_test_score"]
        np.testing.assert_allclose(means[0], np.mean(cost_by_fold(X, y, amount, KFold(3).split(X))))
        scorer = make_cost_scorer().set_score_request(costs="prices", sample_weight=True)
        result = cross_validate(
            GaussianNB().set_fit_request(sample_weight=True),
            X,
            y,
            params={"prices": costs, "sample_weight": np.ones(60)},
            scoring=scorer,
            error_score="raise",
        )
        assert (result["test_score"] <= 0).all()


def test_scorers_refuse_to_score_without_costs(case):
    X, y, costs, _ = case
    scorer = make_cost_scorer()
    with pytest.raises(ValueError, match="cross_validate_cost"):
        scorer(Recorder().fit(X, y), X, y)
    # Routing off: scikit-learn gives costs to fit alone.
    with pytest.raises(ValueError, match="no costs reached"):
        cross_validate(
            Recorder(), X, y, params={"costs": costs}, scoring=scorer, error_score="raise"
        )
    with pytest.raises(ValueError, match="costs for 60 rows"):
        cross_validate(Recorder(), X, y, scoring=make_cost_scorer(costs), error_score="raise")
    with pytest.raises(ValueError, match="kind"):
        make_cost_scorer(kind="median")
    with pytest.raises(ValueError, match="decide"):
        make_cost_scorer(decide="guess")


def test_scorers_with_constant_costs_work_everywhere(case, routing):
    X, y, _, _ = case
    scorer = make_cost_scorer({"fp": 1, "fn": 4})
    # params={}: scikit-learn 1.6.0 with routing on fails without.
    result = cross_validate(
        Recorder(), X, y, cv=KFold(3), scoring=scorer, params={}, error_score="raise"
    )
    folds = KFold(3).split(X)
    wanted = [-mean_cost(y[t], (X[t, 1] > 0.2) * 1, costs={"fp": 1, "fn": 4}) for _, t in folds]
    np.testing.assert_allclose(result["test_score"], wanted)
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, scoring=scorer)
    assert search.fit(X, y).best_score_ <= 0


def test_scorers_of_searches_with_weights_and_several_metrics(case):
    X, y, _, _ = case
    scoring = {"cost": make_cost_scorer({"fp": 1, "fn": 4}), "accuracy": "accuracy"}
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9]}, scoring=scoring, refit="cost")
    assert search.fit(X, y, sample_weight=np.ones(60)).best_score_ <= 0


def test_scorers_pickle_clone_and_print():
    scorer = make_cost_scorer({"fp": 1, "fn": 4}, kind="savings")
    assert pickle.loads(pickle.dumps(scorer)).kind == "savings"
    assert clone(scorer).costs == {"fp": 1, "fn": 4}
    assert "savings" in repr(scorer)


def test_scorer_sees_classes_that_the_model_or_the_rows_lack():
    X = np.stack([np.arange(6), np.linspace(0.1, 0.9, 6)], axis=1)
    model = Recorder().fit(X, ["a", "b"] * 3)
    C = Costs.from_matrix([[0, 1, 2], [3, 0, 4], [5, 6, 0]], classes=["a", "b", "c"])
    score = make_cost_scorer(C)(model, X, ["c"] * 6)
    assert -6 <= score <= -5
    assert make_cost_scorer({"fp": 1, "fn": 1, "positive": "a"})(model, X, ["a"] * 6) <= 0

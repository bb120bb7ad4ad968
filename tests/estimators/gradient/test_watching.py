"""Held-out rows of gradient boosting: what each round's model costs, or loses."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from costboost import GradientBoostRegressor
from costboost.costs import Costs
from costboost.estimators.gradient import GradientBoostClassifier
from costboost.metrics import asymmetric_cost


def test_early_stopping_on_cost(cancer):
    X, y = cancer
    costs = Costs(fp=np.where(np.arange(len(y)) % 2, 1.0, 5.0), fn=2)
    model = GradientBoostClassifier(n_estimators=200, n_iter_no_change=10, random_state=0)
    model.fit(X, y, costs=costs)
    assert model.n_iter_ < 200
    assert np.argmin(model.validation_cost_) == model.n_iter_ - 1
    with pytest.raises(ValueError, match="eval_set=\\(X, y, costs\\)"):
        model.fit(X, y, costs=costs, eval_set=(X, y))


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)


@pytest.mark.parametrize(
    ("options", "loss"),
    [
        ({}, lambda y, f: (y - f) ** 2),
        ({"loss": "absolute"}, lambda y, f: np.abs(y - f)),
        ({"init": LinearRegression()}, lambda y, f: (y - f) ** 2),
        ({"estimator": DecisionTreeRegressor(max_depth=2)}, lambda y, f: (y - f) ** 2),
    ],
)
def test_a_regression_is_judged_by_its_loss_on_the_held_out_rows(options, loss):
    X, y = rows()
    weights = np.arange(100) % 3 + 0.5
    late = (X[200:], y[200:], None, weights)
    model = GradientBoostRegressor(n_estimators=6, n_iter_no_change=6, random_state=0, **options)
    model.fit(X[:200], y[:200], eval_set=late)
    means = [
        np.average(loss(y[200:], stage), weights=weights) for stage in model.staged_predict(X[200:])
    ]
    # What a loss is worth is known up to a factor: 1/2 of the squares.
    ratio = model.validation_loss_[0] / means[0]
    assert ratio in (pytest.approx(1.0), pytest.approx(0.5))
    np.testing.assert_allclose(model.validation_loss_[: len(means)], ratio * np.array(means))


def test_prices_of_both_sides_belong_to_the_held_out_rows():
    X, y = rows()
    prices = np.random.default_rng(1).uniform(0.5, 3, size=(100, 2))
    model = GradientBoostRegressor("pinball", n_estimators=5, n_iter_no_change=5, under=3.0)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:], prices))
    means = [
        asymmetric_cost(y[200:], stage, over=prices[:, 0], under=prices[:, 1])
        for stage in model.staged_predict(X[200:])
    ]
    np.testing.assert_allclose(model.validation_loss_[: len(means)], means)
    with pytest.raises(ValueError, match=r"prices of shape \(100, 3\) for 100 rows"):
        model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:], np.ones((100, 3))))


def test_a_users_metric_sees_targets_answers_and_weights():
    X, y = rows()
    weights = np.arange(100) % 3 + 0.5
    seen = []

    def worst(truth, answer, sample_weight=None):
        seen.append((truth, answer.copy(), sample_weight))
        answer[:] = np.nan  # whatever it does to its copy
        return np.max(np.abs(truth - seen[-1][1]))

    model = GradientBoostRegressor(n_estimators=4, n_iter_no_change=4, early_stopping_metric=worst)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:], None, weights))
    alone = GradientBoostRegressor(n_estimators=4).fit(X[:200], y[:200])
    for (truth, answer, given), stage in zip(seen, alone.staged_predict(X[200:]), strict=True):
        np.testing.assert_array_equal(truth, y[200:])
        np.testing.assert_allclose(answer, stage)
        np.testing.assert_array_equal(given, weights)


def test_several_sets_are_watched_and_the_first_decides():
    X, y = rows(400)
    sets = {"late": (X[200:300], y[200:300]), "later": (X[300:], y[300:])}
    model = GradientBoostRegressor(n_estimators=200, n_iter_no_change=4, random_state=0)
    model.fit(X[:200], y[:200], eval_set=sets)
    assert list(model.eval_results_) == ["late", "later"]
    np.testing.assert_array_equal(model.eval_results_["late"], model.validation_loss_)
    assert np.argmin(model.validation_loss_) == model.n_iter_ - 1
    assert len(model.eval_results_["later"]) == len(model.validation_loss_)


def test_a_loss_that_contains_costs_decides_by_its_sign(cancer):
    X, y = cancer
    costs = Costs(fp=1, fn=6)
    model = GradientBoostClassifier("expected-cost", n_estimators=5, n_iter_no_change=5)
    model.fit(X[:400], y[:400], costs=costs, eval_set=(X[400:], y[400:]))
    late = y[400:]
    for t, stage in enumerate(model.staged_predict(X[400:])):
        paid = np.mean((stage > late) * 1.0 + (stage < late) * 6.0)
        assert model.validation_cost_[t] == pytest.approx(paid)


def test_an_init_is_followed_on_rows_held_out_of_the_table(cancer):
    X, y = cancer
    seen = []

    def metric(truth, proba):
        seen.append((truth, proba[:, 1]))
        return log_loss(truth, proba)

    GradientBoostClassifier(
        n_estimators=1,
        learning_rate=1e-9,
        init=GaussianNB(),
        n_iter_no_change=1,
        early_stopping_metric=metric,
        random_state=0,
    ).fit(X, y)
    ((truth, proba),) = seen
    assert np.mean((proba > 0.5) == truth) > 0.85  # a constant is right for 63 in 100

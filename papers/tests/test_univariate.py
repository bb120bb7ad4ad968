"""Logistic regression on the best single column, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import CostBoostClassifier, Costs
from papers.univariate import RIDGE, CheckedLogistic, UnivariateLogistic, blocks_of


@pytest.mark.parametrize("seed", range(4))
def test_the_column_and_its_line_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) * [1, 10, 0.1, 1] + [0, 5, 0, -3]
    y = (X[:, 1] / 10 + rng.normal(size=150) > 0.6).astype(int)
    w = rng.uniform(0.2, 2, 150)
    model = UnivariateLogistic().fit(X, y, w)
    errors = []
    for j in range(4):
        mean = np.average(X[:, j], weights=w)
        x = (X[:, [j]] - mean) / np.sqrt(np.average((X[:, j] - mean) ** 2, weights=w))
        line = LogisticRegression(C=1 / RIDGE, tol=1e-10).fit(x, y, sample_weight=w / w.sum())
        errors.append(np.average(line.predict(x) != y, weights=w))
        if j == model.column_:
            np.testing.assert_allclose(
                model.predict_proba(X), line.predict_proba(x), rtol=1e-4, atol=1e-6
            )
    assert model.column_ == int(np.argmin(errors))


@pytest.fixture
def mixed():
    """Columns of two, of some and of many values."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(3000, 6))
    X[:, 1], X[:, 3], X[:, 4] = X[:, 1] > 0.3, np.round(X[:, 3], 1), 5.0
    y = (X[:, 1] + X[:, 3] + X[:, 5] + rng.logistic(size=3000) > 0.4).astype(int)
    return X, y


def test_columns_of_few_values_are_fitted_as_the_others_are(mixed, monkeypatch):
    X, y = mixed
    assert [block.columns.tolist() for block in blocks_of(X)] == [[0, 2, 5], [1, 3, 4]]
    rng = np.random.default_rng(8)
    for column in (1, 3, 5):
        w = rng.exponential(size=3000)
        told = np.delete(np.arange(6), [j for j in (1, 3, 5) if j != column])
        few = UnivariateLogistic().fit(X[:, told], y, w)
        with monkeypatch.context() as patch:
            patch.setattr("papers.univariate.WORTH", np.inf)
            whole = UnivariateLogistic().fit(X[:, told], y, w)
        assert told[few.column_] == told[whole.column_] == column
        line = few.decision_function(X[:, told])
        np.testing.assert_allclose(line, whole.decision_function(X[:, told]), rtol=1e-9)


@pytest.mark.parametrize("method", ["cgada", "rareboost", "csada"])
def test_a_loop_gets_the_same_model_from_the_checked_learner(mixed, method):
    X, y = mixed
    told = [
        CostBoostClassifier(method, 8, estimator=learner, calibration="sigmoid", cv=0.5)
        .set_params(random_state=0)
        .fit(X, y, costs=Costs(fp=1.0, fn=5.0))
        .predict_proba(X)
        for learner in (UnivariateLogistic(), CheckedLogistic())
    ]
    np.testing.assert_array_equal(*told)


@parametrize_with_checks([UnivariateLogistic()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_slope_is_where_the_penalised_likelihood_is_flat():
    rng = np.random.default_rng(2)
    x, w = rng.normal(3, 2, size=80), rng.uniform(0, 2, size=80)
    w[:10] = 0
    y = (x + rng.logistic(size=80) > 3).astype(int)
    model = UnivariateLogistic().fit(x[:, None], y, w)
    share = w / w.sum()
    gap = share * (y - model.predict_proba(x[:, None])[:, 1])
    mean = share @ x
    spread = np.sqrt(share @ (x - mean) ** 2)
    assert gap.sum() == pytest.approx(0, abs=1e-8)
    assert gap @ (x - mean) / spread == pytest.approx(RIDGE * model.coef_ * spread, abs=1e-8)


def test_of_equal_columns_the_first_answers_and_constants_never_do():
    x = np.arange(40.0)
    y = (x > 20).astype(int)
    X = np.column_stack([np.full(40, 7.0), x, -3 * x, np.zeros(40)])
    assert UnivariateLogistic().fit(X, y).column_ == 1
    assert UnivariateLogistic().fit(X[:, [3, 2, 1]], y).column_ == 1
    constant = UnivariateLogistic().fit(X[:, [0]], y)  # then the shares of the classes
    np.testing.assert_allclose(constant.predict_proba(X[:2, [0]])[:, 1], y.mean(), rtol=1e-6)


def test_a_column_that_separates_has_a_finite_line_at_any_scale():
    x = np.r_[np.linspace(-2, -1, 20), np.linspace(1, 2, 20)]
    y = (x > 0).astype(int)
    plain = UnivariateLogistic().fit(x[:, None], y)
    assert plain.score(x[:, None], y) == 1
    for size in (1e-100, 1e100):
        scaled = UnivariateLogistic().fit(size * x[:, None], y)
        line = scaled.decision_function(size * x[:, None])
        np.testing.assert_allclose(line, plain.decision_function(x[:, None]), rtol=1e-6)


def test_clones_of_a_checked_learner_prepare_their_table_once(mixed, monkeypatch):
    X, y = mixed
    calls = []

    def counted(table):
        calls.append(table)
        return blocks_of(table)

    monkeypatch.setattr("papers.univariate.blocks_of", counted)
    first = CheckedLogistic()
    w = np.full(len(y), 1 / len(y))
    answers = [clone(first).fit(X, y, w).decision_function(X) for _ in range(3)]
    assert len(calls) == 1
    np.testing.assert_array_equal(answers[0], answers[2])
    usual = UnivariateLogistic().fit(X, y)
    np.testing.assert_allclose(answers[0], usual.decision_function(X), atol=1e-12)

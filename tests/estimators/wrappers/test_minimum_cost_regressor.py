"""`MinimumCostRegressor`: distributions, cheapest numbers, and what scikit-learn expects."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost
from costboost import GradientBoostRegressor, MinimumCostRegressor, NumberCosts

SMALL = {"n_estimators": 10, "min_samples_leaf": 1, "max_leaf_nodes": 8}


@parametrize_with_checks(
    [
        # Small leaves: scikit-learn's tables have fewer rows than two leaves of 20.
        MinimumCostRegressor(
            GradientBoostRegressor(**SMALL), scale=GradientBoostRegressor(**SMALL)
        ),
        MinimumCostRegressor(LinearRegression(), scale="constant", ensemble=False),
    ]
)
@pytest.mark.filterwarnings("ignore:.*copies of other rows")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def shop(n=1500, seed=0):
    """Return a table and a demand whose spread differs from row to row."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(size=(n, 2)), columns=["season", "doubt"])
    y = 50 * X["season"] + (1 + 30 * X["doubt"]) * rng.gamma(2.0, size=n)
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def fitted():
    X, y = shop()
    return MinimumCostRegressor(random_state=0).fit(X, y)


def test_probabilities_are_frequencies_of_new_rows(fitted):
    X, y = shop(4000, seed=1)
    for level in (0.05, 0.25, 0.5, 0.75, 0.9, 0.98):
        assert np.mean(y <= fitted.predict_quantile(X, level)) == pytest.approx(level, abs=0.03)
    low, high = fitted.predict_interval(X, coverage=0.8).T
    assert np.mean((low <= y) & (y <= high)) == pytest.approx(0.8, abs=0.03)
    above = fitted.predict_proba_above(X, 60.0)
    for part in (above < 0.1, (above > 0.4) & (above < 0.6), above > 0.9):
        assert np.mean(y[part] > 60.0) == pytest.approx(above[part].mean(), abs=0.05)
    doubtful = X["doubt"] > 0.8
    width = high - low
    assert width[doubtful].mean() > 2 * width[X["doubt"] < 0.2].mean()
    assert fitted.crps(X, y).mean() < 0.7 * np.mean(np.abs(y - np.median(y)))


def test_quantiles_do_not_cross_and_follow_the_price_ratio(fitted):
    X, _ = shop(300, seed=2)
    quantiles = fitted.predict_quantile(X, np.linspace(0.01, 0.99, 50))
    assert quantiles.shape == (300, 50)
    assert (np.diff(quantiles, axis=1) > 0).all()
    orders = [fitted.predict(X, costs=NumberCosts(u, 1.0)) for u in (0.1, 0.5, 1, 3, 9, 99)]
    assert (np.diff(orders, axis=0) > 0).all()
    np.testing.assert_array_equal(orders[2], fitted.predict_quantile(X, 0.5))
    np.testing.assert_allclose(orders[4], fitted.predict_quantile(X, 0.9))
    scaled = fitted.predict(X, costs=1024.0 * NumberCosts(3.0, 1.0))
    np.testing.assert_array_equal(orders[3], scaled)
    squares = fitted.predict(X, costs=NumberCosts(under_squared=1, over_squared=1))
    np.testing.assert_allclose(squares, fitted.predict(X))  # the mean


def test_the_cheapest_number_has_the_least_expected_cost(fitted):
    X, _ = shop(40, seed=3)
    costs = NumberCosts(3, 1, over_steps={"10%": 20}, under_squared=0.02)
    best = fitted.predict(X, costs=costs)
    least = fitted.expected_cost(X, costs=costs)
    np.testing.assert_array_equal(least, fitted.expected_cost(X, best, costs=costs))
    for number in np.linspace(0, 200, 60):
        assert (least <= fitted.expected_cost(X, number, costs=costs) + 1e-9).all()


def test_expected_costs_are_the_realised_ones(fitted):
    X, y = shop(1500, seed=4)
    costs = NumberCosts(under=3, over=1, over_steps={20: 30})
    expected = fitted.expected_cost(X, costs=costs)
    assert -fitted.score(X, y, costs=costs) == pytest.approx(expected.mean(), rel=0.05)


def test_prices_come_from_fit_from_columns_and_per_row(fitted):
    X, y = shop(400, seed=5)
    X = X.assign(margin=np.where(X["season"] > 0.5, 9.0, 1.0))
    by_column = NumberCosts(under="margin", over=1)
    model = MinimumCostRegressor(LinearRegression(), costs=by_column, random_state=0).fit(X, y)
    expected = model.predict(X, costs=NumberCosts(under=X["margin"], over=1))
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(X)), expected)
    assert model.score(X, y) == -by_column.bind_table(X).of_numbers(y, expected).mean()
    per_row = NumberCosts(under=X["margin"].to_numpy(), over=1)
    again = clone(model).set_params(costs=None).fit(X, y, costs=per_row)
    with pytest.warns(UserWarning, match="answers go by their mean"):
        answer = again.predict(X[:3])
    np.testing.assert_array_equal(answer, again.predict(X[:3], costs=per_row.mean()))


def test_models_do_not_depend_on_threads_and_survive_pickles_and_files(fitted, tmp_path):
    X, y = shop(300)
    costs = NumberCosts(2, 1, over_steps={"10%": 3})
    one = MinimumCostRegressor(random_state=0, costs=costs, n_jobs=1).fit(X, y)
    many = MinimumCostRegressor(random_state=0, costs=costs, n_jobs=4).fit(X, y)
    costboost.save(one, tmp_path / "model")
    for other in (many, pickle.loads(pickle.dumps(one)), costboost.load(tmp_path / "model")):
        np.testing.assert_array_equal(other.predict(X), one.predict(X))
        np.testing.assert_array_equal(other.predict_quantile(X, 0.9), one.predict_quantile(X, 0.9))
    theirs = MinimumCostRegressor(RandomForestRegressor(5, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match="RandomForestRegressor"):
        costboost.save(theirs, tmp_path / "theirs")


def test_contributions_add_up_to_the_quantile(fitted):
    X, _ = shop(50, seed=6)
    for level in (None, 0.1, 0.95):
        total = fitted.predict(X) if level is None else fitted.predict_quantile(X, level)
        np.testing.assert_allclose(fitted.contributions(X, level=level).total, total)
    spread = fitted.contributions(X, level=0.95).values - fitted.contributions(X, level=0.05).values
    assert np.abs(spread[:, 1]).mean() > 3 * np.abs(spread[:, 0]).mean()  # doubt widens
    assert "quantile 0.95" in str(fitted.explain(X.iloc[:1], level=0.95))
    linear = MinimumCostRegressor(LinearRegression()).fit(X, X["season"])
    with pytest.raises(ValueError, match="A LinearRegression is inside"):
        linear.contributions(X)


def test_rows_that_seem_certain_keep_a_least_scale():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, size=(1200, 1)).astype(float)
    y = np.where(X[:, 0] < 8, 5.0, 5.0 + 40.0 * rng.gamma(2.0, size=1200))
    learner = GradientBoostRegressor(n_estimators=100)  # as long, so that nothing is left of 5
    model = MinimumCostRegressor(learner, scale=learner, random_state=0).fit(X, y)
    scale = model._place(X)[1]
    assert (scale[X[:, 0] < 8] == model.least_scale_).all()
    assert model.least_scale_ < 0.05 * scale.max()
    spread = model.distribution_.quantile(np.array([0.001, 0.999]))
    assert np.abs(spread).max() < 10.0  # residuals over scales, none of which vanish
    for level in (0.1, 0.9):
        total = model.contributions(X, level=level).total
        np.testing.assert_allclose(total, model.predict_quantile(X, level))


def test_a_scale_that_answers_nothing_is_held_at_the_least():
    X, y = shop(200)
    none = DummyRegressor(strategy="constant", constant=0.0)
    held = MinimumCostRegressor(LinearRegression(), scale=none, random_state=0).fit(X, y)
    alike = MinimumCostRegressor(LinearRegression(), scale="constant", random_state=0).fit(X, y)
    assert held.least_scale_ == pytest.approx(0.1 * alike.least_scale_)
    levels = [0.05, 0.5, 0.95]
    np.testing.assert_allclose(held.predict_quantile(X, levels), alike.predict_quantile(X, levels))


def test_missing_values_and_categories_pass_to_the_models():
    X, y = shop(400)
    X = X.assign(shop=pd.Categorical(np.where(X["season"] > 0.5, "a", "b")))
    X.loc[::3, "doubt"] = np.nan
    answers = MinimumCostRegressor(random_state=0).fit(X, y).predict(X)
    assert np.corrcoef(answers, y)[0, 1] > 0.5


@pytest.mark.parametrize("size", [1.0, 1e8, 1e140, 1e-140])
def test_answers_have_the_unit_of_y(size):
    X, y = shop(200)
    costs = NumberCosts(3, 1, over_squared=0.0)
    unit = MinimumCostRegressor(random_state=0).fit(X, y)
    model = MinimumCostRegressor(random_state=0).fit(X, size * y)
    np.testing.assert_allclose(
        model.predict(X, costs=costs) / size, unit.predict(X, costs=costs), rtol=1e-6
    )


def test_a_constant_y_is_answered_for_certain():
    X, _ = shop(60)
    model = MinimumCostRegressor(random_state=0).fit(X, np.full(60, 7.0))
    for costs in (None, NumberCosts(9, 1), NumberCosts(9, 1, over_steps={"10%": 3})):
        assert set(model.predict(X, costs=costs)) == {7.0}
    assert model.predict_interval(X[:1]).tolist() == [[7.0, 7.0]]
    assert model.predict_proba_above(X[:3], [6.9, 7.0, 7.1]).tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("n", [2, 3, 20])
def test_few_rows_are_enough(n):
    X, y = shop(n)
    model = MinimumCostRegressor(random_state=0).fit(X, y.round())
    answers = model.predict(X[:1], costs=NumberCosts(3, 1))
    assert answers.shape == (1,)
    assert np.isfinite(answers).all()


def test_heavy_tails_stay_calibrated():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 1)), rng.standard_t(2, size=3000)
    model = MinimumCostRegressor(random_state=0).fit(X[:2000], y[:2000])
    for level in (0.02, 0.5, 0.98):
        above = np.mean(y[2000:] <= model.predict_quantile(X[2000:], level))
        assert above == pytest.approx(level, abs=0.02 if level != 0.5 else 0.05)


def test_folds_may_be_blocks_shares_splits_or_a_fitted_model():
    X, y = shop(300)
    prefit = LinearRegression().fit(X[:150], y[:150])
    for cv, n in ((KFold(3), 300), (0.3, 90), (TimeSeriesSplit(2), 200)):
        model = MinimumCostRegressor(LinearRegression(), cv=cv, random_state=0).fit(X, y)
        assert model.n_calibrated_ == n
        assert len(model.locations_) == {300: 3, 90: 1, 200: 2}[n]
    model = MinimumCostRegressor(FrozenEstimator(prefit), random_state=0).fit(X[150:], y[150:])
    assert model.n_calibrated_ == 150
    again = MinimumCostRegressor(prefit, cv="prefit", random_state=0).fit(X[150:], y[150:])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_groups_stay_together():
    X, y = shop(200)
    groups = np.repeat(np.arange(20), 10)
    y = y + 100.0 * np.random.default_rng(0).normal(size=20)[groups]
    X = X.assign(group=groups.astype(float))
    learner = GradientBoostRegressor(**{**SMALL, "n_estimators": 60})
    apart = MinimumCostRegressor(learner, random_state=0).fit(X, y, groups=groups)
    mixed = MinimumCostRegressor(learner, random_state=0).fit(X, y)
    wide, narrow = (np.diff(m.predict_interval(X)).mean() for m in (apart, mixed))
    assert wide > 1.5 * narrow


def test_costs_are_routed_through_searches():
    X, y = shop(200)
    costs = NumberCosts(under=np.linspace(1, 9, 200), over=1)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MinimumCostRegressor(LinearRegression(), random_state=0)
        found = cross_validate(model, X, y, params={"costs": costs}, cv=2, error_score="raise")
        search = GridSearchCV(model, {"scale": [None, "constant"]}, cv=2, error_score="raise")
        search.fit(X, y, costs=costs)
    train, test = next(iter(KFold(2).split(X)))
    mine = clone(model).fit(X.iloc[train], y[train])
    assert found["test_score"][0] == mine.score(X.iloc[test], y[test], costs=costs[test])


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda m, X, y: m.set_params(estimator=3).fit(X, y), "estimator=3"),
        (lambda m, X, y: m.set_params(scale="wide").fit(X, y), "scale='wide'.*'constant'"),
        (lambda m, X, y: m.set_params(cv="prefit", estimator=None).fit(X, y), "give it as"),
        (lambda m, X, y: m.set_params(cv=1).fit(X, y), "cv=1 folds are too few"),
        (lambda m, X, y: m.set_params(ensemble="no").fit(X, y), "ensemble='no'"),
        (lambda m, X, y: m.fit(X, np.where(y > 40, np.nan, y)), "NaN"),
        (lambda m, X, y: m.fit(X, 1e300 * y), "targets beyond 1e\\+150 are refused"),
        (lambda m, X, y: m.fit(X[:1], y[:1]), "at least 2 rows"),
        (lambda m, X, y: m.fit(X, y, sample_weight=np.zeros(len(y))), "sample_weight is zero"),
        (lambda m, X, y: m.fit(X, y, costs={"fp": 1, "fn": 2}), "unknown key 'fp'"),
        (lambda m, X, y: m.fit(X, y, costs=NumberCosts([1, 2], 1)), "2 rows, but X has 60"),
        (
            lambda m, X, y: m.set_params(costs=NumberCosts(y, 1)).fit(X, y),
            "in the constructor holds constant costs",
        ),
        (lambda m, X, y: m.fit(X, y).predict(X, costs=NumberCosts([1, 2], 1)), "X has 60"),
        (lambda m, X, y: m.fit(X, y).predict(X, costs=costboost.Costs(1, 2)), "prices of classes"),
        (lambda m, X, y: m.fit(X, y).predict(X, costs={"under": "price"}), "column 'price'"),
        (lambda m, X, y: m.fit(X, y).expected_cost(X), "no prices to expect a cost by"),
        (lambda m, X, y: m.fit(X, y).expected_cost(X, y[:3], {"under": 1}), "numbers has shape"),
        (lambda m, X, y: m.fit(X, y).predict_quantile(X, 1.0), "strictly between 0 and 1"),
        (lambda m, X, y: m.fit(X, y).predict_quantile(X, "high"), "level must be numbers"),
        (lambda m, X, y: m.fit(X, y).predict_interval(X, 1.0), "no interval is certain"),
        (lambda m, X, y: m.fit(X, y).predict_interval(X, 90), "coverage"),
        (lambda m, X, y: m.fit(X, y).predict_proba_above(X, [1, 2]), "threshold has shape"),
        (lambda m, X, y: m.fit(X, y).explain(X), "explain is about one row"),
    ],
)
def test_wrong_input_is_refused_with_what_to_do(act, message):
    X, y = shop(60)
    with pytest.raises(ValueError, match=message):
        act(MinimumCostRegressor(LinearRegression(), random_state=0), X, y)

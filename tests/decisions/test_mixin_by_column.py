"""Costs by column are costs by row, bit for bit, wherever a table is given."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.utils.fixes import parse_version

from costboost import (
    CostBoostClassifier,
    CostColumns,
    CostingClassifier,
    Costs,
    GradientBoostClassifier,
    MetaCostClassifier,
    MinimumCostClassifier,
    PNormBoostClassifier,
)
from costboost.metrics import cross_validate_cost, make_cost_scorer
from costboost.plots import CostCurveDisplay

rng = np.random.default_rng(0)
N = 90
X = pd.DataFrame(rng.normal(size=(N, 3)), columns=["a", "b", "c"], index=rng.permutation(N) + 100)
X["amount"] = np.round(rng.lognormal(3, 1, size=N), 2)
Y = np.where(X["a"] + rng.normal(size=N) > 0.4, "fraud", "legit")
BY_COLUMN = Costs(fp=8, tp=2, fn="amount", positive="fraud")
BY_FUNCTION = Costs(fp=8, tp=2, fn=lambda X: np.asarray(X["amount"]), positive="fraud")
BY_ROW = Costs(fp=8, tp=2, fn=X["amount"].to_numpy(), positive="fraud")

TREE = {"n_estimators": 4, "random_state": 0}
MODELS = {
    "adamec": CostBoostClassifier("adamec", **TREE),
    "auto": CostBoostClassifier(**TREE, cv=2),
    "cgada": CostBoostClassifier("cgada", **TREE),
    "adacost": CostBoostClassifier("adacost", **TREE),
    "gradient": GradientBoostClassifier(**TREE),
    "cost-exponential": GradientBoostClassifier(loss="cost-exponential", **TREE),
    "pnorm": PNormBoostClassifier(**TREE),
    "minimum": MinimumCostClassifier(LogisticRegression(), random_state=0),
    "metacost": MetaCostClassifier(LogisticRegression(), 3, random_state=0),
    "costing": CostingClassifier(LogisticRegression(), 3, random_state=0),
}
CONTAIN_COSTS = ("adacost", "cost-exponential", "pnorm", "metacost", "costing")
KINDS = {
    "pandas": X,
    "polars": pl.from_pandas(X),
    "pyarrow": pa.Table.from_pandas(X, preserve_index=False),
}


def fitted(name, costs, table=X, **params):
    return sklearn.base.clone(MODELS[name]).set_params(**params).fit(table, Y, costs=costs)


@pytest.mark.parametrize("given", [BY_COLUMN, BY_FUNCTION], ids=["column", "function"])
@pytest.mark.parametrize("name", MODELS)
def test_models_are_those_of_costs_by_row(name, given):
    by_row, by_column = fitted(name, BY_ROW), fitted(name, given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no mean stands in for prices that can be read
        assert by_column.score(X, Y) == by_row.score(X, Y, costs=BY_ROW)
        decided = by_column.predict(X)
    assert_array_equal(by_column.predict_proba(X), by_row.predict_proba(X))
    assert not by_column.costs_per_row_
    assert by_column.costs_.needs_table
    if name not in CONTAIN_COSTS:
        assert_array_equal(decided, by_row.predict(X, costs=BY_ROW))
        assert_array_equal(by_row.predict(X, costs=given), decided)
        expected = by_row.expected_cost(X, costs=BY_ROW)
        pd.testing.assert_frame_equal(by_column.expected_cost(X), expected, check_exact=True)
        part = X.iloc[[7]]
        assert_array_equal(by_column.predict(part), decided[[7]])  # one row


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table(kind):
    table = KINDS[kind]
    model = fitted("adamec", BY_COLUMN, table)
    assert_array_equal(model.predict(table), fitted("adamec", BY_ROW).predict(X, costs=BY_ROW))
    assert model.score(table, Y) == fitted("adamec", BY_ROW).score(X, Y, costs=BY_ROW)


def test_the_constructor_takes_columns_but_no_rows():
    held = CostBoostClassifier("adamec", costs=BY_COLUMN, **TREE).fit(X, Y)
    assert_array_equal(held.predict(X), fitted("adamec", BY_COLUMN).predict(X))
    with pytest.raises(ValueError, match=r"has 90 rows.*name the column"):
        CostBoostClassifier("adamec", costs=BY_ROW, **TREE).fit(X, Y)
    with pytest.raises(ValueError, match="now missing:\n- amount"):
        held.predict(X[["a", "b", "c"]])


def test_a_column_of_zeros_is_refused_at_fit():
    costs = Costs(fp=0, fn="amount", positive="fraud")
    with pytest.raises(ValueError, match="Every cost of these rows is zero"):
        fitted("adamec", costs, X.assign(amount=0.0))
    free = X.assign(amount=0.0).iloc[:1]
    assert len(fitted("adamec", costs).predict(free)) == 1  # a single row may be free


def test_staged_predictions_and_eval_sets():
    stops = {"n_estimators": 6, "n_iter_no_change": 3, "calibration": None}
    model = CostBoostClassifier("adamec", random_state=0, **stops)
    halves = (X[:60], Y[:60]), (X[60:], Y[60:])
    by_column = sklearn.base.clone(model).fit(*halves[0], costs=BY_COLUMN, eval_set=halves[1])
    by_row = sklearn.base.clone(model).fit(
        *halves[0], costs=BY_ROW[:60], eval_set=(*halves[1], BY_ROW[60:])
    )
    assert_array_equal(by_column.validation_cost_, by_row.validation_cost_)
    given = sklearn.base.clone(model).fit(
        *halves[0], costs=BY_COLUMN, eval_set=(*halves[1], BY_COLUMN)
    )
    assert_array_equal(given.validation_cost_, by_row.validation_cost_)
    for one, other in zip(
        by_column.staged_predict(X), by_row.staged_predict(X, costs=BY_ROW), strict=True
    ):
        assert_array_equal(one, other)


# Cross-validation, scorers, searches


@pytest.mark.parametrize("routing", [False, True])
def test_cross_validation_needs_no_slicing(routing):
    model = MODELS["adamec"]
    expected = cross_validate_cost(model, X, Y, costs=BY_ROW, cv=3, return_predictions=True)
    with sklearn.config_context(enable_metadata_routing=routing):
        ours = cross_validate_cost(model, X, Y, costs=BY_COLUMN, cv=3, return_predictions=True)
        held = sklearn.base.clone(model).set_params(costs=BY_COLUMN)
        # Without params scikit-learn 1.6 stumbles over its own default while routing.
        plain = cross_val_score(held, X, Y, cv=3, params={})
        scorer = make_cost_scorer(BY_COLUMN)
        scored = cross_validate(held, X, Y, cv=3, scoring=scorer, params={})["test_score"]
    for key in ("test_cost", "test_savings", "decisions", "probabilities"):
        assert_array_equal(ours[key], expected[key])
    assert_array_equal(plain, -expected["test_cost"])
    assert_array_equal(scored, -expected["test_cost"])


def test_searches_read_the_columns_of_each_fold():
    held = sklearn.base.clone(MODELS["adamec"]).set_params(costs=BY_COLUMN)
    grid = {"max_depth": [1, 2]}
    search = GridSearchCV(held, grid, cv=3, scoring=make_cost_scorer(BY_COLUMN)).fit(X, Y)
    own = GridSearchCV(held, grid, cv=3).fit(X, Y)
    for depth, score in zip(grid["max_depth"], search.cv_results_["mean_test_score"], strict=True):
        model = sklearn.base.clone(MODELS["adamec"]).set_params(max_depth=depth)
        folds = cross_validate_cost(model, X, Y, costs=BY_ROW, cv=3)["test_cost"]
        assert score == pytest.approx(-folds.mean(), rel=1e-12)
    assert_array_equal(own.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert_array_equal(search.predict(X), search.best_estimator_.predict(X, costs=BY_ROW))


def test_columns_are_read_before_a_pipeline_transforms_them():
    pipeline = make_pipeline(StandardScaler(), MODELS["adamec"])
    expected = cross_validate_cost(pipeline, X, Y, costs=BY_ROW, cv=3)["test_cost"]
    ours = cross_validate_cost(pipeline, X, Y, costs=BY_COLUMN, cv=3)["test_cost"]
    assert_array_equal(ours, expected)
    wrapped = cross_val_score(CostColumns(pipeline, BY_COLUMN), X, Y, cv=3)
    assert_array_equal(wrapped, -expected)
    if parse_version(sklearn.__version__) >= parse_version("1.8"):  # else they never reach `score`
        with sklearn.config_context(enable_metadata_routing=True):
            params = {"costs": BY_COLUMN.bind_table(X)}
            scores = cross_validate(pipeline, X, Y, params=params, cv=3)["test_score"]
        assert_array_equal(scores, -expected)
    with pytest.raises(ValueError, match=r"whose columns have no names.*CostColumns"):
        pipeline.fit(X, Y, costboostclassifier__costs=BY_COLUMN)
    scaled = make_pipeline(MinMaxScaler().set_output(transform="pandas"), MODELS["adamec"])
    with sklearn.config_context(enable_metadata_routing=True):
        known = scaled.fit(X, Y, costs=BY_COLUMN.bind_table(X))
        assert known[-1].costs_.mean().fn == pytest.approx(X["amount"].mean())


def test_pictures_read_columns():
    model = fitted("adamec", BY_COLUMN)
    by_column = CostCurveDisplay.from_estimator(model, X, Y)
    by_row = CostCurveDisplay.from_estimator(model, X, Y, costs=BY_ROW)
    assert_array_equal(by_column.loss, by_row.loss)
    assert by_column.operating_pc == by_row.operating_pc


# Rows that are not the same


def test_fit_refuses_a_permutation_of_the_rows():
    costs = Costs(fp=8, tp=2, fn=X["amount"], positive="fraud")
    model = MODELS["adamec"]
    twin = sklearn.base.clone(model).fit(X, Y, costs=costs)
    assert_array_equal(twin.predict(X, costs=costs), fitted("adamec", BY_ROW).predict(X, BY_ROW))
    shuffled = X.sample(frac=1, random_state=0)
    for use in (
        lambda: sklearn.base.clone(model).fit(shuffled, Y, costs=costs),
        lambda: twin.predict(shuffled, costs=costs),
        lambda: twin.expected_cost(shuffled, costs=costs),
        lambda: twin.score(shuffled, Y, costs=costs),
        lambda: cross_validate_cost(model, shuffled, Y, costs=costs),
        lambda: make_cost_scorer()(twin, shuffled, Y, costs=costs),
    ):
        with pytest.raises(ValueError, match=r"in another order.*costs\[X.index\]"):
            use()
    assert_array_equal(
        twin.predict(shuffled, costs=costs[shuffled.index]),
        twin.predict(X, costs=costs)[X.index.get_indexer(shuffled.index)],
    )


def test_steps_that_drop_rows_refuse_costs_by_row():
    drop = FunctionTransformer(lambda X: X.iloc[:-1])
    pipeline = make_pipeline(drop, MODELS["adamec"])
    with pytest.raises(ValueError, match=r"inconsistent numbers|costs by row cannot follow"):
        pipeline.fit(X, Y, costboostclassifier__costs=BY_ROW)
    named = Costs(fp=8, fn=X["amount"], positive="fraud")
    reverse = make_pipeline(FunctionTransformer(lambda X: X.iloc[::-1]), MODELS["adamec"])
    with pytest.raises(ValueError, match="costs by row cannot follow"):
        reverse.fit(X, Y, costboostclassifier__costs=named)
    same = make_pipeline(FunctionTransformer(lambda X: X.iloc[::-1]), MODELS["adamec"])
    same.fit(X, Y[::-1], costboostclassifier__costs=BY_COLUMN)  # each row brings its own price


def test_samplers_keep_costs_by_column_and_refuse_costs_by_row():
    samplers = pytest.importorskip("imblearn.under_sampling")
    pipelines = pytest.importorskip("imblearn.pipeline")
    sampler = samplers.RandomUnderSampler(random_state=0)
    kept, y = sampler.fit_resample(X, Y)
    direct = fitted("adamec", BY_COLUMN).fit(kept, y, costs=BY_COLUMN)
    inside = pipelines.make_pipeline(sampler, MODELS["adamec"])
    inside.fit(X, Y, costboostclassifier__costs=BY_COLUMN)
    assert_array_equal(inside[-1].predict_proba(X), direct.predict_proba(X))
    found = cross_validate_cost(inside, X, Y, costs=BY_COLUMN, cv=3)["test_cost"]
    assert np.isfinite(found).all()
    behind = pipelines.make_pipeline(
        sampler, CostColumns(make_pipeline(StandardScaler(), MODELS["adamec"]), BY_COLUMN)
    )
    assert np.isfinite(behind.fit(X, Y).score(X, Y))
    for costs in (BY_ROW, Costs(fp=8, fn=X["amount"], positive="fraud")):
        with pytest.raises(ValueError, match="costs by row cannot follow: name the column"):
            inside.fit(X, Y, costboostclassifier__costs=costs)

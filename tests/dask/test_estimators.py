import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES
from costboost.dask import (
    DaskCostBoostClassifier,
    DaskGradientBoostClassifier,
    DaskGradientBoostRegressor,
    DaskPNormBoostClassifier,
)
from dask_fits import fingerprint, frames
from zoo import many_levels

BY_COLUMN = Costs(fp=20, fn="amount")
CONSTANT = Costs(fp=1, fn=4)


def even(n_rows, n_parts):
    return np.linspace(0, n_rows, n_parts + 1).astype(int)[1:-1].tolist()


def assert_same(local, spread, table, collection):
    assert fingerprint(spread.to_local()) == fingerprint(local)
    for ask in ("predict", "predict_proba", "decision_function"):
        if hasattr(local, ask):
            found = getattr(spread, ask)(collection).compute()
            np.testing.assert_array_equal(np.asarray(found), getattr(local, ask)(table))


def fit_both(kind, table, labels, cuts, weights=None, params=None, **given):
    local_class, dask_class = kind
    columns = [table, labels] if weights is None else [table, labels, weights]
    made = frames(columns, cuts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn of the same
        local = local_class(**params).fit(table, labels, weights, **given)
        spread = dask_class(**params).fit(*made, **given)
    return local, spread, made[0]


ADA = (CostBoostClassifier, DaskCostBoostClassifier)
GRADIENT = (GradientBoostClassifier, DaskGradientBoostClassifier)
P_NORM = (PNormBoostClassifier, DaskPNormBoostClassifier)
REGRESSION = (GradientBoostRegressor, DaskGradientBoostRegressor)


@pytest.mark.usefixtures("client")
class TestSameBits:
    @pytest.mark.parametrize("costs", [CONSTANT, BY_COLUMN], ids=["constant", "by column"])
    @pytest.mark.parametrize("method", sorted(RULES))
    def test_every_method(self, people, method, costs):
        table, labels = people
        params = {"method": method, "n_estimators": 2, "max_depth": 2, "random_state": 0}
        params["calibration"] = None
        local, spread, _ = fit_both(ADA, table, labels, [200, 450], params=params, costs=costs)
        assert fingerprint(spread.to_local()) == fingerprint(local)

    @pytest.mark.parametrize(
        "cuts",
        [
            [],
            even(700, 2),
            even(700, 7),
            [0, 300, 300, 700],
            [1, 2, 699],
            [7],
        ],
        ids=["1 part", "2 parts", "7 parts", "empty parts", "one-row parts", "skewed"],
    )
    def test_however_it_is_cut(self, people, cuts):
        table, labels = people
        params = {"method": "adamec", "n_estimators": 3, "subsample": 0.7, "random_state": 3}
        both = fit_both(ADA, table, labels, cuts, params=params, costs=BY_COLUMN)
        assert_same(*both[:2], table, both[2])

    def test_sorted_by_label_and_one_class_in_a_part(self, people):
        table, labels = people
        order = np.argsort(labels.to_numpy(), kind="stable")
        table, labels = table.iloc[order], labels.iloc[order]
        params = {"method": "adac2", "n_estimators": 3, "max_features": 0.5, "random_state": 1}
        both = fit_both(ADA, table, labels, [100, 200, 600], params=params, costs=CONSTANT)
        assert_same(*both[:2], table, both[2])

    def test_the_recipe(self, people):
        table, labels = people
        params = {"n_estimators": 4, "cv": 2, "random_state": 0}
        both = fit_both(ADA, table, labels, [300], params=params, costs=BY_COLUMN)
        assert_same(*both[:2], table, both[2])

    def test_columns_of_many_categories(self):
        table, labels = many_levels(3)
        table["shop"] = table["shop"].astype("object")
        params = {"method": "adamec", "target_encoding": True, "n_estimators": 3, "random_state": 0}
        both = fit_both(ADA, table, pd.Series(labels), [100, 333], params=params)
        assert_same(*both[:2], table, both[2])
        assert both[0]._model.forests[0].binner.level_codes is not None

    def test_weights_and_calibration(self, people):
        table, labels = people
        weights = pd.Series(np.random.default_rng(0).integers(0, 4, len(table)) / 3.0)
        params = {"method": "cgada", "n_estimators": 3, "cv": 3, "random_state": 0}
        both = fit_both(ADA, table, labels, [300, 333], weights, params, costs=CONSTANT)
        assert_same(*both[:2], table, both[2])

    def test_early_stopping(self, people):
        table, labels = people
        params = {"method": "adamec", "n_estimators": 20, "random_state": 0}
        params |= {"n_iter_no_change": 2, "validation_fraction": 0.2, "calibration": None}
        both = fit_both(ADA, table, labels, [300, 333], params=params, costs=BY_COLUMN)
        assert_same(*both[:2], table, both[2])

    def test_names_of_classes(self, people):
        table, labels = people
        named = labels.map({0: "no", 1: "yes"})
        costs = Costs(fp=20, fn="amount", positive="yes")
        params = {"method": "adamec", "n_estimators": 3, "random_state": 0}
        both = fit_both(ADA, table, named, [300], params=params, costs=costs)
        np.testing.assert_array_equal(both[1].predict(both[2]).compute(), both[0].predict(table))
        assert fingerprint(both[1].to_local()) == fingerprint(both[0])

    @pytest.mark.parametrize("loss", ["log", "exponential", "cost-exponential", "expected-cost"])
    def test_losses_of_classes(self, people, loss):
        table, labels = people
        params = {"loss": loss, "n_estimators": 3, "random_state": 0, "calibration": None}
        both = fit_both(GRADIENT, table, labels, [300, 550], params=params, costs=BY_COLUMN)
        assert_same(*both[:2], table, both[2])

    @pytest.mark.parametrize("method", ["lp-csb", "lp-csb-a", "gbse"])
    def test_p_norms(self, people, method):
        table, labels = people
        params = {"method": method, "n_estimators": 2, "random_state": 0}
        both = fit_both(P_NORM, table, labels, [300, 550], params=params, costs=BY_COLUMN)
        assert_same(*both[:2], table, both[2])

    def test_several_classes_in_arrays(self, people):
        X = people[0][list("abcd")].to_numpy()
        y = (X[:, 0] > 0).astype(int) + (X[:, 2] > 0.5)
        local = GradientBoostClassifier(n_estimators=3, random_state=0).fit(X, y)
        blocks = da.from_array(X, chunks=(150, 3))
        spread = DaskGradientBoostClassifier(n_estimators=3, random_state=0)
        spread.fit(blocks, da.from_array(y, chunks=(400,)))
        assert_same(local, spread, X, blocks)
        assert not hasattr(spread, "feature_names_in_")
        assert spread.predict_proba(blocks).shape == (700, 3)
        assert spread.predict_proba(blocks).chunks[0] == blocks.chunks[0]

    def test_files_whose_columns_dask_would_read_in_larger_pieces(self, people, tmp_path):
        table, labels = people
        table.assign(label=labels).to_parquet(tmp_path / "rows.parquet", row_group_size=100)
        read = dd.read_parquet(tmp_path / "rows.parquet", split_row_groups=True)
        X, y = read[list(table.columns)], read["label"]
        assert y.optimize().npartitions < X.npartitions == 7
        params = {"method": "csada", "n_estimators": 3, "random_state": 0}
        local = CostBoostClassifier(**params).fit(X.compute(), labels, costs=BY_COLUMN)
        spread = DaskCostBoostClassifier(**params).fit(X, y, costs=BY_COLUMN)
        assert fingerprint(spread.to_local()) == fingerprint(local)

    @pytest.mark.parametrize("loss", ["squared", "huber"])
    def test_regression(self, people, loss):
        table, _ = people
        target = table.a * 2 + table.amount / 100
        params = {"loss": loss, "n_estimators": 3, "random_state": 0}
        both = fit_both(REGRESSION, table.drop(columns="amount"), target, [300, 550], params=params)
        assert_same(*both[:2], table.drop(columns="amount"), both[2])


@pytest.fixture(scope="module")
def fitted(people, client):
    table, labels = people
    collection, y = frames([table, labels], [200, 200, 450])
    model = DaskCostBoostClassifier(
        method="adamec", n_estimators=3, calibration="sigmoid", cv=2, random_state=0
    )
    model.fit(collection, y, costs=BY_COLUMN, client=client)
    return model, table, collection


class TestLazily:
    def test_frames_keep_their_index(self, fitted):
        model, table, collection = fitted
        local = model.to_local()
        proba = model.predict_proba(collection)
        assert isinstance(proba, dd.DataFrame)
        expected = pd.DataFrame(local.predict_proba(table), index=table.index, columns=[0, 1])
        pd.testing.assert_frame_equal(proba.compute(), expected)
        decided = model.predict(collection)
        assert isinstance(decided, dd.Series)
        pd.testing.assert_series_equal(decided.compute(), pd.Series(local.predict(table)))

    def test_new_prices(self, fitted):
        model, table, collection = fitted
        prices = Costs(fp="amount", fn=50)
        found = model.expected_cost(collection, costs=prices).compute()
        pd.testing.assert_frame_equal(found, model.to_local().expected_cost(table, costs=prices))
        found = model.predict(collection, costs=prices).compute()
        np.testing.assert_array_equal(found, model.to_local().predict(table, costs=prices))

    def test_other_actions(self, fitted):
        model, table, collection = fitted
        triage = Costs.from_matrix(
            [[0, 20, 5], [90, 0, 5]], classes=[0, 1], actions=["pay", "stop", "call"]
        )
        found = model.predict(collection, costs=triage).compute()
        np.testing.assert_array_equal(found, model.to_local().predict(table, costs=triage))
        assert (
            list(model.expected_cost(collection, costs=triage).columns) == triage.actions.tolist()
        )

    def test_prices_in_memory_are_refused(self, fitted):
        model, table, collection = fitted
        with pytest.raises(ValueError, match="Name the columns"):
            model.predict(collection, costs=Costs(fp=1, fn=table.amount.to_numpy()))

    def test_tables_in_memory_are_refused(self, fitted):
        model, table, _ = fitted
        with pytest.raises(TypeError, match="to_local"):
            model.predict(table)

    def test_to_local_is_the_plain_estimator(self, fitted):
        model, _, _ = fitted
        local = model.to_local()
        assert type(local) is CostBoostClassifier
        assert local.get_params() == model.get_params()


class TestParameters:
    def test_clone_and_get_params(self):
        model = DaskCostBoostClassifier(method="csb2", n_estimators=7, costs={"fp": 1, "fn": 2})
        again = clone(model)
        assert type(again) is DaskCostBoostClassifier
        assert again.get_params() == CostBoostClassifier(**model.get_params()).get_params()
        assert again.set_params(n_estimators=9).n_estimators == 9

    @pytest.mark.parametrize(
        ("model", "name"),
        [
            (DaskCostBoostClassifier(estimator=CostBoostClassifier()), "estimator"),
            (DaskCostBoostClassifier(warm_start=True), "warm_start"),
            (DaskGradientBoostClassifier(init=CostBoostClassifier()), "init"),
            (DaskGradientBoostClassifier(loss=lambda *given: None), "loss"),
            (DaskGradientBoostRegressor(loss="pinball"), "loss"),
            (DaskGradientBoostRegressor(loss="absolute"), "loss"),
        ],
        ids=lambda value: str(value)[:30],
    )
    def test_what_needs_all_rows_is_refused_before_any_work(self, model, name):
        with pytest.raises(ValueError, match=rf"{name}=.*Use"):
            model.fit(None, None)


def test_categories_left_out_are_told_of_once(client):
    rng = np.random.default_rng(5)
    shop = np.arange(400) % 90
    table = pd.DataFrame({"shop": [f"shop {k:02d}" for k in shop], "x": rng.normal(size=400)})
    labels = pd.Series((shop % 3 == 0).astype(int))
    collections = frames([table, labels], [100, 250])
    model = DaskCostBoostClassifier("cgada", 2, max_bins=40, cv=3, random_state=0)
    with pytest.warns(UserWarning, match="'shop' has 90 categories") as heard:
        model.fit(*collections, client=client)
    told = [str(warning.message) for warning in heard]
    assert sum("share the code of missing values" in message for message in told) == 1


@pytest.mark.parametrize("missing", [np.nan, None])
def test_a_missing_label_is_named_by_its_row_among_all(client, missing):
    table = pd.DataFrame({"x": np.arange(400.0)})
    labels = pd.Series(np.where(np.arange(400) % 3, "yes", "no"), dtype=object)
    if missing is not None:
        labels = (labels == "yes").astype(float)
    labels[310] = missing
    with pytest.raises(ValueError, match="row 310 has the label"):
        DaskCostBoostClassifier("cgada", 2).fit(*frames([table, labels], [100, 250]), client=client)

"""Models answer tables in files as they answer frames: in batches, or to a new file."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, Costs, GradientBoostClassifier, ParquetTable
from costboost.costs import uncertain
from parquet_rows import FEATURES, N, make_rows, write

FRAME = make_rows()
X = FRAME[FEATURES]
BY_ROW = Costs(fp=1, fn="amount")


@pytest.fixture(scope="module")
def model():
    made = CostBoostClassifier("adamec", n_estimators=5, random_state=0)
    return made.fit(X, FRAME["label"], costs=BY_ROW)


@pytest.fixture
def table(tmp_path):
    for k in range(3):
        write(FRAME.iloc[80 * k : 80 * (k + 1)], tmp_path / f"rows-{k}.parquet", 30)
    return ParquetTable(tmp_path / "rows-*.parquet", row_id="id")


@pytest.mark.parametrize("batch_rows", [1, 7, 100, 1 << 17])
@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "expected_cost", "decision_function"]
)
def test_batches_are_what_memory_says(model, table, method, batch_rows):
    batches = getattr(model, method)(table, batch_rows=batch_rows)
    assert iter(batches) is batches
    whole = getattr(model, method)(X)
    assert_array_equal(np.concatenate(list(batches)), np.asarray(whole))


def test_costs_given_to_predict(model, table):
    for costs in (
        Costs(fp=9, fn=1),
        Costs(fp="amount", fn=2),
        Costs(fp=1, fn=lambda X: X["a"] ** 2),
    ):
        for batches in (model.predict(table, costs), model.predict(table, costs=costs)):
            assert_array_equal(np.concatenate(list(batches)), model.predict(X, costs))


def test_costs_of_the_table_and_prices_that_are_no_features(model, tmp_path):
    frame = FRAME.assign(loss=FRAME["amount"] * 3)
    path = write(frame, tmp_path / "rows.parquet")
    table = ParquetTable(path, costs=Costs(fp=1, fn="loss"))
    expected = model.predict(X, Costs(fp=1, fn=frame["loss"].to_numpy()))
    assert_array_equal(np.concatenate(list(model.predict(table))), expected)
    given = model.predict(table, costs=Costs(fp=5, fn=1))
    assert_array_equal(np.concatenate(list(given)), model.predict(X, Costs(fp=5, fn=1)))


def test_a_new_file(model, table, tmp_path):
    out = model.predict_proba(table, out=tmp_path / "proba.parquet")
    found = pd.read_parquet(out)
    assert list(found) == ["id", "probability_0", "probability_1"]
    assert_array_equal(found["id"], FRAME["id"])
    assert_array_equal(found.iloc[:, 1:], model.predict_proba(X))
    out = model.predict(table, out=str(tmp_path / "decided.parquet"), batch_rows=50)
    found = pd.read_parquet(out)
    assert list(found) == ["id", "prediction"]
    assert_array_equal(found["prediction"], model.predict(X))
    assert pq.ParquetFile(out).metadata.num_rows == N
    out = model.expected_cost(table, out=tmp_path / "cost.parquet")
    found = pd.read_parquet(out)
    assert list(found) == ["id", "cost_0", "cost_1"]
    assert_array_equal(found.iloc[:, 1:], model.expected_cost(X))


def test_names_of_classes_and_actions(table, tmp_path):
    names = np.array(["good", "bad"], dtype=object)[FRAME["label"]]
    model = GradientBoostClassifier(n_estimators=3, random_state=0).fit(X, names)
    found = pd.read_parquet(model.predict(table, out=tmp_path / "words.parquet"))
    assert found["prediction"].tolist() == model.predict(X).tolist()
    triage = Costs.from_matrix(
        [[0, 9, 2], [5, 0, 2]], classes=["bad", "good"], actions=["stop", "go", "ask"]
    )
    found = pd.read_parquet(model.expected_cost(table, triage, out=tmp_path / "triage.parquet"))
    assert list(found) == ["id", "cost_stop", "cost_go", "cost_ask"]
    assert_array_equal(found.iloc[:, 1:], model.expected_cost(X, triage))
    open_prices = Costs(fp=1, fn=uncertain(3, low=0.5, high=2), positive="bad")
    out = model.expected_cost(table, open_prices, interval=0.9, out=tmp_path / "ends.parquet")
    found = pd.read_parquet(out)
    assert list(found)[1:4] == ["cost_bad", "cost_bad low", "cost_bad high"]
    assert_array_equal(found.iloc[:, 1:], model.expected_cost(X, open_prices, interval=0.9))


def test_a_file_appears_when_it_is_whole(model, table, tmp_path):
    out = tmp_path / "new.parquet"
    out.write_text("mine")
    with pytest.raises(FileExistsError, match="is there already"):
        model.predict(table, out=out)
    assert out.read_text() == "mine"
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        model.predict(table, out=tmp_path / "nowhere" / "new.parquet")
    before = sorted(os.listdir(tmp_path))
    write(FRAME.iloc[:9], tmp_path / "rows-2.parquet")  # found out after the first two files
    with pytest.raises(ValueError, match="was changed after"):
        model.predict(table, out=tmp_path / "half.parquet", batch_rows=10)
    assert sorted(os.listdir(tmp_path)) == before


def test_uncalibrated_methods_decide_as_published(tmp_path):
    path = write(FRAME, tmp_path / "rows.parquet")
    table = ParquetTable(path, "label", BY_ROW, features=FEATURES)
    model = CostBoostClassifier("adac2", n_estimators=4, calibration=None, random_state=0)
    model.fit(table)
    assert_array_equal(np.concatenate(list(model.predict(table))), model.predict(X))
    with pytest.raises(ValueError, match="cannot decide by other costs"):
        list(model.predict(table, costs=Costs(fp=1, fn=2)))


def test_what_is_refused(model, table, tmp_path):
    with pytest.raises(ValueError, match="takes no costs"):
        model.predict_proba(table, costs=Costs(fp=1, fn=2))
    with pytest.raises(ValueError, match="240 rows in memory"):
        model.predict(table, costs=Costs(fp=1, fn=FRAME["amount"].to_numpy()))
    with pytest.raises(ValueError, match="The costs read"):
        model.predict(table, costs=Costs(fp=1, fn="nothing"))
    with pytest.raises(ValueError, match="batch_rows=0"):
        model.predict(table, batch_rows=0)
    fewer = ParquetTable(write(FRAME.drop(columns="b"), tmp_path / "fewer.parquet"))
    with pytest.raises(ValueError, match=r"the columns \['b'\], which these files do not have"):
        model.predict(fewer)
    nameless = CostBoostClassifier("adaboost", n_estimators=2).fit(
        X[["a", "small"]].to_numpy(), FRAME["label"]
    )
    with pytest.raises(ValueError, match="fitted on columns without names"):
        nameless.predict(table)

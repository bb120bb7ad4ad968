"""Fits on Spark give the model of the same rows in memory, bit for bit."""

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import functions

from costboost import CostBoostClassifier, Costs
from costboost.fitting.spread import PartsTable
from costboost.shards.parts import TablePart
from costboost.spark import SparkCostBoostClassifier
from costboost.spark.classifier import Reach, open_cluster
from costboost.spark.frame_columns import FrameColumns, RowReader
from same import assert_same, said
from spark_rows import FEATURES, answers_of, killing, make_rows, to_spark

PRICES = Costs(fp=8, fn="amount")
TABLE = make_rows()


def fit_locally(table, weight=None, **parameters):
    model = CostBoostClassifier(**parameters)
    weights = None if weight is None else table[weight]
    return model.fit(table[FEATURES], table["label"].to_numpy(), weights)


def assert_same_model(found, expected, table):
    assert_same(found, expected, "model")
    assert_same(found._model.members, expected._model.members, "ensembles")
    assert_same(said(found, table), said(expected, table), "said")


@pytest.mark.parametrize(
    ("n_partitions", "num_workers", "parameters"),
    [
        (1, 3, {"n_estimators": 20, "costs": PRICES}),
        (7, 2, {"method": "adacost", "n_estimators": 4, "costs": PRICES, "weight_col": "weight"}),
        (2, 1, {"method": "adamec", "n_estimators": 3, "subsample": 0.5, "calibration": None}),
    ],
)
def test_a_fit_is_that_of_the_rows_in_memory(spark, n_partitions, num_workers, parameters):
    parameters = {"random_state": 3, **parameters}
    classifier = SparkCostBoostClassifier(
        feature_cols=FEATURES, row_id_col="id", num_workers=num_workers, **parameters
    )
    found = classifier.fit(to_spark(spark, TABLE, n_partitions)).to_local()
    weight = parameters.pop("weight_col", None)
    assert_same_model(found, fit_locally(TABLE, weight, **parameters), TABLE[FEATURES])


def test_killed_tasks_leave_no_trace(spark):
    parameters = {"method": "csb2", "n_estimators": 4, "random_state": 0, "costs": PRICES}
    classifier = SparkCostBoostClassifier(
        feature_cols=FEATURES, row_id_col="id", num_workers=2, deadline=60.0, **parameters
    )
    # Between rounds, and in the middle of a tree.
    with killing(("begin_tree", 1, 0), ("divide_node", 9, 1)) as pending:
        found = classifier.fit(to_spark(spark, TABLE)).to_local()
    assert not pending
    assert_same_model(found, fit_locally(TABLE, **parameters), TABLE[FEATURES])


def test_parts_may_be_empty_of_one_row_and_of_one_class(spark):
    table = TABLE.sort_values("label").reset_index(drop=True)
    task = functions.when(functions.col("id") == table["id"][0], 1).otherwise(2)
    places = dict(zip(table["id"].tolist(), range(len(table)), strict=True))
    place = functions.create_map(*(functions.lit(v) for pair in places.items() for v in pair))
    frame = to_spark(spark, table).withColumn("place", place[functions.col("id")])
    columns = FrameColumns(tuple(FEATURES), None, label="label", prices=("amount",))
    dealt = frame.repartitionById(3, task).sortWithinPartitions("place")
    rows = columns.select(dealt)
    reader = RowReader.of(rows, columns)
    parameters = {"method": "csb1", "n_estimators": 3, "costs": PRICES, "random_state": 0}
    with open_cluster(rows, reader, 3, Reach(deadline=60.0), TablePart) as driver:
        spread = PartsTable(driver, FEATURES)
        assert [facts.n_rows for facts in spread._facts] == [0, 1, len(table) - 1]
        found = CostBoostClassifier(**parameters)
        found.fit(spread, spread.labels(), spread.weights())
    assert_same_model(found, fit_locally(table, **parameters), table[FEATURES])


def test_without_ids_the_order_is_that_of_partitions(spark):
    # Files and collections are read in their order.
    frame = spark.createDataFrame(TABLE.drop(columns=["height", "paid"])).coalesce(2)
    parameters = {"n_estimators": 3, "method": "adaboost", "subsample": 0.4, "random_state": 1}
    names = ["count", "colour", "amount"]
    classifier = SparkCostBoostClassifier(feature_cols=names, num_workers=3, **parameters)
    found = classifier.fit(frame).to_local()
    expected = CostBoostClassifier(**parameters).fit(TABLE[names], TABLE["label"].to_numpy())
    assert_same_model(found, expected, TABLE[names])


def test_labels_may_be_words_and_vectors_features(spark):
    from pyspark.ml.feature import VectorAssembler

    names = ["count", "amount", "weight"]
    table = TABLE.assign(label=np.where(TABLE["label"] == 1, "yes", "no"))
    frame = spark.createDataFrame(table[[*names, "label", "id"]])
    frame = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
    costs = Costs(fp=1, fn=5, positive="yes")
    parameters = {"n_estimators": 3, "method": "adamec", "costs": costs, "random_state": 1}
    classifier = SparkCostBoostClassifier(row_id_col="id", expected_cost_col="cost", **parameters)
    model = classifier.fit(frame)
    matrix = table[names].to_numpy(dtype=np.float64)
    expected = CostBoostClassifier(**parameters).fit(matrix, table["label"].to_numpy(object))
    assert_same_model(model.to_local(), expected, matrix)
    answers = answers_of(model, frame)
    assert answers["prediction"].tolist() == expected.predict(matrix).tolist()
    vectors = np.stack([vector.toArray() for vector in answers["probability"]])
    assert vectors.tobytes() == expected.predict_proba(matrix).tobytes()
    cheapest = expected.expected_cost(matrix).min(axis=1)
    assert answers["cost"].to_numpy().tobytes() == cheapest.tobytes()

"""Rows in the order of their numbers, dealt to tasks; bounds that stay when a fit goes on."""

import json

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import functions

from costboost.spark import SparkCostBoostClassifier
from costboost.spark.frame_columns import FrameColumns, _kept_bounds, deal_rows


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("label", "label_col='label' is null in 1 of 301 rows"),
        ("id", "row_id_col='id' is null in 1 of 301 rows"),
        ("weight", "weight_col='weight' is null in 1 of 301 rows"),
    ],
)
def test_nulls_are_refused(spark, frame, column, message):
    row = frame.first().asDict() | {column: None}
    more = frame.union(spark.createDataFrame([tuple(row.values())], frame.schema))
    classifier = SparkCostBoostClassifier(
        feature_cols=["count"], weight_col="weight", row_id_col="id"
    )
    with pytest.raises(ValueError, match=message):
        classifier.fit(more)


def dealt(rows):
    """Return the values of every partition, in their order."""
    number = functions.spark_partition_id().alias("task")
    found = {}
    for task, value in rows.select(number, "value").collect():
        found.setdefault(task, []).append(value)
    return found


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_tasks_get_ranges_of_ids_in_their_order_and_about_as_many(spark, n_tasks):
    ids = np.random.default_rng(0).permutation(90) - 40
    rows = [(int(i), int(i) + 1000) for i in ids]
    frame = spark.createDataFrame(rows, "`the id` int, value int").repartition(4, "value")
    found = dealt(deal_rows(frame, FrameColumns(("value",), None, row_id="the id"), n_tasks))
    assert sorted(found) == list(range(n_tasks))
    told = [value for task in range(n_tasks) for value in found[task]]
    assert told == sorted(value for _, value in rows)
    assert all(len(own) == 90 / n_tasks for own in found.values())


def test_fewer_rows_than_tasks_leave_some_with_none(spark):
    frame = spark.createDataFrame([(5, 50), (1, 10)], "id bigint, value int")
    found = dealt(deal_rows(frame, FrameColumns(("value",), None, row_id="id"), 3))
    assert [value for task in sorted(found) for value in found[task]] == [10, 50]


def test_bounds_are_kept_beside_the_checkpoint_once_there_is_one(tmp_path):
    checkpoint = tmp_path / "fit"
    assert _kept_bounds(None, 3, [10, 20]) == [10, 20]
    assert _kept_bounds(checkpoint, 3, [10, 20]) == [10, 20]
    assert _kept_bounds(checkpoint, 3, [11, 21]) == [11, 21]  # nothing was begun with the others
    checkpoint.write_bytes(b"begun")
    assert _kept_bounds(checkpoint, 3, [12, 22]) == [11, 21]
    assert json.loads((tmp_path / "fit.bounds").read_text()) == [11, 21]


def test_a_fit_goes_on_with_as_many_tasks_as_it_was_begun_with(tmp_path):
    checkpoint = tmp_path / "fit"
    _kept_bounds(checkpoint, 3, [10, 20])
    checkpoint.write_bytes(b"begun")
    with pytest.raises(ValueError, match=r"begun with 3 tasks, and there are 2 now: give num_work"):
        _kept_bounds(str(checkpoint), 2, [15])

"""Toy messages through real barrier jobs: order, numbering, killed tasks, errors."""

import time

import numpy as np
import pytest

from spark_parts import NumberReader, kill
from toy_parts import Part, add, fail, fetch_rows, square, sum_numbers

pytest.importorskip("pyspark")

from costboost.clusters.protocol import PartLostError
from costboost.spark.classifier import Reach, open_cluster
from costboost.spark.frame_columns import FrameColumns, deal_rows

NUMBERS = np.random.default_rng(0).permutation(100)


def frame_of(spark, partitions=4):
    rows = [(int(value), i) for i, value in enumerate(NUMBERS)]
    return spark.createDataFrame(rows, "value long, place long").repartition(partitions, "value")


def open_numbers(frame, n_tasks, **options):
    columns = FrameColumns(("value",), None, row_id="place")
    rows = deal_rows(columns.select(frame), columns, n_tasks)
    return open_cluster(rows, NumberReader(), n_tasks, Reach(deadline=60.0), Part, **options)


@pytest.mark.parametrize("n_tasks", [pytest.param(1, marks=pytest.mark.scale), 3])
def test_parts_hold_the_rows_in_the_order_of_their_ids(spark, n_tasks):
    with open_numbers(frame_of(spark), n_tasks) as driver:
        rows, total = driver.send([fetch_rows(), sum_numbers()])
        assert rows.tolist() == NUMBERS.tolist()
        assert total == NUMBERS.sum()


def test_rows_without_ids_are_in_the_order_of_partitions(spark):
    frame = spark.createDataFrame([(int(v),) for v in NUMBERS], "value long")
    columns = FrameColumns(("value",), None)
    rows = deal_rows(columns.select(frame), columns, 3)
    with open_cluster(rows, NumberReader(), 3, Reach(deadline=60.0), Part) as driver:
        (found,) = driver.send([fetch_rows()])
    assert found.tolist() == NUMBERS.tolist()


@pytest.mark.scale
def test_killed_tasks_are_built_again(spark, tmp_path):
    expected = ((NUMBERS + 3) ** 2) % 1_000_003 + 1
    with open_numbers(frame_of(spark), 3) as driver:
        driver.send([add(number=3)])
        driver.send([kill(number=int(NUMBERS[5]) + 3, folder=str(tmp_path), times=2), square()])
        (rows,) = driver.send([add(number=1), fetch_rows()])[1:]
        assert rows.tolist() == expected.tolist()
        assert len(list(tmp_path.iterdir())) == 2


def test_errors_of_users_come_as_they_are(spark):
    started = time.monotonic()
    with (
        open_numbers(frame_of(spark), 2) as driver,
        pytest.raises(ValueError, match="17 is here") as caught,
    ):
        driver.send([fail(number=17, kind=ValueError)])
    assert "in answer" in caught.value.__notes__[0]
    assert time.monotonic() - started < 60


@pytest.mark.scale
def test_what_fails_every_time_ends_with_its_own_traceback(spark):
    with (
        open_numbers(frame_of(spark), 2) as driver,
        pytest.raises(PartLostError, match="17 is here"),
    ):
        driver.send([fail(number=17, kind=MemoryError)])

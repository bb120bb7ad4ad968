"""What is lost on the way: tasks, executors, drivers, patience. The long ones: make test-scale."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("pyspark")

from pyspark import InheritableThread

from costboost import CostBoostClassifier, Costs
from costboost.clusters import protocol
from costboost.clusters.driver import Driver
from costboost.clusters.protocol import ClusterError, PartLostError, VersionsDifferError
from costboost.spark import SparkCostBoostClassifier
from same import assert_same
from spark_parts import sleep
from spark_rows import FEATURES, killing, make_rows, names_of, to_spark
from spark_sessions import ENVIRONMENT

PRICES = Costs(fp=8, fn="amount")
TABLE = make_rows()
SCRIPT = Path(__file__).parents[1] / "helpers" / "spark_script.py"
PARAMETERS = {"method": "adac2", "n_estimators": 3, "random_state": 0, "costs": PRICES}


def make(**options):
    given = {"feature_cols": FEATURES, "row_id_col": "id", "num_workers": 2, "deadline": 60.0}
    return SparkCostBoostClassifier(**{**given, **PARAMETERS, **options})


def assert_same_rounds(found, **options):
    expected = CostBoostClassifier(**{**PARAMETERS, **options})
    expected.fit(TABLE[FEATURES], TABLE["label"].to_numpy())
    assert_same(found, expected, "model")
    assert_same(found._model.members, expected._model.members, "ensembles")


def wait_for_jobs(spark, seconds=60.0):
    """Wait until Spark runs no job; say whether it came to that."""
    until = time.monotonic() + seconds
    tracker = spark.sparkContext.statusTracker()
    while tracker.getActiveJobsIds() and time.monotonic() < until:
        time.sleep(0.1)
    return not tracker.getActiveJobsIds()


def test_workers_of_another_make_are_refused_by_name(spark):
    ours = protocol.identity() | {"numpy": "0.1"}
    with (
        mock.patch.object(protocol, "identity", return_value=ours),
        pytest.raises(VersionsDifferError, match=r"numpy .*\(here 0.1\)"),
    ):
        make().fit(to_spark(spark, TABLE))
    assert wait_for_jobs(spark)


@pytest.mark.scale
def test_tasks_that_cannot_start_end_the_fit(spark):
    frame = to_spark(spark, TABLE).cache()
    frame.count()
    # Somebody else has two of three slots, and does not move.
    sleepers = spark.range(0, 2, 1, 2).mapInArrow(sleep, "id long")

    def occupy():
        spark.sparkContext.addJobTag("sleepers")
        with contextlib.suppress(Exception):
            sleepers.collect()

    thread = InheritableThread(occupy, session=spark)
    thread.start()
    tracker, until = spark.sparkContext.statusTracker(), time.monotonic() + 30
    while time.monotonic() < until and not any(
        tracker.getStageInfo(stage).numActiveTasks == 2 for stage in tracker.getActiveStageIds()
    ):
        time.sleep(0.1)
    try:
        with pytest.raises(ClusterError, match=r"started 0 of 2 tasks, and done nothing else"):
            make(deadline=3.0).fit(frame)
    finally:
        spark.sparkContext.cancelJobsWithTag("sleepers")
        thread.join()
        frame.unpersist()
    assert wait_for_jobs(spark)


def test_ctrl_c_frees_the_tasks(spark):
    send, sent = Driver.send, []

    def interrupted(driver, orders):
        sent.extend(names_of(orders))
        if sent.count("divide_node") == 3:
            raise KeyboardInterrupt
        return send(driver, orders)

    with mock.patch.object(Driver, "send", interrupted), pytest.raises(KeyboardInterrupt):
        make().fit(to_spark(spark, TABLE))
    assert wait_for_jobs(spark)


@pytest.mark.scale
@pytest.mark.parametrize(
    "moments",
    [
        [("fetch_facts", 0, 0)],
        [("describe_part", 0, 1)],
        [("glance_at_columns", 0, 0)],
        [("encode_part", 0, 1)],
        [("open_shard", 0, 0)],
        [("begin_tree", 1, 0), ("begin_tree", 2, 0)],
        [("divide_node", 2, 0), ("divide_node", 3, 0), ("divide_node", 4, 1)],
    ],
    ids=lambda moments: "+".join(f"{name}{count}" for name, count, _ in moments),
)
def test_tasks_may_be_killed_at_any_time(spark, moments):
    with killing(*moments) as pending:
        found = make().fit(to_spark(spark, TABLE)).to_local()
    assert not pending
    assert_same_rounds(found)


@pytest.mark.scale
def test_the_recipe_survives_kills(spark):
    recipe = {"method": "auto", "n_estimators": 20, "random_state": 5}
    with killing(("divide_node", 30, 0), ("advance_margins", 2, 1)) as pending:
        found = make(**recipe).fit(to_spark(spark, TABLE)).to_local()
    assert not pending
    assert_same_rounds(found, **recipe)


@pytest.mark.scale
def test_tasks_that_always_die_end_the_fit(spark):
    started = time.monotonic()
    moments = [("divide_node", count, 0) for count in range(1, 9)]
    with killing(*moments), pytest.raises(PartLostError, match="Part 0 of 2"):
        make(n_estimators=9).fit(to_spark(spark, TABLE))
    assert time.monotonic() - started < 120
    assert wait_for_jobs(spark)


@pytest.mark.scale
def test_two_fits_at_once_do_not_meet(spark):
    found = {}

    def fit(seed):
        found[seed] = make(random_state=seed, num_workers=1, subsample=0.5).fit(
            to_spark(spark, TABLE)
        )

    threads = [threading.Thread(target=fit, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2):
        assert_same_rounds(found[seed].to_local(), random_state=seed, subsample=0.5)


# --- in processes of their own


def run_script(*arguments, ok=True):
    """Run tests/helpers/spark_script.py; return what it printed last."""
    run = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | ENVIRONMENT,
        timeout=600,
    )
    assert (run.returncode == 0) == ok, run.stdout[-2000:] + run.stderr[-4000:]
    return json.loads(run.stdout.splitlines()[-1]) if ok else None


@pytest.mark.scale
def test_killed_executors_leave_no_trace():
    assert run_script("executors") == {"same": True, "starts": 2}


@pytest.mark.scale
def test_seven_tasks_give_the_same_bits():
    assert run_script("seven") == {"same": True, "starts": 1}


@pytest.mark.scale
def test_a_lost_driver_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "fit.checkpoint"
    run_script("die", path, ok=False)
    assert path.stat().st_size > 1000
    assert run_script("go-on", path) == {"same": True, "asked_again": False}
    run_script("go-on-with-other-rows", path, ok=False)


@pytest.mark.scale
def test_spark_connect_fits_keeps_and_survives_a_kill(tmp_path):
    assert run_script("connect", tmp_path) == {"same": True, "kept": True, "survived": True}

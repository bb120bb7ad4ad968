"""Fits that need a Spark of their own, or kill it: python tests/spark_script.py WHAT [PATH].

Prints one line of JSON at the end.
"""

import json
import os
import signal
import sys
import warnings
from pathlib import Path
from unittest import mock

import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.clusters.driver import Driver
from costboost.spark import SparkCostBoostClassifier, SparkCostBoostModel
from same import assert_same
from spark_rows import FEATURES, answers_of, killing, make_rows, names_of, to_spark
from spark_sessions import ENVIRONMENT, start_session

PARAMETERS = {
    "method": "csb2",
    "n_estimators": 6,
    "random_state": 0,
    "costs": Costs(fp=8, fn="amount"),
}
TABLE = make_rows()


def make(**options):
    given = {"feature_cols": FEATURES, "row_id_col": "id", "num_workers": 2, "deadline": 120.0}
    return SparkCostBoostClassifier(**{**given, **PARAMETERS, **options})


def is_same(found):
    expected = CostBoostClassifier(**PARAMETERS)
    expected.fit(TABLE[FEATURES], TABLE["label"].to_numpy())
    assert_same(found, expected, "model")
    assert_same(found._model.members, expected._model.members, "ensembles")
    return True


def counted_starts():
    """Note how often tasks were started, in a list of transports."""
    found, close = [], Driver.close

    def noted(driver):
        found.append(driver._transport.starts)
        close(driver)

    return found, mock.patch.object(Driver, "close", noted)


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])


def kill_executors():
    """Kill the executor of a task in the middle of a tree, and what it has started."""
    spark = start_session("local-cluster[2,1,1024]", spark__executor__memory="1g")
    send, seen = Driver.send, []

    def watched(driver, orders):
        seen.extend(names_of(orders))
        if seen.count("divide_node") == 9 and "killed" not in seen:
            seen.append("killed")
            caller = next(iter(driver._transport._callers.values()))
            worker = caller.hello.process
            daemon = parent(worker)
            for process in (parent(daemon), daemon, worker):
                os.kill(process, signal.SIGKILL)
        return send(driver, orders)

    starts, counting = counted_starts()
    with mock.patch.object(Driver, "send", watched), counting:
        found = make().fit(to_spark(spark, TABLE)).to_local()
    assert "killed" in seen
    return {"same": is_same(found), "starts": max(starts)}


def fit_on_seven():
    spark = start_session("local[7]")
    starts, counting = counted_starts()
    with counting:
        found = make(num_workers=7).fit(to_spark(spark, TABLE)).to_local()
    return {"same": is_same(found), "starts": max(starts)}


def die(path):
    """Kill this very process in the middle of a tree."""
    spark = start_session("local[2]")
    send, seen = Driver.send, []

    def watched(driver, orders):
        seen.extend(names_of(orders))
        if seen.count("divide_node") == 12:
            os.kill(os.getpid(), signal.SIGKILL)
        return send(driver, orders)

    with mock.patch.object(Driver, "send", watched):
        make(checkpoint=path).fit(to_spark(spark, TABLE))


def go_on(path, table=TABLE):
    spark = start_session("local[2]")
    asked, submit = [], Driver._travel

    def watched(driver, orders):
        asked.extend(names_of(orders))
        return submit(driver, orders)

    with mock.patch.object(Driver, "_travel", watched):
        found = make(checkpoint=path).fit(to_spark(spark, table)).to_local()
    # Rounds that were done before are not asked for again.
    return {"same": is_same(found), "asked_again": asked.count("begin_tree") >= 6}


def connect(folder):
    from pyspark.sql import SparkSession

    os.environ.update(ENVIRONMENT)
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.artifact.copyFromLocalToFs.allowDestLocal": "true",
    }
    builder = SparkSession.builder.remote("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    frame = to_spark(builder.getOrCreate(), TABLE)
    model = make(num_workers=None).fit(frame)
    model.save(f"{folder}/model")
    before = answers_of(model, frame)
    again = answers_of(SparkCostBoostModel.load(f"{folder}/model"), frame)
    kept = np.array_equal(before["prediction"], again["prediction"])
    with killing(("divide_node", 7, 1)) as pending:
        survivor = make().fit(frame).to_local()
    return {
        "same": is_same(model.to_local()),
        "kept": bool(kept),
        "survived": is_same(survivor) and not pending,
    }


WHAT = {
    "executors": kill_executors,
    "seven": fit_on_seven,
    "die": die,
    "go-on": go_on,
    "go-on-with-other-rows": lambda path: go_on(path, make_rows(seed=1)),
    "connect": connect,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(WHAT[sys.argv[1]](*sys.argv[2:])), flush=True)
    os._exit(0)  # sessions of Spark may take their time to end

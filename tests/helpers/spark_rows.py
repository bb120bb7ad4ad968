"""A small table for fits on Spark, as pandas and as a DataFrame, and fits that lose tasks."""

import os
import signal
from contextlib import contextmanager
from unittest import mock

import numpy as np
import pandas as pd

from costboost import Costs
from costboost.clusters.driver import Driver

FEATURES = ["height", "count", "colour", "paid", "amount"]


def make_rows(n_rows=500, seed=0):
    """Return numbers, whole numbers with nulls, categories, booleans, prices, weights, ids."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "height": rng.normal(size=n_rows),
            "count": rng.integers(0, 40, n_rows),
            "colour": rng.choice(["red", "green", "blue", "grey"], n_rows),
            "paid": rng.random(n_rows) < 0.5,
            "amount": np.round(rng.lognormal(3.0, 1.0, n_rows), 2),
            "weight": rng.integers(1, 4, n_rows).astype(float),
        }
    )
    score = table["height"] + 0.05 * table["count"] + (table["colour"] == "red") + table["paid"]
    table["label"] = (score + rng.normal(size=n_rows) > 2.5).astype(np.int64)
    table.loc[rng.random(n_rows) < 0.1, "height"] = np.nan
    table["id"] = np.sort(rng.choice(10 * n_rows, n_rows, replace=False)) - 3 * n_rows
    return table


TABLE = make_rows(300)  # that of the fixtures `frame` and `fitted`
PRICES = Costs(fp=8, fn="amount")
VECTOR = ["count", "amount"]  # what `fitted` learns from, as one column


def to_spark(spark, table, n_partitions=4, seed=1):
    """Return the rows in another order, spread unevenly, NaN as null."""
    schema = (
        "height double, count int, colour string, paid boolean, amount double, weight double, "
        "label bigint, id bigint"
    )
    mixed = table.sample(frac=1.0, random_state=seed)
    rows = [
        tuple(None if value != value else value for value in row)
        for row in mixed[schema_names(schema)].astype(object).itertuples(index=False)
    ]
    frame = spark.createDataFrame(rows, schema)
    return frame.repartition(n_partitions, "colour")


def answers_of(model, frame):
    """Return what a model makes of a DataFrame, in the order of ids."""
    answers = model.transform(frame).orderBy("id")
    return pd.DataFrame(answers.collect(), columns=answers.columns)


def schema_names(schema):
    return [part.split()[0] for part in schema.split(", ")]


@contextmanager
def killing(*moments):
    """Kill a task by SIGKILL just before some messages are sent.

    A moment is (name of a message's class, how often it was sent before, number of the part).
    """
    pending, seen, send = list(moments), {}, Driver.send

    def watched(driver, orders):
        for name in names_of(orders):
            seen[name] = seen.get(name, 0) + 1
            for moment in [m for m in pending if m[:2] == (name, seen[name] - 1)]:
                pending.remove(moment)
                kill_task(driver, moment[2])
        return send(driver, orders)

    with mock.patch.object(Driver, "send", watched):
        yield pending


def names_of(orders):
    """Return the names of the messages of a trip, those inside of others too."""
    for order in orders:
        call = order[0] if isinstance(order, list) else order
        yield call.message.__name__
        yield from (inner.message.__name__ for inner in call.arguments.get("calls", ()))


def kill_task(driver, part):
    callers = driver._transport._callers.values()
    (process,) = [c.hello.process for c in callers if c.hello.partition == part]
    os.kill(process, signal.SIGKILL)

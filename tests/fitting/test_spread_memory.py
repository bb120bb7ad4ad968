"""What the driver of a fit elsewhere holds of the rows while rounds are taken.

Nothing, unless rows are held out or dealt to folds: then it knows which, and answers for them.
"""

import multiprocessing
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.fitting.spread import PartsTable
from costboost.shards.parts import RawRows, TablePart, forward_to_shard

SIZES = (1_000, 5_000, 25_000)  # the first pays for what is loaded once


class Rows:
    """A source: rows made from a number."""

    def __init__(self, n_rows, number):
        self.n_rows, self.number = n_rows, number

    def read(self):
        rng = np.random.default_rng(self.number)
        x = rng.normal(size=(self.n_rows, 2))
        frame = pd.DataFrame(
            {"a": x[:, 0], "b": x[:, 1], "amount": rng.lognormal(size=self.n_rows)}
        )
        y = (x[:, 0] + rng.normal(size=self.n_rows) > 1).astype(np.int64)
        return RawRows(frame, y, rng.random(self.n_rows) + 0.5)


def hold_parts(pipe):
    """Answer messages about parts until there are no more; sources make new parts."""
    parts = []
    for messages in iter(pipe.recv, None):
        if isinstance(messages[0], Rows):
            parts = [TablePart(source) for source in messages]
            continue
        each = [m if isinstance(m, list) else [m] * len(parts) for m in messages]
        answers = [[m.answer(part) for m, part in zip(own, parts, strict=True)] for own in each]
        pipe.send([own[0].reduce(said) for own, said in zip(each, answers, strict=True)])


class Elsewhere:
    """Two parts in another process; notes what is held here when rounds are taken."""

    n_parts = 2

    def __init__(self, pipe, sources):
        self.pipe, self.held = pipe, []
        pipe.send(sources)

    def send(self, orders):
        if getattr(orders[0], "message", None) is forward_to_shard:
            self.held.append(tracemalloc.get_traced_memory()[0])
        self.pipe.send(orders)
        return self.pipe.recv()


@pytest.fixture(scope="module")
def pipe():
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=hold_parts, args=(there,))
    process.start()
    yield here
    here.send(None)
    process.join()


FIXED = {"n_estimators": 3, "max_depth": 2, "random_state": 0}
MODELS = {
    "adaboost": CostBoostClassifier("adaboost", calibration=None, **FIXED),
    "adac2": CostBoostClassifier("adac2", calibration=None, **FIXED),
    "log loss": GradientBoostClassifier(**FIXED),
    "lp-csb": PNormBoostClassifier(**FIXED),
    "squared": GradientBoostRegressor(**FIXED),
}


# Bytes a row, of all folds: some two more than was measured, less than one array more would take.
HOLDING = {
    "early stopping": (
        CostBoostClassifier("adac2", calibration=None, n_iter_no_change=2, **FIXED),
        10.0,
    ),
    "calibrated": (CostBoostClassifier("adac2", calibration="sigmoid", cv=2, **FIXED), 30.0),
    "auto": (CostBoostClassifier(cv=2, **FIXED), 54.0),
    "auto by votes": (CostBoostClassifier(cv=2, votes="real", **FIXED), 54.0),
}


def held_in_rounds(pipe, model, n_rows):
    """Return the least that is held at the messages of the last round, in bytes."""
    cluster = Elsewhere(pipe, [Rows(n_rows // 2, number) for number in range(2)])
    targets = isinstance(model, GradientBoostRegressor)
    table = PartsTable(cluster, ["a", "b", "amount"], targets=targets)
    given = {} if targets else {"costs": Costs(fp=1, fn="amount")}
    tracemalloc.start()
    try:
        model.fit(table, None, **given)
    finally:
        tracemalloc.stop()
    return min(cluster.held[-5:])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_nothing_as_long_as_the_rows_is_held(pipe, name):
    held = [held_in_rounds(pipe, MODELS[name], n) for n in SIZES]
    assert (held[2] - held[1]) / (SIZES[2] - SIZES[1]) < 0.5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", HOLDING)
def test_little_is_held_of_rows_that_are_dealt_to_folds(pipe, name):
    model, most = HOLDING[name]
    first, few, many = 1_000, 11_000, 31_000  # the recipe is another one below 10,000
    held = [held_in_rounds(pipe, model, n) for n in (first, few, many)]
    assert (held[2] - held[1]) / (many - few) < most

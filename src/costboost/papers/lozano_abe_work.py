"""The experiments behind Lozano and Abe's tables: one draw of costs and rows of one set."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from costboost import CostBoostClassifier, Costs, PNormBoostClassifier
from costboost.datasets import frequency_costs
from costboost.metrics import mean_cost
from costboost.papers.c45 import C45Classifier
from costboost.papers.cells import Row, seed_of
from costboost.papers.options import load_set

ROUNDS = 30
TEST = 1 / 3
POWERS = (1, 2, 3, 4, 5)
# C4.5 learns a table of n * K rows in every round: only where that is small.
MAX_PAIRS = 12_000
TREES, C45 = "trees", "C4.5"
LEAVES_OF = {"small": 2, "large": 80}  # J48's least rows in a leaf; those that rare classes need
LEAVES = 31


class Draw(NamedTuple):
    """Training and test rows, and the costs that were drawn."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    X_test: NDArray[np.float64]
    y_test: NDArray[Any]
    categorical: NDArray[np.bool_]
    costs: Costs


def cut(path: str, draw: int, folder: str | None) -> Draw:
    """Return a random third to test on; costs by the frequencies of the training rows."""
    data = load_set(path, folder)
    X, categorical = data.to_numpy()
    rng = np.random.RandomState(seed_of(path, draw))
    order = rng.permutation(len(data.y))
    # Every class must be trained on: a row of each comes first.
    first = [int(np.flatnonzero(data.y[order] == k)[0]) for k in np.unique(data.y)]
    order = np.concatenate([order[first], np.delete(order, first)])
    n = len(order) - int(TEST * len(order))
    train, test = order[:n], order[n:]
    y = data.y
    return Draw(X[train], y[train], X[test], y[test], categorical, frequency_costs(y[train], rng))


def lozano_abe_cell(path: str, draw: int, learner: str, folder: str | None) -> list[Row]:
    """Return the mean test cost of every method on one draw, on built-in trees or on C4.5."""
    drawn = cut(path, draw, folder)
    rows = []
    for name, model, given in (_models if learner == TREES else _c45_models)(drawn, draw):
        with warnings.catch_warnings():  # how soon a method ends is told by its rounds
            warnings.simplefilter("ignore", UserWarning)
            model.fit(drawn.X, drawn.y, **given)
            answers = model.predict(drawn.X_test)
        cost = float(mean_cost(drawn.y_test, answers, costs=drawn.costs))
        rows.append({"dataset": path, "draw": draw, "method": name, "cost": cost,
                     "rounds": model.n_iter_})  # fmt: skip
    return rows


Models = Iterator[tuple[str, Any, dict[str, Any]]]


def _models(drawn: Draw, draw: int) -> Models:
    """Yield the papers' methods, then other readings: step, leaves, hypotheses, reductions."""
    costs = {"costs": drawn.costs}
    common: dict[str, Any] = {
        "n_estimators": ROUNDS, "categorical_features": drawn.categorical, "random_state": draw,
    }  # fmt: skip
    trees: dict[str, Any] = {**common, "max_depth": None, "max_leaf_nodes": LEAVES}
    trees["calibration"] = None
    yield "adaboost", PNormBoostClassifier(method="adaboost.m2", **common), costs
    for method in ("adacost", "csb2"):
        yield method, CostBoostClassifier(method, **trees), costs
    for p in POWERS:
        yield f"p{p}", PNormBoostClassifier(p, **common), costs
    yield "p2, step 1/t", PNormBoostClassifier(2, step="average", **common), costs
    stochastic = PNormBoostClassifier(2, "lp-csb-a", "search", **common)
    yield "p2, stochastic, searched", stochastic, costs
    for size, least in LEAVES_OF.items():
        some = {**common, "min_samples_leaf": least}
        yield f"adaboost, {size} leaves", PNormBoostClassifier(method="adaboost.m2", **some), costs
        for p in (1, 2):
            yield f"p{p}, {size} leaves", PNormBoostClassifier(p, **some), costs
    yield "average cost", PNormBoostClassifier(method="average-cost", **common), costs
    weights = drawn.costs.bind(np.unique(drawn.y)).of_errors(drawn.y, how="max")
    yield "max cost", CostBoostClassifier("adaboost", **trees), {"sample_weight": weights}


def _c45_models(drawn: Draw, draw: int) -> Models:
    """Yield the three methods that can be had on C4.5, which learns pairs of row and class."""
    n_classes = len(np.unique(drawn.y))
    if len(drawn.y) * n_classes > MAX_PAIRS:
        return
    kinds = np.concatenate([drawn.categorical, np.zeros(n_classes, dtype=bool)])
    given: dict[str, Any] = {
        "n_estimators": ROUNDS, "random_state": draw,
        "estimator": C45Classifier(categorical_features=kinds),
    }  # fmt: skip
    costs = {"costs": drawn.costs}
    yield "adaboost, C4.5", PNormBoostClassifier(method="adaboost.m2", **given), costs
    for p in (1, 2):
        yield f"p{p}, C4.5", PNormBoostClassifier(p, **given), costs


def bound_path(path: str, folder: str | None) -> list[Row]:
    """Return the objective and Theorem 4.2's bound along the rounds, p = 2, step of Eq. 10."""
    drawn = cut(path, 0, folder)
    model = PNormBoostClassifier(
        2, "lp-csb-a", "bound", n_estimators=4 * ROUNDS, categorical_features=drawn.categorical
    ).fit(drawn.X, drawn.y, costs=drawn.costs)
    return [
        {"round": t + 1, "objective": float(value), "bound": float(bound)}
        for t, (value, bound) in enumerate(
            zip(model.objective_, model.objective_bound_, strict=True)
        )
    ]

"""The experiments behind the slides' three questions: one split of one set, all methods.

Costs are measured as shares of what the cheapest answer costs that is the same for all rows: 1 is
no better than not looking, 0 is free. A false alarm costs 1, a miss `ratio`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedShuffleSplit

from costboost import CostBoostClassifier, Costs
from costboost.metrics import total_cost
from costboost.papers.cells import Row, seed_of
from costboost.papers.options import Split, load_two_classes

ROUNDS = 50
DEPTH = 3
TEST = 0.3
RATIOS = (2, 5, 10, 50, 100, 1000)
RATIO = 5  # of the question on wrong costs
FACTORS = (0.2, 0.5, 1 / 1.2, 1.2, 2.0, 5.0)
NOISES = (1.2, 2.0, 5.0)
STAGES = (1, 2, 5, 10, 20, 50)
# Costs before the first round only; then in every round, each in its own way; then not at all.
ONCE = "cgada"
AGAIN = ("adacost", "csb2", "adac2", "asymada")
AT_DECISION = "adamec, calibrated"
IN_TRAINING = (ONCE, "adacost", "adac2")


def cut(path: str, split: int, folder: str | None) -> Split:
    """Return one random split by class."""
    X, y = load_two_classes(path, folder)
    splitter = StratifiedShuffleSplit(1, test_size=TEST, random_state=seed_of(path, split))
    train, test = next(splitter.split(X, y))
    return Split(X[train], y[train], X[test], y[test])


def share(split: Split, answers: NDArray[Any], ratio: float) -> float:
    """Return what answers cost on the test rows, as a share of the cheapest constant answer."""
    costs = Costs(fp=1.0, fn=float(ratio))
    y = split.y_test
    constant = min(total_cost(y, np.full(len(y), k), costs=costs) for k in (0, 1))
    return float(total_cost(y, answers, costs=costs)) / constant


def _fit(method: str, split: Split, costs: Costs) -> tuple[Any, float]:
    calibrated = method == AT_DECISION
    model = CostBoostClassifier(
        "adamec" if calibrated else method,
        ROUNDS,
        max_depth=DEPTH,
        calibration="sigmoid" if calibrated else None,
        random_state=0,
    )
    start = time.process_time()  # whatever else the machine does meanwhile
    with warnings.catch_warnings():  # how soon a method ends is told by its rounds
        warnings.simplefilter("ignore", UserWarning)
        model.fit(split.X, split.y, costs=costs)
    return model, time.process_time() - start


def question_cell(path: str, split_number: int, folder: str | None) -> list[Row]:
    """Return the rows of one split: what each method costs in each setting."""
    split = cut(path, split_number, folder)
    head = {"dataset": path, "split": split_number}
    rows = [*_ratio_rows(split), *_wrong_rows(split, seed_of("noise", path, split_number))]
    return [{**head, **row} for row in rows]


def _row(question: str, method: str, **rest: Any) -> Row:
    empty = {"setting": None, "stage": ROUNDS, "rounds": None, "seconds": None}
    return {"question": question, "method": method, **empty, **rest}


def _ratio_rows(split: Split) -> Iterator[Row]:
    """Every ratio: costs once, again, at the decision; and plain AdaBoost, which knows none."""
    for method in (ONCE, *AGAIN):
        for ratio in RATIOS:
            model, seconds = _fit(method, split, Costs(fp=1.0, fn=float(ratio)))
            facts = {"setting": ratio, "rounds": model.n_iter_, "seconds": seconds}
            for stage, answers in _staged(model, split):
                cost = share(split, answers, ratio)
                yield _row("ratio", method, **facts, stage=stage, cost=cost)
    for method in ("adaboost", AT_DECISION):
        model, seconds = _fit(method, split, Costs(fp=1.0, fn=1.0))
        for ratio in RATIOS:
            answers = _decide(model, method, split, Costs(fp=1.0, fn=float(ratio)))
            facts = {"setting": ratio, "rounds": model.n_iter_, "seconds": seconds}
            yield _row("ratio", method, **facts, cost=share(split, answers, ratio))


def _staged(model: Any, split: Split) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the answers after some rounds; a method that ended stays as it is."""
    answers = list(model.staged_predict(split.X_test)) or [model.predict(split.X_test)]
    for stage in STAGES:
        yield stage, answers[min(stage, len(answers)) - 1]


def _decide(model: Any, method: str, split: Split, costs: Costs) -> NDArray[Any]:
    if method == AT_DECISION:
        return np.asarray(model.predict(split.X_test, costs=costs))
    return np.asarray(model.predict(split.X_test))


def _wrong_rows(split: Split, seed: int) -> Iterator[Row]:
    """Prices of misses that are wrong by a factor, or by a random factor of each row."""
    rng = np.random.default_rng(seed)
    noises = {noise: rng.normal(size=len(split.y)) for noise in NOISES}
    at_test = {noise: rng.normal(size=len(split.y_test)) for noise in NOISES}
    for method in IN_TRAINING:
        for kind, size, prices in _wrong(noises):
            model, _ = _fit(method, split, Costs(fp=1.0, fn=prices))
            answers = model.predict(split.X_test)
            yield _row(kind, method, setting=size, cost=share(split, answers, RATIO))
    model, _ = _fit(AT_DECISION, split, Costs(fp=1.0, fn=1.0))
    for kind, size, prices in _wrong(at_test):
        answers = model.predict(split.X_test, costs=Costs(fp=1.0, fn=prices))
        yield _row(kind, AT_DECISION, setting=size, cost=share(split, answers, RATIO))


def _wrong(noises: dict[float, NDArray[np.float64]]) -> Iterator[tuple[str, float, Any]]:
    """Yield biases, then noises: log-normal, with a standard deviation of ln(noise)."""
    for factor in (1.0, *FACTORS):
        yield "bias", round(factor, 3), RATIO * factor
    for noise, draws in noises.items():
        yield "noise", noise, RATIO * np.exp(np.log(noise) * draws)

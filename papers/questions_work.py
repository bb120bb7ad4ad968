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
from papers.experiment import Row, Split, load_two_classes, seed_of

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
# Of the largest cost, in AdaCost: what `beta` adds to one half in every round.
SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)
SCALE_RATIOS = (2, 5, 9)  # within those of the slides' Table 2
# Ting and Zheng's methods, whose votes are also weighed by cost: one of the slides' variations.
VOTING = ("csb0", "csb1", "csb2")
VOTING_RATIOS = (2, 5, 10, 50)
# Made-up rows whose probabilities are known: what could be saved is known too.
WORLD_RATIOS = (2, 5, 10, 50, 100)
N_TRAIN, N_TEST = 2_000, 20_000
DEFAULT = "auto"
WORLD_METHODS = (ONCE, "adacost", "csb2", "adac2", AT_DECISION, DEFAULT, "adaboost")
DECIDED = (AT_DECISION, DEFAULT)  # whose costs enter in the decision


def cut(path: str, split: int, folder: str | None) -> Split:
    """Return one random split by class."""
    X, y = load_two_classes(path, folder)
    splitter = StratifiedShuffleSplit(1, test_size=TEST, random_state=seed_of(path, split))
    train, test = next(splitter.split(X, y))
    return Split(X[train], y[train], X[test], y[test])


def share(y: NDArray[Any], answers: NDArray[Any], ratio: float) -> float:
    """Return what answers cost on some rows, as a share of the cheapest constant answer."""
    costs = Costs(fp=1.0, fn=float(ratio))
    constant = min(total_cost(y, np.full(len(y), k), costs=costs) for k in (0, 1))
    return float(total_cost(y, answers, costs=costs)) / constant


def _fit(method: str, split: Split, costs: Costs, **given: Any) -> tuple[Any, float]:
    calibrated = method == AT_DECISION
    model = CostBoostClassifier(
        "adamec" if calibrated else method,
        ROUNDS,
        max_depth=DEPTH,
        calibration="sigmoid" if calibrated else None,
        random_state=0,
        **given,
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
                cost = share(split.y_test, answers, ratio)
                yield _row("ratio", method, **facts, stage=stage, cost=cost)
    for method in ("adaboost", AT_DECISION):
        model, seconds = _fit(method, split, Costs(fp=1.0, fn=1.0))
        for ratio in RATIOS:
            answers = _decide(model, method, split, Costs(fp=1.0, fn=float(ratio)))
            facts = {"setting": ratio, "rounds": model.n_iter_, "seconds": seconds}
            yield _row("ratio", method, **facts, cost=share(split.y_test, answers, ratio))


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
            yield _row(kind, method, setting=size, cost=share(split.y_test, answers, RATIO))
    model, _ = _fit(AT_DECISION, split, Costs(fp=1.0, fn=1.0))
    for kind, size, prices in _wrong(at_test):
        answers = model.predict(split.X_test, costs=Costs(fp=1.0, fn=prices))
        yield _row(kind, AT_DECISION, setting=size, cost=share(split.y_test, answers, RATIO))


def _wrong(noises: dict[float, NDArray[np.float64]]) -> Iterator[tuple[str, float, Any]]:
    """Yield biases, then noises: log-normal, with a standard deviation of ln(noise)."""
    for factor in (1.0, *FACTORS):
        yield "bias", round(factor, 3), RATIO * factor
    for noise, draws in noises.items():
        yield "noise", noise, RATIO * np.exp(np.log(noise) * draws)


def scale_cell(path: str, split_number: int, folder: str | None) -> list[Row]:
    """Return what AdaCost costs on one split by the scale of its costs, and CGAda (scale None)."""
    split = cut(path, split_number, folder)
    rows = []
    for ratio in SCALE_RATIOS:
        costs = Costs(fp=1.0, fn=float(ratio))
        for scale in (None, *SCALES):
            method, given = (ONCE, {}) if scale is None else ("adacost", {"cost_scale": scale})
            model, _ = _fit(method, split, costs, **given)
            answers = model.predict(split.X_test)
            rows.append(
                {
                    "dataset": path,
                    "split": split_number,
                    "ratio": ratio,
                    "scale": scale,
                    "cost": share(split.y_test, answers, ratio),
                    "training": share(split.y, model.predict(split.X), ratio),
                    "misses": float(np.mean(answers[split.y_test == 1] == 0)),
                    "false alarms": float(np.mean(answers[split.y_test == 0] == 1)),
                    "rounds": model.n_iter_,
                }
            )
    return rows


def voting_cell(path: str, split_number: int, folder: str | None) -> list[Row]:
    """Return what the CSB methods cost on one split by the sign of their votes, and by their price.

    By their price: the answer whose expected cost is least where the share of the votes for a class
    is taken for its chance.
    """
    split = cut(path, split_number, folder)
    rows = []
    for method in VOTING:
        for ratio in VOTING_RATIOS:
            model, _ = _fit(method, split, Costs(fp=1.0, fn=float(ratio)))
            F, A = model.decision_function(split.X_test), float(np.sum(model.estimator_weights_))
            share_of_votes = 0.5 * (1 + F / A) if A > 0 else np.full(len(F), 0.5)
            decided = {
                "sign": model.predict(split.X_test),
                "price": (ratio * share_of_votes > 1 - share_of_votes).astype(np.int64),
            }
            head = {"dataset": path, "split": split_number, "method": method, "ratio": ratio}
            for votes, answers in decided.items():
                paid = share(split.y_test, answers, ratio)
                rows.append({**head, "votes": votes, "cost": paid})
    return rows


def draw_world(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
    """Return a made-up table, the chance of every row to be positive, and labels drawn by it.

    One in six is positive; a slope, a product, a step and a wave, and four columns of noise.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 9))
    odds = -3 + 1.5 * X[:, 0] + X[:, 1] * X[:, 2] + 2 * (X[:, 3] > 0.8) + np.sin(3 * X[:, 4])
    chance = 1 / (1 + np.exp(-odds))
    return X, chance, (rng.uniform(size=n) < chance).astype(np.int64)


def expected_cost(answers: NDArray[Any], chance: NDArray[np.float64], ratio: float) -> float:
    """Return the mean of what answers must be expected to cost where chances are known."""
    return float(np.where(answers == 1, 1 - chance, ratio * chance).mean())


def world_cell(draw: int) -> list[Row]:
    """Return the share of the possible reduction that each method reaches on one made-up table.

    What can be reduced is the cost of the cheapest constant answer, down to that of whoever knows
    the chances and decides by them. 1 is all of it, 0 nothing, below 0 a constant is cheaper.
    """
    X, _, y = draw_world(N_TRAIN, 2 * draw)
    X_test, chance, y_test = draw_world(N_TEST, 2 * draw + 1)
    split = Split(X, y, X_test, y_test)
    rows = []
    for method in WORLD_METHODS:
        model = None
        for ratio in WORLD_RATIOS:
            costs = Costs(fp=1.0, fn=float(ratio))
            if model is None or method in (ONCE, *AGAIN):
                model = _world_fit(method, split, costs)
            answers = model.predict(X_test, **({} if method not in DECIDED else {"costs": costs}))
            paid = expected_cost(answers, chance, ratio)
            constant = min(expected_cost(np.full(N_TEST, k), chance, ratio) for k in (0, 1))
            least = expected_cost(chance * ratio > 1 - chance, chance, ratio)
            reached = (constant - paid) / (constant - least)
            rows.append({"draw": draw, "method": method, "ratio": ratio, "reached": reached})
    return rows


def _world_fit(method: str, split: Split, costs: Costs) -> Any:
    if method == DEFAULT:
        return CostBoostClassifier(random_state=0).fit(split.X, split.y)
    return _fit(method, split, costs if method in (ONCE, *AGAIN) else Costs(fp=1.0, fn=1.0))[0]

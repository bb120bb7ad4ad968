"""The experiments behind Nikolaou et al.'s poster: one split of one set, all methods and ratios."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost.rules import RULES
from costboost.metrics import brier_score, normalized_cost
from costboost.papers.cells import Row, seed_of
from costboost.papers.options import Split, load_two_classes
from costboost.papers.univariate import CheckedLogistic

# The fifteen of the poster, as the authors' later paper names them.
METHODS = (
    "adaboost", "adacost", "adacost-beta2", "csb0", "csb1", "csb2", "rareboost", "asymada", "adac1",
    "adac2", "adac3", "csada", "adaboostdb", "cgada", "adamec",
)  # fmt: skip
RECIPE = "auto"  # a method, and its own learner: it has trees of its own
LEARNERS = ("stump", "logistic")
# They differ in how they search for a stump: with other learners they are one.
TWINS = {"adaboostdb": "csada"}
N_BINS = 10


def cut(path: str, split: int, folder: str | None) -> Split:
    """Return halves of as many positives as negatives, the rest of the larger class left out."""
    X, y = load_two_classes(path, folder)
    rng = np.random.default_rng(seed_of(path, split))
    n = int(min(y.sum(), len(y) - y.sum()))
    kept = np.concatenate([rng.permutation(np.flatnonzero(y == k))[:n] for k in (0, 1)])
    X, y = X[kept], y[kept]
    a, b, c, d = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
    return Split(a, c, b, d)


def nikolaou_cell(
    path: str, split_number: int, learner: str, ratios: tuple[float, ...], rounds: int,
    folder: str | None,
) -> list[Row]:  # fmt: skip
    """Return the normalised costs of all methods at all ratios, calibrated and not."""
    split = cut(path, split_number, folder)
    head = {"dataset": path, "split": split_number, "learner": learner}
    if learner == RECIPE:
        found = _method_rows(split, RECIPE, True, learner, ratios, rounds)
        return [{**head, "method": RECIPE, "calibrated": 1, **row} for row in found]
    rows: dict[tuple[str, bool], list[Row]] = {}
    for method in METHODS:
        for calibrated in (False, True):
            twin = None if learner == "stump" else rows.get((TWINS.get(method, ""), calibrated))
            rows[method, calibrated] = twin or list(
                _method_rows(split, method, calibrated, learner, ratios, rounds)
            )
    return [
        {**head, "method": method, "calibrated": int(calibrated), **row}
        for (method, calibrated), found in rows.items()
        for row in found
    ]


def _method_rows(
    split: Split, method: str, calibrated: bool, learner: str, ratios: tuple[float, ...],
    rounds: int,
) -> Iterator[Row]:  # fmt: skip
    on_costs = method != RECIPE and RULES[method].trains_on_costs
    model = None
    for ratio in ratios:
        costs = prices(ratio)
        if model is None or on_costs:
            model = _fit(split, method, calibrated, learner, rounds, costs)
        answers = _decide(model, method, calibrated, split, costs)
        p = model.predict_proba(split.X_test)[:, 1]
        yield {
            "ratio": ratio,
            "q": float(normalized_cost(split.y_test, answers, costs=costs)),
            "brier": float(brier_score(split.y_test, p)),
            "bins": _bins(split.y_test, _scores(model, calibrated, split, p))
            if ratio == 1 and method == "adamec"
            else None,
        }


def prices(ratio: float) -> Costs:
    """Return a miss of price `ratio` to a false alarm's 1, or (below 1) the reverse."""
    return Costs(fp=1.0, fn=float(ratio)) if ratio >= 1 else Costs(fp=float(1 / ratio), fn=1.0)


def _fit(
    split: Split, method: str, calibrated: bool, learner: str, rounds: int, costs: Costs
) -> Any:
    given: dict[str, Any] = {"random_state": 0}
    if method != RECIPE:
        given |= {"n_estimators": rounds, "calibration": "sigmoid" if calibrated else None}
        given |= {"cv": 0.5}  # half of the training rows to train on, half to calibrate on
        given |= {"max_depth": 1} if learner == "stump" else {"estimator": CheckedLogistic()}
    with warnings.catch_warnings():  # a method that ends early is judged as it is
        warnings.simplefilter("ignore", UserWarning)
        return CostBoostClassifier(method, **given).fit(split.X, split.y, costs=costs)


def _decide(model: Any, method: str, calibrated: bool, split: Split, costs: Costs) -> Any:
    if calibrated or method == "adamec":
        return model.predict(split.X_test, costs=costs)
    return model.predict(split.X_test)


def _scores(model: Any, calibrated: bool, split: Split, p: NDArray[np.float64]) -> Any:
    """Return the poster's scores: the share of the votes, or what calibration made of it."""
    if calibrated:
        return p
    total = float(np.sum(model.estimator_weights_))
    return np.clip(0.5 * (1 + model.decision_function(split.X_test) / total), 0.0, 1.0)


def _bins(y: NDArray[Any], p: NDArray[np.float64]) -> str:
    """Return scores, positives and rows of ten equal bins of scores, as text."""
    which = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    sums = [np.bincount(which, v, minlength=N_BINS) for v in (p, y, np.ones(len(y)))]
    return " ".join(f"{value:.6g}" for value in np.concatenate(sums))

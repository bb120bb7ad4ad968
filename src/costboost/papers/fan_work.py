"""The experiments behind Fan et al.'s Table 2 and figures: one fold of one set, all methods.

Losses are percentages of what it would cost to get every row wrong ("percentage cumulative loss").
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.papers.cells import Row
from costboost.papers.options import load_set

Floats = NDArray[np.float64]

ROUNDS = 50
FOLDS = 10
SCALE = 0.1
OVERHEADS = (60, 70, 80, 90)
N_CARDS = 8000
# Trees whose leaves vote with their Laplace-corrected confidence stand for cRipper's rules.
TREE: dict[str, Any] = {"max_depth": 3, "votes": "confidence", "laplace": True, "calibration": None}
_ADABOOST = {"method": "cgada", "n_estimators": ROUNDS}
_ADACOST = {"method": "adacost", "n_estimators": ROUNDS, "cost_scale": SCALE}
METHODS: dict[str, dict[str, Any]] = {
    "tree": {"method": "cgada", "n_estimators": 1},
    "adaboost": {**_ADABOOST, "alpha": "search"},
    "adacost": _ADACOST,
    "adaboost, estimate": _ADABOOST,
    "adacost, estimate": {**_ADACOST, "alpha": "estimate"},
    "adaboost, no costs": {**_ADABOOST, "method": "adaboost", "alpha": "search"},
}


class Fold(NamedTuple):
    """Training rows, and the rows to test on."""

    X: Floats
    y: NDArray[np.int64]
    X_test: Floats
    y_test: NDArray[np.int64]


def cut(path: str, fold: int, folder: str | None, n_folds: int = FOLDS) -> Fold:
    """Return a fold by class; of sets with a test part, a tenth of that, and all of the rest."""
    data = load_set(path, folder)
    X, y = data.to_numpy()[0], (data.y == data.positive).astype(np.int64)
    if path == "dis" and data.n_train is not None:
        test = np.arange(data.n_train, len(y))[fold::n_folds]
        return Fold(X[: data.n_train], y[: data.n_train], X[test], y[test])
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    train, test = list(splitter.split(X, y))[fold]
    return Fold(X[train], y[train], X[test], y[test])


def fit(method: str, X: Any, y: Any, costs: Costs) -> Any:
    """Return a fitted model of one of `METHODS`."""
    with warnings.catch_warnings():  # how soon AdaCost ends is told by its rounds
        warnings.simplefilter("ignore", UserWarning)
        return CostBoostClassifier(**METHODS[method], **TREE, random_state=0).fit(X, y, costs=costs)


def loss(answers: Any, y: Any, prices: Any) -> float:
    """Return what wrong answers cost, in percent of all rows' prices."""
    return 100 * float(np.sum(prices * (answers != y)) / np.sum(prices))


def fan_cell(path: str, fold: int, ratios: tuple[int, ...], folder: str | None) -> list[Row]:
    """Return the losses of all methods at all ratios on one fold, after every round."""
    rows: list[Row] = []
    rows_of = cut(path, fold, folder)
    for ratio in ratios:
        prices = np.where(rows_of.y_test == 1, float(ratio), 1.0)
        costs = Costs(fp=1.0, fn=float(ratio))
        for method in METHODS:
            model = fit(method, rows_of.X, rows_of.y, costs)
            staged = list(model.staged_predict(rows_of.X_test)) or [model.predict(rows_of.X_test)]
            path_of = [loss(answers, rows_of.y_test, prices) for answers in staged]
            rows.append(
                {
                    "dataset": path,
                    "fold": fold,
                    "ratio": ratio,
                    "method": method,
                    "loss": path_of[-1],
                    "rounds": model.n_iter_,
                    "path": " ".join(f"{value:.3f}" for value in path_of),
                }
            )
    return rows


def chase_cell(draw: int) -> list[Row]:
    """Return losses on made-up card payments, one in five a fraud, by overhead."""
    return list(_chase_rows(draw))


def _chase_rows(draw: int) -> Iterator[Row]:
    train, test = (
        make_card_fraud(N_CARDS, fraud_rate=0.2, random_state=2 * draw + k, as_frame="numpy")
        for k in (0, 1)
    )
    X, X_test = train.to_numpy()[0], test.to_numpy()[0]
    assert train.amount is not None
    assert test.amount is not None
    for overhead in OVERHEADS:
        # A fraud is worth its amount less the overhead of looking; a false alarm the overhead.
        worth = np.maximum(train.amount - overhead, 0.01)
        worth_test = np.maximum(test.amount - overhead, 0.01)
        costs = Costs(fp=float(overhead), fn=worth)
        prices = np.where(test.y == 1, worth_test, float(overhead))
        for method in METHODS:
            model = fit(method, X, train.y, costs)
            answers = model.predict(X_test)
            facts = {"dataset": "chase", "fold": draw, "ratio": overhead, "method": method}
            yield {**facts, "loss": loss(answers, test.y, prices), "rounds": model.n_iter_}

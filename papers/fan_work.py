"""The experiments behind Fan et al.'s Table 2 and figures: one fold of one set, all methods.

Losses are percentages of what it would cost to get every row wrong ("percentage cumulative loss").
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from papers.experiment import Row, load_set
from papers.ripper import RuleClassifier

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


# The same on the rules of `ripper.py`, which stand for cRipper more closely, and take less time.
ON_RULES: dict[str, dict[str, Any] | None] = {
    "rules": None,  # one list of rules, on rows weighed by cost
    "adaboost, rules": {**_ADABOOST, "alpha": "search"},
    "adacost, rules": _ADACOST,
}
# The slides train on one month and test on the second one after it. Made-up thieves move on: the
# shops where they spend most keep so many of the frauds that they had in the month before.
MONTHS = (0, 2)
SPENT_AT = ("electronics", "gift cards", "travel")
KEPT = 0.7


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


def rules_cell(path: str, fold: int, ratios: tuple[int, ...], folder: str | None) -> list[Row]:
    """Return the losses of rules, alone and boosted, at all ratios on one fold."""
    rows: list[Row] = []
    rows_of, kinds = cut(path, fold, folder), load_set(path, folder).to_numpy()[1]
    learner = RuleClassifier(categorical_features=kinds, random_state=0)
    for ratio in ratios:
        prices, to_test = (np.where(y == 1, float(ratio), 1.0) for y in (rows_of.y, rows_of.y_test))
        for method, given in ON_RULES.items():
            model: Any = clone(learner)
            if given is None:
                model.fit(rows_of.X, rows_of.y, sample_weight=prices)
                rounds = 1
            else:
                model = CostBoostClassifier(
                    **given, estimator=learner, votes="confidence", calibration=None, random_state=0
                )
                with warnings.catch_warnings():  # how soon a method ends is told by its rounds
                    warnings.simplefilter("ignore", UserWarning)
                    model.fit(rows_of.X, rows_of.y, costs=Costs(fp=1.0, fn=float(ratio)))
                rounds = model.n_iter_
            paid = loss(model.predict(rows_of.X_test), rows_of.y_test, to_test)
            head = {"dataset": path, "fold": fold, "ratio": ratio, "method": method}
            rows.append({**head, "loss": paid, "rounds": rounds})
    return rows


class Payments(NamedTuple):
    """Card payments of one month: the table, frauds, amounts."""

    X: Floats
    y: NDArray[np.int64]
    amount: Floats


def draw_month(months: int, seed: int) -> Payments:
    """Return made-up payments, one in five a fraud in the first month, some months after it."""
    data = make_card_fraud(N_CARDS, fraud_rate=0.2, random_state=seed, as_frame="numpy")
    assert data.amount is not None
    merchants = np.asarray(data.X)[:, data.feature_names.index("merchant")]
    lost = (data.y == 1) & np.isin(merchants, SPENT_AT)
    chance = np.random.default_rng(seed).uniform(size=len(lost))
    kept = ~lost | (chance < KEPT**months)
    return Payments(data.to_numpy()[0][kept], data.y[kept], data.amount[kept])


def chase_cell(draw: int) -> list[Row]:
    """Return losses on made-up card payments by overhead: of the same month, and of a later one."""
    return list(_chase_rows(draw))


def _chase_rows(draw: int) -> Iterator[Row]:
    train = draw_month(0, 2 * draw)
    for overhead in OVERHEADS:
        # A fraud is worth its amount less the overhead of looking; a false alarm the overhead.
        worth = np.maximum(train.amount - overhead, 0.01)
        for method in METHODS:
            model = fit(method, train.X, train.y, Costs(fp=float(overhead), fn=worth))
            for months in MONTHS:
                test = draw_month(months, 2 * draw + 1)
                worth_test = np.maximum(test.amount - overhead, 0.01)
                prices = np.where(test.y == 1, worth_test, float(overhead))
                answers = model.predict(test.X)
                facts = {"dataset": f"chase, {months}", "fold": draw, "ratio": overhead}
                paid = loss(answers, test.y, prices)
                yield {**facts, "method": method, "loss": paid, "rounds": model.n_iter_}


# ------------------------------------------------------------ the theory, round by round
#     f'(x) = sum_t alpha_t h_t(x) beta(sign(y h_t(x)), c),   beta = 1/2 - sign c/2
#
# Lemma 1: rows that sign(f') gets right, sign(f) gets right. Then sum c [H wrong] <=
# sum c e^(-y f') = sum c * prod Z (the slides' Eq. 6 to 9).


def bound_path(fold: Fold, method: str, ratio: float) -> list[Row]:
    """Return cost, bound, and what Lemma 1 and the identity say, after every round."""
    model = fit(method, fold.X, fold.y, Costs(fp=1.0, fn=ratio))
    signs = 2.0 * fold.y - 1
    c = np.where(fold.y == 1, ratio, 1.0) * SCALE / max(ratio, 1.0)
    F = np.array([np.zeros(len(signs)), *model.staged_decision_function(fold.X)])
    votes = np.diff(F, axis=0)  # alpha_t h_t
    right = np.sign(signs * votes)
    beta = 0.5 - 0.5 * right * c if method.startswith("adacost") else np.ones_like(votes)
    inner = np.cumsum(signs * votes * beta, axis=0)  # y f'
    outer = signs * F[1:]  # y f
    total = c.sum()
    tests = list(model.staged_predict(fold.X_test))
    prices = np.where(fold.y_test == 1, ratio, 1.0)
    rows = []
    for t in range(len(votes)):
        rows.append(
            {
                "method": method,
                "round": t + 1,
                "cost": 100 * float(c[outer[t] <= 0].sum() / total),
                "bound": 100 * float(np.prod(model.normalizers_[: t + 1])),
                "identity": 100 * float((c * np.exp(-inner[t])).sum() / total),
                "against Lemma 1": int(np.sum((inner[t] > 0) & (outer[t] <= 0))),
                "fresh rows": loss(tests[t], fold.y_test, prices),
            }
        )
    return rows


def summary(paths: dict[str, list[Row]]) -> list[Row]:
    """Return, for each method, whether lemma, identity and bound held in every round."""
    return [
        {
            "method": method,
            "rounds": len(rows),
            "rows against Lemma 1": sum(row["against Lemma 1"] for row in rows),
            "identity off by": _largest(row["identity"] / row["bound"] - 1 for row in rows),
            "cost above bound": sum(row["cost"] > row["bound"] * (1 + 1e-9) for row in rows),
            "cost": rows[-1]["cost"],
            "bound": rows[-1]["bound"],
            "fresh rows": rows[-1]["fresh rows"],
        }
        for method, rows in paths.items()
    ]


def _largest(values: Any) -> str:
    return f"{max(abs(float(value)) for value in values):.1e}"

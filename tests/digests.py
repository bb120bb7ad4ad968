"""Digests of what models answer, to show that a change of the code changes no model.

    python tests/digests.py write before.json     # on the commit before the change
    python tests/digests.py compare before.json   # on the commit after it: names what differs

Every case fits a model and hashes what its public methods answer, bit for bit: probabilities,
margins, stages, decisions, expected costs and the curves of its rounds. Only public names are used,
so that the script runs unchanged on both commits. The cases cross methods and losses with votes,
calibrations, prices (none, by class, by row, by column), weights, missing values, categories, two
and five classes, threads, sampling, early stopping, constraints, Parquet files and Dask.
Digests depend on the machine's C library: compare only what was written on the same machine.

A third argument limits the run to the cases whose name contains it: `write few.json auto`.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import costboost as cb

MANY = ("adaboost", "adamec", "cgada", "adac2", "csb0", "csb1", "csb2", "adacost")
TWO = (
    *("asymada", "adacost-beta1", "adacost-beta2", "adac1", "adac3", "csada", "adaboostdb"),
    *("rareboost", "adauboost", "gradient-csb"),
)
VOTES = ("discrete", "confidence", "real", "gentle")
CALIBRATIONS = ("sigmoid", "sigmoid-brier", "beta", "isotonic", "temperature", "bias-corrected")
PRICES = ("none", "class", "row", "column")
LOSSES = ("log", "exponential", "cost-exponential", "expected-cost")
REGRESSION = ("squared", "absolute", "huber", "pinball")
PNORM = ("lp-csb", "lp-csb-pa", "lp-csb-a", "dse", "gbse", "average-cost", "adaboost.m2")
N_ROWS = 320
N_NEW = 40
SMALL = {"n_estimators": 6, "random_state": 0, "verbose": 0}
CURVES = (
    *("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_", "cost_bound_"),
    *("validation_cost_", "validation_loss_", "validation_rounds_", "train_loss_", "n_iter_"),
)


# ---- tables and prices


@cache
def table(n_classes: int, n_rows: int = N_ROWS) -> tuple[pd.DataFrame, np.ndarray]:
    """Return columns with missing values, ties and categories, and labels of 0 to K - 1."""
    rng = np.random.default_rng(10 * n_classes + n_rows)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=["a", "b", "c", "d"])
    X["c"] = X["c"].round(1)
    X["amount"] = rng.lognormal(3, 1, n_rows).round(2)
    X["town"] = pd.Categorical(rng.choice(["Bern", "Oslo", "Rome", "Ulm"], n_rows))
    pull = X["a"] + X["c"] * X["b"] + (X["town"] == "Ulm") + rng.normal(size=n_rows)
    y = np.digitize(pull, np.quantile(pull, np.linspace(0, 1, n_classes + 1)[1:-1] ** 0.7))
    for name, share in {"a": 0.1, "d": 0.3, "town": 0.1}.items():
        X.loc[rng.uniform(size=n_rows) < share, name] = None
    return X, y


def prices(kind: str, n_classes: int, X: pd.DataFrame) -> cb.Costs | None:
    """Return costs by class, by row or by column for the rows of a table."""
    if kind == "none":
        return None
    if n_classes == 2:
        amount = {"class": 7.5, "row": 0.3 * X["amount"].to_numpy(), "column": "amount"}
        return cb.Costs(fp=2.5, fn=amount[kind], tp=0.5)
    rng = np.random.default_rng(1)
    C = rng.uniform(0.5, 9, size=(n_classes, n_classes)).round(1)
    np.fill_diagonal(C, 0)
    if kind == "row":
        C = C * X["amount"].to_numpy()[:, None, None]
    return cb.Costs.from_matrix(C)


def weights(kind: str, n_rows: int) -> np.ndarray | None:
    """Return no weights, whole ones with some zeros, or fractions."""
    rng = np.random.default_rng(2)
    made = {"whole": rng.integers(0, 4, n_rows).astype(float), "parts": rng.uniform(size=n_rows)}
    return made.get(kind)


# ---- what is hashed


def answers(model: Any, X: pd.DataFrame, costs: Any = None) -> Iterator[tuple[str, Any]]:
    """Yield (name, array) of what a fitted model answers for a table's first rows."""
    asked = {} if costs is None else {"costs": costs}
    for name in ("predict_proba", "decision_function", "predict"):
        if hasattr(model, name):
            yield name, getattr(model, name)(X)
    if costs is not None and hasattr(model, "predict_proba"):
        for name in ("predict", "expected_cost"):
            try:
                yield f"{name} by costs", getattr(model, name)(X, **asked)
            except ValueError as error:  # an uncalibrated method that learnt from costs
                yield f"{name} by costs", str(type(error))
    for name in ("staged_predict_proba", "staged_decision_function"):
        if hasattr(model, name):
            yield name, np.array(list(getattr(model, name)(X)))
    yield from ((name, getattr(model, name)) for name in CURVES if hasattr(model, name))


def reasons(model: Any, X: pd.DataFrame) -> Iterator[tuple[str, Any]]:
    """Yield what else reads a fitted model: explanations, importances, and a file's copy."""
    found = model.contributions(X[:5])
    yield from ((name, getattr(found, name)) for name in ("values", "base"))
    yield "importances", model.importances("gain")
    with tempfile.TemporaryDirectory() as folder:
        cb.save(model, f"{folder}/model.cb")
        yield from answers(cb.load(f"{folder}/model.cb"), X)


def digest(found: Iterator[tuple[str, Any]]) -> str:
    """Return the digest of named arrays, lists of arrays, and texts."""
    whole = hashlib.sha256()
    for name, value in found:
        whole.update(name.encode())
        for part in value if isinstance(value, (list, tuple)) else [value]:
            array = np.asarray(part)
            array = array.astype(str) if array.dtype == object else array
            whole.update(str((array.shape, array.dtype.str)).encode())
            whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:20]


# ---- cases: name -> function that returns a digest

Case = Callable[[], str]


def fit_and_ask(
    model: Any, n_classes: int, price: str = "none", weight: str = "none", n_rows: int = N_ROWS
) -> str:
    X, y = table(n_classes, n_rows)
    given: dict[str, Any] = {}
    if weight != "none":
        given["sample_weight"] = weights(weight, n_rows)
    costs = prices(price, n_classes, X)
    if costs is not None:
        given["costs"] = costs
    new = costs[:N_NEW] if costs is not None else None
    return digest(answers(model.fit(X, y, **given), X[:N_NEW], new))


def classifiers() -> Iterator[tuple[str, Case]]:
    """Named methods of the AdaBoost family, and the recipe."""
    boost = cb.CostBoostClassifier
    for method, price, weight in product((*MANY, *TWO, "auto"), PRICES, ("none", "whole", "parts")):
        for n_classes in (2, 5) if method in (*MANY, "auto") else (2,):
            if n_classes == 5 and price == "column":
                continue
            params = {**SMALL, "n_estimators": 20 if method == "auto" else 6}
            yield (
                f"{method} of {n_classes}, prices {price}, weights {weight}",
                lambda m=method, p=params, k=n_classes, c=price, w=weight: fit_and_ask(
                    boost(m, **p), k, c, w
                ),
            )
    for method, votes, price in product((*MANY, *TWO, "auto"), VOTES, ("none", "class", "row")):
        yield (
            f"{method} with {votes} votes, prices {price}",
            lambda m=method, v=votes, c=price: fit_and_ask(
                boost(m, votes=v, **SMALL), 2, c, "whole"
            ),
        )
    for method, calibration, n_classes, price in product(
        ("adaboost", "cgada", "adac2"), CALIBRATIONS, (2, 5), ("none", "class", "row")
    ):
        for name, params in {
            "5 folds": {},
            "a share": {"cv": 0.4},
            "one model": {"ensemble": False, "cv": 3},
        }.items():
            yield (
                f"{method} of {n_classes} calibrated by {calibration}, {name}, prices {price}",
                lambda m=method, a=calibration, p=params, k=n_classes, c=price: fit_and_ask(
                    boost(m, calibration=a, **p, **SMALL), k, c
                ),
            )
    settings = {
        "stumps": {"max_depth": 1},
        "8 leaves": {"max_depth": None, "max_leaf_nodes": 8},
        "entropy": {"criterion": "entropy"},
        "error": {"criterion": "error"},
        "sampled rows": {"subsample": 0.5},
        "drawn columns": {"max_features": 2},
        "shrunk": {"learning_rate": 0.3},
        "few bins": {"max_bins": 9},
        "searched steps": {"alpha": "search"},
        "large leaves": {"min_samples_leaf": 30, "min_weight_leaf": 0.1},
        "monotone": {"monotonic_cst": {"a": 1, "d": -1}},
        "no interactions": {"interaction_cst": "no_interactions"},
        "stopped early": {"n_iter_no_change": 2, "n_estimators": 15},
        "stopped by log loss": {"n_iter_no_change": 2, "early_stopping_metric": "log_loss"},
        "two threads": {"n_jobs": 2},
    }
    for method, (name, params), price in product(
        ("adaboost", "cgada", "adacost", "csb2", "adac2", "csada", "gradient-csb", "auto"),
        settings.items(),
        ("class", "row"),
    ):
        yield (
            f"{method}, {name}, prices {price}",
            lambda m=method, p=params, c=price: fit_and_ask(boost(m, **{**SMALL, **p}), 2, c),
        )
    kept = {
        **{f"{m} of {k}": (boost(m, **SMALL), k) for m in (*MANY, "auto") for k in (2, 5)},
        **{m: (boost(m, **SMALL), 2) for m in TWO},
        **{
            f"calibrated by {a}": (boost("adac1", calibration=a, **SMALL), 2)
            for a in CALIBRATIONS[:4]
        },
        **{f"{v} votes": (boost("adaboost", votes=v, **SMALL), 2) for v in VOTES},
        **{
            f"{f} of {k}": (cb.GradientBoostClassifier(f, **SMALL), k)
            for f in LOSSES
            for k in (2, 5)
        },
        **{f"{m} of 5": (cb.PNormBoostClassifier(2, m, **SMALL), 5) for m in PNORM},
    }
    for name, (model, n_classes) in kept.items():
        yield f"reasons and file of {name}", lambda m=model, k=n_classes: keep_and_explain(m, k)
    for method, price, n_jobs in product(("adaboost", "adac2", "auto"), ("class", "row"), (1, 2)):
        yield (
            f"{method} of 60,000 rows, prices {price}, {n_jobs} threads",
            lambda m=method, c=price, n=n_jobs: fit_and_ask(
                boost(m, **{**SMALL, "n_estimators": 10, "n_jobs": n}), 2, c, "whole", 60_000
            ),
        )


def keep_and_explain(model: Any, n_classes: int) -> str:
    X, y = table(n_classes)
    costs = prices("class", n_classes, X)
    return digest(reasons(model.fit(X, y, costs=costs), X[:N_NEW]))


def gradient() -> Iterator[tuple[str, Case]]:
    """Gradient boosting of classes and of numbers."""
    settings = {
        "plain": {},
        "exact steps": {"step": "exact"},
        "line search": {"step": "line-search"},
        "sampled": {"subsample": 0.5, "max_features": 2},
        "calibrated": {"calibration": "beta", "cv": 3},
        "stopped": {"n_iter_no_change": 2, "n_estimators": 15},
        "monotone": {"monotonic_cst": {"a": 1}},
        "two threads": {"n_jobs": 2},
    }
    for loss, n_classes, (name, params), price in product(
        LOSSES, (2, 5), settings.items(), ("none", "class", "row")
    ):
        yield (
            f"gradient {loss} of {n_classes}, {name}, prices {price}",
            lambda f=loss, k=n_classes, p=params, c=price: fit_and_ask(
                cb.GradientBoostClassifier(f, **{**SMALL, **p}), k, c, "whole"
            ),
        )
    numbers = {k: v for k, v in settings.items() if k != "calibrated"}
    for loss, (name, params), weight in product(
        REGRESSION, numbers.items(), ("none", "whole", "parts")
    ):
        yield (
            f"regressor {loss}, {name}, weights {weight}",
            lambda f=loss, p=params, w=weight: regress(f, p, w),
        )


def regress(loss: str, params: dict[str, Any], weight: str) -> str:
    X, y = table(5)
    target = y * 3.0 + X["b"].to_numpy() + 0.1 * X["amount"].to_numpy()
    model = cb.GradientBoostRegressor(loss, **{**SMALL, **params})
    model.fit(X, target, sample_weight=weights(weight, len(y)))
    stages = ("staged_predict", np.array(list(model.staged_predict(X[:N_NEW]))))
    return digest(iter([*answers(model, X[:N_NEW]), stages]))


def others() -> Iterator[tuple[str, Case]]:
    """The L_p family and the estimators around other estimators."""
    for method, step, n_classes, price in product(
        PNORM, ("harmonic", "bound", "search"), (2, 5), ("none", "class", "row")
    ):
        yield (
            f"p-norm {method}, {step} steps, of {n_classes}, prices {price}",
            lambda m=method, s=step, k=n_classes, c=price: fit_and_ask(
                cb.PNormBoostClassifier(2, m, s, **SMALL), k, c, "whole"
            ),
        )
    for method, calibration in product(("lp-csb", "gbse"), ("sigmoid", "bias-corrected")):
        yield (
            f"p-norm {method} calibrated by {calibration}",
            lambda m=method, a=calibration: fit_and_ask(
                cb.PNormBoostClassifier(2, m, calibration=a, cv=3, **SMALL), 5, "class"
            ),
        )
    inner = cb.CostBoostClassifier("adaboost", **SMALL)
    wrapped = {
        "minimum cost": cb.MinimumCostClassifier(inner, cv=3, random_state=0),
        "metacost": cb.MetaCostClassifier(inner, 3, random_state=0),
        "costing": cb.CostingClassifier(inner, 3, random_state=0),
        "rate": cb.RateClassifier(inner, {1: 0.2}, cv=3, random_state=0),
    }
    for (name, model), price in product(wrapped.items(), ("class", "row")):
        yield f"{name}, prices {price}", lambda m=model, c=price: fit_and_ask(m, 2, c)


def parts() -> Iterator[tuple[str, Case]]:
    """Tables in parts: Parquet files, and a Dask cluster in this process."""
    for method, price in product(("adaboost", "adac2", "cgada", "auto"), ("class", "column")):
        yield f"Parquet, {method}, prices {price}", lambda m=method, c=price: from_files(m, c)
        yield f"Dask, {method}, prices {price}", lambda m=method, c=price: on_dask(m, c)


def part_params(method: str) -> dict[str, Any]:
    return {**SMALL, "method": method, "n_estimators": 20 if method == "auto" else 6}


def part_table() -> pd.DataFrame:
    X, y = table(2)
    return X.drop(columns="town").assign(fraud=y)


def from_files(method: str, price: str) -> str:
    rows = part_table()
    with tempfile.TemporaryDirectory() as folder:
        for i, start in enumerate(range(0, len(rows), 90)):
            rows[start : start + 90].to_parquet(f"{folder}/rows-{i}.parquet")
        costs = prices(price, 2, rows)
        files = cb.ParquetTable(
            f"{folder}/rows-*.parquet",
            label="fraud",
            costs=costs,
            cache=f"{folder}/cache",
            progress=False,
        )
        model = cb.CostBoostClassifier(**part_params(method)).fit(files)
    return digest(answers(model, rows.drop(columns="fraud")[:N_NEW], costs))


@cache
def dask_client() -> Any:
    from distributed import Client

    return Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)


def on_dask(method: str, price: str) -> str:
    import dask.dataframe as dd

    from costboost.dask import DaskCostBoostClassifier

    rows = part_table()
    X, y = rows.drop(columns="fraud"), rows["fraud"]
    given = [dd.from_pandas(part, npartitions=3, sort=False) for part in (X, y)]
    costs = prices(price, 2, X)
    model = DaskCostBoostClassifier(**part_params(method))
    model.fit(*given, costs=costs, client=dask_client())
    local = model.to_local() if hasattr(model, "to_local") else model
    return digest(answers(local, X[:N_NEW], costs))


def cases() -> dict[str, Case]:
    """Return all cases by name."""
    return dict([*classifiers(), *gradient(), *others(), *parts()])


def run(part: str = "") -> dict[str, str]:
    """Return the digest, or the error, of every case whose name contains `part`."""
    found = {}
    chosen = {name: case for name, case in cases().items() if part in name}
    for i, (name, case) in enumerate(chosen.items()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = case()
            except ValueError as error:  # a combination that is refused stays refused
                found[name] = f"{type(error).__name__}"
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {len(chosen)}", end="", file=sys.stderr)
    return found


def compare(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return a line for every case that answers differently."""
    names = [name for name in before if name in after]
    return [f"{n}: {before[n]} -> {after[n]}" for n in names if before[n] != after[n]]


def main(command: str, path: str, part: str = "") -> int:
    found = run(part)
    refused = sum(len(value) < 20 for value in found.values())
    print(f"{len(found)} cases, {refused} of them refused with an error")
    if command == "write":
        Path(path).write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
        return 0
    before = json.loads(Path(path).read_text(encoding="utf-8"))
    lines = compare(before, found)
    print("\n".join([*lines, f"{len(lines)} of {len(found)} cases differ"]))
    return bool(lines)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("write", "compare"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

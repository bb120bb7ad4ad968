"""The contenders of the cost benchmark, as their users get them.

Everything keeps its defaults, but runs on one thread, quietly, and from a seed. Categories go to
the library itself where it documents how, and are one-hot encoded otherwise. There are three
styles of contender:

- probability: fitted once; the cheapest decision on its probabilities at any prices;
- fixed: fitted once; its own decision, whatever the prices;
- trained: fitted anew for all prices; its own decision.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import costboost
from _cost_bags import (
    CATBOOST,
    CATBOOST_TD,
    LIGHTGBM_TD,
    XGBOOST_TD,
    catboost_bag,
    lightgbm_bag,
    xgboost_bag,
)
from _cost_tables import Table
from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost.rules import RULES

OURS = "costboost"
NOT_MODELS = frozenset({"cli", "datasets", "metrics", "plots", "pnorm_classifier"})


def plain_fit(model: Any, train: Table, costs: Costs | None) -> Any:
    """Fit a model that takes no costs."""
    return model.fit(train.X, train.y)


@dataclass(frozen=True)
class Contender:
    """A model of the benchmark.

    Attributes
    ----------
    name : str
    build : callable
        Called with a table (its categories are needed) and a seed, returns an unfitted estimator.
    packages : tuple of str
        What it depends on, by name of distribution.
    style : {"probability", "fixed", "trained"}
    fit : callable
        Called with an estimator, training rows and costs; returns it fitted.
    decide : callable
        Of the last two styles: with a fitted estimator, test rows and costs; returns decisions, by
        what is added to the name for each way to decide.
    seconds : tuple of two floats
        A guess of the time of one fit, for the progress bar: at once, and per million cells.
    fits : str
        How many models answer, as tables say it.
    members : tuple of Contender
        Of a mean of others: whose probabilities are averaged. They are measured on the way.
    """

    name: str
    build: Callable[[Table, int], Any]
    packages: tuple[str, ...]
    style: str = "probability"
    fit: Callable[[Any, Table, Costs | None], Any] = plain_fit
    decide: Callable[[Any, Table, Costs], dict[str, Any]] | None = None
    seconds: tuple[float, float] = (0.1, 1.0)
    fits: str = "one"
    members: tuple[Contender, ...] = ()

    @property
    def code(self) -> str:
        """The versions of what was measured; ours is under development, so it is hashed."""
        if OURS in self.packages:
            return f"{OURS} {own_hash()}"
        return ", ".join(f"{package} {_version(package)}" for package in self.packages)


def _version(package: str) -> str:
    """Return the installed version; XGBoost comes under two names."""
    for name in (package, f"{package}-cpu"):
        with suppress(PackageNotFoundError):
            return version(name)
    return "(not installed)"


@cache
def own_hash(skipped: frozenset[str] = NOT_MODELS) -> str:
    """Return a hash of the code of our models that comments and docstrings do not change."""
    root = Path(costboost.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(root.rglob("*.py")):
        if file.relative_to(root).parts[0] in skipped:
            continue
        tree = ast.parse(file.read_text())
        node: Any
        for node in ast.walk(tree):
            if isinstance(getattr(node, "body", None), list):
                node.body = [s for s in node.body if not _is_string(s)]
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()[:10]


def _is_string(node: Any) -> bool:
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant and isinstance(node.value.value, str)


# --- the peers; libraries are imported where they are used, in the worker


def _catboost(table: Table, seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(
        cat_features=list(table.categorical) or None,
        random_seed=seed,
        thread_count=1,
        verbose=0,
        allow_writing_files=False,
    )


def _lightgbm(table: Table, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1)


def _xgboost(table: Table, seed: int) -> Any:
    from xgboost import XGBClassifier

    native = bool(table.categorical)
    return XGBClassifier(random_state=seed, n_jobs=1, verbosity=0, enable_categorical=native)


def _hist_gradient_boosting(table: Table, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


def _random_forest(table: Table, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return _encoded(table, RandomForestClassifier(random_state=seed, n_jobs=1))


def _logistic(table: Table, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    # The default of 100 iterations is too few to converge on some sets.
    return _encoded(table, LogisticRegression(max_iter=10_000), StandardScaler())


def _adaboost(table: Table, seed: int) -> Any:
    from sklearn.ensemble import AdaBoostClassifier

    return _encoded(table, AdaBoostClassifier(random_state=seed))


def _csboost(table: Table, seed: int) -> Any:
    from empulse.models import CSBoostClassifier
    from xgboost import XGBClassifier

    # Its own default is XGBClassifier() too, but on all cores.
    inner = XGBClassifier(random_state=seed, n_jobs=1, verbosity=0)
    return _encoded(table, CSBoostClassifier(inner))


def _encoded(table: Table, model: Any, numbers: Any = "passthrough") -> Any:
    """Put one-hot encoding of categories, and what is done to numbers, before a model."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    if not table.categorical:
        return model if numbers == "passthrough" else make_pipeline(numbers, model)
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    encoder = make_column_transformer((one_hot, list(table.categorical)), remainder=numbers)
    return make_pipeline(encoder, model)


def _calibrated(build: Callable[[Table, int], Any], table: Table, seed: int) -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    return CalibratedClassifierCV(build(table, seed), cv=5)


def _fit_csboost(model: Any, train: Table, costs: Costs | None) -> Any:
    """Give costs to `fit`, as its guide has it."""
    assert costs is not None
    prices = _prices(costs, len(train.y))
    names = {"tn_cost": (0, 0), "fp_cost": (0, 1), "fn_cost": (1, 0), "tp_cost": (1, 1)}
    given = {name: prices[:, i, j] for name, (i, j) in names.items()}
    if train.categorical:
        given = {f"csboostclassifier__{name}": value for name, value in given.items()}
    return model.fit(train.X, train.y, **given)


def _prices(costs: Costs, n_rows: int) -> Any:
    bound = costs.bind([0, 1], n_rows)
    return np.stack([bound.expected(np.tile(e, (n_rows, 1))) for e in np.eye(2)], axis=1)


def _decide_csboost(model: Any, test: Table, costs: Costs) -> dict[str, Any]:
    proba = model.predict_proba(test.X)
    cheapest = costs.bind([0, 1], len(test.y)).decide(proba.astype(np.float64))
    return {"": proba[:, 1] > 0.5, ", cheapest": cheapest == 1}


def _no_model(table: Table, seed: int) -> Any:
    raise TypeError("A mean of others has no model of its own: its members are fitted.")


# --- ours


def _ours(method: str | None, table: Table, seed: int) -> Any:
    if method is None:
        return CostBoostClassifier(random_state=seed)
    return CostBoostClassifier(method, random_state=seed)


def _fit_ours(model: Any, train: Table, costs: Costs | None) -> Any:
    return model.fit(train.X, train.y, costs=costs)


def _decide_ours(model: Any, test: Table, costs: Costs) -> dict[str, Any]:
    calibrated = RULES[model.method].calibrated
    return {"": model.predict(test.X, **({"costs": costs} if calibrated else {})) == 1}


def _named(name: str) -> Contender:
    """Return a method as published; AdaMEC's training does not see the costs, its decision does."""
    style = "trained" if RULES[name].trains_on_costs else "fixed"
    style = "probability" if name == "adamec" else style
    build = partial(_ours, name)
    folds = 5 if RULES[name].calibrated else 1
    return Contender(
        name, build, (OURS,), style, _fit_ours, _decide_ours, (0.07 * folds, 3.0 * folds)
    )


SKLEARN = "scikit-learn"
OUR_DEFAULT = Contender(
    OURS,
    partial(_ours, None),
    (OURS,),
    fit=_fit_ours,
    seconds=(0.6, 40.0),
    fits="five, calibrated",
)
PEERS = (
    Contender("CatBoost", _catboost, ("catboost",), seconds=(0.5, 30.0)),
    Contender(
        "CatBoost, calibrated",
        partial(_calibrated, _catboost),
        ("catboost", SKLEARN),
        seconds=(2.5, 120.0),
        fits="five, calibrated",
    ),
    Contender("LightGBM", _lightgbm, ("lightgbm",), seconds=(0.02, 4.0)),
    Contender(
        "LightGBM, calibrated",
        partial(_calibrated, _lightgbm),
        ("lightgbm", SKLEARN),
        seconds=(0.1, 16.0),
        fits="five, calibrated",
    ),
    Contender("XGBoost", _xgboost, ("xgboost",), seconds=(0.02, 2.0)),
    Contender(
        "XGBoost, calibrated",
        partial(_calibrated, _xgboost),
        ("xgboost", SKLEARN),
        seconds=(0.1, 8.0),
        fits="five, calibrated",
    ),
    Contender("HistGradientBoosting", _hist_gradient_boosting, (SKLEARN,), seconds=(0.05, 4.0)),
    Contender(
        "HistGradientBoosting, calibrated",
        partial(_calibrated, _hist_gradient_boosting),
        (SKLEARN,),
        seconds=(0.25, 16.0),
        fits="five, calibrated",
    ),
    Contender("random forest", _random_forest, (SKLEARN,), seconds=(0.12, 8.0)),
    Contender(
        "random forest, calibrated",
        partial(_calibrated, _random_forest),
        (SKLEARN,),
        seconds=(0.6, 32.0),
        fits="five, calibrated",
    ),
    Contender("logistic regression", _logistic, (SKLEARN,), seconds=(0.01, 0.5)),
    Contender(
        "AdaBoost, calibrated",
        partial(_calibrated, _adaboost),
        (SKLEARN,),
        seconds=(0.35, 30.0),
        fits="five, calibrated",
    ),
    Contender(
        "CSBoost",
        _csboost,
        ("empulse", "xgboost"),
        "trained",
        _fit_csboost,
        _decide_csboost,
        (0.04, 3.0),
    ),
)
BINARY_ONLY = frozenset({"CSBoost"})
TUNED_BAGS = (
    Contender(
        "CatBoost-TD bag",
        partial(catboost_bag, CATBOOST_TD),
        ("catboost",),
        seconds=(4.0, 150.0),
        fits="bag of five",
    ),
    Contender(
        "LightGBM-TD bag",
        partial(lightgbm_bag, LIGHTGBM_TD),
        ("lightgbm",),
        seconds=(0.5, 40.0),
        fits="bag of five",
    ),
    Contender(
        "XGBoost-TD bag",
        partial(xgboost_bag, XGBOOST_TD),
        ("xgboost",),
        seconds=(0.5, 40.0),
        fits="bag of five",
    ),
)
BAGS = (
    Contender(
        "CatBoost bag",
        partial(catboost_bag, CATBOOST),
        ("catboost",),
        seconds=(4.0, 100.0),
        fits="bag of five",
    ),
    Contender(
        "mean of the TD bags",
        _no_model,
        ("catboost", "lightgbm", "xgboost"),
        seconds=(5.0, 230.0),
        fits="three bags of five",
        members=TUNED_BAGS,
    ),
)
FAMILY = tuple(_named(name) for name in RULES)
CONTENDERS = {c.name: c for c in (OUR_DEFAULT, *PEERS, *TUNED_BAGS, *BAGS, *FAMILY)}
FOOTNOTES = {
    "CSBoost": "CSBoost is fitted anew for every cost ratio; its own `predict` decides at 1/2. "
    "'CSBoost, cheapest' takes the cheapest decision on the same probabilities.",
}

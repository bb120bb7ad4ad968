"""What the plans of all families say: trees, rounds, early stopping, calibration.

A plan is the parameters of an estimator, settled and checked. Each family adds its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.costs import ColumnTests, Costs, as_feature_costs
from costboost.fitting.held_out import METRICS
from costboost.inputs.arrays import find_column
from costboost.inputs.checks import (
    check_choice,
    check_number,
    count_features,
    count_threads,
    is_frame,
    is_spread,
)
from costboost.trees.tree import Interactions, Limits, make_interactions

# Constraints on the built-in trees, read once: columns by name or position, refused by name

Ways = NDArray[np.int8]

_MOST = {"pairwise": 2, "no_interactions": 1}


def read_monotone(
    params: Any, X: Any, *, n_classes: int, costs: Costs | None = None
) -> Ways | None:
    """Return which way the margin goes with every column, -1, 0 or 1; None without constraints.

    `monotonic_cst` is an array over the columns, or a dict by name or position. It is about the
    positive class where the costs, bound to the classes, know one; margins are those of the second
    class, so the ways are turned round where the first is positive. `n_classes` is 0 for
    regression, which has no costs.
    """
    given = params.monotonic_cst
    if given is None:
        return None
    _refuse_outside(params, "monotonic_cst")
    names = column_names(X)
    ways = np.zeros(len(names))
    if isinstance(given, Mapping):
        for key, way in given.items():
            ways[find_column(key, names, "monotonic_cst")] = _read_way(key, way)
    else:
        listed = np.asarray(given, dtype=object)
        if listed.shape != ways.shape:
            raise ValueError(
                f"monotonic_cst must hold -1, 0 or 1 for each of the {len(names)} columns, or be a "
                f"dict of them by name; it has shape {listed.shape}."
            )
        ways[:] = [_read_way(name, way) for name, way in zip(names, listed, strict=True)]
    if n_classes > 2 and np.any(ways):
        raise ValueError(
            f"monotonic_cst needs two classes: with {n_classes} there is no one number that could "
            f"rise with column {names[int(np.flatnonzero(ways)[0])]!r}."
        )
    if costs is not None and costs.positive_number == 0:
        ways = -ways
    return ways.astype(np.int8) if np.any(ways) else None


def _read_way(name: Any, way: Any) -> int:
    if isinstance(way, bool) or way not in (-1, 0, 1):
        raise ValueError(
            f"monotonic_cst says {way!r} of column {name!r}; allowed are 1 (rising), -1 (falling) "
            "and 0 (free)."
        )
    return int(way)


def check_order(monotone: Ways | None, binner: Binner) -> None:
    """Refuse monotone constraints on columns whose values have no order."""
    held = np.array([keys is not None for keys in binner.categories])
    if monotone is None or not np.any(held & (monotone != 0)):
        return
    j = int(np.flatnonzero(held & (monotone != 0))[0])
    name = j if binner.feature_names is None else repr(binner.feature_names[j])
    raise ValueError(
        f"monotonic_cst constrains column {name}, whose categories have no order. Set 0 there, or "
        "take the column out of categorical_features."
    )


def read_interactions(params: Any, X: Any) -> Interactions | None:
    """Return which columns may meet on a path, or None without constraints.

    `interaction_cst` is "pairwise", "no_interactions", or groups of columns by name or position.
    """
    given = params.interaction_cst
    if given is None:
        return None
    _refuse_outside(params, "interaction_cst")
    names = column_names(X)
    if isinstance(given, str):
        if given not in _MOST:
            raise ValueError(
                f"interaction_cst={given!r} is not known; allowed: 'pairwise', 'no_interactions', "
                "or a list of groups of columns."
            )
        return Interactions(len(names), most=_MOST[given])
    groups = []
    for group in given:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ValueError(
                f"interaction_cst holds {group!r}; it must be a list of groups of columns, such as "
                "[['age', 'income'], ['amount']]."
            )
        groups.append([find_column(key, names, "interaction_cst") for key in group])
        if not groups[-1]:
            raise ValueError("interaction_cst holds an empty group: name its columns.")
    return make_interactions(len(names), groups)


def read_feature_costs(params: Any, X: Any) -> ColumnTests | None:
    """Return what columns cost, or None where no prices are given."""
    prices = getattr(params, "feature_costs", None)
    given = None if prices is None else as_feature_costs(prices)
    if given is None:
        return None
    _refuse_outside(params, "feature_costs")
    init = getattr(params, "init", None)
    if init is not None and not isinstance(init, str):
        raise ValueError(
            f"feature_costs prices the columns of the built-in tree, and init="
            f"{type(init).__name__} reads all columns of every row. Use init=None, or 'zero'."
        )
    return given.bind(column_names(X))


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a table; their positions where they have none."""
    return [str(name) for name in X.columns] if is_frame(X) else list(range(X.shape[1]))


def _refuse_outside(params: Any, name: str) -> None:
    if params.estimator is not None:
        raise ValueError(
            f"{name} constrains the built-in tree, but estimator="
            f"{type(params.estimator).__name__} was given. Give the constraint to that estimator, "
            "or leave estimator=None."
        )


# Parameters that all boosting estimators share, checked once

MAX_CLASSES = 256  # class numbers take a byte a row
MOST = 2**62  # rows: more than any machine holds, and a number that kernels can count to


def check_training(params: Any, *, auto_leaf: bool = False) -> None:
    """Check the parameters of rounds, trees and early stopping.

    With `auto_leaf`, `min_samples_leaf="auto"` is left to the training.
    """
    check_choice("on_interrupt", params.on_interrupt, ("raise", "keep"))
    check_choice("warm_start", params.warm_start, (True, False))
    if hasattr(params, "target_encoding"):
        check_choice("target_encoding", params.target_encoding, ("auto", True, False))
    if hasattr(params, "ensemble"):
        check_choice("ensemble", params.ensemble, (True, False))
    check_number("n_estimators", params.n_estimators, low=1, whole=True)
    check_number("subsample", params.subsample, low=0.0, high=1.0, open_low=True)
    if auto_leaf and isinstance(params.min_samples_leaf, str):
        check_choice("min_samples_leaf", params.min_samples_leaf, ("auto",))
    else:
        check_number("min_samples_leaf", params.min_samples_leaf, low=1, high=MOST, whole=True)
    check_number("max_bins", params.max_bins, low=2, high=255, whole=True)
    check_number("tol", params.tol, low=0.0)
    if not isinstance(params.verbose, bool) and params.verbose != "auto":
        check_number("verbose", params.verbose, low=0, whole=True)
    check_number("validation_fraction", params.validation_fraction, low=0.0, high=0.9)
    if params.max_depth is not None:
        check_number("max_depth", params.max_depth, low=1, whole=True)
    if params.max_leaf_nodes is not None:
        check_number("max_leaf_nodes", params.max_leaf_nodes, low=2, high=65_000, whole=True)
    if not callable(params.early_stopping_metric):
        check_choice("early_stopping_metric", params.early_stopping_metric, METRICS)
    if params.n_iter_no_change is not None:
        check_number("n_iter_no_change", params.n_iter_no_change, low=1, whole=True)


def check_class_count(n_classes: int) -> None:
    """Refuse more classes than a byte can number."""
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"y has {n_classes} classes; at most {MAX_CLASSES} are supported here. Use "
            "PNormBoostClassifier, which takes more, or put rare classes together."
        )


def check_unbiased(calibration: str | None, trained: str, *, on_costs: bool) -> None:
    """Refuse to calibrate by a temperature what was trained on costs.

    Costs move the whole of the scores to one side. A temperature only stretches them, and would
    leave them there: frequencies need a bias too.
    """
    if on_costs and calibration == "temperature":
        raise ValueError(
            f"calibration='temperature' cannot undo the costs that {trained} was trained on: it "
            "has no bias, so its probabilities would not be natural frequencies. Use "
            "calibration='bias-corrected' or 'sigmoid'."
        )


# Remedies where rows are in files or on a cluster, by the parameter that needs them in one place
REMEDIES = {
    "estimator": "Use the built-in trees, estimator=None.",
    "init": "Use init=None, or init='zero'.",
    "warm_start": "Use warm_start=False.",
    "loss": "Use another of the built-in losses, by its name.",
    "objective": "Use one of the built-in objectives, by its name.",
    "beta": "Use beta=None, the published one.",
}


def refuse_if_remote(estimator: Any, X: Any) -> None:
    """Refuse, before any work, what needs all rows in one place, if they are not."""
    if not is_spread(X):
        return
    params = estimator.get_params(deep=False)
    objective = params.get("objective")
    needs = {
        "estimator": params.get("estimator") is not None,
        "init": not (params.get("init") is None or isinstance(params.get("init"), str)),
        "warm_start": params["warm_start"],
        "loss": estimator._loss_needs_all_rows(),
        "objective": objective is not None and not isinstance(objective, str),
        "beta": params.get("beta") is not None,
    }
    for name, refused in needs.items():
        if refused:
            raise ValueError(
                f"{name}={params[name]!r} needs all rows in one place, and those of this table are "
                f"in files or on a cluster. {REMEDIES[name]} Or give a table in memory."
            )


@dataclass(frozen=True, kw_only=True)
class TrainingPlan:
    """Everything that any training needs to know beside the rows.

    Attributes
    ----------
    setting : the loop's own choices, with `n_rounds`
    limits : Limits
    max_bins : int
    categorical_features : which columns hold categories
    estimator : the outside learner, or None
    n_classes : int
        0 for regression.
    calibration : str or None
        The map from scores to probabilities.
    target_encoding : bool
        Whether columns of many categories are coded by the labels of other rows.
    monotone : int8 array of shape (n_features,) or None
        Which way the margin, that of the second class, goes with each column; probabilities follow.
    seed : int
        Of everything random.
    n_threads : int
    total_rounds : int or None
        Of all models, at most; None where the number of models is not known in advance.
    validation_fraction : float
        The share of rows held out.
    metric : str or callable
        What early stopping goes by.
    patience, tolerance, verbose, on_interrupt : see `costboost.boosting.rounds.StoppingPolicy`
    tests : ColumnTests or None
        What columns cost.
    drawn : None, int, float or str
        `max_features` as it was given.
    """

    setting: Any
    limits: Limits
    max_bins: int
    categorical_features: Any
    estimator: Any
    n_classes: int
    calibration: str | None
    seed: int
    n_threads: int
    total_rounds: int | None
    validation_fraction: float
    metric: Any
    patience: int | None
    tolerance: float
    verbose: int | Literal["auto"]
    on_interrupt: Literal["raise", "keep"]
    monotone: NDArray[np.int8] | None = None
    tests: ColumnTests | None = None
    drawn: Any = None
    target_encoding: bool = False

    @classmethod
    def read(
        cls,
        params: Any,
        X: Any,
        *,
        n_classes: int,
        calibration: str | None,
        metric: str = "cost",
        **own: Any,
    ) -> Self:
        """Read what all families share from the parameters of an estimator.

        `metric` is what "auto" stands for; `own` are seed, setting, and what the family adds.
        """
        if params.warm_start and calibration is not None:
            raise ValueError(
                "warm_start=True continues one model, and calibration trains several. Set "
                "calibration=None."
            )
        tests = read_feature_costs(params, X)
        return cls(
            limits=_read_limits(params, X, tests),
            tests=tests,
            drawn=params.max_features,
            max_bins=params.max_bins,
            categorical_features=params.categorical_features,
            estimator=params.estimator,
            n_classes=n_classes,
            calibration=calibration,
            n_threads=count_threads(params.n_jobs),
            total_rounds=_total_rounds(params, calibration),
            validation_fraction=params.validation_fraction,
            metric=_stopping_metric(params, metric),
            patience=params.n_iter_no_change,
            tolerance=float(params.tol),
            verbose="auto" if params.verbose == "auto" else int(params.verbose),
            on_interrupt=params.on_interrupt,
            target_encoding=_encodes_targets(params),
            **own,
        )

    @property
    def scores_are_margins(self) -> bool:
        """Whether scores to calibrate are real-valued margins rather than values in [0, 1]."""
        return True

    @property
    def width(self) -> int:
        """How many columns' work a column is, by which a table is cut into shards."""
        return 1

    @property
    def needs_table(self) -> bool:
        """Whether rounds are evaluated on rows of the table, beside their codes."""
        return False

    @property
    def compared_with_constant(self) -> bool:
        """Whether decisions on rows that folds left out are compared with a constant answer."""
        return False

    def prices_of(self, rows: Any) -> NDArray[np.float64] | None:
        """Return the prices of some rows of a regression, (n, 2), if they have any."""
        return None

    @property
    def n_outputs(self) -> int:
        """How many numbers boosting by a loss adds up: 1, or K for K > 2 classes."""
        return self.n_classes if self.n_classes > 2 else 1


def _encodes_targets(params: Any) -> bool:
    """Whether columns of many categories are coded by labels; "auto": by the recipe alone."""
    given = getattr(params, "target_encoding", False)
    if isinstance(given, str):
        return str(getattr(params, "method", "")).startswith("auto")
    return bool(given)


def _read_limits(params: Any, X: Any, tests: ColumnTests | None) -> Limits:
    """Return how far trees may grow; "auto" rows in a leaf are for the training to settle."""
    least = params.min_samples_leaf
    columns = tests.usable() if tests is not None and tests.never else None
    return Limits(
        max_depth=params.max_depth,
        max_leaf_nodes=params.max_leaf_nodes,
        min_samples_leaf=1 if isinstance(least, str) else least,
        max_features=count_features(
            params.max_features, X.shape[1] if columns is None else len(columns)
        ),
        interactions=read_interactions(params, X),
        columns=columns,
    )


def _total_rounds(params: Any, calibration: str | None) -> int | None:
    """Return the rounds of all models, at most; None where their number is not known."""
    if calibration is None or isinstance(params.cv, float):
        return int(params.n_estimators)
    if isinstance(params.cv, int):
        return int(params.n_estimators) * (params.cv + (not params.ensemble))
    return None


def _stopping_metric(params: Any, auto: str) -> Any:
    """Return the metric of early stopping: a name other than "auto", or the user's function."""
    given = params.early_stopping_metric
    if auto == "loss" and not callable(given):
        check_choice("early_stopping_metric", given, ("auto",))
    return auto if isinstance(given, str) and given == "auto" else given

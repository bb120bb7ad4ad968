"""Cross-validation in which no fold loses its costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.parallel import Parallel, delayed

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import Decide, check_decide, decisions, probabilities
from costboost.fitting.keywords import costs_to_fit, fit_key
from costboost.metrics._scorers import measure
from costboost.metrics.prices import bind_costs, check_labels, check_weights, realise, take_rows

# Name in the result -> kind of measure.
_MEASURES = {
    "cost": "mean",
    "total_cost": "total",
    "normalized_cost": "normalized",
    "savings": "savings",
}


class _Task(NamedTuple):
    """The model, rows, costs and scorer that all folds share."""

    estimator: Any
    X: Any
    y: NDArray[Any]
    costs: Costs
    fit_costs: Costs
    classes: NDArray[Any]
    fit_keys: dict[str, str]
    sample_weight: ArrayLike | None
    params: dict[str, Any]
    decide: Decide
    score_train: bool
    keep_proba: bool


def _fit_keys(estimator: Any, sample_weight: ArrayLike | None) -> dict[str, str]:
    keys = {}
    for name in ("costs", "sample_weight"):
        key = fit_key(estimator, name)
        if key is not None:
            keys[name] = key
    if sample_weight is not None and "sample_weight" not in keys:
        raise ValueError(
            f"sample_weight was given, but {type(estimator).__name__}.fit does not take it (with "
            "metadata routing on, its parts must request it: set_fit_request(sample_weight=True))"
        )
    return keys


def _scores(task: _Task, model: Any, rows: NDArray[np.intp]) -> tuple[dict[str, float], Any]:
    """Return the measures on some rows, and the decisions taken there."""
    n = len(task.y)
    X, y, costs = take_rows(task.X, rows, n), task.y[rows], task.costs[rows]
    decided = decisions(model, X, costs, task.classes, task.decide)
    found = realise(y, decided, costs=costs)
    weight = take_rows(task.sample_weight, rows, n)
    scores = {
        name: measure(kind, found.paid[0], found.prices, weight) for name, kind in _MEASURES.items()
    }
    return scores, decided


def _run_fold(task: _Task, train: NDArray[np.intp], test: NDArray[np.intp]) -> dict[str, Any]:
    """Fit on the training rows with their costs, decide on the test rows with theirs."""
    n = len(task.y)
    given = {"costs": task.fit_costs, "sample_weight": task.sample_weight}
    keywords = {
        key: take_rows(given[name], train, n)
        for name, key in task.fit_keys.items()
        if given[name] is not None
    }
    keywords |= {key: take_rows(value, train, n) for key, value in task.params.items()}
    start = time.perf_counter()
    model = clone(task.estimator).fit(_safe_indexing(task.X, train), task.y[train], **keywords)
    fitted = time.perf_counter()
    scores, decided = _scores(task, model, test)
    result: dict[str, Any] = {"fit_time": fitted - start}
    result["score_time"] = time.perf_counter() - fitted
    result |= {f"test_{name}": value for name, value in scores.items()}
    if task.score_train:
        train_scores, _ = _scores(task, model, train)
        result |= {f"train_{name}": value for name, value in train_scores.items()}
    result["decisions"] = decided
    if task.keep_proba and hasattr(model, "predict_proba"):
        result["probabilities"] = probabilities(model, _safe_indexing(task.X, test), task.classes)
    result["estimator"] = model
    return result


def _in_row_order(parts: list[Any], tests: list[NDArray[np.intp]], n_samples: int) -> NDArray[Any]:
    """Return the values of all folds' test rows in the order of the rows."""
    rows = np.concatenate(tests)
    if len(rows) != n_samples or not np.array_equal(np.sort(rows), np.arange(n_samples)):
        raise ValueError(
            "return_predictions needs folds that test every row exactly once; this cv repeats or "
            "leaves out rows"
        )
    return np.asarray(np.concatenate(parts)[np.argsort(rows)])


def cross_validate_cost(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    costs: Any,
    cv: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    params: Mapping[str, Any] | None = None,
    decide: Decide = "auto",
    n_jobs: int | None = None,
    return_train_score: bool = False,
    return_predictions: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
) -> dict[str, Any]:
    """Cross-validate a classifier by what its decisions cost, with the right costs in every fold.

    Each fold is fitted with the costs of its own training rows, if the estimator's `fit` takes
    costs, and decides and is scored with those of its test rows; scikit-learn's `cross_validate`
    loses them on the way (with metadata routing off they reach `fit` only; with it on, scorers
    built on `predict` do not forward them). Works the same with metadata routing on or off.

    Parameters
    ----------
    estimator : classifier
        Any with `predict_proba` (or with `predict`, see `decide`), also in pipelines and searches.
    X : array-like of shape (n_samples, n_features)
        Rows: NumPy, SciPy sparse, pandas or polars.
    y : array-like of shape (n_samples,)
        True labels.
    costs : Costs, dict, array-like of shape (K, K) or None
        What each decision costs, constant, by column of X or per row; None: every mistake costs 1.
        Columns are read before any step of a pipeline transforms them.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn: 5 stratified ones by default.
    groups : array-like of shape (n_samples,), default=None
        For splitters that keep groups together.
    sample_weight : array-like of shape (n_samples,), default=None
        Row weights, for fitting and for the measures.
    params : dict, default=None
        Other keywords of `fit`; those with one value per row are cut with the rows.
    decide : {"auto", "proba", "predict"}, default="auto"
        How models decide: "proba" takes the cheapest decision given `predict_proba`; "predict"
        the model's own decisions (a method that was trained on costs, with its published rule);
        "auto" asks a model whose `predict` takes costs, and otherwise is "proba".
    n_jobs : int, default=None
        Folds run in parallel.
    return_train_score : bool, default=False
        Whether to score the training rows too.
    return_predictions : bool, default=False
        Whether to return decisions and probabilities of every row, from the fold that tested it.
    return_estimator, return_indices : bool, default=False
        Whether to return the fitted models, and the rows of each fold.

    Returns
    -------
    result : dict
        Arrays with one value per fold: "test_cost" (mean per row), "test_total_cost",
        "test_normalized_cost", "test_savings" (against the cheapest constant decision on the test
        rows), "fit_time", "score_time", and on request ``"train_..."``; "estimator" (list),
        "indices" (dict of lists "train" and "test"), "decisions" of shape (n_samples,), and
        "probabilities" of shape (n_samples, n_classes) if the models have them, columns in sorted
        class order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from costboost import Costs
    >>> from costboost.metrics import cross_validate_cost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> costs = Costs(fp=X[:, 3], fn=50)
    >>> result = cross_validate_cost(GaussianNB(), X, y, costs=costs, cv=3)
    >>> len(result["test_cost"]), bool((result["test_savings"] > 0).all())
    (3, True)
    """
    check_decide(decide)
    X, groups = indexable(X, groups)
    labels = check_labels(y, "y")
    check_consistent_length(X, labels)
    check_weights(sample_weight, len(labels))
    given = as_costs(costs)
    bound = bind_costs(given.bind_table(X), labels)
    assert bound.classes is not None  # known once bound
    folds = list(check_cv(cv, labels, classifier=True).split(X, labels, groups))
    task = _Task(
        estimator,
        X,
        labels,
        bound,
        costs_to_fit(estimator, given, bound),
        np.unique(bound.classes),
        _fit_keys(estimator, sample_weight),
        sample_weight,
        dict(params or {}),
        decide,
        return_train_score,
        return_predictions,
    )
    if return_predictions:
        _in_row_order([test for _, test in folds], [test for _, test in folds], len(labels))
    results = Parallel(n_jobs=n_jobs)(
        delayed(_run_fold)(task, train, test) for train, test in folds
    )
    result: dict[str, Any] = {
        key: np.array([fold[key] for fold in results])
        for key in results[0]
        if key.endswith("_time") or key.startswith(("test_", "train_"))
    }
    if return_estimator:
        result["estimator"] = [fold["estimator"] for fold in results]
    if return_indices:
        result["indices"] = {
            "train": [train for train, _ in folds],
            "test": [test for _, test in folds],
        }
    for key in ("decisions", "probabilities"):
        if return_predictions and all(key in fold for fold in results):
            tests = [test for _, test in folds]
            result[key] = _in_row_order([fold[key] for fold in results], tests, len(labels))
    return result

"""Scorers and a cross-validation that do not lose costs.

scikit-learn's own scorers call `predict` without costs, and with metadata routing off nothing but
`fit` receives them. This one takes costs itself, decides inside, and refuses to score without any.

It is no subclass of scikit-learn's scorers, which are private, but has what its threshold tuning
takes from a scorer: a function of labels and decisions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_consistent_length, indexable
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.parallel import Parallel, delayed

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import (
    Decide,
    all_classes,
    check_decide,
    decisions,
    probabilities,
)
from costboost.fitting.keywords import costs_to_fit, fit_key
from costboost.metrics.prices import (
    bind_costs,
    cheapest_constant_of,
    check_labels,
    check_weights,
    normalized_of,
    realise,
    savings_of,
    take_rows,
    total_of,
    weighted_mean,
)
from costboost.typing import Floats

Kind = Literal["mean", "total", "normalized", "regret", "savings"]
KINDS = ("mean", "total", "normalized", "regret", "savings")


def measure(kind: str, paid: Floats, prices: Floats, sample_weight: ArrayLike | None) -> float:
    """Return one measure of the costs paid."""
    weight = check_weights(sample_weight, len(paid))
    if kind == "mean":
        return weighted_mean(paid, weight)
    if kind == "total":
        return total_of(paid, sample_weight)
    if kind == "normalized":
        return normalized_of(paid, prices, weight)
    if kind == "regret":
        return weighted_mean(paid - prices.min(axis=1), weight)
    return savings_of(paid, cheapest_constant_of(prices, weight), weight)


# Searches and cross-validation turn exceptions of a scorer into nan, but raise a ValueError that
# quotes whatever it returns that is no number.
_SWALLOWERS = ("sklearn.model_selection._validation", "sklearn.metrics._scorer")


# Monitors of scikit-learn 1.9 take a number only from scorers of their own, and else a dictionary.
_MONITORS = ("sklearn.callback._scoring_monitor",)


class _NoCostsError(ValueError):
    """A scorer without the costs of the rows to score."""


class _NoScore:
    """Returned instead of a score where the caller would swallow the error: holds its message."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __str__(self) -> str:
        return f"none: {self.reason}"


class CostScorer(BaseEstimator):  # type: ignore[misc]
    """Scorer made by :func:`make_cost_scorer`: called as ``scorer(estimator, X, y, costs=...)``.

    Parameters
    ----------
    costs : Costs, dict, array-like or None, default=None
        Costs to use when none arrive with the rows: constant, or by column of X.
    kind : {"mean", "total", "normalized", "regret", "savings"}, default="mean"
        The measure.
    decide : {"auto", "proba", "predict"}, default="auto"
        How the model decides.

    Examples
    --------
    >>> from costboost.metrics import make_cost_scorer
    >>> type(make_cost_scorer(kind="savings")).__name__
    'CostScorer'
    """

    # Costs travel with the rows unless set otherwise; the other names are not metadata.
    __metadata_request__score: ClassVar[dict[str, Any]] = {
        "costs": True,
        "estimator": UNUSED,
        "y_true": UNUSED,
    }

    # What TunedThresholdClassifierCV asks of a scorer, beside `_score_func`.
    _sign: ClassVar[int] = 1
    _kwargs: ClassVar[dict[str, Any]] = {}
    _response_method: ClassVar[str] = "predict"

    def __init__(self, costs: Any = None, *, kind: Kind = "mean", decide: Decide = "auto") -> None:
        self.costs = costs
        self.kind = kind
        self.decide = decide

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of a fitted model; the same as :meth:`score`."""
        caller = sys._getframe(1).f_globals.get("__name__")
        try:
            value = self.score(estimator, X, y_true, sample_weight=sample_weight, costs=costs)
        except _NoCostsError as error:
            if caller not in _SWALLOWERS:
                raise
            return _NoScore(str(error))  # type: ignore[return-value]
        return {"score": value} if caller in _MONITORS else value  # type: ignore[return-value]

    def score(
        self,
        estimator: Any,
        X: Any,
        y_true: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of a fitted model on these rows; higher is better.

        Parameters
        ----------
        estimator : classifier
            A fitted model.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y_true : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        costs : Costs, dict, array-like or None, default=None
            The costs of these rows; None: those of the constructor.

        Returns
        -------
        score : float
            Savings, or minus the cost.
        """
        y = check_labels(y_true)
        used = self._costs_of(len(y), costs).bind_table(X)
        classes = all_classes(estimator, y) if used.classes is None else used.classes
        decided = decisions(estimator, X, used, classes, self.decide)
        return self._value(y, decided, used, classes, sample_weight)

    def _score_func(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
    ) -> float:
        """Return the score of decisions that were taken already, as threshold tuning does."""
        y = check_labels(y_true)
        return self._value(y, y_pred, self._costs_of(len(y), costs), None, sample_weight)

    def _value(
        self, y: ArrayLike, decided: ArrayLike, costs: Costs, classes: Any, sample_weight: Any
    ) -> float:
        found = realise(y, decided, costs=costs, classes=classes)
        value = measure(self.kind, found.paid[0], found.prices, sample_weight)
        return value if self.kind == "savings" else -value

    def _costs_of(self, n_samples: int, costs: Any) -> Costs:
        given = self.costs if costs is None else costs
        if given is None:
            raise _NoCostsError(
                "no costs reached this scorer. With metadata routing off, scikit-learn hands costs "
                "to fit only: use costboost.metrics.cross_validate_cost, or turn routing on "
                "(sklearn.set_config(enable_metadata_routing=True)) and pass params={'costs': "
                "costs}, or give constants, make_cost_scorer(costs={'fp': 1, 'fn': 10})"
            )
        used = as_costs(given)
        if used.n_rows not in (None, n_samples):
            raise _NoCostsError(
                f"the scorer holds costs for {len(used)} rows, but is asked about {n_samples}: it "
                "cannot know which. Costs per row must be cut together with the rows: use "
                "costboost.metrics.cross_validate_cost, or make_cost_scorer() without costs and "
                "metadata routing, or name the column of X that holds them, Costs(fn='amount', ...)"
            )
        return used

    def _accept_sample_weight(self) -> bool:
        return True  # asked by scikit-learn's searches when routing is off

    def __sklearn_is_fitted__(self) -> bool:
        return True


def make_cost_scorer(
    costs: Any = None, *, kind: Kind = "mean", decide: Decide = "auto"
) -> CostScorer:
    """Return a scorer for scikit-learn that keeps costs: ``scoring=make_cost_scorer()``.

    It requests `costs` by default, so that with metadata routing on
    (``sklearn.set_config(enable_metadata_routing=True)``) each fold is scored with the costs of its
    own rows: ``cross_validate(model, X, y, params={"costs": costs}, scoring=make_cost_scorer())``
    or ``GridSearchCV(..., scoring=make_cost_scorer()).fit(X, y, costs=costs)``. With routing off,
    constants and costs by column of X, in the constructor, work everywhere; costs per row need
    :func:`cross_validate_cost`. A scorer that is left without costs, or with costs for other rows,
    raises an error rather than score something else.

    Parameters
    ----------
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        Costs to use when none arrive with the rows: constant, or by column of X, which each fold
        then reads from its own rows.
    kind : {"mean", "total", "normalized", "regret", "savings"}, default="mean"
        The measure. Higher is better: all but "savings" are negated.
    decide : {"auto", "proba", "predict"}, default="auto"
        How the model decides: "proba" takes the cheapest decision given `predict_proba`; "predict"
        the model's own, cost-blind decisions or those of a method trained on costs; "auto" asks a
        model whose `predict` takes costs, and otherwise is "proba".

    Returns
    -------
    scorer : CostScorer
        Called as ``scorer(estimator, X, y, sample_weight=None, costs=None)``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from costboost.metrics import make_cost_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GaussianNB().fit(X[::2], y[::2])
    >>> scorer = make_cost_scorer({"fp": 2, "fn": 1}, kind="savings")
    >>> bool(0.5 < scorer(model, X[1::2], y[1::2]) < 1)
    True

    ``predict`` of a search takes no costs, and nothing outside scikit-learn can change that. Two
    ways to decide by prices of the rows at hand after a search: ask the model that it found, or
    put the search inside.

    >>> from sklearn.model_selection import GridSearchCV
    >>> from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
    >>> prices = Costs(fp=X[:, 3], fn=50)
    >>> search = GridSearchCV(
    ...     CostBoostClassifier("adamec", 20), {"max_depth": [1, 2]}, scoring=scorer, cv=2
    ... )
    >>> search.fit(X, y).best_estimator_.predict(X, costs=prices).shape
    (569,)
    >>> search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-6]}, cv=2)
    >>> MinimumCostClassifier(search).fit(X, y).predict(X, costs=prices).shape
    (569,)
    """
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r}: use one of {', '.join(KINDS)}")
    check_decide(decide)
    if costs is not None:
        as_costs(costs)
    return CostScorer(costs, kind=kind, decide=decide)


# Cross-validation in which no fold loses its costs.

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

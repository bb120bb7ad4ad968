"""Any classifier, calibrated, deciding by the cheapest expected cost."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from costboost.calibration import (
    CALIBRATORS,
    CalibratedScores,
    ClassCalibration,
    calibrate_fitted,
    calibrate_folds,
    keeps_copies,
)
from costboost.costs import Costs, as_costs
from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import RoutingWrapper, copy_features
from costboost.fitting.keywords import costs_to_fit
from costboost.fitting.tables import read_copies
from costboost.inputs.arrays import (
    ask,
    count_rows,
    encode,
    read_finite,
    read_probabilities,
    read_weights,
    seen_classes,
    source_of,
    without_mask,
)
from costboost.inputs.checks import (
    check_choice,
    check_jobs,
    check_learner,
    check_not_empty,
    check_weighted_classes,
    read_targets,
    warn_caller,
)
from costboost.typing import Floats


def _scores(model: Any, X: Any, classes: NDArray[Any], response: str) -> Floats:
    """Scores ``(n,)`` or ``(n, K)``; a class that the model never saw scores 0, which says nothing.

    Its calibrator then finds a constant, and predicts the share of that class.
    """
    if response == "predict_proba":
        return read_probabilities(model, X, classes)
    answer, seen = ask(model, response, X), seen_classes(model, classes)
    shape = (count_rows(X),) if len(seen) == 2 else (count_rows(X), len(seen))
    values = read_finite(answer, shape, source_of(model, response))
    if len(seen) == len(classes):
        return values
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    scores = np.zeros((len(values), len(classes)))
    scores[:, seen] = values[:, : len(seen)]
    return scores


def _fit_rows(
    rows: NDArray[np.intp], *, estimator: Any, X: Any, y: NDArray[Any], params: Mapping[str, Any]
) -> Any:
    """Train a clone on some rows, with the parameters of those rows."""
    mine = {name: _cut(value, rows, len(y)) for name, value in params.items()}
    return clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **mine)


def _score_rows(
    model: Any, rows: NDArray[np.intp], *, X: Any, classes: NDArray[Any], response: str
) -> Floats:
    return _scores(model, _safe_indexing(X, rows), classes, response)


def _cut(value: Any, rows: NDArray[np.intp], n_samples: int) -> Any:
    """Rows of a fit parameter that has one value per row; others pass whole."""
    if isinstance(value, Costs):
        return value[rows]
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        return value
    return _safe_indexing(value, rows) if len(value) == n_samples else value


class MinimumCostClassifier(RoutingWrapper):
    """Calibrate any classifier and decide by the cheapest expected cost.

    The recommendation of Nikolaou et al. for every classifier: train it as usual, calibrate its
    scores, and let prices enter at the decision. New prices need no new model.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``. A fitted one is wrapped in scikit-learn's
        `FrozenEstimator` (or ``cv="prefit"`` is given): ``fit`` then only calibrates it, and its
        rows should be ones that it was not trained on.
    calibration : {"sigmoid", "sigmoid-brier", "beta", "isotonic", "temperature", \
            "bias-corrected"} or None, default="sigmoid"
        The map from scores to probabilities; see `costboost.calibration`. None takes
        ``predict_proba`` as it is, and ``cv`` is not used.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Costs, constant or by column, ``C[true, action]``. Without any, mistakes cost 1. The
        actions need not be the classes; ``predict`` then returns names of actions.
    cv : int, float, splitter, iterable or "prefit", default=5
        Which rows calibrate: shuffled stratified folds, a held-out share, your own splits, or all
        the rows for a fitted estimator. See `costboost.calibration.calibration_splits`.
    ensemble : bool, default=True
        With folds: average the calibrated models of the folds, or train one model on all the rows
        and calibrate it by the scores of the rows that the folds left out.
    n_jobs : int, default=None
        Folds trained at once.
    random_state : int, RandomState or None, default=None
        Shuffles the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
        The constant costs that ``predict`` uses when it is given none.
    costs_per_row_ : bool
        Whether ``costs_`` is the mean of costs per row.
    calibration_ : CalibratedScores
        The fitted models, ``calibration_.models``, and their maps, ``calibration_.maps``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Both where the estimator has them.

    Notes
    -----
    ``sample_weight`` weighs the calibration, and the estimator where it takes weights. Costs weigh
    neither. With metadata routing, ``costs`` and ``groups`` are requested by default, and the
    estimator gets what it requests.

    Where the estimator has no ``decision_function`` (forests, naive Bayes), scores are its
    probabilities. A sigmoid cannot tell apart scores that crowd at 0 or at 1, which matters when
    prices are far apart: prefer ``"beta"`` there, which sees their logarithms, or ``"isotonic"``
    with many rows.

    References
    ----------
    Elkan 2001, "The foundations of cost-sensitive learning".
    Nikolaou et al. 2016, "Cost-sensitive boosting algorithms: do we really need them?".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from costboost import Costs
    >>> from costboost import MinimumCostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y = np.where(y == 0, "malignant", "benign")
    >>> inner = make_pipeline(StandardScaler(), LogisticRegression())
    >>> model = MinimumCostClassifier(inner, random_state=0).fit(X, y)
    >>> missed = Costs(fp=1, fn=20, positive="malignant")
    >>> int(np.sum(model.predict(X) == "malignant")) < int(
    ...     np.sum(model.predict(X, costs=missed) == "malignant")
    ... )
    True

    Three things to do about two classes:

    >>> triage = Costs.from_matrix(
    ...     [[0, 1, 6], [30, 2, 0]], classes=["benign", "malignant"],
    ...     actions=["send home", "second look", "operate"],
    ... )
    >>> sorted(set(model.predict(X, costs=triage).tolist()))
    ['operate', 'second look', 'send home']
    >>> model.expected_cost(X, costs=triage).shape
    (569, 3)
    """

    __metadata_request__fit = {"groups": True}  # noqa: RUF012
    __metadata_request__decision_function = {"costs": True}  # noqa: RUF012

    def __init__(
        self,
        estimator: Any,
        *,
        calibration: str | None = "sigmoid",
        costs: Any = None,
        cv: Any = 5,
        ensemble: bool = True,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.calibration = calibration
        self.costs = costs
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_at_once
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Train and calibrate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Costs that ``predict`` uses when it is given none; they override the constructor's. If
            they are per row, ``predict`` uses their mean and says so. They change no probability
            (unless, with metadata routing, the estimator itself requests costs).
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never both trained on and calibrated on. Without groups, copies
            of a row are not, where the table can be compared.
        **fit_params : dict
            Passed to the estimator's ``fit``, cut by rows.

        Returns
        -------
        self
        """
        check_learner("estimator", self.estimator)
        check_not_empty(X)
        check_jobs(self.n_jobs)
        check_choice("calibration", self.calibration, tuple(CALIBRATORS))
        check_choice("ensemble", self.ensemble, (True, False))
        X, y = indexable(without_mask(X), y)
        labels = read_targets(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(labels))
        if len(np.unique(labels)) > 1:
            check_weighted_classes(labels, weights)
        self._response, margins = self._read_response()
        prefit = self._is_prefit()
        self.classes_ = self.estimator.classes_ if prefit else np.unique(labels)
        bound = self._set_costs(costs, labels, weights, X)
        if costs is not None and as_costs(costs).needs_table:  # read before a step transforms them
            costs = costs_to_fit(self.estimator, as_costs(costs), bound)
        params = self._estimator_params(weights, costs, groups, fit_params)
        train = partial(_fit_rows, estimator=self.estimator, X=X, y=labels, params=params)
        settings: dict[str, Any] = {
            "classes": self.classes_,
            "method": self.calibration,
            "margins": margins,
            "sample_weight": weights,
        }
        if self.calibration is None:
            model = self.estimator if prefit else train(np.arange(len(labels)))
            blank = ClassCalibration(None, len(self.classes_), margins=margins)
            self.calibration_ = CalibratedScores((model,), (blank,), 0)
        elif prefit:
            scores = _scores(self.estimator, X, self.classes_, self._response)
            self.calibration_ = calibrate_fitted(self.estimator, scores, labels, **settings)
        else:
            score = partial(_score_rows, X=X, classes=self.classes_, response=self._response)
            self.calibration_ = calibrate_folds(
                train,
                score,
                labels,
                self.cv,
                groups=groups,
                copies=read_copies(X, weights) if keeps_copies(self.cv, groups) else None,
                ensemble=self.ensemble,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
                **settings,
            )
        copy_features(self, self.calibration_.models[0])
        return self

    def _recalibrated(self, X: Any, y: ArrayLike) -> Self:
        """Return a copy whose maps from scores to probabilities are fitted to these rows."""
        made, codes = copy(self), encode(self.classes_, y, "y")
        maps = tuple(
            replace(old, method=old.method or "beta").fit(
                _scores(model, X, self.classes_, self._response), codes
            )
            for model, old in zip(self.calibration_.models, self.calibration_.maps, strict=True)
        )
        made.calibration_ = replace(self.calibration_, maps=maps)
        return made

    def _is_prefit(self) -> bool:
        prefit = isinstance(self.estimator, FrozenEstimator) or (
            isinstance(self.cv, str) and self.cv == "prefit"
        )
        if prefit:
            check_is_fitted(self.estimator)
        return prefit

    def _read_response(self) -> tuple[str, bool]:
        """Which method gives the scores, and whether they are margins.

        Sigmoid, isotonic and temperature like margins, which saturate less; beta needs values in
        (0, 1), and None probabilities.
        """
        order = ["decision_function", "predict_proba"]
        if self.calibration in (None, "beta"):
            order.reverse()
        for name in order:
            if hasattr(self.estimator, name):
                return name, name == "decision_function"
        raise ValueError(
            f"{type(self.estimator).__name__} has neither predict_proba nor decision_function, "
            "and decisions by expected cost need one of them."
        )

    def _estimator_params(
        self, weights: Floats | None, costs: Any, groups: Any, fit_params: dict[str, Any]
    ) -> dict[str, Any]:
        """Return what the estimator's fit gets: what it requests, or without routing takes."""
        if get_config()["enable_metadata_routing"]:
            given = {"sample_weight": weights, "costs": costs, "groups": groups, **fit_params}
            return dict(process_routing(self, "fit", **given).estimator.fit)
        if weights is None:
            return fit_params
        if has_fit_parameter(self.estimator, "sample_weight"):
            return {**fit_params, "sample_weight": weights}
        if not self._is_prefit():
            warn_caller(
                f"{type(self.estimator).__name__}.fit takes no sample_weight: the weights count in "
                "the calibration only. Give an estimator that takes them, or route them to it."
            )
        return fit_params

    def predict_proba(self, X: Any) -> Floats:
        """Return calibrated class probabilities, ``(n_samples, K)``; costs play no part in them."""
        check_is_fitted(self)
        X = without_mask(X)
        return self.calibration_.predict_proba(
            _scores(model, X, self.classes_, self._response) for model in self.calibration_.models
        )

    def decision_function(self, X: Any, costs: Any = None) -> Floats:
        """Return how much is expected to be saved.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_actions)
            For two classes, what answering the second saves over answering the first: positive
            where `predict` answers the second. Otherwise minus the expected cost of each action.
        """
        proba = self._decision_proba(X, costs)
        prices = self._decision_costs(costs, X)
        expected = prices.expected(proba)
        if prices.is_square and expected.shape[1] == 2:
            return np.asarray(expected[:, 0] - expected[:, 1])
        return -expected

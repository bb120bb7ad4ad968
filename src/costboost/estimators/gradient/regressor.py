"""Gradient boosting for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from costboost.boosting.gradient.losses import REGRESSION_LOSSES, needs_all_rows
from costboost.costs.pricing import price_errors
from costboost.estimators.base import RoundCallbacks, fits_tables, with_callbacks
from costboost.estimators.gradient.base import GradientBoost
from costboost.estimators.gradient.family import REGRESSION
from costboost.explain.mixin import ExplainMixin
from costboost.fitting.held_out import read_eval_set
from costboost.fitting.plan import refuse_if_remote
from costboost.fitting.train import Trainer, set_fitted, train_models
from costboost.inputs.arrays import mean_paid, read_weights
from costboost.inputs.checks import (
    answers_tables,
    check_choice,
    check_table,
    is_spread,
    read_numeric_targets,
    refuse_masked,
)
from costboost.typing import Floats


class GradientBoostRegressor(ExplainMixin, RegressorMixin, GradientBoost):  # type: ignore[misc]
    """Gradient boosting for numbers, where over- and underestimating may have different prices.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "pinball"} or Loss, default="squared"
        "pinball" costs `over` per unit that the answer lies too high and `under` per unit that it
        lies too low: the answer is a quantile. Or any object with the methods value, gradient
        and hessian: see `costboost.boosting.gradient.losses.Loss`.
    n_estimators : int, default=100
        The number of rounds, one tree each.
    learning_rate : float, default=0.1
        Multiplies every step.
    step : {"auto", "newton", "exact", "line-search"}, default="auto"
        How far each round goes. "newton": every leaf adds -(sum of gradients) / (sum of hessians
        + `l2_regularization`). "exact": every leaf adds the minimiser of its rows' loss, a
        median or quantile for "absolute" and "pinball". "line-search": the learner is fitted to
        the gradients by least squares, and one lambda for the whole round minimises the loss along
        it. "auto" is "exact" for absolute, Huber and pinball loss, "newton" otherwise, and
        "line-search" with `estimator`.
    estimator : regressor, default=None
        In place of the built-in tree. It is fitted to -gradient ("line-search"), or to
        -gradient / hessian with weights hessian ("newton").
    init : regressor, "zero" or None, default=None
        f_0: the answers of a model fitted to the same rows, 0, or the loss's best constant.
    over, under : float, default=1.0
        Prices of pinball loss; ``fit`` takes them per row.
    delta : float or None, default=None
        Where Huber loss becomes linear; None: nine tenths of the rows deviate less from the
        median of `y`.
    max_depth : int or None, default=None
    max_leaf_nodes : int or None, default=31
        Nodes are split in the order of their gain until there are so many leaves.
    min_samples_leaf : int, default=20
    min_weight_leaf : float, default=0.0
        The least share of a round's sum of hessians in a leaf.
    l2_regularization : float, default=0.0
    max_features : None, int, float, "sqrt" or "log2", default=None
        Columns drawn for each node.
    max_bins : int, default=255
    subsample : float, default=1.0
        The share of rows that each round learns from.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        A column keeps its `max_bins` heaviest categories; all others are treated as missing
        values, and a warning names the column.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1: the answer rises with the column, -1: it falls, 0: free. A dict gives columns by name
        or position.
    interaction_cst : "pairwise", "no_interactions", list of groups of columns or None, default=None
        Which columns may meet on one path of a tree, by name or position; columns in no group
        are one of their own together. "no_interactions" makes the margin a sum of functions of
        one column each.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping.
    n_iter_no_change : int or None, default=None
        Stop when the mean loss of the held-out rows has not fallen for so many rounds.
    early_stopping_metric : "auto" or callable, default="auto"
        What early stopping goes by: the mean loss, or ``metric(y_true, y_pred)``, lower is better,
        which gets ``sample_weight=`` where there are weights.
    tol : float, default=0.0
        A fall by less than this share of the best loss does not count.
    warm_start : bool, default=False
        Continue from the rounds of the last ``fit``, which had it too (same data, larger
        `n_estimators`). Other data, or another loss, are refused.
    on_interrupt : {"raise", "keep"}, default="raise"
        On Ctrl-C: give up, or keep the model of the rounds done so far.
    scoring : {"r2", "cost"}, default="r2"
        What ``score`` returns: the coefficient of determination, or minus the mean cost of the
        answers, `over` per unit too much and `under` per unit too little.
    verbose : int or "auto", default="auto"
        Print a line every so many rounds; 0 prints nothing. "auto" shows on a terminal how far a
        fit of more than three seconds is, and clears that line at the end.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; the model does not depend on it.

    Attributes
    ----------
    start_ : ndarray of shape (1,)
        f_0, where it is a constant.
    n_iter_ : int
    estimator_weights_ : ndarray of shape (n_rounds,)
        lambda_t * learning_rate.
    train_loss_ : ndarray of shape (n_rounds,)
        The mean loss of the training rows after each round.
    validation_loss_ : ndarray of shape (n_rounds,), with early stopping
        What it goes by on the held-out rows after each round: their mean loss, or another metric.
    eval_results_ : dict of ndarrays, with several eval sets
        What early stopping goes by, on each set by name, after each round.
    estimators_ : list of lists of regressors, if `estimator` was given
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Friedman 2001, "Greedy function approximation: a gradient boosting machine".

    Examples
    --------
    A late delivery costs nine times as much as an early one: promise the 90th percentile.

    >>> import numpy as np
    >>> from costboost import GradientBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> days = 5 * X[:, 0] + rng.exponential(size=2000)
    >>> model = GradientBoostRegressor("pinball", over=1, under=9).fit(X, days)
    >>> 0.85 < float(np.mean(days <= model.predict(X))) < 0.95
    True
    """

    __metadata_request__fit = {"over": True, "under": True}  # noqa: RUF012
    __metadata_request__score = {"over": True, "under": True}  # noqa: RUF012

    def __init__(
        self,
        loss: Any = "squared",
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        step: str = "auto",
        estimator: Any = None,
        init: Any = None,
        over: float = 1.0,
        under: float = 1.0,
        delta: float | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 31,
        min_samples_leaf: int = 20,
        min_weight_leaf: float = 0.0,
        l2_regularization: float = 0.0,
        max_features: Any = None,
        max_bins: int = 255,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        early_stopping_metric: Any = "auto",
        tol: float = 0.0,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        scoring: str = "r2",
        verbose: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.estimator = estimator
        self.init = init
        self.over = over
        self.under = under
        self.delta = delta
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping_metric = early_stopping_metric
        self.tol = tol
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.scoring = scoring
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @fits_tables
    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        over: ArrayLike | None = None,
        under: ArrayLike | None = None,
        eval_set: Any = None,
    ) -> GradientBoostRegressor:
        """Train.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Or a `ParquetTable`, which holds y, weights itself.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent.
        over, under : float or array-like of shape (n_samples,), default=None
            Prices of pinball loss, of every row; they override the constructor's.
        eval_set : tuple (X, y), (X, y, prices), (X, y, prices, sample_weight) or dict, default=None
            Held-out rows for early stopping, in place of `validation_fraction`; `prices` has
            shape (n, 2), over and under. Or several of them by name, of which the first stops.

        Returns
        -------
        self
        """
        self._check_outside_learners()
        refuse_if_remote(self, X)
        X = check_table(self, X, y, reset=True)
        refuse_masked(y)
        if is_spread(X):
            target, sample_weight = X.read_targets()
        else:
            target = read_numeric_targets(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(target))
        plan = REGRESSION.settle(self, X, target, weights, over, under)
        held_out = read_eval_set(self, eval_set, per_row=plan.prices is not None)
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        trainer = Trainer(REGRESSION, plan, X, target, weights, observer=callbacks)
        del target, weights, sample_weight  # the trainer holds them, if anybody here does
        with trainer:
            trainer.bin_table()
            trainer.use_eval_sets(held_out)
            given = lambda: {"over and under": plan.prices}  # noqa: E731
            set_fitted(self, trainer, train_models(self, trainer, given))
        callbacks.close()
        return self

    def _loss_needs_all_rows(self) -> bool:
        return needs_all_rows(REGRESSION_LOSSES, self.loss)

    @answers_tables
    def predict(self, X: Any) -> Floats:
        """Return F, (n_samples,)."""
        margins = self._margins(X)
        return np.ascontiguousarray(self._model.values(margins))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield ``predict`` after each round."""
        for model, margins in self._staged(X):
            yield model.values(margins)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        over: ArrayLike | None = None,
        under: ArrayLike | None = None,
    ) -> float:
        """Return R^2, or with ``scoring="cost"`` minus the mean cost: higher is better.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        over, under : float or array-like of shape (n_samples,), default=None
            Prices of ``scoring="cost"``, instead of the constructor's.

        Returns
        -------
        float
        """
        check_choice("scoring", self.scoring, ("r2", "cost"))
        if self.scoring == "r2":
            if over is not None or under is not None:
                raise ValueError('over and under are prices: set scoring="cost" to score by them.')
            return float(super().score(X, y, sample_weight))
        target = read_numeric_targets(X, y)
        prices = (self.over if over is None else over, self.under if under is None else under)
        return -mean_paid(price_errors(target, self.predict(X), *prices), sample_weight)

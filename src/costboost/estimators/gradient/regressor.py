"""Gradient boosting for numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from costboost.boosting.gradient.losses import REGRESSION_LOSSES, needs_all_rows
from costboost.costs import NumberCosts, as_number_costs
from costboost.costs.pricing import price_errors
from costboost.estimators.base import RoundCallbacks, fits_tables, with_callbacks
from costboost.estimators.gradient.base import GradientBoost
from costboost.estimators.gradient.family import REGRESSION
from costboost.explain.mixin import ExplainMixin
from costboost.fitting.held_out import EvalSet, read_eval_set
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
    loss : {"squared", "absolute", "huber", "pinball", "cost"} or Loss, default="squared"
        "pinball" costs `over` per unit that the answer lies too high and `under` per unit that it
        lies too low: the answer is a quantile. "cost" is what `costs` say, constant, by column or
        per row. Or any object with the methods value, gradient
        and hessian: see `costboost.boosting.gradient.losses.Loss`.
    n_estimators : int, default=100
        The number of rounds, one tree each.
    learning_rate : float, default=0.1
        Multiplies every step.
    step : {"auto", "newton", "exact", "line-search"}, default="auto"
        How far each round goes. "newton": every leaf adds -(sum of gradients) / (sum of hessians
        + `l2_regularization`). "exact": every leaf adds the minimiser of its rows' loss, a
        median or quantile for "absolute", "pinball" and prices per unit. "line-search": the learner
        is fitted to the gradients by least squares, and one lambda for the whole round minimises
        the loss along it. "auto" is "exact" for absolute, Huber, pinball and cost loss, "newton"
        otherwise, and "line-search" with `estimator`.
    estimator : regressor, default=None
        In place of the built-in tree. It is fitted to -gradient ("line-search"), or to
        -gradient / hessian with weights hessian ("newton").
    init : regressor, "zero" or None, default=None
        f_0: the answers of a model fitted to the same rows, 0, or the loss's best constant.
    over, under : float, default=1.0
        Prices of pinball loss; ``fit`` takes them per row.
    costs : NumberCosts, dict or None, default=None
        Prices of ``loss="cost"``, per unit and per squared unit too little and too much, constant
        or by column; ``fit`` takes them per row. Without any, every unit costs 1. Steps have no
        slope to train by and are refused; `MinimumCostRegressor` decides by them.
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
        Without `target_encoding` a column keeps its `max_bins` heaviest categories; all others
        are treated as missing values, and a warning names the column.
    target_encoding : bool or "auto", default="auto"
        Whether columns of more than 32 categories are coded by the targets of other rows, cut into
        quarters: by each category's share of these, drawn to that of all rows as far as that helps
        rows that were not counted. Categories of 30 rows are told apart, those never seen are as
        all rows. "auto" does not.
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
        answers, `over` per unit too much and `under` per unit too little. With ``loss="cost"``, or
        where ``score`` is given costs, it is minus the mean cost anyway.
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
    training_costs_ : NumberCosts, with ``loss="cost"``
        The prices trained on; where they were per row, their mean.
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

    Each parcel has its own price:

    >>> from costboost import NumberCosts
    >>> priced = NumberCosts(under=rng.choice([1, 9], size=2000), over=1)
    >>> GradientBoostRegressor("cost").fit(X, days, costs=priced).training_costs_.over
    1.0
    """

    training_costs_: NumberCosts

    __metadata_request__fit = {"over": True, "under": True, "costs": True}  # noqa: RUF012
    __metadata_request__score = {"over": True, "under": True, "costs": True}  # noqa: RUF012

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
        costs: Any = None,
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
        target_encoding: bool | str = "auto",
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
        self.costs = costs
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
        self.target_encoding = target_encoding
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
        costs: Any = None,
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
        costs : NumberCosts, dict or None, default=None
            Prices of ``loss="cost"``, constant, by column or per row; they override the
            constructor's.
        eval_set : tuple (X, y), (X, y, prices), (X, y, prices, sample_weight) or dict, default=None
            Held-out rows for early stopping, in place of `validation_fraction`; `prices` has
            shape (n, 2), over and under, or is a `NumberCosts` of these rows. Or several of them by
            name, of which the first stops.

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
        bound = self._set_costs(costs, X, target, weights)
        plan = REGRESSION.settle(self, X, target, weights, over, under, bound)
        held_out = read_eval_set(self, eval_set, per_row=plan.prices is not None)
        _check_prices_of_sets(held_out, bound)
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        trainer = Trainer(REGRESSION, plan, X, target, weights, observer=callbacks)
        del target, weights, sample_weight  # the trainer holds them, if anybody here does
        with trainer:
            trainer.bin_table()
            trainer.use_eval_sets(held_out)
            # Constant prices of loss="cost" are the loss's own.
            named = "over and under" if bound is None else "costs"
            prices = plan.loss if bound is not None and plan.prices is None else plan.prices
            given = lambda: {named: prices}  # noqa: E731
            set_fitted(self, trainer, train_models(self, trainer, given))
        callbacks.close()
        return self

    def _set_costs(
        self, given: Any, X: Any, y: Floats, weights: Floats | None
    ) -> NumberCosts | None:
        """Return the prices of loss="cost", bound to the table; None for other losses.

        Remember them for ``score``: of prices per row the mean.
        """
        if hasattr(self, "training_costs_"):
            del self.training_costs_
        if self.loss != "cost":
            for costs, where in ((self.costs, ""), (given, " to fit")):
                if costs is not None:
                    raise ValueError(
                        f"costs were given{where}, but loss={self.loss!r} trains on none: set "
                        'loss="cost", or use MinimumCostRegressor, which decides by them.'
                    )
            return None
        held = as_number_costs({"under": 1, "over": 1} if self.costs is None else self.costs)
        if held.n_rows is not None:
            raise ValueError(
                f"costs= in the constructor holds constant costs, but {held!r} has {held.n_rows} "
                "rows: pass costs per row to fit and score, or name the column that holds them, "
                "such as NumberCosts(under='margin', over=2)."
            )
        wanted = held if given is None else as_number_costs(given)
        bound = wanted.bind_table(X)
        bound.check_rows(len(y), "X has")
        self.training_costs_ = wanted.mean(weights) if wanted.n_rows is not None else wanted
        return bound

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
        costs: Any = None,
    ) -> float:
        """Return R^2, or minus the mean cost of the answers: higher is better.

        The cost with ``scoring="cost"``, ``loss="cost"`` or where `costs` are given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        over, under : float or array-like of shape (n_samples,), default=None
            Prices of ``scoring="cost"``, instead of the constructor's.
        costs : NumberCosts, dict or None, default=None
            What answers cost; None: with ``loss="cost"`` the prices trained on, or their mean where
            they were per row.

        Returns
        -------
        float
        """
        check_choice("scoring", self.scoring, ("r2", "cost"))
        if costs is not None or self.loss == "cost":
            if over is not None or under is not None:
                raise ValueError("Give costs=, or over and under, not both.")
            self._fitted_model()
            given = self.training_costs_ if costs is None else as_number_costs(costs)
            target = read_numeric_targets(X, y)
            paid = given.bind_table(X).of_numbers(target, self.predict(X))
            return -mean_paid(paid, sample_weight)
        if self.scoring == "r2":
            if over is not None or under is not None:
                raise ValueError('over and under are prices: set scoring="cost" to score by them.')
            return float(super().score(X, y, sample_weight))
        target = read_numeric_targets(X, y)
        prices = (self.over if over is None else over, self.under if under is None else under)
        return -mean_paid(price_errors(target, self.predict(X), *prices), sample_weight)


def _check_prices_of_sets(held_out: list[EvalSet] | None, costs: NumberCosts | None) -> None:
    """Raise where held-out rows have other kinds of prices than training has."""
    for part in held_out or ():
        given = part.costs
        if given is None:
            continue
        alike = isinstance(given, NumberCosts) == (costs is not None)
        if costs is None and not alike:
            raise ValueError(f'{part.name} has NumberCosts, which are prices of loss="cost" only.')
        if costs is not None and not alike:
            raise ValueError(f'{part.name} has an array of prices; loss="cost" takes NumberCosts.')
        if costs is not None and costs.is_linear and not given.is_linear:
            raise ValueError(
                f"{part.name} has squared prices or steps, and training has none: give prices of "
                "the same kinds."
            )

"""`GradientBoostClassifier` and `GradientBoostRegressor`: gradient boosting with costs.

Both are skins: they check what they are given, settle a `GradientPlan`, and hand rows to
`GradientTrainer`, which trains one model, or one for each fold of a calibration.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import (
    _check_y,
    check_consistent_length,
    check_is_fitted,
)

from costboost._callbacks import CallbackSupportMixin, RoundCallbacks, with_callbacks
from costboost._inputs import check_labels, check_table, count_threads
from costboost._validation import read_numbers, read_weights
from costboost.boosting.gradient import GradientRound
from costboost.boosting.gradient_ensemble import GradientEnsemble
from costboost.boosting.losses import PinballLoss
from costboost.calibration import CalibratedScores, calibrate_folds
from costboost.costs import as_costs
from costboost.decisions import CostDecisionMixin
from costboost.gradient_plans import settle_classification, settle_regression
from costboost.gradient_training import (
    GradientPlan,
    GradientTrainer,
    choices_of,
    proba_of,
)

__all__ = ["GradientBoostClassifier", "GradientBoostRegressor"]

Floats = NDArray[np.float64]


class _GradientBoost(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: one model's training, margins, and what is told of it."""

    estimator: Any
    init: Any
    n_jobs: int | None
    warm_start: bool
    n_iter_: int
    _models: tuple[GradientEnsemble, ...]
    _rounds: list[GradientRound]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = self.estimator is None and (self.init is None or isinstance(self.init, str))
        tags.input_tags.allow_nan = own
        tags.input_tags.sparse = True
        tags.input_tags.categorical = own
        tags.input_tags.string = own
        return tags

    def _train_one(self, trainer: GradientTrainer) -> GradientEnsemble:
        """Train one model on all rows; continue the last one if asked to."""
        previous = None
        if self.warm_start and hasattr(self, "_rounds"):
            previous = (self._models[0], self._rounds)
        model = trainer.train(None, previous)
        if self.warm_start:
            self._rounds = trainer.histories[-1].rounds
        return model

    def _report(self, trainer: GradientTrainer, cost: str) -> None:
        """Set the fitted attributes that tell of rounds."""
        kept = trainer.histories[-1:] if len(self._models) == 1 else trainer.histories
        series = {
            "estimator_weights_": [model.steps for model in self._models],
            f"train_{cost}_": [np.array([r.train_cost for r in h.rounds]) for h in kept],
        }
        if kept and kept[-1].validation_cost:
            series[f"validation_{cost}_"] = [np.array(h.validation_cost) for h in kept]
        if trainer.binner is None:
            lists = [[list(part) for part in model.estimators] for model in self._models]
            series["estimators_"] = lists  # type: ignore[assignment]
        for name, values in series.items():
            setattr(self, name, values[0] if len(self._models) == 1 else values)
        self.n_iter_ = max(len(model) for model in self._models)
        self.start_ = self._models[0].start
        if self.n_iter_ == 0 and kept[-1].stop != "flat":
            self._warn_of_no_rounds(kept[-1].stop)

    def _warn_of_no_rounds(self, stop: str) -> None:
        why = {
            "leaf": "no split of the rows is allowed or gains. Give more rows, or a smaller "
            "min_samples_leaf",
            "uphill": "the first step would raise the loss. Use step='newton', another objective "
            "or another estimator",
        }.get(stop, "training was stopped. Let it run for a round")
        warnings.warn(
            f"{type(self).__name__} took no step and answers the same for every row: {why}.",
            UserWarning,
            stacklevel=4,
        )

    def _margins(self, X: Any) -> list[Floats]:
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        return [model.margins(X, count_threads(self.n_jobs)) for model in self._models]

    def _staged_margins(self, X: Any) -> Iterator[list[Floats]]:
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        stages = [model.staged_margins(X, count_threads(self.n_jobs)) for model in self._models]
        last: list[Floats] = [model.first_margins(X) for model in self._models]
        for _ in range(self.n_iter_):
            # A model that ended early stays as it was.
            last = [next(stage, before) for stage, before in zip(stages, last, strict=True)]
            yield last


class GradientBoostRegressor(RegressorMixin, _GradientBoost):  # type: ignore[misc]
    """Gradient boosting for numbers, where over- and underestimating may have different prices.

    Parameters
    ----------
    loss : {"squared", "absolute", "huber", "pinball"} or Loss, default="squared"
        "pinball" costs `over` per unit that the answer lies too high and `under` per unit that it
        lies too low: the answer is a quantile. Or any object with the methods value, gradient
        and hessian: see `costboost.boosting.losses.Loss`.
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
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1: the answer rises with the column, -1: it falls, 0: free. A dict names columns.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping.
    n_iter_no_change : int or None, default=None
        Stop when the mean loss of the held-out rows has not fallen for so many rounds.
    tol : float, default=0.0
        A fall by less than this share of the best loss does not count.
    warm_start : bool, default=False
        Continue from the rounds of the last ``fit`` (same data, larger `n_estimators`).
    on_interrupt : {"raise", "keep"}, default="raise"
        On Ctrl-C: give up, or keep the model of the rounds done so far.
    verbose : int, default=0
        Print a line every so many rounds.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; the model does not depend on it.

    Attributes
    ----------
    start_ : ndarray of shape (1,)
        f_0, where it is a constant.
    n_iter_ : int
    estimator_weights_ : ndarray of shape (n_iter_,)
        lambda_t * learning_rate.
    train_loss_ : ndarray of shape (n_iter_,)
        The mean loss of the training rows after each round.
    validation_loss_ : ndarray, with early stopping
    estimators_ : list of lists of regressors, if `estimator` was given
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    References
    ----------
    Friedman 2001, "Greedy function approximation: a gradient boosting machine".

    Examples
    --------
    A late delivery costs nine times as much as an early one: promise the 90th percentile.

    >>> import numpy as np
    >>> from costboost.gradient_boosting import GradientBoostRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 1))
    >>> days = 5 * X[:, 0] + rng.exponential(size=2000)
    >>> model = GradientBoostRegressor("pinball", over=1, under=9).fit(X, days)
    >>> 0.85 < float(np.mean(days <= model.predict(X))) < 0.95
    True
    """

    __metadata_request__fit = {"over": True, "under": True}  # noqa: RUF012

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
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 0.0,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        verbose: int = 0,
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
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        over: ArrayLike | None = None,
        under: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
    ) -> GradientBoostRegressor:
        """Train.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent.
        over, under : float or array-like of shape (n_samples,), default=None
            Prices of pinball loss, of every row; they override the constructor's.
        eval_set : tuple (X, y) or (X, y, prices), default=None
            Held-out rows for early stopping, in place of `validation_fraction`; `prices` has
            shape (n, 2), over and under.

        Returns
        -------
        self
        """
        X = check_table(self, X, y, reset=True)
        target = np.asarray(_check_y(column_or_1d(y, warn=True), y_numeric=True), dtype=float)
        check_consistent_length(X, target)
        weights = None if sample_weight is None else read_weights(sample_weight, len(target))
        plan = settle_regression(self, X, target, weights)
        prices = self._prices(plan, over, under, len(target))
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        extra = {"prices": prices, "eval_set": eval_set, "observer": callbacks}
        trainer = GradientTrainer(plan, X, target, weights, **extra)  # type: ignore[arg-type]
        self._models = (self._train_one(trainer),)
        self._report(trainer, "loss")
        callbacks.close()
        return self

    def _prices(self, plan: GradientPlan, over: Any, under: Any, n_rows: int) -> Floats | None:
        """Return prices per row, (n, 2), if any were given."""
        if over is None and under is None:
            return None
        if not isinstance(plan.loss, PinballLoss) or self.loss == "absolute":
            raise ValueError(f'over and under are prices of loss="pinball", not of {self.loss!r}.')
        given = (self.over if over is None else over, self.under if under is None else under)
        columns = [
            read_numbers(part, name) for part, name in zip(given, ("over", "under"), strict=True)
        ]
        if any(part.shape not in ((), (n_rows,)) for part in columns):
            raise ValueError(f"over and under must be numbers, or one for each of {n_rows} rows.")
        return np.stack([np.broadcast_to(part, n_rows) for part in columns], axis=1)

    def predict(self, X: Any) -> Floats:
        """Return F, (n_samples,)."""
        return np.ascontiguousarray(self._margins(X)[0][:, 0])

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield ``predict`` after each round."""
        for margins in self._staged_margins(X):
            yield margins[0][:, 0]


class GradientBoostClassifier(
    CostDecisionMixin,
    ClassifierMixin,  # type: ignore[misc]
    _GradientBoost,
):
    """Gradient boosting that knows what mistakes cost, in training or in the decision.

    Parameters
    ----------
    loss : {"log", "exponential", "cost-exponential", "expected-cost"} or Loss, default="log"
        "log" and "exponential" estimate natural probabilities; costs enter at the decision, and
        new prices need no new model. "cost-exponential" is the objective (17) of Cai, Song and
        Zhang; "expected-cost" the cost of randomised answers of Hoppner et al. These train on
        costs, constant or per row, and answer by the sign of F (K classes: its largest entry);
        with `calibration` they decide by the cheapest expected cost too. Or any object with the
        methods value, gradient and hessian: see `costboost.boosting.losses.Loss`.
    n_estimators : int, default=100
        The number of rounds: one tree each, with K > 2 classes K trees.
    learning_rate : float, default=0.1
        Multiplies every step.
    step : {"auto", "newton", "exact", "line-search"}, default="auto"
        How far each round goes. "newton": every leaf adds -(sum of gradients) / (sum of hessians
        + `l2_regularization`). "exact": every leaf adds the minimiser of its rows' loss.
        "line-search": the learner is fitted to the gradients by least squares, and one lambda for
        the whole round minimises the loss along it. "auto" is "newton", and "line-search" with
        `estimator`.
    estimator : regressor, default=None
        In place of the built-in tree. It is fitted to -gradient ("line-search"), or to
        -gradient / hessian with weights hessian ("newton").
    init : classifier, "zero" or None, default=None
        f_0: the log odds of a classifier fitted to the same rows, 0, or the loss's best constant.
    objective : str, callable or tuple (a, b, w0), default="asymboost"
        Of the cost-exponential loss: "asymboost", "adac1", "adacost", "cgada", "adaboost", a
        function, or arrays over rows; see `costboost.boosting.losses.CostExponentialLoss`. The
        largest cost is scaled to 1. The steps alpha of b are `learning_rate` times lambda.
    max_depth : int or None, default=None
    max_leaf_nodes : int or None, default=31
        Nodes are split in the order of their gain until there are so many leaves.
    min_samples_leaf : int, default=20
    min_weight_leaf : float, default=0.0
        The least share of a round's sum of hessians in a leaf.
    l2_regularization : float, default=0.0
    max_step : float or None, default=4.0
        No leaf adds more than this to the log odds, before `learning_rate`. Rare classes make
        Newton steps of 1 / p, and certain mistakes larger ones; this is the bound on LogitBoost's
        working response that Friedman, Hastie and Tibshirani recommend. None is no bound.
    max_features : None, int, float, "sqrt" or "log2", default=None
        Columns drawn for each node.
    max_bins : int, default=255
    subsample : float, default=1.0
        The share of rows that each round learns from.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1: the probability of the second class rises with the column, -1: it falls, 0: free. A
        dict names columns.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs; ``fit`` may override them, and takes costs per row.
    calibration : str or None, default=None
        "sigmoid", "sigmoid-brier", "beta", "isotonic", "temperature": map scores to natural
        probabilities on rows that were not trained on.
    cv : int, float, splitter or iterable, default=5
        Rows to calibrate on: folds, or a held-out share.
    ensemble : bool, default=True
        Average the calibrated models of the folds, or train one model on all rows and calibrate
        it by the pooled scores of the folds.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping.
    n_iter_no_change : int or None, default=None
        Stop when the cost of the held-out rows has not fallen for so many rounds.
    tol : float, default=0.0
        A fall by less than this share of the best cost does not count.
    warm_start : bool, default=False
        Continue from the rounds of the last ``fit`` (same data, larger `n_estimators`).
    on_interrupt : {"raise", "keep"}, default="raise"
        On Ctrl-C: give up, or keep the model of the rounds done so far.
    verbose : int, default=0
        Print a line every so many rounds.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
        The constant costs by which ``predict`` decides when it is given none.
    start_ : ndarray of shape (1,) or (K,)
        f_0, where it is a constant.
    n_iter_ : int
        The number of rounds taken; with several models, of the longest.
    estimator_weights_ : ndarray of shape (n_iter_,), or a list of such
        lambda_t * learning_rate. A list, as the following ones, when calibration made several
        models.
    train_cost_ : ndarray of shape (n_iter_,)
        The cost of the training rows' decisions after each round.
    validation_cost_ : ndarray, with early stopping
        The mean cost of the held-out rows after each round.
    estimators_ : list of lists of regressors, if `estimator` was given
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Hoppner et al. decide by each row's own threshold on the score of "expected-cost". That score
    contains the costs already, so that its minimiser is right at the threshold 1/2: we decide
    there, and by prices per row after calibration.

    References
    ----------
    Friedman, Hastie and Tibshirani 2000, "Additive logistic regression".
    Cai, Song and Zhang, "Cost-sensitive boosting algorithms as gradient descent".
    Hoppner, Baesens, Verbeke and Verdonck 2022, "Instance-dependent cost-sensitive learning".

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.gradient_boosting import GradientBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostClassifier(n_estimators=20).fit(X, y)
    >>> cheap = model.predict(X, costs=Costs(fp=1000, fn=1))  # new prices, same model
    >>> bool(cheap.sum() <= model.predict(X).sum())
    True
    """

    def __init__(
        self,
        loss: Any = "log",
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        step: str = "auto",
        estimator: Any = None,
        init: Any = None,
        objective: Any = "asymboost",
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 31,
        min_samples_leaf: int = 20,
        min_weight_leaf: float = 0.0,
        l2_regularization: float = 0.0,
        max_step: float | None = 4.0,
        max_features: Any = None,
        max_bins: int = 255,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        costs: Any = None,
        calibration: str | None = None,
        cv: Any = 5,
        ensemble: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 0.0,
        warm_start: bool = False,
        on_interrupt: str = "raise",
        verbose: int = 0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.estimator = estimator
        self.init = init
        self.objective = objective
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.l2_regularization = l2_regularization
        self.max_step = max_step
        self.max_features = max_features
        self.max_bins = max_bins
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.costs = costs
        self.calibration = calibration
        self.cv = cv
        self.ensemble = ensemble
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
        *,
        groups: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
    ) -> GradientBoostClassifier:
        """Train, and calibrate if asked to.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What each mistake costs, constant or per row; overrides the constructor's.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never both trained and calibrated on.
        eval_set : tuple (X, y) or (X, y, costs), default=None
            Held-out rows for early stopping, in place of `validation_fraction`.

        Returns
        -------
        self
        """
        X = check_table(self, X, y, reset=True)
        classes, codes = check_labels(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(codes))
        self.classes_ = classes
        bound = self._set_costs(costs, classes[codes], weights)
        plan = settle_classification(self, X, codes, bound, len(classes))
        callbacks = RoundCallbacks(self, plan.total_rounds, X, y)
        extra = {"costs": bound, "eval_set": eval_set, "observer": callbacks}
        trainer = GradientTrainer(plan, X, codes, weights, **extra)  # type: ignore[arg-type]
        self._train(trainer, plan, groups)
        callbacks.close()
        return self

    def _train(self, trainer: GradientTrainer, plan: GradientPlan, groups: Any) -> None:
        """Train one model, or one for each fold."""
        self._loss, self._natural = plan.loss, plan.odds is not None
        self._scores: CalibratedScores | None = None
        if plan.calibration is None:
            self._models = (self._train_one(trainer),)
        else:
            self._scores = calibrate_folds(
                trainer.train,
                trainer.score,
                self.classes_[trainer.y],
                self.cv,
                classes=self.classes_,
                method=plan.calibration,
                margins=True,
                groups=groups,
                sample_weight=trainer.weights,
                ensemble=self.ensemble,
                random_state=plan.setting.seed,
            )
            self._models = self._scores.models
        self._report(trainer, "cost")

    # --- scores and probabilities

    def _calibrated(self, margins: list[Floats]) -> Floats:
        assert self._scores is not None
        scores = iter([part[:, 0] if part.shape[1] == 1 else part for part in margins])
        return self._scores.predict_proba(lambda model: next(scores))

    def decision_function(self, X: Any) -> Floats:
        """Return F; calibrated: the log odds.

        Returns
        -------
        ndarray of shape (n_samples,) for two classes, else (n_samples, K)
        """
        return self._decision_values(self._margins(X))

    def _decision_values(self, margins: list[Floats]) -> Floats:
        if self._scores is None:
            return margins[0][:, 0] if len(self.classes_) == 2 else margins[0]
        logs = np.log(np.maximum(self._calibrated(margins), 1e-300))
        return np.asarray(logs[:, 1] - logs[:, 0] if len(self.classes_) == 2 else logs)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, (n_samples, K).

        Calibrated, or of "log" and "exponential" loss, they are natural. Otherwise they are the
        link of the loss, and contain the costs that it was trained on.
        """
        return self._proba(self._margins(X))

    def _proba(self, margins: list[Floats]) -> Floats:
        if self._scores is not None:
            return self._calibrated(margins)
        return proba_of(self._loss, margins[0])

    # --- decisions

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return decisions: the cheapest by natural probability, else by the sign of F.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``, constant or one per row of X. Losses that
            were trained on costs cannot use new ones without calibration, and say so.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._decide(self._margins(X), costs)

    def _decide(self, margins: list[Floats], costs: Any) -> NDArray[Any]:
        if self._decides_by_costs():
            proba = self._proba(margins)
            return self._cheapest(self._decision_costs(costs, len(proba)), proba)
        if costs is not None:
            self._refuse_costs()
        return np.asarray(self.classes_[choices_of(margins[0])])

    def _decides_by_costs(self) -> bool:
        check_is_fitted(self)
        return self._scores is not None or self._natural

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
        if not self._decides_by_costs():
            self._refuse_costs()
        return self.predict_proba(X)

    def _refuse_costs(self) -> None:
        raise ValueError(
            f"loss={self.loss!r} without calibration was trained on costs, which its scores "
            'contain, so it cannot decide by other costs. Fit with calibration="sigmoid" (or '
            'another one), or use loss="log".'
        )

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost of the decisions: higher is better, 0 is free.

        Losses that contain costs decide by the sign of F, and pay by the costs given.
        """
        if self._decides_by_costs():
            return super().score(X, y, sample_weight, costs)
        decided = self.predict(X)
        paid_by = self.costs_ if costs is None else as_costs(costs, self.classes_, len(decided))
        paid = paid_by.of_decisions(np.asarray(y), decided)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return -float(np.average(paid, weights=weights))

    # --- stages

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield ``decision_function`` after each round."""
        for margins in self._staged_margins(X):
            yield self._decision_values(margins)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield ``predict_proba`` after each round, by the calibration of the last."""
        for margins in self._staged_margins(X):
            yield self._proba(margins)

    def staged_predict(self, X: Any, costs: Any = None) -> Iterator[NDArray[Any]]:
        """Yield ``predict`` after each round."""
        for margins in self._staged_margins(X):
            yield self._decide(margins, costs)

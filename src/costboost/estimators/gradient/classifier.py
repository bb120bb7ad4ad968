"""Gradient boosting for classes."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin

from costboost.boosting.gradient.losses import CLASSIFICATION_LOSSES, needs_all_rows
from costboost.estimators.base import BoostingClassifierMixin, fits_tables, with_callbacks
from costboost.estimators.gradient.base import GradientBoost
from costboost.estimators.gradient.family import GRADIENT


class GradientBoostClassifier(
    BoostingClassifierMixin,
    ClassifierMixin,  # type: ignore[misc]  # scikit-learn is untyped
    GradientBoost,
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
        methods value, gradient and hessian: see `costboost.boosting.gradient.losses.Loss`.
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
        (Cai, Song and Zhang's objective, "cost-exponential", starts at 0 in their paper.)
    objective : str, callable or tuple (a, b, w0), default="asymboost"
        Of the cost-exponential loss: "asymboost", "adac1", "adacost", "cgada", "adaboost", a
        function, or arrays over rows; see
        `costboost.boosting.gradient.losses.CostExponentialLoss`. The largest
        cost is scaled to 1. The steps alpha of b are `learning_rate` times lambda.
    max_depth : int or None, default=None
    max_leaf_nodes : int or None, default=8
        Nodes are split in the order of their gain until there are so many leaves. 100 trees of 31
        leaves overfit tables of a few thousand rows (``docs/gradient.md``).
    min_samples_leaf : int, default=20
    min_weight_leaf : float, default=0.0
        The least share of a round's sum of hessians in a leaf.
    l2_regularization : float, default=0.0
    max_step : float or None, default=4.0
        No leaf adds more than this to the log odds, before `learning_rate`. Rare classes make
        Newton steps of 1 / p, and certain mistakes larger ones; this is the bound on LogitBoost's
        working response that Friedman, Hastie and Tibshirani recommend. "cost-exponential" has
        prices in its exponent, and F in units of 1 / price: there the bound of a leaf is over the
        mean ``|a|`` of its rows, and a line search for two classes holds back the leaves whose rows
        all aim one way, each by its own bound; rows that lose hold the others (with Cai's b, or
        more classes, no leaf moves farther than the bound of the costliest). None is no bound.
    max_features : None, int, float, "sqrt" or "log2", default=None
        Columns drawn for each node.
    max_bins : int, default=255
    subsample : float, default=1.0
        The share of rows that each round learns from.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Without `target_encoding` a column keeps its `max_bins` heaviest categories; all others
        are treated as missing values, and a warning names the column.
    target_encoding : bool or "auto", default="auto"
        Whether columns of more than 32 categories are coded by the labels of other rows: by each
        category's share of the classes, drawn to that of all rows as far as that helps rows that
        were not counted, and in as few steps as pay. Categories never seen are as all rows. "auto"
        does not.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1: the probability of the positive of two classes rises with the column, -1: it falls, 0:
        free. That is the class that the costs of ``fit`` call positive; without any, the second of
        ``classes_``. A dict gives columns by name or position.
    interaction_cst : "pairwise", "no_interactions", list of groups of columns or None, default=None
        Which columns may meet on one path of a tree, by name or position; columns in no group
        are one of their own together. "no_interactions" makes the margin a sum of functions of
        one column each.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs, or by column; ``fit`` may override them, and take costs per row.
    feature_costs : None, dict, array-like of shape (n_features,) or FeatureCosts, default=None
        What columns cost, in the currency of `costs`: a price by column, or by group that is bought
        together; see `costboost.FeatureCosts`, which also says who pays. A split must
        save more than the rows pay that have not paid yet. For loss="log".
        None, and prices of 0, leave every model as it is.
    calibration : str or None, default=None
        "sigmoid", "sigmoid-brier", "beta", "isotonic", "temperature", "bias-corrected": map scores
        to natural probabilities on rows that were not trained on. Losses that train on costs
        refuse "temperature", which has no bias to undo them.
    cv : int, float, splitter or iterable, default=5
        Rows to calibrate on: folds, or a held-out share.
    ensemble : bool, default=True
        Average the calibrated models of the folds, or train one model on all rows and calibrate
        it by the pooled scores of the folds.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping.
    n_iter_no_change : int or None, default=None
        Stop when the cost of the held-out rows has not fallen for so many rounds.
    early_stopping_metric : {"auto", "cost", "log_loss", "brier"} or callable, default="auto"
        What early stopping goes by on held-out rows: the cost of decisions, the log loss or the
        Brier score of probabilities (before calibration, where each fold stops on its own), or
        ``metric(y_true, proba)``, lower is better, which gets ``sample_weight=`` where there are
        weights. "auto" is the cost. On cost, rounds in which nothing is
        decided differently do not count against the patience.
    tol : float, default=0.0
        A fall by less than this share of the best cost does not count.
    warm_start : bool, default=False
        Continue from the rounds of the last ``fit``, which had it too (same data, larger
        `n_estimators`). Other data, or another loss, are refused.
    on_interrupt : {"raise", "keep"}, default="raise"
        On Ctrl-C: give up, or keep the model of the rounds done so far. With calibration no more
        folds are trained, and those there are are averaged.
    verbose : int or "auto", default="auto"
        Print a line every so many rounds; 0 prints nothing. "auto" shows on a terminal how far a
        fit of more than three seconds is, and clears that line at the end.
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
    estimator_weights_ : ndarray of shape (n_rounds,), or a list of such
        lambda_t * learning_rate. A list, as the following ones, when calibration made several
        models.
    train_cost_ : ndarray of shape (n_rounds,)
        The cost of the training rows' decisions after each round.
    validation_cost_ or validation_loss_ : ndarray of shape (n_rounds,), with early stopping
        What it goes by on the held-out rows after each round: their mean cost, or another metric.
    eval_results_ : dict of ndarrays, with several eval sets
        What early stopping goes by, on each set by name, after each round.
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
    >>> from costboost import GradientBoostClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = GradientBoostClassifier(n_estimators=20).fit(X, y)
    >>> cheap = model.predict(X, costs=Costs(fp=1000, fn=1))  # new prices, same model
    >>> bool(cheap.sum() <= model.predict(X).sum())
    True
    """

    _family = GRADIENT
    _loss: Any
    _natural: bool

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
        max_leaf_nodes: int | None = 8,
        min_samples_leaf: int = 20,
        min_weight_leaf: float = 0.0,
        l2_regularization: float = 0.0,
        max_step: float | None = 4.0,
        max_features: Any = None,
        max_bins: int = 255,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        target_encoding: bool | str = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        costs: Any = None,
        feature_costs: Any = None,
        calibration: str | None = None,
        cv: Any = 5,
        ensemble: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        early_stopping_metric: Any = "auto",
        tol: float = 0.0,
        warm_start: bool = False,
        on_interrupt: str = "raise",
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
        self.target_encoding = target_encoding
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.costs = costs
        self.feature_costs = feature_costs
        self.calibration = calibration
        self.cv = cv
        self.ensemble = ensemble
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping_metric = early_stopping_metric
        self.tol = tol
        self.warm_start = warm_start
        self.on_interrupt = on_interrupt
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
        costs: Any = None,
        *,
        groups: ArrayLike | None = None,
        eval_set: Any = None,
        labelled: ArrayLike | None = None,
        propensity: Any = None,
    ) -> GradientBoostClassifier:
        """Train, and calibrate if asked to.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Or a `ParquetTable`, which holds y, weights and costs itself.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent, a row of weight 3 is three (next to it), except
            where rows are counted, not weighed: in `min_samples_leaf` (20 by default), in the rows
            that `subsample` draws, and from 32,768 rows on, where splits are searched on a coarse
            grid.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What each mistake costs, constant, by column or per row; overrides the constructor's.
            "log" and "exponential" loss do not train on costs: these change none of their
            probabilities, only their decisions, and only where ``predict`` is given no costs of
            its own.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never both trained on and calibrated on, or held out for early
            stopping. Without groups, copies of a row are not.
        eval_set : tuple (X, y), (X, y, costs), (X, y, costs, sample_weight) or dict, default=None
            Held-out rows for early stopping, in place of `validation_fraction`; or several
            of them by name, of which the first stops training.
        labelled : bool array of shape (n_samples,), default=None
            Which rows have a label, where only some have: they are trained on, each weighted by
            1 / propensity, so that they stand for all; what stands in y for the others does not
            matter. ``effective_rows_`` says as how many rows of equal weight they count.
        propensity : array-like of shape (n_samples,) or "estimate", default=None
            The chance of each row to have got its label, logged or otherwise known; those below
            0.02 count as that. None and "estimate" estimate it from X, out of fold
            (`costboost.estimate_propensity`); what was decided by other columns must be given.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, costs, groups, eval_set, labelled, propensity)

    def _loss_needs_all_rows(self) -> bool:
        return needs_all_rows(CLASSIFICATION_LOSSES, self.loss)

    def _refuse_costs(self) -> None:
        raise ValueError(
            f"loss={self.loss!r} without calibration was trained on costs, which its scores "
            'contain, so it cannot decide by other costs. Fit with calibration="sigmoid" (or '
            'another one), or use loss="log".'
        )

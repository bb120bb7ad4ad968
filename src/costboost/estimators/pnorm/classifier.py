"""The scikit-learn face of the L_p family."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from costboost.estimators.base import (
    BoostingClassifierMixin,
    CallbackSupportMixin,
    fits_tables,
    with_callbacks,
)
from costboost.estimators.pnorm.family import PNORM


class PNormBoostClassifier(
    BoostingClassifierMixin,
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn is untyped
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Multi-class boosting of the p-norm of costs, with a cost for every answer and row.

    The mixture H(y|x) of hypotheses descends on mean_x sum_y H(y|x)^p C(x, y), a convex stand-in
    for the cost of answering argmax_y H(y|x) that comes closer to it as p grows (Lozano and Abe).

    Parameters
    ----------
    p : float, default=2
        At least 1, not necessarily whole. At p = 1 weights never change, so that each round
        learns from a cost-proportionate rejection sample, as costing does.
    method : str, default="lp-csb"
        Every method stays as published.

        - "lp-csb": weights H^(p-1) C, relational hypotheses, pseudo-loss (Figure 1).
        - "lp-csb-pa": with pseudo-loss adjustment; stochastic hypotheses (section 3.3.3).
        - "lp-csb-a": the abstract form, of which the theorems speak (Figure 2).
        - "dse": the expanded set with weights max w - w; p = 1 is Abe et al.'s data space
          expansion.
        - "gbse", "gbse-t": gradient boosting with stochastic ensembles (Abe, Zadrozny and
          Langford 2004), without p; the second as Lozano and Abe describe it.
        - "average-cost": rows weigh the mean cost of their wrong answers (Margineantu 2001).
        - "adaboost.m2": Freund and Schapire 1997, from mislabel weights proportional to cost.

        With the built-in tree, whose leaves answer exactly one class for them, "lp-csb-pa",
        "lp-csb-a" and "dse" are one algorithm for p > 1 (Proposition 3.1). They are not at p = 1,
        where each draws its rows by its own weights, nor with an outside `estimator`.
    step : {"harmonic", "average", "bound", "search"}, default="harmonic"
        alpha_t: 1 / (t + 1); 1 / t, which forgets H_0; Eq. 10 with means over rows (p >= 2); or
        the exact minimiser of the objective along the new hypothesis (p > 1). AdaBoost.M2 has its
        own. The theorem behind "bound" speaks of stochastic hypotheses: "lp-csb", whose hypotheses
        are relational, takes the same formula along its pseudo-loss, without a promise.
    n_estimators : int, default=100
        The number of rounds.
    estimator : classifier, default=None
        A component learner in place of the built-in tree. It learns labels 0 and 1 of all pairs
        (row, class), on a table of n * K rows with K columns that name the class; for "lp-csb-a",
        "dse" and "average-cost" it learns classes from the weighted rows. Without
        `sample_weight` it learns from a rejection sample.
    max_depth : int or None, default=None
        Depth of the built-in tree; None grows until `max_leaf_nodes`.
    max_leaf_nodes : int or None, default=31
        Nodes are split in the order of their gain until there are so many leaves.
    min_samples_leaf : int or "auto", default="auto"
        The least number of rows in a leaf. "auto" is as many as hold three rows of the rarest
        class on average, but at most 80, and at most a tenth of the rows. A small leaf without a
        row of a rare, costly class rules that class out, and one with such a row answers it. Where
        classes are costly because they are rare, large leaves cost less on new rows, at every p;
        where they are equally frequent, small ones do (``docs/papers/lozano-abe.md`` has a table).
        The 80 was chosen on sets other than those of the paper.
    max_features : None, int, float, "sqrt" or "log2", default=None
        Columns drawn for each node.
    max_bins : int, default=255
    subsample : float, default=1.0
        The share of rows that each tree learns from.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Without `target_encoding` a column keeps its `max_bins` heaviest categories; all others
        are treated as missing values, and a warning names the column.
    target_encoding : bool or "auto", default="auto"
        Whether columns of more than 32 categories are coded by the labels of other rows: by each
        category's share of the classes, drawn to that of all rows as far as that helps rows that
        were not counted, and in as few steps as pay. Categories never seen are as all rows. "auto"
        does not.
    interaction_cst : "pairwise", "no_interactions", list of groups of columns or None, default=None
        Which columns may meet on one path of a tree, by name or position; columns in no group
        are one of their own together. "no_interactions" makes the margin a sum of functions of
        one column each.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs, or by column; ``fit`` may override them, and take costs per row.
    calibration : str or None, default=None
        "sigmoid", "sigmoid-brier", "beta", "isotonic", "bias-corrected", or None: the published
        argmax of H. With calibration decisions are the cheapest by expected cost, and new prices
        need no new model. ("temperature" has no bias to undo the costs that H contains.)
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
        `n_estimators`). Other data, or another method, are refused.
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
        The constant costs by which ``predict`` decides when it is given none, if calibrated.
    n_iter_ : int
        The number of rounds taken; with several models, of the longest.
    estimator_weights_ : ndarray of shape (n_rounds,), or a list of such
        alpha of each round; AdaBoost.M2: ln(1 / beta). A list, as the following ones, when
        calibration made several models.
    estimator_errors_ : ndarray of shape (n_rounds,)
        The weighted error on the relational examples.
    objective_ : ndarray of shape (n_rounds,)
        The p-norm functional after each round, the mean over rows, in units of cost. (The
        methods without p do not descend on it.)
    objective_bound_ : ndarray of shape (n_rounds,)
        9 M / (t + 2) above the least objective found, M = max C p (p - 1) 2^(p - 2): the bound
        of Theorem 4.2, where it applies (stochastic hypotheses, p >= 2, step "bound" or
        "search") and if every tree was the best possible.
    train_cost_ : ndarray of shape (n_rounds,)
        The cost of the training rows' decisions after each round.
    validation_cost_ or validation_loss_ : ndarray of shape (n_rounds,), with early stopping
        What it goes by on the held-out rows after each round: their mean cost, or another metric.
    eval_results_ : dict of ndarrays, with several eval sets
        What early stopping goes by, on each set by name, after each round.
    estimators_ : list of classifiers, if `estimator` was given
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    L_p-CSB is described in US 8,275,721 B2, GBSE in US 7,558,764 B2.

    Rows aim at their cheapest answer, which need not be the true class.

    References
    ----------
    Lozano and Abe 2008, "Multi-class cost-sensitive boosting with p-norm loss functions".
    Abe, Zadrozny and Langford 2004, "An iterative method for multi-class cost-sensitive learning".

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from costboost import Costs
    >>> from costboost import PNormBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> C = np.array([[0, 1, 1], [5, 0, 1], [50, 5, 0]])  # C[true, predicted]
    >>> model = PNormBoostClassifier(n_estimators=10).fit(X, y, costs=C)
    >>> bool(-model.score(X, y) < 0.1)  # the mean cost of its mistakes
    True
    >>> bool(model.objective_[-1] < model.objective_[0])
    True

    A price for every answer and row, where the truth may be unknown:

    >>> prices = Costs.of_rows(C[y] * np.linspace(1, 2, len(y))[:, None])
    >>> model.fit(X, y, costs=prices).decision_function(X).shape
    (178, 3)
    """

    _family = PNORM

    def __init__(
        self,
        p: float = 2,
        method: str = "lp-csb",
        step: str = "harmonic",
        n_estimators: int = 100,
        estimator: Any = None,
        *,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 31,
        min_samples_leaf: int | str = "auto",
        max_features: Any = None,
        max_bins: int = 255,
        subsample: float = 1.0,
        categorical_features: Any = "from_dtype",
        target_encoding: bool | str = "auto",
        interaction_cst: Any = None,
        costs: Any = None,
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
        self.p = p
        self.method = method
        self.step = step
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.target_encoding = target_encoding
        self.interaction_cst = interaction_cst
        self.costs = costs
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
    ) -> PNormBoostClassifier:
        """Train, and calibrate if asked to.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Or a `ParquetTable`, which holds y, weights and costs itself.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What each mistake costs, constant, by column or per row; overrides the constructor's.
            `Costs.of_rows` of shape (n_samples, K) gives the price of every answer.
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

    def _refuse_costs(self) -> None:
        raise ValueError(
            f"method={self.method!r} was trained on costs, which its scores contain: without "
            "calibration it cannot price decisions. Fit with "
            'calibration="sigmoid" (or another one).'
        )

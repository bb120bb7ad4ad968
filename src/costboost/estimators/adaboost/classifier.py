"""`CostBoostClassifier`: the AdaBoost family behind one scikit-learn estimator.

The class is a skin: `_fit` (`estimators/base.py`) settles a `Plan` and gives the rows to the
trainer of all families, which trains one ensemble, or one for each fold of a calibration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from costboost.boosting.adaboost.rules import RULES
from costboost.costs import Costs
from costboost.estimators.adaboost.family import ADABOOST
from costboost.estimators.adaboost.plan import Plan
from costboost.estimators.adaboost.recipe import train_in_step
from costboost.estimators.base import (
    BoostingClassifierMixin,
    CallbackSupportMixin,
    fits_tables,
    with_callbacks,
)
from costboost.fitting.held_out import EvalSet
from costboost.fitting.train import FittedModels


class CostBoostClassifier(
    BoostingClassifierMixin,
    CallbackSupportMixin,  # type: ignore[misc]  # scikit-learn is untyped
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Boosting that minimises what mistakes cost.

    Parameters
    ----------
    method : str, default="auto"
        "auto" is the recommended recipe (`costboost.estimators.adaboost.recipe`), free to improve
        from version to version: small trees are boosted by log loss, shrunk and sampled, on the
        folds of `cv` in step, and their log odds mixed with those of a smooth additive model, until
        the log loss of the held-out rows stops improving (the latest look within half a standard
        error of the least); one calibration is fitted to all of them, and the models' probabilities
        are averaged. Trees, steps and rounds follow the number of rows along curves. `votes` ask
        for AdaBoost's in place of log loss; the additive model is for fewer than 20,000 rows, and
        not for `monotonic_cst` or shares of votes. With more than two classes a round is one tree
        with vector leaves, and a matrix mixes the log odds of the classes at last. "auto-1" is the
        recipe of release 0.1, pinned: it never changes, and today it is "auto". Every
        *named* method stays as published: "adaboost", "adamec", "cgada", "asymada", "adacost",
        "adacost-beta1", "adacost-beta2", "csb0", "csb1", "csb2", "adac1", "adac2", "adac3",
        "csada", "adaboostdb", "rareboost", "adauboost", "gradient-csb". More than two classes:
        "adaboost" (SAMME), "adamec", "cgada", "adac2" (SAMME.C2), "csb0", "csb1", "csb2",
        "adacost". "csada" and "adaboostdb" choose stump and step together on built-in stumps with
        constant costs; any other learner is trained on weights times prices, and only the step is
        searched. A method that ends in the first tenth of its rounds, though its learner is not
        perfect, says so in a warning.
    n_estimators : int, default="auto"
        The number of rounds; for the recipe the largest. Here and below "auto" is the recipe's
        own choice (`costboost.estimators.adaboost.choices`); in a named method it is 100 rounds
        of trees of depth 3 on all rows and columns, with discrete votes and no shrinkage.
    estimator : classifier, default=None
        A weak learner with `sample_weight`, in place of the built-in tree.
    max_depth : int or None, default="auto"
        Depth of the built-in tree; 1 is a stump. None grows until `max_leaf_nodes`.
    max_leaf_nodes : int or None, default=None
        Nodes are split in the order of their gain until there are so many leaves.
    min_samples_leaf : int, default="auto"
    min_weight_leaf : float, default=0.0
        The least share of a round's weight in a leaf.
    max_features : None, int, float, "sqrt" or "log2", default="auto"
        Columns drawn for each node.
    max_bins : int, default=255
    criterion : {"gini", "entropy", "error"}, default="gini"
    subsample : float, default="auto"
        The share of rows that each tree learns from.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        Without `target_encoding` a column keeps its `max_bins` heaviest categories; all others
        are treated as missing values, and a warning names the column.
    target_encoding : bool or "auto", default="auto"
        Whether columns of more than 32 categories are coded by the labels of other rows: by each
        category's share of the classes, drawn to that of all rows as far as that helps rows that
        were not counted, and in as few steps as pay. Categories never seen are as all rows. "auto"
        does so for ``method="auto"``; named methods stay as published.
    monotonic_cst : array-like of shape (n_features,), dict or None, default=None
        1: what speaks for the positive of two classes rises with the column, -1: it falls, 0:
        free. That is the class that the costs of ``fit`` call positive, of which they know 0/1,
        -1/+1 and booleans by themselves; without any, the second of ``classes_``. A dict gives
        columns by name or position. Holds for every kind of votes; not for
        "gradient-csb", whose steps may be negative. Calibration never turns it around: a fold
        worse than chance on the rows that it left out gets one probability for all rows.
    interaction_cst : "pairwise", "no_interactions", list of groups of columns or None, default=None
        Which columns may meet on one path of a tree, by name or position; columns in no group
        are one of their own together. "no_interactions" makes the margin a sum of functions of
        one column each.
    learning_rate : float, default="auto"
        Multiplies every alpha.
    votes : {"discrete", "confidence", "real", "gentle"}, default="auto"
        +-1; ``|P(+) - P(-)|`` of the leaf, AdaCost's own setting; Real and Gentle AdaBoost's leaf
        values with a step of 1 (only for methods without costs in the exponent). All but the first
        need two classes. "auto" in the recipe: log loss in place of votes (see `method`), whose
        trees have no `criterion`; without calibration "gentle", or "discrete". LogitBoost is
        `GradientBoostClassifier(loss="log")`. "real" makes weights fall by many orders at once
        where a leaf is pure, below what exact sums resolve: a row of weight 3 is then three rows
        but for some hundredths of the margin, unless `laplace` keeps leaves from being pure.
    laplace : bool, default=False
        Use the Laplace estimate of leaf probabilities, as AdaCost's authors did: one more row of
        each class, where a row of `sample_weight` 3 is three rows. For the built-in tree with
        votes other than "discrete".
    alpha : {"published", "search", "estimate"}, default="published"
        "search" minimises the method's own Z exactly in every round, as "adacost" does anyway.
        "estimate" leaves AdaCost's step at its authors' first guess, 1/2 ln((1 + r) / (1 - r)) with
        r = sum D y h beta (Eq. 10 and 11), which never is the longer one.
    cost_scale : "auto" or float, default="auto"
        The largest cost after scaling, for methods that need costs within [0, 1]. "auto" is 1,
        and for AdaCost 0.1, or half of the largest cost at which the first step is positive if
        that is less. AdaCost goes on only while the mean cost is below 1 - 2 eps: at 1 it takes a
        handful of rounds, at 0.1 most of 100, and its theorem holds at either. CSB costs are
        divided by the smallest instead.
    beta : callable, default=None
        AdaCost's beta(sign, c), in place of 1/2 - sign * c/2; must satisfy the theorem's
        conditions: beta(-1, c) >= beta(1, c) >= 0, the first rising with c and the second falling.
        With K > 2 classes beta(-1, c) is divided by K - 1, SAMME's code of a wrong vote.
    objective : str, callable or tuple (a, b, w0), default="asymboost"
        Gradient-CSB's objective: "adaboost", "adacost", "adac1", "asymboost", arrays over rows, or
        a function from `costboost.extend.RuleInput` (`cost`, scaled, and `sign`) to
        them. The learner aims at the sign of a.
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        Constant costs, or by column; ``fit`` may override them, and take costs per row.
    feature_costs : None, dict, array-like of shape (n_features,) or FeatureCosts, default=None
        What columns cost, in the currency of `costs`: a price by column, or by group that is bought
        together; see `costboost.FeatureCosts`, which also says who pays. The recipe buys the
        columns that lower what rows left out of its folds cost in all, mistakes and tests; in a
        named method a split must save more than the rows pay that have not paid yet.
        None, and prices of 0, leave every model as it is.
    calibration : str or None, default="auto"
        "sigmoid", "sigmoid-brier", "beta", "isotonic", "temperature", "bias-corrected", or None.
        "auto" calibrates the recipe by "bias-corrected" (a temperature and a bias, with more than
        two classes one for each, and the matrix of `method`), "adamec", "cgada" and "asymada",
        which their authors advise to calibrate, by "sigmoid" (the least squares of their poster are
        "sigmoid-brier"), and leaves the other methods as published. With calibration **every**
        method decides by the cheapest expected cost, and new prices need no new model. Methods that
        train on costs refuse "temperature", which has no bias to undo them.
    cv : int, float, splitter or iterable, default=5
        Rows to calibrate on: folds, or a held-out share (0.5 is Nikolaou et al.'s protocol).
    ensemble : bool, default=True
        Average the calibrated models of the folds, or train one model on all rows and calibrate
        it by the pooled scores of the folds.
    validation_fraction : float, default=0.1
        The share of rows held out for early stopping of a named method.
    n_iter_no_change : int or None, default="auto"
        Stop when the cost of the held-out rows (the recipe: the loss of the rows left out of the
        folds) has not fallen for so many rounds. "auto" never stops a named method.
    early_stopping_metric : {"auto", "cost", "log_loss", "brier"} or callable, default="auto"
        What early stopping goes by on held-out rows: the cost of decisions, the log loss or the
        Brier score of probabilities, or ``metric(y_true, proba)``, lower is better, which gets
        ``sample_weight=`` where there are weights. "auto" is the log loss of the calibrated recipe,
        the cost of every other method. On cost, rounds in which nothing is decided differently do
        not count against the patience. The recipe is judged as it will answer, calibrated. A named
        method is judged by its own published rule and link also if it is calibrated afterwards:
        every fold then stops on its own held-out rows, and its map is fitted to rows of its fold
        that had no part in that; a map fitted to the rows that choose the round would be
        flattered by them.
    tol : float, default="auto"
        A fall by less than this share of the best cost, or loss, does not count. "auto" is 0 in a
        named method; in the recipe it is .002, and for two classes falls to 0 from 2,000 to
        20,000 rows.
    warm_start : bool, default=False
        Continue from the rounds of the last ``fit``, which had it too (same data, larger
        `n_estimators`). Other data, or another method, are refused.
    on_interrupt : {"raise", "keep"}, default="raise"
        On Ctrl-C: give up, or keep the model of the rounds done so far. With calibration no more
        folds are trained, and those there are are averaged.
    verbose : int or "auto", default="auto"
        Print a line every so many rounds; 0 prints nothing. "auto" shows on a terminal how far a
        fit of more than three seconds is, and clears that line at the end.
        The recipe tells the loss of the rows left out as its last look saw it (there is one every
        10 rounds), and what decisions on them cost if costs were given.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads; the model does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
        The constant costs by which ``predict`` decides when it is given none.
    n_iter_ : int
        The number of rounds taken; with several models, of the longest.
    estimator_weights_ : ndarray of shape (n_rounds,), or a list of such
        alpha of each round, half-log convention (RareBoost: one for each side). A list, as the
        following ones, when calibration made several models.
    estimator_errors_, normalizers_, train_cost_ : ndarrays of shape (n_rounds,)
        The weighted error, Z (of votes: log loss has neither), and the cost of the training rows'
        decisions after each round. The recipe decides by calibrated probabilities, which it has at
        its looks only: its ``train_cost_[i]`` is the cost after ``validation_rounds_[i]`` rounds,
        for each of these up to `n_iter_` (of more than two classes before their matrix).
    cost_bound_ : ndarray of shape (n_rounds,), for AdaCost and CGAda with two classes
        sum c * prod Z: the theorem's bound of the training cost (plus what right answers cost).
    validation_cost_ or validation_loss_ : ndarray of shape (n_rounds,), of a named method
        What early stopping goes by on the held-out rows after each round: their mean cost, or
        another metric.
    validation_loss_, validation_rounds_ : ndarrays of shape (n_looks,), of the recipe
        What early stopping goes by (the log loss, unless `early_stopping_metric` says otherwise) on
        the rows that the folds left out, and the number of rounds at that look: one every 10
        rounds, and one at the end. `n_iter_` is the number at the look that was chosen (see
        `method`).
    recipe_ : dict, of a calibrated recipe
        What "auto" became, as plain values: `name`, `boosting`, `max_depth`, `max_leaf_nodes`,
        `min_samples_leaf`, `max_features`, `subsample`, `learning_rate`, `n_estimators`,
        `patience`, `rounds` taken, why training `stopped`, `additive_weight` (0: there is no
        additive model), `folds`, `calibration` and its parameters, and the matrix that mixes the
        classes (`mixing`).
    eval_results_ : dict of ndarrays, with several eval sets
        What early stopping goes by, on each set by name, after each round.
    estimators_ : list of classifiers, if `estimator` was given
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Notes
    -----
    Calibrated probabilities are natural frequencies. Uncalibrated ones are the link of the method's
    loss (Friedman, Hastie and Tibshirani 2000; Masnadi-Shirazi and Vasconcelos 2011), and
    contain whatever costs the method trained on: the odds are multiplied by the ratio of the
    weights that the method gives to the two classes at F = 0.

    ==============================================  ============================================
    adaboost adamec rareboost                       1 / (1 + exp(-2 F)), p itself at the minimum
    cgada asymada                                   the same, odds times c+ / c-
    adac2                                           the same, odds times (c+ / c-)^t
    csada adaboostdb gradient-csb                   1 / (1 + exp(-(c+ + c-) F)), odds times
                                                    c+ / c-; Gradient-CSB: ``|a|`` in place of c
    adac1 adacost-beta1 adacost-beta2 adac3         the same link, of the loss exp(-c y F) that
                                                    they only bound or weigh by: no minimiser
    adauboost                                       1 / (1 + exp(-(r + 1) F)), r the exponent
                                                    of the positives
    adacost                                         1 / (1 + exp(-F)), odds times
                                                    (c+ / c-) exp((c+ - c-) A / 2)
    csb0 csb1 csb2                                  no loss, no link: 1 / (1 + exp(-2 F)) is a
                                                    score between 0 and 1
    ==============================================  ============================================

    Costs are as scaled for training (`cost_scale`), with prices per row their mean in each
    class. More than two classes: SAMME's softmax of twice the votes.

    Examples
    --------
    >>> from costboost import CostBoostClassifier, Costs
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=20, random_state=0)
    >>> model = model.fit(X, y, costs=Costs(fp=10, fn=1))  # calling a tumour benign is costly
    >>> cheap = model.predict(X, costs=Costs(fp=1000, fn=1))  # new prices, same model
    >>> bool(cheap.sum() <= model.predict(X).sum())
    True
    """

    _family = ADABOOST
    _rule_name: str

    def __init__(
        self,
        method: str = "auto",
        n_estimators: int | str = "auto",
        estimator: Any = None,
        *,
        max_depth: int | str | None = "auto",
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | str = "auto",
        min_weight_leaf: float = 0.0,
        max_features: Any = "auto",
        max_bins: int = 255,
        criterion: str = "gini",
        subsample: float | str = "auto",
        categorical_features: Any = "from_dtype",
        target_encoding: bool | str = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        learning_rate: float | str = "auto",
        votes: str = "auto",
        laplace: bool = False,
        alpha: str = "published",
        cost_scale: float | str = "auto",
        beta: Any = None,
        objective: Any = "asymboost",
        costs: Any = None,
        feature_costs: Any = None,
        calibration: str | None = "auto",
        cv: Any = 5,
        ensemble: bool = True,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str | None = "auto",
        early_stopping_metric: Any = "auto",
        tol: float | str = "auto",
        warm_start: bool = False,
        on_interrupt: str = "raise",
        verbose: int | str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_leaf = min_weight_leaf
        self.max_features = max_features
        self.max_bins = max_bins
        self.criterion = criterion
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.target_encoding = target_encoding
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.learning_rate = learning_rate
        self.votes = votes
        self.laplace = laplace
        self.alpha = alpha
        self.cost_scale = cost_scale
        self.beta = beta
        self.objective = objective
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        rule = RULES.get(self.method) if isinstance(self.method, str) else None
        tags.classifier_tags.multi_class = rule is None or rule.many_classes
        return tags

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
    ) -> CostBoostClassifier:
        """Train, and calibrate if asked to.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Or a `ParquetTable`, which holds y, weights and costs itself.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Rows of weight 0 are as good as absent, a row of weight 3 is three (next to it), except
            where rows are counted, not weighed: in `min_samples_leaf` (3 to 20 in the recipe) and
            in the rows that `subsample` draws. Weights below 1 may have any unit: calibration
            counts them as Kish's effective number of rows. So does the recipe with all that are not
            whole, where it goes by the number of rows.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            What each mistake costs, constant, by column or per row; overrides the constructor's.
            The default, "adaboost" and "adamec" do not train on costs: these change none of their
            probabilities, only their decisions, and only where ``predict`` is given no costs of
            its own. The other methods learn from them.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never both trained on and calibrated on, or held out for early
            stopping. Without groups, copies of a row are not.
        eval_set : tuple (X, y), (X, y, costs), (X, y, costs, sample_weight) or dict, default=None
            Held-out rows for early stopping of a named method, in place of
            `validation_fraction`; or several of them by name, of which the first stops training.
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

    def _read_eval_set(self, eval_set: Any, plan: Plan, costs: Costs) -> list[EvalSet] | None:
        if plan.in_step and eval_set is not None:
            raise ValueError(
                "The recipe of method='auto' stops by the rows that its folds leave out, and has "
                "no use for an eval_set. Leave it out (and give these rows to X and y), or name a "
                "method."
            )
        return super()._read_eval_set(eval_set, plan, costs)

    def _fit_models(self, plan: Any) -> Callable[..., FittedModels]:
        return train_in_step if plan.in_step else super()._fit_models(plan)

    def _refuse_costs(self) -> None:
        rule = RULES[self._rule_name]
        why = (
            "was trained on costs, which its scores contain"
            if rule.trains_on_costs
            else "knows no costs: it takes them for scoring only"
        )
        raise ValueError(
            f"method={self.method!r} without calibration {why}, so it cannot decide by other "
            'costs. Fit with calibration="sigmoid" (or another one), or use method="adamec".'
        )

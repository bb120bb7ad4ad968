"""Decisions of a classifier by its costs: which costs apply, and the cheapest decision then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

import costboost
from costboost.costs import Costs, as_costs
from costboost.decisions.capacity import Allocation, allocate, by_columns
from costboost.decisions.exploring import explore_decisions
from costboost.decisions.parity import Parity, allocate_parity, group_labels
from costboost.inputs.arrays import mean_paid, read_weights
from costboost.inputs.checks import (
    OneFit,
    VersionedState,
    answers_tables,
    check_choice,
    check_labels,
    check_weighted_classes,
    is_spread,
    refuse_unopened,
    warn_caller,
)
from costboost.runtime.machine import need
from costboost.typing import Floats, Int64

__all__ = ["KINDS", "as_table", "ReportMixin"]


# Expected costs by action, as the kind of table that was given

KINDS = ("default", "pandas", "polars")


def as_table(values: Floats, names: NDArray[Any], X: Any, estimator: Any) -> Any:
    """Return `values`, one column per name, as the kind of table that is wanted."""
    wanted = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    wanted = get_config()["transform_output"] if wanted is None else wanted
    frame: Any = nw.from_native(X, pass_through=True) if hasattr(X, "columns") else None
    index = getattr(X, "index", None) if frame is not None else None
    if wanted == "pandas" or (wanted == "default" and hasattr(index, "get_indexer_for")):
        pd = need("pandas", 'set_output(transform="pandas")')
        return pd.DataFrame(values, index=index, columns=names.tolist())
    if wanted == "polars":
        return _named(values, names, need("polars", 'set_output(transform="polars")'))
    if wanted == "default" and isinstance(frame, nw.DataFrame):
        return _named(values, names, nw.get_native_namespace(frame))
    return values


def _named(values: Floats, names: NDArray[Any], library: Any) -> Any:
    """Return a frame of a library whose names are strings."""
    columns = {str(name): values[:, j] for j, name in enumerate(names.tolist())}
    return nw.from_dict(columns, native_namespace=library).to_native()


class ReportMixin:
    """Offers the live report."""

    def report(self, X: Any, y: Any, costs: Any = None, **how: Any) -> Any:
        """Make a live report: a page of HTML on which prices are moved and the bill follows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            True labels.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            The prices that the page opens with; None: those of ``fit``.
        **how
            Everything else that `costboost.report.make_report` takes: ``sample_weight``,
            ``current``, ``groups``, ``time``, ``rows``, ``currency``, ``names``, ``notes``,
            ``title``, ``random_state``, ``scenarios``, ``promise``, ``cap``, ``parity``, ``swap``.

        Returns
        -------
        Report
            With ``html``, and ``save(path)``.
        """
        return costboost.make_report(self, X, y, costs=costs, **how)


def fit_costs(
    constructor: Any, given: Any, classes: ArrayLike, n_samples: int, X: Any = None
) -> Costs:
    """Return the costs that hold during ``fit``, bound to the classes and to the table.

    Parameters
    ----------
    constructor : None, dict, array-like of shape (K, K) or Costs
        The hyper-parameter: costs that are constant, or read from columns of the table.
    given : None, dict, array-like of shape (K, K) or Costs
        What was passed to ``fit``, constant, by column or per row: it overrides the constructor's.
    classes : array-like of shape (K,)
    n_samples : int
    X : table of shape (n_samples, n_features), default=None
        Where columns are read.

    Returns
    -------
    Costs

    Examples
    --------
    >>> from costboost.decisions import fit_costs
    >>> fit_costs({"fp": 1, "fn": 10}, None, [0, 1], n_samples=3)
    Costs(fp=1, fn=10, positive=1)
    """
    return _bound(_wanted(constructor, given), classes, n_samples, X)


def _wanted(constructor: Any, given: Any) -> Costs:
    """Return the costs of ``fit``, not yet bound: those given to it, or the constructor's."""
    held = as_costs(constructor)
    if held.n_rows is not None:
        raise ValueError(
            f"costs= in the constructor holds constant costs, but {held!r} has {held.n_rows} rows: "
            "pass costs per row to fit, predict and score, or name the column that holds them, "
            "such as Costs(fp=8, fn='amount')."
        )
    return held if given is None else as_costs(given)


def _bound(wanted: Costs, classes: ArrayLike, n_samples: int, X: Any) -> Costs:
    """Return costs that know classes and rows; refuse them where nothing has a price."""
    if is_spread(X):
        bound = bind_remote(wanted, classes, X)
    else:
        bound = (wanted if X is None else wanted.bind_table(X)).bind(classes, n_samples)
    # Rows of a single class have no wrong answer; training refuses that.
    if not bound.contain_truth and bound.largest == 0.0 and len(np.asarray(classes)) > 1:
        raise ValueError(
            f"Every cost of these rows is zero, so there is nothing to minimise: {bound!r}. Check "
            "the column that the costs read."
        )
    bound.warn_if_reversed()
    return bound


def bind_remote(costs: Costs, classes: ArrayLike, X: Any) -> Costs:
    """Bind costs to the rows of a remote table: constant ones, or by column."""
    if costs.n_rows is not None:
        raise ValueError(
            f"{costs!r} has {costs.n_rows} rows in memory, while those of the table are in files "
            "or on a cluster. Name the columns that hold the prices, such as Costs(fp=8, "
            "fn='amount')."
        )
    bound: Costs = X.bind_costs(costs, np.asarray(classes))
    return bound


def typical_costs(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Costs:
    """Return the constant costs that stand in for costs per row: the weighted mean of each cell.

    Prices of `Costs.of_rows` hold for the true class of their row only, so they are averaged within
    each class of ``y``; without a weighted row of every class, over all rows.

    Parameters
    ----------
    costs : Costs
        Bound to the classes.
    y : array-like of shape (n_samples,)
        True labels.
    sample_weight : array-like of shape (n_samples,), default=None

    Returns
    -------
    Costs

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.decisions import typical_costs
    >>> typical_costs(Costs.of_rows([1, 3, 9]).bind([0, 1]), [0, 0, 1])
    Costs(fp=2, fn=9, positive=1)
    """
    prices_of_rows = costs.per_row and len(costs.shape) == 1
    if prices_of_rows and not _all_weighted(costs, y, sample_weight):
        return costs.mean(sample_weight)
    return costs.mean(sample_weight, y=y)


def _all_weighted(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None) -> bool:
    labels = np.asarray(y)
    if sample_weight is not None:
        labels = labels[np.asarray(sample_weight) > 0]
    return costs.classes is not None and len(np.unique(labels)) == len(costs.classes)


def _check_total(costs: Costs, sample_weight: ArrayLike | None) -> None:
    """Raise if the sum of weighted costs over the rows would overflow."""
    if sample_weight is None:
        return
    weights = np.asarray(sample_weight)
    heaviest, largest = float(np.max(weights)), costs.largest
    if largest > 1e308 / max(heaviest * len(weights), 1.0):
        raise ValueError(
            f"sample_weight goes up to {heaviest:g} and costs up to {largest:g}: their products "
            "add up to more than 1e308. Use larger units of cost, or divide the weights by their "
            "largest."
        )


def _positive_action(costs: Costs, own: Costs) -> Any:
    """Return the positive class, also where deferring was added to the actions."""
    return own.positive if costs.positive is None else costs.positive


class CostDecisionMixin(ReportMixin, VersionedState, OneFit):
    """Decisions by the cheapest expected cost, for classifiers with ``predict_proba``.

    Attributes
    ----------
    costs_ : Costs
        The costs that ``predict`` uses when it is given none: those of ``fit``, else the
        constructor's, else 1 for every mistake. Costs by column are read from the table that
        ``predict`` is given. Where ``fit`` had costs per row, the weighted mean of each cell.
    costs_per_row_ : bool
        Whether ``fit`` had costs per row, not by column; decisions by ``costs_`` then warn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from costboost import CostBoostClassifier
    >>> from costboost.decisions import CostDecisionMixin
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CostBoostClassifier("adamec", n_estimators=5).fit(X, y, costs={"fp": 10, "fn": 1})
    >>> isinstance(model, CostDecisionMixin), model.costs_
    (True, Costs(fp=10, fn=1, positive=1))
    """

    __metadata_request__fit = {"costs": True}  # noqa: RUF012
    __metadata_request__predict = {"costs": True}  # noqa: RUF012
    __metadata_request__score = {"costs": True}  # noqa: RUF012

    classes_: NDArray[Any]
    costs: Any
    costs_: Costs
    costs_per_row_: bool

    def predict_proba(self, X: Any) -> Floats:
        """Return the natural class probabilities, ``(n_samples, K)``."""
        raise NotImplementedError

    def _set_costs(
        self, costs: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, X: Any = None
    ) -> Costs:
        """Settle the costs of ``fit``, remember them for ``predict``, return those to train on.

        Needs ``classes_``. ``costs`` is what ``fit`` was given; ``y`` holds labels; columns are
        read from X.
        """
        given = _wanted(self.costs, costs)
        bound = _bound(given, self.classes_, len(np.asarray(y)), X)
        _check_total(bound, sample_weight)
        by_column = given.needs_table and given.n_rows is None
        self.costs_per_row_ = bound.per_row and not by_column
        if by_column:  # predict reads the columns of its own table
            self.costs_ = given.bind(self.classes_)
        else:
            self.costs_ = typical_costs(bound, y, sample_weight)
        return bound

    def _read_rows(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, costs: Any
    ) -> tuple[Int64, Floats | None, Costs]:
        """Read what ``fit`` was given beside a table: class numbers, weights and bound costs.

        Sets ``classes_`` and ``costs_``.
        """
        if is_spread(X):
            self.classes_, labels = X.read_classes()
            sample_weight = X.weights()
        else:
            self.classes_, labels = check_labels(X, y)
        weights = None if sample_weight is None else read_weights(sample_weight, len(labels))
        check_weighted_classes(labels, weights)
        return labels, weights, self._set_costs(costs, self.classes_[labels], weights, X)

    def _decides_by_costs(self) -> bool:
        """Return whether new prices change decisions; they do not where training used the costs."""
        return True

    def _refuse_costs(self) -> None:
        """Raise where new costs cannot change decisions; the message names the remedy."""
        raise NotImplementedError

    def _check_new_costs(self, costs: Any) -> None:
        """Raise for costs that cannot change decisions, before any row is read."""
        if costs is not None and not self._decides_by_costs():
            self._refuse_costs()

    def _decision_costs(self, costs: Any, X: Any) -> Costs:
        """Return the costs to decide by, for the rows of X: those given, else those of ``fit``."""
        if costs is not None:
            return as_costs(costs, self.classes_, _num_samples(X), X)
        if self.costs_per_row_:
            # The same text in every fold, so that it is shown once.
            warn_caller(
                f"{type(self).__name__} was fitted with costs per row and is asked to decide "
                "without costs: it uses their mean, which is in costs_. Pass costs= to decide by "
                "each row's own.",
                once=True,
            )
        return self.costs_.bind_table(X)

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
        """Return probabilities free of costs, to be priced; a method without them raises here."""
        if not self._decides_by_costs():
            self._refuse_costs()
        return self.predict_proba(X)

    @answers_tables
    def expected_cost(self, X: Any, costs: Any = None, *, interval: float | None = None) -> Any:
        """Return the expected cost of each decision, ``sum_k p(k | x) C[k, action]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``: constant, by column, or one per row of X.
        interval : float, default=None
            A share above 0 and at most 1, such as 0.95: say, too, between which ends the expected
            cost lies with that probability while prices that are `uncertain` vary; 1 is all that
            it may be. It comes from the prices alone; see `Costs.expected`.

        Returns
        -------
        ndarray or DataFrame of shape (n_samples, n_actions)
            Where X is a frame, one of the same library, with a column for each class or action;
            see `set_output`. With ``interval``, an array of shape (n_samples, n_actions, 3), the
            last axis the expected cost at the means of prices, the low and the high end; or a frame
            with three columns for each action a: ``a``, ``"a low"`` and ``"a high"``.
        """
        proba = self._decision_proba(X, costs)
        prices = self._decision_costs(costs, X)
        assert prices.actions is not None  # bound to the classes
        if interval is None:
            return as_table(prices.expected(proba), prices.actions, X, self)
        ends = prices.expected(proba, interval=interval)
        names = [n for a in prices.actions.tolist() for n in (a, f"{a} low", f"{a} high")]
        flat = ends.reshape(len(ends), -1)
        made = as_table(flat, np.array(names, dtype=object), X, self)
        return ends if made is flat else made

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `expected_cost` returns, as scikit-learn's transformers do.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            "default" is a frame like X, or an array if X is none; None leaves the choice as it is,
            at first that of ``sklearn.set_config(transform_output=...)``.

        Returns
        -------
        self
        """
        if transform is not None:
            check_choice("transform", transform, KINDS)
            self._sklearn_output_config = {"transform": transform}
        return self

    @answers_tables
    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the decision of least expected cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``: constant, by column, or one per row of X. The
            price of each answer, ``Costs.of_rows`` of shape (n, K), contains the truth and is
            refused.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, or names of actions where the costs have other actions.
        """
        proba = self._decision_proba(X, costs)
        return self._cheapest(self._decision_costs(costs, X), proba)

    def decide(
        self,
        X: Any,
        costs: Any = None,
        *,
        capacity: Any = None,
        groups: ArrayLike | None = None,
        defer: Any = None,
        explore: float | None = None,
        never: Any = None,
        parity: Parity | None = None,
        random_state: int | np.random.RandomState | None = None,
        regret: str | None = None,
    ) -> Allocation:
        """Return the cheapest decisions of all rows jointly, where actions are limited.

        Without limits, or where they are not reached, these are the decisions of `predict`; but for
        what is forbidden, or drawn at random to learn from.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``, constant or one per row of X.
        capacity : dict, default=None
            How often actions can be taken, such as ``{"review": 200}``: a whole number of rows, or
            a share of them (a float of at most 1); or a dict of those by group. Actions that are
            not named are not limited.
        groups : array-like of shape (n_samples,), default=None
            Capacities hold for each of these groups, such as days.
        defer : float, array-like of shape (n_samples,), str or callable, default=None
            The price of one more action, "defer", which may be limited like any other: a number,
            one for each row, a column of X or a function of it; see `Costs.with_defer`.
        explore : float, default=None
            The share of the rows, such as 0.01, whose decision is drawn at random, more likely
            where that is expected to cost little; their probabilities are logged, so that
            `costboost.metrics.policy_cost` can judge other policies by what comes of it.
        never : dict of action to name of a column or bool array, default=None
            Rows that must not take an action, whatever it saves and whatever is drawn, such as
            ``{"decline": "vip"}``.
        parity : Parity, default=None
            Groups whose rates may not differ by more than so much, such as ``Parity("region",
            of="blocked", within=0.02)``.
        random_state : int, RandomState or None, default=None
            Of what is drawn.
        regret : "minimax" or None, default=None
            "minimax" takes for each row the action whose largest regret within the ranges of
            uncertain prices is the least, in place of the cheapest at their means; see
            `Costs.regrets`. It does not go with `capacity`, `explore`, `never`
            or `parity`.

        Returns
        -------
        Allocation
            The decisions, what they are expected to cost, and what one more place of each limited
            action would save. With ``explore``, an `Exploration`: its ``log`` holds the
            probabilities. With ``parity``, a `ParityAllocation`: its ``rates``, what they cost
            each group, and what one percentage point more would save.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from costboost import CostBoostClassifier, Costs
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = CostBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
        >>> triage = Costs.from_matrix(
        ...     [[90, 0, 5], [0, 9, 5]], classes=[0, 1], actions=["home", "operate", "biopsy"]
        ... )
        >>> plan = model.decide(X, costs=triage, capacity={"biopsy": 20})
        >>> plan.counts["biopsy"], plan.shadow_prices["biopsy"] > 0
        (20, True)
        """
        limits = {"capacity": capacity, "explore": explore, "never": never, "parity": parity}
        limited = [name for name, value in limits.items() if value is not None]
        if regret is not None and limited:
            raise ValueError(
                f"regret={regret!r} decides row by row, on its own: leave out {limited[0]}=, which "
                "goes by expected costs, or regret=."
            )
        proba = self._decision_proba(X, costs)
        prices = self._decision_costs(costs, X)
        if defer is not None:
            prices = prices.with_defer(defer).bind_table(X)
        actions = np.asarray(self.classes_ if prices.is_square else prices.actions)
        how: dict[str, Any] = {
            "actions": actions,
            "groups": groups,
            "cheapest": prices.decide(proba, encoded=True, regret=regret),
            "never": by_columns(never, X),
        }
        expected = prices.expected(proba)
        if parity is not None:
            if explore is not None:
                raise ValueError("explore= draws at random, which parity= cannot keep: give one.")
            return allocate_parity(
                expected,
                capacity,
                replace(parity, groups=group_labels(parity.groups, X)),
                proba=proba,
                classes=self.classes_,
                positive=_positive_action(prices, self.costs_),
                **how,
            )
        if explore is None:
            return allocate(expected, capacity, **how)
        return explore_decisions(
            expected, capacity, explore=explore, random_state=random_state, **how
        )

    def _cheapest(self, costs: Costs, proba: Floats) -> NDArray[Any]:
        if costs.is_square:  # by code: keeps the dtype of classes_
            return np.asarray(self.classes_[costs.decide(proba, encoded=True)])
        return costs.decide(proba)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost of the decisions: higher is better, 0 is free.

        Models that decide by expected cost use the given costs to decide and to pay. The others,
        whose scores contain the costs they trained on, decide as published, and pay by them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True labels.
        sample_weight : array-like of shape (n_samples,), default=None
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to decide and to pay by, instead of those of ``fit``. By the price of each
            answer, ``Costs.of_rows`` of shape (n, K), is only paid: decisions must not know it.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        refuse_unopened(X)
        if not self._decides_by_costs():
            return self._score_answers(X, y, sample_weight, costs)
        labels = column_or_1d(y)
        paid_by = None if costs is None else as_costs(costs, self.classes_, len(labels), X)
        with_truth = paid_by is not None and paid_by.contain_truth
        proba = self._decision_proba(X, costs)
        decided_by = self._decision_costs(None if with_truth else paid_by, X)
        paid_by = decided_by if paid_by is None else paid_by
        paid = paid_by.of_decisions(labels, self._cheapest(decided_by, proba))
        return -mean_paid(paid, sample_weight)

    def _score_answers(self, X: Any, y: ArrayLike, sample_weight: Any, costs: Any) -> float:
        """Return minus the mean cost of the decisions of `predict`: costs do not change it here."""
        decided = self.predict(X)
        labels = column_or_1d(y)
        given = self.costs_ if costs is None else costs
        paid_by = as_costs(given, self.classes_, len(decided), X)
        paid = paid_by.of_decisions(labels, decided)
        return -mean_paid(paid, sample_weight)

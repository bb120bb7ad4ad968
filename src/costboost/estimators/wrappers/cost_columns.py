"""CostColumns: prices are read from the table before a pipeline transforms it."""

from __future__ import annotations

from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from costboost.costs import Costs, as_costs
from costboost.decisions.mixin import CostDecisionMixin
from costboost.decisions.responses import innermost, probabilities, takes
from costboost.estimators.base import all_at_once
from costboost.estimators.wrappers.base import RoutingWrapper, copy_features, estimator_has
from costboost.fitting.keywords import costs_to_fit, fit_key
from costboost.inputs.arrays import mean_paid
from costboost.inputs.checks import check_not_empty, of_one_fit, read_targets
from costboost.typing import Floats

__all__ = ["CostColumns"]


class CostColumns(RoutingWrapper):
    """Read costs from columns of the table, and hand them to a classifier or pipeline.

    ``CostColumns(pipeline, costs=Costs(fp=8, fn="amount"))`` reads the amounts of the rows that it
    is given, in ``fit``, ``predict``, ``expected_cost`` and ``score``, before any step of the
    pipeline scales or encodes them. So it works in cross-validation and searches without any
    slicing, with metadata routing on or off. It goes around the pipeline because it cannot go into
    it: a step of a pipeline hands nothing on but the transformed table, in which prices are either
    gone or no longer money.

    Parameters
    ----------
    estimator : classifier
        Any with ``predict_proba``, also a pipeline or a search. If its ``fit`` takes costs, it is
        trained with them; if its ``predict`` does, it decides itself; else the cheapest decision
        is taken by its probabilities.
    costs : Costs, dict, array-like of shape (K, K) or None, default=None
        What each decision costs, by column or constant; None: every mistake costs 1. ``fit`` and
        ``predict`` may override it.
    drop : bool or list of str, default=False
        Whether to leave the columns of the costs out of the features: those that are named by the
        costs (True), or these. A function does not say what it reads: list its columns.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    costs_ : Costs
        The costs that hold when none are given, bound to the classes, not to a table.
    estimator_ : classifier
        The fitted clone.
    dropped_ : list of str
        Columns that are no features.
    n_features_in_, feature_names_in_ : where the estimator has them
        The features: without the columns that were dropped.

    Notes
    -----
    Behind a sampler of imbalanced-learn, which draws other rows, prices that were read before are
    worth nothing. Put this class behind the sampler (it may be the last step of a pipeline); around
    it, the last step must find the column in its own table.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from costboost import CostColumns, Costs
    >>> from costboost.datasets import make_card_fraud
    >>> data = make_card_fraud(2000, random_state=0)
    >>> X = data.X.select_dtypes("number").fillna(0.0)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> model = CostColumns(model, costs=Costs(fp=8, tp=8, fn="amount"))
    >>> bool((cross_val_score(model, X, data.y, cv=3) < 0).all())  # minus the mean cost
    True
    """

    def __init__(self, estimator: Any, costs: Any = None, *, drop: Any = False) -> None:
        self.estimator = estimator
        self.costs = costs
        self.drop = drop

    @all_at_once
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        costs: Any = None,
        **fit_params: Any,
    ) -> Self:
        """Read the costs of the rows and train the estimator.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            With the columns that the costs name.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            In place of those of the constructor.
        **fit_params : dict
            Passed to the estimator's ``fit``.

        Returns
        -------
        self
        """
        check_not_empty(X)
        labels = read_targets(X, y)
        self.classes_ = np.unique(labels)
        given = as_costs(self.costs if costs is None else costs)
        bound = self._set_costs(costs, labels, sample_weight, X)
        self.dropped_ = self._columns_to_drop(given)
        handed = costs_to_fit(self.estimator, given, bound)
        self._check_order(handed)
        params = self._fit_params(handed, sample_weight, fit_params)
        self.estimator_ = clone(self.estimator).fit(self._features(X), y, **params)
        copy_features(self, self.estimator_)
        return self

    def _columns_to_drop(self, given: Costs) -> list[str]:
        if self.drop is False or self.drop is None:
            return []
        if self.drop is not True:
            return [self.drop] if isinstance(self.drop, str) else list(self.drop)
        named = given.column_names
        if given.needs_table and not given.names_every_column:
            raise ValueError(
                "drop=True leaves out the columns that costs name, but a function does not say "
                "what it reads: list the columns, such as drop=['amount']."
            )
        return named

    def _check_order(self, handed: Costs) -> None:
        if handed.needs_table and self.dropped_:
            raise ValueError(
                f"A sampler draws other rows, so the last step must read {self.dropped_} itself, "
                "but drop= takes them out before. Put CostColumns behind the sampler, around the "
                "steps that follow it."
            )

    def _features(self, X: Any) -> Any:
        """Return the table without the columns that are no features."""
        if not self.dropped_:
            return X
        frame: Any = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise ValueError(
                f"drop= names the columns {self.dropped_}, but X is a {type(X).__name__}, whose "
                "columns have no names: give a DataFrame."
            )
        present = [name for name in self.dropped_ if name in frame.columns]
        return frame.drop(present).to_native() if present else X

    def _fit_params(
        self, costs: Costs, sample_weight: ArrayLike | None, others: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the keywords of the estimator's ``fit``: what it requests, or takes."""
        given = {"costs": costs, "sample_weight": sample_weight}
        keys = {name: fit_key(self.estimator, name) for name in given}
        if sample_weight is not None and keys["sample_weight"] is None:
            raise ValueError(
                f"sample_weight was given, but {type(self.estimator).__name__}.fit does not take "
                "it (with metadata routing on, its parts must request it: "
                "set_fit_request(sample_weight=True))."
            )
        named = {str(keys[n]): v for n, v in given.items() if keys[n] is not None and v is not None}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **named, **others).estimator.fit)
        return {**named, **others}

    # --- decisions

    def _inside(self, X: Any) -> tuple[Any, Any]:
        """Return the model that decides, and the table as it sees it."""
        check_is_fitted(self)
        return innermost(self.estimator_, self._features(X))

    def predict(self, X: Any, costs: Any = None) -> NDArray[Any]:
        """Return the decision of least expected cost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            With the columns that the costs name.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        model, inner = self._inside(X)
        if costs is None and not getattr(model, "_decides_by_costs", lambda: True)():
            return np.asarray(model.predict(inner))  # what it learnt contains the costs
        prices = self._decision_costs(costs, X)
        if takes(getattr(model, "predict", None), "costs"):
            return np.asarray(model.predict(inner, costs=prices))
        return self._cheapest(prices, self._decision_proba(X, costs))

    def _decision_proba(self, X: Any, costs: Any) -> Floats:
        model, inner = self._inside(X)
        if isinstance(model, CostDecisionMixin):
            return model._decision_proba(inner, costs)  # refuses where they contain costs
        return probabilities(self.estimator_, self._features(X), self.classes_)

    def score(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, costs: Any = None
    ) -> float:
        """Return minus the mean realised cost: higher is better, 0 is free."""
        model, _ = self._inside(X)
        labels = column_or_1d(y)
        given = self.costs_ if costs is None else costs
        paid_by = as_costs(given, self.classes_, _num_samples(X), X)
        decides = getattr(model, "_decides_by_costs", lambda: True)()
        decided = self.predict(X, paid_by if decides and not paid_by.contain_truth else None)
        return -mean_paid(paid_by.of_decisions(labels, decided), sample_weight)

    @available_if(estimator_has("predict_proba"))  # type: ignore[untyped-decorator]
    @of_one_fit
    def predict_proba(self, X: Any) -> Floats:
        """Return the class probabilities of the estimator, (n_samples, K)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self._features(X)))

    @available_if(estimator_has("decision_function"))  # type: ignore[untyped-decorator]
    @of_one_fit
    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the estimator."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(self._features(X)))

"""The estimators whose tables are Dask collections.

Each is the estimator of its name without Dask, with the same parameters and the same model: only
`fit` reads collections, and what is asked of new rows is answered lazily.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from distributed import Client
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.costs import Costs, as_costs
from costboost.dask.fitting import fit_on_cluster
from costboost.dask.predicting import answer_lazily
from costboost.estimators.adaboost import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier

__all__ = [
    "DaskCostBoostClassifier",
    "DaskGradientBoostClassifier",
    "DaskGradientBoostRegressor",
    "DaskPNormBoostClassifier",
]

DEADLINE = 600.0


class _OnDask:
    """What all of them share."""

    _local: ClassVar[type]

    def to_local(self) -> Any:
        """Return the same model without Dask: for tables in memory, and to be saved.

        Returns
        -------
        estimator
            Of the class of the same name without Dask.
        """
        check_is_fitted(self)
        local: Any = object.__new__(self._local)
        local.__dict__.update(self.__dict__)
        return local

    def _ask(self, method: str, X: Any, **options: Any) -> Any:
        """Answer lazily; each task has one thread, as Dask has several tasks at a time."""
        model = self.to_local()
        model.n_jobs = 1
        return answer_lazily(model, method, X, **options)


class _DecidesOnDask(_OnDask):
    """What classifiers answer about the rows of a collection."""

    classes_: NDArray[Any]
    costs_: Costs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        costs: Any = None,
        client: Client | None = None,
        checkpoint: str | Path | None = None,
        deadline: float = DEADLINE,
    ) -> Self:
        """Train on a cluster.

        Parameters
        ----------
        X : Dask DataFrame or array of shape (n_samples, n_features)
        y : Dask Series or array of shape (n_samples,)
            In the partitions of X.
        sample_weight : Dask Series or array of shape (n_samples,), default=None
            In the partitions of X.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Constant, or by column of X such as ``Costs(fp=8, fn="amount")``.
        client : distributed.Client, default=None
            None is the one that is there.
        checkpoint : path-like, default=None
            Where the fit is kept, so that a new one goes on from there if this process is lost;
            needs an integer ``random_state``.
        deadline : float, default=600
            Seconds after which a worker that does not answer is taken for lost.

        Returns
        -------
        self
        """
        cluster: dict[str, Any] = {"client": client, "checkpoint": checkpoint, "deadline": deadline}
        local_fit = super().fit  # type: ignore[misc]
        fit_on_cluster(self, local_fit, X, y, sample_weight, costs=costs, **cluster)
        return self

    def predict(self, X: Any, costs: Any = None) -> Any:
        """Return decisions, lazily.

        Parameters
        ----------
        X : Dask DataFrame or array
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``: constant, or by column of X.

        Returns
        -------
        Dask Series or array of shape (n_samples,)
        """
        actions = self._actions(costs)
        return self._ask("predict", X, dtype=actions.dtype, costs=costs)

    def predict_proba(self, X: Any) -> Any:
        """Return class probabilities, lazily.

        Parameters
        ----------
        X : Dask DataFrame or array

        Returns
        -------
        Dask DataFrame, with a column for each class, or array of shape (n_samples, K)
        """
        check_is_fitted(self)
        return self._ask("predict_proba", X, columns=self.classes_)

    def expected_cost(self, X: Any, costs: Any = None) -> Any:
        """Return what each decision is expected to cost, lazily.

        Parameters
        ----------
        X : Dask DataFrame or array
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices to use instead of those of ``fit``: constant, or by column of X.

        Returns
        -------
        Dask DataFrame, with a column for each action, or array of shape (n_samples, n_actions)
        """
        return self._ask("expected_cost", X, columns=self._actions(costs), costs=costs)

    def decision_function(self, X: Any) -> Any:
        """Return the margin, or calibrated the log odds, lazily.

        Parameters
        ----------
        X : Dask DataFrame or array

        Returns
        -------
        Dask Series or array of shape (n_samples,) for two classes, else a Dask DataFrame or array
        of shape (n_samples, K)
        """
        check_is_fitted(self)
        columns = None if len(self.classes_) == 2 else self.classes_
        return self._ask("decision_function", X, columns=columns)

    def _actions(self, costs: Any) -> NDArray[Any]:
        """Return what can be decided; refuse prices that are in memory, one per row."""
        check_is_fitted(self)
        if costs is None:
            bound = self.costs_
        else:
            self._check_new_costs(costs)  # type: ignore[attr-defined]
            bound = as_costs(costs, self.classes_)
        if bound.n_rows is not None:
            raise ValueError(
                f"{bound!r} has {bound.n_rows} rows in memory. Name the columns of X that hold the "
                "prices, such as Costs(fp=8, fn='amount')."
            )
        return self.classes_ if bound.is_square else np.asarray(bound.actions)


class DaskCostBoostClassifier(_DecidesOnDask, CostBoostClassifier):  # type: ignore[misc]
    """`CostBoostClassifier` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.CostBoostClassifier`, except what needs all rows in one place
    (``estimator=``, ``warm_start=``), which is refused before any work.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.dask import DaskCostBoostClassifier
    >>> model = DaskCostBoostClassifier("adac2", n_estimators=50, random_state=0)

    On a cluster, where ``payments`` is a Dask DataFrame:

    >>> X, y = payments.drop(columns="fraud"), payments["fraud"]  # doctest: +SKIP
    >>> model.fit(X, y, costs=Costs(fp=8, fn="amount"))  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = CostBoostClassifier


class DaskGradientBoostClassifier(_DecidesOnDask, GradientBoostClassifier):  # type: ignore[misc]
    """`GradientBoostClassifier` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.GradientBoostClassifier`, except what needs all rows in one
    place (``estimator=``, ``init=`` models, losses of the user's own, ``warm_start=``), which is
    refused before any work.
    """

    _local = GradientBoostClassifier


class DaskPNormBoostClassifier(_DecidesOnDask, PNormBoostClassifier):  # type: ignore[misc]
    """`PNormBoostClassifier` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.PNormBoostClassifier`, except what needs all rows in one
    place (``estimator=``, ``warm_start=``), which is refused before any work.
    """

    _local = PNormBoostClassifier


class DaskGradientBoostRegressor(_OnDask, GradientBoostRegressor):
    """`GradientBoostRegressor` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.GradientBoostRegressor`, except what needs all rows in one
    place (``estimator=``, ``init=`` models, ``loss="pinball"`` and ``"absolute"``, losses of the
    user's own, ``warm_start=``), which is refused before any work.
    """

    _local = GradientBoostRegressor

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        client: Client | None = None,
        checkpoint: str | Path | None = None,
        deadline: float = DEADLINE,
    ) -> DaskGradientBoostRegressor:
        """Train on a cluster; parameters as of `DaskCostBoostClassifier.fit`, without costs."""
        cluster: dict[str, Any] = {"client": client, "checkpoint": checkpoint, "deadline": deadline}
        fit_on_cluster(self, super().fit, X, y, sample_weight, **cluster)
        return self

    def predict(self, X: Any) -> Any:
        """Return predictions, lazily.

        Parameters
        ----------
        X : Dask DataFrame or array

        Returns
        -------
        Dask Series or array of shape (n_samples,)
        """
        return self._ask("predict", X)

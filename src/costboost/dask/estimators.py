"""The estimators whose tables are Dask collections.

Each is the estimator of its name without Dask, with the same parameters and the same model: only
`fit` reads collections; predictions are lazy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from distributed import Client, default_client
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted

from costboost.clusters.driver import Driver, new_fit
from costboost.clusters.journal import digest_of
from costboost.costs import Costs, as_costs
from costboost.dask.collections import answer_lazily, homes_of, make_source, read_pieces
from costboost.dask.transport import DaskTransport
from costboost.estimators.adaboost import CostBoostClassifier
from costboost.estimators.gradient import GradientBoostClassifier, GradientBoostRegressor
from costboost.estimators.pnorm import PNormBoostClassifier
from costboost.fitting.plan import refuse_if_remote
from costboost.fitting.spread import PartsTable
from costboost.runtime.machine import ThreadScratch
from costboost.shards.parts import TablePart

__all__ = [
    "fit_on_cluster",
    "DaskCostBoostClassifier",
    "DaskGradientBoostClassifier",
    "DaskGradientBoostRegressor",
    "DaskPNormBoostClassifier",
]


# A fit on a cluster: collections -> parts on workers -> the estimator's own `fit`.

_ELSEWHERE = SimpleNamespace(is_spread=True)


def fit_on_cluster(
    estimator: Any,
    fit: Callable[..., Any],
    X: Any,
    y: Any,
    sample_weight: Any,
    *,
    client: Client | None,
    checkpoint: str | Path | None,
    deadline: float,
    **given: Any,
) -> None:
    """Fit an estimator to collections.

    Parameters
    ----------
    estimator : estimator
    fit : callable
        What it is fitted by: takes a table, which has labels and weights.
    X, y, sample_weight : Dask collections
    client : distributed.Client or None
        None is the one that is there.
    checkpoint : path-like or None
    deadline : float
    **given : passed on to `fit`
    """
    refuse_if_remote(estimator, _ELSEWHERE)
    pieces = read_pieces(X, y, sample_weight)
    client = _reached(client)
    name = new_fit()
    transport = DaskTransport(
        client, name, partial(TablePart, thread_scratch=ThreadScratch()), pieces.parts, make_source
    )
    driver = Driver(
        transport,
        [None] * len(pieces.parts),
        fit=name,
        homes=homes_of(client, X),
        deadline=deadline,
        checkpoint=checkpoint,
        about={"fit": _about(estimator, given)} if checkpoint is not None else None,
    )
    with driver:
        table = PartsTable(driver, pieces.names, targets=is_regressor(estimator))
        fit(table, None, **given)
    if not pieces.named:
        del estimator.feature_names_in_


def _reached(client: Client | None) -> Client:
    """Return the client that was given, or the one that is there."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ValueError(
                "There is no Dask client: start one, such as dask.distributed.Client(), or pass "
                "client=."
            ) from None
    if client.asynchronous:
        raise ValueError("The client is asynchronous: fit with Client(asynchronous=False).")
    return client


def _about(estimator: Any, given: dict[str, Any]) -> str:
    """Return a digest of a fit's parameters and arguments, for its checkpoint."""
    params = sorted(estimator.get_params(deep=False).items())
    return digest_of([type(estimator).__name__, params, sorted(given.items())])


DEADLINE = 600.0


class _OnDask:
    """Base class of the Dask estimators."""

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
    """Base class of the Dask classifiers: lazy predictions for collections."""

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
        """Return the expected cost of each decision, lazily.

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
        """Return the labels of possible decisions; refuse costs per row that are in memory."""
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

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.dask import DaskGradientBoostClassifier
    >>> model = DaskGradientBoostClassifier(n_estimators=50)
    >>> model.get_params()["n_estimators"]
    50

    On a cluster, where X and y are Dask collections:

    >>> model.fit(X, y, costs=Costs(fp=8, fn="amount"))  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = GradientBoostClassifier


class DaskPNormBoostClassifier(_DecidesOnDask, PNormBoostClassifier):  # type: ignore[misc]
    """`PNormBoostClassifier` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.PNormBoostClassifier`, except what needs all rows in one
    place (``estimator=``, ``warm_start=``), which is refused before any work.

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.dask import DaskPNormBoostClassifier
    >>> model = DaskPNormBoostClassifier(n_estimators=50)
    >>> model.get_params()["n_estimators"]
    50

    On a cluster, where X and y are Dask collections:

    >>> model.fit(X, y, costs=Costs(fp=8, fn="amount"))  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
    """

    _local = PNormBoostClassifier


class DaskGradientBoostRegressor(_OnDask, GradientBoostRegressor):
    """`GradientBoostRegressor` on Dask collections: the same model, bit for bit.

    Takes the parameters of `costboost.GradientBoostRegressor`, except what needs all rows in one
    place (``estimator=``, ``init=`` models, ``loss="pinball"`` and ``"absolute"``, losses of the
    user's own, ``warm_start=``), which is refused before any work.

    Examples
    --------
    >>> from costboost.dask import DaskGradientBoostRegressor
    >>> model = DaskGradientBoostRegressor(n_estimators=50)
    >>> model.get_params()["n_estimators"]
    50

    On a cluster, where X and y are Dask collections:

    >>> model.fit(X, y)  # doctest: +SKIP
    >>> model.predict(X).compute()  # doctest: +SKIP
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

"""A fit on a cluster: collections -> parts on workers -> the estimator's own `fit`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from distributed import Client, default_client
from sklearn.base import is_regressor

from costboost.clusters.digests import digest_of
from costboost.clusters.driver import Driver, new_fit
from costboost.dask.collections import homes_of, make_source, read_pieces
from costboost.dask.transport import DaskTransport
from costboost.fitting.spread import PartsTable, refuse_elsewhere
from costboost.shards.bench import Desk
from costboost.shards.parts import Part

__all__ = ["fit_on_cluster"]

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
    refuse_elsewhere(estimator, _ELSEWHERE)
    pieces = read_pieces(X, y, sample_weight)
    client = _reached(client)
    name = new_fit()
    transport = DaskTransport(client, name, partial(Part, desk=Desk()), pieces.parts, make_source)
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
    """Return a digest of what a fit was told, for its checkpoint."""
    told = sorted(estimator.get_params(deep=False).items())
    return digest_of([type(estimator).__name__, told, sorted(given.items())])

"""Dask collections as parts: what a fit reads of them.

A part is one partition of a Dask DataFrame, or one block of rows of a Dask array, with the labels
and weights beside it. Partitions are taken in their order, so that row i of the table is row i of
`X.compute()`. Errors in the collections are raised before anything is computed; what only
the rows can tell, where they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, futures_of, wait
from numpy.typing import NDArray
from scipy.sparse import issparse

from costboost.shards.parts import RawRows

__all__ = [
    "Delivered",
    "CollectionParts",
    "homes_of",
    "is_collection",
    "make_source",
    "read_pieces",
    "answer_lazily",
]


@dataclass(frozen=True)
class CollectionParts:
    """Delayed partitions of X, y and weights, one entry for each part.

    Attributes
    ----------
    parts : list of (X, y) or (X, y, weights)
        Of every part, as delayed values.
    names : list of str
        Of the columns.
    named : bool
        Whether the columns of the table have names of their own.
    """

    parts: list[tuple[Any, ...]]
    names: list[str]
    named: bool


class Delivered:
    """The rows of a part that are on this worker: read once, then held by their reader."""

    def __init__(self, X: Any, y: Any, weights: Any = None) -> None:
        self._rows: tuple[Any, Any, Any] | None = (X, y, weights)

    def read(self) -> RawRows:
        """Return the rows, and let them go."""
        if self._rows is None:
            raise LookupError("These rows were read, and let go: they have to be brought again.")
        X, y, weights = self._rows
        self._rows = None
        found = None if weights is None else np.asarray(weights, dtype=np.float64)
        return RawRows(X, np.asarray(y), found)


def make_source(X: Any, y: Any, weights: Any = None) -> Delivered:
    """Return a source of a part's rows; labels and weights must be as many."""
    for name, given in (("y", y), ("sample_weight", weights)):
        if given is not None and len(given) != len(X):
            raise ValueError(
                f"A partition of X has {len(X)} rows and that of {name} {len(given)}: give both "
                f"the same partitions, such as X and {name} of one collection."
            )
    return Delivered(X, y, weights)


def is_collection(X: Any) -> bool:
    """Return whether a value is a Dask DataFrame or array."""
    return isinstance(X, (dd.DataFrame, da.Array))


def read_pieces(X: Any, y: Any, weights: Any = None) -> CollectionParts:
    """Cut collections into parts; refuse what cannot be cut alike."""
    _check_table(X)
    named = isinstance(X, dd.DataFrame)
    if named:
        parts = _partitions(X)
        names = [str(name) for name in X.columns]
    else:
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        parts = X.to_delayed().ravel().tolist()
        names = [f"x{j}" for j in range(X.shape[1])]
    columns = [_column(given, name, X) for given, name in ((y, "y"), (weights, "sample_weight"))]
    columns = [column for column in columns if column is not None]
    return CollectionParts(list(zip(parts, *columns, strict=True)), names, named)


def _check_table(X: Any) -> None:
    if not is_collection(X):
        raise TypeError(
            f"X must be a Dask DataFrame or a Dask array, got {type(X).__name__}. Give a table in "
            "memory to the estimator of the same name without Dask, or make it a collection: "
            "dask.dataframe.from_pandas(X, npartitions=...)."
        )
    if isinstance(X, da.Array) and X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, got shape {X.shape}.")
    if isinstance(X, da.Array) and issparse(X._meta):
        raise ValueError(
            "Sparse blocks are not taken on a cluster. Make them dense, X.map_blocks(lambda block: "
            "block.toarray()), or fit in memory with the estimator of the same name without Dask."
        )
    if not X.shape[1]:
        raise ValueError("X has no columns: at least one is needed.")


def _column(given: Any, name: str, X: Any) -> list[Any] | None:
    """Return a column's partitions as delayed values, as many as those of X."""
    if given is None and name != "y":
        return None
    if isinstance(given, dd.DataFrame) and given.shape[1] == 1:
        given = given[given.columns[0]]
    if not isinstance(given, (dd.Series, da.Array)):
        raise TypeError(
            f"{name} must be a Dask Series or a Dask array, got {type(given).__name__}. Take it "
            f"from the collection that X is from, or use dask.array.from_array({name}, chunks=...)."
        )
    if isinstance(given, da.Array):
        given = _aligned(given, name, X)
        parts = given.to_delayed().ravel().tolist()
    else:
        parts = _partitions(given)
    n_parts = X.npartitions if isinstance(X, dd.DataFrame) else X.numblocks[0]
    if len(parts) != n_parts:
        raise ValueError(
            f"X has {n_parts} partitions and {name} {len(parts)}: give both the same, by "
            "repartition(npartitions=...), or rechunk for arrays, before fitting."
        )
    return list(parts)


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions of a frame, each as it is.

    Dask's optimizer may read several small ones as one, in a column more of them than in a table;
    here it may only choose what to read.
    """
    return list(frame.simplify().to_delayed(optimize_graph=False))


def _aligned(given: Any, name: str, X: Any) -> Any:
    """Return an array of one dimension with the blocks of X, where these are known."""
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {given.shape}.")
    if isinstance(X, da.Array) and not np.isnan([X.shape[0], given.shape[0]]).any():
        if X.shape[0] != given.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} {given.shape[0]}.")
        return given.rechunk((X.chunks[0],))
    return given


def homes_of(client: Client, X: Any) -> dict[int, str]:
    """Return the worker that has each part of a collection that was persisted."""
    held = {future.key: future for future in futures_of(X) if isinstance(future.key, tuple)}
    if not held:
        return {}
    wait(list(held.values()))
    holders = client.who_has(list(held.values()))
    return {key[1]: where[0] for key, where in holders.items() if where}


# Lazy answers: one task a partition, with the model in the graph once.


def answer_lazily(
    model: Any,
    method: str,
    X: Any,
    columns: NDArray[Any] | None = None,
    dtype: Any = np.float64,
    **given: Any,
) -> Any:
    """Apply a method of a model to a collection, lazily.

    Parameters
    ----------
    model : estimator
        Fitted, and without Dask.
    method : str
        The method to call.
    X : Dask DataFrame or array
    columns : array or None
        Names of the answer's columns; None: one number a row.
    dtype : dtype
        Of the answers.
    **given : passed on to the method
    """
    if not is_collection(X):
        raise TypeError(
            f"X must be a Dask DataFrame or a Dask array, got {type(X).__name__}: to_local() gives "
            "the model for tables in memory."
        )
    sent = dask.delayed(model, pure=True, name=f"costboost-{dask.base.tokenize(model)}")
    shape = () if columns is None else (len(columns),)
    arguments: dict[str, Any] = {
        "method": method,
        "empty": np.zeros((0, *shape), dtype=dtype),
        "given": given,
    }
    if isinstance(X, dd.DataFrame):
        names = None if columns is None else columns.tolist()
        meta = _framed(arguments["empty"], X._meta.index, names)
        return X.map_partitions(_of_frame, sent, names=names, meta=meta, **arguments)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return X.map_blocks(
        _of_block,
        sent,
        dtype=dtype,
        meta=np.zeros((0,) * (1 + len(shape)), dtype=dtype),
        chunks=(X.chunks[0], *((n,) for n in shape)),
        drop_axis=None if shape else 1,
        **arguments,
    )


def _answers(part: Any, model: Any, method: str, empty: Any, given: Any) -> Any:
    """Apply the method to one partition; an empty one is answered without a call."""
    if not len(part):
        return empty
    return np.asarray(getattr(model, method)(part, **given))


_of_block = _answers


def _of_frame(part: Any, model: Any, names: Any, **arguments: Any) -> Any:
    return _framed(_answers(part, model, **arguments), part.index, names)


def _framed(values: NDArray[Any], index: Any, names: Any) -> Any:
    """Return answers as a Series or a DataFrame of some rows."""
    if names is None:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=names)

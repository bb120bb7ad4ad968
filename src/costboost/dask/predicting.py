"""Lazy answers: one task a partition, with the model in the graph once.

A Dask DataFrame gets a Series or a DataFrame back, with the index of its rows; an array an array.
"""

from __future__ import annotations

from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from costboost.dask.collections import is_collection

__all__ = ["answer_lazily"]


def answer_lazily(
    model: Any,
    method: str,
    X: Any,
    columns: NDArray[Any] | None = None,
    dtype: Any = np.float64,
    **given: Any,
) -> Any:
    """Ask a model for something about the rows of a collection.

    Parameters
    ----------
    model : estimator
        Fitted, and without Dask.
    method : str
        What is asked.
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
    asked: dict[str, Any] = {
        "method": method,
        "empty": np.zeros((0, *shape), dtype=dtype),
        "given": given,
    }
    if isinstance(X, dd.DataFrame):
        names = None if columns is None else columns.tolist()
        meta = _framed(asked["empty"], X._meta.index, names)
        return X.map_partitions(_of_frame, sent, names=names, meta=meta, **asked)
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return X.map_blocks(
        _of_block,
        sent,
        dtype=dtype,
        meta=np.zeros((0,) * (1 + len(shape)), dtype=dtype),
        chunks=(X.chunks[0], *((n,) for n in shape)),
        drop_axis=None if shape else 1,
        **asked,
    )


def _answers(part: Any, model: Any, method: str, empty: Any, given: Any) -> Any:
    """Ask about some rows; nothing is asked about none."""
    if not len(part):
        return empty
    return np.asarray(getattr(model, method)(part, **given))


_of_block = _answers


def _of_frame(part: Any, model: Any, names: Any, **asked: Any) -> Any:
    return _framed(_answers(part, model, **asked), part.index, names)


def _framed(values: NDArray[Any], index: Any, names: Any) -> Any:
    """Return answers as a Series or a DataFrame of some rows."""
    if names is None:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=names)

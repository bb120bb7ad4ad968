"""Numbers by action as a table like the one that they are about.

A frame of pandas, polars or pyarrow gets a frame of the same library back, with the names of the
actions, and in pandas with its index; an array gets an array. ``set_output(transform=...)`` of the
model, or scikit-learn's own setting of that name, asks for one library whatever was given.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config

__all__ = ["KINDS", "as_table"]

KINDS = ("default", "pandas", "polars")


def as_table(values: NDArray[np.float64], names: NDArray[Any], X: Any, estimator: Any) -> Any:
    """Return `values`, one column per name, as the kind of table that is wanted."""
    wanted = getattr(estimator, "_sklearn_output_config", {}).get("transform")
    wanted = get_config()["transform_output"] if wanted is None else wanted
    frame: Any = nw.from_native(X, pass_through=True) if hasattr(X, "columns") else None
    index = getattr(X, "index", None) if frame is not None else None
    if wanted == "pandas" or (wanted == "default" and hasattr(index, "get_indexer_for")):
        import pandas as pd

        return pd.DataFrame(values, index=index, columns=names.tolist())
    if wanted == "polars":
        import polars

        return _named(values, names, polars)
    if wanted == "default" and isinstance(frame, nw.DataFrame):
        return _named(values, names, nw.get_native_namespace(frame))
    return values


def _named(values: NDArray[np.float64], names: NDArray[Any], library: Any) -> Any:
    """Return a frame of a library whose names are strings."""
    columns = {str(name): values[:, j] for j, name in enumerate(names.tolist())}
    return nw.from_dict(columns, native_namespace=library).to_native()

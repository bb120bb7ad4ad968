"""One row, however it is given, and its values as Python objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost.inputs.checks import is_frame


def one_row(x: Any) -> Any:
    """Return a row as a table: what has two dimensions as it is, what has one as its only row."""
    if is_frame(x) or getattr(x, "ndim", 1) == 2:
        return x
    if hasattr(x, "to_frame") and hasattr(x, "index"):  # a pandas Series: its index has the names
        return x.to_frame().T.infer_objects()
    if isinstance(x, list | tuple) and x and isinstance(x[0], list | tuple | np.ndarray):
        return np.asarray(x)
    kinds = {isinstance(value, str) for value in x}
    return np.array([x], dtype=object) if len(kinds) > 1 else np.asarray(x).reshape(1, -1)


def values_of_row(X: Any) -> list[Any]:
    """Return the values of a table of one row, as Python objects where there are such."""
    if is_frame(X):
        columns = [X[name] for name in X.columns]
        row = [column.iloc[0] if hasattr(column, "iloc") else column[0] for column in columns]
    else:
        row = list(np.asarray(X)[0])
    return [value.item() if isinstance(value, np.generic) else value for value in row]

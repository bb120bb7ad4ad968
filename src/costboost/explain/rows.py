"""Rows to explain: encoded, or a single one however it is given, with its values."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np

from costboost.inputs.checks import is_frame
from costboost.model import FittedModel
from costboost.typing import Codes


class Encoded(NamedTuple):
    """Rows of a table, and their codes in the columns that any member of a model looks at."""

    X: Any
    codes: Codes


def encode(model: FittedModel, X: Any, n_threads: int) -> Encoded:
    """Return the rows of a table as all members of a model read them."""
    codes = model.encode(X, n_threads)
    assert codes is not None
    return Encoded(X, codes)


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
    if hasattr(X, "iloc"):
        row = [X[name].iloc[0] for name in X.columns]
    elif is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        row = [frame[name][0] for name in frame.columns]
    else:
        row = list(np.asarray(X)[0])
    return [value.item() if isinstance(value, np.generic) else value for value in row]

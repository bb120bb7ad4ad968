"""A row again and again, with other values in one of its columns: what `predict` would be given."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.inputs.checks import is_frame

__all__ = ["Variants"]


class Variants:
    """Tables made of one row.

    Parameters
    ----------
    X : table of shape (1, n_features)
        A frame of any library, or an array.

    Examples
    --------
    >>> Variants(np.array([[1, 2]])).table(1, np.array([5.5, 6.5])).tolist()
    [[1.0, 5.5], [1.0, 6.5]]
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._frame: Any = nw.from_native(X, eager_only=True) if is_frame(X) else None

    def is_boolean(self, j: int) -> bool:
        """Whether column j holds truths."""
        if self._frame is None:
            return bool(self.X.dtype == np.bool_)
        return bool(self._frame[:, j].dtype == nw.Boolean)

    def is_whole(self, j: int) -> bool:
        """Whether column j of a frame holds whole numbers: an array has one type for all."""
        return self._frame is not None and bool(self._frame[:, j].dtype.is_integer())

    def table(self, j: int, values: NDArray[Any]) -> Any:
        """Return a table like the row's with these values in column j, one in each row."""
        if self.is_boolean(j):
            values = values.astype(np.bool_)
        if self._frame is None:
            return self._array(j, values)
        if hasattr(self.X, "isetitem"):
            return self._pandas(j, values)
        name = self._frame.columns[j]
        library = nw.get_native_namespace(self._frame)
        new = nw.from_dict({name: values.tolist()}, native_namespace=library)
        return self._frame[[0] * len(values)].with_columns(new[name]).to_native()

    def _array(self, j: int, values: NDArray[Any]) -> NDArray[Any]:
        wide = np.result_type(self.X, values) if self.X.dtype.kind in "biuf" else np.dtype(object)
        rows = np.repeat(self.X.astype(wide), len(values), axis=0)
        rows[:, j] = values
        return np.asarray(rows)

    def _pandas(self, j: int, values: NDArray[Any]) -> Any:
        rows = self.X.iloc[np.zeros(len(values), dtype=np.intp)]
        known = getattr(rows.dtypes.iloc[j], "categories", None)
        new: Any = values
        if known is not None:
            import pandas as pd

            new = pd.Categorical(values, known.append(pd.Index(values)).unique())
        rows.isetitem(j, new)
        return rows

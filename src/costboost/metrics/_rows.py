"""Cutting what belongs to rows: arrays, data frames, lists, costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from costboost.costs import Costs


def has_rows(value: Any, n_samples: int) -> bool:
    """Return whether a parameter holds one value for each row."""
    if isinstance(value, str | bytes | Mapping):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and bool(shape[0] == n_samples)
    return hasattr(value, "__len__") and len(value) == n_samples


def take_rows(value: Any, rows: NDArray[np.intp], n_samples: int) -> Any:
    """Return these rows of a value that has one for each; anything else as it is."""
    if isinstance(value, Costs):
        return value[rows]
    return _safe_indexing(value, rows) if has_rows(value, n_samples) else value

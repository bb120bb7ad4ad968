"""Fits and predictions on a Dask cluster: the model of the same rows in memory, bit for bit.

Needs the extra ``dask``: ``pip install "costboost[dask]"``.
"""

from __future__ import annotations

try:
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"costboost.dask needs Dask ({error}). Install the extra: pip install 'costboost[dask]'."
    ) from error

from costboost.dask.estimators import (
    DaskCostBoostClassifier,
    DaskGradientBoostClassifier,
    DaskGradientBoostRegressor,
    DaskPNormBoostClassifier,
)

__all__ = [
    "DaskCostBoostClassifier",
    "DaskGradientBoostClassifier",
    "DaskGradientBoostRegressor",
    "DaskPNormBoostClassifier",
]

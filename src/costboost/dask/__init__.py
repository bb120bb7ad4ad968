"""Fits and predictions on a Dask cluster: the model of the same rows in memory, bit for bit.

Needs the extra ``dask``: ``pip install "costboost[dask]"``.
"""

from __future__ import annotations

from costboost.runtime.machine import need

for _module in ("dask.dataframe", "distributed"):
    need(_module, "costboost.dask")

from costboost.dask.estimators import (  # noqa: E402
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

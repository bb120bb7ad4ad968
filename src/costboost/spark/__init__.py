"""costboost on Spark: an estimator of `pyspark.ml` that trains where the rows are.

    DataFrame -> (columns, ordering) -> rows dealt to tasks -> one barrier job (job, task)
              -> a socket for each task (channel, transport) -> `costboost.clusters.driver`

The model is bit for bit that of the same rows in memory, however they are spread.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from costboost.runtime.machine import need

if TYPE_CHECKING:
    from costboost.spark.classifier import SparkCostBoostClassifier
    from costboost.spark.model import CostEvaluator, SparkCostBoostModel

__all__ = ["SparkCostBoostClassifier", "SparkCostBoostModel", "CostEvaluator"]

need("pyspark", "costboost.spark, beside a Java runtime,")

_HOMES = {
    "CostEvaluator": "costboost.spark.model",
    "SparkCostBoostClassifier": "costboost.spark.classifier",
    "SparkCostBoostModel": "costboost.spark.model",
}


def __getattr__(name: str) -> Any:
    # Tasks import modules of this package by the hundred, and need none of pyspark.ml.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

"""costboost on Spark: an estimator of `pyspark.ml` that trains where the rows are.

    DataFrame -> (columns, ordering) -> rows dealt to tasks -> one barrier job (job, task)
              -> a socket for each task (channel, transport) -> `costboost.clusters.driver`

The model is bit for bit that of the same rows in memory, however they are spread.
"""

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError(
        "costboost.spark needs pyspark 4.1 or newer with Arrow, and a Java runtime: "
        'pip install "costboost[spark]".'
    ) from error

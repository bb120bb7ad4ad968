"""One session of Spark for all tests of a process: three slots, each with a process of Python."""

import gc
from pathlib import Path

import pytest

from spark_sessions import start_session, why_not


def pytest_collection_modifyitems(items):
    own = [item for item in items if Path(__file__).parent in item.path.parents]
    missing = why_not() if own else None
    for item in own:
        item.add_marker(pytest.mark.spark)
        # Spark says so of every pandas that is newer than itself, and leaves sockets to Python.
        item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support"))
        item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))
        if missing:
            item.add_marker(pytest.mark.skip(reason=missing))


@pytest.fixture(scope="module", autouse=True)
def no_socket_outlives_its_tests():
    """Collect what Spark leaves where it is forgiven, not in the middle of another's tests."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def spark():
    session = start_session("local[3]")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def frame(spark):
    """The small table of `spark_rows` as a DataFrame."""
    from spark_rows import TABLE, to_spark

    return to_spark(spark, TABLE).cache()


@pytest.fixture(scope="session")
def fitted(frame):
    """A pipeline of vectors and a classifier, and what it was fitted to: not to be changed."""
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler

    from costboost.spark import SparkCostBoostClassifier
    from spark_rows import PRICES, VECTOR

    classifier = SparkCostBoostClassifier(
        method="adamec",
        n_estimators=3,
        cv=2,
        costs=PRICES,
        row_id_col="id",
        random_state=0,
        num_workers=2,
    )
    assembler = VectorAssembler(inputCols=VECTOR, outputCol="features")
    pipeline = Pipeline(stages=[assembler, classifier])
    return pipeline, pipeline.fit(frame)

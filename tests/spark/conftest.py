"""One session of Spark for all tests of a process: three slots, each with a process of Python."""

import os
import shutil
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def why_not():
    """Say why there is no Spark here; None if there is."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return 'pyspark is not installed: pip install "costboost[spark]"'
    java = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (java and Path(java, "bin", "java").exists()):
        return "there is no Java runtime (17 or newer), which Spark needs"
    return None


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


def start_session(master, **options):
    """Start Spark, quietly; workers find what the tests import."""
    from pyspark.sql import SparkSession

    paths = f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"
    os.environ["PYTHONPATH"] = paths
    builder = SparkSession.builder.master(master).appName("costboost tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": paths,
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.warehouse.dir": "/nonexistent",
        **options,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="session")
def spark():
    session = start_session("local[3]")
    yield session
    session.stop()

"""Sessions of Spark for tests: quiet ones, whose workers import what the tests do."""

import os
import shutil
import sys
import warnings
from pathlib import Path

HELPERS = Path(__file__).parent
# Workers are other processes: the same Python, and the modules of the tests.
PATHS = os.pathsep.join(map(str, (HELPERS.parents[1] / "src", HELPERS.parent, HELPERS)))
ENVIRONMENT = {
    "PYTHONPATH": PATHS,
    "PYSPARK_PYTHON": sys.executable,
    "PYSPARK_DRIVER_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
}


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


def start_session(master, **options):
    """Start Spark; options are its settings, with "__" for dots."""
    from pyspark.sql import SparkSession

    os.environ.update(ENVIRONMENT)
    builder = SparkSession.builder.master(master).appName("costboost tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": PATHS,
        "spark.sql.shuffle.partitions": "3",
        # Compiling takes longer than a few hundred rows do.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        **{name.replace("__", "."): value for name, value in options.items()},
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session

"""One session of Spark for all tests of a process: three slots, each with a process of Python."""

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


@pytest.fixture(scope="session")
def spark():
    session = start_session("local[3]")
    yield session
    session.stop()

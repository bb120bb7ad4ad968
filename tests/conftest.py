"""Shared fixtures: where the papers' data sets are, if they are there."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline asserts a wall-clock time, and fails where the machine is busy.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

DATA = Path(os.environ.get("COSTBOOST_DATA", Path(__file__).parents[2] / "shared" / "data"))


def pytest_collection_modifyitems(items):
    if DATA.is_dir():
        return
    skip = pytest.mark.skip(reason=f"the data sets are not there: {DATA} (set COSTBOOST_DATA)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def data_folder():
    return DATA
